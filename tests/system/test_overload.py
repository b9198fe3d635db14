#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A switch that cannot keep up: what is lossless is paused before the kernel
drops it.  The switch is made slow (SLUICE_TEST_TURN_US: what a turn takes at
least), so that it forwards some 30,000 frames a second whatever the machine;
the sender sends as fast as it can, and honours PFC."""
import json
import os
import subprocess

import slc

TURN_US = "1000"
# A pause lasts a third of a second, and the ring holds 50 ms of frames beyond
# the point at which the peer is paused: a machine may be as busy as that.
RATE = "100M"
RING = "24M"


class Slow:
    """h1 -- p1, switch, p2 -- h2; p1 and p2 of one type."""

    def __init__(self, t, kind):
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
        for port in ("p1", "p2"):
            self.d.rpc("port.add", bridge="br0", name=port, type=kind,
                       rate_bps=RATE, ring_bytes=RING if port == "p1" else 0,
                       pfc={"priorities": [3]})

    def probe(self, ns, ifname, *words):
        return ns.popen(slc.program("sluice-probe"), "-i", ifname, "--json",
                        "--rate", RATE, "--pfc", "3", *words,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, text=True)

    def load(self, prio):
        """Frames of a priority at the highest rate for a second: what was
        sent, and what the far end says of the flow."""
        far = self.probe(self.h2, "e2", "-d", "20s", "--expect", "1",
                         "--idle", "3s", "--barrier", "receive")
        assert far.stderr.readline() == "ready\n"
        far.stdin.write("go\n")  # it listens before the first frame
        far.stdin.flush()
        mac = ":".join("%02x" % o for o in self.h2.mac("e2"))
        near = self.probe(
            self.h1, "e1", "-d", "1s", "--drain", "10s", "-f",
            "prio=%d,dst=%s,size=100" % (prio, mac), "send")
        sent = json.loads(near.communicate(timeout=60)[0])
        got = json.loads(far.communicate(timeout=60)[0])
        return sent, got

    def stats(self, port):
        return self.d.rpc("stats.show", port=port)[0]["netdev"]


def overload(t, kind):
    s = Slow(t, kind)
    sent, got = s.load(3)
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
    # It was the ring that paused the peer: no group had too much.
    assert nd["n_ring_pauses"] > 0, nd
    assert sent["pfc"]["rx"]["paused_ns"][3] > 0, sent["pfc"]
    # The same load without the promise overruns the switch.
    sent, got = s.load(0)
    nd = s.stats("p1")
    slc.diag("lossy: %d of %d frames lost in the ring"
             % (nd["rx_ring_drops"], sent["sent"]["frames"]))
    assert nd["rx_ring_drops"] > 0, nd


@slc.test("afpacket: a switch that cannot keep up loses nothing lossless")
def _(t):
    overload(t, "afpacket")


@slc.test("afxdp: a switch that cannot keep up loses nothing lossless")
def _(t):
    if "afxdp" not in slc.run(slc.program("sluiced"), "--version").stdout:
        raise slc.Skip("AF_XDP is not built in")
    overload(t, "afxdp")


slc.main(root=True, needs=["ip"])
