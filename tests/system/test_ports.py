#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a port does to frames, on veth pairs and TAP interfaces, through a
real sluiced."""
import hashlib
import os
import re
import socket
import struct
import threading
import time

import slc

A, B, C = slc.mac(0xa), slc.mac(0xb), slc.mac(0xc)
TPIDS = (slc.ETH_P_8021Q, slc.ETH_P_8021AD)


class Rig:
    """A sluiced with ports p1, p2, ... that are veth ends; the other ends,
    h1, h2, ..., are raw sockets in a namespace of their own."""

    def __init__(self, t, n=2, bridge=(), spied=None, **port):
        self.ns = t.enter_context(slc.Netns("sw"))
        self.hosts = t.enter_context(slc.Netns("hosts"))
        for i in range(1, n + 1):
            self.ns.veth("p%d" % i, "h%d" % i, self.hosts)
        if spied:
            self.handed = Handed(t, self.ns, spied)
        self.d = t.enter_context(slc.Daemon(self.ns))
        self.d.rpc("bridge.add", name="br0", **dict(bridge))
        self.raw = {}
        for i in range(1, n + 1):
            self.d.rpc("port.add", bridge="br0", name="p%d" % i, **port)
            self.raw[i] = t.enter_context(
                slc.Raw(self.hosts, "h%d" % i, rcvbuf=64 << 20))
        self.wait_up()

    def wait_up(self):
        slc.wait_for(lambda: all(p["state"] == "up"
                                 for p in self.d.rpc("port.list")),
                     "all ports are up")

    def stats(self, port):
        self.d.settle()
        return self.d.rpc("stats.show", port=port)[0]

    def pfc(self, port):
        self.d.settle()
        return self.d.rpc("pfc.counters", port=port)[0]

    def through(self, data, i=1, o=2):
        """What comes out of port o for a frame sent into port i."""
        self.raw[i].send(data)
        got = self.raw[o].recv_match(lambda f: f[:12] == data[:12])
        assert got is not None, "nothing came out: %s" % data[:40].hex()
        return got

    def sent(self, o, held=0):
        """How many frames port o has sent, now that no more than `held` are
        left anywhere."""
        slc.wait_for(lambda: self.d.rpc("audit.show")[0]["held"] == held,
                     "%d frames are held" % held)
        return self.stats("p%d" % o)["tx_frames"]

    def nothing(self, data, i=1, o=2, tags=()):
        """Nothing comes out of o: proved by the frame after it, which does
        (with those tags)."""
        text = b"mark" + os.urandom(8)
        self.raw[i].send(data)
        self.raw[i].send(slc.frame(slc.BROADCAST, C, text, tags=tags))
        while True:
            got = self.raw[o].recv()
            assert got is not None, "not even what should come out came"
            if text in got:
                return
            assert got[:12] != data[:12], "it came out: %s" % got.hex()

    def audit(self):
        return slc.wait_for(
            lambda: next((a for a in self.d.rpc("audit.show")
                          if a["ok"] and not a["held"]), None),
            "the audit adds up and nothing is held")


def set_vlan(rig, port, **vlan):
    rig.d.rpc("port.set", name=port, vlan=vlan)


# ------------------------------------------------------------ frames ---

@slc.test("tags survive with PCP and DEI: 802.1Q, VLAN 0, 802.1ad, QinQ")
def _(t):
    rig = Rig(t)
    stacks = [[]]
    for tpid in TPIDS:
        for vid, pcp in ((0, 0), (0, 5), (1, 7), (4094, 3), (100, 1)):
            stacks.append([(vid, pcp, tpid)])
    for outer in TPIDS:
        for inner in TPIDS:
            stacks.append([(100, 6, outer), (200, 2, inner)])
            stacks.append([(0, 4, outer), (0, 1, inner)])
    for tags in stacks:
        data = slc.frame(B, A, os.urandom(80), tags=tags)
        got = rig.through(data)
        assert got == data, (tags, data.hex(), got.hex())
        data = slc.frame(A, B, os.urandom(80), tags=tags)
        assert rig.through(data, 2, 1) == data, tags
    # DEI is a bit of the tag like others.
    data = B + A + struct.pack(">HHH", 0x8100, 0xb064, 0x88b5) + bytes(60)
    assert rig.through(data) == data
    rig.audit()


@slc.test("every length arrives, short ones padded to 60 octets")
def _(t):
    rig = Rig(t)
    for n in list(range(0, 60)) + [100, 999, 1499, 1500]:
        payload = os.urandom(n)
        data = slc.frame(B, A, payload)
        got = rig.through(data)
        assert len(got) == max(60, len(data)), (n, len(got))
        assert got[:len(data)] == data, n
        assert not any(got[len(data):]), "padding is not zero"
    for n in (10, 46, 1500):
        data = slc.frame(B, A, os.urandom(n), tags=[(7, 3)])
        got = rig.through(data)
        assert got[:len(data)] == data and len(got) == max(60, len(data)), n
    rig.audit()


@slc.test("a port's own output is not received again")
def _(t):
    rig = Rig(t)
    n = 200
    for i in range(n):
        rig.raw[1].send(slc.frame(B, A, struct.pack(">I", i), size=100))
    got = [rig.raw[2].recv() for _ in range(n)]
    assert [struct.unpack_from(">I", f, 14)[0] for f in got] == list(range(n))
    s1, s2 = rig.stats("p1"), rig.stats("p2")
    assert (s1["rx_frames"], s1["tx_frames"]) == (n, 0), s1
    assert (s2["rx_frames"], s2["tx_frames"]) == (0, n), s2
    assert rig.audit()["rx"] == n
    # What is sent now is the first that comes back to who sent before.
    last = slc.frame(A, B, b"last", size=100)
    rig.raw[2].send(last)
    assert rig.raw[1].recv() == last
    assert rig.audit()["rx"] == n + 1


# ---------------------------------------------------------- VLAN ports ---

def tag_of(data):
    return [(vid, pcp) for _, pcp, vid in slc.parse(data)[2]]


@slc.test("access ports: untagged outside, one VLAN inside")
def _(t):
    rig = Rig(t, n=3)
    set_vlan(rig, "p1", mode="access", tag=10)
    set_vlan(rig, "p2", mode="access", tag=10)
    set_vlan(rig, "p3", mode="access", tag=20)
    data = slc.frame(slc.BROADCAST, A, b"x" * 50)
    assert rig.through(data) == data
    assert rig.sent(3) == 0, "it left its VLAN"
    # A priority tag is no VLAN: it belongs to the port's.
    got = rig.through(slc.frame(B, A, b"x" * 50, tags=[(0, 5)]))
    assert slc.parse(got)[3] == slc.ETH_P_TEST, got.hex()
    # Tagged with a VLAN it is not the port's business.
    rig.nothing(slc.frame(B, A, b"x" * 50, tags=[(10, 0)]))
    rig.nothing(slc.frame(B, A, b"x" * 50, tags=[(20, 0)]))
    assert rig.stats("p1")["drops"]["vlan"] == 2, rig.stats("p1")
    rig.audit()


@slc.test("trunk ports: only their VLANs, tagged")
def _(t):
    rig = Rig(t, n=3)
    set_vlan(rig, "p1", mode="access", tag=10)
    set_vlan(rig, "p2", mode="trunk", trunks=[10, 30])
    set_vlan(rig, "p3", mode="trunk", trunks=[30])
    got = rig.through(slc.frame(slc.BROADCAST, A, b"x" * 50))
    assert tag_of(got) == [(10, 0)], got.hex()
    assert rig.sent(3) == 0
    data = slc.frame(A, B, b"x" * 50, tags=[(10, 6)])
    got = rig.through(data, 2, 1)
    # What the port takes off it takes off with its PCP, unless that is kept
    # in a priority tag, as Open vSwitch can be told to.
    assert slc.parse(got)[3] == slc.ETH_P_TEST
    assert all(vid == 0 for vid, _ in tag_of(got)), got.hex()
    rig.nothing(slc.frame(slc.BROADCAST, B, b"y" * 50, tags=[(20, 0)]), 2, 1,
                tags=[(10, 0)])
    assert rig.stats("p2")["drops"]["vlan"] == 1
    before = rig.sent(1)
    data = slc.frame(slc.BROADCAST, C, b"z" * 50, tags=[(30, 2)])
    assert rig.through(data, 2, 3) == data
    assert rig.sent(1) == before
    rig.audit()


@slc.test("native VLANs: untagged frames belong to it, tagged or not outside")
def _(t):
    rig = Rig(t, n=3)
    set_vlan(rig, "p1", mode="native-untagged", tag=10, trunks=[10, 20])
    set_vlan(rig, "p2", mode="native-tagged", tag=10, trunks=[10, 20])
    set_vlan(rig, "p3", mode="trunk")
    untagged = slc.frame(slc.BROADCAST, A, b"x" * 50)
    rig.raw[1].send(untagged)
    for i in (2, 3):
        got = rig.raw[i].recv()
        assert tag_of(got) == [(10, 0)], got.hex()
    rig.raw[3].send(slc.frame(slc.BROADCAST, B, b"x" * 50, tags=[(10, 0)]))
    got = rig.raw[1].recv()
    assert tag_of(got) == [], got.hex()
    got = rig.raw[2].recv()
    assert tag_of(got) == [(10, 0)], got.hex()
    data = slc.frame(slc.BROADCAST, B, b"x" * 50, tags=[(20, 1)])
    rig.raw[3].send(data)
    assert rig.raw[1].recv() == data and rig.raw[2].recv() == data
    rig.audit()


# ------------------------------------------------------------ learning ---

@slc.test("addresses are learned per VLAN, move, and are flushed")
def _(t):
    rig = Rig(t, n=3)

    def outs(data, i):
        rig.raw[i].send(data)
        others = [o for o in (1, 2, 3) if o != i]
        mark = slc.frame(slc.BROADCAST, C, os.urandom(50))
        rig.raw[i].send(mark)
        got = set()
        for o in others:
            while True:
                f = rig.raw[o].recv()
                assert f is not None, "not even a broadcast came out of %d" % o
                if f == mark:
                    break
                got.add(o)
        return got

    to_b = slc.frame(B, A, b"x" * 50)
    assert outs(to_b, 1) == {2, 3}, "unknown: to all others"
    rig.through(slc.frame(A, B, b"x" * 50), 2, 1)
    assert outs(to_b, 1) == {2}, "known: to its port"
    assert outs(slc.frame(B, A, b"x" * 50, tags=[(5, 0)]), 1) == {2, 3}, \
        "known in another VLAN only"
    assert outs(slc.frame(A, B, b"x" * 50), 1) == set(), \
        "known behind the port that it came from"
    # That was B behind port 1: it has moved.
    assert outs(slc.frame(B, C, b"x" * 50), 3) == {1}
    entries = rig.d.rpc("mac.list", bridge="br0")["entries"]
    assert [e["port"] for e in entries
            if e["mac"] == "02:00:00:00:00:0b" and e["vid"] == 0] == ["p1"]
    rig.d.rpc("mac.flush", bridge="br0")
    assert outs(slc.frame(B, A, b"x" * 50), 2) == {1, 3}
    rig.audit()


# ----------------------------------------------------------------- PFC ---

def control_frames():
    """Everything that is MAC control, right or wrong."""
    good = slc.pfc(A, {3: 100})
    yield "PFC", good
    yield "PFC without a source", slc.pfc(bytes(6), {3: 0})
    yield "PAUSE", slc.pause(A, 100)
    yield "unknown opcode", good[:14] + b"\x01\x02" + good[16:]
    yield "short", good[:30]
    yield "no opcode", good[:14]
    yield "wrong address", B + good[6:]
    yield "broadcast", slc.BROADCAST + good[6:]
    yield "tagged", good[:12] + b"\x81\x00\x60\x00" + good[12:]
    yield "QinQ", good[:12] + b"\x88\xa8\x00\x01\x81\x00\x60\x00" + good[12:]


@slc.test("MAC control is consumed where it arrives, right or wrong")
def _(t):
    rig = Rig(t, pfc={"priorities": [3]})
    frames = list(control_frames())
    for name, data in frames:
        rig.nothing(data)
    # Consumed is not received: only the marks were.
    s = rig.stats("p1")
    assert s["rx_frames"] == len(frames), s
    assert not any(s["drops"].values()), s["drops"]
    rx = rig.pfc("p1")["rx"]
    assert rx["frames"] == 2 and rx["pfc"][3] == 2 and rx["xoff"][3] == 1, rx
    assert rx["pause"] == 1 and rx["unsupported"] == 1, rx
    assert rx["malformed"] == 6, rx
    macs = {e["mac"] for e in rig.d.rpc("mac.list", bridge="br0")["entries"]}
    assert macs == {"02:00:00:00:00:0c"}, macs
    # The lab option lets others of the reserved addresses through, not this.
    rig.d.rpc("bridge.set", name="br0", forward_reserved=True)
    for name, data in frames:
        rig.nothing(data)
    rig.audit()


@slc.test("reserved group addresses are not forwarded, unless told so")
def _(t):
    rig = Rig(t)
    addresses = [bytes.fromhex("0180c20000%02x" % i) for i in range(16)]
    for dst in addresses:
        rig.nothing(slc.frame(dst, A, b"x" * 50))
    assert rig.stats("p1")["drops"]["reserved"] == 16
    data = slc.frame(bytes.fromhex("0180c2000010"), A, b"x" * 50)
    assert rig.through(data) == data
    rig.d.rpc("bridge.set", name="br0", forward_reserved=True)
    for i, dst in enumerate(addresses):
        data = slc.frame(dst, A, b"x" * 50)
        if i == 1:
            rig.nothing(data)
        else:
            assert rig.through(data) == data, i
    rig.audit()


def pause(rig, prio=3):
    """The peer of port 2 pauses it, as long as can be from now on: for half a
    minute at 1 Mb/s."""
    n = rig.pfc("p2")["rx"]["frames"]
    rig.raw[2].send(slc.pfc(B, {prio: 65535}))
    slc.wait_for(lambda: rig.pfc("p2")["rx"]["frames"] == n + 1,
                 "the PFC frame is read", step=0.001)
    assert prio in rig.d.rpc("pfc.show", port="p2")[0]["paused"]


def offer(rig, n, prio=3, size=60):
    """Sends n numbered frames of a priority into port 1, no faster than they
    are read, and waits till they are."""
    before = rig.stats("p1")["rx_frames"]
    for i in range(n):
        rig.raw[1].send(slc.frame(B, A, struct.pack(">I", i),
                                  tags=[(0, prio)], size=size))
        if i % 64 == 63 or i == n - 1:
            slc.wait_for(lambda: rig.stats("p1")["rx_frames"] ==
                         before + i + 1, "%d frames are read" % (i + 1))


def fill(rig, n, prio=3, size=60):
    """Queues n frames of a priority at port 2, whose peer pauses it."""
    pause(rig, prio)
    offer(rig, n, prio, size)
    rig.d.settle()
    held = rig.d.rpc("queue.show", port="p2")[prio]["frames"]
    assert held == n, "%d of %d are held" % (held, n)
    pause(rig, prio)


def numbers(rig, n):
    """The numbers of the n frames that come out of port 2 next."""
    got = [rig.raw[2].recv() for _ in range(n)]
    assert None not in got, "%d of %d are lost" % (got.count(None), n)
    return [struct.unpack_from(">I", f, 18)[0] for f in got]


class Handed:
    """Counts what the kernel has handed to an afpacket or afxdp port, whether
    that has looked at it or not.  It is made before the port, so that a frame
    is in the port's ring first."""

    def __init__(self, t, ns, ifname):
        self.ns, self.ifname = ns, ifname
        self.spy = t.enter_context(slc.Raw(ns, ifname))
        self.seen = 0

    def n(self):
        self.seen += len(self.spy.recv_all(quiet=0))
        if slc.port_type(self.ifname) == "afpacket":
            return self.seen
        # An XDP program leaves nothing to a socket.
        text = self.ns.run("ethtool", "-S", self.ifname).stdout
        return sum(map(int, re.findall(r"rx_queue_\d+_xdp_packets: (\d+)",
                                       text)))


