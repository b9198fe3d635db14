# SPDX-License-Identifier: Apache-2.0
"""Test patterns of OpenFlow 1.3 for os-ken's switch tester, generated.

The tester (os_ken.tests.switch.tester) has a switch to be tested and one to
test it with; ports 1, 2 and 3 of both are wired to each other.  A pattern says
what is set up in the first (flows, groups, meters), which frame the second
sends on port 1, and what then comes: a frame on port 2, a packet-in, or
nothing but a look-up in a table.  Frames are expressions in os-ken's packet
library, which computes lengths and checksums.

all_patterns() gives {file: [case, ...]}; write() puts them where the tester
finds them.
"""
import json
import os
import struct

CONTROLLER = 0xfffffffd
IP4, IP6, ARP = 0x0800, 0x86dd, 0x0806
VLAN, SVLAN, MPLS, MMPLS, PBB = 0x8100, 0x88a8, 0x8847, 0x8848, 0x88e7
TCP, UDP, SCTP, ICMP, ICMP6 = 6, 17, 132, 1, 58
# What is behind the headers; frames are never shorter than 60 octets.
DATA = "bytes(range(40))"
# Values of the frame that a flow is to match, and of another.
A = {"dst": "0a:11:22:33:44:55", "src": "0a:66:77:88:99:aa", "vid": 100,
     "pcp": 5, "dscp": 26, "ecn": 2, "s4": "10.20.30.40", "d4": "10.50.60.70",
     "s6": "fd00:1:2::3", "d6": "fd00:4:5::6", "flow": 0x12345, "sp": 4321,
     "dp": 8765, "type": 8, "code": 0, "type6": 128, "code6": 0, "op": 1,
     "target": "fe80::1:2", "sll": "0a:00:00:00:00:01",
     "tll": "0a:00:00:00:00:02", "label": 0x54321, "tc": 3, "sid": 0x123456,
     "ttl": 64, "mttl": 77}
B = {"dst": "0e:1f:2f:3f:4f:5f", "src": "0e:6f:7f:8f:9f:af", "vid": 2345,
     "pcp": 2, "dscp": 45, "ecn": 1, "s4": "172.31.201.99",
     "d4": "192.168.77.66", "s6": "2001:db8:f::9", "d6": "2001:db8:e::8",
     "flow": 0x0fedc, "sp": 50505, "dp": 60606, "type": 0, "code": 3,
     "type6": 129, "code6": 4, "op": 2, "target": "fe80::9:a",
     "sll": "0e:00:00:00:00:0b", "tll": "0e:00:00:00:00:0c", "label": 0x0abcd,
     "tc": 6, "sid": 0xabcdef, "ttl": 32, "mttl": 99}


# --- frames -----------------------------------------------------------------

def eth(v, ethertype):
    return "ethernet(dst=%r, src=%r, ethertype=%d)" % (
        v["dst"], v["src"], ethertype)


def vlan(v, ethertype):
    return "vlan(pcp=%d, cfi=0, vid=%d, ethertype=%d)" % (
        v["pcp"], v["vid"], ethertype)


def svlan(v, ethertype):
    return "svlan(pcp=%d, cfi=0, vid=%d, ethertype=%d)" % (
        v["pcp"], v["vid"], ethertype)


def mpls(v, bos=1):
    return "mpls(label=%d, exp=%d, bsb=%d, ttl=%d)" % (
        v["label"], v["tc"], bos, v["mttl"])


def ipv4(v, proto):
    return "ipv4(proto=%d, tos=%d, src=%r, dst=%r, ttl=%d)" % (
        proto, v["dscp"] << 2 | v["ecn"], v["s4"], v["d4"], v["ttl"])


def ipv6(v, nxt, ext=""):
    return ("ipv6(nxt=%d, traffic_class=%d, flow_label=%d, src=%r, dst=%r, "
            "hop_limit=%d%s)") % (
        nxt, v["dscp"] << 2 | v["ecn"], v["flow"], v["s6"], v["d6"], v["ttl"],
        ext and ", ext_hdrs=[%s]" % ext)


def arp(v):
    return "arp(opcode=%d, src_mac=%r, src_ip=%r, dst_mac=%r, dst_ip=%r)" % (
        v["op"], v["sll"], v["s4"], v["tll"], v["d4"])


def crc32c(data):
    c = 0xffffffff
    for octet in data:
        c ^= octet
        for _ in range(8):
            c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
    return c ^ 0xffffffff


def sctp_sum(src, dst):
    """As l4() has it: os-ken's own is one of text.  Its octets are sent in
    the other order than numbers are."""
    data = bytes(range(40))
    packet = struct.pack(">HHIIBBHIHHI", src, dst, 0, 0, 0, 7,
                         16 + len(data), 1, 0, 0, 0) + data
    return struct.unpack(">I", struct.pack("<I", crc32c(packet)))[0]


def l4(v, proto):
    """The layers from the transport on."""
    if proto == TCP:
        return ["tcp(src_port=%d, dst_port=%d, seq=7, ack=9, bits=16)" %
                (v["sp"], v["dp"]), DATA]
    if proto == UDP:
        return ["udp(src_port=%d, dst_port=%d)" % (v["sp"], v["dp"]), DATA]
    if proto == SCTP:
        return ["sctp(src_port=%d, dst_port=%d, csum=%d, chunks=["
                "chunk_data(unordered=1, begin=1, end=1, tsn=1, "
                "payload_data=%s)])" %
                (v["sp"], v["dp"], sctp_sum(v["sp"], v["dp"]), DATA)]
    if proto == ICMP:
        return ["icmp(type_=%d, code=%d, data=echo(1, 2, %s))" %
                (v["type"], v["code"], DATA)]
    return ["icmpv6(type_=%d, code=%d, data=icmpv6echo(1, 2, %s))" %
            (v["type6"], v["code6"], DATA)]


def nd(v, type_):
    """Neighbour solicitation (135) or advertisement (136)."""
    option = ("nd_option_sla(hw_src=%r)" % v["sll"] if type_ == 135 else
              "nd_option_tla(hw_src=%r)" % v["tll"])
    return [ipv6(v, ICMP6),
            "icmpv6(type_=%d, code=0, data=nd_neighbor(dst=%r, option=%s))" %
            (type_, v["target"], option)]


