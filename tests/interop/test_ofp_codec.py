#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lib/ofp against other implementations of OpenFlow, message by message:
os-ken writes what controllers say and reads what ofp_mirror makes of it;
tshark reads every message of the switch and must find nothing malformed;
ovs-ofctl reads flows in text that we read and wrote again.
Each is skipped where it is not installed.  No daemon, no root."""
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "system"))
import slc  # noqa: E402

try:
    import os_ken  # noqa: F401
except ImportError:
    # Debian's package is Debian's interpreter's.
    if sys.executable != "/usr/bin/python3" and os.path.isdir(
            "/usr/lib/python3/dist-packages/os_ken"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3"] + sys.argv)
    os_ken = None

if os_ken:
    from os_ken.ofproto import (ofproto_parser, ofproto_protocol,
                                ofproto_v1_0, ofproto_v1_0_parser,
                                ofproto_v1_3, ofproto_v1_3_parser)
    P, O = ofproto_v1_3_parser, ofproto_v1_3
    P10, O10 = ofproto_v1_0_parser, ofproto_v1_0
    DP = ofproto_protocol.ProtocolDesc(version=O.OFP_VERSION)
    DP10 = ofproto_protocol.ProtocolDesc(version=O10.OFP_VERSION)

MIRROR = os.path.join(slc.TOP_BUILD, "tests", "interop", "ofp_mirror")


def need_os_ken():
    if not os_ken:
        raise slc.Skip("os-ken is not installed (python3-os-ken)")


class Mirror:
    """ofp_mirror as a process."""

    def __init__(self):
        self.process = subprocess.Popen([MIRROR], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait() == 0, "ofp_mirror failed"

    def raw(self, data):
        self.keep(bytes(data))
        self.process.stdin.write(bytes(data).hex() + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def keep(self, data):
        """Seeds for tests/fuzz/corpus/fuzz_ofp, for whoever asks."""
        folder = os.environ.get("SLC_OFP_CORPUS")
        if folder:
            name = "%d-%02d-%s" % (data[0], data[1],
                                   hashlib.sha1(data).hexdigest()[:8])
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)

    def __call__(self, msg):
        """What os-ken reads in the answer to a message of os-ken's."""
        msg.set_xid(0x1234)
        msg.serialize()
        text = self.raw(msg.buf)
        assert not text.startswith("error"), "%s: %s" % (msg, text)
        return read(msg.datapath, bytes.fromhex(text))

    def error(self, msg):
        """Type and code with which a message is refused."""
        msg.set_xid(0x1234)
        msg.serialize()
        return self.error_raw(msg.buf)

    def error_raw(self, data):
        text = self.raw(data)
        assert text.startswith("error"), "accepted: %s" % text
        return tuple(int(w.rstrip(":")) for w in text.split()[1:3])


def read(dp, data):
    version, kind, length, xid = ofproto_parser.header(data)
    assert length == len(data), (length, len(data))
    msg = ofproto_parser.msg(dp, version, kind, length, xid, data)
    assert msg is not None, "os-ken cannot read %s" % data.hex()
    return msg


def same(got, want, what):
    got, want = got.to_jsondict(), want.to_jsondict()
    assert got == want, "%s:\n got %s\nwant %s" % (what, got, want)


# ------------------------------------------------------------- matches ---

def prerequisites():
    return {
        "tcp": dict(eth_type=0x800, ip_proto=6),
        "udp": dict(eth_type=0x86dd, ip_proto=17),
        "sctp": dict(eth_type=0x800, ip_proto=132),
        "icmpv4": dict(eth_type=0x800, ip_proto=1),
        "icmpv6": dict(eth_type=0x86dd, ip_proto=58),
        "ns": dict(eth_type=0x86dd, ip_proto=58, icmpv6_type=135),
        "na": dict(eth_type=0x86dd, ip_proto=58, icmpv6_type=136),
        "ip": dict(eth_type=0x800), "ip6": dict(eth_type=0x86dd),
        "arp": dict(eth_type=0x806), "mpls": dict(eth_type=0x8847),
        "pbb": dict(eth_type=0x88e7), "vlan": dict(vlan_vid=0x100a),
        "port": dict(in_port=1), "": {},
    }