def wake_with_pause(rig, n, handed):
    """The switch falls asleep with a queue that may be sent, and finds a PFC
    frame in its ring when it wakes up.  Frames that left before that, and
    after; None when the pause did not last."""
    fill(rig, n)
    n_out, n_pfc = rig.hosts.n_received("h2"), rig.pfc("p2")["rx"]["frames"]
    rig.raw[2].send(slc.pfc(B, {3: 0}))
    assert rig.raw[2].recv(), "an XON did not let go"
    with slc.stopped(rig.d.pid):
        before = rig.hosts.n_received("h2") - n_out
        n_in = handed.n()
        rig.raw[2].send(slc.pfc(B, {3: 65535}))
        slc.wait_for(lambda: handed.n() == n_in + 1, "it is in the ring")
        time.sleep(0.15)  # at least: that much credit piles up
    slc.wait_for(lambda: rig.pfc("p2")["rx"]["frames"] == n_pfc + 2,
                 "both PFC frames are read")
    rig.d.settle()
    after = rig.hosts.n_received("h2") - n_out - before
    lasted = rig.d.rpc("pfc.show", port="p2")[0]["paused"] == [3]
    rig.raw[2].send(slc.pfc(B, {3: 0}))
    rig.audit()
    rig.raw[2].drain()
    return before, after if lasted else None


