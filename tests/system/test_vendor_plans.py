#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The PFC test plans that vendors of switches run, on real interfaces: storms
on lossless and lossy priorities while other traffic flows, PAUSE that is to
be ignored, incasts, changing load.  Every verdict is taken at the far end, by
sequence numbers, and the switch's counters have to agree with it frame by
frame (pfc-semantics sections 1, 2, 3, 5 and 10).  The plans for the watchdog
are in a file of their own."""
import json
import subprocess
import time

import slc

# Of every link: a pause of 65535 quanta lasts 671 ms, so that whoever storms
# may be late by that.
MBPS = 50
LOSSLESS = (3, 4)
# What lossy classes may hold: more than comes while a machine is busy.
LOSSY, LOSSY_ROOM = (0, 1), 2 << 20


class Probe:
    """A sluice-probe that begins with go() and stays until result()."""

    def __init__(self, t, ns, ifname, *args):
        self.proc = t.enter_context(ns.popen(
            slc.program("sluice-probe"), "-i", ifname, "--json", "--barrier",
            "--hold", "--rate", "%dM" % MBPS, *args, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        line = self.proc.stderr.readline()
        assert line == "ready\n", line + self.proc.stderr.read()

    def go(self):
        self.proc.stdin.write("go\n")
        self.proc.stdin.flush()

    def finish(self):
        """Its flows' time is over; until it sends no more."""
        self.go()
        assert self.proc.stderr.readline() == "done\n"

    def result(self):
        out, err = self.proc.communicate(timeout=30)
        assert self.proc.returncode == 0, (self.proc.returncode, err)
        return json.loads(out)


class Star:
    """One switch; stations h1 (who receives), h2, h3, ... around it."""

    def __init__(self, t, name, n_senders, lossless=LOSSLESS):
        self.t, self.n = t, n_senders + 1
        self.ns = t.enter_context(slc.Netns(name))
        self.d = t.enter_context(slc.Daemon(self.ns))
        self.d.rpc("bridge.add", name="br0")
        for i in range(1, self.n + 1):
            self.ns.veth("p%d" % i, "h%d" % i)
            self.d.rpc("port.add", bridge="br0", name="p%d" % i,
                       rate_bps="%dM" % MBPS, ring_bytes="8M",
                       pfc={"priorities": list(lossless)},
                       groups={str(p): {"xoff_bytes": LOSSY_ROOM}
                               for p in LOSSY},
                       queues={str(p): {"limit_bytes": LOSSY_ROOM}
                               for p in LOSSY})
        for i in range(1, self.n + 1):
            slc.wait_for(lambda: self.d.rpc("port.show", name="p%d" % i)[
                "state"] == "up", "p%d is up" % i)
        self.raw = t.enter_context(slc.Raw(self.ns, "h1"))
        self.dst = ":".join("%02x" % b for b in self.raw.mac)
        self.raw.send(slc.frame(slc.BROADCAST, self.raw.mac, size=64))
        slc.wait_for(lambda: any(
            e["mac"] == self.dst for e in
            self.d.rpc("mac.list", bridge="br0")["entries"]), "h1 is known")
        self.pfc = ["--pfc", ",".join(map(str, lossless)) or "none"]

    def snapshot(self):
        return ({p["port"]: p for p in self.d.rpc("stats.show")},
                {p["port"]: p for p in self.d.rpc("pfc.counters")})

    def is_quiet(self):
        """Nothing is held, no one paused, and nothing moves: each audit is
        made in another turn."""
        counts = set()
        for _ in range(3):
            a, = self.d.rpc("audit.show")
            if a["held"] or any(p["paused"] or p["pausing"]
                                for p in self.d.rpc("pfc.show")):
                return False
            counts.add((a["rx"], a["tx"]))
            time.sleep(0.02)
        return len(counts) == 1

    def run(self, flows, seconds=1.5, receiver=(), meanwhile=None,
            is_enough=lambda run: True):
        """Sender i sends flows[i - 2]: {priority: rate}; the receiver has the
        arguments.  It lasts so long, and until it is enough."""
        run = Run(self, self.snapshot())
        r = Probe(self.t, self.ns, "h1", "receive", *self.pfc, *receiver,
                  "--ring", "16M", "-d", "60s", "--idle", "900ms")
        senders = []
        for i, classes in enumerate(flows, 2):
            args = []
            for prio, rate in classes.items():
                args += ["-f", "id=%d,prio=%d,size=1000,rate=%s,dst=%s"
                         % (10 * i + prio, prio, rate, self.dst)]
            senders.append(Probe(self.t, self.ns, "h%d" % i, "send", *self.pfc,
                                 *args, "--drain", "5s", "-d", "50s"))
        for p in [r] + senders:
            p.go()
        end = time.monotonic() + seconds

        def is_over():
            if meanwhile:
                meanwhile()
            run.after = self.snapshot()
            return time.monotonic() >= end and is_enough(run)
        slc.wait_for(is_over, "enough has happened", 40)
        for p in senders:
            p.finish()
        quiet = "all has left, no one is paused"
        slc.wait_for(self.is_quiet, quiet, 15)
        run.all_sent = [s.result() for s in senders]
        run.received = r.result()
        slc.wait_for(self.is_quiet, quiet, 15)  # after the last of a storm
        run.after = self.snapshot()
        return run


