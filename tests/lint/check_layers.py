# SPDX-License-Identifier: Apache-2.0
"""The layer rule: a folder includes itself and what its may_include lists.

The rule is data: a file `may_include` in every folder of the house, one
folder a line.  The lists themselves may not make a cycle.  Programs of tests/
may include anything.
"""
import os
import re
import sys

import lint

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# Headers that only these folders may use: each library has one home.
HOMES = {
    "sqlite3.h": {"db"},
    "event2/": {"vswitchd"},
    "event.h": {"vswitchd"},
    "netlink/": {"lib/netdev"},
    "xdp/": {"lib/netdev"},
    "bpf/": {"lib/netdev"},
    "cap-ng.h": {"vswitchd"},
    "systemd/": {"vswitchd"},
}
SYSTEM = re.compile(r"^\s*#\s*include\s+<([^>]+)>")


def read_rules():
    rules = {}
    for folder, _, names in os.walk(lint.ROOT):
        if "may_include" in names:
            rel = os.path.relpath(folder, lint.ROOT)
            rows = lint.lines(os.path.join(rel, "may_include"))
            rules[rel] = {r.strip() for r in rows
                          if r.strip() and not r.startswith("#")}
    return rules


def target_folder(include, own):
    """The folder that an include in quotes comes from."""
    for base in ("lib", "."):
        path = os.path.normpath(os.path.join(base, include))
        if os.path.exists(os.path.join(lint.ROOT, path)):
            return os.path.dirname(path)
    return own if "/" not in include else os.path.dirname(include)


def breaches(rules):
    for path in lint.sources():
        folder = os.path.dirname(path)
        if folder not in rules:
            if not path.startswith("tests/"):
                yield "%s: its folder has no may_include" % path
            continue
        for number, line in enumerate(lint.lines(path), 1):
            quoted = INCLUDE.match(line)
            system = SYSTEM.match(line)
            if quoted:
                to = target_folder(quoted.group(1), folder)
                if to and to != folder and to not in rules[folder]:
                    yield "%s:%d: %s may not include %s" % (
                        path, number, folder, to)
            elif system:
                for prefix, homes in HOMES.items():
                    if (system.group(1).startswith(prefix)
                            and folder not in homes):
                        yield "%s:%d: <%s> belongs to %s alone" % (
                            path, number, system.group(1),
                            ", ".join(sorted(homes)))


def cycles(rules):
    def reach(folder, seen):
        for to in rules.get(folder, ()):
            if to not in seen:
                seen.add(to)
                reach(to, seen)
        return seen
    return ["%s reaches itself through its may_include" % f
            for f in sorted(rules) if f in reach(f, set())]


def main():
    rules = read_rules()
    tap = lint.Tap()
    tap.case("every folder of the house has a may_include",
             [] if len(rules) >= 12 else ["only: %s" % sorted(rules)])
    tap.case("the may_include lists make no cycle", cycles(rules))
    tap.case("includes follow the layers", sorted(breaches(rules)))
    return tap.done()


sys.exit(main())