# Field, prerequisites, a value, a mask or None.
FIELDS = [
    ("in_port", "", 7, None), ("in_phy_port", "port", 7, None),
    ("metadata", "", 0x1234000000000000, 0xffff000000000000),
    ("eth_dst", "", "02:00:00:00:00:01", "ff:ff:00:00:00:ff"),
    ("eth_src", "", "02:00:00:00:00:02", "ff:00:00:00:00:ff"),
    ("eth_type", "", 0x88cc, None), ("vlan_vid", "", 0x1005, 0x1fef),
    ("vlan_pcp", "vlan", 5, None), ("ip_dscp", "ip", 46, None),
    ("ip_ecn", "ip6", 2, None), ("ip_proto", "ip", 47, None),
    ("ipv4_src", "ip", "10.1.0.0", "255.255.0.0"),
    ("ipv4_dst", "ip", "10.0.0.3", "255.0.0.255"),
    ("tcp_src", "tcp", 1000, None), ("tcp_dst", "tcp", 80, None),
    ("udp_src", "udp", 68, None), ("udp_dst", "udp", 67, None),
    ("sctp_src", "sctp", 5000, None), ("sctp_dst", "sctp", 5001, None),
    ("icmpv4_type", "icmpv4", 8, None), ("icmpv4_code", "icmpv4", 1, None),
    ("arp_op", "arp", 2, None),
    ("arp_spa", "arp", "192.168.0.0", "255.255.255.0"),
    ("arp_tpa", "arp", "192.168.1.0", "255.255.255.0"),
    ("arp_sha", "arp", "02:00:00:00:00:00", "ff:ff:ff:00:00:00"),
    ("arp_tha", "arp", "02:00:00:00:00:03", "ff:00:ff:00:00:0f"),
    ("ipv6_src", "ip6", "2001:db8::", "ffff:ffff::"),
    ("ipv6_dst", "ip6", "2001:db8::1", "ffff:ffff::ff"),
    ("ipv6_flabel", "ip6", 0x12340, 0xffff0),
    ("icmpv6_type", "icmpv6", 128, None), ("icmpv6_code", "icmpv6", 1, None),
    ("ipv6_nd_target", "ns", "fe80::1", None),
    ("ipv6_nd_sll", "ns", "02:00:00:00:00:04", None),
    ("ipv6_nd_tll", "na", "02:00:00:00:00:05", None),
    ("mpls_label", "mpls", 0x12345, None), ("mpls_tc", "mpls", 3, None),
    ("mpls_bos", "mpls", 1, None), ("pbb_isid", "pbb", 0x123400, 0xffff00),
    ("tunnel_id", "", 0xab00, 0xff00),
    ("ipv6_exthdr", "ip6", 0x44, 0x1c4),
]


def flow(match=None, inst=(), **rest):
    rest.setdefault("buffer_id", O.OFP_NO_BUFFER)
    return P.OFPFlowMod(DP, match=match or P.OFPMatch(),
                        instructions=list(inst), **rest)


def apply(*actions):
    return P.OFPInstructionActions(O.OFPIT_APPLY_ACTIONS, list(actions))


@slc.test("os-ken: every match field, exact and masked")
def _(t):
    need_os_ken()
    mirror = t.enter_context(Mirror())
    assert len(FIELDS) == 40
    for name, before, value, mask in FIELDS:
        for v in [value] + ([(value, mask)] if mask else []):
            match = P.OFPMatch(**dict(prerequisites()[before], **{name: v}))
            stats = mirror(flow(match)).body[0]
            same(stats.match, match, name)
        if before:
            alone = P.OFPMatch(**{name: value})
            assert mirror.error(flow(alone)) == (4, 9), name


@slc.test("os-ken: flow-mods of many random matches come back")
def _(t):
    need_os_ken()
    mirror = t.enter_context(Mirror())
    rng = random.Random(1)
    for _ in range(300):
        kind = rng.choice(list(prerequisites()))
        fields = dict(prerequisites()[kind])
        for name, before, value, mask in FIELDS:
            if before in (kind, "") and name not in fields and \
                    rng.random() < 0.4:
                fields[name] = (value, mask) if mask and rng.random() < 0.5 \
                    else value
        match = P.OFPMatch(**fields)
        msg = flow(match, [apply(P.OFPActionOutput(1))],
                   cookie=rng.getrandbits(64), priority=rng.getrandbits(16),
                   table_id=rng.randrange(254), flags=rng.randrange(32),
                   idle_timeout=rng.getrandbits(16),
                   hard_timeout=rng.getrandbits(16))
        stats = mirror(msg).body[0]
        same(stats.match, match, kind)
        for name in ("cookie", "priority", "table_id", "flags",
                     "idle_timeout", "hard_timeout"):
            assert getattr(stats, name) == getattr(msg, name), name


# ------------------------------------------------------------- actions ---

def settable():
    fixed = {"in_port", "in_phy_port", "metadata", "ipv6_exthdr"}
    return [f for f in FIELDS if f[0] not in fixed]