@slc.test("at most 32 frames of a priority leave once its PFC frame is in "
          "the ring, however late the switch is")
def _(t):
    n, conclusive, worst = 1500, 0, 0
    # At 1 Mb/s the longest pause lasts half a minute, the frames take a
    # second, and the credit that piles up in 144 ms, while the switch sleeps,
    # is worth 214 of them: twice the longest frame.
    rig = Rig(t, bridge={"max_frame_bytes": 9018}, spied="p2",
              rate_bps=1000000, pfc={"priorities": [3]})
    rig.d.rpc("buffer.set", port="p1", group=3, xoff_bytes=1 << 20)
    for trial in range(1, 31):
        before, after = wake_with_pause(rig, n, rig.handed)
        # A test that was itself late finds nothing left to be sent, or that
        # the pause is over.
        if after is None:
            continue
        assert after <= 32, after
        conclusive += before + after < n - 64
        worst = max(worst, after)
        if conclusive == 3:
            break
    slc.diag("%d frames at most, in %d of %d trials" % (worst, conclusive,
                                                       trial))
    assert conclusive, "the queue was empty each time before it was paused"
    assert not any(rig.stats("p1")["violations"])
    rig.audit()


@slc.test("a pause stops its priority and no other, and an XON ends it")
def _(t):
    rig = Rig(t, rate_bps=1000000, pfc={"priorities": [3]})
    fill(rig, 10)
    offer(rig, 10, prio=4)
    got = [rig.raw[2].recv() for _ in range(10)]
    assert [tag_of(f) for f in got] == [[(0, 4)]] * 10, got
    assert rig.sent(2, held=10) == 10, "a frame of the paused priority"
    rig.raw[2].send(slc.pfc(B, {3: 0}))
    assert numbers(rig, 10) == list(range(10)), "lost or out of order"
    rig.audit()


