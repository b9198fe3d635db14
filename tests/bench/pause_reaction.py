#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast does a pause begin?  A stream of a lossless priority crosses
sluiced, its receiver pauses it at random moments, and the kernel stamps what
still comes: pause_reaction.c.  Reaction in us: from the moment before the
system call that sends the PFC frame to the last frame of the stream; 0 when no
frame came after it.  In frames: how many came after it.

  half    half of what the switch carries: its thread sleeps most of the time
  full    as much as the sender can make: the thread does nothing but forward
  shaped  an egress port lets out a quarter of that: its queue is always full

Load and receiver are on the first core, the switch, and the softirq work of
what it sends, on the second.  `fifo`: its thread is a real-time one (--fifo).

A sample counts as one while the thread was on its core when the kernel says
(schedstat) that from before the PFC frame until 300 us after it, and 100 us
after the last frame, the thread did not wait for the core, while it could have
run, for more than %d us in all.  What a hypervisor takes is not seen by that;
JSON has its share of the second core's time (steal_s), to a tick.  `lost`:
frames of the stream, and what the switch says about them: a ring holds what
comes in ten milliseconds or so.

Prints a table, or JSON with --json.  Needs root, and a machine that has nothing
else to do."""
import argparse
import collections
import contextlib
import json
import os
import sys
import time

from peers import GEN_CPU, PEER_CPU, Bed, bench_program, pinned, slc, words

OFF_CORE_NS = 10000
TICKS = os.sysconf("SC_CLK_TCK")
LOADS = ("half", "full", "shaped")
TYPES = ("afpacket", "afxdp")
RING = 12 << 20  # what comes while the thread is put aside is not lost
RATE = 10 ** 10  # by which quanta are counted, unless shaped
__doc__ %= OFF_CORE_NS // 1000


def percentiles(values):
    values = sorted(values)
    if not values:
        return None

    def at(p):
        return values[min(len(values) - 1, int(len(values) * p / 100))]
    return {"p50": at(50), "p99": at(99), "max": values[-1]}


def steal_s():
    with open("/proc/stat", encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[0] == "cpu" + PEER_CPU:
                return int(words[8]) / TICKS
    raise slc.Skip("no core %s" % PEER_CPU)


class Switch:
    """sluiced between p1 and p2 of a bed, PFC on priority 3."""

    def __init__(self, stack, port_type, fifo):
        self.bed = Bed(stack)
        args = ("--cpu", "br0=" + PEER_CPU)
        if fifo:
            args += ("--fifo", "br0=50")
        self.d = stack.enter_context(slc.Daemon(self.bed.sw, args=args))
        # The control thread is not to take turns with a real-time one.
        os.sched_setaffinity(self.d.pid, {int(GEN_CPU)})
        self.d.rpc("bridge.add", name="br0")
        for port in ("p1", "p2"):
            try:
                self.d.rpc("port.add", bridge="br0", name=port,
                           type=port_type, ring_bytes=RING,
                           pfc={"priorities": [3]})
            except slc.RpcError as e:
                raise slc.Skip("no %s port: %s" % (port_type, e)) from e
        self.bed.teach()

    def schedstat(self):
        """Of the thread that forwards."""
        folder = "/proc/%d/task" % self.d.pid
        for task in os.listdir(folder):
            with open("%s/%s/comm" % (folder, task), encoding="ascii") as f:
                if f.read().strip() == "dp-br0":
                    return "%s/%s/schedstat" % (folder, task)
        raise slc.Skip("no thread of the bridge")

    def drops(self):
        """What was dropped, by reason, in the switch and around it."""
        total = collections.Counter()
        for port in ("p1", "p2"):
            for stats in self.d.rpc("stats.show", port=port):
                total.update(stats["drops"])
        return {reason: n for reason, n in total.items() if n}

    def run(self, size, pps, samples, rate, pause_us):
        bed = self.bed
        out = slc.run(*pinned(
            GEN_CPU, bench_program("pause_reaction"), bed.src.name, "e1",
            bed.dst.name, "e2", bed.dst_mac, bed.src_mac, str(size),
            str(int(pps)), str(samples), str(RATE), str(rate), str(pause_us),
            self.schedstat()), timeout=60 + samples * pause_us / 10 ** 5)
        return json.loads(out.stdout)


def measure(port_type, fifo, load, args):
    size = args.size - 4  # no one sees the FCS here
    with contextlib.ExitStack() as stack:
        switch = Switch(stack, port_type, fifo)
        got = switch.run(size, 0, 0, RATE, args.pause_us)
        full = got["sent"] / got["seconds"]
        pps, rate = 0, RATE
        if load == "half":
            pps = full / 2
        elif load == "shaped":
            rate = int(full / 4 * size * 8)
            switch.d.rpc("port.set", name="p2", rate_bps=rate)
        steal = steal_s()
        got = switch.run(size, pps, args.samples, rate, args.pause_us)
        steal = steal_s() - steal
        time.sleep(1.1)  # the kernel's counters are read once a second
        drops = switch.drops()
    on = [s for s in got["samples"] if s[2] <= OFF_CORE_NS]
    return {
        "type": port_type, "fifo": fifo, "load": load, "bytes": args.size,
        "full_pps": full, "pps": got["sent"] / got["seconds"],
        "lost": got["lost"], "disorder": got["disorder"],
        "drops": drops,
        "void": got["void"], "steal_s": steal, "seconds": got["seconds"],
        "pfc_send_ns": percentiles(s[3] for s in got["samples"]),
        "all": {"samples": len(got["samples"]),
                "ns": percentiles(s[0] for s in got["samples"]),
                "frames": percentiles(s[1] for s in got["samples"])},
        "on_core": {"samples": len(on), "ns": percentiles(s[0] for s in on),
                    "frames": percentiles(s[1] for s in on)},
        "longest_wait_ns": max(s[2] for s in got["samples"]),
        "raw": got["samples"]}


def table(rows):
    print("\nfrom a PFC frame to the last frame of what it pauses, %d octets\n"
          "  %-8s %-4s %-6s %8s  %-7s %7s  %7s %7s %8s  %6s %6s %6s  %s"
          % (rows[0]["bytes"], "ports", "fifo", "load", "frames/s", "thread",
             "samples", "p50 us", "p99 us", "max us", "p50", "p99", "max fr",
             "lost"))
    for r in rows:
        for key, name in (("on_core", "on core"), ("all", "any")):
            g = r[key]
            if not g["samples"]:
                continue
            print("  %-8s %-4s %-6s %8.0f  %-7s %7d  %7.1f %7.1f %8.1f  %6d "
                  "%6d %6d  %d %s"
                  % (r["type"], "yes" if r["fifo"] else "no", r["load"],
                     r["pps"], name, g["samples"], g["ns"]["p50"] / 1e3,
                     g["ns"]["p99"] / 1e3, g["ns"]["max"] / 1e3,
                     g["frames"]["p50"], g["frames"]["p99"],
                     g["frames"]["max"], r["lost"], r["drops"] or ""))


def main():
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    ap.add_argument("--json", action="store_true")
    ap.add_argument("--types", type=words(TYPES), default=TYPES)
    ap.add_argument("--loads", type=words(LOADS), default=LOADS)
    ap.add_argument("--fifo", type=words(("no", "yes")),
                    default=("no", "yes"))
    ap.add_argument("--size", type=int, default=64, metavar="N",
                    help="octets of a frame with its FCS, 64 to 1518 (64)")
    ap.add_argument("--samples", type=int, default=300, metavar="N",
                    help="pauses of a row, 10 to 50000 (300)")
    ap.add_argument("--pause-us", type=int, default=2000, metavar="US",
                    help="length of each, 500 to 3000 (2000)")
    args = ap.parse_args()
    if not 10 <= args.samples <= 50000 or not 64 <= args.size <= 1518 or \
            not 500 <= args.pause_us <= 3000:
        ap.error("out of range: see --help")
    if os.geteuid() != 0:
        print("pause_reaction.py: needs root", file=sys.stderr)
        return 3
    rows = []
    for port_type in args.types:
        for fifo in args.fifo:
            for load in args.loads:
                try:
                    rows.append(measure(port_type, fifo == "yes", load, args))
                except slc.Skip as e:
                    print("# %s left out: %s" % (port_type, e),
                          file=sys.stderr)
    if not rows:
        raise slc.Skip("nothing could be measured")
    if args.json:
        print(json.dumps({"load": os.getloadavg()[0], "cases": rows}))
    else:
        table(rows)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except slc.Skip as e:
        print("pause_reaction.py: %s" % e, file=sys.stderr)
        sys.exit(3)