def actions():
    return [
        P.OFPActionOutput(O.OFPP_CONTROLLER, 128),
        P.OFPActionOutput(O.OFPP_NORMAL, 0xffff),
        P.OFPActionCopyTtlOut(), P.OFPActionCopyTtlIn(),
        P.OFPActionSetMplsTtl(9), P.OFPActionDecMplsTtl(),
        P.OFPActionPushVlan(0x88a8), P.OFPActionPopVlan(),
        P.OFPActionPushMpls(0x8848), P.OFPActionPopMpls(0x800),
        P.OFPActionSetQueue(7), P.OFPActionGroup(0xffffff00),
        P.OFPActionSetNwTtl(64), P.OFPActionDecNwTtl(),
        P.OFPActionPushPbb(0x88e7), P.OFPActionPopPbb(),
    ]


@slc.test("os-ken: every action and instruction")
def _(t):
    need_os_ken()
    mirror = t.enter_context(Mirror())
    for a in actions():
        for kind in (O.OFPIT_APPLY_ACTIONS, O.OFPIT_WRITE_ACTIONS):
            inst = P.OFPInstructionActions(kind, [a, P.OFPActionOutput(2, 0)])
            stats = mirror(flow(inst=[inst])).body[0]
            same(stats.instructions[0], inst, str(a))
    inst = [P.OFPInstructionMeter(3, O.OFPIT_METER), apply(*actions()[:4]),
            P.OFPInstructionActions(O.OFPIT_CLEAR_ACTIONS, []),
            P.OFPInstructionActions(O.OFPIT_WRITE_ACTIONS, actions()[4:9]),
            P.OFPInstructionWriteMetadata(0x12, 0xff),
            P.OFPInstructionGotoTable(9)]
    stats = mirror(flow(inst=inst, table_id=8)).body[0]
    assert len(stats.instructions) == len(inst)
    for got, want in zip(stats.instructions, inst):
        same(got, want, "instructions")


@slc.test("os-ken: set-field of every field, and its prerequisites")
def _(t):
    need_os_ken()
    mirror = t.enter_context(Mirror())
    for name, before, value, _ in settable():
        inst = apply(P.OFPActionSetField(**{name: value}))
        match = P.OFPMatch(**prerequisites()[before])
        stats = mirror(flow(match, [inst])).body[0]
        same(stats.instructions[0], inst, name)
        if before:
            assert mirror.error(flow(inst=[inst])) == (2, 10), name
    for name, value in (("in_port", 1), ("metadata", 1), ("ipv6_exthdr", 1)):
        inst = apply(P.OFPActionSetField(**{name: value}))
        match = P.OFPMatch(eth_type=0x86dd)
        assert mirror.error(flow(match, [inst])) == (2, 13), name