@slc.test("a full lossless group pauses its peer and lets it go again")
def _(t):
    rig = Rig(t, rate_bps=1000000, pfc={"priorities": [3]})
    # 500 quanta are 256 ms.
    rig.d.rpc("pfc.set", port="p1", quanta=500)
    rig.d.rpc("buffer.set", port="p1", group=3, xoff_bytes=65536,
              xon_bytes=32768)
    fill(rig, 100, size=1000)
    xoff = rig.raw[1].recv_match(slc.parse_pfc)
    assert xoff and slc.parse_pfc(xoff) == {3: 500}, xoff
    assert len(xoff) == 60 and not any(xoff[34:])
    assert xoff[6:12] == slc.mac(
        rig.d.rpc("port.show", name="p1")["mac"]), "not the port's address"
    # It is repeated for as long as it lasts.
    for _ in range(3):
        again = rig.raw[1].recv_match(slc.parse_pfc)
        assert again and slc.parse_pfc(again) == {3: 500}, again
        pause(rig)
    rig.raw[2].send(slc.pfc(B, {3: 0}))
    xon = rig.raw[1].recv_match(lambda f: slc.parse_pfc(f) == {3: 0})
    assert xon, "no XON"
    assert numbers(rig, 100) == list(range(100))
    tx = rig.pfc("p1")["tx"]
    assert tx["pauses"][3] == 1 and tx["pfc"][3] - tx["xoff"][3] == 1, tx
    assert not any(rig.stats("p1")["violations"])
    rig.audit()


