#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""os-ken and ovs-testcontroller as controllers of a bridge: learning switches
of 1.3 and 1.0 with pings through them; roles, what is told unasked, and
bundles; and the requests that Faucet makes of a switch."""
import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(__file__))
import of13  # noqa: E402
import slc  # noqa: E402
from of13 import mac_of  # noqa: E402

if of13.os_ken:
    from of13 import O, P

APPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "apps")


def learning(t, app, version):
    """Pings through a learning switch that os-ken runs."""
    of13.need_os_ken()
    if not shutil.which("osken-manager"):
        raise slc.Skip("osken-manager is not installed (python3-os-ken)")
    sw = of13.Switch(t, 3, fail_mode="secure")
    log = os.path.join(sw.daemon.dir, "osken")
    with open(log, "w") as f:
        sw.ns.popen("/usr/bin/python3", shutil.which("osken-manager"),
                    "--ofp-listen-host", "127.0.0.1",
                    "--ofp-tcp-listen-port", "6653",
                    os.path.join(APPS, app), stdout=f, stderr=f)
    assert not sw.pings(), "a secure bridge without flows forwards"
    sw.rpc("controller.set", bridge="br0", targets=["tcp:127.0.0.1:6653"],
           max_backoff_ms=1000)
    try:
        sw.wait_connected(timeout=40)
        for a, b in ((1, 2), (2, 3), (3, 1)):
            slc.wait_for(lambda: sw.pings(a, b), "ping %d to %d" % (a, b), 20)
    except AssertionError:
        slc.diag(open(log).read())
        raise
    peer = sw.controllers()[0]["connections"][0]
    assert peer["version"] == version and peer["packet_ins"] > 0, peer
    assert peer["errors_sent"] == 0, peer
    return sw, log


@slc.test("a learning switch of 1.3 on os-ken")
def _(t):
    sw, log = learning(t, "learn13.py", "1.3")
    slc.run("grep", "features: 254 tables, 256 buffers", log)
    sw.daemon.settle()
    with sw.connect() as c:
        learned = [f for f in c.flows() if f.priority == 1]
        assert len(learned) >= 6, learned
        assert sum(f.packet_count for f in learned) > 0, learned
    sw.daemon.check_log()


@slc.test("a learning switch of 1.0 on os-ken")
def _(t):
    sw, log = learning(t, "learn10.py", "1.0")
    sw.ns.ip("link", "set", "p3", "down")
    slc.wait_for(lambda: "port status: 2 p3" in open(log).read(),
                 "a port status")
    sw.daemon.check_log()


@slc.test("ovs-testcontroller")
def _(t):
    if not shutil.which("ovs-testcontroller"):
        raise slc.Skip("ovs-testcontroller is not installed "
                       "(openvswitch-testcontroller)")
    for version in ("OpenFlow13", "OpenFlow10"):
        sw = of13.Switch(t)
        path = os.path.join(sw.daemon.dir, "testcontroller")
        with open(path + ".log", "w") as f:
            slc.popen("ovs-testcontroller", "-O", version, "punix:" + path,
                      stdout=f, stderr=f,
                      env=dict(os.environ, OVS_RUNDIR=sw.daemon.dir))
        sw.rpc("controller.set", bridge="br0", targets=["unix:" + path],
               max_backoff_ms=1000)
        sw.wait_connected()
        slc.wait_for(lambda: sw.pings(count=2), "pings")
        sw.daemon.check_log()


@slc.test("roles: one master, slaves change nothing, old numbers are stale")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    a = t.enter_context(of13.Listener(sw.ns))
    b = t.enter_context(of13.Listener(sw.ns))
    sw.rpc("controller.set", bridge="br0", targets=[a.target, b.target])
    ca, cb = a.accept(), b.accept()

    def role(c, what, generation):
        return c.ask(P.OFPRoleRequest(c, what, generation))
    assert role(ca, O.OFPCR_ROLE_NOCHANGE, 0).role == O.OFPCR_ROLE_EQUAL
    assert role(ca, O.OFPCR_ROLE_MASTER, 1).role == O.OFPCR_ROLE_MASTER
    assert role(cb, O.OFPCR_ROLE_MASTER, 2).role == O.OFPCR_ROLE_MASTER
    got = role(ca, O.OFPCR_ROLE_NOCHANGE, 0)
    assert (got.role, got.generation_id) == (O.OFPCR_ROLE_SLAVE, 2), got
    got = role(ca, O.OFPCR_ROLE_MASTER, 1)
    assert (got.type, got.code) == (11, 0), got
    got = ca.ask(ca.flow(actions=[]))
    assert (got.type, got.code) == (1, 10), got
    assert len(got.data) >= 64 or len(got.data) == 8 + 56, got
    roles = sorted(n["role"] for c in sw.controllers()
                   for n in c["connections"])
    assert roles == ["master", "slave"], roles
    # A slave hears of ports, and of nothing else.
    cb.send(cb.flow(actions=[P.OFPActionOutput(O.OFPP_CONTROLLER)],
                    priority=0))
    cb.barrier()
    sw.raw(t, 1).send(slc.frame(slc.mac(2), slc.mac(1)))
    cb.find(P.OFPPacketIn)
    ca.nothing(P.OFPPacketIn)
    sw.ns.ip("link", "set", "p2", "down")
    ca.find(P.OFPPortStatus)
    cb.find(P.OFPPortStatus)
    sw.daemon.check_log()


@slc.test("each connection hears what it asked for")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    a = t.enter_context(of13.Listener(sw.ns))
    sw.rpc("controller.set", bridge="br0", targets=[a.target])
    c = a.accept()
    h1 = sw.raw(t, 1)
    got = c.ask(P.OFPGetAsyncRequest(c))
    assert got.packet_in_mask == [3, 0], got
    c.send(c.flow(actions=[P.OFPActionOutput(O.OFPP_CONTROLLER, 30)],
                  match=P.OFPMatch(eth_type=0x8888), cookie=0x77,
                  priority=5))
    c.barrier()
    h1.send(slc.frame(slc.mac(2), slc.mac(1), size=200, type=0x8888))
    m = c.find(P.OFPPacketIn)
    assert (m.reason, m.total_len, len(m.data), m.cookie, m.table_id) == (
        O.OFPR_ACTION, 200, 30, 0x77, 0), m
    assert m.buffer_id != O.OFP_NO_BUFFER and m.match["in_port"] == 1, m
    # The buffer goes where a packet-out says, once.
    h2 = sw.raw(t, 2)
    out = P.OFPPacketOut(c, m.buffer_id, 1, [P.OFPActionOutput(2)])
    c.send(out)
    assert h2.recv_match(lambda f: len(f) == 200), "no frame"
    again = P.OFPPacketOut(c, m.buffer_id, 1, [P.OFPActionOutput(2)])
    got = c.ask(again)
    assert (got.type, got.code) == (1, 7), got
    c.send(P.OFPSetAsync(c, [0, 0], [0, 0], [0, 0]))
    c.barrier()
    h1.send(slc.frame(slc.mac(2), slc.mac(1), size=200, type=0x8888))
    c.nothing(P.OFPPacketIn)
    c.send(P.OFPSetAsync(c, [7, 0], [7, 7], [15, 0]))
    c.barrier()
    h1.send(slc.frame(slc.mac(2), slc.mac(1), size=200, type=0x8888))
    c.find(P.OFPPacketIn)
    # A TTL that ends: only for who asked.
    c.send(c.flow(actions=[P.OFPActionDecNwTtl(), P.OFPActionOutput(2)],
                  match=P.OFPMatch(eth_type=0x800), priority=6))
    c.barrier()
    ip = bytes.fromhex("450000280000400001060000" "0a000001" "0a000002")
    h1.send(slc.frame(slc.mac(2), slc.mac(1), ip + bytes(20), type=0x800))
    m = c.find(P.OFPPacketIn)
    assert m.reason == O.OFPR_INVALID_TTL, m
    sw.daemon.check_log()


def bundle_ctrl(c, bundle, kind, flags=3):
    return P.OFPExperimenter(
        c, 0x4f4e4600, 2300, struct.pack("!IHH", bundle, kind, flags))


def bundle_add(c, bundle, msg, flags=3):
    """The message in it has the number of the outer one: that comes next."""
    msg.set_xid(c.xid + 1)
    msg.serialize()
    return P.OFPExperimenter(
        c, 0x4f4e4600, 2301,
        struct.pack("!IHH", bundle, 0, flags) + bytes(msg.buf))


def reply_of(m):
    """Bundle, kind and flags; os-ken leaves such messages alone."""
    return struct.unpack_from("!IHH", m.buf, 16)


@slc.test("bundles: all or none, and in force when they are answered")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    h1, h2 = sw.raw(t, 1), sw.raw(t, 2)
    with sw.connect() as c:
        c.send(c.flow(command=O.OFPFC_DELETE))
        c.barrier()
        got = c.ask(bundle_ctrl(c, 5, 0))
        assert reply_of(got) == (5, 1, 3), got
        c.send(bundle_add(c, 5, c.flow(
            P.OFPMatch(in_port=1), [P.OFPActionOutput(2)])))
        c.send(bundle_add(c, 5, c.flow(
            P.OFPMatch(in_port=2), [P.OFPActionOutput(1)])))
        c.barrier()
        assert c.flows() == [], "a bundle that is not committed is in force"
        got = c.ask(bundle_ctrl(c, 5, 4))
        assert reply_of(got) == (5, 5, 3), got
        frame = slc.frame(slc.mac(2), slc.mac(1), b"at once")
        h1.send(frame)
        assert h2.recv_match(lambda f: b"at once" in f), "not in force"
        assert len(c.flows()) == 2
        # One that cannot be: none of it is there.
        c.ask(bundle_ctrl(c, 6, 0))
        c.send(bundle_add(c, 6, c.flow(P.OFPMatch(in_port=1), [],
                                       priority=9)))
        c.send(bundle_add(c, 6, c.flow(
            P.OFPMatch(in_port=2), [P.OFPActionGroup(9)], priority=9)))
        xid = c.send(bundle_ctrl(c, 6, 4))
        got = c.replies(xid)[0]
        assert (got.type, got.exp_type) == (0xffff, 2313), got
        assert [m for m in c.seen if m.type == 2 and m.code == 9], c.seen
        assert len(c.flows()) == 2
    sw.daemon.check_log()


@slc.test("what Faucet asks of a switch")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t, 3, fail_mode="secure")
    l = t.enter_context(of13.Listener(sw.ns))
    sw.rpc("controller.set", bridge="br0", targets=[l.target])
    c = l.accept()
    f = c.ask(P.OFPFeaturesRequest(c))
    assert f.n_tables == 254 and f.capabilities & O.OFPC_GROUP_STATS, f
    desc = c.ask(P.OFPDescStatsRequest(c, 0)).body
    assert desc.mfr_desc and desc.dp_desc == b"br0", desc
    ports = {p.port_no: p for p in c.ask(P.OFPPortDescStatsRequest(c)).body}
    assert {1, 2, 3} <= set(ports) and ports[1].name == b"p1", ports
    c.send(P.OFPSetConfig(c, O.OFPC_FRAG_NORMAL, 0))
    c.send(P.OFPSetAsync(
        c, [1 << O.OFPR_ACTION | 1 << O.OFPR_INVALID_TTL] * 2, [7, 7],
        [15, 15]))
    tables = c.ask(P.OFPTableFeaturesStatsRequest(c, 0, []), 60).body
    assert len(tables) == 254, len(tables)
    kinds = {p.type for p in tables[0].properties}
    assert {O.OFPTFPT_INSTRUCTIONS, O.OFPTFPT_NEXT_TABLES, O.OFPTFPT_MATCH,
            O.OFPTFPT_APPLY_SETFIELD} <= kinds, kinds
    match = [p for p in tables[0].properties if p.type == O.OFPTFPT_MATCH][0]
    names = {o.type for o in match.oxm_ids}
    assert {"in_port", "vlan_vid", "eth_dst", "ipv4_src"} <= names, names
    # All goes, then the pipeline: port ACL (0), VLAN (1), source learning
    # (2), destination (3), flood (4).
    c.send(c.flow(command=O.OFPFC_DELETE, table=O.OFPTT_ALL))
    c.send(P.OFPGroupMod(c, O.OFPGC_DELETE, O.OFPGT_ALL, O.OFPG_ALL))
    c.send(P.OFPMeterMod(c, O.OFPMC_DELETE, 0, O.OFPM_ALL))
    c.barrier()
    vid = 100 | O.OFPVID_PRESENT
    for table in range(5):
        c.send(c.flow(table=table, priority=0, actions=[]))
    c.send(c.flow(P.OFPMatch(eth_type=0x800, ip_proto=17, udp_dst=53), [],
                  priority=20))
    c.send(c.flow(P.OFPMatch(), goto=1, priority=10))
    for port in (1, 2):
        c.send(c.flow(
            P.OFPMatch(in_port=port, vlan_vid=0),
            [P.OFPActionPushVlan(0x8100), P.OFPActionSetField(vlan_vid=vid)],
            table=1, goto=2, priority=10))
    c.send(c.flow(P.OFPMatch(in_port=3, vlan_vid=vid), table=1, goto=2,
                  priority=10))
    c.send(c.flow(P.OFPMatch(vlan_vid=vid),
                  [P.OFPActionOutput(O.OFPP_CONTROLLER, 128)], table=2,
                  goto=3, priority=1))
    c.send(c.flow(P.OFPMatch(vlan_vid=vid), table=3, goto=4, priority=1))
    c.send(c.flow(P.OFPMatch(vlan_vid=vid), [
        P.OFPActionOutput(3), P.OFPActionPopVlan(), P.OFPActionOutput(1),
        P.OFPActionOutput(2)], table=4, priority=1))
    c.barrier()
    assert not [m for m in c.seen if isinstance(m, P.OFPErrorMsg)], c.seen
    hosts = [sw.raw(t, i) for i in (1, 2, 3)]
    payload = b"broadcast of one"
    hosts[0].send(slc.frame(slc.mac("ff:ff:ff:ff:ff:ff"), slc.mac(1), payload))
    m = c.find(P.OFPPacketIn)
    assert m.table_id == 2 and m.match["in_port"] == 1, m
    assert m.data[12:16] == bytes.fromhex("81000064"), m.data
    got = hosts[1].recv_match(lambda f: payload in f)
    assert got and got[12:14] != b"\x81\x00", got
    got = hosts[2].recv_match(lambda f: payload in f)
    assert got and got[12:16] == bytes.fromhex("81000064"), got
    assert not hosts[0].recv_match(lambda f: payload in f, 0.2), "came back"
    # What it learns, with timeouts, and how it forgets.
    c.send(c.flow(P.OFPMatch(in_port=1, vlan_vid=vid, eth_src=mac_of(1)),
                  table=2, goto=3, priority=5, hard_timeout=1, cookie=0xfa,
                  flags=O.OFPFF_SEND_FLOW_REM))
    c.send(c.flow(P.OFPMatch(vlan_vid=vid, eth_dst=mac_of(1)),
                  [P.OFPActionPopVlan(), P.OFPActionOutput(1)], table=3,
                  priority=5, idle_timeout=30))
    c.barrier()
    hosts[1].send(slc.frame(slc.mac(1), slc.mac(2), b"back to one"))
    assert hosts[0].recv_match(lambda f: b"back to one" in f), "no answer"
    m = c.find(P.OFPFlowRemoved)
    assert (m.cookie, m.reason) == (0xfa, O.OFPRR_HARD_TIMEOUT), m
    # The ACL: no DNS.
    udp = (bytes.fromhex("4500002000004000ff110000" "0a000001" "0a000002")
           + bytes.fromhex("1234003500080000"))
    hosts[1].drain()
    hosts[0].send(slc.frame(slc.BROADCAST, slc.mac(1), udp, type=0x800))
    assert not hosts[1].recv_match(lambda f: udp[:20] in f, 0.3), "no ACL"
    # Gauge's questions.
    def stats():
        return {s.port_no: s.rx_packets for s in c.ask(
            P.OFPPortStatsRequest(c, 0, O.OFPP_ANY)).body}
    assert {1, 2, 3} <= set(stats()), stats()
    slc.wait_for(lambda: stats()[1] >= 2, "both frames are counted")
    assert len(c.flows()) >= 13
    assert c.ask(P.OFPMeterStatsRequest(c, 0, O.OFPM_ALL)).body == []
    # A port goes, and comes back.
    sw.ns.ip("link", "set", "p3", "down")
    m = c.find(P.OFPPortStatus, match=lambda m: m.desc.port_no == 3)
    assert m.reason == O.OFPPR_MODIFY, m
    assert m.desc.state & O.OFPPS_LINK_DOWN, m
    sw.ns.ip("link", "set", "p3", "up")
    c.find(P.OFPPortStatus, match=lambda m: m.desc.port_no == 3 and
           not m.desc.state & O.OFPPS_LINK_DOWN)
    sw.daemon.check_log()


slc.main(root=True, needs=["ip", "ping"])
