# SPDX-License-Identifier: Apache-2.0
"""What the checks of the source tree share: which files there are, and TAP.

Called by the check_*.py beside it, which `make check` runs with top_srcdir in
the environment.
"""
import os

ROOT = os.environ.get("top_srcdir") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOLDERS = ("lib", "db", "vswitchd", "utilities", "tests")
# Made by make, and in the source tree when that is where one builds.
GENERATED = {"db/sql.h"}


def sources():
    """Every .c and .h file of the project, relative to the root, sorted."""
    found = []
    for top in FOLDERS:
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    found.append(os.path.relpath(path, ROOT))
    return sorted(set(found) - GENERATED)


def lines(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read().splitlines()


class Tap:
    """Test cases as TAP; the plan comes last."""

    def __init__(self):
        self.n = 0
        self.failed = 0

    def case(self, name, complaints):
        """One case: passes when there are no complaints."""
        self.n += 1
        if complaints:
            self.failed += 1
            for complaint in complaints:
                print("# " + complaint)
        print("%sok %d - %s" % ("not " if complaints else "", self.n, name))

    def skip(self, name, reason):
        self.n += 1
        print("ok %d - %s # SKIP %s" % (self.n, name, reason))

    def done(self):
        print("1..%d" % self.n)
        return 1 if self.failed else 0