def l3(v, kind):
    """(ethertype, layers) of what is called kind: "ipv4/tcp", ..."""
    if kind == "arp":
        return ARP, [arp(v), "bytes(18)"]
    if kind.startswith("nd"):
        return IP6, nd(v, int(kind[2:]))
    net, transport = kind.split("/")
    proto = {"tcp": TCP, "udp": UDP, "sctp": SCTP,
             "icmp": ICMP if net == "ipv4" else ICMP6}[transport]
    head = ipv4(v, proto) if net == "ipv4" else ipv6(v, proto)
    return (IP4 if net == "ipv4" else IP6), [head] + l4(v, proto)


def frame(v, kind, stack=""):
    """Layers of a frame; stack: what is between Ethernet and kind."""
    ethertype, inner = l3(v, kind)
    if stack == "pbb":
        return [eth(v, PBB), "itag(sid=%d)" % v["sid"]] + \
            frame(dict(v, dst="0a:de:00:00:00:01", src="0a:de:00:00:00:02"),
                  kind, "qinq")
    if stack == "":
        return [eth(v, ethertype)] + inner
    if stack == "vlan":
        return [eth(v, VLAN), vlan(v, ethertype)] + inner
    if stack == "qinq":
        return [eth(v, SVLAN), svlan(v, VLAN),
                vlan(dict(v, vid=7, pcp=1), ethertype)] + inner
    if stack == "mpls":
        return [eth(v, MPLS), mpls(v)] + inner
    if stack == "mpls2":
        return [eth(v, MPLS), mpls(v, 0),
                mpls(dict(v, label=16, tc=1, mttl=33))] + inner
    assert stack == "mpls in vlan", stack
    return [eth(v, VLAN), vlan(v, MPLS), mpls(v)] + inner


# --- messages ---------------------------------------------------------------

def tlv(field, value, mask=None):
    t = {"field": field, "value": value}
    if mask is not None:
        t["mask"] = mask
    return {"OXMTlv": t}


def match(*fields):
    return {"OFPMatch": {"oxm_fields": [tlv(*f) for f in fields]}}


def output(port=2):
    a = {"port": port}
    if port == CONTROLLER:
        a["max_len"] = 0xffff
    return {"OFPActionOutput": a}


def set_field(field, value):
    return {"OFPActionSetField": {"field": tlv(field, value)}}


def apply(*actions):
    return {"OFPInstructionActions": {"type": 4, "actions": list(actions)}}


def write(*actions):
    return {"OFPInstructionActions": {"type": 3, "actions": list(actions)}}


def goto(table):
    return {"OFPInstructionGotoTable": {"table_id": table}}


def flow(fields, *instructions, table=0, **more):
    return {"OFPFlowMod": dict(more, table_id=table, match=match(*fields),
                               instructions=list(instructions))}


def simple(fields, *actions, **more):
    return flow(fields, apply(*actions), **more)


def group(number, kind, *buckets):
    return {"OFPGroupMod": {
        "group_id": number, "type": kind,
        "buckets": [{"OFPBucket": b} for b in buckets]}}


def to_group(number):
    return {"OFPActionGroup": {"group_id": number}}


def case(what, setup, sent, comes=None, packet_in=None, miss=None):
    test = {"ingress": sent}
    if comes is not None:
        test["egress"] = comes
    elif packet_in is not None:
        test["PACKET_IN"] = packet_in
    else:
        test["table-miss"] = miss or [0]
    return {"description": what, "prerequisite": setup, "tests": [test]}


# --- matches ----------------------------------------------------------------

EVERY = ("", "vlan", "qinq", "mpls", "mpls2", "mpls in vlan", "pbb")
PLAIN = ("", "vlan", "qinq")
L2_KINDS = ("ipv4/tcp", "ipv6/udp", "arp")


def ones(bits, low):
    """A mask without its low bits."""
    return (1 << bits) - (1 << low)


def mac_mask(mac, low):
    v = int(mac.replace(":", ""), 16) & ones(48, low)
    text = "%012x" % v
    return ":".join(text[i:i + 2] for i in range(0, 12, 2))


def ip4_mask(ip, mask):
    parts = [int(x) for x in ip.split(".")]
    masks = [int(x) for x in mask.split(".")]
    return ".".join(str(p & m) for p, m in zip(parts, masks))


