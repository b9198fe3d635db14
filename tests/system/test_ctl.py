#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sluicectl against a real daemon: every noun and verb, what is refused and
that nothing changes then, JSON and TSV of real answers, apply and export,
events.  test_ctl_usage.py is about the command line itself."""
import json
import os
import subprocess
import threading

import slc

OK, REFUSED, USAGE, NO_DAEMON = 0, 1, 2, 3


class Switch:
    """A daemon with bridge br0 and ports p1 and p2 (peers h1 and h2)."""

    def __init__(self, stack, ports=True):
        self.ns = stack.enter_context(slc.Netns("ctl"))
        for n in "12":
            self.ns.veth("p" + n, "h" + n)
        self.daemon = stack.enter_context(slc.Daemon(self.ns))
        if ports:
            self.ok("bridge add br0 memory=32M")
            self.ok("port add br0 p1 rate=200M")
            self.ok("port add br0 p2 rate=100M")

    def ctl(self, line, stdin=None, env=None):
        argv = line.split() if isinstance(line, str) else line
        return subprocess.run(
            [slc.program("sluicectl"), *argv], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=30, input=stdin,
            env=dict(os.environ, SLUICE_SOCKET=self.daemon.socket,
                     **(env or {})))

    def ok(self, line, **kw):
        p = self.ctl(line, **kw)
        assert p.returncode == OK and p.stderr == "", (line, p)
        return p.stdout

    def json(self, line, **kw):
        return json.loads(self.ok(line + " --json", **kw))

    def tsv(self, line, **kw):
        """Rows as dicts."""
        lines = self.ok(line + " --tsv", **kw).splitlines()
        rows = [x.split("\t") for x in lines]
        assert {len(r) for r in rows} == {len(rows[0])}, rows
        return [dict(zip(rows[0], r)) for r in rows[1:]]

    def refused(self, line, *texts, status=REFUSED, **kw):
        """Refused with these texts, and the configuration is as before."""
        before = self.ok("export")
        p = self.ctl(line, **kw)
        assert p.returncode == status, (line, p)
        for text in texts:
            assert text in p.stderr, (line, text, p.stderr)
        assert self.ok("export") == before, line
        return p


@slc.test("bridges: add, list, show, set, del")
def _(t):
    sw = Switch(t, ports=False)
    assert "no bridges" in sw.ok("bridge")
    sw.ok("bridge add br0 memory 32M ageing 60")
    sw.ok("bridge add br1 memory=16M max-frame=9K forward-reserved=on")
    rows = sw.tsv("bridge list")
    assert [r["bridge"] for r in rows] == ["br0", "br1"], rows
    assert rows[0]["memory"] == "33554432" and rows[0]["ageing"] == "60"
    assert rows[1]["max_frame"] == "9216", rows
    sw.ok("bridge set br0 ageing 2min")
    assert sw.json("bridge show br0")["mac_ageing_s"] == 120
    assert sw.json("bridge show br1")["forward_reserved"] is True
    sw.refused("bridge add br0", "br0", "exists")
    sw.refused("bridge show br2", "br2", "br0")
    sw.refused("bridge set br2 ageing 1", "br2")
    sw.refused("bridge add " + "x" * 16, "x" * 16)
    sw.ok("bridge del br1")
    assert [b["name"] for b in sw.json("bridge")] == ["br0"]


@slc.test("ports: add, list, show, set, del; VLANs and rates")
def _(t):
    sw = Switch(t)
    sw.ok("port add br0 t0 type=tap mac=02:00:00:00:00:09")
    rows = {r["port"]: r for r in sw.tsv("port list br0")}
    assert set(rows) == {"p1", "p2", "t0"}, rows
    assert rows["p1"]["rate"] == "200000000", rows
    assert rows["t0"]["type"] == "tap", rows
    assert rows["t0"]["mac"] == "02:00:00:00:00:09", rows
    sw.ok("port set p1 vlan mode=native-untagged tag=10 trunks=10,20-22")
    assert sw.json("port show p1")["vlan"] == {
        "mode": "native-untagged", "tag": 10, "trunks": [10, 20, 21, 22]}
    assert {r["port"]: r["trunks"] for r in sw.tsv("port")}["p1"] == \
        "10,20-22"
    assert "Configuration:" in sw.ok("port show p1")
    sw.ok("port set p1 rate=1G cable=2us ring=1M")
    config = sw.json("port show p1")["config"]
    assert config["cable_delay_ns"] == 2000, config
    assert config["ring_bytes"] == 1048576, config
    sw.ok("port set p1 rate=auto ring=auto")
    assert sw.json("port show p1")["configured_rate_bps"] == 0
    sw.refused("port add br9 p1", "br9", "br0")
    sw.refused("port add br0 p9", "p9")
    sw.refused("port add br0 p1", "p1", "exists")
    sw.refused("port show p9", "p9", "p1")
    sw.refused("port del p9", "p9")
    sw.ok("port del t0")
    assert not sw.ns.exists("t0")


@slc.test("pfc and pause: set, show, counters")
def _(t):
    sw = Switch(t)
    sw.ok("pfc set p1 prio 3:on 4:on")
    rows = {r["port"]: r for r in sw.tsv("pfc show")}
    assert rows["p1"]["lossless"] == "3,4", rows
    assert rows["p2"]["lossless"] == "-", rows
    sw.ok("pfc set p1 4:off quanta 1000 asymmetric on")
    pfc = sw.json("pfc show p1")[0]
    assert (pfc["priorities"], pfc["quanta"], pfc["asymmetric"]) == \
        ([3], 1000, True), pfc
    assert "3:" in sw.ok("pfc") and "(auto)" in sw.ok("pfc")
    sw.ok("pfc set p1 only 1,2")
    assert sw.json("pfc show p1")[0]["priorities"] == [1, 2]
    out = sw.ok("pfc counters")
    assert "Port Rx" in out and "Port Tx" in out and "PFC7" in out
    rows = sw.tsv("pfc counters p1")
    assert len(rows) == 16 and rows[0]["paused_ns"] == "0", rows
    sw.refused("pfc set p9 prio 3:on", "p9", "p1")
    sw.refused("pfc set p1 prio 8:on", "8", "0 to 7", status=USAGE)
    sw.refused("pause set p1 rx on", "p1", "pfc")
    sw.ok("pfc set p1 only none asymmetric off")
    sw.ok("pause set p1 rx on tx on")
    assert sw.tsv("pause")[0] == {"port": "p1", "rx": "on", "tx": "on"}
    sw.refused("pfc set p1 3:on", "p1")
    sw.ok("pause set p1 rx off tx off")


@slc.test("buffers: set, show, pool")
def _(t):
    sw = Switch(t)
    sw.ok("pfc set p1 3:on")
    sw.ok("buffer set p1 pg 3 xoff 64K xon 32K headroom auto")
    rows = sw.tsv("buffer show p1")
    assert len(rows) == 8, rows
    assert rows[3]["xoff_at"] == "65536" and rows[3]["xon_at"] == "32768"
    assert rows[3]["lossless"] == "yes" and rows[3]["auto"] == "yes"
    assert rows[0]["lossless"] == "no", rows
    sw.ok("buffer set p1 pg=3 headroom=200K reserved=4K xon-offset=1K")
    config = sw.json("port show p1")["config"]["groups"]["3"]
    assert config == {"profile": "none", "reserved_bytes": 4096,
                      "xoff_bytes": 65536, "alpha": "none",
                      "xon_bytes": 32768, "xon_offset_bytes": 1024,
                      "headroom": 204800}, config
    pool = sw.tsv("buffer pool")
    assert pool[0]["bridge"] == "br0" and pool[0]["used"] == "0", pool
    assert pool[0]["buffers"] == pool[0]["free"], pool
    assert "Bridge" in sw.ok("buffer")
    sw.refused("buffer set p1 pg 3 xoff 32K xon 64K", "p1", "65536",
               "32768")
    sw.refused("buffer set p1 pg 3 headroom 1G", "1073741824")
    sw.refused("buffer set p1 pg 8 xoff 1K", "8", "0 to 7", status=USAGE)


@slc.test("section 5: pools, profiles, alpha and shared headroom")
def _(t):
    sw = Switch(t)
    sw.ok("pool set br0 roce size 8M mode dynamic")
    sw.ok("profile set br0 lossless pool roce alpha -1 xon 0 xon-offset 8K")
    sw.ok("profile set br0 lossy xoff 64K")
    sw.ok("pfc set p1 3:on")
    sw.ok("buffer set p1 pg 3 profile lossless")
    sw.ok("queue set p1 profile 0:lossy alpha 1:-2")
    group = sw.tsv("buffer show p1")[3]
    assert (group["profile"], group["pool"]) == ("lossless", "roce"), group
    assert group["alpha"] == "-1" and group["xoff_at"] == "4194304", group
    assert group["xon_at"] == "0" and group["auto"] == "yes", group
    queues = sw.tsv("queue show p1")
    assert queues[0]["limit"] == "65536", queues[0]
    shared = int(sw.tsv("pool show br0")[0]["size"])
    assert int(queues[1]["limit"]) == shared >> 2, (queues[1], shared)
    pools = {p["pool"]: p for p in sw.tsv("pool show")}
    assert pools["roce"]["size"] == "8388608", pools
    assert pools["roce"]["profiles"] == "lossless", pools
    users = {p["profile"]: p["users"] for p in sw.tsv("profile show")}
    assert users == {"lossless": "p1/pg3", "lossy": "p1/q0"}, users
    # A change reaches every user at once.
    sw.ok("profile set br0 lossy xoff 32K xon 16K")
    assert sw.tsv("queue show p1")[0]["limit"] == "32768"
    sw.ok("profile set br0 lossless alpha 0")
    assert sw.tsv("buffer show p1")[3]["xoff_at"] == "8388608"
    sw.ok("bridge set br0 headroom-ratio 2")
    memory = sw.json("buffer show")["bridges"][0]
    group = sw.tsv("buffer show p1")[3]
    assert str(memory["headroom_pool_bytes"]) == group["headroom"], memory
    sw.ok("bridge set br0 headroom-ratio none headroom-pool 1M")
    memory = sw.json("buffer show")["bridges"][0]
    assert memory["headroom_pool_bytes"] == 1048576, memory


@slc.test("section 5: what pools and profiles refuse changes nothing")
def _(t):
    sw = Switch(t)
    sw.ok("pool set br0 roce size 8M mode dynamic")
    sw.ok("profile set br0 lossless pool roce alpha 0")
    sw.ok("buffer set p1 pg 3 profile lossless")
    sw.ok("queue set p1 profile 3:lossless")
    before = sw.json("export")
    for command, *texts in (
            ("profile del br0 lossless", "lossless", "group 3 of port p1"),
            ("profile del br0 lossles", "lossles", "lossless"),
            ("pool del br0 roce", "roce", "profile lossless"),
            ("pool del br0 x", '"x"', "roce"),
            ("buffer set p1 pg 4 profile lossles", "profile lossles",
             "none, lossless"),
            ("queue set p1 profile 4:nix", "profile nix", "none, lossless"),
            ("buffer set p1 pg 3 xoff 64K", "xoff_bytes", "profile none"),
            ("queue set p1 limit 3:64K", "limit_bytes", "profile none"),
            ("profile set br0 lossless alpha none", "alpha none", "roce",
             "-7 to 3"),
            ("profile set br0 new xoff 64K xon 65K", "xon_bytes 66560",
             "65536", "0 to 65536"),
            ("profile set br0 new pool rose", "pool rose", "none, roce"),
            ("profile set br0 none xoff 64K", "not none"),
            ("pool set br0 roce size 1K", "1024", "1514 to"),
            ("pool set br0 roce size 65M", "size_bytes 68157440",
             "memory_bytes 33554432", "0 to 33530080"),
            ("bridge set br0 headroom-pool 1M headroom-ratio 2",
             "headroom_ratio 2", "headroom_pool_bytes"),
            ("profile set br0 lossless headroom 30M", "of pools", "33554432"),
    ):
        if "headroom 30M" in command:
            sw.ok("pfc set p1 3:on")
            before = sw.json("export")
        sw.refused(command, *texts)
        assert sw.json("export") == before, command
    sw.ok("buffer set p1 pg 3 profile none")
    sw.ok("queue set p1 profile 3:none")
    sw.ok("profile del br0 lossless")
    sw.ok("pool del br0 roce")
    assert [p["pool"] for p in sw.tsv("pool show")] == ["none"]


@slc.test("section 6: the headroom calculator, and cable and rate live")
def _(t):
    sw = Switch(t)
    vector = sw.json("headroom rate 100G cable 300m mtu 9100 "
                     "lossless-mtu 1500 cell 144")
    assert vector["hardware"]["xoff_bytes"] == 221184, vector
    assert vector["hardware"]["size_bytes"] == 239616, vector
    assert vector["in"]["cable_mm"] == 300000, vector
    five = sw.json("headroom rate 100G cable 5m mtu 9100 lossless-mtu 1500 "
                   "cell 96")["hardware"]
    assert five["xoff_bytes"] == 72704, five
    five = sw.json("headroom rate 100G cable 5m mtu 9100 lossless-mtu 1500 "
                   "cell 96 whole-weight on")["hardware"]
    assert five["xoff_bytes"] == 73728, five
    assert "= xoff, in whole KiB" in sw.ok("headroom rate 10G")
    rows = {(r["model"], r["term"]): int(r["value"])
            for r in sw.tsv("headroom rate 8M cable 1ms stall 10ms")}
    assert rows["auto", "cable_bytes"] == 2000, rows
    assert rows["auto", "stall_bytes"] == 10000, rows
    # What auto takes for a port is what the calculator says for it.
    sw.ok("pfc set p1 3:on")
    seen = set()
    for setting in ("rate 100M cable 0m", "rate 100M cable 20km",
                    "rate 200M", "cable 1ms", "cell 4096"):
        sw.ok("port set p1 " + setting.replace("20km", "20000m"))
        says = sw.json("headroom p1 stall 2ms")["auto"]
        row = sw.json("buffer show p1")["groups"][3]
        need = sw.json("headroom p1")["auto"]["total_bytes"]
        assert row["headroom_bytes"] == need >= says["total_bytes"], setting
        seen.add((says["total_bytes"], says["hw_bytes"]))
    assert len(seen) == 5, seen
    port = sw.json("port show p1")
    assert port["cable_delay_ns"] == 1000000, port


@slc.test("queues: shares, strict, rates, limits")
def _(t):
    sw = Switch(t)
    sw.ok("queue set p1 0:30% 1:70% 7:strict max-rate 0:10M limit 0:64K")
    rows = sw.tsv("queue show p1")
    assert [r["mode"] for r in rows[:2]] == ["ets", "ets"], rows
    assert (rows[0]["weight"], rows[1]["weight"]) == ("30", "70"), rows
    assert rows[0]["max_rate"] == "10000000", rows
    assert rows[0]["limit"] == "65536" and rows[7]["mode"] == "strict"
    sw.refused("queue set p1 0:30% 1:60%", "p1", "30", "60", "90", "100")
    sw.refused("queue set p1 0:130%", "130", status=USAGE)
    assert len(sw.tsv("queue")) == 16


@slc.test("maps of ports and of bridges")
def _(t):
    sw = Switch(t)
    sw.ok("map set p1 pcp 5:3 queue 3:2 pg 3:1 trust port "
          "default-priority 2")
    m = sw.json("map show p1")
    m = m[0] if isinstance(m, list) else m
    assert m["trust"] == "port" and m["default_priority"] == 2, m
    assert m["pcp_to_priority"] == [0, 1, 2, 3, 4, 3, 6, 7], m
    assert m["priority_to_queue"][3] == 2, m
    assert m["priority_to_group"][3] == 1, m
    sw.ok("map set bridge br0 pcp 6:0")
    rows = sw.tsv("map show bridge br0")
    assert rows[0]["of"] == "br0" and rows[0]["6"] == "0", rows
    rows = sw.tsv("map")
    assert {r["of"] for r in rows} == {"p1", "p2"}, rows
    assert [r["6"] for r in rows if r["of"] == "p2"][0] == "0", rows
    sw.refused("map set p9 trust port", "p9")
    sw.refused("map set bridge br9 trust port", "br9")


@slc.test("addresses are learned, shown and flushed")
def _(t):
    sw = Switch(t)
    h1 = t.enter_context(slc.Raw(sw.ns, "h1"))
    h2 = t.enter_context(slc.Raw(sw.ns, "h2"))
    src = slc.mac("02:00:00:00:00:77")
    h1.send(slc.frame(slc.BROADCAST, src, b"hello"))
    assert h2.recv_match(lambda f: f[6:12] == src), "the frame was lost"
    rows = [r for r in slc.wait_for(lambda: sw.tsv("mac"), "learned")
            if r["mac"] == "02:00:00:00:00:77"]
    assert len(rows) == 1 and rows[0]["port"] == "p1", rows
    sw.refused("mac show br9", "br9", "br0")
    assert "removed" in sw.ok("mac flush br0 port p1")
    assert "02:00:00:00:00:77" not in sw.ok("mac show br0")


@slc.test("stats, audit and status count real frames")
def _(t):
    sw = Switch(t)
    h1 = t.enter_context(slc.Raw(sw.ns, "h1"))
    h2 = t.enter_context(slc.Raw(sw.ns, "h2"))
    src = slc.mac("02:00:00:00:00:77")
    for _ in range(10):
        h1.send(slc.frame(slc.BROADCAST, src, b"hello", size=100))
        assert h2.recv_match(lambda f: f[6:12] == src)

    def rows():
        return {r["port"]: r for r in sw.tsv("stats")}
    slc.wait_for(lambda: int(rows()["p2"]["tx_frames"]) >= 10, "counted")
    assert int(rows()["p1"]["rx_bytes"]) >= 1000, rows()
    assert len(sw.tsv("stats p1")) == 1
    assert "Class" in sw.ok("stats p1")
    watch = sw.ok("stats --watch 0.05 --count 2 --tsv").splitlines()
    assert sum(line.startswith("port\t") for line in watch) == 2, watch
    audit = sw.tsv("audit br0")[0]
    assert audit["adds_up"] == "yes" and int(audit["rx"]) >= 10, audit
    status = {r["daemon"]: r["value"] for r in sw.tsv("status")}
    assert status["bridges"] == "1" and status["ports"] == "2", status
    assert status["pid"] == str(sw.daemon.pid), status
    sw.refused("stats p9", "p9")
    sw.refused("audit br9", "br9")


@slc.test("doctor shows every term, and says what is not lossless")
def _(t):
    sw = Switch(t)
    assert "no lossless priorities" in sw.ok("doctor")
    sw.ok("pfc set p1 3:on")
    out = sw.ctl("doctor p1")
    assert out.returncode == OK, out
    for text in ("priority 3", "lossless: ", "cable", "reaction",
                 "headroom that is needed", "receive ring"):
        assert text in out.stdout, (text, out.stdout)
    sw.ok("buffer set p1 pg 3 headroom 1K")
    out = sw.ctl("doctor p1")
    assert out.returncode == REFUSED, out
    assert "lossless: no" in out.stdout, out.stdout
    assert "bytes short" in out.stdout, out.stdout
    # The remedy that it names is one.
    remedy = [line.split("try: sluicectl ", 1)[1] for line in
              out.stdout.splitlines() if "try: sluicectl" in line][0]
    sw.ok(remedy)
    out = sw.ctl("doctor p1 --json")
    assert json.loads(out.stdout)[0]["lossless"] != "no", out.stdout


@slc.test("export, apply: nothing, a change, a dry run, nonsense")
def _(t):
    sw = Switch(t)
    sw.ok("pfc set p1 3:on")
    export = sw.ok("export")
    assert "nothing to change" in sw.ok("apply -", stdin=export)
    assert sw.json("apply -", stdin=export)["changed"] == []
    wanted = json.loads(export)
    wanted["bridges"]["br0"]["ports"]["p1"]["rate_bps"] = 300000000
    del wanted["bridges"]["br0"]["ports"]["p2"]
    text = json.dumps(wanted)
    out = sw.ok("apply - --dry-run", stdin=text)
    assert "not applied" in out and "rate_bps" in out, out
    assert sw.ok("export") == export
    out = sw.ok("apply -", stdin=text)
    assert "applied" in out and "not applied" not in out, out
    assert json.loads(sw.ok("export")) == wanted
    sw.ok("apply -", stdin=export)
    assert sw.ok("export") == export
    wanted["bridges"]["br0"]["ports"]["p1"]["wombat"] = 1
    sw.refused("apply -", "wombat", stdin=json.dumps(wanted))
    sw.refused("apply -", "ends too early", stdin="{", status=USAGE)
    assert sw.ok("apply -", stdin="{}")
    assert sw.json("export")["bridges"] == {}


@slc.test("rpc calls any method, and shows its refusals")
def _(t):
    sw = Switch(t)
    status = json.loads(sw.ok("rpc daemon.status"))
    assert status["ports"] == 2, status
    doc = json.loads(sw.ok("rpc rpc.discover"))
    names = {m["name"] for m in doc["methods"]}
    assert {"pfc.set", "config.apply", "rpc.discover"} <= names, names
    ports = json.loads(sw.ok(["rpc", "pfc.show", '{"port": "p1"}']))
    assert ports[0]["port"] == "p1", ports
    sw.refused("rpc pfc.shwo", "pfc.shwo", "pfc.show")
    sw.refused(["rpc", "pfc.show", '{"prot": "p1"}'], "prot", "'port'")
    sw.refused(["rpc", "pfc.set", '{"port": "p1", "enable": [8]}'],
               "enable/0", "8", "0 to 7")
    p = sw.ctl(["rpc", "pfc.show", '{"port": "p9"}', "--json"])
    assert json.loads(p.stdout)["error"]["data"]["value"], p.stdout


@slc.test("every example of rpc.discover is one that the tables take")
def _(t):
    sw = Switch(t)
    for m in json.loads(sw.ok("rpc rpc.discover"))["methods"]:
        for example in m["examples"]:
            params = {p["name"]: p["value"] for p in example["params"]}
            p = sw.ctl(["rpc", m["name"], json.dumps(params), "--json"])
            if p.returncode:
                error = json.loads(p.stdout)["error"]
                # A port or bridge of another name is fine; a parameter that
                # is not known is not.
                assert error["code"] not in (-32602, -32601, -32603), error


@slc.test("events are printed as they happen")
def _(t):
    sw = Switch(t)
    out = {}
    follower = slc.popen(
        slc.program("sluicectl"), "events", "type=config", "--count", "1",
        "--timeout", "20", "--json", stdout=subprocess.PIPE, text=True,
        env=dict(os.environ, SLUICE_SOCKET=sw.daemon.socket))
    reader = threading.Thread(
        target=lambda: out.update(text=follower.stdout.read()))
    reader.start()
    # It is not known from outside when it has subscribed: change until told.
    for n in range(1, 200):
        sw.ok("bridge set br0 ageing %d" % n)
        if follower.poll() is not None:
            break
    reader.join(20)
    assert follower.wait(20) == OK
    event = json.loads(out["text"])
    assert event["type"] == "config", event
    assert sw.ok("events --timeout 0.05 type link port p1") == ""


@slc.test("TSV and JSON of every command are the same at any width")
def _(t):
    sw = Switch(t)
    sw.ok("pfc set p1 3:on")
    for line in ("bridge", "port", "port show p1", "pfc", "pause", "queue",
                 "map", "buffer", "mac show br0", "export"):
        for form in ("--tsv", "--json"):
            narrow = sw.ok(line + " " + form, env={"COLUMNS": "10"})
            wide = sw.ok(line + " " + form, env={"COLUMNS": "400"})
            if line not in ("mac show br0",) and form == "--tsv":
                assert narrow == wide, (line, narrow, wide)
            assert narrow and len(narrow.splitlines()) == \
                len(wide.splitlines()), line


@slc.test("once the daemon has ended, every command is 3")
def _(t):
    sw = Switch(t)
    sw.daemon.stop()
    for line in ("status", "port", "pfc set p1 3:on", "stats", "export"):
        p = sw.ctl(line)
        assert p.returncode == NO_DAEMON, p
        assert sw.daemon.socket in p.stderr, p


if __name__ == "__main__":
    slc.main(root=True, needs=["ip"])
