#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ovs-ofctl, every command of its that speaks OpenFlow 1.3 or 1.0, against
the management socket of a bridge."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
import of13  # noqa: E402
import slc  # noqa: E402


class Ofctl:
    """ovs-ofctl at one version."""

    def __init__(self, switch, version):
        self.target = "unix:" + switch.management
        self.version = version

    def __call__(self, command, *args, check=True, options=(), stdin=None):
        p = slc.run("ovs-ofctl", "-O", self.version, "--timeout=20", *options,
                    command, self.target, *args, check=check, input=stdin)
        return p.stdout + p.stderr

    def fails(self, command, *args, options=()):
        p = slc.run("ovs-ofctl", "-O", self.version, "--timeout=20", *options,
                    command, self.target, *args, check=False)
        assert p.returncode, p.stdout
        return p.stdout + p.stderr

    def flows(self, *args):
        """Lines of dump-flows without what changes by itself."""
        text = self("dump-flows", *args, options=("--no-stats", "--no-names"))
        return sorted(line.strip() for line in text.splitlines()
                      if "reply" not in line and line.strip())


def has(text, *words):
    for word in words:
        assert word in text, "no %r in:\n%s" % (word, text)


def common(sw, c):
    """What both versions can."""
    has(c("show"), "dpid:", "n_tables:254", "1(p1)", "2(p2)", "LOCAL(br0)")
    has(c("dump-desc"), "Sluice", "br0")
    has(c("dump-tables"), "table 0")
    has(c("dump-ports-desc"), "1(p1)")
    has(c("dump-ports"), "rx pkts=")
    has(c("dump-ports", "1"), "1 ports")
    has(c("dump-ports", "p2"), "1 ports")
    has(c("queue-stats"), "queue 7")
    has(c("queue-stats", "1", "3"), "1 queues", "queue 3")
    has(c("queue-get-config", "1"), "port=1", "queue 7")
    has(c("get-frags"), "normal")
    c("set-frags", "drop")
    has(c("get-frags"), "drop")
    c("set-frags", "normal")
    c("del-flows")
    assert c.flows() == [], c.flows()
    c("add-flow", "priority=7,in_port=1,actions=output:2")
    c("add-flow", "priority=7,in_port=p2,actions=output:p1")
    c("add-flow", "ip,nw_dst=10.0.0.0/8,tcp,tp_dst=80,actions=drop")
    c("add-flow", "arp,cookie=0x5,idle_timeout=60,hard_timeout=90,"
                  "actions=NORMAL")
    assert c.flows("in_port=1") == ["priority=7,in_port=1 actions=output:2"]
    has(c("dump-aggregate"), "flow_count=4")
    has(c("dump-aggregate", "arp"), "flow_count=1")
    c("mod-flows", "in_port=1,actions=drop")
    assert c.flows("in_port=1") == ["priority=7,in_port=1 actions=drop"]
    c("mod-flows", "priority=7,in_port=1,actions=output:2",
      options=("--strict",))
    c("del-flows", "priority=7,in_port=2", options=("--strict",))
    has(c("dump-aggregate"), "flow_count=3")
    c("add-flow", "arp,actions=flood")
    has(c("dump-flows", "arp"), "FLOOD")
    c("del-flows", "arp")
    has(c("dump-aggregate"), "flow_count=2")
    c("probe")
    has(c("ping", "64"), "bytes from")
    has(c("benchmark", "32", "50"), "Finished")


def files(sw, c, d):
    """Flows by file: adding, replacing, diffing, in a bundle or not."""
    name = os.path.join(d, "flows")
    with open(name, "w") as f:
        f.write("# two of them\npriority=10,in_port=1,actions=output:2\n"
                "priority=10,in_port=2,actions=output:1\n")
    c("del-flows")
    c("add-flows", name)
    want = ["priority=10,in_port=1 actions=output:2",
            "priority=10,in_port=2 actions=output:1"]
    assert c.flows() == want, c.flows()
    assert c("diff-flows", name) == ""
    c("add-flow", "priority=11,ip,actions=drop")
    text = c("diff-flows", name, check=False)
    has(text, "-priority=11")
    c("replace-flows", name)
    assert c.flows() == want, c.flows()


def port_mods(sw, c):
    for word, bit in (("down", "PORT_DOWN"), ("no-flood", "NO_FLOOD"),
                      ("no-receive", "NO_RECV"), ("no-forward", "NO_FWD"),
                      ("no-packet-in", "NO_PACKET_IN")):
        if word == "no-flood" and c.version == "OpenFlow13":
            continue  # a bit of 1.0
        opposite = {"down": "up"}.get(word) or word[3:]
        c("mod-port", "p1", word)
        has(c("show"), bit)
        c("mod-port", "1", opposite)
        assert bit not in c("show"), c("show")


