#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sluicectl port attach and detach: namespaces wired to a bridge, all or
nothing."""
import json
import os

import slc


class Lab:
    """A daemon with a bridge, and a namespace that is not wired."""

    def __init__(self, t):
        self.sw = t.enter_context(slc.Netns("sw"))
        self.far = t.enter_context(slc.Netns("far"))
        self.daemon = t.enter_context(slc.Daemon(self.sw))
        self.daemon.rpc("bridge.add", name="br0")

    def ctl(self, *words, check=True):
        if words[:2] == ("port", "attach") and "type" not in words:
            # Nothing is said of the type that is the default.
            name = dict(zip(words[5::2], words[6::2])).get("port", "p0")
            kind = slc.port_type(name)
            words += ("type", kind) if kind != "afpacket" else ()
        return self.sw.run(slc.program("sluicectl"), "--socket",
                           self.daemon.socket, *words, check=check)

    def links(self, ns):
        return {x["ifname"]: x for x in json.loads(
            ns.ip("-j", "-d", "addr").stdout)
            if x["ifname"] not in ("lo", "br0")}

    def refused(self, status, word, *words):
        """An error that has a word; nothing was made, here or there."""
        before = self.links(self.sw), self.links(self.far)
        p = self.ctl(*words, check=False)
        assert p.returncode == status, (p.returncode, p.stderr)
        assert word in p.stderr, p.stderr
        after = self.links(self.sw), self.links(self.far)
        assert before[0].keys() == after[0].keys(), after[0].keys()
        assert before[1].keys() == after[1].keys(), after[1].keys()


@slc.test("a namespace gets an interface as it was asked for, and frames go")
def _(t):
    lab = Lab(t)
    out = lab.ctl("port", "attach", "br0", lab.far.name, "eth0", "port", "p1",
                  "mac", "02:00:00:00:00:31", "mtu", "1400", "address",
                  "10.0.0.1/24", "rate", "100M", "pfc", "3").stdout
    assert out == "p1\n", out
    got = lab.links(lab.far)["eth0"]
    assert got["address"] == "02:00:00:00:00:31" and got["mtu"] == 1400
    assert [(a["local"], a["prefixlen"]) for a in got["addr_info"]
            if a["family"] == "inet"] == [("10.0.0.1", 24)], got
    assert lab.links(lab.sw)["p1"]["mtu"] == 1400
    port = lab.daemon.rpc("port.show", name="p1")
    assert port["configured_rate_bps"] == 10**8
    assert port["pfc"]["priorities"] == [3]
    slc.wait_for(lambda: lab.daemon.rpc("port.show", name="p1")["state"] ==
                 "up", "the port is up")
    other = t.enter_context(slc.Netns("other"))
    lab.ctl("port", "attach", "br0", other.name, "eth0", "port", "p2",
            "address", "10.0.0.2/24")
    slc.wait_for(lambda: lab.daemon.rpc("port.show", name="p2")["state"] ==
                 "up", "the port is up")
    a = t.enter_context(slc.Raw(lab.far, "eth0"))
    b = t.enter_context(slc.Raw(other, "eth0"))
    data = slc.frame(slc.BROADCAST, a.mac, b"attached", size=60)
    a.send(data)
    assert b.recv_match(lambda x: x == data), "no frame came through"


@slc.test("detach undoes it, and touches nothing that attach did not make")
def _(t):
    lab = Lab(t)
    lab.ctl("port", "attach", "br0", lab.far.name, "eth0", "port", "p1")
    lab.ctl("port", "detach", "p1")
    assert not lab.links(lab.sw) and not lab.links(lab.far)
    assert lab.daemon.rpc("port.list") == []
    lab.sw.veth("p2", "q2")
    lab.ctl("port", "add", "br0", "p2")
    lab.refused(1, "not made by port attach", "port", "detach", "p2")
    assert len(lab.daemon.rpc("port.list")) == 1
    lab.refused(1, "'nobody' is not here", "port", "detach", "nobody")


@slc.test("a process is attached by its pid")
def _(t):
    lab = Lab(t)
    p = lab.far.popen("sleep", "60")
    slc.wait_for(lambda: slc.run("readlink", "/proc/%d/ns/net" % p.pid).stdout
                 != slc.run("readlink", "/proc/self/ns/net").stdout,
                 "it is in its namespace")
    lab.ctl("port", "attach", "br0", str(p.pid), "eth7", "port", "p1")
    assert "eth7" in lab.links(lab.far)


@slc.test("it need not run in the network namespace of the daemon")
def _(t):
    lab = Lab(t)

    def ctl(*words):
        return slc.run(slc.program("sluicectl"), "--socket",
                       lab.daemon.socket, *words)
    mine = set(os.listdir("/sys/class/net"))
    ctl("port", "attach", "br0", lab.far.name, "eth0", "port", "slcattach1")
    assert "eth0" in lab.links(lab.far) and "slcattach1" in lab.links(lab.sw)
    assert "slcattach1" not in set(os.listdir("/sys/class/net")) - mine
    slc.wait_for(lambda: lab.daemon.rpc(
        "port.show", name="slcattach1")["state"] == "up", "the port is up")
    ctl("port", "detach", "slcattach1")
    assert not lab.links(lab.sw) and not lab.links(lab.far)


@slc.test("the name of the port is made of both names, cut the same way")
def _(t):
    lab = Lab(t)
    name = lab.ctl("port", "attach", "br0", lab.far.name,
                   "eth0").stdout.strip()
    assert len(name) == 15 and name.startswith("slc"), name
    lab.ctl("port", "detach", name)
    again = lab.ctl("port", "attach", "br0", lab.far.name, "eth0").stdout
    assert again.strip() == name
    other = lab.ctl("port", "attach", "br0", lab.far.name,
                    "eth1").stdout.strip()
    assert len(other) == 15 and other != name, other


@slc.test("the port is of the type that was asked for; what AF_XDP cannot do is "
          "refused, and nothing is left; auto is afpacket then, and says why")
def _(t):
    if "afxdp" not in slc.features():
        raise slc.Skip("AF_XDP is not built in")
    lab = Lab(t)

    def attach(bridge, name, kind):
        return ("port", "attach", bridge, lab.far.name, name, "port", name,
                "mtu", "9000", "type", kind)
    lab.refused(2, "'tap' is no type; allowed: afpacket, afxdp, auto",
                *attach("br0", "p1", "tap"))
    for kind in ("afxdp", "auto"):
        lab.ctl(*attach("br0", kind, kind))
        shown = lab.daemon.rpc("port.show", name=kind)
        assert shown["type"] == kind and shown["xdp_mode"] == "native", shown
    # The receive rings of a bridge's AF_XDP ports have as much room as its
    # memory.
    lab.daemon.rpc("bridge.add", name="br1", memory_bytes=1 << 20)
    for n in range(64):
        words = attach("br1", "q%d" % n, "afxdp")
        if lab.ctl(*words, check=False).returncode:
            break
    assert 0 < n < 63, n
    lab.refused(1, "make the memory larger or rings smaller", *words)
    lab.ctl(*attach("br1", "last", "auto"))
    shown = lab.daemon.rpc("port.show", name="last")
    assert shown["provider"] == "afpacket", shown
    assert "make the memory larger" in shown["fallback"], shown
    said = [x for x in lab.daemon.log().split("\n") if "port last:" in x]
    assert len(said) == 1 and shown["fallback"] in said[0], said


@slc.test("what cannot be is refused, and nothing is left")
def _(t):
    lab = Lab(t)
    lab.far.veth("taken", "taken2")
    lab.sw.veth("here", "here2")
    far = lab.far.name

    def refused(status, word, *words):
        lab.refused(status, word, "port", "attach", *words)
    refused(1, "'slc-nobody' is no running container", "br0", "slc-nobody",
            "eth0")
    refused(1, "'4194304' is no running", "br0", "4194304", "eth0")
    refused(1, "\"taken\" there", "br0", far, "taken", "port", "p1")
    refused(1, "\"here\" here", "br0", far, "eth0", "port", "here")
    refused(1, "br9", "br9", far, "eth0", "port", "p1")
    refused(1, "10.0.0", "br0", far, "eth0", "port", "p1", "address",
            "10.0.0.300")
    for name in ("n" * 16, "e/1", "e 1", "."):
        refused(2, "is no name for an interface", "br0", far, name, "port",
                "p1")
        refused(2, "is no name for an interface", "br0", far, "eth0", "port",
                name)
    refused(2, "mac", "br0", far, "eth0", "mac", "01:00:00:00:00:01")
    refused(2, "mac", "br0", far, "eth0", "mac", "hello")
    refused(2, "mtu", "br0", far, "eth0", "mtu", "10")
    lab.ctl("port", "attach", "br0", far, "eth0", "port", "p1")
    refused(1, "p1", "br0", far, "eth1", "port", "p1")
    lab.daemon.stop()
    refused(3, "", "br0", far, "eth1", "port", "p3")


slc.main(root=True, needs=["ip"])