@slc.test("os-ken: what is wrong has the standard's error")
def _(t):
    need_os_ken()
    mirror = t.enter_context(Mirror())
    for what, msg, want in [
            ("no such command", flow(command=5), (5, 6)),
            ("no such flag", flow(flags=0x20), (5, 7)),
            ("goto itself", flow(inst=[P.OFPInstructionGotoTable(3)],
                                 table_id=3), (3, 2)),
            ("goto backwards", flow(inst=[P.OFPInstructionGotoTable(2)],
                                    table_id=3), (3, 2)),
            ("port 0", flow(inst=[apply(P.OFPActionOutput(0))]), (2, 4)),
            ("port ANY", flow(inst=[apply(P.OFPActionOutput(O.OFPP_ANY))]),
             (2, 4)),
            ("port TABLE", flow(inst=[apply(P.OFPActionOutput(O.OFPP_TABLE))]),
             (2, 4)),
            ("push_vlan of IP", flow(inst=[apply(P.OFPActionPushVlan(0x800))]),
             (2, 5)),
            ("pop_mpls of IP", flow(P.OFPMatch(eth_type=0x800),
                                    [apply(P.OFPActionPopMpls(0x800))]),
             (2, 10)),
            ("pop_vlan of no tag", flow(P.OFPMatch(vlan_vid=0),
                                        [apply(P.OFPActionPopVlan())]),
             (2, 10)),
            ("group ANY", flow(inst=[apply(P.OFPActionGroup(O.OFPG_ANY))]),
             (2, 9)),
            ("an experimenter's action", flow(inst=[apply(
                P.OFPActionExperimenterUnknown(0x1234, b"\0" * 8))]), (2, 2)),
            ("group command", P.OFPGroupMod(DP, 7, O.OFPGT_ALL, 1, []),
             (6, 11)),
            ("group type", P.OFPGroupMod(DP, 0, 9, 1, []), (6, 10)),
            ("group number", P.OFPGroupMod(DP, 0, 0, O.OFPG_ANY, []), (6, 1)),
            ("meter command", P.OFPMeterMod(DP, 5, 1, 1, []), (12, 4)),
            ("meter flags", P.OFPMeterMod(DP, 0, 3, 1, []), (12, 5)),
            ("an experimenter", P.OFPExperimenter(DP, 0x2320, 1, b""),
             (1, 3)),
            ("an experimenter's request", P.OFPExperimenterStatsRequest(
                DP, 0, 0x2320, 1, b""), (1, 3)),
            ("two instructions", flow(inst=[P.OFPInstructionGotoTable(1),
                                            P.OFPInstructionGotoTable(2)]),
             (3, 9))]:
        got = mirror.error(msg)
        assert got == want, "%s: %s, not %s" % (what, got, want)
    for what, text, want in [
            ("version 1.4", "05050008 00000001", (1, 0)),
            ("a packet-in", "040a0008 00000001", (1, 1)),
            ("a multipart type", "04120010 00000001 00630000 00000000",
             (1, 2)),
            ("a barrier with a body", "0414000c 00000001 00000000", (1, 6)),
            ("an instruction 9", "040e0040 00000001" + "00000000" * 4 +
             "00000000 00000000 ffffffff ffffffff ffffffff 00000000"
             "00010004 00000000 00090008 00000000", (3, 0)),
            ("a 1.0 flow of no command", "010e0048 00000001 003fffff" +
             "00000000" * 9 + "00000000 00000000 00090000 00000000 ffffffff"
             "ffff0000", (5, 6)),
            ("a 1.0 emergency flow", "010e0048 00000001 003fffff" +
             "00000000" * 9 + "00000000 00000000 00000000 00000000 ffffffff"
             "ffff0004", (5, 1))]:
        got = mirror.error_raw(bytes.fromhex(text.replace(" ", "")))
        assert got == want, "%s: %s, not %s" % (what, got, want)


# ---------------------------------------------------------- other kinds ---

@slc.test("os-ken: groups and meters come back")
def _(t):
    need_os_ken()
    mirror = t.enter_context(Mirror())
    for kind in range(4):
        buckets = [P.OFPBucket(weight=i, watch_port=i + 1,
                               watch_group=O.OFPG_ANY,
                               actions=actions()[i:2 * i])
                   for i in range(6)]
        got = mirror(P.OFPGroupMod(DP, O.OFPGC_ADD, kind, 0x77, buckets))
        assert got.body[0].type == kind and got.body[0].group_id == 0x77
        for g, b in zip(got.body[0].buckets, buckets):
            same(g, b, "bucket")
    bands = [P.OFPMeterBandDrop(1000, 10),
             P.OFPMeterBandDscpRemark(2000, 20, 1)]
    got = mirror(P.OFPMeterMod(DP, O.OFPMC_MODIFY, 13, 0x55, bands)).body[0]
    assert (got.flags, got.meter_id) == (13, 0x55)
    for g, b in zip(got.bands, bands):
        same(g, b, "band")


@slc.test("os-ken: the smaller messages come back")
def _(t):
    need_os_ken()
    mirror = t.enter_context(Mirror())
    got = mirror(P.OFPRoleRequest(DP, O.OFPCR_ROLE_MASTER, 0x1122334455667788))
    assert (got.role, got.generation_id) == (2, 0x1122334455667788)
    got = mirror(P.OFPSetAsync(DP, [1, 2], [3, 4], [5, 6]))
    assert (got.packet_in_mask, got.port_status_mask,
            got.flow_removed_mask) == ([1, 2], [3, 4], [5, 6])
    got = mirror(P.OFPSetConfig(DP, 1, 128))
    assert (got.flags, got.miss_send_len) == (1, 128)
    got = mirror(P.OFPPortMod(DP, 4, "02:00:00:00:00:04", 0x25, 1, 0x820))
    assert (got.desc.port_no, got.desc.hw_addr, got.desc.config,
            got.desc.state, got.desc.advertised) == (
                4, "02:00:00:00:00:04", 0x25, 1, 0x820)
    got = mirror(P.OFPPacketOut(DP, O.OFP_NO_BUFFER, O.OFPP_CONTROLLER,
                                actions(), b"frame" * 20))
    assert (got.buffer_id, got.match["in_port"], got.table_id, got.data) == (
        O.OFP_NO_BUFFER, O.OFPP_CONTROLLER, len(actions()), b"frame" * 20)
    # os-ken's own hello has no bitmap.
    got = read(DP, bytes.fromhex(mirror.raw(bytes.fromhex(
        "050000100000000100010008" "00000012"))))
    assert (got.version, got.elements[0].versions) == (4, [1, 4])
    got = mirror(P.OFPHello(DP))
    assert got.elements[0].versions == [1, 2, 3, 4], got.elements
    got = mirror(P.OFPEchoRequest(DP, b"any"))
    assert got.data == b"any"
    assert mirror(P.OFPBarrierRequest(DP)).msg_type == O.OFPT_BARRIER_REPLY
    got = mirror(P.OFPFlowStatsRequest(
        DP, 0, 5, 3, 4, 6, 0xff, P.OFPMatch(in_port=9))).body[0]
    assert (got.table_id, got.packet_count, got.cookie, got.byte_count,
            got.match["in_port"]) == (5, 3, 6, 0xff, 9)