class Run:
    """What everyone saw."""

    def __init__(self, star, before):
        self.star, self.before, self.after = star, before, before
        self.all_sent, self.received = [], None

    def sent(self, prio, i=None):
        return sum(f["sequence_numbers"] for n, s in enumerate(
            self.all_sent, 2) if i in (None, n)
            for f in s["sent"]["flows"] if f["prio"] == prio)

    def got(self, prio):
        return [f for f in self.received["received"]["flows"]
                if f["prio"] == prio]

    def lost(self, prio):
        return self.sent(prio) - sum(f["received"] for f in self.got(prio))

    def gap_ms(self, prio):
        """The longest silence of the class at the far end."""
        return max(f["longest_gap_ns"] for f in self.got(prio)) / 1e6

    def delta(self, what, port, *path):
        a, b = self.before[what][port], self.after[what][port]
        for key in path:
            a, b = a[key], b[key]
        return b - a

    def drops(self, prio):
        return self.delta(0, "p1", "queues", prio, "drops") + sum(
            self.delta(0, "p%d" % n, "groups", prio, "drops")
            for n in range(2, self.star.n + 1))

    def told(self, i, prio):
        """XOFFs that went to sender i."""
        return self.delta(1, "p%d" % i, "tx", "xoff", prio)

    def heard(self, prio):
        """XOFFs that came from the receiver."""
        return self.delta(1, "p1", "rx", "xoff", prio)

    def whole(self, *prios):
        """Nothing lost, doubled or out of order."""
        for prio in prios:
            assert self.sent(prio) > 0
            assert self.lost(prio) == 0, (prio, self.lost(prio))
            for f in self.got(prio):
                assert not (f["duplicated"] or f["reordered"] or
                            f["corrupted"]), f

    def agrees(self):
        """The switch counted what the stations did: data as data, PFC as PFC
        and nothing of it twice."""
        def same(what, ours, theirs):
            assert ours == theirs, "%s: the switch %d, the stations %d" % (
                what, ours, theirs)
        prios = {f["prio"] for s in self.all_sent for f in s["sent"]["flows"]}
        for n, s in enumerate(self.all_sent, 2):
            port = "p%d" % n
            for prio in prios:
                same("%s received of priority %d" % (port, prio), self.delta(
                    0, port, "groups", prio, "rx_frames"), self.sent(prio, n))
            same(port + " received", self.delta(0, port, "rx_frames"),
                 sum(self.sent(p, n) for p in prios))
            for p in range(8):
                same("PFC to %s, priority %d" % (port, p), self.delta(
                    1, port, "tx", "pfc", p), s["pfc"]["rx"]["pfc"][p])
        for prio in prios:
            same("sent of priority %d" % prio, self.delta(
                0, "p1", "queues", prio, "tx_frames"),
                sum(f["received"] for f in self.got(prio)))
            same("drops of priority %d" % prio, self.drops(prio),
                 self.lost(prio))
        same("data that p1 received", self.delta(0, "p1", "rx_frames"), 0)
        r = self.received
        for p in range(8):
            xoff = r["pfc"]["tx"]["xoff"][p] + (
                self.storm_frames() if p in self.stormed else 0)
            same("PFC from h1, priority %d" % p,
                 self.delta(1, "p1", "rx", "xoff", p), xoff)
        for port in self.after[0]:
            for reason in ("reserved", "runt", "kernel-ring",
                           "kernel-backlog", "headroom-exceeded"):
                same("%s: %s" % (port, reason),
                     self.delta(0, port, "drops", reason), 0)
        a, = self.star.d.rpc("audit.show")
        assert a["ok"] and not a["held"], a

    stormed = ()

    def storm_frames(self):
        n = self.received.get("misbehaviour", {}).get("storm_frames", 0)
        return n // max(1, len(self.stormed))


