# SPDX-License-Identifier: Apache-2.0
"""What holds for afpacket ports holds for afxdp ports, and for bridges that
have both: runs other tests again with these types where they name none.
test_port_types_*.py call it, one for each kind, so that they run side by
side."""
import os
import re
import subprocess
import sys

import slc

HERE = os.path.dirname(os.path.abspath(__file__))
# A file, and of its cases those with a word: all that say how ports behave.
RUNS = (("test_watchdog", ""), ("test_topology", ""), ("test_vendor_plans", ""),
        ("test_daemon_ports", ""), ("test_doctor", ""), ("test_ports", ""),
        ("test_counters", ""), ("test_qos", ""), ("test_buffers", ""),
        ("test_flow", ""), ("../interop/test_of_ports", ""),
        ("../interop/conformance/test_conformance", ""),
        ("../interop/test_controllers", "loses nothing"),
        ("test_daemon", "ports"), ("test_daemon_rpc", "events: link"),
        ("test_attach", ""), ("test_topo", "ready topology incast"))
# Its bridges have one port on an interface, which is of one type.
ALONE = (("test_host", ""),)
TYPES = {"afxdp": "afxdp", "mixed": "afpacket afxdp"}


def rerun(path, word, kind):
    """The results of one test program with ports of that kind."""
    name = os.path.basename(path)[len("test_"):]
    env = dict(os.environ, SLUICE_TEST_PORT_TYPE=kind)
    p = subprocess.run(
        [sys.executable, os.path.join(HERE, path + ".py"), word], env=env,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=1200, check=False)
    n = skipped = 0
    types = None
    for line in p.stdout.splitlines():
        result = re.match(r"(not ok|ok) \d+ (- )?(.*)", line)
        if result:
            n += 1
            skipped += "# SKIP" in line
            yield result.group(1), "%s: %s" % (name, result.group(3))
        elif line.startswith("# port types: "):
            types = line[len("# port types: "):]
        elif not re.match(r"1\.\.", line):
            print(line)
    plan = re.search(r"^1\.\.(\d+)(.*)", p.stdout, re.M)
    if not plan or int(plan.group(1)) != n:
        yield "not ok", "%s ended early, with %d" % (name, p.returncode)
    elif n == skipped:
        yield "ok", "%s # SKIP %s" % (name, plan.group(2).partition("SKIP ")[2]
                                      or "all of it is skipped")
    else:
        # Or it names types itself, and tests nothing here.
        yield "ok" if types == TYPES[kind] else "not ok", \
            "%s: its ports are of that kind" % name


def main(kind):
    version = slc.run(slc.program("sluiced"), "--version").stdout
    if os.geteuid() != 0 or "afxdp" not in version:
        print("1..0 # SKIP needs root, and AF_XDP built in")
        return 0
    n = failed = 0
    for path, word in RUNS + (ALONE if kind == "afxdp" else ()):
        for verdict, text in rerun(path, word, kind):
            n += 1
            failed += verdict != "ok"
            print("%s %d - %s, %s" % (verdict, n, kind, text), flush=True)
    print("1..%d" % n)
    return 1 if failed else 0
