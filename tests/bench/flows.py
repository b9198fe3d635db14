#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flow tables beside Open vSwitch's userspace datapath, in one run.

    sudo python3 tests/bench/flows.py [--seconds S] [--rounds N] [--json FILE]

Both forward over veth on AF_PACKET, with what `ovs-ofctl add-flows` gave them:

  wildcard   one entry: all that comes in on p1 leaves by p2
  many       100,000 entries of 5-tuples with prefixes, in 50 masks, that are
             all searched, and one below them that the load meets

and two loads: one 5-tuple, which a cache remembers, and a million in turn,
which none does.  Frames that arrive a second, at full load; seconds that the
100,000 entries took to be added, from a file, until the switch had them; and
frames of a load of 20,000 a second that were lost while they were added.
Rounds alternate between the peers; medians are shown.
"""
import argparse
import contextlib
import json
import os
import random
import statistics
import sys
import threading
import time

from peers import Bed, ovs_on, pinned, slc, PEER_CPU

N_MANY = 100000
N_MASKS = 50
N_TUPLES = 1000000
QUIET_PPS = 20000


def address(number, bits):
    number &= 0xffffffff << (32 - bits)
    return "%d.%d.%d.%d/%d" % (number >> 24 & 255, number >> 16 & 255,
                               number >> 8 & 255, number & 255, bits)


def write_many(path):
    """Entries that none of the load's frames meets: its addresses are in
    10.0.0.0/8 and 192.168.0.0/16, these are above."""
    rng = random.Random(1)
    with open(path, "w", encoding="ascii") as f:
        for i in range(N_MANY):
            shape = i % N_MASKS
            port = "" if shape % 2 else ",udp_src=%d" % rng.randrange(65536)
            f.write("priority=%d,udp,nw_src=%s,nw_dst=%s%s,actions=output:p1\n"
                    % (rng.randrange(2, 1000),
                       address(0xe0000000 | rng.randrange(1 << 28),
                               32 - shape % 13),
                       address(rng.randrange(1 << 32), 32 - shape // 13 * 4),
                       port))


class Target:
    """A switch that ovs-ofctl talks to."""

    def __init__(self, socket):
        self.socket = socket

    def __call__(self, *command):
        return slc.run("ovs-ofctl", "-O", "OpenFlow13", "--timeout=120",
                       *self.words(command),
                       timeout=150).stdout

    def words(self, command):
        """The target comes after the command, which may have an option."""
        at = 2 if command[0].startswith("-") else 1
        return command[:at] + ("unix:" + self.socket,) + command[at:]

    def add(self, path):
        """Seconds until the switch has them all.  In a bundle ovs-ofctl sends
        one after the other; without, it waits for a barrier after each, which
        measures how fast processes take turns."""
        t0 = time.monotonic()
        self("--bundle", "add-flows", path)
        return time.monotonic() - t0


@contextlib.contextmanager
def sluice(bed):
    with slc.Daemon(bed.sw, wrap=pinned(PEER_CPU)) as d:
        d.rpc("bridge.add", name="br0")
        for port in ("p1", "p2"):
            d.rpc("port.add", bridge="br0", name=port)
        yield Target(os.path.join(d.dir, "br0.mgmt"))


@contextlib.contextmanager
def ovs(bed):
    with ovs_on(bed.sw, {"p1": [], "p2": []}) as (pid, _):
        with open("/proc/%d/cmdline" % pid, encoding="ascii") as f:
            ctl = [w for w in f.read().split("\0") if "--unixctl=" in w][0]
        folder = os.path.dirname(ctl.split("=", 1)[1])
        yield Target(os.path.join(folder, "br0.mgmt"))


PEERS = {"sluice": sluice, "ovs": ovs}


def rate(bed, tuples, seconds):
    # The caches are full, or overrun, before it counts.
    bed.probe(60, 0.5, 3e6, tuples)
    return bed.probe(60, seconds, 3e6, tuples)["arrived"] / seconds


def add_under_load(bed, target, path):
    """Seconds, and frames that were lost meanwhile."""
    got = {}
    load = threading.Thread(target=lambda: got.update(
        bed.probe(60, 4.0, QUIET_PPS, 1)))
    load.start()
    time.sleep(0.5)
    seconds = target.add(path)
    load.join()
    return seconds, got["sent"] - got["arrived"]


def measure(peer, path, seconds):
    with contextlib.ExitStack() as stack:
        bed = Bed(stack)
        target = stack.enter_context(PEERS[peer](bed))
        target("del-flows")
        target("add-flow", "priority=1,in_port=p1,actions=output:p2")
        row = {"wildcard, 1": rate(bed, 1, seconds),
               "wildcard, 1M": rate(bed, N_TUPLES, seconds)}
        row["add s"], row["lost"] = add_under_load(bed, target, path)
        row["many, 1"] = rate(bed, 1, seconds)
        row["many, 1M"] = rate(bed, N_TUPLES, seconds)
        return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    args = parser.parse_args()
    rows = {peer: [] for peer in PEERS}
    with slc.tmpdir() as folder:
        path = os.path.join(folder, "flows")
        write_many(path)
        for number in range(args.rounds):
            for peer in PEERS:
                row = measure(peer, path, args.seconds)
                rows[peer].append(row)
                print("# round %d, %s: %s" % (number + 1, peer, ", ".join(
                    "%s %.6g" % item for item in row.items())), flush=True)
    medians = {peer: {key: statistics.median(r[key] for r in got)
                      for key in got[0]} for peer, got in rows.items()}
    print("\n%-14s %12s %12s %8s" % ("", "sluice", "ovs", "ratio"))
    for key, value in medians["sluice"].items():
        other = medians["ovs"][key]
        print("%-14s %12.6g %12.6g %8s" % (
            key, value, other, "%.2f" % (value / other) if other else "-"))
    if args.json:
        with open(args.json, "w", encoding="ascii") as f:
            json.dump({"median": medians, "rounds": rows}, f, indent=1)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except slc.Skip as reason:
        print("flows: %s" % reason, file=sys.stderr)
        sys.exit(77)