# -------------------------------------------------------- real traffic ---

def transfer(server_ns, client_ns, address, n):
    """n random octets over TCP, unmodified sockets; Mb/s."""
    def serve():
        conn, _ = listener.accept()
        digest = hashlib.sha256()
        with conn:
            while True:
                data = conn.recv(1 << 20)
                if not data:
                    break
                digest.update(data)
            conn.sendall(digest.digest())

    with server_ns.entered():
        listener = socket.create_server((address, 0))
    with client_ns.entered():
        client = socket.socket()
    with listener, client:
        listener.settimeout(slc.WAIT)
        client.settimeout(slc.WAIT)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        client.connect(listener.getsockname())
        block, want, sent = os.urandom(1 << 20), hashlib.sha256(), 0
        began = time.monotonic()
        while sent < n:
            client.sendall(block)
            want.update(block)
            sent += len(block)
        client.shutdown(socket.SHUT_WR)
        got = b""
        while len(got) < 32:
            data = client.recv(32)
            assert data, "the connection broke"
            got += data
        rate = sent * 8 / (time.monotonic() - began) / 1e6
        thread.join(slc.WAIT)
    assert got == want.digest(), "the data arrived changed"
    return rate


@slc.test("TCP between two unmodified namespaces with default offloads")
def _(t):
    ns = t.enter_context(slc.Netns("sw"))
    one = t.enter_context(slc.Netns("one"))
    two = t.enter_context(slc.Netns("two"))
    ns.veth("p1", "eth0", one)
    ns.veth("p2", "eth0", two)
    one.ip("addr", "add", "192.0.2.1/24", "dev", "eth0")
    two.ip("addr", "add", "192.0.2.2/24", "dev", "eth0")
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0")
    for p in ("p1", "p2"):
        d.rpc("port.add", bridge="br0", name=p)
    slc.wait_for(lambda: all(p["state"] == "up"
                             for p in d.rpc("port.list")), "ports are up")
    for a, b, address in ((one, two, "192.0.2.2"), (two, one, "192.0.2.1")):
        slc.diag("%.0f Mb/s" % transfer(b, a, address, 64 << 20))
    gso = sum(s["netdev"]["rx_gso"] for s in d.rpc("stats.show"))
    slc.diag("%d super-frames" % gso)
    # Where XDP programs are, the hosts make none.
    assert gso > 0 or "afpacket" not in map(slc.port_type, ("p1", "p2")), \
        "default offloads make super-frames; none was seen"