def kinds_13():
    return [
        ("DESC", P.OFPDescStatsRequest(DP, 0)),
        ("TABLE", P.OFPTableStatsRequest(DP, 0)),
        ("PORT_STATS", P.OFPPortStatsRequest(DP, 0, O.OFPP_ANY)),
        ("QUEUE", P.OFPQueueStatsRequest(DP, 0, O.OFPP_ANY, O.OFPQ_ALL)),
        ("GROUP", P.OFPGroupStatsRequest(DP, 0, O.OFPG_ALL)),
        ("GROUP_DESC", P.OFPGroupDescStatsRequest(DP, 0)),
        ("GROUP_FEATURES", P.OFPGroupFeaturesStatsRequest(DP, 0)),
        ("METER", P.OFPMeterStatsRequest(DP, 0, O.OFPM_ALL)),
        ("METER_CONFIG", P.OFPMeterConfigStatsRequest(DP, 0, O.OFPM_ALL)),
        ("METER_FEATURES", P.OFPMeterFeaturesStatsRequest(DP, 0)),
        ("PORT_DESC", P.OFPPortDescStatsRequest(DP, 0)),
        ("FEATURES_REQUEST", P.OFPFeaturesRequest(DP)),
        ("GET_CONFIG_REQUEST", P.OFPGetConfigRequest(DP)),
        ("TABLE_MOD", P.OFPTableMod(DP, 3, 3)),
        ("GET_ASYNC_REQUEST", P.OFPGetAsyncRequest(DP)),
    ]


@slc.test("os-ken: what Open vSwitch adds to 1.0 and 1.3")
def _(t):
    need_os_ken()
    mirror = t.enter_context(Mirror())
    match = P10.OFPMatch(dl_type=0x8847)
    acts = [P10.NXActionSetQueue(5), P10.NXActionDecTtl(),
            P10.NXActionPushMpls(0x8847), P10.NXActionPopMpls(0x800),
            P10.NXActionSetMplsTtl(7), P10.NXActionDecMplsTtl(),
            P10.NXActionSetMplsLabel(77), P10.NXActionSetMplsTc(3),
            P10.OFPActionOutput(2, 0)]
    msg = P10.OFPFlowMod(DP10, match, 1, O10.OFPFC_ADD, 0, 0, 1,
                         O10.OFP_NO_BUFFER, O10.OFPP_NONE, 0, acts)
    got = mirror(msg).body[0].actions
    assert [a.to_jsondict() for a in got] == \
        [a.to_jsondict() for a in acts], got
    msg = P10.OFPFlowMod(DP10, match, 1, O10.OFPFC_ADD, 0, 0, 1,
                         O10.OFP_NO_BUFFER, O10.OFPP_NONE, 0,
                         [P10.NXActionResubmit(3)])
    assert mirror.error(msg) == (2, 3)
    other = bytearray(msg.buf)
    other[76:80] = b"\0\0\x12\x34"  # another vendor's
    assert mirror.error_raw(other) == (2, 2)
    # enqueue of ovs-ofctl at 1.3: set_queue, output, pop_queue.
    pop = "ffff00100000232000050000" "00000000"
    inst = "0004003000000000" "0015000800000003" \
        "0000001000000002" "0000000000000000" + pop
    got = mirror.raw(bytes.fromhex(
        "040e0068" "00000001" + "00" * 24 + "ffffffff" "ffffffff" "ffffffff"
        "00000000" "00010004" "00000000" + inst))
    assert got.endswith("0" * 8 + inst), got