# (number, field, stacks, kinds, prerequisites, value, masked value and mask)
def field_table():
    ip = [("eth_type", IP4)]
    ip6 = [("eth_type", IP6)]
    label = [("eth_type", MPLS)]
    rows = [
        (3, "eth_dst", EVERY, L2_KINDS, [], A["dst"],
         (mac_mask(A["dst"], 8), "ff:ff:ff:ff:ff:00")),
        (4, "eth_src", EVERY, L2_KINDS, [], A["src"],
         (mac_mask(A["src"], 8), "ff:ff:ff:ff:ff:00")),
        (6, "vlan_vid", ("vlan", "qinq"), L2_KINDS, [], 0x1000 | A["vid"],
         (0x1000 | A["vid"] & 0xff0, 0x1ff0)),
        (7, "vlan_pcp", ("vlan", "qinq"), L2_KINDS,
         [("vlan_vid", 0x1000, 0x1000)], A["pcp"], None),
        (11, "ipv4_src", PLAIN, ("ipv4/tcp",), ip, A["s4"],
         (ip4_mask(A["s4"], "255.255.0.0"), "255.255.0.0")),
        (12, "ipv4_dst", PLAIN, ("ipv4/tcp",), ip, A["d4"],
         (ip4_mask(A["d4"], "255.255.255.240"), "255.255.255.240")),
        (22, "arp_spa", PLAIN, ("arp",), [("eth_type", ARP)], A["s4"],
         (ip4_mask(A["s4"], "255.255.255.0"), "255.255.255.0")),
        (23, "arp_tpa", PLAIN, ("arp",), [("eth_type", ARP)], A["d4"],
         (ip4_mask(A["d4"], "255.0.0.255"), "255.0.0.255")),
        (24, "arp_sha", PLAIN, ("arp",), [("eth_type", ARP)], A["sll"],
         (mac_mask(A["sll"], 4), "ff:ff:ff:ff:ff:f0")),
        (25, "arp_tha", PLAIN, ("arp",), [("eth_type", ARP)], A["tll"],
         (mac_mask(A["tll"], 4), "ff:ff:ff:ff:ff:f0")),
        (21, "arp_op", PLAIN, ("arp",), [("eth_type", ARP)], A["op"], None),
        (26, "ipv6_src", PLAIN, ("ipv6/tcp",), ip6, A["s6"],
         ("fd00:1:2::", "ffff:ffff:ffff::")),
        (27, "ipv6_dst", PLAIN, ("ipv6/tcp",), ip6, A["d6"],
         ("fd00:4:5::", "ffff:ffff:ffff::")),
        (28, "ipv6_flabel", PLAIN, ("ipv6/tcp",), ip6, A["flow"],
         (A["flow"] & 0xfff00, 0xfff00)),
        (34, "mpls_label", ("mpls", "mpls2", "mpls in vlan"), L2_KINDS, label,
         A["label"], None),
        (35, "mpls_tc", ("mpls", "mpls2", "mpls in vlan"), L2_KINDS, label,
         A["tc"], None),
        (37, "pbb_isid", ("pbb",), L2_KINDS, [("eth_type", PBB)], A["sid"],
         (A["sid"] & 0xffff00, 0xffff00)),
        (31, "ipv6_nd_target", PLAIN, ("nd135", "nd136"), None, A["target"],
         None),
        (32, "ipv6_nd_sll", PLAIN, ("nd135",), None, A["sll"], None),
        (33, "ipv6_nd_tll", PLAIN, ("nd136",), None, A["tll"], None),
    ]
    for net, pre in (("ipv4", ip), ("ipv6", ip6)):
        rows += [
            (8, "ip_dscp", PLAIN, (net + "/tcp",), pre, A["dscp"], None),
            (9, "ip_ecn", PLAIN, (net + "/tcp",), pre, A["ecn"], None),
        ]
        for number, name, proto in ((13, "tcp", TCP), (15, "udp", UDP),
                                    (17, "sctp", SCTP)):
            p = pre + [("ip_proto", proto)]
            kinds = ("%s/%s" % (net, name),)
            rows += [
                (number, name + "_src", PLAIN, kinds, p, A["sp"], None),
                (number + 1, name + "_dst", PLAIN, kinds, p, A["dp"], None),
            ]
    rows += [
        (19, "icmpv4_type", PLAIN, ("ipv4/icmp",), ip + [("ip_proto", ICMP)],
         A["type"], None),
        (20, "icmpv4_code", PLAIN, ("ipv4/icmp",), ip + [("ip_proto", ICMP)],
         A["code"], None),
        (29, "icmpv6_type", PLAIN, ("ipv6/icmp",),
         ip6 + [("ip_proto", ICMP6)], A["type6"], None),
        (30, "icmpv6_code", PLAIN, ("ipv6/icmp",),
         ip6 + [("ip_proto", ICMP6)], A["code6"], None),
    ]
    return rows


def three(name, fields, sent, other):
    """A field that matches: out of a port, to the controller; and one that
    does not."""
    yield case(name + " -> output:2", [simple(fields, output())], sent,
               comes=sent)
    yield case(name + " -> controller", [simple(fields, output(CONTROLLER))],
               sent, packet_in=sent)
    if other:
        yield case(name + " does not match", [simple(fields, output())],
                   other)


def popped(name, kind, fields, sent, other):
    """The same in the next table, behind a label or an I-TAG that goes."""
    ethertype = l3(A, kind)[0]
    for outer, pre, pop in (
            ("mpls", MPLS, {"OFPActionPopMpls": {"ethertype": ethertype}}),
            ("pbb", PBB, {"OFPActionPopPbb": {}})):
        first = flow([("eth_type", pre)], apply(pop), goto(1))

        def under(v, layers):
            if outer == "mpls":
                return [eth(v, MPLS), mpls(A)] + layers[1:]
            return [eth(B, PBB), "itag(sid=5)"] + layers
        what = "%s behind %s" % (name, outer)
        yield case(what, [first, simple(fields, output(), table=1)],
                   under(A, sent), comes=sent)
        yield case(what + " -> controller",
                   [first, simple(fields, output(CONTROLLER), table=1)],
                   under(A, sent), packet_in=sent)
        yield case(what + " does not match",
                   [first, simple(fields, output(), table=1)],
                   under(B, other), miss=[1])


def match_field(number, field, stacks, kinds, pre, value, masked):
    for kind in kinds:
        before = pre
        if pre is None:
            before = [("eth_type", IP6), ("ip_proto", ICMP6),
                      ("icmpv6_type", int(kind[2:]))]
        # In ascending order, as the switch tells them.
        for fields, how in (([(field, value)], ""),
                            ([(field,) + masked], " masked")
                            if masked else (None, "")):
            if not fields:
                continue
            for stack in stacks:
                name = "%s%s, %s%s" % (field, how, stack and stack + "/",
                                       kind)
                yield from three(name, before + fields,
                                 frame(A, kind, stack),
                                 frame(B, kind, stack))
            if stacks == PLAIN:
                yield from popped("%s%s, %s" % (field, how, kind), kind,
                                  before + fields, frame(A, kind),
                                  frame(B, kind))


def match_eth_type():
    for stack in EVERY:
        for kind in L2_KINDS:
            sent = frame(A, kind, stack)
            value = {"mpls": MPLS, "mpls2": MPLS, "mpls in vlan": MPLS,
                     "pbb": PBB}.get(stack, l3(A, kind)[0])
            other = frame(A, "arp" if kind != "arp" else "ipv4/tcp",
                          "" if value in (MPLS, PBB) else stack)
            yield from three("eth_type, %s%s" % (stack and stack + "/", kind),
                             [("eth_type", value)], sent, other)


def match_ip_proto():
    for net, ethertype in (("ipv4", IP4), ("ipv6", IP6)):
        for name, proto in (("tcp", TCP), ("udp", UDP), ("sctp", SCTP),
                            ("icmp", ICMP if net == "ipv4" else ICMP6)):
            other = "udp" if name == "tcp" else "tcp"
            for stack in PLAIN:
                yield from three(
                    "ip_proto, %s%s/%s" % (stack and stack + "/", net, name),
                    [("eth_type", ethertype), ("ip_proto", proto)],
                    frame(A, "%s/%s" % (net, name), stack),
                    frame(A, "%s/%s" % (net, other), stack))


