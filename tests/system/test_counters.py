#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pfc-semantics section 10 on real interfaces: counters, baselines, two sets
of watermarks, the audit with every drop reason, and the shapes in which they
are shown."""
import json
import re
import time

import slc


def ctl(d, words, status=0):
    p = slc.run(slc.program("sluicectl"), "--socket", d.socket,
                *words.split(), check=False)
    assert p.returncode == status, (words, p)
    return p.stdout


class Switch:
    """A daemon with ports p1, p2, ... and a socket at the end of each."""

    def __init__(self, t, name, n=2, **port):
        self.ns = t.enter_context(slc.Netns(name))
        for i in range(1, n + 1):
            self.ns.veth("p%d" % i, "h%d" % i)
        self.d = t.enter_context(slc.Daemon(self.ns))
        self.d.rpc("bridge.add", name="br0")
        for i in range(1, n + 1):
            self.d.rpc("port.add", bridge="br0", name="p%d" % i, **port)
        self.h = [None] + [t.enter_context(slc.Raw(self.ns, "h%d" % i))
                           for i in range(1, n + 1)]
        self.sent = self.control = 0
        for i in range(1, n + 1):
            slc.wait_for(lambda: self.d.rpc("port.show", name="p%d" % i)[
                "state"] == "up", "p%d is up" % i)
        for i in range(1, n + 1):  # everyone is known
            self.send(i, i % n + 1)
            self.settle()
        for h in self.h[1:]:
            h.drain()

    def send(self, i, to, prio=0, n=1, size=200, **kw):
        dst = self.h[to].mac if isinstance(to, int) else to
        for _ in range(n):
            self.h[i].send(slc.frame(dst, kw.get("src", self.h[i].mac),
                                     tags=kw.get("tags", [(0, prio)]),
                                     size=size))
            self.sent += 1

    def pause(self, i, frame):
        """A PFC or PAUSE frame: MAC control, no arrival for the audit."""
        self.h[i].send(frame)
        self.control += 1

    def settle(self):
        """Whatever was sent has come in and been counted, however late the
        kernel and the switch are; and what may leave has left."""
        slc.wait_for(lambda: self.audit()["arrived"] >= self.sent,
                     "%d frames come in" % self.sent)
        slc.wait_for(lambda: sum(p["rx"]["frames"] + p["rx"]["pause"]
                                 for p in self.d.rpc("pfc.counters", raw=True))
                     >= self.control, "%d pauses come in" % self.control)
        last = None
        for _ in range(200):
            now = [(p["rx_frames"], p["tx_frames"]) for p in self.stats(
                raw=True)]
            if now == last:
                return
            last = now
            time.sleep(0.03)

    def stats(self, **kw):
        return self.d.rpc("stats.show", **kw)

    def port(self, name, **kw):
        return self.d.rpc("stats.show", port=name, **kw)[0]

    def pfc(self, name, **kw):
        return self.d.rpc("pfc.counters", port=name, **kw)[0]

    def audit(self):
        a = self.d.rpc("audit.show")[0]
        assert a["ok"], a
        assert a["rx"] + a["copies"] == a["tx"] + a["held"] + a["dropped"], a
        assert sum(a["drops"].values()) == a["dropped"], a
        return a


def drops(p):
    return {k: v for k, v in p["drops"].items() if v}


@slc.test("section 10: every drop reason is in the audit and in the stats, "
          "once")
def _(t):
    s = Switch(t, "drops", 4, rate_bps="100M")
    d = s.d
    size = 1400  # 11 s at 1000 bit/s

    def one(reason, port, inject, undo=lambda: None):
        """inject() loses one frame for that reason on that port."""
        before = s.audit()
        was = {p["port"]: p for p in s.stats()}
        inject()

        def lost():
            return s.audit()["drops"][reason] > before["drops"][reason]
        slc.wait_for(lost, "a frame is lost: " + reason)
        s.settle()
        after = s.audit()
        now = {p["port"]: p for p in s.stats()}
        changed = {r: after["drops"][r] - before["drops"][r]
                   for r in after["drops"]
                   if after["drops"][r] != before["drops"][r]}
        assert changed == {reason: 1}, (reason, changed)
        for name, p in now.items():
            want = 1 if name == port else 0
            assert p["drops"][reason] - was[name]["drops"][reason] == want, \
                (reason, name, p["drops"])
            more = p["drop_bytes"][reason] - was[name]["drop_bytes"][reason]
            assert more == want * size, (reason, more)
        undo()
        s.settle()

    def fill(prio, limit):
        """p1's group holds as much as it may: its queue is served so slowly
        that none of these frames leaves before the next one has come."""
        d.rpc("queue.set", port="p2", queues={
            str(prio): {"max_rate_bps": 1000, "limit_bytes": 1 << 20}})
        s.send(1, 2, prio, n=limit // size, size=size)
        s.settle()
        while s.port("p1")["groups"][prio]["held_bytes"] < limit:
            s.send(1, 2, prio, size=size)
            s.settle()
    one("reserved", "p1", lambda: s.send(
        1, slc.mac("01:80:c2:00:00:0e"), size=size))
    one("source", "p1", lambda: s.send(
        1, 2, src=slc.mac("03:00:00:00:00:01"), size=size))
    one("vlan", "p1", lambda: s.send(1, 2, tags=[(4095, 0)], size=size))
    d.rpc("port.set", name="p3", vlan={"mode": "access", "tag": 0})
    one("vlan", "p3", lambda: s.send(3, 1, tags=[(7, 0)], size=size))
    d.rpc("port.set", name="p3", vlan={"mode": "trunk"})
    s.send(3, 1, size=size)
    s.settle()
    one("no-port", "p1", lambda: s.send(1, 1, size=size))
    d.rpc("buffer.set", port="p1", group=5, xoff_bytes=8 * size, xon_bytes=0)
    fill(5, 8 * size)
    one("ingress-limit", "p1", lambda: s.send(1, 2, 5, size=size))
    fill(6, 10 * size)
    d.rpc("queue.set", port="p2", queues={"6": {"limit_bytes": 8 * size}})
    one("queue-limit", "p2", lambda: s.send(1, 2, 6, size=size))
    s.ns.ip("link", "set", "p4", "mtu", "500")
    slc.wait_for(lambda: d.rpc("port.show", name="p4")["mtu"] == 500, "MTU")
    one("oversize", "p4", lambda: s.send(1, 4, size=size))
    # Of lossless frames: without headroom the first one
    # beyond the limit is a violation.
    d.rpc("pfc.set", port="p1", enable=[3])
    d.rpc("buffer.set", port="p1", group=3, xoff_bytes=8 * size, xon_bytes=0,
          headroom=0)
    fill(3, 8 * size)
    one("headroom-exceeded", "p1", lambda: s.send(1, 2, 3, size=size))
    p1 = s.port("p1")
    assert p1["violations"][3] == 1, p1
    assert p1["groups"][3] == dict(
        p1["groups"][3], drops=1, violations=1, drop_bytes=size), p1
    assert p1["groups"][5] == dict(
        p1["groups"][5], drops=1, violations=0, drop_bytes=size), p1
    # Group counters have the drops at a limit and no others (section 10).
    assert sum(g["drops"] for g in p1["groups"]) == \
        p1["drops"]["ingress-limit"] + p1["drops"]["headroom-exceeded"], p1
    q = s.port("p2")["queues"][6]
    assert q["drops_by_reason"] == {"queue-limit": q["drops"]}, q
    # What a port holds when it is removed is dropped then, and stays in the
    # books although the port is not there any more.
    before = s.audit()
    assert before["held"], before
    d.rpc("port.del", name="p2")
    after = s.audit()
    left = after["tx"] - before["tx"]  # meanwhile, one in 11 s and queue
    assert after["drops"]["port-removed"] == before["held"] - left > 0, after
    assert after["held"] == 0, after
    assert {r: n for r, n in after["drops"].items() if r != "port-removed"} \
        == {r: n for r, n in before["drops"].items() if r != "port-removed"}
    assert set(after["kernel_drops"]) <= set(s.port("p1")["drops"])
    assert after["arrived"] == after["rx"] + sum(
        after["kernel_drops"][k] for k in (
            "kernel-ring", "kernel-backlog", "rx-oversize", "rx-bad")), after


@slc.test("section 10: drops of an interface that goes are in the audit")
def _(t):
    s = Switch(t, "down", 2, rate_bps="100M")
    s.d.rpc("queue.set", port="p2", queues={"6": {"max_rate_bps": 1000}})
    s.send(1, 2, 6, n=60)
    s.settle()
    before = s.audit()
    assert before["held"], "nothing waits"
    s.ns.ip("link", "del", "p2")
    slc.wait_for(lambda: s.audit()["held"] == 0, "the queue is empty")
    after = s.audit()
    lost = before["held"] - (after["tx"] - before["tx"])
    assert after["drops"]["port-down"] == lost > 0, after
    assert s.port("p2")["queues"][6]["drops_by_reason"] == {
        "port-down": lost}


@slc.test("section 10: clear sets a baseline for every client, raw goes on")
def _(t):
    s = Switch(t, "clear", 2, pfc={"priorities": [3]})
    s.send(1, 2, 3, n=7)
    s.pause(1, slc.pfc(s.h[1].mac, {3: 100, 4: 1}))
    s.pause(1, slc.pause(s.h[1].mac, 9))
    s.settle()
    raw = s.port("p1", raw=True)
    assert s.port("p1") == raw
    pfc = s.pfc("p1")
    assert pfc == s.pfc("p1", raw=True)
    assert pfc["rx"]["pfc"] == [0, 0, 0, 1, 1, 0, 0, 0], pfc
    assert pfc["rx"]["xoff"][3] == 1 and pfc["rx"]["pauses"][3] == 1
    assert pfc["rx"]["pause"] == 1 and pfc["rx"]["not_enabled"] == 1
    assert re.match(r"20\d\d-.*Z$", pfc["rx"]["last_at"][3]), pfc
    assert pfc["rx"]["last_ns"][3] == pfc["rx"]["longest_ns"][3] \
        == pfc["rx"]["paused_ns"][3] > 0, pfc
    with s.d.connect() as other:
        other.call("stats.clear", {"port": "p1"})
        other.call("pfc.counters_clear", {})
    now = s.port("p1")
    assert not any(now[k] for k in ("rx_frames", "rx_bytes", "tx_frames",
                                    "tx_bytes")) and not drops(now), now
    assert not any(g["rx_frames"] for g in now["groups"])
    assert not any(q["tx_frames"] for q in now["queues"])
    assert s.port("p1", raw=True)["rx_frames"] == raw["rx_frames"]
    assert s.port("p2")["tx_frames"], "p2 was not cleared"
    assert s.pfc("p1", raw=True) == pfc
    rx = s.pfc("p1")["rx"]
    assert rx["pfc"] == rx["pauses"] == rx["paused_ns"] == rx["longest_ns"] \
        == rx["last_ns"] == [0] * 8 and rx["last_at"] == [None] * 8, rx
    s.send(1, 2, 3, n=2)
    s.pause(1, slc.pfc(s.h[1].mac, {3: 200}))
    s.settle()
    assert s.port("p1")["groups"][3]["rx_frames"] == 2
    assert s.port("p1", raw=True)["groups"][3]["rx_frames"] == \
        raw["groups"][3]["rx_frames"] + 2
    assert s.pfc("p1")["rx"]["pauses"][3] == 1
    # queue.clear and buffer.clear touch theirs only.
    s.d.rpc("queue.clear", port="p2")
    assert s.port("p2")["queues"][3]["tx_frames"] == 0
    assert s.d.rpc("queue.show", port="p2")[3]["tx_frames"] == 0
    assert s.port("p2")["tx_frames"]
    s.d.rpc("buffer.clear")
    assert s.port("p1")["groups"][3]["rx_frames"] == 0
    assert s.port("p1")["rx_frames"] == 2
    s.audit()
    slc.refused(s.d.rpc, "stats.clear", port="nope", names=["nope"])


@slc.test("section 10: clearing under traffic is never negative, and adds up")
def _(t):
    s = Switch(t, "race", 2, rate_bps="50M")
    seen, total = 0, 0
    for _ in range(20):
        s.send(1, 2, n=50, size=100)
        s.d.rpc("stats.clear")
        p = s.port("p1")
        assert 0 <= p["rx_frames"] <= 1200, p
        raw = s.port("p1", raw=True)["rx_frames"]
        assert raw >= seen, (raw, seen)
        seen = raw
    s.settle()
    total = s.port("p1", raw=True)
    assert total["rx_frames"] == 20 * 50 + 1, total["rx_frames"]
    s.audit()


@slc.test("section 10: raw counters outlive a datapath, not a port")
def _(t):
    s = Switch(t, "life", 2, pfc={"priorities": [3]})
    s.send(1, 2, 3, n=9)
    s.pause(1, slc.pfc(s.h[1].mac, {3: 100}))
    s.settle()
    s.d.rpc("stats.clear", port="p1")
    s.send(1, 2, 3, n=4)
    s.settle()
    before, raw = s.port("p1"), s.port("p1", raw=True)
    pauses, marks = s.pfc("p1"), s.d.rpc("buffer.watermark")["ports"]
    assert before["rx_frames"] == 4
    s.d.rpc("bridge.set", name="br0", memory_bytes="32M")  # made anew
    s.sent = 0  # the books of a datapath are its own
    after = s.port("p1", raw=True)
    for k in ("rx_frames", "rx_bytes", "tx_frames", "tx_bytes"):
        assert after[k] >= raw[k], (k, after[k], raw[k])
    assert s.port("p1")["rx_frames"] == 4
    assert s.pfc("p1")["rx"]["pauses"] == pauses["rx"]["pauses"]
    assert s.pfc("p1")["rx"]["longest_ns"] == pauses["rx"]["longest_ns"], \
        (s.pfc("p1"), pauses)
    assert s.d.rpc("buffer.watermark")["ports"] == marks
    s.send(1, 2, 3, n=1)
    s.settle()
    assert s.port("p1")["groups"][3]["rx_frames"] == 5
    s.d.rpc("port.del", name="p1")
    s.d.rpc("port.add", bridge="br0", name="p1")
    for kw in ({}, {"raw": True}):
        p = s.port("p1", **kw)
        assert not any(p[k] for k in ("rx_frames", "rx_bytes", "tx_frames",
                                      "tx_bytes", "copies")), p
        assert not drops(p) and not any(s.pfc("p1", **kw)["rx"]["pfc"])
    s.audit()


def marks(s, port, persistent=False):
    w = s.d.rpc("buffer.watermark", port=port, persistent=persistent)
    assert w["set"] == ("persistent" if persistent else "user")
    p, = w["ports"]
    b, = w["bridges"]
    return p["groups"][3], p["queues"][3], b["shared_bytes"]


@slc.test("section 10: two sets of watermarks, each cleared by itself")
def _(t):
    # A pause of 65535 quanta lasts for half a minute at that rate.
    s = Switch(t, "marks", 2, rate_bps="1M", pfc={"priorities": [3]})

    def hold(n):
        """n frames of 200 octets are held, and let go."""
        s.pause(2, slc.pfc(s.h[2].mac, {3: 65535}))
        slc.wait_for(lambda: s.d.rpc("pfc.show", port="p2")[0]["paused"],
                     "paused")
        s.send(1, 2, 3, n=n, size=200)
        slc.wait_for(lambda: s.d.rpc("queue.show", port="p2")[3][
            "frames"] == n, "all are held")
        s.pause(2, slc.pfc(s.h[2].mac, {3: 0}))
        slc.wait_for(lambda: not s.audit()["held"], "all are sent")
    hold(50)
    assert marks(s, "p1")[0] == marks(s, "p1", True)[0] == 50 * 200
    assert marks(s, "p2")[1] == marks(s, "p2", True)[1] == 50 * 200
    assert marks(s, "p1")[2] >= 50 * 200
    s.d.rpc("buffer.watermark_clear")
    assert marks(s, "p1")[0] == marks(s, "p2")[1] == marks(s, "p1")[2] == 0
    assert marks(s, "p1", True)[0] == marks(s, "p2", True)[1] == 50 * 200
    hold(20)
    assert marks(s, "p1")[0] == marks(s, "p2")[1] == 20 * 200
    assert marks(s, "p1", True)[0] == 50 * 200
    s.d.rpc("buffer.watermark_clear", persistent=True, port="p1")
    assert marks(s, "p1", True)[0] == 0
    assert marks(s, "p1")[0] == 20 * 200
    assert marks(s, "p2", True)[1] == 50 * 200
    assert marks(s, "p1", True)[2] >= 50 * 200
    hold(30)
    assert marks(s, "p1")[0] == marks(s, "p1", True)[0] == 30 * 200
    # What buffer.show and queue.show call the peak is the user's mark.
    assert s.d.rpc("queue.show", port="p2")[3]["peak_bytes"] == 30 * 200
    assert [g["peak_bytes"] for g in s.d.rpc("buffer.show", port="p1")[
        "groups"] if g["group"] == 3] == [30 * 200]
    ctl(s.d, "buffer watermark --persistent clear")
    assert marks(s, "p2", True)[1] == 0 and marks(s, "p2")[1] == 30 * 200
    ctl(s.d, "buffer watermark clear p2")
    assert marks(s, "p2")[1] == 0 and marks(s, "p1")[0] == 30 * 200


@slc.test("section 10: what came before a port was there is no loss of it")
def _(t):
    sw = Switch(t, "cbefore")
    peer = t.enter_context(sw.ns.popen(
        slc.program("sluice-probe"), "-i", "h1", "--pfc", "3", "-d", "20s",
        "--storm", "prio=3,for=20s,every=50us", "receive", stdout=-3,
        stderr=-3))
    for _ in range(2):
        sw.d.rpc("port.del", name="p1")
        sw.d.rpc("port.add", bridge="br0", name="p1", rate_bps="100M",
                 ring_bytes="32M", pfc={"priorities": [3]})
        # It is seen when the reading has settled.
        at = sw.pfc("p1")["rx"]["pfc"][3]
        slc.wait_for(lambda: sw.pfc("p1")["rx"]["pfc"][3] > at, "the storm")
        time.sleep(1.2)
        s = sw.port("p1")
        assert not s["netdev"]["rx_backlog_drops"], s["netdev"]
        assert not any(s["violations"]), s
    peer.kill()


@slc.test("section 13: the columns that people know")
def _(t):
    s = Switch(t, "shape", 2, pfc={"priorities": [3]})
    s.send(1, 2, 3, n=3)
    s.pause(1, slc.pfc(s.h[1].mac, {3: 100}))
    s.settle()

    def rows(text, title):
        lines = text.splitlines()
        at = [i for i, x in enumerate(lines) if re.match(title, x)][0]
        assert set(lines[at + 1]) <= {"-", " "}, lines
        out = []
        for line in lines[at + 2:]:
            if not line.strip():
                break
            out.append(line.split())
        return lines[at].split(), out
    head, body = rows(ctl(s.d, "pfc counters"), r"Port Rx +PFC0")
    assert head == ["Port", "Rx"] + ["PFC%d" % i for i in range(8)]
    assert body[0] == ["p1", "0", "0", "0", "1", "0", "0", "0", "0"], body
    head, body = rows(ctl(s.d, "pfc counters"), r"Port Tx +PFC0")
    assert [r[0] for r in body] == ["p1", "p2"]
    head, body = rows(ctl(s.d, "queue show p2"), r"Port +TxQ")
    assert head[:6] == ["Port", "TxQ", "Counter/pkts", "Counter/bytes",
                        "Drop/pkts", "Drop/bytes"], head
    assert [r[:2] for r in body] == [["p2", "UC%d" % i] for i in range(8)]
    assert body[3][2:6] == ["3", "600", "0", "0"], body[3]
    text = ctl(s.d, "buffer watermark")
    head, body = rows(text, r"Port +PG0")
    assert head == ["Port"] + ["PG%d" % i for i in range(8)]
    head, body = rows(text, r"Port +UC0")
    assert head == ["Port"] + ["UC%d" % i for i in range(8)]
    ctl(s.d, "queue clear")
    ctl(s.d, "pfc counters clear p1")
    ctl(s.d, "stats clear")
    ctl(s.d, "buffer clear p1")
    assert rows(ctl(s.d, "queue show p2"), "Port +TxQ")[1][3][2] == "0"
    assert json.loads(ctl(s.d, "pfc counters p1 --json"))[0]["rx"][
        "frames"] == 0
    assert json.loads(ctl(s.d, "pfc counters p1 --json --raw"))[0]["rx"][
        "frames"] == 1
    assert json.loads(ctl(s.d, "stats p1 --json --raw"))[0]["groups"][3][
        "rx_frames"] == 3
    assert json.loads(ctl(s.d, "queue show p2 --json --raw"))[3][
        "tx_frames"] == 3
    ctl(s.d, "pfc counters clear --raw", status=2)
    ctl(s.d, "pfc show --raw", status=2)
    ctl(s.d, "pfc counters clear p1 p2", status=2)


slc.main(root=True, needs=["ip"])
