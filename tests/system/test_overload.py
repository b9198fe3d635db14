#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A switch that cannot keep up: what is lossless is paused before the kernel
drops it.  The switch is made slow (SLUICE_TEST_TURN_US), and what it gets not
much faster, so that it does not matter how busy the machine is."""
import json
import os
import socket
import struct
import subprocess
import threading

import slc

# What a turn takes at least, in which the switch forwards 32 frames at most:
# 1,280 a second.  At its rate the sender has four times as many.
TURN_US = "25000"
RATE = "4M"
SIZE = 100
# The peer is paused when a quarter of it is full.  What it sends in 600 ms goes
# into the rest, although the switch may not run, or be heard, meanwhile.
RING = "8M"
# Of the stations, and of the port to the receiver: no bottleneck.
WIDE = "100M"
LARGE_RING = "32M"


class Slow:
    """h1 -- p1, switch, p2 -- h2; p1 and p2 of these types."""

    def __init__(self, t, kinds):
        self.sw = t.enter_context(slc.Netns("slow"))
        self.h1 = t.enter_context(slc.Netns("h1"))
        self.h2 = t.enter_context(slc.Netns("h2"))
        self.sw.veth("p1", "e1", self.h1, mtu=1500)
        self.sw.veth("p2", "e2", self.h2, mtu=1500)
        os.environ["SLUICE_TEST_TURN_US"] = TURN_US
        try:
            self.d = t.enter_context(slc.Daemon(self.sw))
        finally:
            del os.environ["SLUICE_TEST_TURN_US"]
        self.d.rpc("bridge.add", name="br0")
        for port, kind, rate, ring in zip(("p1", "p2"), kinds, (RATE, WIDE),
                                          (RING, 0)):
            self.d.rpc("port.add", bridge="br0", name=port, type=kind,
                       rate_bps=rate, ring_bytes=ring,
                       pfc={"priorities": [3]})

    def probe(self, ns, ifname, rate, *words):
        return ns.popen(slc.program("sluice-probe"), "-i", ifname, "--json",
                        "--rate", rate, "--ring", LARGE_RING, "--pfc", "3",
                        *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, text=True)

    def load(self, is_enough, what, *prios):
        """Frames of each priority at the highest rate until it is enough: what
        was sent, and what the far end says of each."""
        far = self.probe(self.h2, "e2", WIDE, "-d", "120s", "--expect",
                         str(len(prios)), "--idle", "5s", "--barrier",
                         "receive")
        assert far.stderr.readline() == "ready\n"
        far.stdin.write("go\n")  # it listens before the first frame
        far.stdin.flush()
        mac = ":".join("%02x" % o for o in self.h2.mac("e2"))
        flows = [w for p in prios
                 for w in ("-f", "prio=%d,dst=%s,size=%d" % (p, mac, SIZE))]
        near = self.probe(self.h1, "e1", RATE, "-d", "60s", *flows, "send")
        slc.wait_for(is_enough, what, 50)
        near.terminate()  # it still says what it sent
        sent = json.loads(near.communicate(timeout=60)[0])
        got = json.loads(far.communicate(timeout=130)[0])
        return sent, got

    def stats(self, port):
        return self.d.rpc("stats.show", port=port)[0]["netdev"]

    def told(self, port):
        """What the doctor says of overload."""
        return [f["message"] for row in self.d.rpc("doctor.show", port=port)
                for f in row["findings"] if f["term"] == "overload"]


def of_prio(rows, prio):
    row, = (r for r in rows if r["prio"] == prio)
    return row


def lossless_alone(s):
    sent, got = s.load(lambda: s.stats("p1")["n_ring_pauses"] >= 2,
                       "the ring has paused the peer twice", 3)
    nd = s.stats("p1")
    flow, = got["received"]["flows"]
    n = sent["sent"]["frames"]
    slc.diag("%d frames, paused for %.0f ms, %d ring pauses, peak %d of %d"
             % (n, sent["pfc"]["rx"]["paused_ns"][3] / 1e6,
                nd["n_ring_pauses"], nd["ring_peak"], nd["n_ring_slots"]))
    assert flow["received"] == n and flow["lost"] == 0, (
        n, flow, got["kernel"], sent["kernel"], s.stats("p1"), s.stats("p2"))
    assert flow["reordered"] == 0 and flow["duplicated"] == 0, flow
    assert nd["rx_ring_drops"] == 0 and nd["rx_backlog_drops"] == 0, nd
    assert sent["pfc"]["rx"]["paused_ns"][3] > 0, sent["pfc"]
    message, = s.told("p1")
    assert message.startswith("%d times" % nd["n_ring_pauses"]), message
    s.d.rpc("stats.clear", port="p1")
    assert not s.told("p1"), s.told("p1")


def lossy_beside(s):
    """A lossy class fills the ring to the brim, and loses; the lossless one
    waits meanwhile."""
    sent, got = s.load(lambda: s.stats("p1")["rx_ring_drops"] > 0,
                       "the ring is full", 3, 0)
    nd = s.stats("p1")
    rows = {p: of_prio(got["received"]["flows"], p) for p in (3, 0)}
    n = {p: of_prio(sent["sent"]["flows"], p)["sent"] for p in (3, 0)}
    slc.diag("beside each other: %d of %d lossless, %d of %d lossy"
             % (rows[3]["received"], n[3], rows[0]["received"], n[0]))
    assert rows[3]["received"] == n[3] and rows[3]["lost"] == 0, (n, rows, nd)
    assert rows[3]["reordered"] == 0 and rows[3]["duplicated"] == 0, rows
    assert nd["rx_ring_drops"] > 0, nd
    assert rows[0]["received"] < n[0], (n, rows)


def overload(t, *kinds):
    if "afxdp" in kinds and "afxdp" not in slc.run(
            slc.program("sluiced"), "--version").stdout:
        raise slc.Skip("AF_XDP is not built in")
    s = Slow(t, kinds)
    lossless_alone(s)
    lossy_beside(s)


@slc.test("afpacket: a switch that cannot keep up loses nothing lossless")
def _(t):
    overload(t, "afpacket", "afpacket")


@slc.test("afxdp: a switch that cannot keep up loses nothing lossless")
def _(t):
    overload(t, "afxdp", "afxdp")


@slc.test("mixed: a switch that cannot keep up loses nothing lossless")
def _(t):
    overload(t, "afxdp", "afpacket")
    overload(t, "afpacket", "afxdp")


def run_ns(pid, comm):
    """How long the thread of that name has been on a processor."""
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/comm" % (pid, tid)) as f:
            name = f.read().strip()
        if name == comm:
            with open("/proc/%d/task/%s/schedstat" % (pid, tid)) as f:
                return int(f.read().split()[0])
    raise AssertionError("no thread %s" % comm)


@slc.test("--fifo: the kernel's 5 % of a processor do not come out of what is "
          "lossless")
def _(t):
    """What it takes from a real-time thread that gives nothing is 50 ms of a
    second: several times what this ring holds."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise slc.Skip("one processor")
    sw = t.enter_context(slc.Netns("fifo"))
    h1 = t.enter_context(slc.Netns("h1"))
    h2 = t.enter_context(slc.Netns("h2"))
    sw.veth("p1", "e1", h1)
    sw.veth("p2", "e2", h2)
    d = t.enter_context(slc.Daemon(sw, args=(
        "--fifo", "br0=1", "--cpu", "br0=%d" % cpus[1])))
    d.rpc("bridge.add", name="br0")
    for port in "p1", "p2":
        d.rpc("port.add", bridge="br0", name=port, ring_bytes="16M",
              pfc={"priorities": [3]})
    probe = ("taskset", "-c", str(cpus[0]), slc.program("sluice-probe"),
             "--json", "--ring", "64M", "--pfc", "3")
    far = h2.popen(*probe, "-i", "e2", "-d", "30s", "--expect", "1", "--idle",
                   "3s", "--barrier", "receive", stdin=subprocess.PIPE,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert far.stderr.readline() == "ready\n"
    far.stdin.write("go\n")
    far.stdin.flush()
    mac = ":".join("%02x" % o for o in h2.mac("e2"))
    before = run_ns(d.pid, "dp-br0")
    sent = json.loads(h1.run(*probe, "-i", "e1", "-d", "3s", "--drain", "10s",
                             "-f", "prio=3,dst=%s,size=64" % mac,
                             "send").stdout)
    share = (run_ns(d.pid, "dp-br0") - before) / 3e9
    got = json.loads(far.communicate(timeout=60)[0])
    flow, = got["received"]["flows"]
    n = sent["sent"]["frames"]
    slc.diag("%d frames, on a processor for %.0f %% of the time"
             % (n, 100 * share))
    nd = d.rpc("stats.show", port="p1")[0]["netdev"]
    assert flow["received"] == n and flow["lost"] == 0, (n, flow, nd)
    if share < 0.85:
        raise slc.Skip("the switch was not short of processor time")


class Datagrams:
    """Numbered datagrams of the switch's own host, from a blocking socket, to
    one at e2, until it is enough."""

    def __init__(self, t, s, prio):
        self.to = ("192.0.2.2", 5000 + prio)
        self.wrong, self.sent, self.n = [], 0, 0
        with s.h2.entered():
            self.far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        t.callback(self.far.close)
        self.far.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # RCVBUFFORCE
        self.far.bind(("", self.to[1]))
        with s.sw.entered():
            self.near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        t.callback(self.near.close)
        self.near.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, prio << 5)
        threading.Thread(target=self.read, daemon=True).start()

    def send(self):
        for _ in range(64):
            self.near.sendto(struct.pack("!I", self.sent) + b"x" * 60, self.to)
            self.sent += 1

    def send_until(self, is_enough, what):
        slc.wait_for(lambda: self.send() or is_enough(), what, 60, step=0)

    def read(self):
        while True:
            try:
                data = self.far.recv(2048)
            except OSError:
                return  # closed
            seq, = struct.unpack("!I", data[:4])
            if seq != self.n and len(self.wrong) < 5:
                self.wrong.append((self.n, seq))
            self.n += 1


