# SPDX-License-Identifier: Apache-2.0
"""The sources are as clang-format and .clang-format want them.

Other versions of clang-format than Debian 12's (14) format a few things
otherwise, so the check is skipped, visibly, with those.
"""
import os
import re
import shutil
import subprocess
import sys

import lint

WANTED = 14
NAME = "sources are formatted as .clang-format says"


def find_clang_format():
    for name in ("clang-format-%d" % WANTED, "clang-format"):
        path = shutil.which(name)
        if not path:
            continue
        text = subprocess.run([path, "--version"], capture_output=True,
                              text=True, check=True).stdout
        version = re.search(r"version (\d+)", text)
        if version and int(version.group(1)) == WANTED:
            return path
    return None


def main():
    tap = lint.Tap()
    path = find_clang_format()
    if not path:
        tap.skip(NAME, "no clang-format %d" % WANTED)
        return tap.done()
    run = subprocess.run(
        [path, "--style=file", "--dry-run", "-Werror", "-ferror-limit=20"]
        + lint.sources(), cwd=lint.ROOT, capture_output=True, text=True,
        check=False)
    complaints = [row for row in run.stderr.splitlines() if "error:" in row]
    if run.returncode and not complaints:
        complaints = run.stderr.splitlines()[:20]
    tap.case(NAME, complaints)
    return tap.done()


os.environ.setdefault("LC_ALL", "C.UTF-8")
sys.exit(main())
