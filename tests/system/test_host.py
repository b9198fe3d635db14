#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sluiced --host: applications behind a TAP wait while their class is paused,
and lose nothing.  Two such hosts at the two ends of a cable; what arrives is
counted at the far end, by sequence numbers."""
import contextlib
import hashlib
import os
import socket
import struct
import subprocess
import threading
import time

import slc

RATE = "80M"
PAYLOAD = 1200
TOS = {3: 3 << 5, 4: 4 << 5}  # DSCP 24 and 32: priorities 3 and 4
PORT = 5000
PAUSE_S = 2.0


def uplink(name="eth0"):
    """The uplink of --host, with its type when it is not the default."""
    kind = slc.port_type(name)
    return name if kind == "afpacket" else "%s,type=%s" % (name, kind)


class Host:
    """A namespace with a lossless host in it, and an address on its TAP."""

    def __init__(self, stack, name, number, options="pfc=3+4"):
        self.ns = stack.enter_context(slc.Netns(name))
        self.address = "192.0.2.%d" % number
        self.mac = "02:00:00:00:00:%02x" % number
        self.stack = stack
        self.options = "%s,rate=%s,mac=%s,%s" % (uplink(), RATE, self.mac,
                                                 options)

    def start(self):
        self.d = self.stack.enter_context(slc.Daemon(
            self.ns, args=["--host", self.options]))
        slc.wait_for(lambda: self.port("eth0")["state"] == "up" and
                     self.port("host0")["state"] == "up", "ports are up")
        # For stalls of half a second, which a busy machine has.
        groups = {str(g): {"headroom": 6 << 20} for g in (3, 4)}
        self.d.rpc("port.set", name="host0", groups=groups)
        self.d.rpc("port.set", name="eth0", groups=groups,
                   ring_bytes=16 << 20)
        self.ns.ip("addr", "add", self.address + "/24", "dev", "host0")

    def port(self, name):
        return self.d.rpc("port.show", name=name)

    def drops(self):
        """All that was lost at this host, the kernel's losses too.  "no-port"
        are copies of frames that were flooded when nobody was known yet."""
        time.sleep(1.2)  # the kernel's counters are read once a second
        return {(s["port"], k): n for s in self.d.rpc("stats.show")
                for k, n in s["drops"].items() if n}

    def doctor(self):
        return {(x["port"], x["priority"]): x
                for x in self.d.rpc("doctor.show")}

    def socket(self, kind, prio=None):
        with self.ns.entered():
            s = socket.socket(socket.AF_INET, kind)
        if prio is not None:
            s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, TOS[prio])
        return s


def pair(t, known=True, **kw):
    a, b = Host(t, "a", 1, **kw), Host(t, "b", 2, **kw)
    a.ns.veth("eth0", "eth0", b.ns)
    a.start()
    b.start()
    # Neighbours for ever: a lossy ARP between would prove nothing.
    for x, y in ((a, b), (b, a)) if known else ():
        x.ns.ip("neigh", "replace", y.address, "lladdr", y.mac, "dev",
                "host0")
    return a, b


class Sender(threading.Thread):
    """Sends numbered datagrams from a blocking socket, as fast as it may."""

    def __init__(self, host, to, prio):
        super().__init__(daemon=True)
        self.sock = host.socket(socket.SOCK_DGRAM, prio)
        self.to = (to.address, PORT + prio)
        self.n = 0
        self.longest = 0.0
        self.began = time.monotonic()  # of the call that goes on
        self.ending = False
        self.start()

    def run(self):
        pad = b"x" * (PAYLOAD - 4)
        while not self.ending:
            self.began = time.monotonic()
            try:
                self.sock.sendto(struct.pack("!I", self.n) + pad, self.to)
            except OSError:  # the test failed, and its hosts are gone
                break
            self.longest = max(self.longest, time.monotonic() - self.began)
            self.n += 1

    def end(self):
        self.ending = True
        self.join(30)
        assert not self.is_alive(), "the sender never went on"
        self.sock.close()
        return self.n


class Receiver(threading.Thread):
    def __init__(self, host, prio):
        super().__init__(daemon=True)
        self.sock = host.socket(socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # RCVBUFFORCE
        self.sock.bind(("", PORT + prio))
        self.sock.settimeout(0.1)
        self.n = 0
        self.wrong = []
        self.ending = False
        self.start()

    def run(self):
        while not self.ending:
            try:
                data = self.sock.recv(2048)
            except socket.timeout:
                continue
            seq = struct.unpack("!I", data[:4])[0]
            if seq != self.n and len(self.wrong) < 5:
                self.wrong.append((self.n, seq))
            self.n += 1

    def end(self, expected):
        with contextlib.suppress(AssertionError):
            slc.wait_for(lambda: self.n >= expected, "all has arrived", 30)
        self.ending = True
        self.join()
        self.sock.close()


@slc.test("a blocking UDP sender whose class is paused for seconds waits and "
          "loses nothing; the other class goes on")
def _(t):
    a, b = pair(t)
    receivers = {p: Receiver(b, p) for p in (3, 4)}
    senders = {p: Sender(a, b, p) for p in (3, 4)}
    slc.wait_for(lambda: all(r.n > 50 for r in receivers.values()),
                 "both classes arrive")
    b.d.rpc("drill.storm", port="eth0", priorities=[3], duration_ms=30000)
    slc.wait_for(lambda: time.monotonic() - senders[3].began > PAUSE_S,
                 "the sender of the paused class waits", 25)
    paused, waits, other = receivers[3].n, senders[3].n, receivers[4].n
    slc.wait_for(lambda: receivers[4].n > other + 500, "priority 4 goes on")
    # A pause may run out when the peer's thread is late: never for long.
    assert receivers[3].n < paused + 100, "priority 3 was paused"
    assert senders[3].n < waits + 100, "priority 3 waits"
    b.d.rpc("drill.stop", port="eth0")
    began = time.monotonic()
    slc.wait_for(lambda: receivers[3].n > paused + 50, "priority 3 again")
    slc.diag("going on after %.3f s" % (time.monotonic() - began))
    sent = {p: s.end() for p, s in senders.items()}
    for p, r in receivers.items():
        r.end(sent[p])
        slc.diag("priority %d: %d sent, longest call %.2f s" % (
            p, sent[p], senders[p].longest))
        assert r.n == sent[p] and not r.wrong, (
            p, r.n, sent[p], r.wrong, a.drops(), b.drops(), a.doctor(),
            b.doctor())
    assert senders[3].longest > PAUSE_S
    for host in (a, b):
        lost = {k: n for k, n in host.drops().items() if k[1] != "no-port"}
        assert not lost, lost
        # A busy machine may make it unsure of sizes, but of nothing else.
        found = [f for x in host.doctor().values() for f in x["findings"]]
        assert not [f for f in found if not f["short_bytes"] and f["term"] in (
            "backpressure", "sockets", "violations", "peer-pfc")], found
    nd = a.d.rpc("stats.show", port="host0")[0]["netdev"]
    assert nd["n_holds"] > 0 and nd["hold_failed"] == 0, nd
    slc.diag("%d holds, slowest %d us" % (nd["n_holds"],
                                          nd["hold_worst_ns"] / 1000))


@slc.test("a sender waits, and loses nothing, while the address of its "
          "receiver is not known")
def _(t):
    a, b = pair(t, known=False)
    # However long the machine takes, it goes on asking.
    a.ns.run("sh", "-c", "echo 100 "
             ">/proc/sys/net/ipv4/neigh/host0/mcast_solicit")
    b.ns.ip("addr", "del", b.address + "/24", "dev", "host0")
    r = Receiver(b, 3)
    s = Sender(a, b, 3)
    slc.wait_for(lambda: s.n and time.monotonic() - s.began > 0.5,
                 "the sender waits")
    b.ns.ip("addr", "add", b.address + "/24", "dev", "host0")
    before = s.n
    slc.wait_for(lambda: s.n > before + 1000, "the sender goes on")
    n = s.end()
    r.end(n)
    assert (r.n, r.wrong) == (n, []), (r.n, n, r.wrong)


@slc.test("TCP that is paused for seconds is held back, and loses nothing")
def _(t):
    a, b = pair(t)
    total = 6 << 20
    listener = b.socket(socket.SOCK_STREAM)
    listener.bind(("", PORT))
    listener.listen()
    s = a.socket(socket.SOCK_STREAM, 3)
    s.settimeout(60)
    s.connect((b.address, PORT))
    r, _ = listener.accept()
    block = os.urandom(1 << 16)
    state = {"sent": 0}

    def send():
        while state["sent"] < total:
            s.sendall(block)
            state["sent"] += len(block)
        s.shutdown(socket.SHUT_WR)
    sender = threading.Thread(target=send, daemon=True)
    got, size = hashlib.sha256(), 0
    sender.start()
    r.settimeout(60)
    while True:
        data = r.recv(1 << 16)
        if not data:
            break
        got.update(data)
        if size < total // 4 <= size + len(data):
            b.d.rpc("drill.storm", port="eth0", priorities=[3],
                    duration_ms=int(PAUSE_S * 1000))
        size += len(data)
    sender.join(30)
    want = hashlib.sha256()
    for _ in range(state["sent"] // len(block)):
        want.update(block)
    assert size == state["sent"] and got.digest() == want.digest()
    for x in (s, r, listener):
        x.close()
    assert a.d.rpc("pfc.counters", port="eth0")[0]["rx"]["xoff"][3] > 0
    for host in (a, b):
        lost = {k: n for k, n in host.drops().items() if k[1] != "no-port"}
        assert not lost, lost


@slc.test("what cannot be made lossless is counted, and the doctor says so")
def _(t):
    a, b = pair(t)
    # A socket that is not read.
    s = b.socket(socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.bind(("", PORT))
    tx = a.socket(socket.SOCK_DGRAM, 3)
    for n in range(200):
        tx.sendto(b"x" * PAYLOAD, (b.address, PORT))

    def findings(host, term):
        return [f for x in host.doctor().values() for f in x["findings"]
                if f["term"] == term]
    slc.wait_for(lambda: findings(b, "sockets"), "the doctor of b knows")
    assert "find their socket full" in findings(b, "sockets")[0]["message"] \
        .replace("found", "find")
    s.close()
    tx.close()
    # Frames that go round the queueing discipline, while the class is held.
    with a.ns.entered():
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    raw.setsockopt(263, 20, 1)  # SOL_PACKET, PACKET_QDISC_BYPASS
    raw.bind(("host0", 0))
    a.d.rpc("port.set", name="host0", ring_bytes=65536)  # 32 frames
    with slc.stopped(a.d.pid):  # so that the queue is full
        for n in range(100):
            with contextlib.suppress(OSError):
                raw.send(b"\x02\0\0\0\0\x02" + b"\x02\0\0\0\0\x01" +
                         b"\x88\xb5" + bytes(60))
    raw.close()
    slc.wait_for(lambda: a.drops().get(("host0", "kernel-ring")),
                 "the loss is counted")
    slc.wait_for(lambda: findings(a, "violations"), "the doctor of a knows")
    # Somebody takes the queueing discipline away.
    a.ns.run("tc", "qdisc", "del", "dev", "host0", "root")

    def missed():  # how late a hold was is another finding, of the machine
        return [f for f in findings(a, "backpressure")
                if "any more" in f["message"]]
    slc.wait_for(missed, "the doctor misses it")
    a.d.rpc("port.set", name="host0", backpressure=False)
    a.d.rpc("port.set", name="host0", backpressure=True)
    slc.wait_for(lambda: not missed(), "it is there again")


@slc.test("a host stays what it was made; its uplink may come later; it ends "
          "without a trace")
def _(t):
    ns = t.enter_context(slc.Netns("late"))
    d = t.enter_context(slc.Daemon(ns, args=[
        "--host", uplink() + ",rate=" + RATE]))
    assert d.rpc("port.show", name="eth0")["state"] == "absent"
    d.rpc("pfc.set", port="host0", enable=[4])
    ns.veth("eth0", "peer")
    slc.wait_for(lambda: d.rpc("port.show", name="eth0")["state"] == "up",
                 "the uplink is taken")
    out = ns.run("tc", "qdisc", "show", "dev", "host0").stdout
    assert "htb" in out and out.count("tbf") == 8, out
    d.restart()
    assert d.rpc("port.show", name="host0")["pfc"]["priorities"] == [3, 4]
    d.stop()
    assert not ns.exists("host0")


@slc.test("the uplink is of the type that --host says: auto is AF_XDP, or else "
          "afpacket and why, once; afxdp where it cannot be is absent and why")
def _(t):
    if "afxdp" not in slc.features():
        raise slc.Skip("AF_XDP is not built in")
    for kind, name, state, key, word in (
            ("afxdp", "veth", "up", "xdp_mode", "native"),
            ("auto", "veth", "up", "xdp_mode", "native"),
            ("auto", "ifb", "up", "fallback", "no native XDP"),
            ("afxdp", "ifb", "absent", "refusal", "no native XDP")):
        ns = t.enter_context(slc.Netns("type"))
        ns.ip("link", "add", "eth0", "type", name)
        d = t.enter_context(slc.Daemon(ns, args=[
            "--host", "eth0,type=%s,rate=%s" % (kind, RATE)]))
        if name == "veth":
            ns.ip("link", "set", "veth0", "up")
        slc.wait_for(lambda: d.rpc("port.show", name="eth0")["state"] == state,
                     "the uplink is " + state)
        shown = d.rpc("port.show", name="eth0")
        assert shown["type"] == kind and word in shown[key], shown
        if word != "native":
            assert d.log().count(word) == 1, d.log()
        assert d.rpc("port.show", name="host0")["type"] == "tap"


@slc.test("wrong words after --host are refused with what is allowed")
def _(t):
    for text, word in (
            ("eth0,rate=fast", "rate \"fast\": allowed are 1K to 400G"),
            ("eth0,type=tap", "type \"tap\": allowed are afpacket, afxdp, auto"),
            ("eth0,colour=red", "key \"colour\": allowed are tap, rate"),
            ("eth0,pfc=8", "pfc \"8\": allowed are priorities 0 to 7"),
            ("eth0,trust=me", "trust \"me\": allowed are dscp, pcp"),
            ("eth0,tap=eth0", "tap \"eth0\""),
            ("eth0,tap=this-is-far-too-long", "tap \"this-is"),
            (",rate=1G", "interface")):
        with slc.tmpdir() as path:
            p = slc.run(slc.program("sluiced"), "--host", text, "--database",
                        os.path.join(path, "db"), "--socket",
                        os.path.join(path, "sock"), check=False)
            assert p.returncode == 2 and word in p.stderr, (text, p.stderr)
            assert os.listdir(path) == [], os.listdir(path)
    with slc.tmpdir() as path:
        d = t.enter_context(slc.Netns("x"))
        with slc.Daemon(d) as daemon:
            daemon.rpc("bridge.add", name="br0")
            for params, words in (
                    (dict(type="tap"), "rate"),
                    (dict(type="mem", rate_bps=10 ** 9), "tap")):
                try:
                    daemon.rpc("port.add", bridge="br0", name="x",
                               backpressure=True, **params)
                    raise AssertionError("was taken")
                except slc.RpcError as e:
                    assert "backpressure" in e.message and \
                        words in e.message, e


slc.main(root=True, needs=["ip", "tc"])