def match_in_port():
    for kind in L2_KINDS:
        sent = frame(A, kind)
        yield from three("in_port, " + kind, [("in_port", 1)], sent, None)
        yield case("in_port does not match, " + kind,
                   [simple([("in_port", 3)], output())], sent)
        yield from three("in_phy_port, " + kind,
                         [("in_port", 1), ("in_phy_port", 1)], sent, None)


def match_no_vlan():
    for kind in L2_KINDS:
        yield from three("vlan_vid: no tag, " + kind, [("vlan_vid", 0)],
                         frame(A, kind), frame(A, kind, "vlan"))
        yield from three("vlan_vid: any tag, " + kind,
                         [("vlan_vid", 0x1000, 0x1000)],
                         frame(A, kind, "vlan"), frame(A, kind))


def match_bos():
    for kind in L2_KINDS:
        for bos, stack, other in ((1, "mpls", "mpls2"), (0, "mpls2", "mpls")):
            yield from three("mpls_bos %d, %s" % (bos, kind),
                             [("eth_type", MPLS), ("mpls_bos", bos)],
                             frame(A, kind, stack), frame(A, kind, other))


def match_metadata():
    for kind in L2_KINDS:
        sent = frame(A, kind)
        for fields, meta, what in (
                ([("metadata", 0x1122334455667788)], 0x1122334455667788, ""),
                ([("metadata", 0x1122330000000000, 0xffffff0000000000)],
                 0x1122334455667788, " masked")):
            for value, comes in ((meta, True), (meta ^ 1 << 63, False)):
                write_it = {"OFPInstructionWriteMetadata": {
                    "metadata": value, "metadata_mask": ones(64, 0)}}
                yield case(
                    "metadata%s, %s%s" % (what, kind,
                                          "" if comes else
                                          " does not match"),
                    [flow([], write_it, goto(1)),
                     simple(fields, output(), table=1)],
                    sent, comes=sent if comes else None, miss=[1])


def match_tunnel_id():
    for kind in L2_KINDS:
        sent = frame(A, kind)
        for value, comes in ((0x123456789, True), (0x123456780, False)):
            for what, f in (("", ("tunnel_id", 0x123456789)),
                            (" masked", ("tunnel_id", 0x123456709,
                                         0xffffffff0f))):
                if what and not comes:
                    continue
                yield case("tunnel_id%s set before, %s%s" % (
                    what, kind, "" if comes else " does not match"),
                    [flow([], apply(set_field("tunnel_id", value)), goto(1)),
                     simple([f], output(), table=1)],
                    sent, comes=sent if comes else None, miss=[1])


def with_ext(v, headers):
    """An IPv6 frame with extension headers."""
    numbers = {"hop_opts": 0, "routing_type3": 43, "fragment": 44, "auth": 51,
               "dst_opts": 60}
    option = "[ipv6option(type_=1, len_=4, data=bytes(4))]"
    text = []
    for i, h in enumerate(headers):
        nxt = numbers[headers[i + 1]] if i + 1 < len(headers) else TCP
        args = {"hop_opts": "size=0, data=" + option,
                "dst_opts": "size=0, data=" + option,
                "routing_type3":
                    "size=0, type_=3, seg=0, cmpi=0, cmpe=0, adrs=[]",
                "fragment": "offset=0, more=0, id_=7",
                "auth": "size=4, spi=1, seq=1, data=bytes(12)"}[h]
        text.append("%s(nxt=%d, %s)" % (h, nxt, args))
    first = numbers[headers[0]] if headers else TCP
    return [eth(v, IP6), ipv6(v, first, ", ".join(text))] + l4(v, TCP)


EXTHDR = {"": 1, "auth": 4, "dst_opts": 8, "fragment": 16,
          "routing_type3": 32, "hop_opts": 64}


def match_exthdr():
    pre = [("eth_type", IP6)]
    nothing = [eth(A, IP6), ipv6(A, 59), DATA]
    for name, bit in EXTHDR.items():
        sent = with_ext(A, [name]) if name else nothing
        other = with_ext(A, [] if name else ["hop_opts"])
        for what, f in (("", ("ipv6_exthdr", bit)),
                        (" masked", ("ipv6_exthdr", bit, bit))):
            yield from three("ipv6_exthdr%s %s" % (what, name or "no next"),
                             pre + [f], sent, other)
    yield from three("ipv6_exthdr: no header", pre + [("ipv6_exthdr", 0)],
                     with_ext(A, []), with_ext(A, ["auth"]))
    both = with_ext(A, ["hop_opts", "dst_opts"])
    yield from three("ipv6_exthdr hop_opts, dst_opts",
                     pre + [("ipv6_exthdr", 64 | 8)], both,
                     with_ext(A, ["hop_opts"]))
    yield from three("ipv6_exthdr dst_opts of two", pre +
                     [("ipv6_exthdr", 8, 8)], both, with_ext(A, ["auth"]))
    yield from three("ip_proto behind extension headers",
                     pre + [("ip_proto", TCP), ("tcp_dst", A["dp"])],
                     with_ext(A, ["hop_opts", "dst_opts", "auth"]), None)


def matches():
    out = {}
    for row in field_table():
        out.setdefault("match/%02d_%s" % row[:2], []).extend(
            match_field(*row))
    out["match/00_in_port"] = list(match_in_port())
    out["match/02_metadata"] = list(match_metadata())
    out["match/05_eth_type"] = list(match_eth_type())
    out["match/06_vlan_vid"] += match_no_vlan()
    out["match/10_ip_proto"] = list(match_ip_proto())
    out["match/36_mpls_bos"] = list(match_bos())
    out["match/38_tunnel_id"] = list(match_tunnel_id())
    out["match/39_ipv6_exthdr"] = list(match_exthdr())
    return out


# --- actions ----------------------------------------------------------------

