# SPDX-License-Identifier: Apache-2.0
"""The size guidance of docs/coding-style.md, and the heads of files."""
import sys

import lint

MAX_COLUMNS = 79
MAX_FUNCTION = 70
MAX_SOURCE = 800
MAX_HEADER = 300


def functions(rows):
    """(first line, length) of every function body that opens in column 1."""
    start = None
    for number, row in enumerate(rows, 1):
        if row == "{":
            start = number
        elif row == "}" and start:
            yield start, number - start - 1
            start = None


def main():
    tap = lint.Tap()
    wide, long_functions, long_files, heads = [], [], [], []
    for path in lint.sources():
        rows = lint.lines(path)
        limit = MAX_HEADER if path.endswith(".h") else MAX_SOURCE
        if len(rows) > limit:
            long_files.append("%s: %d lines, at most %d"
                              % (path, len(rows), limit))
        for number, row in enumerate(rows, 1):
            if len(row) > MAX_COLUMNS:
                wide.append("%s:%d: %d columns, at most %d"
                            % (path, number, len(row), MAX_COLUMNS))
        for number, length in functions(rows):
            if length > MAX_FUNCTION:
                long_functions.append("%s:%d: a function of %d lines, at most "
                                      "%d" % (path, number, length,
                                              MAX_FUNCTION))
        head = "\n".join(rows[:2])
        if "SPDX-License-Identifier: Apache-2.0" not in head:
            heads.append("%s: does not open with its SPDX line" % path)
    tap.case("lines have at most %d columns" % MAX_COLUMNS, wide)
    tap.case("functions have at most %d lines" % MAX_FUNCTION, long_functions)
    tap.case("sources have at most %d lines, headers %d"
             % (MAX_SOURCE, MAX_HEADER), long_files)
    tap.case("files open with their SPDX line", heads)
    return tap.done()


sys.exit(main())