@slc.test("tap: a switch that cannot keep up holds its host, and loses "
          "nothing lossless")
def _(t):
    s = Slow(t, ("afpacket", "afpacket"))
    s.d.rpc("map.set", bridge="br0", trust="dscp")
    s.d.rpc("port.add", bridge="br0", name="slct0", type="tap", rate_bps=RATE,
            ring_bytes=RING, backpressure=True, pfc={"priorities": [3]})
    s.sw.ip("addr", "add", "192.0.2.1/24", "dev", "slct0")
    s.h2.ip("addr", "add", "192.0.2.2/24", "dev", "e2")
    for ns, dev, at, far in ((s.sw, "slct0", "192.0.2.2", s.h2.mac("e2")),
                             (s.h2, "e2", "192.0.2.1", s.sw.mac("slct0"))):
        ns.ip("neigh", "replace", at, "dev", dev, "lladdr",
              ":".join("%02x" % o for o in far))

    def is_held():
        nd = s.stats("slct0")
        return nd["n_ring_pauses"] >= 2 and nd["n_holds"] >= 2

    def kernel_drops():
        with s.sw.entered():
            with open("/proc/thread-self/net/dev") as f:
                words, = (x.split() for x in f if "slct0:" in x)
        return int(words[12])
    got = Datagrams(t, s, 3)
    got.send_until(is_held, "the host was held twice")
    slc.wait_for(lambda: got.n + kernel_drops() >= got.sent,
                 lambda: "%d of %d datagrams: %s, %s" % (
                     got.n, got.sent, s.stats("slct0"), s.stats("p2")), 60)
    nd = s.stats("slct0")
    slc.diag("%d datagrams, %d ring pauses, %d holds, %d slots" % (
        got.sent, nd["n_ring_pauses"], nd["n_holds"], nd["n_ring_slots"]))
    assert got.n == got.sent and not got.wrong, (got.n, got.sent, got.wrong,
                                                 nd)
    assert nd["rx_ring_drops"] == 0 and nd["rx_backlog_drops"] == 0, nd
    assert kernel_drops() == 0
    assert "TAP" in s.told("slct0")[0], s.told("slct0")
    # The same load without the promise overruns the switch.
    got = Datagrams(t, s, 0)
    got.send_until(lambda: s.stats("slct0")["rx_ring_drops"] > 0,
                   "what is not lossless overruns the queue")
    slc.diag("lossy: %d of %d lost in the queue" % (
        s.stats("slct0")["rx_ring_drops"], got.sent))


slc.main(root=True, needs=["ip"])