def act_output():
    for kind in L2_KINDS:
        sent = frame(A, kind)
        yield case("output:2, " + kind, [simple([], output())], sent, sent)
        yield case("output:controller, " + kind,
                   [simple([], output(CONTROLLER))], sent, packet_in=sent)
        for name, port in (("all", 0xfffffffc), ("flood", 0xfffffffb),
                           ("normal", 0xfffffffa)):
            yield case("output:%s, %s" % (name, kind),
                       [simple([], output(port))], sent, sent)
        yield case("no action, " + kind,
                   [simple([("in_port", 3)], output())], sent)


def act_ttl():
    def with_ttl(kind, ttl):
        return frame(dict(A, ttl=ttl), kind)

    for kind in ("ipv4/tcp", "ipv6/tcp"):
        pre = [("eth_type", l3(A, kind)[0])]
        yield case("set_nw_ttl, " + kind,
                   [simple(pre, {"OFPActionSetNwTtl": {"nw_ttl": 17}},
                           output())],
                   with_ttl(kind, 64), with_ttl(kind, 17))
        yield case("dec_nw_ttl, " + kind,
                   [simple(pre, {"OFPActionDecNwTtl": {}}, output())],
                   with_ttl(kind, 64), with_ttl(kind, 63))
        m = [("eth_type", MPLS)]
        for name, act, before, after in (
                ("copy_ttl_out", "OFPActionCopyTtlOut", (77, 64), (64, 64)),
                ("copy_ttl_in", "OFPActionCopyTtlIn", (77, 64), (77, 77))):
            def labelled(t):
                return frame(dict(A, mttl=t[0], ttl=t[1]), kind, "mpls")
            yield case("%s, mpls/%s" % (name, kind),
                       [simple(m, {act: {}}, output())],
                       labelled(before), labelled(after))
    for kind in L2_KINDS:
        m = [("eth_type", MPLS)]
        for stack in ("mpls", "mpls2", "mpls in vlan"):
            yield case("set_mpls_ttl, %s/%s" % (stack, kind),
                       [simple(m, {"OFPActionSetMplsTtl": {"mpls_ttl": 9}},
                               output())],
                       frame(A, kind, stack),
                       frame(dict(A, mttl=9), kind, stack)
                       if stack != "mpls2" else relabel(kind, 9, 33))
            yield case("dec_mpls_ttl, %s/%s" % (stack, kind),
                       [simple(m, {"OFPActionDecMplsTtl": {}}, output())],
                       frame(A, kind, stack),
                       frame(dict(A, mttl=76), kind, stack)
                       if stack != "mpls2" else relabel(kind, 76, 33))
        yield case("copy_ttl_out, mpls/mpls/" + kind,
                   [simple(m, {"OFPActionCopyTtlOut": {}}, output())],
                   frame(A, kind, "mpls2"), relabel(kind, 33, 33))
        yield case("copy_ttl_in, mpls/mpls/" + kind,
                   [simple(m, {"OFPActionCopyTtlIn": {}}, output())],
                   frame(A, kind, "mpls2"), relabel(kind, 77, 77))


def relabel(kind, outer, inner):
    """A frame with two labels of these TTLs."""
    layers = frame(A, kind, "mpls2")
    layers[1] = mpls(dict(A, mttl=outer), 0)
    layers[2] = mpls(dict(A, label=16, tc=1, mttl=inner))
    return layers


def act_vlan():
    for kind in L2_KINDS:
        ethertype, inner = l3(A, kind)
        pre = [("eth_type", ethertype)]
        for tpid, tag in ((VLAN, vlan), (SVLAN, svlan)):
            push = {"OFPActionPushVlan": {"ethertype": tpid}}
            zero = dict(A, vid=0, pcp=0)
            yield case("push_vlan:0x%04x, %s" % (tpid, kind),
                       [simple(pre, push, output())], frame(A, kind),
                       [eth(A, tpid), tag(zero, ethertype)] + inner)
            # A second tag is like the first.
            yield case("push_vlan:0x%04x, vlan/%s" % (tpid, kind),
                       [simple(pre, push, output())], frame(A, kind, "vlan"),
                       [eth(A, tpid), tag(A, VLAN), vlan(A, ethertype)] +
                       inner)
            yield case("push_vlan:0x%04x, set_field:vlan_vid, %s" %
                       (tpid, kind),
                       [simple(pre, push, set_field("vlan_vid", 0x1000 | 42),
                               output())], frame(A, kind),
                       [eth(A, tpid), tag(dict(zero, vid=42), ethertype)] +
                       inner)
        tagged = [("vlan_vid", 0x1000, 0x1000)]
        pop = {"OFPActionPopVlan": {}}
        yield case("pop_vlan, vlan/" + kind,
                   [simple(tagged, pop, output())], frame(A, kind, "vlan"),
                   frame(A, kind))
        yield case("pop_vlan, qinq/" + kind,
                   [simple(tagged, pop, output())], frame(A, kind, "qinq"),
                   frame(dict(A, vid=7, pcp=1), kind, "vlan"))
        yield case("pop_vlan twice, qinq/" + kind,
                   [simple(tagged, pop, pop, output())],
                   frame(A, kind, "qinq"), frame(A, kind))


def act_mpls():
    for kind in L2_KINDS:
        ethertype, inner = l3(A, kind)
        pre = [("eth_type", ethertype)]
        # The TTL comes from the packet, if it has one.
        ttl = A["ttl"] if ethertype != ARP else 0
        for label in (MPLS, MMPLS):
            push = {"OFPActionPushMpls": {"ethertype": label}}
            new = dict(A, label=0, tc=0, mttl=ttl)
            yield case("push_mpls:0x%04x, %s" % (label, kind),
                       [simple(pre, push, output())], frame(A, kind),
                       [eth(A, label), mpls(new)] + inner)
            yield case("push_mpls:0x%04x, mpls/%s" % (label, kind),
                       [simple([("eth_type", MPLS)], push, output())],
                       frame(A, kind, "mpls"),
                       [eth(A, label), mpls(A, 0), mpls(A)] + inner)
            yield case("push_mpls:0x%04x, vlan/%s" % (label, kind),
                       [simple(pre, push, output())], frame(A, kind, "vlan"),
                       [eth(A, VLAN), vlan(A, label), mpls(new)] + inner)
        m = [("eth_type", MPLS)]
        yield case("pop_mpls, mpls/" + kind,
                   [simple(m, {"OFPActionPopMpls": {"ethertype": ethertype}},
                           output())],
                   frame(A, kind, "mpls"), frame(A, kind))
        yield case("pop_mpls, mpls/mpls/" + kind,
                   [simple(m, {"OFPActionPopMpls": {"ethertype": MPLS}},
                           output())],
                   frame(A, kind, "mpls2"),
                   frame(dict(A, label=16, tc=1, mttl=33), kind, "mpls"))
        yield case("pop_mpls, vlan/mpls/" + kind,
                   [simple(m, {"OFPActionPopMpls": {"ethertype": ethertype}},
                           output())],
                   frame(A, kind, "mpls in vlan"), frame(A, kind, "vlan"))


