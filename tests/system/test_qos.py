#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Maps, rewrites, ECN, presets and the import of SONiC's tables, through a
real sluiced on veth pairs: what is on the wire is read octet by octet."""
import json
import os
import socket
import struct
import subprocess

import slc

IP4, IP6 = 0x0800, 0x86DD
A, B = slc.mac(0xA), slc.mac(0xB)
SAMPLE = os.path.join(os.environ.get("top_srcdir", "."),
                      "docs/examples/config_db.json")


def csum(data):
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def ip(version, ds, text):
    """(EtherType, packet) with that TOS or traffic class; UDP inside."""
    udp = struct.pack(">HHHH", 4791, 4791, 8 + len(text), 0) + text
    if version == 6:
        return IP6, struct.pack(
            ">IHBB", 6 << 28 | ds << 20 | 0xABCDE, len(udp), 17, 64) + \
            bytes(range(32)) + udp
    head = struct.pack(">BBHHHBBH4s4s", 0x45, ds, 20 + len(udp), 7, 0, 64, 17,
                       0, socket.inet_aton("10.0.0.1"),
                       socket.inet_aton("10.0.0.2"))
    return IP4, head[:10] + struct.pack(">H", csum(head)) + head[12:] + udp


def ds_of(data):
    """The octet with DSCP and ECN, after checking the rest of the header."""
    _, _, _, kind, p = slc.parse(data)
    if kind == IP4:
        assert csum(p[:20]) == 0, "checksum: %s" % p[:20].hex()
        return p[1]
    word, = struct.unpack(">I", p[:4])
    assert kind == IP6 and word >> 28 == 6 and word & 0xFFFFF == 0xABCDE, \
        p[:40].hex()
    return word >> 20 & 0xFF


class Rig:
    """Ports p1 and p2 of br0; h1 and h2 are the other ends."""

    def __init__(self, t, names=("p1", "p2"), **port):
        self.ns = t.enter_context(slc.Netns("sw"))
        self.hosts = t.enter_context(slc.Netns("hosts"))
        for i, name in enumerate(names, 1):
            self.ns.veth(name, "h%d" % i, self.hosts)
        self.d = t.enter_context(slc.Daemon(self.ns))
        self.d.rpc("bridge.add", name="br0")
        for name in names:
            self.d.rpc("port.add", bridge="br0", name=name, **port)
        self.raw = [t.enter_context(slc.Raw(self.hosts, "h%d" % i, 64 << 20))
                    for i in range(1, len(names) + 1)]
        slc.wait_for(lambda: all(p["state"] == "up"
                                 for p in self.d.rpc("port.list")),
                     "all ports are up")
        # Learn B behind p2, so that nothing is flooded.
        self.raw[1].send(slc.frame(A, B, b"here", size=60))
        assert self.raw[0].recv_match(lambda f: f[:12] == A + B)

    def queues(self, port="p2"):
        return {q["queue"]: q for q in self.d.rpc("queue.show", port=port)}

    def through(self, data):
        """What comes out of p2, and the queue that it left by."""
        before = self.queues()
        self.raw[0].send(data)
        got = self.raw[1].recv_match(lambda f: f[:12] == data[:12])
        assert got is not None, "nothing came out: %s" % data[:40].hex()
        after = slc.wait_for(
            lambda: next((q for q in [self.queues()]
                          if any(q[i]["tx_frames"] != before[i]["tx_frames"]
                                 for i in q)), None),
            "a queue counts it")
        left = [i for i in after
                if after[i]["tx_frames"] != before[i]["tx_frames"]]
        assert len(left) == 1, (left, after)
        return got, left[0]

    def hold(self, queue):
        """p2 sends nothing of a queue, until let_go()."""
        self.n_in = self.counted("p1")["rx_frames"]
        self.n_out = self.counted("p2")["tx_frames"]
        self.d.rpc("drill.hold", port="p2", queues=[queue],
                   duration_ms=600000)

    def let_go(self, n):
        """What comes out of p2 when the n frames that were sent meanwhile
        have all come in, as many as it says that it sends."""
        slc.wait_for(lambda: self.counted("p1")["rx_frames"] == self.n_in + n,
                     "all frames came in")
        assert self.counted("p2")["tx_frames"] == self.n_out
        self.d.rpc("drill.stop")
        slc.wait_for(lambda: not self.d.rpc("audit.show")[0]["held"],
                     "all frames have left")
        left = self.counted("p2")["tx_frames"] - self.n_out
        got = [self.raw[1].recv() for _ in range(left)]
        assert all(f and f[:12] == B + A for f in got), got
        return got

    def counted(self, port):
        self.d.settle()
        return self.d.rpc("stats.show", port=port)[0]

    def lossless(self, port):
        ports = self.d.rpc("config.export")["bridges"]["br0"]["ports"]
        return ports[port]["pfc"]["priorities"]

    def ctl(self, *argv, status=0):
        p = subprocess.run([slc.program("sluicectl"), *argv],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, timeout=30,
                           env=dict(os.environ, SLUICE_SOCKET=self.d.socket))
        assert p.returncode == status, (argv, p)
        return p.stdout if not status else p.stderr


@slc.test("s4: DSCP and PCP decide about the queue, on the wire, both IP "
          "versions, with no, one and two tags")
def _(t):
    rig = Rig(t)
    rig.ctl("map", "set", "p1", "trust", "dscp", "dscp", "all:1", "26:3",
            "46:5", "63:7", "pcp", "2:6", "default-priority", "4")
    for version in 4, 6:
        for tags in (), ((5, 2),), ((5, 2, slc.ETH_P_8021AD), (6, 1)):
            for dscp, queue in (26, 3), (46, 5), (63, 7), (0, 1):
                kind, packet = ip(version, dscp << 2 | 1, b"x" * 40)
                data = slc.frame(B, A, packet, kind, tags)
                # B was learned untagged: in a VLAN it is flooded.
                got, left = rig.through(data)
                assert left == queue, (version, tags, dscp, left)
                assert got == data, (got.hex(), data.hex())
    # No IP: by PCP, and without a tag the default.
    assert rig.through(slc.frame(B, A, b"y" * 50, tags=((5, 2),)))[1] == 6
    assert rig.through(slc.frame(B, A, b"y" * 50))[1] == 4
    rig.ctl("map", "set", "p1", "trust", "pcp")
    kind, packet = ip(4, 26 << 2, b"x" * 40)
    assert rig.through(slc.frame(B, A, packet, kind, ((0, 7),)))[1] == 7
    rig.ctl("map", "set", "p1", "trust", "port")
    assert rig.through(slc.frame(B, A, packet, kind, ((0, 7),)))[1] == 4


@slc.test("s4: PCP and DSCP are rewritten on the wire, with a right checksum, "
          "and by the port that says so only")
def _(t):
    rig = Rig(t, names=("p1", "p2", "p3"))
    rig.ctl("map", "set", "p2", "rewrite-dscp", "3:26", "rewrite-pcp", "3:6")
    for version in 4, 6:
        for tags in ((9, 3),), ((9, 3, slc.ETH_P_8021AD), (6, 1)):
            kind, packet = ip(version, 0xB8 | 2, b"x" * 60)
            data = slc.frame(slc.BROADCAST, A, packet, kind, tags)
            rig.raw[0].send(data)
            two, three = (rig.raw[i].recv_match(lambda f: f[:12] == data[:12])
                          for i in (1, 2))
            assert three == data, three.hex()
            assert ds_of(two) == 26 << 2 | 2, two.hex()
            outer = (tags[0] + (slc.ETH_P_8021Q,))[2]
            inner = [(slc.ETH_P_8021Q, 1, 6)] if len(tags) > 1 else []
            assert slc.parse(two)[2] == [(outer, 6, 9)] + inner, two.hex()
            assert two[-60:] == data[-60:]
    # Another priority leaves as it came.
    kind, packet = ip(4, 0xB8, b"x" * 60)
    data = slc.frame(slc.BROADCAST, A, packet, kind, ((9, 4),))
    rig.raw[0].send(data)
    assert rig.raw[1].recv_match(lambda f: f[:12] == data[:12]) == data


@slc.test("s4: priority tags without a VLAN leave as the port says")
def _(t):
    rig = Rig(t)
    plain = slc.frame(B, A, b"z" * 50)
    tagged = slc.frame(B, A, b"z" * 50, tags=((0, 5),))
    for mode, out_plain, out_tagged in (
            ("keep", [], [5]), ("never", [], []),
            ("if-nonzero", [], [5]), ("always", [0], [5])):
        rig.ctl("map", "set", "p2", "priority-tags", mode)
        for data, want in (plain, out_plain), (tagged, out_tagged):
            got, _ = rig.through(data)
            tags = slc.parse(got)[2]
            assert [g[1] for g in tags] == want, (mode, got.hex())
            assert all(g[2] == 0 for g in tags), got.hex()


@slc.test("s11: a queue that is long marks ECT with CE on the wire, drops "
          "not-ECT when lossy, and counts both")
def _(t):
    rig = Rig(t)
    rig.d.rpc("port.set", name="p2", rate_bps=1000000)
    rig.ctl("queue", "set", "p2", "wred-min", "0:3000", "wred-max", "0:6000",
            "wred-probability", "0:0", "ecn", "0:on")
    marked = 0
    for version in 4, 6:
        # However slowly they are sent, the queue gets as long.
        rig.hold(0)
        for number in range(40):
            # ECT(0), ECT(1), CE, and every eighth not-ECT.
            ecn = 0 if number % 8 == 7 else (2, 1, 3)[number % 3]
            kind, packet = ip(version, 0x68 | ecn,
                              struct.pack(">BB", number, ecn) + b"e" * 900)
            rig.raw[0].send(slc.frame(B, A, packet, kind))
        for data in rig.let_go(40):
            was = data[-901 - 1:][1]
            now = ds_of(data)
            assert now in (0x68 | was, 0x6B) and now & 0xFC == 0x68, \
                (was, now)
            assert was or now == 0x68, "not-ECT is never marked"
            marked += was in (1, 2) and now == 0x6B
    q = rig.queues()[0]
    assert marked > 20 and q["ecn_marked"] == marked, (marked, q)
    assert q["wred_drops"] == q["drops"] > 0, q
    drops = rig.d.rpc("stats.show", port="p2")[0]["drops"]
    assert drops["wred"] == q["wred_drops"], drops


@slc.test("not-ECT on a lossless queue is never dropped by WRED")
def _(t):
    rig = Rig(t)
    for name in "p1", "p2":
        rig.d.rpc("pfc.set", port=name, priorities=[0])
    rig.d.rpc("port.set", name="p2", rate_bps=2000000)
    rig.ctl("queue", "set", "p2", "wred-min", "0:0", "wred-max", "0:2000",
            "wred-probability", "0:100", "ecn", "0:on")
    kind, packet = ip(4, 0, b"n" * 900)
    rig.hold(0)
    for _ in range(60):
        rig.raw[0].send(slc.frame(B, A, packet, kind))
    got = rig.let_go(60)
    assert len(got) == 60 and all(ds_of(f) == 0 for f in got), len(got)
    assert rig.queues()[0]["drops"] == 0


@slc.test("s12: presets become ordinary configuration, or nothing changes")
def _(t):
    rig = Rig(t)
    shown = rig.ctl("preset", "list")
    assert all(w in shown for w in ("none", "sonic", "fcoe")), shown
    before = rig.d.rpc("config.export")
    assert "not applied" in rig.ctl("preset", "apply", "sonic", "br0",
                                    "--dry-run")
    assert "'sonik'" in rig.ctl("preset", "apply", "sonik", "p1", status=1) \
        .replace('"', "'")
    assert "no bridge and no port \"p9\"" in \
        rig.ctl("preset", "apply", "sonic", "p9", status=1)
    assert rig.d.rpc("config.export") == before
    rig.ctl("preset", "apply", "sonic", "br0")
    assert rig.lossless("p1") == rig.lossless("p2") == [3, 4]
    kind, packet = ip(4, 4 << 2, b"x" * 40)
    assert rig.through(slc.frame(B, A, packet, kind))[1] == 4
    rig.ctl("preset", "apply", "fcoe", "p1")
    assert rig.lossless("p1") == [3] and rig.lossless("p2") == [3, 4]
    rig.ctl("preset", "apply", "none", "br0")
    assert rig.d.rpc("config.export") == before


@slc.test("import of SONiC's tables: what maps is mapped, what does not is "
          "listed, and what is malformed changes nothing")
def _(t):
    rig = Rig(t)
    ports = "Ethernet0=p1,Ethernet4=p2"
    before = rig.d.rpc("config.export")
    out = json.loads(rig.ctl("import", "sonic", SAMPLE, "ports", ports,
                             "--dry-run", "--json"))
    assert out["changed"] and not out["applied"], out
    assert rig.d.rpc("config.export") == before
    text = rig.ctl("import", "sonic", SAMPLE, "bridge", "br0", "ports", ports)
    for word in ("/DEVICE_METADATA", "Ethernet8", "egress_lossy_pool",
                 "yellow_min_threshold", "/DOT1P_TO_TC_MAP/AZURE"):
        assert word in text, (word, text)
    p2 = rig.d.rpc("config.export")["bridges"]["br0"]["ports"]["p2"]
    assert p2["pfc"]["priorities"] == [3, 4], p2
    assert p2["queues"]["3"]["weight"] == 15 and p2["queues"]["3"]["ecn"], p2
    assert p2["groups"]["3"]["profile"] == "pg_lossless_40000_5m_profile", p2
    assert p2["watchdog"]["enabled"], p2
    kind, packet = ip(4, 46 << 2, b"x" * 40)
    assert rig.through(slc.frame(B, A, packet, kind))[1] == 5

    after = rig.d.rpc("config.export")
    with slc.tmpdir() as tmp:
        bad = os.path.join(tmp, "config_db.json")

        def refused(content, *words, status=1):
            with open(bad, "w", encoding="utf-8") as f:
                f.write(content)
            err = rig.ctl("import", "sonic", bad, "ports", ports,
                          status=status)
            assert all(w in err for w in words), (words, err)
            assert rig.d.rpc("config.export") == after
        refused('{"QUEUE":\n {"Ethernet0|3": }}', "line 2", "column", status=2)
        refused('{"QUEUE": {"Ethernet0|3": {"scheduler": "s"}}}',
                "/QUEUE/Ethernet0|3/scheduler", "SCHEDULER")
        refused('{"DSCP_TO_TC_MAP": {"A": {"0": "8"}}, "PORT_QOS_MAP": '
                '{"Ethernet0": {"dscp_to_tc_map": "A"}}}',
                "/DSCP_TO_TC_MAP/A/0", "0 to 7")
        # It translates, but the whole is refused: more than the memory.
        refused('{"BUFFER_POOL": {"in": {"type": "ingress", "mode": '
                '"dynamic", "size": "4000000000"}}}', "67108864", "pools")
    for names in ("x", "Ethernet0=p1,Ethernet0=p2"):
        assert "THEIRS=OURS" in rig.ctl("import", "sonic", SAMPLE, "ports",
                                        names, status=2)
    assert "Ethernet0 and Ethernet4" in rig.ctl(
        "import", "sonic", SAMPLE, "ports", "Ethernet0=p1,Ethernet4=p1",
        status=1)
    assert rig.d.rpc("config.export") == after


if __name__ == "__main__":
    slc.main()
