#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenFlow: packet-in to packet-out round trips, and flow-mods a second beside
Open vSwitch, in one run.  As root; `make bench-programs` first."""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "system"))
import slc  # noqa: E402

CLIENT = os.path.abspath(os.path.join(slc.TOP_BUILD, "tests", "bench",
                                      "of_client"))
PPS = int(os.environ.get("PPS", "20000"))
SECONDS = 3.0
SIZE = 100
N_FLOWS = 100000


def numbers(text):
    return {k: float(v) for k, v in
            (line.split() for line in text.splitlines() if " " in line)}


@contextlib.contextmanager
def switch():
    with contextlib.ExitStack() as t:
        sw = t.enter_context(slc.Netns("sw"))
        hosts = [t.enter_context(slc.Netns("h%d" % i)) for i in (1, 2)]
        d = t.enter_context(slc.Daemon(sw))
        d.rpc("bridge.add", name="br0")
        for i, h in enumerate(hosts, 1):
            sw.veth("p%d" % i, "eth0", h)
            d.rpc("port.add", bridge="br0", name="p%d" % i, ofport=i)
        yield d, hosts, os.path.join(d.dir, "br0.mgmt")


def round_trips(pps):
    with switch() as (d, hosts, path):
        probe = slc.program("sluice-probe")
        c = slc.popen(CLIENT, path, "reflect", "2", str(SECONDS + 3),
                      stdout=subprocess.PIPE, text=True)
        assert c.stdout.readline() == "ready\n"
        rx = hosts[1].popen(probe, "-i", "eth0", "--json", "receive",
                            "--expect", "1", "--ring", "16M",
                            stdout=subprocess.PIPE, text=True)
        time.sleep(0.5)
        hosts[0].run(probe, "-i", "eth0", "--json", "send", "-f",
                     "prio=0,vlan=none,count=%d,rate=%d,size=%d,dst=%s" % (
                         pps * SECONDS, pps * (SIZE + 20) * 8, SIZE,
                         "02:00:00:00:00:02"), timeout=60)
        flow = json.loads(rx.communicate(timeout=60)[0])["received"]["flows"][0]
        out, _ = c.communicate(timeout=60)
        us = {k: flow["latency_ns"][k] / 1e3 for k in ("p50", "p99", "max")}
        print("%6d/s: %d of %d came back, %.1f packet-ins a read; one way "
              "there and back: p50 %.0f us, p99 %.0f us, longest %.0f us" % (
                  pps, flow["received"], pps * SECONDS,
                  numbers(out)["packet_ins"] / max(numbers(out)["reads"], 1),
                  us["p50"], us["p99"], us["max"]))


@contextlib.contextmanager
def open_vswitch():
    with slc.tmpdir() as folder:
        env = dict(os.environ, OVS_RUNDIR=folder, OVS_DBDIR=folder,
                   OVS_LOGDIR=folder)
        db = "unix:%s/db.sock" % folder
        slc.run("ovsdb-tool", "create", folder + "/conf.db",
                "/usr/share/openvswitch/vswitch.ovsschema", env=env)
        with slc.popen("ovsdb-server", folder + "/conf.db",
                       "--remote=punix:%s/db.sock" % folder, env=env,
                       stderr=subprocess.DEVNULL), \
                slc.popen("ovs-vswitchd", db, "--disable-system", env=env,
                          stderr=subprocess.DEVNULL):
            slc.wait_for(lambda: os.path.exists(folder + "/db.sock"), "db")
            slc.run("ovs-vsctl", "--db=" + db, "--no-wait", "init", env=env)
            slc.run("ovs-vsctl", "--db=" + db, "add-br", "br0", "--", "set",
                    "bridge", "br0", "datapath_type=dummy", "--", "set",
                    "bridge", "br0", "datapath_type=netdev",
                    "protocols=[OpenFlow13]", env=env)
            slc.wait_for(lambda: os.path.exists(folder + "/br0.mgmt"), "br0")
            yield folder + "/br0.mgmt"


def flow_mods(name, path, best):
    """Adds to an empty table, and in place of what is there."""
    for mode in ("flows", "replace"):
        got = numbers(slc.run(CLIENT, path, mode, str(N_FLOWS),
                              timeout=60).stdout)
        rate = N_FLOWS / got["seconds"]
        best[mode] = max(best.get(mode, 0), rate)
        print("  %-12s %-8s %7.0f flow-mods/s, all deleted in %.2f s" % (
            name, mode, rate, got["delete_seconds"]), flush=True)


def main():
    for pps in (1000, PPS):
        round_trips(pps)
    ours, theirs = {}, {}
    with contextlib.ExitStack() as t:
        _, _, path = t.enter_context(switch())
        peer = (t.enter_context(open_vswitch())
                if shutil.which("ovs-vswitchd") else None)
        for _ in range(3):  # in turn: the machine may be busy
            flow_mods("Sluice", path, ours)
            if peer:
                flow_mods("Open vSwitch", peer, theirs)
    for mode in ours:
        print("%-8s %7.0f flow-mods/s%s" % (
            mode, ours[mode], ", %.2f of Open vSwitch's %.0f" % (
                ours[mode] / theirs[mode], theirs[mode]) if theirs else ""))
    if not peer:
        print("Open vSwitch is not installed")


if __name__ == "__main__":
    main()