def storm(*prios, at=400, for_=600):
    out = []
    for p in prios:
        out += ["--storm", "prio=%d,at=%dms,for=%dms,every=20ms" % (
            p, at, for_)]
    return out


def show(run, *prios):
    slc.diag("; ".join("priority %d: %d sent, %d lost, longest gap %.0f ms" % (
        p, run.sent(p), run.lost(p), run.gap_ms(p)) for p in prios))


def stopped(run, prio, ms):
    """While the storm lasted nothing came of the class, but it all came."""
    assert run.gap_ms(prio) >= ms, (prio, run.gap_ms(prio))


@slc.test("sections 2, 3: a storm on one lossless priority stops that one; "
          "the others flow")
def _(t):
    star = Star(t, "one", 1)
    run = star.run([{3: "7M", 4: "7M", 0: "7M"}], receiver=storm(3),
                   is_enough=lambda run: run.told(2, 3) and run.heard(3))
    run.stormed = (3,)
    show(run, 3, 4, 0)
    run.whole(3, 4, 0)
    stopped(run, 3, 590)
    assert run.delta(1, "p1", "rx", "pauses", 3) == 1
    assert run.delta(1, "p1", "rx", "paused_ns", 3) >= 600e6
    assert run.delta(1, "p1", "rx", "paused_ns", 4) == 0
    # The storm went upstream for 3, and for nothing else.
    assert run.delta(1, "p2", "tx", "xoff", 3) > 0
    for p in (0, 1, 2, 4, 5, 6, 7):
        assert run.delta(1, "p2", "tx", "pfc", p) == 0, p
    run.agrees()


@slc.test("sections 2, 3: a storm on several lossless priorities stops those; "
          "lossy traffic flows")
def _(t):
    star = Star(t, "two", 1)
    run = star.run([{3: "7M", 4: "7M", 0: "7M", 1: "7M"}],
                   receiver=storm(3, 4), is_enough=lambda run: all(
                       run.told(2, p) and run.heard(p) for p in (3, 4)))
    run.stormed = (3, 4)
    show(run, 3, 4, 0, 1)
    run.whole(3, 4, 0, 1)
    stopped(run, 3, 590)
    stopped(run, 4, 590)
    for p in (3, 4):
        assert run.delta(1, "p2", "tx", "xoff", p) > 0, p
    run.agrees()


@slc.test("section 2: storms on lossy priorities stop nothing and are counted")
def _(t):
    star = Star(t, "lossy", 1)
    run = star.run([{3: "7M", 0: "7M", 1: "7M"}],
                   receiver=storm(0, 1, for_=2000),
                   is_enough=lambda run: run.heard(0) + run.heard(1) > 10)
    run.stormed = (0, 1)
    show(run, 3, 0, 1)
    run.whole(3, 0, 1)
    assert run.delta(1, "p1", "rx", "not_enabled") == run.delta(
        1, "p1", "rx", "frames") > 10
    for p in range(8):
        assert run.delta(1, "p1", "rx", "pauses", p) == 0
        assert run.delta(1, "p2", "tx", "pfc", p) == 0
    run.agrees()


