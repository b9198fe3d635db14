#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The PFC watchdog, the guard, drills, history and graph (pfc-semantics
section 9 and 10), asymmetric PFC and 802.3x PAUSE (sections 2 and 8), through
a real sluiced on veth, with sluice-probe and raw sockets at the far ends."""
import json
import struct
import subprocess
import time

import slc

A, B, C = slc.mac(0xa), slc.mac(0xb), slc.mac(0xc)
SLOW = 10000000  # 65535 quanta last 3.4 s: a pause that is repeated lasts
SLOWER = 1000000  # 34 s: one alone does, for as long as a test takes


class Rig:
    """A sluiced with ports p1, p2, ... whose far ends are h1, h2, ..."""

    def __init__(self, t, n=2, **port):
        self.ns = t.enter_context(slc.Netns("sw"))
        self.hosts = t.enter_context(slc.Netns("hosts"))
        for i in range(1, n + 1):
            self.ns.veth("p%d" % i, "h%d" % i, self.hosts)
        self.d = t.enter_context(slc.Daemon(self.ns))
        self.t = t
        self.d.rpc("bridge.add", name="br0")
        for i in range(1, n + 1):
            self.d.rpc("port.add", bridge="br0", name="p%d" % i, **port)
        self.wait_up()

    def wait_up(self):
        slc.wait_for(lambda: all(p["state"] == "up"
                                 for p in self.d.rpc("port.list")),
                     "all ports are up")

    def raw(self, i):
        return self.t.enter_context(
            slc.Raw(self.hosts, "h%d" % i, rcvbuf=32 << 20))

    def ctl(self, *words, check=True):
        return slc.run(slc.program("sluicectl"), "-s", self.d.socket, *words,
                       check=check)

    def storms(self, port="p2"):
        """{priority: what `watchdog show` says}."""
        show = self.d.rpc("watchdog.show", port=port)[0]
        return {q["priority"]: q for q in show["queues"]}

    def storm(self, port="p2", prio=3):
        return self.storms(port)[prio]

    def storm_held(self):
        """Frames of priority 3 that wait at p2."""
        return self.d.rpc("queue.show", port="p2")[3]["frames"]

    def paused(self, port):
        return self.d.rpc("pfc.show", port=port)[0]["paused"]

    def counted(self, port):
        """Once all that has arrived somewhere is counted."""
        self.d.settle()
        return self.d.rpc("stats.show", port=port)[0]

    def come_in(self, port, n):
        """n frames have come in at the port, and been dealt with."""
        slc.wait_for(lambda: self.counted(port)["rx_frames"] == n,
                     "%d frames come in" % n)
        self.d.settle()

    def probe(self, i, *args):
        p = self.t.enter_context(self.hosts.popen(
            slc.program("sluice-probe"), "-i", "h%d" % i, "--json",
            "--barrier", *args, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        assert p.stderr.readline() == "ready\n", p.stderr.read()
        return p

    def audit(self):
        return slc.wait_for(
            lambda: next((a for a in self.d.rpc("audit.show")
                          if a["ok"] and not a["held"]), None),
            "the audit adds up and nothing is held")


def go(*probes):
    """They begin, in this order."""
    for p in probes:
        p.stdin.write("go\n")
        p.stdin.flush()


def result(p, timeout=slc.WAIT):
    out, err = p.communicate(timeout=timeout)
    assert p.returncode == 0, (p.returncode, err)
    return json.loads(out)


class Basic:
    """Watchdog basic: flows 1 and 2 of priorities 3 and 4 from h1 to h2, and
    flow 7 of 3 the other way, until finish(); h2 obeys nobody, and storms on
    3 as long as storm() is called."""

    def __init__(self, t, rate_bps, detection_ms, action="drop"):
        self.rig = Rig(t, rate_bps=rate_bps, pfc={"priorities": [3, 4]})
        self.rig.d.rpc("watchdog.start", port="p2", action=action,
                       detection_ms=detection_ms, restoration_ms=4000,
                       poll_ms=100)
        self.raw = self.rig.raw(2)
        self.n_storm = 0
        macs = [":".join("%02x" % b for b in self.rig.hosts.mac("h%d" % i))
                for i in (1, 2)]
        flow = "prio=%d,dst=%s,rate=1M,size=500,id=%d"
        rate = ("--rate", str(rate_bps), "-d", "600s")
        far, near = (self.rig.probe(i, *rate, "--expect", str(n), "receive")
                     for i, n in ((2, 2), (1, 1)))
        b = self.rig.probe(2, *rate, "--pfc", "3,4", "--ignore-pfc",
                           "-f", flow % (3, macs[0], 7), "send")
        a = self.rig.probe(1, *rate, "--pfc", "3,4",
                           "-f", flow % (3, macs[1], 1),
                           "-f", flow % (4, macs[1], 2), "send")
        # The receivers listen before the first frame.
        go(far, near, a, b)
        self.senders, self.receivers = (a, b), (far, near)
        self.flow_on()

    def counts(self):
        """Frames that p2 and p1 have sent of 3."""
        return [self.rig.d.rpc("queue.show", port=p)[3]["tx_frames"]
                for p in ("p2", "p1")]

    def flow_on(self):
        """Frames of 3 go both ways."""
        was = self.counts()
        slc.wait_for(lambda: all(n > w + 5 for n, w in
                                 zip(self.counts(), was)), "frames of 3 flow")

    def storm(self):
        self.raw.send(slc.pfc(B, {3: 65535}))
        self.n_storm += 1
        return True

    def finish(self):
        """Both ends of each flow: {id: (what was sent, what came)}."""
        for p in self.senders:
            p.terminate()  # it sends the last frame, which says so
        sent = [f for p in self.senders for f in result(p)["sent"]["flows"]]
        got = {f["id"]: f for p in self.receivers
               for f in result(p)["received"]["flows"]}
        self.rig.audit()
        rx = self.rig.d.rpc("pfc.counters", port="p2")[0]["rx"]
        assert rx["xoff"][3] == self.n_storm, (rx, self.n_storm)
        assert all(got[f["id"]]["complete"] for f in sent), got
        return {f["id"]: (f["sent"], got[f["id"]]) for f in sent}


@slc.test("section 9: watchdog basic: a storm that is shorter than the "
          "detection time loses nothing")
def _(t):
    # Each pause lasts 0.3 s.
    x = Basic(t, 100000000, 5000)
    for _ in range(4):
        x.storm()
        slc.wait_for(lambda: x.rig.d.rpc("pfc.counters", port="p2")[0]["rx"][
            "xoff"][3] == x.n_storm, "the XOFF is read")
        held = x.rig.storm_held()
        slc.wait_for(lambda: x.rig.storm_held() > held or
                     not x.rig.paused("p2"), "frames wait")
    slc.wait_for(lambda: not x.rig.paused("p2"), "the storm is over")
    x.flow_on()
    for sent, got in x.finish().values():
        assert sent > 0 and got["received"] == sent and not got["lost"], \
            (sent, got)
    assert x.rig.storm()["detected"] == 0, x.rig.storm()
    assert x.rig.d.rpc("pfc.counters", port="p2")[0]["rx"]["pauses"][3] > 0


@slc.test("section 9: watchdog basic: a storm that is longer: sent is "
          "delivered and watchdog tx drops and rx drops, to the frame")
def _(t):
    x = Basic(t, SLOW, 400)
    slc.wait_for(lambda: x.storm() and x.rig.storm()["status"] == "stormed",
                 "the storm is detected")
    slc.wait_for(lambda: x.storm() and all(
        x.rig.storm()["total"][k] > 10 for k in ("tx_drop", "rx_drop")),
        "frames are dropped, both ways")
    slc.wait_for(lambda: x.rig.storm()["status"] == "operational",
                 "the storm is over")
    # After the restore nothing is lost: each flow is complete.
    x.flow_on()
    flows = x.finish()
    w = x.rig.storm()
    assert w["detected"] == 1 and w["restored"] == 1, w
    for i, k in ((1, "tx_drop"), (7, "rx_drop")):
        sent, got = flows[i]
        assert sent == got["received"] + w["total"][k], (sent, got, w)
    assert w["last"] == w["total"], w
    # Only that priority is touched.
    sent, got = flows[2]
    assert got["received"] == sent and not got["lost"], (sent, got)
    assert x.rig.storms()[4]["detected"] == 0
    drops = x.rig.d.rpc("stats.show", port="p2")[0]["drops"]
    assert drops["watchdog-tx"] == w["total"]["tx_drop"], drops
    assert drops["watchdog-rx"] == w["total"]["rx_drop"], drops
    assert not any(x.rig.d.rpc("stats.show", port="p1")[0]["violations"])


@slc.test("section 9: forward ignores the storm and sends everything")
def _(t):
    x = Basic(t, SLOW, 400, action="forward")
    slc.wait_for(lambda: x.storm() and x.rig.storm()["status"] == "stormed",
                 "the storm is detected")
    slc.wait_for(lambda: x.storm() and
                 x.rig.storm()["total"]["tx_ok"] > 10, "frames go on")
    slc.wait_for(lambda: x.rig.storm()["status"] == "operational",
                 "the storm is over")
    x.flow_on()
    for sent, got in x.finish().values():
        assert got["received"] == sent and not got["lost"], (sent, got)
    w = x.rig.storm()
    assert w["detected"] == 1 and w["restored"] == 1, w
    assert w["total"]["tx_ok"] > 0 and w["total"]["tx_drop"] == 0, w


def begin_storm(rig, raw, port="p2"):
    """Has the port stormed on 3; the caller goes on or does not."""
    def n_xoff():
        return rig.d.rpc("pfc.counters", port=port)[0]["rx"]["xoff"][3]
    sent = n_xoff()
    while rig.storm(port)["status"] != "stormed":
        raw.send(slc.pfc(B, {3: 65535}))
        sent += 1
        slc.wait_for(lambda: n_xoff() == sent, "an XOFF is read")
        time.sleep(0.05)


@slc.test("section 9: a storm on an empty queue is detected, and told; XON "
          "frames do not keep it stormed")
def _(t):
    rig = Rig(t, rate_bps=SLOW, pfc={"priorities": [3]})
    rig.d.rpc("watchdog.start", port="p2", detection_ms=200, poll_ms=100,
              restoration_ms=300)
    c = t.enter_context(rig.d.connect())
    c.call("events.subscribe", {"types": ["storm", "restored"]})
    raw = rig.raw(2)
    begin_storm(rig, raw)
    e = c.event(type="storm")
    assert e["port"] == "p2" and e["priority"] == 3 and e["queue"] == 3, e
    assert e["action"] == "drop" and e["lasted_ns"] >= 200e6, e
    slc.wait_for(lambda: raw.send(slc.pfc(B, {3: 0})) and
                 rig.storm()["status"] != "stormed", "XONs do not keep it "
                 "stormed")
    e = c.event(type="restored")
    assert e["priority"] == 3 and e["tx_drop"] == 0, e
    assert "PFC storm" in rig.d.log() and "is over" in rig.d.log()
    events = rig.d.rpc("pfc.history", port="p2")["events"]
    types = [x["type"] for x in events]
    assert "storm" in types and "restored" in types, types
    # A moment has the same time whenever it is shown.
    for _ in range(1000):
        again = rig.d.rpc("pfc.history", port="p2")["events"]
        assert again[:len(events)] == events, (events, again)


@slc.test("section 10: history and storms outlive a datapath that is made anew")
def _(t):
    rig = Rig(t, rate_bps=SLOW, pfc={"priorities": [3]})
    rig.d.rpc("watchdog.start", port="p2", detection_ms=200, poll_ms=100,
              restoration_ms=300)
    rig.d.rpc("watchdog.guard", port="p1", time_ms=100)
    raw = rig.raw(2)
    begin_storm(rig, raw)
    for _ in range(2):
        before = rig.storm()
        h = rig.d.rpc("pfc.history")
        kinds = [e["type"] for e in h["events"]]
        assert "storm" in kinds and "pause" in kinds, kinds
        size = rig.d.rpc("bridge.show", name="br0")["memory_bytes"]
        rig.d.rpc("bridge.set", name="br0", memory_bytes=size // 2)
        rig.wait_up()
        after = rig.storm()
        assert after["detected"] == after["restored"] == 1, after
        for k in ("total", "last", "last_detected"):
            assert after[k] == before[k], (k, before, after)
        now = rig.d.rpc("pfc.history")
        assert now["events"][:len(h["events"])] == h["events"], (h, now)
        assert now["bridges"][0]["records"] >= h["bridges"][0]["records"]
        old, new = ({(p["port"], p["priority"]): p for p in x["pauses"]}
                    for x in (h, now))
        assert new["p2", 3]["rx"]["pauses"] == old["p2", 3]["rx"]["pauses"]
        assert new["p2", 3]["rx"]["longest_ns"] >= \
            old["p2", 3]["rx"]["longest_ns"]
    # And a storm of the new datapath is one more.
    begin_storm(rig, raw)
    assert rig.storm()["detected"] == 2, rig.storm()


@slc.test("section 9: stop in mid-storm then start carries nothing over")
def _(t):
    rig = Rig(t, rate_bps=SLOW, pfc={"priorities": [3]})
    rig.d.rpc("watchdog.start", port="p2", detection_ms=5000)
    rig.d.rpc("watchdog.start", port="p2", detection_ms=200)
    raw = rig.raw(2)
    begin_storm(rig, raw)
    rig.ctl("watchdog", "stop", "p2")
    assert rig.storm()["status"] == "stopped", rig.storm()
    assert rig.storm()["restored"] == 1
    rig.ctl("watchdog", "start", "p2", "--detection", "5s", "--action",
            "drop", "--restoration", "400")
    # A storm that went on would show at the next looks, of 200 ms.
    n = rig.d.rpc("pfc.counters", port="p2")[0]["rx"]["frames"]
    raw.send(slc.pfc(B, {3: 65535}))
    slc.wait_for(lambda: rig.d.rpc("pfc.counters", port="p2")[0]["rx"][
        "frames"] == n + 1, "the XOFF is read")
    time.sleep(0.5)
    assert rig.storm()["status"] == "operational", rig.storm()
    assert rig.storm()["detected"] == 1
    text = rig.ctl("watchdog", "show").stdout
    assert "p2:3" in text and "operational" in text and "1/1" in text, text
    # It survives a restart, as configuration.
    rig.d.restart()
    w = rig.d.rpc("watchdog.show", port="p2")[0]
    assert w["enabled"] and w["detection_ms"] == 5000, w


@slc.test("section 9: what cannot be is a clean error: poll above detection, "
          "start and off on a port without PFC")
def _(t):
    rig = Rig(t)
    for words, says in (
            (("watchdog", "start", "p1"), "p1 has no PFC"),
            (("watchdog", "stop", "p1"), "p1 has no PFC"),
            (("pfc", "set", "p1", "3:off"), "p1 has no PFC")):
        p = rig.ctl(*words, check=False)
        assert p.returncode == 1 and says in p.stderr, (words, p)
    rig.ctl("pfc", "set", "p1", "3:on")
    p = rig.ctl("watchdog", "start", "p1", "poll", "300", check=False)
    assert p.returncode == 1, p
    assert "poll_ms 300 exceeds detection_ms 200" in p.stderr, p.stderr
    assert "allowed 100 to 200" in p.stderr, p.stderr
    p = rig.ctl("watchdog", "start", "p1", "detection", "99ms", check=False)
    assert p.returncode == 2 and "100ms to 5s" in p.stderr, p
    rig.ctl("watchdog", "start", "p1")
    rig.ctl("watchdog", "stop", "p1")
    rig.ctl("watchdog", "stop", "p1")  # is not running: nothing to do


@slc.test("section 9: the override is the action of every port")
def _(t):
    rig = Rig(t, rate_bps=SLOW, pfc={"priorities": [3]})
    rig.d.rpc("watchdog.start", port="p2", action="alert",
              restoration_ms=60000)
    rig.ctl("watchdog", "override", "drop")
    raw, in1 = rig.raw(2), rig.raw(1)
    begin_storm(rig, raw)
    for i in range(5):
        in1.send(slc.frame(B, A, struct.pack(">I", i), tags=[(0, 3)]))
    slc.wait_for(lambda: rig.storm()["total"]["tx_drop"] == 5,
                 "the override drops")
    text = rig.ctl("watchdog").stdout
    assert "drop (override)" in text, text
    rig.ctl("watchdog", "override", "off")
    assert rig.d.rpc("watchdog.show")[0]["override"] == "off"


@slc.test("section 9: the guard reports, and ends, our own endless pausing")
def _(t):
    rig = Rig(t, rate_bps=SLOW, pfc={"priorities": [3]})
    rig.d.rpc("buffer.set", port="p1", group=3, xoff_bytes=20000,
              xon_bytes=2000)
    rig.d.rpc("watchdog.guard", port="p1", time_ms=300, action="release")
    c = t.enter_context(rig.d.connect())
    c.call("events.subscribe", {"types": ["stuck", "xoff"]})
    a, b = rig.raw(1), rig.raw(2)
    rig.ctl("drill", "hold", "p2", "queue", "3", "for", "5min")
    for i in range(40):
        a.send(slc.frame(B, A, struct.pack(">I", i), tags=[(0, 3)],
                         size=1000))
    e = c.event(type="xoff")
    assert e["cause"] == {"port": "p2", "queue": 3,
                          "bytes": e["cause"]["bytes"]}, e
    assert e["held_bytes"] >= 20000 and e["limit_bytes"] == 20000, e
    xoff = a.recv_match(lambda f: slc.parse_pfc(f) == {3: 65535})
    assert xoff, "no XOFF"
    e = c.event(type="stuck")
    assert e["port"] == "p1" and e["group"] == 3, e
    assert e["lasted_ns"] > 300e6 and e["cause"]["port"] == "p2", e
    assert a.recv_match(lambda f: slc.parse_pfc(f) == {3: 0}), "no XON"
    assert rig.d.rpc("watchdog.show", port="p1")[0]["guard"]["stuck"] == [3]
    rig.ctl("drill", "stop")
    got = 0
    while got < 40:
        f = b.recv()
        assert f is not None, got
        got += slc.parse(f)[3] == slc.ETH_P_TEST
    rig.audit()
    h = json.loads(rig.ctl("--json", "pfc", "history", "p1").stdout)
    xon = [x for x in h["events"] if x["type"] == "xon"]
    assert xon and xon[-1]["lasted_ns"] > 300e6, h["events"]
    assert "cause" in xon[-1] and xon[-1]["group"] == 3
    tx = [p for p in h["pauses"] if p["priority"] == 3][0]["tx"]
    assert tx["pauses"] == 1 and tx["longest_ns"] == tx["last_ns"] > 3e8, tx
    assert tx["last_at"], tx
    text = rig.ctl("pfc", "history").stdout
    assert "p2 queue 3" in text and "xoff" in text, text


def two_bridges(t):
    """h1 - p1 br0 x1 ---- x2 br1 p2 - h2, in one daemon."""
    rig = Rig(t, n=1, rate_bps=SLOW, pfc={"priorities": [3]})
    rig.ns.veth("p2", "h2", rig.hosts)
    rig.ns.veth("x1", "x2")
    rig.d.rpc("bridge.add", name="br1")
    for bridge, port in (("br0", "x1"), ("br1", "x2"), ("br1", "p2")):
        rig.d.rpc("port.add", bridge=bridge, name=port, rate_bps=SLOW,
                  pfc={"priorities": [3]})
    rig.wait_up()
    return rig


@slc.test("a drill: a storm out of a port is bounded in time, shown, and ends "
          "with XON; its peer detects it and is restored")
def _(t):
    rig = two_bridges(t)

    def n_xon():
        rx = rig.d.rpc("pfc.counters", port="x1")[0]["rx"]
        return rx["pfc"][3] - rx["xoff"][3]

    rig.ctl("drill", "storm", "x2", "prio", "3", "for", "9min")
    d = rig.d.rpc("drill.show")
    assert len(d) == 1 and d[0]["port"] == "x2" and d[0]["priority"] == 3, d
    assert 0 < d[0]["left_ns"] <= 540e9, d
    assert "storm" in rig.ctl("drill").stdout
    rig.ctl("drill", "stop", "x2")
    slc.wait_for(lambda: n_xon() == 1, "an XON comes")
    # A storm is not over while it repeats its XOFF, each 1.7 s; and it lasts
    # long enough to be seen by who is late for the first one.
    rig.d.rpc("watchdog.start", port="x1", detection_ms=200,
              restoration_ms=4000)
    rig.ctl("drill", "storm", "x2", "prio", "3", "for", "6s")
    slc.wait_for(lambda: rig.storm("x1")["detected"] == 1,
                 "the peer detects it")
    slc.wait_for(lambda: rig.storm("x1")["status"] == "operational",
                 "and is restored when it ends by itself")
    assert rig.d.rpc("drill.show") == []
    assert rig.storm("x1")["detected"] == 1, rig.storm("x1")
    assert n_xon() == 2, "no XON at the end"
    # More of it, ended by hand; unknown ports and times are refused.
    rig.ctl("drill", "storm", "x2", "prio", "3", "for", "5min")
    rig.ctl("drill", "stop", "x2")
    assert rig.d.rpc("drill.show") == []
    assert rig.ctl("drill", "storm", "nix", "prio", "3", "for", "1s",
                   check=False).returncode == 1
    slc.refused(rig.d.rpc, "drill.storm", port="x2", priorities=[8],
                duration_ms=5, names=["7"])
    slc.refused(rig.d.rpc, "drill.storm", port="x2", priorities=[3],
                duration_ms=600001, names=["600000"])


@slc.test("a drill ends with XON when its port is removed and when the daemon "
          "is told to end")
def _(t):
    rig = Rig(t, rate_bps=SLOW)
    a, b = rig.raw(1), rig.raw(2)
    for i in (1, 2):
        rig.d.rpc("drill.storm", port="p%d" % i, priorities=[5],
                  duration_ms=60000)
    for raw in (a, b):
        assert raw.recv_match(lambda f: slc.parse_pfc(f) == {5: 65535})
    rig.d.rpc("port.del", name="p1")
    assert a.recv_match(lambda f: slc.parse_pfc(f) == {5: 0}), "no XON"
    rig.d.stop()
    assert b.recv_match(lambda f: slc.parse_pfc(f) == {5: 0}), "no XON"


@slc.test("pfc graph shows who waits for whom, across the bridges of a daemon")
def _(t):
    rig = two_bridges(t)
    for port in ("p1", "x2"):
        rig.d.rpc("buffer.set", port=port, group=3, xoff_bytes=10000,
                  xon_bytes=2000)
    assert rig.d.rpc("pfc.graph") == {"waits": [], "cycles": [],
                                      "not_shown": 0}
    assert "nobody waits" in rig.ctl("pfc", "graph").stdout
    rig.ctl("drill", "hold", "p2", "queue", "3", "for", "9min")
    a = rig.raw(1)

    def congested():
        for i in range(10):
            a.send(slc.frame(B, A, struct.pack(">I", i), tags=[(0, 3)],
                             size=1000))
        waits = rig.d.rpc("pfc.graph")["waits"]
        return {w["port"]: w for w in waits
                if w["xoff"]} if len(waits) >= 2 else None

    # Till the congestion has come through x2 and x1 to p1.
    w = slc.wait_for(lambda: (congested() or {}).get("p1"),
                     "p1 waits too", step=0.05)
    assert w["behind"]["port"] == "x1" and w["behind"]["paused_for"] == [3]
    assert w["paused_by"] == [{"bridge": "br1", "port": "x2", "group": 3}], w
    text = rig.ctl("pfc", "graph").stdout
    assert "br0 p1 group 3, which pauses its peer" in text, text
    assert "because of br1 x2 group 3" in text, text
    assert "which a drill holds" in text and "CYCLE" not in text, text
    dot = rig.ctl("pfc", "graph", "--dot").stdout
    assert dot.startswith("digraph pfc {") and dot.rstrip().endswith("}"), dot
    assert '"br0 x1 queue 3" -> "br1 x2 group 3"' in dot, dot
    assert rig.d.rpc("pfc.graph")["cycles"] == []


@slc.test("a cyclic buffer dependency between three bridges is detected, and "
          "the watchdog ends it")
def _(t):
    ns = t.enter_context(slc.Netns("ring"))
    d = t.enter_context(slc.Daemon(ns))
    for i in range(3):
        ns.veth("o%d" % i, "i%d" % ((i + 1) % 3))
        d.rpc("bridge.add", name="br%d" % i)
    for i in range(3):
        for port in ("o%d" % i, "i%d" % i):
            d.rpc("port.add", bridge="br%d" % i, name=port, rate_bps=SLOW,
                  pfc={"priorities": [3]})
        d.rpc("buffer.set", port="i%d" % i, group=3, xoff_bytes=20000,
              xon_bytes=2000)
        # A broadcast goes round and round: that fills the ring for good.
        d.rpc("drill.hold", port="o%d" % i, queues=[3], duration_ms=600000)
    slc.wait_for(lambda: all(p["state"] == "up" for p in d.rpc("port.list")),
                 "all ports are up")
    for i in range(3):
        # From inside the ring: what o(i-1) sends arrives at i(i).
        raw = t.enter_context(slc.Raw(ns, "o%d" % ((i + 2) % 3)))
        for k in range(40):
            raw.send(slc.frame(slc.BROADCAST, slc.mac(100 + i), tags=[(0, 3)],
                               size=1000))
    slc.wait_for(lambda: all(
        d.rpc("pfc.show", port="o%d" % i)[0]["paused"] for i in range(3)),
        "every bridge is paused by the next")
    d.rpc("drill.stop")
    cycles = slc.wait_for(lambda: d.rpc("pfc.graph")["cycles"],
                          "the cycle is seen")
    assert sorted(g["port"] for g in cycles[0]) == ["i0", "i1", "i2"], cycles
    text = slc.run(slc.program("sluicectl"), "-s", d.socket, "pfc",
                   "graph").stdout
    assert "CYCLE: " in text, text
    time.sleep(0.3)
    assert d.rpc("pfc.graph")["cycles"], "it did not last"
    for i in range(3):
        d.rpc("watchdog.start", port="o%d" % i)
    # The first one that acts frees the others.
    slc.wait_for(lambda: not d.rpc("pfc.graph")["cycles"] and any(
        d.rpc("watchdog.show", port="o%d" % i)[0]["queues"][0]["detected"]
        for i in range(3)), "a watchdog ends it")


@slc.test("lossless unknown unicast is dropped instead of flooded, if told so")
def _(t):
    rig = Rig(t, n=3, pfc={"priorities": [3]})
    rig.ctl("bridge", "set", "br0", "drop-lossless-unknown", "on")
    assert rig.d.rpc("bridge.show", name="br0")["drop_lossless_unknown"]
    a, b = rig.raw(1), rig.raw(2)
    a.send(slc.frame(C, A, b"no", tags=[(0, 3)]))
    a.send(slc.frame(C, A, b"yes", tags=[(0, 0)]))
    a.send(slc.frame(slc.BROADCAST, A, b"yes", tags=[(0, 3)]))
    for _ in range(2):
        f = b.recv_match(lambda f: f[6:12] == A)
        assert f and slc.parse(f)[4][:3] == b"yes", f
    drops = rig.counted("p1")["drops"]
    assert drops["unknown-unicast"] == 1, drops
    rig.audit()


# ------------------------------------------- asymmetric PFC, PAUSE ---

def offer(raw, prio, n):
    for i in range(n):
        raw.send(slc.frame(B, A, struct.pack(">I", i), tags=[(0, prio)],
                           size=1000))


def is_test(prio):
    return lambda f: slc.parse(f)[3] == slc.ETH_P_TEST and \
        slc.parse(f)[2][0][1] == prio


@slc.test("section 2: asymmetric mode honours all eight priorities, and sends "
          "PFC for the enabled ones only")
def _(t):
    rig = Rig(t, rate_bps=SLOWER)
    rig.ctl("pfc", "set", "p1", "3:on", "asymmetric", "on")
    rig.ctl("pfc", "set", "p2", "asymmetric", "on")
    rig.d.rpc("buffer.set", port="p1", group=3, xoff_bytes=5000,
              xon_bytes=1000)
    a, b = rig.raw(1), rig.raw(2)
    b.send(slc.pfc(B, {p: 65535 for p in range(8)}))
    slc.wait_for(lambda: rig.paused("p2") == list(range(8)),
                 "all eight are paused")
    for prio in (0, 3):
        offer(a, prio, 20)
    xoff = a.recv_match(slc.parse_pfc)
    assert xoff and list(slc.parse_pfc(xoff)) == [3], "PFC for others too"
    rig.come_in("p1", 40)
    assert rig.counted("p2")["tx_frames"] == 0, "something left in spite of " \
        "the pause"
    b.send(slc.pfc(B, {0: 0}))
    for _ in range(20):
        assert b.recv_match(is_test(0)), "0 was not let go"
    b.send(slc.pfc(B, {3: 0}))
    for _ in range(20):
        assert b.recv_match(is_test(3)), "3 was not let go"
    rig.audit()
    tx = rig.d.rpc("pfc.counters", port="p1")[0]["tx"]["pfc"]
    assert tx[3] and not any(tx[:3] + tx[4:]), tx


@slc.test("section 8: PAUSE while off is counted and without effect; honoured "
          "it stops the port; sent it stops the peer, and lets it go")
def _(t):
    rig = Rig(t, rate_bps=SLOWER)
    a, b = rig.raw(1), rig.raw(2)
    b.send(slc.pause(B, 65535))
    slc.wait_for(lambda: rig.d.rpc("pfc.counters", port="p2")[0]["rx"][
        "pause"] == 1, "the PAUSE is counted")
    offer(a, 0, 3)
    for _ in range(3):
        assert b.recv_match(is_test(0)), "a PAUSE that is off stops"
    rig.ctl("pause", "set", "p2", "rx", "on")
    rig.ctl("pause", "set", "p1", "tx", "on")
    for g in (0, 5):
        rig.d.rpc("buffer.set", port="p1", group=g, xoff_bytes=5000,
                  xon_bytes=1000)
    b.send(slc.pause(B, 65535))
    slc.wait_for(lambda: rig.paused("p2"), "the PAUSE is honoured")
    for prio in (0, 5):
        offer(a, prio, 10)
    p = a.recv_match(lambda f: f[12:16] == b"\x88\x08\x00\x01")
    assert p and p[16:18] == b"\xff\xff", "no PAUSE upstream: %s" % p
    rig.come_in("p1", 23)
    assert rig.counted("p2")["tx_frames"] == 3, "something left in spite of " \
        "the PAUSE"
    # PFC is not obeyed meanwhile.
    b.send(slc.pfc(B, {0: 0, 5: 0}))
    slc.wait_for(lambda: rig.d.rpc("pfc.counters", port="p2")[0]["rx"][
        "frames"] == 1, "the PFC frame is read")
    assert rig.counted("p2")["tx_frames"] == 3, "PFC is obeyed beside PAUSE"
    b.send(slc.pause(B, 0))
    for _ in range(20):
        assert b.recv_match(lambda f: is_test(0)(f) or is_test(5)(f))
    assert a.recv_match(lambda f: f[12:18] == b"\x88\x08\x00\x01\0\0"), \
        "the peer was not let go"
    assert rig.d.rpc("stats.show", port="p1")[0]["violations"] == [0] * 8
    slc.refused(rig.d.rpc, "pfc.set", port="p2", enable=[3], names=["PFC"])
    rig.audit()


slc.main(root=True, needs=["ip"])
