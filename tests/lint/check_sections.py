# SPDX-License-Identifier: Apache-2.0
"""Every section of the specification (pfc-semantics) has a test whose name says
the section: s5_... or section_5_... of a unit test, "section 5: ..." of a
system test or a simulation."""
import os
import re
import sys

import lint

SECTIONS = {
    1: "the PFC frame", 2: "being paused", 3: "pausing the peer", 4: "maps",
    5: "buffers", 6: "headroom", 7: "scheduling", 8: "802.3x PAUSE",
    9: "watchdog", 10: "counters, watermarks, history", 11: "ECN and WRED",
    12: "presets", 13: "shapes that users know"}


def numbers(text):
    """Sections that the names of a file's tests say."""
    for n in re.findall(r"\bTest\(\s*\w+,\s*s(?:ection_)?(\d+)_", text):
        yield int(n)
    for names in re.findall(r'"sections? ([\d, and]+): ', text):
        yield from map(int, re.findall(r"\d+", names))


def main():
    tap = lint.Tap()
    found = {n: set() for n in SECTIONS}
    unknown = []
    for folder in "unit", "sim", "system":
        top = os.path.join(lint.ROOT, "tests", folder)
        for name in sorted(os.listdir(top)):
            if not name.endswith((".c", ".py")):
                continue
            path = os.path.join("tests", folder, name)
            for n in numbers("\n".join(lint.lines(path))):
                if n in found:
                    found[n].add(path)
                else:
                    unknown.append("%s: section %d" % (path, n))
    for n, paths in found.items():
        tap.case("section %d (%s) has tests" % (n, SECTIONS[n]),
                 [] if paths else ["no test says it"])
    tap.case("there are no others", unknown)
    return tap.done()


sys.exit(main())
