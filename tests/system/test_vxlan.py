#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A link over VXLAN, as between two machines, carries PFC frames: two switches
in two namespaces, nothing but an IP network between them, and congested
lossless traffic over it."""
import json
import subprocess

import slc

SINK = "02:00:00:00:00:07"


class Machine:
    """A namespace with a switch, a host, and an interface to the other
    machine."""

    def __init__(self, t, name, address, remote):
        self.ns = t.enter_context(slc.Netns(name))
        self.host = t.enter_context(slc.Netns(name + "-host"))
        self.ns.veth("host", "eth0", self.host)
        self.address, self.remote = address, remote
        self.stack = t

    def link(self):
        p = self.ns.ip("link", "add", "vx7", "type", "vxlan", "id", "7",
                       "local", self.address, "remote", self.remote,
                       "dstport", "4789", check=False)
        if p.returncode:
            raise slc.Skip("no VXLAN here: %s" % p.stderr.strip())
        self.ns.ip("link", "set", "vx7", "mtu", "1500", "up")

    def start(self, host_rate, kind):
        self.daemon = self.stack.enter_context(slc.Daemon(self.ns))

        def port(rate):
            return {"type": kind, "rate_bps": rate,
                    "ring_bytes": 8 << 20, "pfc": {"priorities": [3]},
                    "groups": {"3": {"xoff_bytes": 65536, "xon_bytes": 32768,
                                     "headroom": 8 << 20}}}
        self.daemon.rpc("config.apply", config={"bridges": {"br0": {"ports": {
            "host": port(host_rate), "vx7": port(100 * 10**6)}}}})
        slc.wait_for(lambda: all(p["state"] == "up" for p in
                                 self.daemon.rpc("port.list")), "ports up")


def machines(t):
    """Two of them with the link between."""
    a = Machine(t, "a", "192.0.2.1", "192.0.2.2")
    b = Machine(t, "b", "192.0.2.2", "192.0.2.1")
    a.ns.veth("under", "under", b.ns, mtu=1600)
    for m in (a, b):
        m.ns.ip("addr", "add", m.address + "/24", "dev", "under")
        m.link()
    return a, b


def carries(t, kind):
    """Lossless traffic over the link, with ports of that type."""
    a, b = machines(t)
    b.host.ip("link", "set", "eth0", "address", SINK)
    a.start(100 * 10**6, kind)
    b.start(20 * 10**6, kind)
    probe = slc.program("sluice-probe")
    b.host.run(probe, "--iface", "eth0", "send", "--flow",
               "prio=0,count=1,size=60,dst=broadcast")
    slc.wait_for(lambda: SINK in [e["mac"] for e in a.daemon.rpc(
        "mac.list", bridge="br0")["entries"]], "a knows where the sink is")

    def start(m, *words):
        p = m.host.popen(probe, "--iface", "eth0", "--json", "--barrier",
                         "--hold", "--pfc", "3", *words,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
        assert p.stderr.readline() == "ready\n"
        return p
    sink = start(b, "receive", "--rate", "20M", "--ring", "8M", "--duration",
                 "2s")
    source = start(a, "send", "--rate", "100M", "--duration", "2s", "--drain",
                   "10s", "--flow", "prio=3,rate=80M,count=4000,at=300ms,"
                   "for=10s,dst=" + SINK)
    for p in (sink, source):
        p.stdin.write("go\n")
        p.stdin.flush()

    def through():
        q = b.daemon.rpc("stats.show", port="host")[0]["queues"][3]
        return q["tx_frames"] >= 4000
    slc.wait_for(through, "4000 frames left for the sink", 30, 0.1)
    slc.wait_for(lambda: not any(p["paused"] or p["pausing"] for m in (a, b)
                                 for p in m.daemon.rpc("pfc.show")),
                 "no one is paused any more")
    sent = json.loads(source.communicate(timeout=20)[0])["sent"]
    got = json.loads(sink.communicate(timeout=20)[0])["received"]["flows"][0]
    assert sent["frames"] == got["received"] == 4000, (sent, got)
    assert not got["lost"] and not got["reordered"], got

    def told():
        return b.daemon.rpc("pfc.counters", port="vx7")[0]["tx"]

    def heard():
        return a.daemon.rpc("pfc.counters", port="vx7")[0]["rx"]
    assert told()["xoff"][3] > 0, "nothing was congested"
    slc.wait_for(lambda: told()["pfc"][3] == heard()["pfc"][3],
                 lambda: "all that was told is heard: %s, %s" % (told(),
                                                                 heard()))
    for m in (a, b):
        assert all(x["ok"] for x in m.daemon.rpc("audit.show"))
        for p in m.daemon.rpc("stats.show"):
            assert not sum(p["violations"]), p
    return a, b


@slc.test("a VXLAN link between two machines carries PFC, and loses nothing")
def _(t):
    carries(t, "afpacket")


def need_afxdp():
    if "afxdp" not in slc.features():
        raise slc.Skip("AF_XDP is not built in")


@slc.test("so it does with ports of type auto: AF_XDP to the host, and afpacket "
          "on the VXLAN interface, whose driver has no XDP")
def _(t):
    need_afxdp()
    for m in carries(t, "auto"):
        host, link = (m.daemon.rpc("port.show", name=n)
                      for n in ("host", "vx7"))
        assert host["xdp_mode"] == "native", host
        assert link["provider"] == "afpacket", link
        assert "no native XDP" in link["fallback"], link
        said = [x for x in m.daemon.log().split("\n")
                if "AF_XDP is not possible" in x]
        assert len(said) == 1 and "port vx7: afpacket" in said[0] and \
            link["fallback"] in said[0], said


@slc.test("type afxdp is refused for a VXLAN interface, and changes nothing")
def _(t):
    need_afxdp()
    m = machines(t)[0]
    d = t.enter_context(slc.Daemon(m.ns))
    d.rpc("bridge.add", name="br0")
    before = d.rpc("config.export"), m.ns.ip("-d", "link", "show", "vx7").stdout
    for call in (lambda: d.rpc("port.add", bridge="br0", name="vx7",
                               type="afxdp"),
                 lambda: d.rpc("config.apply", config={"bridges": {"br0": {
                     "ports": {"vx7": {"type": "afxdp"}}}}})):
        try:
            call()
            raise AssertionError("it was taken")
        except slc.RpcError as e:
            for word in ("vx7", "no native XDP", "use type afpacket"):
                assert word in e.message, e
        assert before == (d.rpc("config.export"), m.ns.ip(
            "-d", "link", "show", "vx7").stdout)


slc.main(root=True, needs=["ip"])
