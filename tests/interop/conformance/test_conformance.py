#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenFlow 1.3 as os-ken's switch tester sees it: two bridges, one to be
tested and one to test it with, three wires between them, and the patterns of
patterns.py.  A part of them, that of a minute; with SLUICE_CONFORMANCE=full
all, which takes a quarter of an hour; with SLUICE_CONFORMANCE=FOLDER those of
a folder (whose ports are 1, 2 and 3).

Of meters and of what is spread over ports the tester measures rates, with ten
per cent on either side, while it sends by itself (paced.py): that is for a
machine which has nothing else to do, and not in the part.  What fails of these
is tried once more.  Skipped where os-ken is not installed."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "system"))
sys.path.insert(0, HERE)
import patterns  # noqa: E402
import slc  # noqa: E402

PYTHON = "/usr/bin/python3"  # whose os-ken is Debian's
TARGET, TESTER = "00000000000000a1", "00000000000000b2"
WHAT = os.environ.get("SLUICE_CONFORMANCE", "")
TIMEOUT = 3600 if WHAT else 240


def need_os_ken():
    p = subprocess.run([PYTHON, "-c", "import os_ken.tests.switch.tester"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False)
    if p.returncode:
        raise slc.Skip("os-ken is not installed (python3-os-ken)")


def measures(c):
    return "packets" in c["tests"][0]["ingress"]


def choose():
    """{file: cases}: all, or a part.  The tester waits for a second where
    nothing is to come: one such case a file, and of the others the third
    part."""
    everything = patterns.all_patterns(15)
    if WHAT == "full":
        return everything
    out = {}
    for name, cases in everything.items():
        cases = [c for c in cases if not measures(c)]
        late = [c for c in cases if "table-miss" in c["tests"][0]]
        some = [c for c in cases if "table-miss" not in c["tests"][0]][::3]
        if late:
            some.append(late[sum(map(ord, name)) % len(late)])
        if some:
            out[name] = some
    return out


class Lab:
    """Two bridges in a namespace, and what they are wired with."""

    def __init__(self, t):
        self.ns = t.enter_context(slc.Netns("conf"))
        self.daemon = t.enter_context(slc.Daemon(self.ns))
        for i in "123":
            self.ns.veth("a" + i, "b" + i)
        for bridge, side, dpid in (("target", "a", TARGET),
                                   ("tester", "b", TESTER)):
            self.daemon.rpc("bridge.add", name=bridge, memory_bytes="16M")
            for i in "123":
                self.daemon.rpc("port.add", bridge=bridge, name=side + i)
            self.daemon.rpc("bridge.set", name=bridge, datapath_id=dpid,
                            fail_mode="secure",
                            controllers={"tcp:127.0.0.1:6633": {}})


def run_tester(lab, folder):
    """What the tester says, line by line."""
    argv = ["ip", "netns", "exec", lab.ns.name, PYTHON, "-c",
            "from os_ken.cmd.manager import main; main()",
            "--ofp-tcp-listen-port", "6633", "--test-switch-target", TARGET,
            "--test-switch-tester", TESTER, "--test-switch-dir", folder,
            "--test-switch-interval", "0", os.path.join(HERE, "paced.py")]
    with tempfile.TemporaryFile("w+") as log:
        p = subprocess.Popen(argv, stdout=log, stderr=subprocess.STDOUT)
        try:
            p.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
        log.seek(0)
        return log.read().splitlines()


RESULT = re.compile(r"^    (.*\S) +(OK|ERROR)$")


def results(lines):
    """[(case, passed, why)]."""
    out = []
    for line in lines:
        m = RESULT.match(line)
        if m:
            out.append([m.group(1), m.group(2) == "OK", ""])
        elif out and line.startswith("        ") and not out[-1][1] and \
                not out[-1][2]:
            out[-1][2] = line.strip()
        if line.startswith("--- Test report"):
            break
    return out


def again(lab, bad, chosen):
    """Those that measure are tried once more; what is still wrong."""
    names = {r[0] for r in bad}
    cases = [c for cs in chosen.values() for c in cs
             if c["description"] in names and measures(c)]
    if not cases:
        return bad
    with tempfile.TemporaryDirectory(prefix="slc-again-") as folder:
        patterns.write_to(folder, {"again": cases})
        passed = {r[0] for r in results(run_tester(lab, folder)) if r[1]}
    return [r for r in bad if r[0] not in passed]


def check(t, folder, n_cases, chosen):
    lab = Lab(t)
    begin = time.monotonic()
    lines = run_tester(lab, folder)
    got = results(lines)
    bad = again(lab, [r for r in got if not r[1]], chosen)
    for name, _, why in bad:
        print("# %s: %s" % (name, why))
    if len(got) != n_cases:
        print("\n".join("# " + x for x in lines[-30:]))
    print("# %d of %d cases passed in %.0f s" % (
        len(got) - len(bad), n_cases, time.monotonic() - begin))
    assert len(got) == n_cases, "%d cases were run, not %d" % (
        len(got), n_cases)
    assert not bad, "%d cases failed" % len(bad)
    for audit in lab.daemon.rpc("audit.show"):
        assert audit["ok"], audit


@slc.test("patterns of matches, actions, groups and meters")
def _(t):
    need_os_ken()
    if os.path.isdir(WHAT):
        n = 0
        for root, _, names in os.walk(WHAT):
            for name in names:
                with open(os.path.join(root, name)) as f:
                    n += f.read().count('"prerequisite"')
        check(t, WHAT, n, {})
        return
    folder = tempfile.mkdtemp(prefix="slc-conformance-")
    t.callback(shutil.rmtree, folder)
    chosen = choose()
    patterns.write_to(folder, chosen)
    check(t, folder, sum(map(len, chosen.values())), chosen)


slc.main()