@slc.test("os-ken: every other request is known for what it is")
def _(t):
    need_os_ken()
    mirror = t.enter_context(Mirror())
    for name, msg in kinds_13():
        got = mirror(msg).body.dp_desc.decode()
        assert got.split()[-1] == name, "%s is taken for %s" % (name, got)
    for name, msg in [
            ("DESC", P10.OFPDescStatsRequest(DP10, 0)),
            ("TABLE", P10.OFPTableStatsRequest(DP10, 0)),
            ("PORT_STATS", P10.OFPPortStatsRequest(DP10, 0, 0xffff)),
            ("QUEUE", P10.OFPQueueStatsRequest(DP10, 0, 0xffff, 0xffffffff)),
            ("FEATURES_REQUEST", P10.OFPFeaturesRequest(DP10)),
            ("GET_CONFIG_REQUEST", P10.OFPGetConfigRequest(DP10))]:
        got = mirror(msg).body.dp_desc.decode()
        assert got.split()[-1] == name, "%s is taken for %s" % (name, got)
    # A bundle: os-ken has its messages from 1.4 on only.
    got = mirror.raw(bytes.fromhex("04040018000000014f4e4600000008fc"
                                   "0000000700040003"))
    assert got == "04040018000000014f4e4600000008fc0000000700040003", got
    inner = "0414000800000001"
    got = mirror.raw(bytes.fromhex("04040020000000014f4e4600000008fd"
                                   "0000000700000003" + inner))
    assert got == "0415000800000001", got
    for n, want in (("0414000900000001", (17, 8)),
                    ("0414000800000002", (17, 9))):
        assert mirror.error_raw(bytes.fromhex(
            "04040020000000014f4e4600000008fd0000000700000003" + n)) == want


@slc.test("os-ken: table features come back")
def _(t):
    need_os_ken()
    mirror = t.enter_context(Mirror())
    ids = [P.OFPOxmId("eth_dst", hasmask=True), P.OFPOxmId("vlan_vid"),
           P.OFPOxmId("ipv6_exthdr")]
    props = [
        P.OFPTableFeaturePropInstructions(
            O.OFPTFPT_INSTRUCTIONS, instruction_ids=[P.OFPInstructionId(1),
                                     P.OFPInstructionId(4)]),
        P.OFPTableFeaturePropNextTables(O.OFPTFPT_NEXT_TABLES, table_ids=[5, 200]),
        P.OFPTableFeaturePropNextTables(O.OFPTFPT_NEXT_TABLES_MISS, table_ids=[6]),
        P.OFPTableFeaturePropActions(O.OFPTFPT_WRITE_ACTIONS,
                                     action_ids=[P.OFPActionId(0), P.OFPActionId(25)]),
        P.OFPTableFeaturePropActions(O.OFPTFPT_APPLY_ACTIONS,
                                     action_ids=[P.OFPActionId(22)]),
        P.OFPTableFeaturePropOxm(O.OFPTFPT_MATCH, oxm_ids=ids),
        P.OFPTableFeaturePropOxm(O.OFPTFPT_WILDCARDS, oxm_ids=ids[1:]),
        P.OFPTableFeaturePropOxm(O.OFPTFPT_WRITE_SETFIELD, oxm_ids=ids[1:2]),
        P.OFPTableFeaturePropOxm(O.OFPTFPT_APPLY_SETFIELD, oxm_ids=ids[1:2]),
    ]
    tables = [P.OFPTableFeaturesStats(
        table_id=n, name=b"t%d" % n, metadata_match=5, metadata_write=6,
        config=0, max_entries=100 + n, properties=props) for n in (0, 253)]
    got = mirror(P.OFPTableFeaturesStatsRequest(DP, 0, tables)).body
    assert len(got) == 2
    for g, want in zip(got, tables):
        assert (g.table_id, g.name.rstrip(b"\0"), g.max_entries,
                g.metadata_write) == (want.table_id, want.name,
                                      want.max_entries, 6)
        assert len(g.properties) == len(props), g.properties
        for a, b in zip(g.properties, props):
            for oxm in getattr(b, "oxm_ids", []):  # os-ken says 0
                size = {"eth_dst": 12}.get(oxm.type, 2)
                oxm.length, oxm.hasmask = size, int(oxm.hasmask)
            same(a, b, "property")


# ------------------------------------------------------------------ 1.0 ---

