#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ports as OpenFlow knows them: their numbers, what is told of them, how a
controller configures them, their queues, and the bridge's own; and flows that
outlive the datapath beneath them."""
import itertools
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import of13  # noqa: E402
import slc  # noqa: E402

if of13.os_ken:
    from of13 import O, P, P10


def listens(c):
    """It wants to be told: by itself the management socket is not, as in Open
    vSwitch."""
    c.send(P.OFPSetConfig(c, 0, 128))
    c.barrier()
    return c


def mac(ns, ifname):
    return ":".join("%02x" % x for x in ns.mac(ifname))


def ports_of(c):
    body = c.ask(P.OFPPortDescStatsRequest(c, 0)).body
    return {p.port_no: p for p in body}


def names(c):
    return {n: p.name.rstrip(b"\0").decode() for n, p in ports_of(c).items()}


def port_status(c, reason, name):
    return c.find(P.OFPPortStatus, match=lambda m: m.reason == reason and
                  m.desc.name.rstrip(b"\0").decode() == name).desc


@slc.test("ports are numbered in the order of addition, or as they ask")
def _(t):
    of13.need_os_ken()
    ns = t.enter_context(slc.Netns("num"))
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0", memory_bytes="8M")
    path = os.path.join(d.dir, "br0.mgmt")
    for name, number in (("slcz", None), ("slca", 9), ("slcm", None)):
        more = {} if number is None else {"ofport": number}
        got = d.rpc("port.add", bridge="br0", name=name, type="tap", **more)
        assert got["ofport"] == (number or {"slcz": 1, "slcm": 2}[name]), got
    want = {1: "slcz", 2: "slcm", 9: "slca", O.OFPP_LOCAL: "br0"}
    with of13.connect_unix(path) as c:
        assert names(c) == want, names(c)
    slc.refused(d.rpc, "port.add", bridge="br0", name="slcb", type="tap",
                ofport=9, names=["ofport 9", "slca", "3 is free"])
    slc.refused(d.rpc, "port.set", name="slcz", ofport=65280,
                names=["65279"])
    with of13.connect_unix(path) as c:
        assert names(listens(c)) == want, names(c)
        d.rpc("port.del", name="slcz")
        assert port_status(c, O.OFPPR_DELETE, "slcz").port_no == 1
        # The number is free again, those of the others are as they were.
        d.rpc("port.add", bridge="br0", name="slcn", type="tap")
        assert port_status(c, O.OFPPR_ADD, "slcn").port_no == 1
        d.rpc("port.set", name="slcm", ofport=77)
        assert port_status(c, O.OFPPR_ADD, "slcm").port_no == 77
    d.restart()
    with of13.connect_unix(path) as c:
        assert names(c) == {1: "slcn", 77: "slcm", 9: "slca",
                            O.OFPP_LOCAL: "br0"}, names(c)
    whole = d.rpc("config.export")
    assert whole["bridges"]["br0"]["ports"]["slcm"]["ofport"] == 77
    assert d.rpc("config.apply", config=whole)["changed"] == []


@slc.test("what is told of a port follows its interface")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    sw.rpc("port.set", name="p2", rate_bps="100M")
    with sw.connect() as c:
        p = ports_of(listens(c))
        assert p[1].hw_addr == mac(sw.ns, "p1"), p[1]
        assert p[1].state == O.OFPPS_LIVE and p[1].config == 0, p[1]
        assert p[2].curr & O.OFPPF_100MB_FD, p[2]
        assert p[2].curr_speed == 100000, p[2]
        sw.ns.ip("link", "set", "p2", "down")
        got = port_status(c, O.OFPPR_MODIFY, "p2")
        assert got.state == O.OFPPS_LINK_DOWN, got
        sw.ns.ip("link", "set", "p2", "up")
        got = port_status(c, O.OFPPR_MODIFY, "p2")
        assert got.state == O.OFPPS_LIVE, got
        sw.ns.ip("link", "del", "p2")
        got = port_status(c, O.OFPPR_MODIFY, "p2")
        assert got.state == O.OFPPS_LINK_DOWN, got
        assert 2 in ports_of(c), "a port without its interface is there"


@slc.test("port-mod closes a port, in part and whole")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    h1, h2 = sw.raw(t, 1), sw.raw(t, 2)
    serial = itertools.count()

    def arrives(quiet=0.3):
        # Each is another one: what is late is not taken for the next.
        frame = slc.frame(h2.mac, h1.mac, b"port-mod %d" % next(serial),
                          size=80)
        h1.send(frame)
        return bool(h2.recv_match(lambda f: f == frame, quiet))

    with sw.connect() as c:
        c.send(c.flow(P.OFPMatch(in_port=1), [P.OFPActionOutput(2)]))
        c.barrier()
        assert arrives(5)
        p = ports_of(listens(c))

        def configure(number, config, mask):
            c.send(P.OFPPortMod(c, number, p[number].hw_addr, config, mask,
                                0))
            c.barrier()
            port_status(c, O.OFPPR_MODIFY, "p%d" % number)
            assert ports_of(c)[number].config == config

        for number, bit in ((1, O.OFPPC_NO_RECV), (2, O.OFPPC_NO_FWD),
                            (1, O.OFPPC_PORT_DOWN), (2, O.OFPPC_PORT_DOWN)):
            configure(number, bit, bit)
            assert not arrives(), (number, bit)
            configure(number, 0, bit)
            assert arrives(5), (number, bit)
        for change, code in (
                ({"port_no": 99}, O.OFPPMFC_BAD_PORT),
                ({"hw_addr": "02:00:00:00:00:99"}, O.OFPPMFC_BAD_HW_ADDR),
                ({"mask": 1 << 20}, O.OFPPMFC_BAD_CONFIG),
                ({"advertise": 1}, O.OFPPMFC_BAD_ADVERTISE)):
            args = dict({"port_no": 1, "hw_addr": p[1].hw_addr, "config": 0,
                         "mask": 0, "advertise": 0}, **change)
            e = c.ask(P.OFPPortMod(c, **args))
            assert (e.type, e.code) == (O.OFPET_PORT_MOD_FAILED, code), e
    for a in sw.rpc("audit.show"):
        assert a["ok"], a


@slc.test("the bridge's own port is a host of the bridge while it is up")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t, 1)
    local = sw.rpc("bridge.show", name="br0")["local"]
    assert local["state"] == "down" and local["mac"] == mac(sw.ns, "br0")
    assert [p["name"] for p in sw.rpc("port.list")] == ["p1"]
    with sw.connect() as c:
        assert ports_of(listens(c))[O.OFPP_LOCAL].state == O.OFPPS_LINK_DOWN
        sw.ns.ip("addr", "add", "10.0.0.100/24", "dev", "br0")
        sw.ns.ip("link", "set", "br0", "up")
        got = port_status(c, O.OFPPR_MODIFY, "br0")
        assert got.port_no == O.OFPP_LOCAL and got.state == O.OFPPS_LIVE, got
        assert sw.hosts[0].run("ping", "-n", "-c", "3", "-i", "0.2",
                               "10.0.0.100", check=False).returncode == 0
        # A controller knows it as LOCAL, in and out.
        for a, b in ((1, O.OFPP_LOCAL), (O.OFPP_LOCAL, 1)):
            c.send(c.flow(P.OFPMatch(in_port=a), [P.OFPActionOutput(b)],
                          priority=7))
        c.barrier()
        assert sw.hosts[0].run("ping", "-n", "-c", "2", "-i", "0.2",
                               "10.0.0.100", check=False).returncode == 0
        counts = {f.match["in_port"]: f.packet_count for f in c.flows()
                  if f.priority == 7}
        assert counts[1] >= 2 and counts[O.OFPP_LOCAL] >= 2, counts
        sw.ns.ip("link", "set", "br0", "down")
        port_status(c, O.OFPPR_MODIFY, "br0")
        # Who deletes it gets it back.
        sw.ns.ip("link", "del", "br0")
        slc.wait_for(lambda: sw.ns.exists("br0"), "br0 is there again")
        # It stays through a change that makes the datapath anew.
        sw.ns.ip("link", "set", "br0", "up")
        index = sw.ns.run("cat", "/sys/class/net/br0/ifindex").stdout
        sw.rpc("bridge.set", name="br0", memory_bytes="32M")
        assert sw.ns.run("cat",
                         "/sys/class/net/br0/ifindex").stdout == index
        slc.wait_for(lambda: sw.rpc("bridge.show", name="br0")["local"][
            "state"] == "up", "it is up")
        sw.rpc("bridge.set", name="br0", local=False)
        assert port_status(c, O.OFPPR_DELETE, "br0")
    slc.wait_for(lambda: not sw.ns.exists("br0"), "br0 is gone")
    assert sw.rpc("bridge.show", name="br0")["local"] is None
    sw.rpc("bridge.set", name="br0", local=True)
    assert sw.ns.exists("br0")


@slc.test("a bridge works without its own port where the name is taken")
def _(t):
    of13.need_os_ken()
    ns = t.enter_context(slc.Netns("taken"))
    ns.ip("link", "add", "br0", "type", "veth", "peer", "name", "slcp")
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0", memory_bytes="8M")
    assert d.rpc("bridge.show", name="br0")["local"]["state"] == "absent"
    assert "is not a TAP interface" in d.log()
    d.rpc("port.add", bridge="br0", name="slcx", type="tap")
    ns.ip("link", "del", "br0")
    slc.wait_for(lambda: d.rpc("bridge.show", name="br0")["local"]["state"]
                 == "down", "the name is free: it is made")


@slc.test("queues say what is configured, and what they sent")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    sw.rpc("port.set", name="p2", rate_bps="100M", queues={
        "0": {"mode": "ets", "weight": 30}, "1": {"mode": "ets",
                                                  "weight": 70},
        "5": {"max_rate_bps": 25000000}})
    h1, h2 = sw.raw(t, 1), sw.raw(t, 2)
    with sw.connect() as c:
        got = c.ask(P.OFPQueueGetConfigRequest(c, 2))
        rates = {}
        for q in got.queues:
            rates[q.queue_id] = {type(p).__name__: p.rate
                                 for p in q.properties}
        assert len(rates) == 8, rates
        assert rates[0] == {"OFPQueuePropMinRate": 300}, rates
        assert rates[1] == {"OFPQueuePropMinRate": 700}, rates
        assert rates[5] == {"OFPQueuePropMaxRate": 250}, rates
        assert rates[7] == {}, rates
        c.send(c.flow(P.OFPMatch(in_port=1),
                      [P.OFPActionSetQueue(5), P.OFPActionOutput(2)]))
        c.barrier()
        for i in range(3):
            frame = slc.frame(h2.mac, h1.mac, b"queue%d" % i, size=100)
            h1.send(frame)
            assert h2.recv_match(lambda f: f == frame)
        sw.daemon.settle()
        stats = c.ask(P.OFPQueueStatsRequest(c, 0, 2, O.OFPQ_ALL)).body
        sent = {s.queue_id: (s.tx_packets, s.tx_bytes) for s in stats}
        assert len(sent) == 8 and sent[5] == (3, 300), sent
        e = c.ask(P.OFPQueueStatsRequest(c, 0, 2, 8))
        assert (e.type, e.code) == (O.OFPET_QUEUE_OP_FAILED,
                                    O.OFPQOFC_BAD_QUEUE), e
        e = c.ask(P.OFPQueueGetConfigRequest(c, 55))
        assert (e.type, e.code) == (O.OFPET_QUEUE_OP_FAILED,
                                    O.OFPQOFC_BAD_PORT), e
        p = c.ask(P.OFPPortStatsRequest(c, 0, 2)).body[0]
        assert p.tx_packets >= 3 and p.tx_bytes >= 300, p


@slc.test("timeouts and flow-removed, to the second")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    with sw.connect() as c:
        begin = time.monotonic()
        listens(c)
        c.send(c.flow(P.OFPMatch(in_port=2), [], priority=3, hard_timeout=2,
                      cookie=5, flags=O.OFPFF_SEND_FLOW_REM))
        c.send(c.flow(P.OFPMatch(in_port=3), [], priority=4, idle_timeout=1,
                      flags=O.OFPFF_SEND_FLOW_REM))
        c.barrier()
        m = c.find(P.OFPFlowRemoved)
        assert m.reason == O.OFPRR_IDLE_TIMEOUT and m.priority == 4, m
        m = c.find(P.OFPFlowRemoved)
        took = time.monotonic() - begin
        assert m.reason == O.OFPRR_HARD_TIMEOUT and m.cookie == 5, m
        assert m.duration_sec == 2 and took >= 2, (m, took)
        assert m.match["in_port"] == 2 and m.hard_timeout == 2, m


@slc.test("flow-removed says so when a meter or a group takes the flow along")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    with sw.connect() as c, sw.connect(version=1) as old:
        listens(c)
        old.send(of13.P10.OFPSetConfig(old, 0, 128))
        old.barrier()
        c.send(P.OFPMeterMod(c, O.OFPMC_ADD, O.OFPMF_KBPS, 1,
                             [P.OFPMeterBandDrop(1000, 0)]))
        c.send(P.OFPGroupMod(c, O.OFPGC_ADD, O.OFPGT_ALL, 1, []))
        c.send(c.flow(P.OFPMatch(in_port=1), priority=3, cookie=3,
                      more=[P.OFPInstructionMeter(1)],
                      flags=O.OFPFF_SEND_FLOW_REM))
        c.send(c.flow(P.OFPMatch(in_port=2), [P.OFPActionGroup(1)],
                      priority=4, cookie=4, flags=O.OFPFF_SEND_FLOW_REM))
        c.send(P.OFPMeterMod(c, O.OFPMC_DELETE, 0, 1))
        c.send(P.OFPGroupMod(c, O.OFPGC_DELETE, 0, 1))
        c.barrier()
        for cookie, at13 in ((3, O.OFPRR_DELETE), (4, O.OFPRR_GROUP_DELETE)):
            m = c.find(P.OFPFlowRemoved)
            assert (m.cookie, m.reason) == (cookie, at13), m
            m = old.find(of13.P10.OFPFlowRemoved)
            assert (m.cookie, m.reason) == (cookie, O.OFPRR_DELETE), m


@slc.test("flows, groups and their counts outlive the datapath")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    h1, h2 = sw.raw(t, 1), sw.raw(t, 2)
    frame = slc.frame(h2.mac, h1.mac, b"outlive", size=100)

    def passes():
        h1.send(frame)
        assert h2.recv_match(lambda f: f == frame)

    with sw.connect() as c:
        c.send(P.OFPGroupMod(c, O.OFPGC_ADD, O.OFPGT_INDIRECT, 3, [
            P.OFPBucket(actions=[P.OFPActionOutput(2)])]))
        c.send(c.flow(P.OFPMatch(in_port=1), [P.OFPActionGroup(3)],
                      cookie=7))
        c.barrier()
        passes()
        for memory in ("32M", "16M"):
            sw.rpc("bridge.set", name="br0", memory_bytes=memory)
            c.barrier()
            passes()
        sw.daemon.settle()
        f = [f for f in c.flows() if f.cookie == 7][0]
        assert (f.packet_count, f.byte_count) == (3, 300), f
        g = c.ask(P.OFPGroupStatsRequest(c, 0, 3)).body[0]
        assert (g.packet_count, g.ref_count) == (3, 1), g
        # Of the ports the counts go on as well.
        p = c.ask(P.OFPPortStatsRequest(c, 0, 1)).body[0]
        assert p.rx_packets >= 3, p
    for a in sw.rpc("audit.show"):
        assert a["ok"], a


@slc.test("tables tell what they can do, in pieces")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    with sw.connect() as c:
        replies = c.replies(c.send(P.OFPTableFeaturesStatsRequest(c, 0, [])))
        assert len(replies) > 1, "254 tables fit no message"
        tables = [f for r in replies for f in r.body]
        assert [f.table_id for f in tables] == list(range(254))
        assert tables[0].max_entries == 1000000
        assert tables[0].metadata_match == 0xffffffffffffffff
        # It may be told to be as it is, under another name.
        one = tables[5]
        one.name = b"acl"
        got = c.ask(P.OFPTableFeaturesStatsRequest(c, 0, [one]))
        assert not isinstance(got, P.OFPErrorMsg), got
        one.metadata_match = 1
        e = c.ask(P.OFPTableFeaturesStatsRequest(c, 0, [one]))
        assert (e.type, e.code) == (O.OFPET_TABLE_FEATURES_FAILED,
                                    O.OFPTFFC_BAD_METADATA), e


@slc.test("1.0 knows the ports too")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    with sw.connect(version=1) as c:
        f = c.ask(P10.OFPFeaturesRequest(c))
        got = {n: p.name.rstrip(b"\0").decode() for n, p in f.ports.items()}
        assert got == {1: "p1", 2: "p2", 0xfffe: "br0"}, got


slc.main()