@slc.test("a tap port carries traffic between its host and a veth")
def _(t):
    ns = t.enter_context(slc.Netns("sw"))
    one = t.enter_context(slc.Netns("one"))
    ns.veth("p1", "eth0", one)
    one.ip("addr", "add", "192.0.2.1/24", "dev", "eth0")
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0")
    d.rpc("port.add", bridge="br0", name="p1")
    d.rpc("port.add", bridge="br0", name="slctap0", type="tap",
          mac="02:00:00:00:77:01")
    slc.wait_for(lambda: ns.exists("slctap0"), "the tap is there")
    assert ns.mac("slctap0") == slc.mac("02:00:00:00:77:01")
    # The host answers for its address on the tap, not on the ports' ends.
    ns.run("sysctl", "-qw", "net.ipv4.conf.all.arp_ignore=1")
    ns.ip("addr", "add", "192.0.2.9/24", "dev", "slctap0")
    ns.ip("link", "set", "slctap0", "up")
    slc.wait_for(lambda: all(p["state"] == "up"
                             for p in d.rpc("port.list")), "ports are up")
    for a, b, address in ((ns, one, "192.0.2.1"), (one, ns, "192.0.2.9")):
        slc.diag("%.0f Mb/s" % transfer(b, a, address, 32 << 20))
    s = d.rpc("stats.show", port="slctap0")[0]
    assert s["rx_frames"] > 0 and s["tx_frames"] > 0, s
    d.rpc("port.del", name="slctap0")
    slc.wait_for(lambda: not ns.exists("slctap0"), "the tap goes")