def act_pbb():
    push = {"OFPActionPushPbb": {"ethertype": PBB}}
    pop = {"OFPActionPopPbb": {}}
    for kind in L2_KINDS:
        pre = [("eth_type", l3(A, kind)[0])]
        for stack in PLAIN:
            sent = frame(A, kind, stack)
            # The priority of the outer tag goes into the I-TAG.
            pcp = "" if not stack else ", pcp=%d" % A["pcp"]
            yield case("push_pbb, %s%s" % (stack and stack + "/", kind),
                       [simple(pre, push, output())], sent,
                       [eth(A, PBB), "itag(%s)" % pcp[2:]] + sent)
            yield case("pop_pbb, pbb/%s%s" % (stack and stack + "/", kind),
                       [simple([("eth_type", PBB)], pop, output())],
                       [eth(B, PBB), "itag(sid=77)"] + sent, sent)
        sent = frame(A, kind, "pbb")
        yield case("push_pbb again, pbb/" + kind,
                   [simple([("eth_type", PBB)], push, output())], sent,
                   [eth(A, PBB), "itag(sid=%d)" % A["sid"]] + sent)
        yield case("push_pbb twice, " + kind,
                   [simple(pre, push, push, output())], frame(A, kind),
                   [eth(A, PBB), "itag()", eth(A, PBB), "itag()"] +
                   frame(A, kind))
        yield case("push_pbb, set_field:pbb_isid, " + kind,
                   [simple(pre, push, set_field("pbb_isid", 0x654321),
                           output())], frame(A, kind),
                   [eth(A, PBB), "itag(sid=%d)" % 0x654321] + frame(A, kind))
        inside = [eth(A, SVLAN), svlan(A, PBB), "itag(sid=%d)" % A["sid"]]
        changed = [eth(A, SVLAN), svlan(A, PBB), "itag(sid=%d)" % B["sid"]]
        yield case("set_field:pbb_isid, svlan/pbb/" + kind,
                   [simple([("eth_type", PBB), ("pbb_isid", A["sid"])],
                           set_field("pbb_isid", B["sid"]), output())],
                   inside + frame(A, kind), changed + frame(A, kind))


def popped_set(field, kind, before, value, to, after):
    """set-field in the next table, behind a label or an I-TAG that goes."""
    for outer, pre, pop, head in (
            ("mpls", MPLS,
             {"OFPActionPopMpls": {"ethertype": l3(A, kind)[0]}},
             [eth(A, MPLS), mpls(A)]),
            ("pbb", PBB, {"OFPActionPopPbb": {}},
             [eth(B, PBB), "itag(sid=5)"])):
        sent = frame(A, kind)
        yield case(
            "set_field:%s, %s behind %s" % (field, kind, outer),
            [flow([("eth_type", pre)], apply(pop), goto(1)),
             simple(before + [(field, value)], set_field(field, to),
                    output(), table=1)],
            head + (sent[1:] if outer == "mpls" else sent),
            frame(after, kind))


def act_set_field():
    """What the frame has becomes what another has; checksums are the packet
    library's."""
    keys = {"eth_dst": "dst", "eth_src": "src", "vlan_pcp": "pcp",
            "ip_dscp": "dscp", "ip_ecn": "ecn", "ipv4_src": "s4",
            "ipv4_dst": "d4", "arp_op": "op", "arp_spa": "s4",
            "arp_tpa": "d4", "arp_sha": "sll", "arp_tha": "tll",
            "ipv6_src": "s6", "ipv6_dst": "d6", "ipv6_flabel": "flow",
            "ipv6_nd_target": "target", "ipv6_nd_sll": "sll",
            "ipv6_nd_tll": "tll", "mpls_label": "label", "mpls_tc": "tc",
            "icmpv4_type": "type", "icmpv4_code": "code",
            "icmpv6_type": "type6", "icmpv6_code": "code6", "tcp_src": "sp",
            "tcp_dst": "dp", "udp_src": "sp", "udp_dst": "dp",
            "sctp_src": "sp", "sctp_dst": "dp", "vlan_vid": "vid"}
    for _, field, stacks, kinds, pre, value, _ in field_table():
        if field not in keys:
            continue
        key = keys[field]
        to = 0x1000 | B[key] if field == "vlan_vid" else B[key]
        for kind in kinds:
            before = pre if pre is not None else [
                ("eth_type", IP6), ("ip_proto", ICMP6),
                ("icmpv6_type", int(kind[2:]))]
            for stack in stacks:
                if stack in ("pbb",):
                    continue
                if stack == "" and field not in ("mpls_label", "mpls_tc"):
                    after = dict(A, **{key: B[key]})
                    for c in popped_set(field, kind, before, value, to,
                                        after):
                        yield field, c
                yield field, case(
                    "set_field:%s, %s%s" % (field, stack and stack + "/",
                                            kind),
                    [simple(before + [(field, value)], set_field(field, to),
                            output())],
                    frame(A, kind, stack),
                    frame(dict(A, **{key: B[key]}), kind, stack))


