#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What holds for afpacket ports holds for afxdp ports, and for bridges that
have both: runs other tests again with these types where they name none.

SLUICE_TEST_ALL=1 adds those that take longest.
"""
import os
import re
import subprocess
import sys

import slc

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = (("ports", "afxdp"), ("ports", "mixed"), ("qos", "afxdp"),
        ("buffers", "afxdp"), ("counters", "mixed"), ("doctor", "afxdp"),
        ("daemon_ports", "afxdp"))
LONG_RUNS = (("watchdog", "afxdp"), ("daemon_ports", "mixed"),
             ("topology", "afxdp"))


def rerun(name, kind):
    """The results of one test program with ports of that kind."""
    env = dict(os.environ, SLUICE_TEST_PORT_TYPE=kind)
    p = subprocess.run(
        [sys.executable, os.path.join(HERE, "test_%s.py" % name)], env=env,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=300, check=False)
    n = 0
    for line in p.stdout.splitlines():
        result = re.match(r"(not ok|ok) \d+ (- )?(.*)", line)
        if result:
            n += 1
            yield result.group(1), result.group(3)
        elif not re.match(r"1\.\.", line):
            print(line)
    plan = re.search(r"^1\.\.(\d+)", p.stdout, re.M)
    if not plan or int(plan.group(1)) != n:
        yield "not ok", "%s ended early, with %d" % (name, p.returncode)


def main():
    n = failed = 0
    version = slc.run(slc.program("sluiced"), "--version").stdout
    if os.geteuid() != 0 or "afxdp" not in version:
        print("1..0 # SKIP needs root, and AF_XDP built in")
        return 0
    runs = RUNS + (LONG_RUNS if os.environ.get("SLUICE_TEST_ALL") else ())
    for name, kind in runs:
        for word, text in rerun(name, kind):
            n += 1
            failed += word != "ok"
            print("%s %d - %s, %s: %s" % (word, n, kind, name, text),
                  flush=True)
    print("1..%d" % n)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