@slc.test("tags and pauses on a tap: frames with PCP in both directions")
def _(t):
    ns = t.enter_context(slc.Netns("sw"))
    hosts = t.enter_context(slc.Netns("hosts"))
    ns.veth("p1", "h1", hosts)
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0")
    d.rpc("port.add", bridge="br0", name="p1")
    d.rpc("port.add", bridge="br0", name="slctap0", type="tap")
    slc.wait_for(lambda: ns.exists("slctap0"), "the tap is there")
    ns.ip("link", "set", "slctap0", "up")
    slc.wait_for(lambda: all(p["state"] == "up"
                             for p in d.rpc("port.list")), "ports are up")
    tap = t.enter_context(slc.Raw(ns, "slctap0"))
    h1 = t.enter_context(slc.Raw(hosts, "h1"))
    for tags in ([], [(0, 5)], [(7, 3)], [(7, 3), (8, 1)],
                 [(100, 2, slc.ETH_P_8021AD), (8, 1)]):
        for i, o, dst, src in ((tap, h1, A, B), (h1, tap, B, A)):
            data = slc.frame(dst, src, os.urandom(90), tags=tags)
            i.send(data)
            got = o.recv_match(lambda f: f[:12] == data[:12])
            assert got == data, (tags, data.hex(), got and got.hex())


@slc.test("an interface that is deleted and made again is the same port")
def _(t):
    rig = Rig(t, rate_bps=1000000, pfc={"priorities": [3]})
    data = slc.frame(B, A, b"x" * 50, tags=[(0, 3)])
    for _ in range(5):
        assert rig.through(data) == data
    before = rig.stats("p1"), rig.stats("p2")
    config = rig.d.rpc("config.export")
    index = rig.ns.run("cat", "/sys/class/net/p1/ifindex").stdout
    rig.raw.pop(1).close()
    rig.ns.ip("link", "del", "p1")
    slc.wait_for(lambda: rig.stats("p1")["state"] == "absent", "p1 is absent")
    assert rig.stats("p1")["rx_frames"] == before[0]["rx_frames"]
    rig.ns.veth("p1", "h1", rig.hosts)
    assert rig.ns.run("cat", "/sys/class/net/p1/ifindex").stdout != index
    rig.wait_up()
    rig.raw[1] = t.enter_context(slc.Raw(rig.hosts, "h1"))
    for _ in range(5):
        assert rig.through(data) == data
    after = rig.stats("p1"), rig.stats("p2")
    assert after[0]["rx_frames"] == before[0]["rx_frames"] + 5, after
    assert after[1]["tx_frames"] == before[1]["tx_frames"] + 5, after
    assert rig.d.rpc("config.export") == config
    # And the configuration is in force: it is paused as it was before.
    fill(rig, 3)
    assert rig.sent(2, held=3) == after[1]["tx_frames"]
    rig.raw[2].send(slc.pfc(B, {3: 0}))
    assert numbers(rig, 3) == [0, 1, 2]
    rig.audit()


@slc.test("sends that the kernel refuses are repeated, in order, without loss")
def _(t):
    if slc.port_type("p2") != "afpacket":
        raise slc.Skip("AF_XDP does not use the interface's queue")
    rig = Rig(t, pfc={"priorities": [3]})
    # A queue of three frames behind a slow link refuses most of what comes.
    rig.ns.run("tc", "qdisc", "add", "dev", "p2", "root", "tbf", "rate",
               "40mbit", "burst", "2000", "limit", "4600")
    n = 400
    # However slowly they are sent, they are there all at once.
    rig.d.rpc("buffer.set", port="p1", group=3, xoff_bytes=1 << 20)
    rig.d.rpc("drill.hold", port="p2", queues=[3], duration_ms=600000)
    offer(rig, n, size=1500)
    rig.d.rpc("drill.stop")
    assert numbers(rig, n) == list(range(n))
    again = rig.stats("p2")["netdev"]["tx_again"]
    slc.diag("%d refusals" % again)
    assert again > 0, "nothing was refused: this test shows nothing"
    assert not any(rig.stats("p2")["drops"].values()), rig.stats("p2")
    rig.audit()


slc.main(root=True, needs=["ip", "tc"])