def act_set_odd_fields():
    for kind in L2_KINDS:
        ethertype, inner = l3(A, kind)
        yield case("set_field:eth_type, " + kind,
                   [simple([("eth_type", ethertype)],
                           set_field("eth_type", 0x88b5), output())],
                   frame(A, kind), [eth(A, 0x88b5)] + inner)
        yield case("set_field:eth_type, vlan/" + kind,
                   [simple([("eth_type", ethertype)],
                           set_field("eth_type", 0x88b5), output())],
                   frame(A, kind, "vlan"),
                   [eth(A, VLAN), vlan(A, 0x88b5)] + inner)
        yield case("set_field:mpls_bos, mpls/" + kind,
                   [simple([("eth_type", MPLS)], set_field("mpls_bos", 0),
                           output())],
                   frame(A, kind, "mpls"),
                   [eth(A, MPLS), mpls(A, 0)] + inner)
    for net, head in (("ipv4", ipv4), ("ipv6", ipv6)):
        ethertype = IP4 if net == "ipv4" else IP6
        plain = ["bytes(64)"]
        # What is behind stays as it is, but its checksum has the protocol in
        # it, wherever it lies.
        for proto, to, name in ((TCP, UDP, "tcp"), (UDP, TCP, "udp")):
            for stack in PLAIN:
                kind = "%s/%s" % (net, name)
                sent = frame(A, kind, stack)
                at = sent.index(head(A, proto))
                comes = sent[:at] + [head(A, to)] + sent[at + 1:]
                pre = [("eth_type", ethertype), ("ip_proto", proto)]
                yield case("set_field:ip_proto, %s%s" %
                           (stack and stack + "/", kind),
                           [simple(pre, set_field("ip_proto", to),
                                   output())], sent, comes)
        yield case("set_field:ip_proto, %s" % net,
                   [simple([("eth_type", ethertype)],
                           set_field("ip_proto", 200), output())],
                   [eth(A, ethertype), head(A, 201)] + plain,
                   [eth(A, ethertype), head(A, 200)] + plain)


def act_sets():
    """Action sets, and tables one after the other."""
    for kind in L2_KINDS:
        sent = frame(A, kind)
        ethertype, inner = l3(A, kind)
        new = frame(dict(A, dst=B["dst"]), kind)
        yield case("write_actions: output:2, " + kind,
                   [flow([], write(output()))], sent, sent)
        yield case("write_actions in another order, " + kind,
                   [flow([], write(output(),
                                   set_field("eth_dst", B["dst"])))],
                   sent, new)
        yield case("write_actions: tags and labels, " + kind,
                   [flow([("eth_type", ethertype)],
                         write({"OFPActionPushVlan": {"ethertype": VLAN}},
                               output(),
                               {"OFPActionPushMpls": {"ethertype": MPLS}}))],
                   sent,
                   [eth(A, VLAN), vlan(dict(A, vid=0, pcp=0), MPLS),
                    mpls(dict(A, label=0, tc=0,
                              mttl=A["ttl"] if ethertype != ARP else 0))] +
                   inner)
        yield case("goto_table, the later write wins, " + kind,
                   [flow([], write(set_field("eth_dst", B["src"]), output(3)),
                         goto(1)),
                    flow([], write(set_field("eth_dst", B["dst"]),
                                   output(2)), table=1)], sent, new)
        clear = {"OFPInstructionActions": {"type": 5, "actions": []}}
        yield case("clear_actions, " + kind,
                   [flow([], write(set_field("eth_dst", B["dst"])), goto(1)),
                    flow([], clear, write(output()), table=1)], sent, sent)
        yield case("apply_actions before the next table, " + kind,
                   [flow([], apply(set_field("eth_dst", B["dst"])), goto(9)),
                    flow([("eth_dst", B["dst"])], apply(output()), table=9)],
                   sent, new)
        yield case("the last table, " + kind,
                   [flow([], goto(253)),
                    flow([("in_port", 1)], apply(output()), table=253)], sent,
                   sent)
        yield case("a miss in the second table, " + kind,
                   [flow([], goto(1)),
                    flow([("in_port", 3)], apply(output()), table=1)], sent,
                   miss=[1])
        yield case("table-miss entry to the controller, " + kind,
                   [simple([("in_port", 3)], output(), priority=9),
                    simple([("in_port", 1)], output(CONTROLLER), priority=1)],
                   sent, packet_in=sent)
        yield case("the higher priority, " + kind,
                   [simple([], output(3), priority=1),
                    simple([("in_port", 1)], output(), priority=2)], sent,
                   sent)


def act_queue():
    for q in range(8):
        sent = frame(A, "ipv4/tcp")
        yield case("set_queue:%d" % q,
                   [simple([], {"OFPActionSetQueue": {"queue_id": q}},
                           output())], sent, sent)


def actions():
    out = {
        "action/00_output": list(act_output()),
        "action/11_ttl": list(act_ttl()),
        "action/17_vlan": list(act_vlan()),
        "action/19_mpls": list(act_mpls()),
        "action/21_set_queue": list(act_queue()),
        "action/26_pbb": list(act_pbb()),
        "action/25_set_field_odd": list(act_set_odd_fields()),
        "action/90_sets": list(act_sets()),
    }
    for field, c in act_set_field():
        out.setdefault("action/25_set_field_" + field, []).append(c)
    return out


# --- groups -----------------------------------------------------------------

def bucket(*actions_, **more):
    return dict(more, actions=list(actions_))


def groups():
    cases = []
    for kind in L2_KINDS:
        sent = frame(A, kind)
        new = frame(dict(A, dst=B["dst"]), kind)
        use = simple([], to_group(1))
        setters = (set_field("eth_dst", B["dst"]), output())
        for name, number, extra in (("all", 0, {}), ("indirect", 2, {}),
                                    ("select", 1, {"weight": 1}),
                                    ("ff", 3, {"watch_port": 2})):
            cases.append(case("group %s, %s" % (name, kind),
                              [group(1, number, bucket(output(), **extra)),
                               use], sent, sent))
            cases.append(case("group %s changes it, %s" % (name, kind),
                              [group(1, number, bucket(*setters, **extra)),
                               use], sent, new))
            cases.append(case("group %s to the controller, %s" % (name, kind),
                              [group(1, number,
                                     bucket(output(CONTROLLER), **extra)),
                               use], sent, packet_in=sent))
            cases.append(case("group %s from an action set, %s" %
                              (name, kind),
                              [group(1, number, bucket(output(), **extra)),
                               flow([], write(to_group(1), output(3)))],
                              sent, sent))
        # What one bucket does to the frame the next does not see.
        cases.append(case("group all, buckets on their own, " + kind,
                          [group(1, 0,
                                 bucket(set_field("eth_dst", B["dst"]),
                                        output(3)), bucket(output())), use],
                          sent, sent))
        cases.append(case("group in a group, " + kind,
                          [group(1, 2, bucket(output())),
                           group(2, 0, bucket(to_group(1))),
                           simple([], to_group(2))], sent, sent))
        cases.append(case("group ff, the first is dead, " + kind,
                          [group(1, 0),
                           group(2, 3,
                                 bucket(output(3), watch_group=1),
                                 bucket(output(), watch_port=2)),
                           simple([], to_group(2))], sent, sent))
        cases.append(case("group ff, a group that lives, " + kind,
                          [group(1, 3, bucket(output(), watch_port=2)),
                           group(2, 3,
                                 bucket(to_group(1), watch_group=1),
                                 bucket(output(3), watch_port=3)),
                           simple([], to_group(2))], sent, sent))
    return {"group/00_types": cases}