def packet_out(sw, c, t):
    """A frame goes out where it is told to, and through a table."""
    h2 = sw.raw(t, 2)
    frame = "0200000000020200000000018888" + "5a" * 46
    c("packet-out", "in_port=controller packet=%s actions=output:2" % frame)
    got = h2.recv_match(lambda f: f.hex() == frame)
    assert got, "no frame"
    c("del-flows")
    c("add-flow", "in_port=1,actions=output:2")
    c("packet-out", "in_port=1 packet=%s actions=table" % frame)
    assert h2.recv_match(lambda f: f.hex() == frame), "no frame by table"


@slc.test("OpenFlow 1.3: statistics, flows, ports, config")
def _(t):
    sw = of13.Switch(t)
    c = Ofctl(sw, "OpenFlow13")
    has("\n".join(c.flows()), "priority=0 actions=NORMAL")
    common(sw, c)
    port_mods(sw, c)
    packet_out(sw, c, t)
    files(sw, c, sw.daemon.dir)
    has(c("dump-table-features"), "table 0", "metadata", "set_field")
    sw.daemon.check_log()


@slc.test("OpenFlow 1.3: tables, groups, meters")
def _(t):
    sw = of13.Switch(t)
    c = Ofctl(sw, "OpenFlow13")
    c("del-flows")
    c("add-flow", "table=0,priority=5,in_port=1,"
                  "actions=write_metadata:0x5/0xff,goto_table:1")
    c.fails("add-flow", "table=1,metadata=5,"
                        "actions=set_field:2->vlan_pcp,output:2")
    c("add-flow", "table=1,vlan_vid=0x1000/0x1000,metadata=5,"
                  "actions=set_field:2->vlan_pcp,output:2")
    has(c("dump-flows", "table=1"), "set_field:2->vlan_pcp,output:2")
    has(c("dump-group-features"), "select group", "fast failover group")
    c("add-group", "group_id=1,type=all,bucket=output:1,bucket=output:2")
    c("add-group", "group_id=2,type=select,bucket=weight:5,output:1,"
                   "bucket=weight:7,output:2")
    c("add-group", "group_id=3,type=indirect,bucket=output:2")
    c("add-group", "group_id=4,type=ff,bucket=watch_port:1,output:1,"
                   "bucket=watch_port:2,output:2")
    has(c("dump-groups"), "group_id=1,type=all", "weight:7",
        "type=ff", "watch_port:1")
    has(c("dump-groups", "group_id=3"), "type=indirect")
    c("mod-group", "group_id=3,type=indirect,bucket=output:1")
    has(c("dump-groups"), "group_id=3,type=indirect,bucket=actions=output:1")
    c("mod-group", "group_id=9,type=indirect,bucket=output:1",
      options=("--may-create",))
    c("add-flow", "priority=9,in_port=2,actions=group:1")
    has(c("dump-group-stats"), "group_id=1", "ref_count=1",
        "bucket0:packet_count")
    has(c("dump-group-stats", "group_id=2"), "group_id=2")
    has(c.fails("add-group", "group_id=1,type=all,bucket=output:1"),
        "OFPGMFC_GROUP_EXISTS")
    c("del-groups", "group_id=1")
    assert "group:1" not in c("dump-flows")
    c("del-groups")
    assert "group_id" not in c("dump-groups")
    has(c("meter-features"), "max_meter", "drop")
    c("add-meter", "meter=1 kbps burst stats band=type=drop rate=1000 "
                   "burst_size=100")
    c("add-meter", "meter=2 pktps band=type=drop rate=50")
    has(c("dump-meters"), "meter=1 kbps burst stats", "rate=1000",
        "burst_size=100", "meter=2 pktps")
    has(c("dump-meter", "meter=2"), "rate=50")
    c("mod-meter", "meter=2 pktps band=type=drop rate=60")
    c("add-flow", "in_port=1,ip,actions=meter:1,output:2")
    has(c("meter-stats"), "meter:1", "flow_count:1")
    has(c("meter-stats", "meter=2"), "meter:2")
    has(c.fails("add-meter", "meter=1 kbps band=type=drop rate=9"),
        "OFPMMFC_METER_EXISTS")
    c("del-meter", "meter=2")
    c("del-meters")
    assert "meter=" not in c("dump-meters")
    sw.daemon.check_log()


@slc.test("OpenFlow 1.3: an enqueue, which ovs-ofctl says in three actions")
def _(t):
    sw = of13.Switch(t)
    c = Ofctl(sw, "OpenFlow13")
    c("del-flows")
    c("add-flow", "in_port=1,actions=enqueue:2:3,output:1")
    assert c.flows() == [
        "in_port=1 actions=set_queue:3,output:2,pop_queue,output:1"]
    assert "enqueue:p2:3,output:p1" in sw.rpc(
        "flow.dump", bridge="br0")["flows"][0]["actions"]