@slc.test("os-ken: flow-mods of 1.0 come back")
def _(t):
    need_os_ken()
    mirror = t.enter_context(Mirror())
    rng = random.Random(2)
    mac = b"\2\0\0\0\0\1"
    acts = [P10.OFPActionOutput(5, 0), P10.OFPActionOutput(O10.OFPP_NORMAL, 0),
            P10.OFPActionOutput(O10.OFPP_CONTROLLER, 99),
            P10.OFPActionVlanVid(9), P10.OFPActionVlanPcp(3),
            P10.OFPActionStripVlan(), P10.OFPActionSetDlSrc(mac),
            P10.OFPActionSetDlDst(mac), P10.OFPActionSetNwSrc("10.0.0.1"),
            P10.OFPActionSetNwDst("10.0.0.2"), P10.OFPActionSetNwTos(0xb8),
            P10.OFPActionSetTpSrc(80), P10.OFPActionSetTpDst(81),
            P10.OFPActionEnqueue(6, 3)]
    for _ in range(200):
        fields = {"in_port": 3, "dl_src": mac, "dl_dst": mac,
                  "dl_vlan": 10, "dl_vlan_pcp": 4}
        fields = {k: v for k, v in fields.items() if rng.random() < 0.5}
        if rng.random() < 0.2:
            fields["dl_vlan"] = 0xffff
            fields.pop("dl_vlan_pcp", None)
        proto = rng.choice([None, 6, 17, 1])
        if proto:
            fields.update(dl_type=0x800, nw_proto=proto, nw_tos=0x20,
                          nw_src="10.0.0.0", nw_src_mask=8,
                          nw_dst="10.1.2.3", tp_src=7, tp_dst=8)
        match = P10.OFPMatch(**fields)
        chosen = rng.sample(acts, rng.randrange(len(acts)))
        msg = P10.OFPFlowMod(DP10, match, 0xabc, O10.OFPFC_ADD, 1, 2, 77,
                             O10.OFP_NO_BUFFER, O10.OFPP_NONE, 1, chosen)
        got = mirror(msg).body[0]
        assert (got.cookie, got.priority, got.idle_timeout,
                got.hard_timeout) == (0xabc, 77, 1, 2)
        same(got.match, match, "match of 1.0")
        assert [a.to_jsondict() for a in got.actions] == \
            [a.to_jsondict() for a in chosen], (got.actions, chosen)
    got = mirror(P10.OFPPacketOut(DP10, O10.OFP_NO_BUFFER, O10.OFPP_NONE,
                                  [acts[0]], b"x" * 60))
    assert (got.in_port, got.data) == (O10.OFPP_CONTROLLER, b"x" * 60)
    got = mirror(P10.OFPPortMod(DP10, 4, "02:00:00:00:00:04", 0x30, 1, 0x220))
    assert (got.desc.port_no, got.desc.config, got.desc.state,
            got.desc.advertised) == (4, 0x30, 1, 0x220)


# ------------------------------------------------ what the switch says ---

