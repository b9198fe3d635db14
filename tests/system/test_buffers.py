#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Emulated cables, headroom to the frame, pools and profiles, on veth pairs
through a real sluiced.  Nothing here depends on how fast the machine is: a
frame may always come later, never earlier than the cable is long."""
import struct
import time

import slc

A, B = slc.mac(0xa), slc.mac(0xb)
SIZE = 1000  # octets of a frame with its tag
PRIO = 3


class Rig:
    """A sluiced with ports p1 and p2; their other ends are raw sockets.  A
    pause of 65535 quanta lasts for 3.3 s at 10 Mb/s, 33 s at 1 Mb/s."""

    def __init__(self, t, rate_bps=10000000):
        self.ns = t.enter_context(slc.Netns("sw"))
        hosts = t.enter_context(slc.Netns("hosts"))
        for i in (1, 2):
            self.ns.veth("p%d" % i, "h%d" % i, hosts)
        self.d = t.enter_context(slc.Daemon(self.ns))
        self.d.rpc("bridge.add", name="br0")
        self.raw = {}
        for i in (1, 2):
            self.d.rpc("port.add", bridge="br0", name="p%d" % i,
                       rate_bps=rate_bps, pfc={"priorities": [PRIO]})
            self.raw[i] = t.enter_context(
                slc.Raw(hosts, "h%d" % i, rcvbuf=64 << 20))
        slc.wait_for(lambda: all(p["state"] == "up"
                                 for p in self.d.rpc("port.list")),
                     "both ports are up")

    def send(self, first, n):
        for i in range(first, first + n):
            self.raw[1].send(slc.frame(B, A, struct.pack(">I", i),
                                       tags=[(0, PRIO)], size=SIZE))

    def pause(self):
        """Port 2 is paused, as long as can be from now on."""
        self.raw[2].send(slc.pfc(B, {PRIO: 65535}))

    def resume(self):
        self.raw[2].send(slc.pfc(B, {PRIO: 0}))

    def hold(self):
        """Nothing leaves port 2 from now on."""
        slc.wait_for(lambda: self.pause() or PRIO in self.d.rpc(
            "pfc.show", port="p2")[0]["paused"], "port 2 is paused")

    def received(self, n):
        got = [self.raw[2].recv() for _ in range(n)]
        assert all(got), "%d of %d came" % (n - got.count(None), n)
        return [struct.unpack_from(">I", f, 18)[0] for f in got]

    def group(self):
        return next(g for g in self.d.rpc("buffer.show", port="p1")["groups"]
                    if g["group"] == PRIO)

    def violations(self):
        self.d.settle()
        return self.d.rpc("stats.show", port="p1")[0]["violations"][PRIO]

    def settled(self):
        return slc.wait_for(
            lambda: next((a for a in self.d.rpc("audit.show")
                          if a["ok"] and not a["held"]), None),
            "the audit adds up and nothing is held")


@slc.test("section 6: a frame is under way for as long as the cable says")
def _(t):
    rig = Rig(t)
    rig.d.rpc("port.set", name="p2", cable_delay_ns="200ms")
    start = time.monotonic()
    rig.send(0, 10)
    audit = rig.d.rpc("audit.show")[0]
    assert audit["ok"] and audit["on_cable"] <= audit["held"], audit
    assert rig.received(10) == list(range(10))
    took = time.monotonic() - start
    assert took >= 0.2, took
    slc.diag("%.1f ms after they were sent" % (took * 1000))
    assert rig.settled()["on_cable"] == 0
    # The cable gets shorter with frames on it: in order, and none is lost.
    rig.send(10, 10)
    rig.d.rpc("port.set", name="p2", cable_delay_ns=0)
    rig.send(20, 10)
    assert rig.received(20) == list(range(10, 30))
    # A real cable of that length delays nothing here.
    rig.d.rpc("port.set", name="p2", cable_delay_ns="1s",
              cable_emulated=False)
    start = time.monotonic()
    rig.send(30, 1)
    assert rig.received(1) == [30]
    port = rig.d.rpc("port.show", name="p2")
    assert port["cable_delay_ns"] == 1000000000, port
    rig.settled()


def overrun(rig, headroom):
    """Fills group 3 of port 1 to its limit; port 1's PFC frame is then on
    its cable for a second, and as many frames as n_late still come."""
    n_limit, n_late = 20, 15
    rig.d.rpc("port.set", name="p1", cable_delay_ns="1s")
    rig.d.rpc("buffer.set", port="p1", group=PRIO, xoff_bytes=n_limit * SIZE,
              xon_bytes=0, headroom=headroom(n_late))
    rig.raw[1].drain()
    start = time.monotonic()
    rig.hold()
    rig.send(0, n_limit)
    rig.send(n_limit, n_late)
    slc.wait_for(lambda: rig.pause() or (rig.group()["rx_frames"] ==
                                         n_limit + n_late),
                 "all frames came in")
    audit, = rig.d.rpc("audit.show")
    assert audit["ok"] and audit["tx"] == 0, audit
    got = rig.raw[1].recv_match(slc.parse_pfc)
    took = time.monotonic() - start
    assert slc.parse_pfc(got) == {PRIO: 65535}, got
    assert took >= 1, "the PFC frame came after %.3f s" % took
    return n_limit + n_late


@slc.test("section 6: headroom that is right to the frame loses nothing")
def _(t):
    rig = Rig(t, rate_bps=1000000)
    n = overrun(rig, lambda late: late * SIZE)
    assert rig.violations() == 0
    assert rig.group()["headroom_peak_bytes"] == 15 * SIZE, rig.group()
    rig.resume()
    assert rig.received(n) == list(range(n))
    rig.settled()


@slc.test("section 6: headroom one frame too small loses one frame")
def _(t):
    rig = Rig(t, rate_bps=1000000)
    n = overrun(rig, lambda late: (late - 1) * SIZE)
    assert rig.violations() == 1
    rig.resume()
    assert rig.received(n - 1) == list(range(n - 1)), "not the last one"
    rig.settled()


@slc.test("section 5: a profile changes under traffic and nothing is lost")
def _(t):
    rig = Rig(t)
    rig.d.rpc("pool.set", bridge="br0", name="roce", size_bytes="1M",
              mode="dynamic")
    rig.d.rpc("pool.set", bridge="br0", name="plain", size_bytes="1M")
    base = {"bridge": "br0", "name": "lossless", "headroom": "2M"}
    rig.d.rpc("profile.set", xoff_bytes="2M", xon_bytes="1M", **base)
    for port in ("p1", "p2"):
        rig.d.rpc("buffer.set", port=port, group=PRIO, profile="lossless")
    changes = [
        {"pool": "roce", "alpha": 0}, {"alpha": -7}, {"alpha": 3},
        {"pool": "plain", "alpha": "none", "xoff_bytes": 1522,
         "xon_bytes": 0},
        {"pool": "none", "xoff_bytes": 65536, "xon_bytes": 65536},
        {"reserved_bytes": 30000}, {"reserved_bytes": 0},
        {"pool": "roce", "alpha": -2, "xon_offset_bytes": 4096},
        {"headroom": "1M"}, {"headroom": "2M"},
        {"pool": "none", "alpha": "none", "xoff_bytes": 4096,
         "xon_bytes": 1000, "xon_offset_bytes": 0},
    ]
    sent = 0
    for round_ in range(3):
        rig.hold()
        for change in changes:
            rig.send(sent, 20)
            sent += 20
            rig.pause()
            rig.d.rpc("profile.set", **dict(base, **change))
            names = {p["name"]: p for p in rig.d.rpc("profile.show")}
            assert len(names["lossless"]["users"]) == 2, names
            assert all(a["ok"] for a in rig.d.rpc("audit.show"))
        rig.resume()
    assert rig.received(sent) == list(range(sent)), "lost, or out of order"
    assert rig.violations() == 0
    rig.settled()
    assert all(p["used_bytes"] == 0 for p in rig.d.rpc("pool.show"))
    slc.diag("%d frames through %d changes" % (sent, 3 * len(changes)))


@slc.test("section 5: configuration of buffers outlives a restart")
def _(t):
    rig = Rig(t)
    rig.d.rpc("pool.set", bridge="br0", name="roce", size_bytes="1M",
              mode="dynamic")
    rig.d.rpc("profile.set", bridge="br0", name="lossless", pool="roce",
              alpha=-1, headroom="100K")
    rig.d.rpc("buffer.set", port="p1", group=PRIO, profile="lossless")
    rig.d.rpc("queue.set", port="p2", queues={"1": {"alpha": -7},
                                              "2": {"profile": "lossless"}})
    rig.d.rpc("bridge.set", name="br0", headroom_ratio=3, cell_bytes=144)
    rig.d.rpc("port.set", name="p1", cable_m=300, cell_bytes=96)
    before = rig.d.rpc("config.export")
    rig.d.restart()
    assert rig.d.rpc("config.export") == before
    assert rig.group()["pool"] == "roce", rig.group()
    assert rig.d.rpc("port.show", name="p1")["cable_delay_ns"] == 1516


slc.main(root=True, needs=["ip"])
