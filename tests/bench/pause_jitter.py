#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How exact is the length of a single pause?  A port of sluiced with a full
lossless queue is paused again and again for a time that is known; at the far
end of its veth pair the kernel stamps every frame that comes.  A pause is the
silence between two frames; what it is longer than Q x 512 / rate is the
error: the frame that was due next, and the lateness of our thread.

At the same time a program that just sleeps for as long shows how late the
machine wakes anybody.  Of several runs the one in which that was the least is
taken, whatever the pauses were.  Prints a table, or JSON with --json.  Takes a
minute; needs root, and a machine that has nothing else to do."""
import argparse
import array
import contextlib
import ctypes
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "system"))
import slc  # noqa: E402

SO_TIMESTAMPNS = 35
PRIO = 3
# Name, rate, octets of a frame: few enough a second for a script to see all.
CASES = (("100M", 100000000, 1500), ("1G", 1000000000, 9000))


def stamp(anc):
    for level, kind, data in anc:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            s, ns = struct.unpack("qq", data[:16])
            return s * 1000000000 + ns
    return None


def measure(sock, mac, quanta, n, every_ns, pause_ns):
    """Pauses n times; the moments of all frames, and of the pauses."""
    frame = slc.pfc(mac, {PRIO: quanta})
    arrivals, pauses = [], []
    due = time.clock_gettime_ns(time.CLOCK_REALTIME) + every_ns
    end = due + n * every_ns
    while True:
        now = time.clock_gettime_ns(time.CLOCK_REALTIME)
        if now >= end:
            return arrivals, pauses
        if now >= due and len(pauses) < n:
            pauses.append(now)
            sock.send(frame)
            due += every_ns
            if due < now + 2 * pause_ns:  # late ourselves: none on another
                due = now + 2 * pause_ns
        # Not in a circle: the processor is wanted by who is measured.
        wait_ns = min((due if len(pauses) < n else end) - now, 10 ** 6)
        select.select([sock], [], [], max(0, wait_ns) / 1e9)
        for _ in range(64):
            try:
                _d, anc, _f, addr = sock.recvmsg(64, 128, socket.MSG_DONTWAIT |
                                                 socket.MSG_TRUNC)
            except BlockingIOError:
                break
            if addr[2] != socket.PACKET_OUTGOING:
                arrivals.append(stamp(anc))


def errors(arrivals, pauses, pause_ns):
    """What each pause was longer than it should be; how many were not seen."""
    gaps = [(a, b) for a, b in zip(arrivals, arrivals[1:])
            if b - a > pause_ns * 3 // 4]
    out, at = [], 0
    for p in pauses:
        while at < len(gaps) and gaps[at][1] < p + pause_ns // 2:
            at += 1
        if at < len(gaps) and gaps[at][0] < p + 2 * pause_ns:
            out.append(gaps[at][1] - gaps[at][0] - pause_ns)
            at += 1
    return out, len(pauses) - len(out)


class Sleeper:
    """Another process that sleeps as long as a pause again and again: how late
    it wakes is what no program can better here."""

    def __init__(self, ns):
        self.out, w = os.pipe()
        r, self.stop = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(w)
            os.close(r)
            return
        os.close(self.out)
        os.close(self.stop)
        status = 1
        try:
            self.run(ns, r, w)
            status = 0
        finally:
            os._exit(status)

    @staticmethod
    def run(ns, stop, out):
        ctypes.CDLL(None).prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK
        late = array.array("q")
        end = select.poll()
        end.register(stop, select.POLLIN)
        while not end.poll(0):
            began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            time.sleep(ns / 1e9)
            late.append(time.clock_gettime_ns(time.CLOCK_MONOTONIC) - began -
                        ns)
        with os.fdopen(out, "wb") as f:
            late.tofile(f)

    def end(self):
        """Ends it: what it has seen."""
        os.close(self.stop)
        with os.fdopen(self.out, "rb") as f:
            data = f.read()
        os.waitpid(self.pid, 0)
        return array.array("q", data).tolist()


def summary(values):
    values = sorted(values)

    def at(p):
        return values[min(len(values) - 1, int(len(values) * p / 100))]
    return {"min": values[0], "p50": at(50), "p99": at(99), "max": values[-1]}


def case(name, rate, size, n, pause_us):
    quanta = max(1, min(65535, pause_us * rate // 512 // 1000000))
    pause_ns = quanta * 512 * 1000000000 // rate
    with contextlib.ExitStack() as t:
        ns = t.enter_context(slc.Netns("jit"))
        for i in (1, 2):
            ns.veth("p%d" % i, "h%d" % i, mtu=9100)
        d = t.enter_context(slc.Daemon(ns))
        d.rpc("bridge.add", name="br0", max_frame_bytes=9122)
        for i in (1, 2):
            d.rpc("port.add", bridge="br0", name="p%d" % i, rate_bps=rate,
                  pfc={"priorities": [PRIO]})
        raw = t.enter_context(slc.Raw(ns, "h1"))
        raw.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        raw.send(slc.frame(slc.BROADCAST, raw.mac, size=64))
        slc.wait_for(lambda: d.rpc("mac.list", bridge="br0")["entries"],
                     "h1 is known")
        # A little less than what comes: the queue is never empty.
        d.rpc("port.set", name="p1", rate_bps=rate * 9 // 10)
        quanta = quanta * 9 // 10
        pause_ns = quanta * 512 * 1000000000 // (rate * 9 // 10)
        every_ns = pause_ns + 8000000
        total = (n * every_ns) / 1e9 + 1
        probe = t.enter_context(ns.popen(
            slc.program("sluice-probe"), "-i", "h2", "send", "--pfc",
            str(PRIO), "--rate", str(rate), "-d",
            "%dms" % (total * 1000 + 1500), "-f",
            "prio=%d,size=%d,rate=%d,dst=%s" % (
                PRIO, size, rate, ":".join("%02x" % b for b in raw.mac)),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        slc.wait_for(lambda: d.rpc("queue.show", port="p1")[PRIO]["bytes"] >
                     4 * size, "the queue is full")
        raw.drain()
        sleeper = Sleeper(pause_ns)
        try:
            arrivals, pauses = measure(raw.sock, raw.mac, quanta, n, every_ns,
                                       pause_ns)
        finally:
            late = sleeper.end()
        probe.reap()
    out, missing = errors(arrivals, pauses, pause_ns)
    if len(out) < n // 2:
        raise slc.Skip("only %d of %d pauses were seen: the machine is too "
                       "busy" % (len(out), n))
    return {"rate": name, "pause_ns": pause_ns, "frame_bytes": size,
            "frame_ns": size * 8 * 10 ** 9 // (rate * 9 // 10),
            "pauses": len(out), "not_seen": missing, "sleeps": len(late),
            "error_ns": summary(out), "sleep_ns": summary(late)}


def quietest(args, *what):
    """Of several runs the one in which who just slept was the least late."""
    rows, why = [], None
    for _ in range(args.runs):
        try:
            rows.append(case(*what, args.pauses, args.pause_us))
        except slc.Skip as e:
            why = e
    if not rows:
        raise why
    return min(rows, key=lambda r: r["sleep_ns"]["p99"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pauses", type=int, default=500, metavar="N",
                        help="in a run, 10 to 10000 (500)")
    parser.add_argument("--runs", type=int, default=5, metavar="N",
                        help="at each rate, 1 to 100 (5)")
    parser.add_argument("--pause-us", type=int, default=2000, metavar="US",
                        help="length of each, 100 to 20000 (2000)")
    args = parser.parse_args()
    if not 10 <= args.pauses <= 10000 or \
            not 100 <= args.pause_us <= 20000 or not 1 <= args.runs <= 100:
        parser.error("out of range: see --help")
    if os.geteuid() != 0:
        print("pause_jitter.py: needs root", file=sys.stderr)
        return 3
    rows = [quietest(args, *c) for c in CASES]
    if args.json:
        print(json.dumps({"load": os.getloadavg()[0], "cases": rows}))
        return 0
    print("What a pause is longer than Q x 512 / rate, in us (load %.1f):"
          % os.getloadavg()[0])
    print("%6s %9s %9s %7s %8s %8s %8s %8s" % (
        "rate", "pause", "a frame", "pauses", "min", "p50", "p99", "max"))
    for r in rows:
        for what, n, e in (("", r["pauses"], r["error_ns"]),
                           ("a sleep", r["sleeps"], r["sleep_ns"])):
            print("%6s %9.1f %9.1f %7d %8.1f %8.1f %8.1f %8.1f  %s" % (
                r["rate"], r["pause_ns"] / 1e3, r["frame_ns"] / 1e3, n,
                e["min"] / 1e3, e["p50"] / 1e3, e["p99"] / 1e3, e["max"] / 1e3,
                what))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except slc.Skip as e:
        print("pause_jitter.py: %s" % e, file=sys.stderr)
        sys.exit(3)
