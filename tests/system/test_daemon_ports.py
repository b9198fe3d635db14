#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the daemon does with bridges and ports while they run: interfaces that
go and come back, taps, bridges beside each other, changes under traffic, and
pauses that are let go of."""
import contextlib
import struct
import threading
import time

import slc

# A machine on which the datapath's thread is never late by more than that,
# whatever this one is like.
QUICK = {"SLUICE_TEST_STALL_US": "2000"}


def two_ports(t, ns, env=(), **port):
    """A daemon with bridge br0 of p1 and p2, both up; sockets at the other
    ends."""
    ns.veth("p1", "h1")
    ns.veth("p2", "h2")
    d = t.enter_context(slc.Daemon(ns, env=env))
    d.rpc("bridge.add", name="br0")
    for name in ("p1", "p2"):
        d.rpc("port.add", bridge="br0", name=name, **port)
    wait_up(d)
    return (d, t.enter_context(slc.Raw(ns, "h1")),
            t.enter_context(slc.Raw(ns, "h2")))


def wait_up(d):
    slc.wait_for(lambda: all(p["state"] == "up" for p in d.rpc("port.list")),
                 "all ports are up")


def state(d, port):
    return d.rpc("port.show", name=port)["state"]


def wait_state(d, port, want):
    slc.wait_for(lambda: state(d, port) == want, "%s is %s" % (port, want))


def stats(d, port):
    return d.rpc("stats.show", port=port)[0]


def cpu_share(d):
    """What it takes of a processor, over 2 s or what that gets to be."""
    began, cpu = time.monotonic(), slc.cpu_seconds(d.pid)
    time.sleep(2)
    cpu = slc.cpu_seconds(d.pid) - cpu
    return cpu / (time.monotonic() - began)


def audit(d):
    for a in d.rpc("audit.show"):
        assert a["ok"], a
    return True


def sent(d, bridge, *ports):
    """How many frames the ports have sent, now that the bridge holds none."""
    slc.wait_for(lambda: not d.rpc("audit.show", bridge=bridge)[0]["held"],
                 "nothing is held")
    return sum(stats(d, p)["tx_frames"] for p in ports)


def passes(a, b, text, tags=()):
    """A frame from one socket arrives at the other."""
    frame = slc.frame(b.mac, a.mac, text, tags=tags, size=80)
    a.send(frame)
    assert b.recv_match(lambda f: f == frame), "%r did not arrive" % text


class Stream:
    """Numbered frames from one socket to an address, sent by a thread until
    stop(); it reads what comes of them at another, if there is one."""

    def __init__(self, t, a, dst, b=None, prio=3, gap=0.0005, size=300):
        self.a, self.b, self.gap = a, b, gap
        self.n = 0     # sent
        self.got = []  # numbers that arrived, in their order
        self._stop = threading.Event()
        self._head = slc.frame(dst, a.mac, b"SLCS", tags=[(0, prio)])
        self._size = size
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        t.callback(self._end)

    def _end(self):
        self._stop.set()
        self._thread.join()

    def _send(self, number):
        self.a.send((self._head + struct.pack(">I", number)).ljust(
            self._size, b"\0"))

    def _read(self, timeout):
        """The next number that comes, or None."""
        while True:
            data = self.b.recv(timeout)
            if data is None:
                return None
            at = data.find(b"SLCS")
            if at > 0:
                return struct.unpack_from(">I", data, at + 4)[0]

    def _run(self):
        while not self._stop.is_set():
            self._send(self.n)
            self.n += 1
            while self.b:
                number = self._read(0)
                if number is None:
                    break
                self.got.append(number)
            time.sleep(self.gap)

    def go_on(self, n=50):
        """Till so many more are sent."""
        want = self.n + n
        slc.wait_for(lambda: self.n >= want, "frames are sent")

    def stop(self):
        """The numbers that arrived: all those that came before a last one."""
        self._end()
        if not self.b:
            return []
        self._send(0xffffffff)
        number = self._read(slc.WAIT)
        while number != 0xffffffff:
            assert number is not None, "the last one did not come"
            self.got.append(number)
            number = self._read(slc.WAIT)
        return self.got

    def check(self):
        """Nothing was lost, doubled or reordered."""
        got = self.stop()
        assert got == list(range(self.n)), "%d of %d: %s" % (
            len(got), self.n, describe(got, self.n))
        return self.n


def describe(got, n):
    missing = sorted(set(range(n)) - set(got))
    return "missing %s, twice %s, in order: %s" % (
        missing[:10], [x for x in set(got) if got.count(x) > 1][:10]
        if len(got) < 5000 else "?", got == sorted(got))


@slc.test("an interface is deleted and comes back, under traffic")
def _(t):
    ns = t.enter_context(slc.Netns("back"))
    d, h1, h2 = two_ports(t, ns, pfc={"priorities": [3]}, rate_bps="100M",
                          vlan={"mode": "trunk", "trunks": [0, 7]})
    c = t.enter_context(d.connect())
    c.call("events.subscribe", {"types": ["link"]})
    passes(h1, h2, b"before")
    audit(d)  # done by the datapath, which has counted the frame by then
    before = stats(d, "p2")
    whole = d.rpc("config.export")
    stream = Stream(t, h1, slc.mac(0xb), gap=0.002)  # to nobody: it floods
    try:
        stream.go_on()
        ns.ip("link", "del", "p2")
        h2.close()
        c.event(type="link", port="p2", state="absent")
        assert state(d, "p2") == "absent"
        share = cpu_share(d)
        assert share < 0.3, "%.2f of a CPU while it was away" % share
        assert audit(d)
        assert d.rpc("config.export") == whole
        ns.veth("p2", "h2")
        c.event(type="link", port="p2", state="up")
        stream.go_on()
    finally:
        stream.stop()
    h2 = t.enter_context(slc.Raw(ns, "h2"))
    passes(h1, h2, b"after", tags=[(7, 3)])
    passes(h2, h1, b"back", tags=[(7, 3)])
    assert audit(d)
    after = stats(d, "p2")
    assert after["tx_frames"] > before["tx_frames"] > 0
    assert after["rx_frames"] >= before["rx_frames"] + 1
    port = d.rpc("port.show", name="p2")
    assert port["attached"] == 2 and port["pfc"]["priorities"] == [3]
    assert port["mac"] == ":".join("%02x" % b for b in ns.mac("p2"))
    assert audit(d)


@slc.test("an interface that is renamed leaves its port, and comes back")
def _(t):
    ns = t.enter_context(slc.Netns("name"))
    d, h1, h2 = two_ports(t, ns)
    ns.ip("link", "set", "p2", "down")
    wait_state(d, "p2", "down")
    ns.ip("link", "set", "p2", "name", "q2")
    ns.ip("link", "set", "q2", "up")
    wait_state(d, "p2", "absent")
    ns.ip("link", "set", "q2", "down")
    ns.ip("link", "set", "q2", "name", "p2")
    ns.ip("link", "set", "p2", "up")
    wait_state(d, "p2", "up")
    passes(h1, h2, b"again")


@slc.test("an interface that is down costs nothing, and goes on when up")
def _(t):
    ns = t.enter_context(slc.Netns("down"))
    d, h1, h2 = two_ports(t, ns)
    passes(h2, h1, b"learn me")
    ns.ip("link", "set", "p2", "down")
    wait_state(d, "p2", "down")
    stream = Stream(t, h1, h2.mac, gap=0.01)
    share = cpu_share(d)
    stream.stop()
    assert share < 0.2, "%.2f of a CPU" % share
    assert audit(d)
    ns.ip("link", "set", "p2", "up")
    wait_state(d, "p2", "up")
    ns.wait_active("h2")
    passes(h1, h2, b"up again")
    passes(h2, h1, b"both ways")
    assert d.rpc("port.show", name="p2")["attached"] == 1


@slc.test("interfaces that are absent at the start are waited for")
def _(t):
    ns = t.enter_context(slc.Netns("late"))
    d, h1, h2 = two_ports(t, ns, pfc={"priorities": [3]})
    whole = d.rpc("config.export")
    assert d.stop() == 0
    ns.ip("link", "del", "p2")
    d.start()
    assert state(d, "p2") == "absent" and state(d, "p1") == "up"
    # What is configured already may be applied; what is new may not.
    assert d.rpc("config.apply", config=whole)["changed"] == []
    d.rpc("port.set", name="p2", rate_bps="50M")
    whole["bridges"]["br0"]["ports"]["p3"] = {"type": "afpacket"}
    slc.refused(d.rpc, "config.apply", config=whole, code=-32001,
                names=["p3"])
    assert d.rpc("doctor.show", port="p2")[0]["lossless"] != "yes"
    ns.veth("p2", "h2")
    wait_state(d, "p2", "up")
    assert d.rpc("port.show", name="p2")["rate_bps"] == 50000000
    h2 = t.enter_context(slc.Raw(ns, "h2"))
    passes(h1, h2, b"hello at last")


@slc.test("MTU and address of an interface are taken over")
def _(t):
    ns = t.enter_context(slc.Netns("mtu"))
    d, h1, h2 = two_ports(t, ns, pfc={"priorities": [3]})
    ns.ip("link", "set", "p2", "mtu", "1400")
    slc.wait_for(lambda: d.rpc("port.show", name="p2")["mtu"] == 1400, "MTU")
    ns.ip("link", "set", "p2", "address", "02:00:00:00:77:01")
    slc.wait_for(lambda: d.rpc("port.show", name="p2")["mac"] ==
                 "02:00:00:00:77:01", "address")
    h1.send(slc.frame(h2.mac, h1.mac, bytes(1500 - 14)))
    passes(h1, h2, b"short ones pass")
    d.settle()
    assert stats(d, "p2")["drops"]["oversize"] == 1, stats(d, "p2")


@slc.test("a tap: name, address, traffic; it goes with the port")
def _(t):
    ns = t.enter_context(slc.Netns("tap"))
    ns.veth("p1", "h1")
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0")
    d.rpc("port.add", bridge="br0", name="p1")
    port = d.rpc("port.add", bridge="br0", name="slct0", type="tap",
                 mac="02:00:00:00:00:99", rate_bps="1G")
    assert port["mac"] == "02:00:00:00:00:99" and port["type"] == "tap"
    assert ns.mac("slct0") == slc.mac("02:00:00:00:00:99")
    ns.ip("link", "set", "slct0", "up")
    wait_state(d, "slct0", "up")
    wait_up(d)
    h1 = t.enter_context(slc.Raw(ns, "h1"))
    tap = t.enter_context(slc.Raw(ns, "slct0"))
    passes(h1, tap, b"to the tap", tags=[(9, 5)])
    passes(tap, h1, b"from the tap", tags=[(9, 5)])
    d.rpc("port.set", name="slct0", mac="02:00:00:00:00:98")
    assert ns.mac("slct0") == slc.mac("02:00:00:00:00:98")
    slc.refused(d.rpc, "port.add", bridge="br0", name="h1", type="tap",
                names=["h1"])
    slc.refused(d.rpc, "port.set", name="slct0", mac="03:00:00:00:00:01",
                names=["03:00:00:00:00:01"])
    # Somebody deletes it: it is made again.
    ns.ip("link", "del", "slct0")
    slc.wait_for(lambda: ns.exists("slct0") and
                 d.rpc("port.show", name="slct0")["attached"] == 2,
                 "the tap is made again")
    assert ns.mac("slct0") == slc.mac("02:00:00:00:00:98")
    d.rpc("port.del", name="slct0")
    assert not ns.exists("slct0")
    d.rpc("port.add", bridge="br0", name="slct0", type="tap")
    assert d.stop() == 0
    assert not ns.exists("slct0")
    d.start()
    assert ns.exists("slct0")


@slc.test("a tap that is moved to another namespace stays a port")
def _(t):
    ns = t.enter_context(slc.Netns("here"))
    there = t.enter_context(slc.Netns("there"))
    ns.veth("p1", "h1")
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0")
    d.rpc("port.add", bridge="br0", name="p1")
    d.rpc("port.add", bridge="br0", name="slct0", type="tap")
    ns.ip("link", "set", "slct0", "netns", there.name)
    there.ip("link", "set", "slct0", "up")
    wait_up(d)
    h1 = t.enter_context(slc.Raw(ns, "h1"))
    tap = t.enter_context(slc.Raw(there, "slct0"))
    passes(h1, tap, b"to the guest")
    passes(tap, h1, b"from the guest")
    time.sleep(1.2)
    assert d.rpc("port.show", name="slct0")["attached"] == 1
    assert state(d, "slct0") == "up"
    passes(h1, tap, b"still")


@slc.test("two bridges share nothing; one goes, the other does not notice")
def _(t):
    ns = t.enter_context(slc.Netns("two"))
    d, h1, h2 = two_ports(t, ns, pfc={"priorities": [3]})
    ns.veth("q1", "g1")
    ns.veth("q2", "g2")
    d.rpc("bridge.add", name="br1", memory_bytes="8M")
    for name in ("q1", "q2"):
        d.rpc("port.add", bridge="br1", name=name)
    wait_up(d)
    g1 = t.enter_context(slc.Raw(ns, "g1"))
    g2 = t.enter_context(slc.Raw(ns, "g2"))
    slc.refused(d.rpc, "port.add", bridge="br1", name="p1", code=-32002,
                names=["p1"])
    flood = slc.frame(slc.BROADCAST, h1.mac, b"only in br0", size=80)
    h1.send(flood)
    assert h2.recv_match(lambda f: f == flood)
    assert sent(d, "br0", "p1", "p2") == 1
    assert sent(d, "br1", "q1", "q2") == 0
    assert d.rpc("mac.list", bridge="br1")["total"] == 0
    threads = int(slc.proc_status(d.pid)["Threads"])
    passes(g1, g2, b"in br1")
    passes(h2, h1, b"learn me")
    stream = Stream(t, h1, h2.mac, h2)
    stream.go_on()
    d.rpc("bridge.del", name="br1")
    d.rpc("bridge.add", name="br2", memory_bytes="8M")
    d.rpc("port.add", bridge="br2", name="q1")
    d.rpc("bridge.del", name="br2")
    stream.go_on(100)
    assert stream.check() > 100
    # The kernel counts one that has ended for a moment longer.
    slc.wait_for(lambda: int(slc.proc_status(d.pid)["Threads"]) ==
                 threads - 1, "the thread of br1 has ended")
    assert audit(d)


@slc.test("ports move between bridges, and swap, in one change")
def _(t):
    ns = t.enter_context(slc.Netns("move"))
    d, h1, h2 = two_ports(t, ns)
    ns.veth("p3", "h3")
    d.rpc("bridge.add", name="br1", memory_bytes="8M")
    d.rpc("port.add", bridge="br1", name="p3")
    d.rpc("port.add", bridge="br1", name="slct0", type="tap")
    ns.ip("link", "set", "slct0", "up")
    wait_up(d)
    h3 = t.enter_context(slc.Raw(ns, "h3"))
    tap = t.enter_context(slc.Raw(ns, "slct0"))
    whole = d.rpc("config.export")
    ports = [whole["bridges"][b]["ports"] for b in ("br0", "br1")]
    ports[1]["p2"] = ports[0].pop("p2")
    ports[0]["slct0"] = ports[1].pop("slct0")
    d.rpc("config.apply", config=whole)
    wait_up(d)
    passes(h1, tap, b"br0")
    before = sent(d, "br0", "p1", "slct0")
    passes(h2, h3, b"br1")
    assert sent(d, "br1", "p2", "p3") >= 1
    assert sent(d, "br0", "p1", "slct0") == before
    assert d.rpc("port.show", name="slct0")["attached"] == 1
    assert d.rpc("port.show", name="slct0")["bridge"] == "br0"
    assert audit(d)
    # To a bridge that is new, from one that goes.
    whole["bridges"]["br2"] = whole["bridges"].pop("br1")
    d.rpc("config.apply", config=whole)
    wait_up(d)
    passes(h3, h2, b"br2")
    assert audit(d)
    assert sorted(b["name"] for b in d.rpc("bridge.list")) == ["br0", "br2"]
    assert d.restart().rpc("config.export") == whole


@slc.test("another memory: a new datapath, the same interfaces")
def _(t):
    ns = t.enter_context(slc.Netns("mem"))
    d, h1, h2 = two_ports(t, ns, pfc={"priorities": [3]})
    d.rpc("port.add", bridge="br0", name="slct0", type="tap")
    ns.ip("link", "set", "slct0", "up")
    wait_up(d)
    tap = t.enter_context(slc.Raw(ns, "slct0"))
    passes(h1, tap, b"before")
    for change in ({"memory_bytes": "32M"}, {"max_frame_bytes": 9018},
                   {"max_frame_bytes": 1522, "memory_bytes": "64M"}):
        b = d.rpc("bridge.set", name="br0", **change)
        wait_up(d)
        passes(h1, tap, b"tap %r" % change)
        passes(tap, h2, b"veth %r" % change)
        h2.drain()
        assert d.rpc("port.show", name="slct0")["attached"] == 1
        assert audit(d)
    assert b["memory_bytes"] == 64 << 20
    slc.refused(d.rpc, "bridge.set", name="br0", memory_bytes="1M",
                names=["memory_bytes"])
    passes(h1, h2, b"untouched by what was refused")


@slc.test("thresholds, rates and maps change under traffic without a loss")
def _(t):
    ns = t.enter_context(slc.Netns("live"))
    d, h1, h2 = two_ports(t, ns, pfc={"priorities": [3]}, rate_bps="1G")
    passes(h2, h1, b"learn me")
    stream = Stream(t, h1, h2.mac, h2)
    stream.go_on(100)
    for i in range(60):
        d.rpc("buffer.set", port="p1", group=3, xoff_bytes=20000 + 1000 * i,
              xon_bytes=10000 + 500 * i)
        d.rpc("port.set", name="p2", rate_bps="%dM" % (500 + i),
              cable_delay_ns=i * 1000)
        d.rpc("queue.set", port="p2", queues={
            "0": {"mode": "ets", "weight": 20 + i % 40},
            "1": {"mode": "ets", "weight": 80 - i % 40}})
        d.rpc("pfc.set", port="p2", quanta=1000 + i)
        d.rpc("pfc.set", port="p1", **({"enable": [4]} if i % 2 else
                                       {"disable": [4]}))
        d.rpc("map.set", bridge="br0", default_priority=i % 8)
    stream.go_on(200)
    n = stream.check()
    assert n > 200
    assert audit(d)
    assert sum(stats(d, "p1")["violations"]) == 0
    slc.diag("%d frames through 360 changes" % n)


@slc.test("a new receive ring doubles nothing")
def _(t):
    ns = t.enter_context(slc.Netns("ring"))
    d, h1, h2 = two_ports(t, ns)
    passes(h2, h1, b"learn me")
    stream = Stream(t, h1, h2.mac, h2, gap=0.0002)
    spans = []  # numbers that were on their way while a ring was made
    for size in ("4M", "256K", 0, "1M"):
        stream.go_on(200)
        first = len(stream.got) and stream.got[-1] + 1
        p1 = d.rpc("port.set", name="p1", ring_bytes=size)
        # An AF_XDP port is closed, and opened again at once, each time.
        assert p1["state"] != "absent" or p1.get("refusal"), p1
        wait_up(d)
        spans.append(range(first, stream.n + 1))
    stream.go_on(200)
    got = stream.stop()
    assert len(got) == len(set(got)) and got == sorted(got), describe(
        got, stream.n)
    lost = set(range(stream.n)) - set(got)
    slc.diag("%d of %d are lost" % (len(lost), stream.n))
    lost.difference_update(*spans)
    assert not lost, "lost at another time: %s" % describe(got, stream.n)
    assert audit(d)


@slc.test("auto: AF_XDP on a veth, else afpacket and why; a daemon that is "
          "killed leaves no program, and is back at once")
def _(t):
    if "afxdp" not in slc.run(slc.program("sluiced"), "--version").stdout:
        raise slc.Skip("AF_XDP is not built in")
    ns = t.enter_context(slc.Netns("auto"))
    ns.veth("p1", "h1")
    ns.veth("p2", "h2")
    ns.ip("link", "add", "slcifb", "type", "ifb")
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0")
    for name in ("p1", "p2", "slcifb"):
        d.rpc("port.add", bridge="br0", name=name, type="auto")
    h1, h2 = (t.enter_context(slc.Raw(ns, h)) for h in ("h1", "h2"))
    for word in (b"first", b"after a crash"):
        for p in ("p1", "p2"):
            wait_state(d, p, "up")
        shown = {p["name"]: p for p in d.rpc("port.list")}
        assert shown["p1"]["provider"] == "afxdp", shown["p1"]
        assert shown["p1"]["xdp_mode"] == "native", shown["p1"]
        assert shown["slcifb"]["provider"] == "afpacket", shown["slcifb"]
        assert "no native XDP" in shown["slcifb"]["fallback"], shown
        assert d.log().count("AF_XDP is not possible") == \
            (2 if word != b"first" else 1), d.log()
        passes(h1, h2, word)
        assert "prog/xdp" in ns.run("ip", "-d", "link").stdout
        d.proc.kill()
        d.proc.wait()
        assert "prog/xdp" not in ns.run("ip", "-d", "link").stdout
        d.start()


@slc.test("afxdp: an interface that is given more receive queues is absent, "
          "and says why; auto goes on with afpacket")
def _(t):
    if "afxdp" not in slc.run(slc.program("sluiced"), "--version").stdout:
        raise slc.Skip("AF_XDP is not built in")
    ns = t.enter_context(slc.Netns("queues"))
    queues = ("numrxqueues", "2", "numtxqueues", "2")
    for p, h in (("p1", "h1"), ("p2", "h2")):
        ns.ip("link", "add", p, *queues, "type", "veth", "peer", "name", h,
              *queues)
        ns.run("ethtool", "-L", p, "rx", "1")
        ns.run("ethtool", "-L", h, "tx", "1")
        ns.ip("link", "set", p, "up")
        ns.ip("link", "set", h, "up")
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0")
    d.rpc("port.add", bridge="br0", name="p1", type="afxdp")
    d.rpc("port.add", bridge="br0", name="p2", type="auto")
    wait_up(d)
    h1, h2 = (t.enter_context(slc.Raw(ns, h)) for h in ("h1", "h2"))
    passes(h1, h2, b"one queue each")
    for p in "p1", "p2":
        ns.run("ethtool", "-L", p, "rx", "2")

    def shown(p):
        return d.rpc("port.show", name=p)

    slc.wait_for(lambda: shown("p1")["state"] == "absent", "p1 is given up")
    slc.wait_for(lambda: shown("p2")["provider"] == "afpacket", "p2 is opened "
                 "anew")
    assert "2 receive queues" in shown("p2")["fallback"], shown("p2")
    slc.wait_for(lambda: '"p1" has 2 receive queues' in d.log(), "the reason")
    ns.run("ethtool", "-L", "p1", "rx", "1")
    slc.wait_for(lambda: shown("p1")["state"] == "up", "p1 is back")
    passes(h1, h2, b"one and two")
    assert audit(d)


@slc.test("an interface that cannot be opened is tried now and then, and why "
          "is said once")
def _(t):
    if "afxdp" not in slc.features():
        raise slc.Skip("AF_XDP is not built in")
    ns = t.enter_context(slc.Netns("refused"))
    queues = ("numrxqueues", "2", "numtxqueues", "2")
    ns.ip("link", "add", "p1", *queues, "type", "veth", "peer", "name", "h1",
          *queues)
    ns.run("ethtool", "-L", "p1", "rx", "1")
    ns.run("ethtool", "-L", "h1", "tx", "1")
    d = t.enter_context(slc.Daemon(ns, args=["--log-level", "debug"]))
    d.rpc("bridge.add", name="br0")
    d.rpc("port.add", bridge="br0", name="p1", type="afxdp")
    d.stop()
    ns.run("ethtool", "-L", "p1", "rx", "2")
    began = time.monotonic()
    d.start()
    why = '"p1" has 2 receive queues'
    shown = d.rpc("port.show", name="p1")
    assert shown["state"] == "absent" and why in shown["refusal"], shown
    for word in ("on", "off") * 20:
        ns.ip("link", "set", "p1", "promisc", word)
    d.rpc("port.list")
    lines = [x for x in d.log().split("\n") if why in x]
    assert sum("warning" in x for x in lines) == 1, lines
    # Once with the rest, once when it is looked for, then every five seconds,
    # however often the kernel says that something about it has changed.
    assert len(lines) <= 2 + (time.monotonic() - began) / 5, lines
    ns.run("ethtool", "-L", "p1", "rx", "1")
    ns.ip("link", "set", "p1", "mtu", "1400")
    slc.wait_for(lambda: d.rpc("port.show", name="p1").get("xdp_mode"),
                 "p1 is opened")
    assert "refusal" not in d.rpc("port.show", name="p1")


@contextlib.contextmanager
def pausing(t, name):
    """A daemon that pauses h1 on priority 3, because h2 paused p2, for half a
    minute at that rate."""
    ns = t.enter_context(slc.Netns(name))
    d, h1, h2 = two_ports(
        t, ns, rate_bps="1M", pfc={"priorities": [3]},
        groups={"3": {"xoff_bytes": 20000, "xon_bytes": 10000}})
    h2.send(slc.pfc(h2.mac, {3: 65535}))
    slc.wait_for(lambda: d.rpc("pfc.show", port="p2")[0]["paused"] == [3],
                 "p2 is paused")
    for i in range(30):
        h1.send(slc.frame(h2.mac, h1.mac, b"%d" % i, tags=[(0, 3)],
                          size=1000))
    assert h1.recv_match(lambda f: slc.parse_pfc(f) == {3: 65535})
    # The frame is out a moment before the state says so.
    slc.wait_for(lambda: d.rpc("pfc.show", port="p1")[0]["pausing"] == [3],
                 "p1 pauses its peer")
    yield d, h1, h2


def released(h1):
    return h1.recv_match(lambda f: slc.parse_pfc(f) == {3: 0})


@slc.test("SIGTERM releases the pauses that are held on peers")
def _(t):
    with pausing(t, "term") as (d, h1, _h2):
        assert d.stop() == 0
        assert released(h1), "no XON"


@slc.test("so do port.del, bridge.del, and taking PFC off")
def _(t):
    with pausing(t, "pdel") as (d, h1, _h2):
        d.rpc("port.del", name="p1")
        assert released(h1), "no XON after port.del"
        assert audit(d)
    with pausing(t, "bdel") as (d, h1, _h2):
        d.rpc("bridge.del", name="br0")
        assert released(h1), "no XON after bridge.del"
    with pausing(t, "off") as (d, h1, _h2):
        d.rpc("pfc.set", port="p1", disable=[3])
        assert released(h1), "no XON after pfc.set"
        assert audit(d)
    with pausing(t, "mem") as (d, h1, _h2):
        d.rpc("bridge.set", name="br0", memory_bytes="32M")
        assert released(h1), "no XON when the datapath is made anew"
        assert audit(d)


@slc.test("a lossless frame that is lost is counted, logged and told")
def _(t):
    with pausing(t, "lost") as (d, h1, h2):
        c = t.enter_context(d.connect())
        c.call("events.subscribe", {"types": ["violation"], "port": "p1"})
        d.rpc("buffer.set", port="p1", group=3, headroom=2000)
        n = 40
        for i in range(n):  # h1 does not care for the XOFF that it got
            h1.send(slc.frame(h2.mac, h1.mac, b"%d" % i, tags=[(0, 3)],
                              size=1000))
        e = c.event()
        assert e["priority"] == 3 and e["reason"] == "headroom-exceeded"
        slc.wait_for(lambda: stats(d, "p1")["rx_frames"] == 30 + n,
                     "all of them are received")
        d.settle()
        lost = stats(d, "p1")["violations"][3]
        assert 0 < lost <= n, lost
        assert stats(d, "p1")["drops"]["headroom-exceeded"] == lost
        told = e["frames"]
        while told < lost:
            told += c.event()["frames"]
        assert told == lost
        assert "lossless priority 3" in d.log()
        row, = d.rpc("doctor.show", port="p1")
        assert row["lossless"] == "no"
        assert any(f["term"] == "violations" for f in row["findings"])
        assert audit(d)


def known(d, port):
    """Frames that were received, and those that the kernel lost before."""
    row = stats(d, port)
    return row["rx_frames"] + row["drops"]["kernel-ring"]


@slc.test("what the kernel loses of a lossless port is told, too")
def _(t):
    ns = t.enter_context(slc.Netns("ring"))
    d, h1, h2 = two_ports(t, ns, pfc={"priorities": [3]}, rate_bps="200M",
                          ring_bytes="64K")
    c = t.enter_context(d.connect())
    c.call("events.subscribe", {"types": ["violation"]})
    # What overflows the ring of the veth itself, which lies before that of an
    # AF_XDP socket, is known to its sender alone: then it is tried again.
    rounds = 5 if slc.port_type("p1") == "afxdp" else 1
    n_sent, e = 0, None
    while e is None:
        with slc.stopped(d.pid):
            for i in range(400):
                h1.send(slc.frame(h2.mac, h1.mac, tags=[(0, 3)], size=1000))
        n_sent += 400
        rounds -= 1
        try:
            e = c.event(timeout=3.0 if rounds else slc.WAIT)
        except AssertionError:
            if not rounds:
                raise
    told = 0
    while True:
        assert e["reason"] == "kernel-ring" and e["port"] == "p1", e
        assert e["priority"] is None and e["frames"] > 0, e
        told += e["frames"]
        if slc.port_type("p1") != "afxdp":
            slc.wait_for(lambda: known(d, "p1") == n_sent, "all are counted")
        row = stats(d, "p1")
        if row["drops"]["kernel-ring"] == told:
            break
        e = c.event()  # the rest is told as well
    assert row["violations_unknown"] == told, row
    assert known(d, "p1") <= n_sent, row
    assert "kernel-ring" in d.log()
    assert audit(d)


@slc.test("headroom grows when the machine turns out to be slow")
def _(t):
    ns = t.enter_context(slc.Netns("slow"))
    d, h1, h2 = two_ports(t, ns, QUICK, pfc={"priorities": [3]},
                          rate_bps="1M")

    def headroom():
        return d.rpc("pfc.show", port="p1")[0]["groups"][0]["headroom_bytes"]

    def allowed_ns():
        return d.rpc("bridge.show", name="br0")["stall_allowed_ns"]

    # Memory that nobody needs lets headroom allow for 100 ms from the start.
    before = headroom()
    assert allowed_ns() == 100000000, allowed_ns()
    d.env = {}
    d.restart()  # from here on the stall is measured
    wait_up(d)
    # It knows that it was late only if it had frames to send at that moment;
    # on a busy machine they may be gone before it is stopped, and what it was
    # late before that is allowed for already.
    for _ in range(20):
        long_s = allowed_ns() * 1.5e-9
        for _ in range(100):  # 0.8 s of the line
            h1.send(slc.frame(h2.mac, h1.mac, tags=[(0, 3)], size=1000))
        assert h2.recv()
        with slc.stopped(d.pid):
            time.sleep(long_s)
        for _ in range(99):
            assert h2.recv()
        if d.rpc("bridge.show", name="br0")["stall_ns"] > 100000000:
            break
    slc.wait_for(lambda: headroom() > before, "more headroom")
    b = slc.wait_for(lambda: next(
        (b for b in d.rpc("bridge.list")
         if b["stall_allowed_ns"] >= b["stall_ns"]), None),
        "the stall is allowed for")
    assert b["stall_ns"] > 100000000, b
    slc.diag("a stall of %.1f ms: %d bytes of headroom before, %d after" % (
        b["stall_ns"] / 1e6, before, headroom()))
    assert audit(d)


@slc.test("doctor: yes, no and why, and the command mends it")
def _(t):
    ns = t.enter_context(slc.Netns("doc"))
    d, _h1, _h2 = two_ports(t, ns, QUICK, rate_bps="200M",
                            pfc={"priorities": [3, 4]})

    def look(prio=3):
        rows = d.rpc("doctor.show", port="p1")
        assert [r["priority"] for r in rows] == [3, 4]
        return rows[prio - 3]
    row = look()
    assert row["lossless"] == "yes", row
    terms = row["terms"]
    assert terms["hw_bytes"] == sum(terms[k] for k in (
        "cable_bytes", "reaction_bytes", "macphy_bytes", "rx_mtu_bytes",
        "tx_mtu_bytes")), terms
    assert row["headroom_bytes"] >= row["needed_bytes"] == max(
        terms["hw_bytes"], terms["sw_bytes"])
    d.rpc("buffer.set", port="p1", group=3, headroom=1000)
    row = look()
    assert row["lossless"] == "no"
    found, = row["findings"]
    assert found["term"] == "headroom"
    assert found["short_bytes"] == row["needed_bytes"] - 1000
    assert found["command"] == "sluicectl buffer set p1 pg 3 headroom auto"
    assert look(4)["lossless"] == "yes"
    d.rpc("buffer.set", port="p1", group=3, headroom="auto")
    d.rpc("port.set", name="p1", ring_bytes="64K", rate_bps="1G")
    row = look()
    assert row["lossless"] == "no" and row["findings"][0]["term"] == "ring"
    d.rpc("port.set", name="p1", ring_bytes=0)
    assert look()["lossless"] in ("yes", "unsure"), look()
    for f in look()["findings"]:
        words = f["command"].split()
        if words[1:3] == ["port", "set"]:
            d.rpc("port.set", name="p1", ring_bytes=words[-1])
        else:
            assert words[1:3] == ["buffer", "set"], f
            for pg in (3, 4):
                d.rpc("buffer.set", port="p1", group=pg, headroom=words[-1])
    assert look()["lossless"] == "yes", look()


slc.main(needs=["ip"])
