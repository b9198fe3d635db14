#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sluice-probe against itself, and against raw sockets, over veth: faults on
purpose are counted exactly, pauses are honoured and sent."""
import json
import signal
import subprocess
import time

import slc

SRC = "02:00:00:00:00:0a"
DST = "02:00:00:00:00:0b"


def wire(t):
    """Two namespaces with a veth pair between them: v0 - v1."""
    a = t.enter_context(slc.Netns("a"))
    b = t.enter_context(slc.Netns("b"))
    a.veth("v0", "v1", b)
    a.ip("link", "set", "v0", "address", SRC)
    b.ip("link", "set", "v1", "address", DST)
    return a, b


class Probe:
    """A probe that waits for go()."""

    def __init__(self, t, ns, ifname, *args):
        self.proc = t.enter_context(ns.popen(
            slc.program("sluice-probe"), "-i", ifname, "--json", "--barrier",
            *args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True))
        line = self.proc.stderr.readline()
        assert line == "ready\n", line + self.proc.stderr.read()

    def go(self):
        self.proc.stdin.write("go\n")
        self.proc.stdin.flush()
        return self

    def result(self, timeout=30, status=0):
        out, err = self.proc.communicate(timeout=timeout)
        assert self.proc.returncode == status, (self.proc.returncode, err)
        return json.loads(out)


def exchange(t, sender, receiver, a=None, b=None):
    """Runs a receiver and a sender; their results."""
    if a is None:
        a, b = wire(t)
    r = Probe(t, b, "v1", "receive", *receiver).go()
    s = Probe(t, a, "v0", "send", "--hold", *sender).go()
    r = r.result()
    return s.result(), r


def by_id(result, side="received"):
    return {f["id"]: f for f in result[side]["flows"]}


@slc.test("counted flows of every kind arrive whole, with tag and PCP")
def _(t):
    kinds = ["prio=3,vlan=0", "prio=7,vlan=4094", "prio=0,vlan=none",
             "prio=5,type=udp", "prio=6,size=60", "prio=2,size=imix"]
    flows = []
    for kind in kinds:
        flows += ["-f", "%s,count=300,rate=20M,dst=%s" % (kind, DST)]
    s, r = exchange(t, flows, ["--expect", str(len(kinds)), "--ring", "8M"])
    assert s["sent"]["frames"] == 300 * len(kinds), s["sent"]
    got = by_id(r)
    assert len(got) == len(kinds), r["received"]
    for f in got.values():
        assert f["received"] == 300 and f["complete"], f
        assert not (f["lost"] or f["duplicated"] or f["reordered"] or
                    f["corrupted"] or f["pcp_changed"]), f
        assert 0 < f["latency_ns"]["p50"] <= f["latency_ns"]["p99"] \
            <= f["latency_ns"]["max"], f
    assert [got[i]["vlan"] for i in range(1, 7)] == [0, 4094, None, 0, 0, 0]
    assert r["received"]["by_prio"] == [300, 0, 300, 300, 0, 300, 300, 300]


@slc.test("loss, duplicates, disorder and damage are counted exactly")
def _(t):
    flows = []
    for fault in ("skip=10", "dup=10", "swap=10", "corrupt=10"):
        flows += ["-f", "prio=1,count=1000,rate=20M,%s,dst=%s" % (fault, DST)]
    s, r = exchange(t, flows, ["--expect", "4", "--ring", "8M"])
    got, sent = by_id(r), by_id(s, "sent")
    zero = {"lost": 0, "duplicated": 0, "reordered": 0, "corrupted": 0}
    for i, (name, n) in enumerate((("lost", 99), ("duplicated", 99),
                                   ("reordered", 99), ("corrupted", 100)), 1):
        want = dict(zero, **{name: n})
        assert {k: got[i][k] for k in zero} == want, (name, got[i])
        assert got[i]["sequence_numbers"] == 1000, got[i]
    assert sent[1]["skipped"] == 99 and sent[1]["sent"] == 901
    assert sent[2]["repeated"] == 99 and sent[2]["sent"] == 1099


@slc.test("--strict makes a fault an exit status")
def _(t):
    a, b = wire(t)
    r = Probe(t, b, "v1", "receive", "--expect", "1", "--strict").go()
    s = Probe(t, a, "v0", "send", "-f",
              "prio=1,count=100,skip=50,rate=10M,dst=" + DST).go()
    s.result()
    r.result(status=1)


@slc.test("a slow receiver with PFC loses nothing, and lets go at the end")
def _(t):
    # A pause of 65535 quanta lasts 1.7 s at 20 Mb/s, and the buffer has room
    # for 600 ms of the flow: each of them may be put aside for as long.
    flow = "prio=3,count=2000,size=1000,rate=12M,dst=" + DST
    s, r = exchange(
        t, ["--pfc", "3", "--rate", "20M", "-f", flow],
        ["--pfc", "3", "--rate", "20M", "--expect", "1", "--ring", "8M", "-d",
         "30s", "--slow", "prio=3,rate=4M,buffer=1M,xoff=64K,xon=32K"])
    slow = r["slow"]["3"]
    assert slow["consumed"] == 2000 and slow["dropped"] == 0, slow
    assert slow["peak_bytes"] >= 65536, slow
    assert by_id(r)[1]["lost"] == 0 and by_id(r)[1]["received"] == 2000
    assert r["pfc"]["tx"]["pauses"][3] >= 2, r["pfc"]
    assert r["pfc"]["tx"]["pfc"][3] >= 2 * r["pfc"]["tx"]["pauses"][3], \
        "an XOFF without its XON"
    assert s["pfc"]["rx"]["pauses"][3] >= 2, s["pfc"]
    assert s["pfc"]["rx"]["paused_ns"][3] > 0
    assert s["pfc"]["rx"]["pfc"][3] == r["pfc"]["tx"]["pfc"][3]
    assert not s["pfc"]["paused"] and not r["pfc"]["pausing"]


@slc.test("a slow receiver without PFC drops, and says how many")
def _(t):
    s, r = exchange(
        t, ["-f", "prio=3,count=1500,rate=100M,dst=" + DST],
        ["--expect", "1", "--ring", "8M",
         "--slow", "prio=3,rate=10M,buffer=64K"])
    slow = r["slow"]["3"]
    assert slow["dropped"] > 0 and \
        slow["dropped"] + slow["consumed"] == 1500, slow
    assert s["pfc"]["rx"]["frames"] == 0


@slc.test("a pause makes a silent gap in its priority only")
def _(t):
    a, b = wire(t)
    # A pause lasts 1.7 s at 20 Mb/s, and is refreshed in half of that.
    r = Probe(t, b, "v1", "receive", "--pfc", "3", "--rate", "20M", "--ring",
              "8M", "--expect", "2", "-d", "30s", "--pause-once",
              "prio=3,at=700ms,for=2s").go()
    s = Probe(t, a, "v0", "send", "--hold", "--pfc", "3", "--rate", "20M",
              "-d", "4s", "-f", "prio=3,rate=5M,dst=" + DST,
              "-f", "prio=4,rate=5M,dst=" + DST).go()
    r = r.result()
    s = s.result()
    got, sent = by_id(r), by_id(s, "sent")
    # The peer was told at 700 ms or later, and let go after 2.7 s.
    paused_ns = s["pfc"]["rx"]["paused_ns"][3]
    assert s["pfc"]["rx"]["pauses"] == [0, 0, 0, 1, 0, 0, 0, 0], s["pfc"]
    assert paused_ns > 10**9, s["pfc"]
    # From when it read that until it read the XON it sent nothing of 3.
    assert sent[1]["longest_gap_ns"] >= paused_ns, (sent[1], paused_ns)
    assert sent[2]["sent"] > sent[1]["sent"] + 100, sent
    assert got[1]["lost"] == 0 and got[2]["lost"] == 0
    assert s["pfc"]["rx"]["xoff"][3] >= 2, "no refresh within two pause times"


@slc.test("at most one batch leaves after a PFC frame is in its ring")
def _(t):
    a, b = wire(t)
    raw = t.enter_context(slc.Raw(b, "v1", rcvbuf=64 << 20))
    # Small frames, so that the credit of some milliseconds is worth more than
    # a batch; 65535 quanta at 10 Mb/s are 3.4 s.
    s = Probe(t, a, "v0", "send", "--pfc", "3", "--rate", "10M", "-d", "50s",
              "--drain", "0", "-f", "prio=3,size=60,dst=" + DST).go()
    assert raw.recv(10), "the probe does not send"
    # Stopped, it cannot look; the PFC frame lies in its ring meanwhile.
    with slc.stopped(s.proc.pid):
        raw.recv_all(quiet=0.1)
        xoff = slc.pfc(slc.mac(DST), {3: 65535})
        raw.send(xoff)
        time.sleep(0.1)  # credit
    end, after = time.monotonic() + 0.5, 0
    while time.monotonic() < end:
        raw.send(xoff)
        after += len(raw.recv_all(quiet=0.02, limit=1000))
    raw.send(slc.pfc(slc.mac(DST), {3: 0}))
    assert raw.recv(10), "it does not go on"
    s.proc.send_signal(signal.SIGTERM)
    s.result()
    slc.diag("%d frames after the PFC frame" % after)
    assert after <= 32, after


@slc.test("an XON ends a pause at once")
def _(t):
    a, b = wire(t)
    raw = t.enter_context(slc.Raw(b, "v1"))
    s = Probe(t, a, "v0", "send", "--pfc", "3", "--rate", "1M", "-d", "30s",
              "-f", "prio=3,count=5,size=100,dst=" + DST)
    # At 1 Mb/s this is 33 seconds.
    raw.send(slc.pfc(slc.mac(DST), {3: 65535}))
    s.go()
    assert raw.recv(0.5) is None, "it sends although it is paused"
    raw.send(slc.pfc(slc.mac(DST), {3: 0}))
    for _ in range(5):
        assert raw.recv(10), "it does not send"
    s.result()
    assert raw.recv(0.2) is None, "it sends more"


@slc.test("misbehaving it ignores pauses, storms and sends malformed frames")
def _(t):
    a, b = wire(t)
    raw = t.enter_context(slc.Raw(b, "v1"))
    s = Probe(t, a, "v0", "send", "--pfc", "3", "--ignore-pfc", "--rate", "1M",
              "--malformed", "10", "--storm", "prio=5,for=1s,every=50ms",
              "-f", "prio=3,count=5,size=100,dst=" + DST)
    raw.send(slc.pfc(slc.mac(DST), {3: 65535}))
    s.go()
    result = s.result()
    frames = raw.recv_all(quiet=0.2)
    control = [f for f in frames if slc.parse(f)[3] == slc.ETH_P_MACCTL]
    storm = [f for f in control if slc.parse_pfc(f) == {5: 65535}]
    assert len(frames) - len(control) == 5, frames
    assert result["pfc"]["rx"]["pfc"][3] == 1
    assert set(result["misbehaviour"]["malformed"].values()) == {2}
    assert len(storm) == result["misbehaviour"]["storm_frames"] > 0
    bad = [f for f in control if f not in storm]
    assert len(bad) == 10, bad
    assert sorted(len(f) for f in bad)[:4] == [16, 16, 30, 30], \
        [len(f) for f in bad]


@slc.test("SIGTERM ends it early, with results, and it lets its peer go")
def _(t):
    a, b = wire(t)
    raw = t.enter_context(slc.Raw(b, "v1"))
    s = Probe(t, a, "v0", "receive", "send", "--pfc", "3", "--rate", "10M",
              "-d", "60s", "--pause-once", "prio=3,for=60s",
              "-f", "prio=4,rate=1M,dst=" + DST).go()
    xoff = raw.recv_match(lambda f: slc.parse_pfc(f) == {3: 65535})
    assert xoff, "no XOFF"
    s.proc.send_signal(signal.SIGTERM)
    result = s.result(timeout=10)
    assert raw.recv_match(lambda f: slc.parse_pfc(f) == {3: 0}), "no XON"
    assert result["pfc"]["pausing"] == []
    assert result["sent"]["flows"][0]["state"] == "ended"


@slc.test("errors: exit status 2 for bad usage, 1 for no interface")
def _(t):
    probe = slc.program("sluice-probe")
    p = slc.run(probe, "-i", "slcnone", "receive", check=False)
    assert p.returncode == 1 and "slcnone" in p.stderr, p
    p = slc.run(probe, "-i", "lo", "send", "-f", "prio=8,dst=broadcast",
                check=False)
    assert p.returncode == 2 and '"8"' in p.stderr and "7" in p.stderr, p
    p = slc.run(probe, "-i", "lo", "recieve", check=False)
    assert p.returncode == 2 and "recieve" in p.stderr, p
    assert slc.run(probe, "--version").stdout.startswith("sluice-probe ")
    assert "--pause-once" in slc.run(probe, "--help").stdout


slc.main(root=True, needs=["ip"])