# --- throughput -------------------------------------------------------------

def stream(what, setup, data, pps, seconds, expected):
    return {
        "description": what, "prerequisite": setup,
        "tests": [{
            "ingress": {"packets": {"data": data, "pktps": pps,
                                    "duration_time": seconds}},
            "egress": {"throughput": [
                dict(match(*fields), **{unit: rate})
                for fields, unit, rate in expected]}}]}


def filler(kind, size, randomly=False):
    """A long frame; randomly: from and to anybody."""
    v = dict(A, dscp=24, ecn=0)
    ethertype, inner = l3(v, kind)
    inner = inner[:-1]
    head = {"ipv4/tcp": 54, "ipv6/tcp": 74, "arp": 42}[kind]
    first = eth(v, ethertype)
    if randomly:
        first = ("ethernet(dst='0a:11:22:%02x:%02x:%02x' % tuple(__import__("
                 "'random').randint(0, 255) for _ in range(3)), "
                 "src='0a:66:77:%02x:%02x:%02x' % tuple(__import__('random')"
                 ".randint(0, 255) for _ in range(3)), ethertype={})"
                 ).format(ethertype)
    return [first] + inner + ["bytes(%d)" % (size - head)]


def meter(flags, *bands):
    return {"OFPMeterMod": {"meter_id": 1, "flags": flags,
                            "bands": list(bands)}}


def drop_band(rate, **more):
    return {"OFPMeterBandDrop": dict(more, rate=rate)}


def remark_band(rate, level, **more):
    return {"OFPMeterBandDscpRemark": dict(more, rate=rate,
                                           prec_level=level)}


METERED = [{"OFPInstructionMeter": {"meter_id": 1}}, apply(output())]
KINDS = ("ipv4/tcp", "ipv6/tcp", "arp")


def meters(seconds):
    # Two thirds of what comes are above the rate.  The tester's kilobit has
    # 1024 bits.
    cases = []
    for kind in KINDS:
        use = flow([("in_port", 1)], *METERED)
        data = filler(kind, 1000)
        at2 = [("in_port", 2)]
        cases.append(stream("drop, kb/s, " + kind,
                            [meter(1, drop_band(1024)), use], data, 384,
                            seconds, [(at2, "kbps", 1000)]))
        cases.append(stream("drop, packets/s, " + kind,
                            [meter(2, drop_band(100)), use], data, 300,
                            seconds, [(at2, "pktps", 100)]))
        cases.append(stream("drop, burst, " + kind,
                            [meter(1 | 4, drop_band(1024, burst_size=256)),
                             use], data, 384, seconds,
                            [(at2, "kbps", 1000)]))
        cases.append(stream("drop, statistics, two bands, " + kind,
                            [meter(2 | 8, drop_band(100), drop_band(200)),
                             use], data, 300, seconds,
                            [(at2, "pktps", 100)]))
        cases.append(stream("below the rate, " + kind,
                            [meter(2, drop_band(1000)), use], data, 200,
                            seconds, [(at2, "pktps", 200)]))
        ip = at2 + [("eth_type", l3(A, kind)[0])]
        remarked = [(ip + [("ip_dscp", 24)], "pktps", 100),
                    (ip + [("ip_dscp", 16)], "pktps", 200)]
        cases.append(stream("dscp_remark, packets/s, " + kind,
                            [meter(2, remark_band(100, 1)), use], data, 300,
                            seconds,
                            remarked if kind != "arp" else
                            [(at2, "pktps", 300)]))
        cases.append(stream("dscp_remark, kb/s, " + kind,
                            [meter(1, remark_band(1024, 1)), use], data, 384,
                            seconds,
                            [(f, "kbps", 1000 * p // 100)
                             for f, _, p in remarked]
                            if kind != "arp" else [(at2, "kbps", 3000)]))
    return {"meter/00_bands": cases}


def spread(seconds):
    cases = []
    for kind in KINDS:
        use = simple([("in_port", 1)], to_group(1))
        two, three_ = [("in_port", 2)], [("in_port", 3)]
        cases.append(stream("group all to two ports, " + kind,
                            [group(1, 0, bucket(output()),
                                   bucket(output(3))), use],
                            filler(kind, 1000), 200, seconds,
                            [(two, "pktps", 200), (three_, "pktps", 200)]))
        for weights in ((1, 1), (2, 1)):
            total = sum(weights)
            cases.append(stream(
                "group select %d:%d by address, %s" % (weights + (kind,)),
                [group(1, 1, bucket(output(), weight=weights[0]),
                       bucket(output(3), weight=weights[1])), use],
                filler(kind, 1000, True), 180, seconds,
                [(two, "pktps", 180 * weights[0] // total),
                 (three_, "pktps", 180 * weights[1] // total)]))
    return {"group/01_spread": cases}


# --- all of them ------------------------------------------------------------

def all_patterns(seconds=3):
    out = {}
    for part in (matches(), actions(), groups(), meters(seconds),
                 spread(seconds)):
        out.update(part)
    return out


def write_to(folder, patterns):
    for name, cases in patterns.items():
        path = os.path.join(folder, name + ".json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            json.dump([name.replace("/", ": ")] + cases, f)


if __name__ == "__main__":
    counts = {k: len(v) for k, v in sorted(all_patterns().items())}
    for k, n in counts.items():
        print("%4d %s" % (n, k))
    print("%4d in all" % sum(counts.values()))