@slc.test("OpenFlow 1.3: bundles")
def _(t):
    sw = of13.Switch(t)
    c = Ofctl(sw, "OpenFlow13")
    c("del-flows")
    name = os.path.join(sw.daemon.dir, "many")
    with open(name, "w") as f:
        for i in range(2000):
            f.write("priority=5,tcp,tp_dst=%d,actions=output:2\n" % i)
    c("add-flows", name, options=("--bundle",))
    has(c("dump-aggregate"), "flow_count=2000")
    with open(name, "w") as f:
        f.write("priority=6,arp,actions=output:2\n"
                "delete tcp\n"
                "add priority=7,udp,actions=output:1\n")
    c("add-flows", name, options=("--bundle",))
    assert c.flows() == ["priority=6,arp actions=output:2",
                         "priority=7,udp actions=output:1"], c.flows()
    # One that fails takes all with it.
    with open(name, "w") as f:
        f.write("priority=8,arp,actions=output:2\n"
                "priority=9,udp,actions=group:77\n")
    has(c.fails("add-flows", name, options=("--bundle",)), "BAD_OUT_GROUP")
    assert len(c.flows()) == 2, c.flows()
    with open(name, "w") as f:
        f.write("priority=6,arp,actions=output:1\n")
    c("replace-flows", name, options=("--bundle",))
    assert c.flows() == ["priority=6,arp actions=output:1"]
    with open(name, "w") as f:
        f.write("group add group_id=1,type=all,bucket=output:1\n"
                "flow add priority=3,udp,actions=group:1\n")
    c("bundle", name)
    has(c("dump-flows"), "group:1")
    sw.daemon.check_log()


@slc.test("OpenFlow 1.3: errors are named, and change nothing")
def _(t):
    sw = of13.Switch(t)
    c = Ofctl(sw, "OpenFlow13")
    c("del-flows")
    for flow, error in (
            ("priority=1,actions=group:5", "BAD_OUT_GROUP"),
            ("priority=1,actions=meter:5,output:2", "METER"),
            ("table=3,actions=goto_table:2", "TABLE"),
            ("actions=output:99", "BAD_OUT_PORT"),
            ("check_overlap,priority=4,ip,actions=drop", "OVERLAP")):
        c("add-flow", "priority=4,in_port=1,actions=drop")
        text = c.fails("add-flow", flow)
        assert error in text, (flow, text)
    assert c.flows() == ["priority=4,in_port=1 actions=drop"]
    has(c("dump-ports", "77"), "BAD_PORT")
    sw.daemon.check_log()


@slc.test("OpenFlow 1.3: monitor")
def _(t):
    sw = of13.Switch(t)
    c = Ofctl(sw, "OpenFlow13")
    c("del-flows")
    c("add-flow", "priority=1,actions=controller")
    log = os.path.join(sw.daemon.dir, "monitor")
    with open(log, "w") as f:
        slc.popen("ovs-ofctl", "-O", "OpenFlow13", "monitor", c.target, "128",
                  stdout=f, stderr=f,
                  env=dict(os.environ, OVS_RUNDIR=sw.daemon.dir))
        slc.wait_for(lambda: any(
            n["peer"] == "local" and n["version"] == "1.3"
            for m in sw.rpc("controller.show", bridge="br0")
            for n in m["connections"]), "the monitor is connected")
    read = lambda: open(log).read()  # noqa: E731
    h1 = sw.raw(t, 1)

    def poke():
        h1.send(slc.frame(slc.mac(2), slc.mac(1), b"hello"))
        return "OFPT_PACKET_IN" in read()
    slc.wait_for(poke, "a packet-in", step=0.2)
    has(read(), "in_port=1")
    c("add-flow", "priority=2,cookie=9,send_flow_rem,ip,actions=drop")
    c("del-flows", "ip")
    slc.wait_for(lambda: "OFPT_FLOW_REMOVED" in read(), "a flow-removed")
    sw.ns.ip("link", "set", "p2", "down")
    slc.wait_for(lambda: "OFPT_PORT_STATUS" in read(), "a port-status")
    has(read(), "p2")
    sw.daemon.check_log()


@slc.test("OpenFlow 1.0: statistics, flows, ports, config")
def _(t):
    sw = of13.Switch(t)
    c = Ofctl(sw, "OpenFlow10")
    common(sw, c)
    port_mods(sw, c)
    packet_out(sw, c, t)
    files(sw, c, sw.daemon.dir)
    c("del-flows")
    for actions in ("mod_vlan_vid:5,output:2", "mod_vlan_pcp:3,output:2",
                    "strip_vlan,output:2", "mod_dl_src:02:00:00:00:00:09,"
                    "output:2", "mod_nw_dst:10.1.1.1,output:2",
                    "mod_nw_tos:32,output:2", "mod_tp_dst:99,output:2",
                    "enqueue:2:3", "all", "in_port", "controller:64",
                    "local", "dec_ttl,output:2", "set_queue:3,output:2"):
        c("add-flow", "priority=9,tcp,in_port=1,actions=" + actions)
        got = c.flows()
        assert len(got) == 1, got
        word = re.split("[:,]", actions)[0].upper()
        assert word in got[0].upper(), (actions, got)
    sw.daemon.check_log()


slc.main(root=True, needs=["ip", "ovs-ofctl", "ping"])