@slc.test("section 8: PAUSE that is not configured is ignored and counted")
def _(t):
    star = Star(t, "pause", 1)
    n = [0]

    def pause():
        star.raw.send(slc.pause(star.raw.mac, 65535))
        n[0] += 1
        time.sleep(0.02)
    run = star.run([{3: "10M", 0: "10M"}], meanwhile=pause, seconds=1,
                   is_enough=lambda run: n[0] > 10)
    show(run, 3, 0)
    run.whole(3, 0)
    assert run.delta(1, "p1", "rx", "pause") == n[0] > 10
    assert not any(run.delta(1, "p1", "rx", "pauses", p) for p in range(8))
    run.agrees()


def incast(t, name, n):
    star = Star(t, name, n)
    # Together they offer more than the link of h1 carries, by half.
    each = MBPS * 1.5 / n
    run = star.run([{3: "%dk" % (each * 1000)}] * n,
                   is_enough=lambda run: all(run.told(i, 3) for i in range(
                       2, n + 2)))
    show(run, 3)
    run.whole(3)
    for i in range(2, n + 2):
        assert run.delta(1, "p%d" % i, "tx", "xoff", 3) > 0, i
        assert run.delta(1, "p%d" % i, "tx", "pfc", 4) == 0, i
    run.agrees()


@slc.test("section 3: a 2:1 incast of a lossless class loses nothing")
def _(t):
    incast(t, "two1", 2)


@slc.test("section 3: a 4:1 incast of a lossless class loses nothing")
def _(t):
    incast(t, "four1", 4)


@slc.test("sections 3, 5, 7: a 2:1 incast of two lossless classes with a "
          "lossy background")
def _(t):
    star = Star(t, "bg", 2)
    star.d.rpc("queue.set", port="p1", queues={
        str(q): {"mode": "ets", "weight": w}
        for q, w in ((0, 20), (3, 40), (4, 40))})
    run = star.run([{3: "15M", 4: "15M", 0: "15M"}] * 2,
                   is_enough=lambda run: run.drops(0) > 0 and all(
                       run.told(i, p) for i in (2, 3) for p in (3, 4)))
    show(run, 3, 4, 0)
    run.whole(3, 4)
    assert run.lost(0) > 0, "the lossy class had no loss to bear"
    assert run.drops(0) == run.lost(0)
    both = [f for s in run.all_sent for f in [s["pfc"]["rx"]["pfc"]]]
    assert all(f[3] and f[4] and not f[0] for f in both), both
    run.agrees()


@slc.test("sections 2, 5: fluctuating load and rate lose nothing lossless")
def _(t):
    star = Star(t, "fluct", 2)
    step = [0]

    def change():
        step[0] += 1
        star.d.rpc("port.set", name="p1",
                   rate_bps="%dM" % (10, 50, 25)[step[0] % 3])
        star.d.rpc("buffer.set", port="p2", group=3,
                   xoff_bytes="%dK" % (32, 128, 64)[step[0] % 3],
                   xon_bytes="16K")
        star.raw.send(slc.pfc(star.raw.mac, {3: 1000 * (step[0] % 4)}))
        time.sleep(0.05)
    run = star.run([{3: "20M", 0: "5M"}, {3: "15M"}], meanwhile=change,
                   seconds=2, is_enough=lambda run: step[0] >= 10)
    star.d.rpc("port.set", name="p1", rate_bps="%dM" % MBPS)
    show(run, 3, 0)
    slc.diag("%d changes" % step[0])
    run.whole(3)
    assert step[0] >= 10
    assert run.delta(1, "p1", "rx", "pfc", 3) == step[0]
    a, = star.d.rpc("audit.show")
    assert a["ok"], a


slc.main(root=True, needs=["ip"])