def samples():
    text = subprocess.run([MIRROR, "--samples"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    for line in text.splitlines():
        version, name, data = line.split()
        yield int(version), name, bytes.fromhex(data)


WANT = {
    "features": dict(datapath_id=0x1122334455667788, n_buffers=256,
                     n_tables=254),
    "packet_in": dict(total_len=60, buffer_id=0xffffffff),
    "flow_removed": dict(cookie=9, priority=100, duration_sec=5,
                         duration_nsec=7, idle_timeout=10, packet_count=5,
                         byte_count=500),
    "error": dict(),
    "desc": dict(mfr_desc=b"Sluice", dp_desc=b"br0"),
    "aggregate": dict(packet_count=10, byte_count=1000, flow_count=3),
    "table": dict(table_id=4, active_count=2, lookup_count=30,
                  matched_count=20),
    "port_stats": dict(port_no=3, rx_packets=1, tx_packets=2, rx_bytes=3,
                       tx_bytes=4, rx_dropped=5, tx_dropped=6, rx_errors=7,
                       tx_errors=8, rx_frame_err=9, rx_over_err=10,
                       rx_crc_err=11, collisions=12),
    "queue": dict(port_no=3, queue_id=7, tx_bytes=100, tx_packets=2,
                  tx_errors=1),
    "group": dict(group_id=7, ref_count=1, packet_count=3, byte_count=300,
                  duration_sec=5, duration_nsec=7),
    "group_features": dict(types=15, capabilities=15,
                           max_groups=[0xff00] * 4,
                           actions=[1 | 1 << 22] * 4),
    "meter": dict(meter_id=8, flow_count=1, packet_in_count=3,
                  byte_in_count=300, duration_sec=5),
    "meter_features": dict(max_meter=65535, band_types=6, capabilities=15,
                           max_bands=16, max_color=0),
    "port_desc": dict(port_no=3, hw_addr="02:00:00:00:00:03", name=b"eth3",
                      config=1, state=1, curr=0x840, advertised=0x2000,
                      supported=0x1020, peer=1, curr_speed=10000000),
}


@slc.test("os-ken: reads every message of the switch")
def _(t):
    need_os_ken()
    seen = set()
    for version, name, data in samples():
        msg = read(DP10 if version == 1 else DP, data)
        body = getattr(msg, "body", msg)
        item = body[0] if isinstance(body, list) else body
        for key, want in WANT.get(name, {}).items():
            got = getattr(item, key)
            got = got.rstrip(b"\0") if isinstance(got, bytes) else got
            assert got == want, (version, name, key, got)
        if name == "error":
            want = (3, 1) if version == 1 else (5, 3)
            assert (msg.type, msg.code) == want
            assert len(msg.data) >= 60
        if name == "queue_config":
            assert [q.queue_id for q in msg.queues] == [0, 7]
            assert msg.queues[0].properties[0].rate == 100
        if name == "port_status":
            assert (msg.desc.port_no, msg.desc.name.rstrip(b"\0")) in (
                (3, b"eth3"), (3, "eth3"))
        seen.add((version, name))
    assert len(seen) == 27, sorted(seen)


def pcap(messages):
    """A capture of a TCP connection to port 6653 with these messages, one per
    segment, as text for text2pcap."""
    for data in messages:
        yield " ".join("%02x" % b for b in data)


@slc.test("tshark: finds nothing malformed")
def _(t):
    if not shutil.which("tshark") or not shutil.which("text2pcap"):
        raise slc.Skip("tshark is not installed")
    folder = t.enter_context(tempfile.TemporaryDirectory(prefix="slc-ofp"))
    text, path = folder + "/hex", folder + "/pcap"
    sent = list(samples())
    with open(text, "w") as f:
        for line in pcap(m[2] for m in sent):
            f.write("000000 " + line + "\n")
    subprocess.run(["text2pcap", "-q", "-T", "6653,1000", text, path],
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    # One message per segment that begins where it begins: no reassembly.
    out = subprocess.run(
        ["tshark", "-r", path, "-o", "tcp.analyze_sequence_numbers:FALSE",
         "-o", "openflow.desegment:FALSE", "-d", "tcp.port==6653,openflow",
         "-T", "fields", "-e", "openflow_1_0.type", "-e", "openflow_v4.type",
         "-e", "_ws.malformed", "-e", "_ws.expert.message"],
        check=True, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL).stdout.splitlines()
    assert len(out) == len(sent), (len(out), len(sent))
    for line, (version, name, data) in zip(out, sent):
        v1, v4, malformed, expert = (line.split("\t") + [""] * 4)[:4]
        number = v1 if version == 1 else v4
        assert number.split(",")[0] == str(data[1]), (version, name, line)
        assert not malformed, (version, name, line)


# ----------------------------------------------------------------- text ---

def ours(lines):
    """Lines of flows, as ofp_mirror understood them."""
    text = "".join("flow %s\n" % line for line in lines)
    out = subprocess.run([MIRROR, "--text"], input=text, check=True,
                         text=True, stdout=subprocess.PIPE).stdout
    return out.splitlines()


def theirs(lines):
    """The flow-mods of 1.3 that ovs-ofctl makes of them."""
    found = []
    with tempfile.NamedTemporaryFile("w", prefix="slc-ofp") as f:
        f.write("".join(line + "\n" for line in lines))
        f.flush()
        out = subprocess.run(
            ["ovs-ofctl", "-O", "OpenFlow13", "parse-flows", f.name],
            check=True, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL).stdout
    for line in out.splitlines():
        if line.startswith("OFPT_FLOW_MOD") or "(xid=" in line:
            found.append(line.split("): ", 1)[1])
    return found


@slc.test("ovs-ofctl: what we make of a flow file is the same to it")
def _(t):
    if not shutil.which("ovs-ofctl"):
        raise slc.Skip("ovs-ofctl is not installed (openvswitch-common)")
    path = os.path.join(slc.TOP_SRC, "tests", "unit", "data", "flows.txt")
    with open(path) as f:
        lines = [line.strip().replace("p2", "2") for line in f
                 if line.strip() and not line.startswith("#")]
    again = ours(lines)
    assert not [a for a in again if a.startswith("error")], again
    want, got = theirs(lines), theirs(again)
    assert len(want) == len(lines) and len(got) == len(lines)
    for line, a, w, g in zip(lines, again, want, got):
        assert w == g, "%s\n  we say %s\n  it means %s\n  not      %s" % (
            line, a, g, w)


slc.main(root=False)
