#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flows, groups and meters through sluicectl and RPC against a real daemon:
what is added is shown and moves frames, what is refused names the line and
changes nothing, files are replaced and compared as a whole, a trace says what
happens, and what is persistent comes back after a restart."""
import json
import os
import subprocess

import slc

OK, REFUSED, USAGE = 0, 1, 2
DATA = os.path.join(slc.TOP_SRC, "tests", "unit", "data")


class Switch:
    """A daemon with bridge br0 and ports p1 and p2 (peers h1 and h2)."""

    def __init__(self, stack):
        self.ns = stack.enter_context(slc.Netns("flow"))
        self.dir = stack.enter_context(slc.tmpdir())
        for n in "12":
            self.ns.veth("p" + n, "h" + n)
        self.daemon = stack.enter_context(slc.Daemon(self.ns))
        self.ok("bridge", "add", "br0", "memory=32M")
        for port in ("p1", "p2"):
            self.ok("port", "add", "br0", port, "type", slc.port_type(port))

    def ctl(self, *argv, stdin=None):
        return subprocess.run(
            [slc.program("sluicectl"), *argv], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=60, input=stdin,
            env=dict(os.environ, SLUICE_SOCKET=self.daemon.socket))

    def ok(self, *argv, **kw):
        p = self.ctl(*argv, **kw)
        assert p.returncode == OK and p.stderr == "", (argv, p)
        return p.stdout

    def refused(self, *argv, texts=(), status=REFUSED, **kw):
        """Refused with these texts; flows and groups are as before."""
        before = self.everything()
        p = self.ctl(*argv, **kw)
        assert p.returncode == status, (argv, p)
        for text in texts:
            assert text in p.stderr, (argv, text, p.stderr)
        assert self.everything() == before, argv
        return p

    def everything(self):
        return self.flows(), [g["group"] for g in json.loads(
            self.ok("group", "dump", "br0", "--json"))], \
            [m["meter"] for m in json.loads(
                self.ok("meter", "dump", "br0", "--json"))]

    def flows(self, *match):
        """Lines of a dump without counters."""
        return self.ok("flow", "dump", "br0", *match, "stats=off",
                       "names=off").splitlines()

    def file(self, text):
        path = os.path.join(self.dir, "file.txt")
        with open(path, "w") as f:
            f.write(text)
        return path


NORMAL = " cookie=0x0, table=0, priority=0 actions=NORMAL"


@slc.test("a new bridge has one flow; flows come and go, one or many")
def _(t):
    s = Switch(t)
    assert s.flows() == [NORMAL], s.flows()
    s.ok("flow", "add", "br0", "priority=10,in_port=p1,actions=output:p2")
    s.ok("flow", "add", "br0", "-",
         stdin="# two\npriority=11,tcp actions=drop\n\n"
               "table=3,udp,actions=dec_ttl,NORMAL # and a comment\n")
    assert s.flows() == [
        NORMAL, " cookie=0x0, table=0, priority=10,in_port=1 actions=output:2",
        " cookie=0x0, table=0, priority=11,tcp actions=drop",
        " cookie=0x0, table=3, udp actions=dec_ttl,NORMAL"], s.flows()
    assert len(s.flows("table=3")) == 1 and len(s.flows("out_port=p2")) == 1
    s.ok("flow", "mod", "br0", "in_port=1,actions=drop")
    assert s.flows("in_port=1") == [
        " cookie=0x0, table=0, priority=10,in_port=1 actions=drop"]
    s.ok("flow", "del", "br0", "priority=11,tcp", "strict")
    s.ok("flow", "del", "br0", "table=3")
    assert len(s.flows()) == 2
    rows = s.ok("flow", "dump", "br0", "--tsv").splitlines()
    assert rows[0].split("\t")[:3] == ["table", "priority", "cookie"], rows
    assert rows[1].split("\t")[-1] == "NORMAL", rows
    s.ok("flow", "del", "br0")
    assert s.flows() == []
    tables = json.loads(s.ok("table", "dump", "br0", "all", "--json"))
    assert len(tables) == 254 and tables[0]["flows"] == 0


@slc.test("flow files of Open vSwitch load unchanged")
def _(t):
    s = Switch(t)
    s.ok("group", "add", "br0", "file", os.path.join(DATA, "groups.txt"))
    s.ok("meter", "add", "br0", "meter=1,kbps,band=type=drop,rate=1000")
    s.ok("flow", "del", "br0")
    s.ok("flow", "add", "br0", "file", os.path.join(DATA, "flows.txt"))
    mine = s.flows()
    assert len(mine) == 33, len(mine)
    dump = os.path.join(DATA, "ovs-dump-flows-13.txt")
    # What Open vSwitch shows of them says the same but where it rewrites.
    p = s.ctl("flow", "diff", "br0", dump)
    assert p.returncode == REFUSED, p
    for line in p.stdout.splitlines():
        assert any(w in line for w in (
            "mod_vlan", "push_vlan", "vlan_pcp", "in_port=", "LOCAL"
        )), line
    # Its own dump is a file too.
    shown = s.file(s.ok("flow", "dump", "br0"))
    assert s.ctl("flow", "diff", "br0", shown).returncode == OK
    assert s.ok("flow", "replace", "br0", shown, "--tsv").splitlines()[1] == \
        "0\t0\t33"


@slc.test("what is refused names the line, and changes nothing")
def _(t):
    s = Switch(t)
    bad = s.file("priority=1,actions=drop\n# fine so far\n"
                 "priority=2,actions=resubmit(,1)\n")
    for verb in ("add", "replace"):
        words = ["file", bad] if verb == "add" else [bad]
        s.refused("flow", verb, "br0", *words,
                  texts=("file.txt:3: ", "resubmit", "extension"))
    s.refused("flow", "add", "br0", "actions=output:77", texts=("BAD_OUT_PORT",))
    s.refused("flow", "add", "br0", "actions=group:5",
              texts=("BAD_OUT_GROUP",))
    s.refused("flow", "add", "br0", "file",
              s.file("priority=5,actions=drop\nactions=goto_table:1,meter:9\n"),
              texts=("file.txt:2: ", "UNKNOWN_METER"))
    s.refused("flow", "add", "br0", "tp_dst=80,actions=drop",
              texts=("tcp_dst", "beside"))
    s.refused("flow", "add", "br1", "actions=drop", texts=("br1",))
    s.refused("flow", "add", "br0", "file", "/nonexistent", status=USAGE,
              texts=("/nonexistent",))
    s.refused("flow", "add", "br0", status=USAGE, texts=("missing",))
    s.refused("group", "add", "br0", "group_id=1,type=what",
              texts=("what", "select"))
    s.refused("group", "mod", "br0", "group_id=1,type=all",
              texts=("UNKNOWN_GROUP",))
    s.refused("meter", "add", "br0", "meter=1,kbps", texts=("band",))
    s.refused("flow", "bundle", "br0",
              s.file("group add group_id=1,type=all\nflow add actions=group:1"
                     "\nmeter add meter=1,kbps\n"),
              texts=("file.txt:3: ", "band"))


@slc.test("a bundle makes groups, meters and flows together")
def _(t):
    s = Switch(t)
    s.ok("flow", "bundle", "br0", s.file(
        "group add group_id=1,type=select,bucket=output:p1,bucket=output:p2\n"
        "meter add meter=1,pktps,burst,bands=type=drop,rate=5,burst_size=1\n"
        "flow add priority=9,tcp,actions=meter:1,group:1\n"
        "flow delete_strict priority=0\n"))
    assert s.flows() == [
        " cookie=0x0, table=0, priority=9,tcp actions=meter:1,group:1"]
    assert s.ok("group", "dump", "br0").splitlines()[0] == \
        " group_id=1,type=select,bucket=actions=output:p1," \
        "bucket=actions=output:p2"
    assert "ref_count=1" in s.ok("meter", "dump", "br0", "1")
    s.ok("group", "mod", "br0", "group_id=2,type=indirect,bucket=drop",
         "may-create")
    s.ok("group", "del", "br0", "group_id=1")
    assert s.flows() == []  # the flow that named it went along
    s.ok("group", "del", "br0", "all")
    s.ok("meter", "del", "br0", "all")
    assert s.everything() == ([], [], [])


@slc.test("the datapath follows when the command ends")
def _(t):
    s = Switch(t)
    a, b = (t.enter_context(slc.Raw(s.ns, h)) for h in ("h1", "h2"))
    test = slc.frame(slc.mac(2), slc.mac(1), b"flow" * 20)
    for out in (True, False):
        s.ok("flow", "replace", "br0", "-",
             stdin="in_port=1,actions=%s\n" % ("2" if out else "drop"))
        a.send(test)
        got = b.recv_match(lambda f: f == test, 10 if out else 0.3)
        assert (got is not None) == out, (out, got)


@slc.test("a trace shows tables, actions, group, queue and verdict")
def _(t):
    s = Switch(t)
    s.ok("flow", "bundle", "br0", s.file(
        "group add group_id=1,type=indirect,bucket=actions=set_queue:3,2\n"
        "flow add priority=9,tcp,actions=set_field:10.0.0.9->ip_dst,"
        "goto_table:1\n"
        "flow add table=1,actions=group:1\n"
        "flow add priority=8,udp,actions=drop\n"))
    text = s.ok("flow", "trace", "br0", "p1", "tcp,nw_dst=10.0.0.1,tp_dst=80")
    for word in ("ingress: priority 0", "table 0: priority=9,tcp",
                 "set_field:10.0.0.9->ip_dst", "goto table 1", "table 1: ",
                 "group 1: bucket 0", "-> port p2, queue 3",
                 "nw_dst=10.0.0.9", "verdict: sent to p2"):
        assert word in text, (word, text)
    assert "verdict: dropped" in s.ok("flow", "trace", "br0", "1", "udp")
    frame = slc.frame(slc.mac(2), slc.mac(1), b"x" * 46).hex()
    r = json.loads(s.ok("flow", "trace", "br0", "p1", frame, "--json"))
    assert [x["step"] for x in r["steps"]][:2] == ["ingress", "match"], r
    assert any(x["step"] == "normal" for x in r["steps"]), r
    s.refused("flow", "trace", "br0", "p9", "udp", texts=("p9",))
    s.refused("flow", "trace", "br0", "p1", "bogus=1", texts=("bogus",))
    assert s.flows("tcp")[0].startswith(" cookie=0x0, table=0, priority=9")


@slc.test("what is persistent comes back after a restart, the rest does not")
def _(t):
    s = Switch(t)
    s.ok("group", "add", "br0", "file", os.path.join(DATA, "groups.txt"),
         "--persist")
    s.ok("meter", "add", "br0", "meter=3,kbps,bands=type=drop,rate=1000",
         "--persist")
    s.ok("flow", "add", "br0", "priority=5,in_port=p1,actions=meter:3,group:7",
         "--persist")
    s.ok("flow", "add", "br0", "priority=6,in_port=p2,actions=drop")
    s.ok("flow", "add", "br0", "-", "--persist",
         stdin="cookie=5,table=9,idle_timeout=1000,send_flow_rem,udp,tp_dst=53"
               ",actions=write_actions(output:1),write_metadata:1/3\n"
               "table=9,actions=drop\n")
    s.ok("flow", "del", "br0", "table=9,priority=32768", "strict")
    s.ok("meter", "mod", "br0", "meter=3,kbps,bands=type=drop,rate=2000")
    s.ok("flow", "mod", "br0", "table=9,udp,actions=goto_table:10")
    flows, groups, meters = s.everything()
    s.daemon.restart()
    want = [f for f in flows if "priority=6" not in f]
    assert s.flows() == want, (s.flows(), want)
    assert s.everything()[1:] == (groups, meters)
    s.ok("flow", "del", "br0", "in_port=1")
    s.ok("group", "del", "br0", "all")
    s.daemon.kill()
    s.daemon.start()
    assert s.flows() == [f for f in want if "in_port=1" not in f]
    assert s.everything()[1] == []
    s.ok("bridge", "del", "br0")
    s.ok("bridge", "add", "br0", "memory=32M")
    assert s.flows() == [NORMAL]


@slc.test("what is persistent outlives what empties the tables")
def _(t):
    s = Switch(t)
    s.ok("flow", "bundle", "br0", s.file(
        "meter add meter=1,kbps,bands=type=drop,rate=1000\n"
        "group add group_id=4,type=all,bucket=output:1\n"
        "flow add priority=7,tcp,actions=meter:1,group:4\n"), "--persist")
    s.ok("flow", "add", "br0", "priority=8,udp,actions=drop")
    mine = [" cookie=0x0, table=0, priority=7,tcp actions=meter:1,group:4"]
    s.ok("bridge", "set", "br0", "fail-mode=secure")
    assert s.flows() == mine, s.flows()
    s.daemon.restart()
    assert s.flows() == mine, s.flows()
    assert "not taken" not in s.daemon.log(), s.daemon.log()
    s.ok("flow", "add", "br0", "priority=8,udp,actions=drop")
    s.ok("controller", "add", "br0", "tcp:127.0.0.1:9")
    assert s.flows() == mine, s.flows()
    s.daemon.restart()
    assert s.flows() == mine, s.flows()


@slc.test("many: 10,000 flows in a file, in pages, replaced, and back")
def _(t):
    s = Switch(t)
    lines = ["table=1,priority=%d,ip,nw_dst=10.%d.%d.1,actions=output:2" %
             (i % 100 + 1, i // 250, i % 250) for i in range(10000)]
    s.ok("flow", "add", "br0", "-", stdin="\n".join(lines))
    assert len(s.flows("table=1")) == 10000
    half = lines[:5000] + ["table=2,actions=drop"]
    out = s.ok("flow", "replace", "br0", "-", "--tsv", "--persist",
               stdin="\n".join(half))
    assert out.splitlines()[1] == "5001\t5001\t0", out  # stored now
    out = s.ok("flow", "replace", "br0", "-", "--tsv", "--persist",
               stdin="\n".join(half))
    assert out.splitlines()[1] == "0\t0\t5001", out
    p = s.refused("flow", "add", "br0", "-",
                  stdin="\n".join(lines) + "\nactions=bogus")
    assert "standard input:10001: " in p.stderr, p.stderr
    s.daemon.restart()
    assert len(s.flows("table=1")) == 5000


@slc.test("RPC: batches, atomic changes, paths of errors, stages")
def _(t):
    s = Switch(t)
    rpc = s.daemon.rpc
    assert rpc("flow.add", bridge="br0", atomic=True, flows=[
        "priority=1,in_port=1,actions=drop", "delete in_port=2",
        "modify in_port=1,actions=NORMAL"]) == {"done": 3}
    try:
        rpc("flow.add", bridge="br0", flows=["actions=drop", "actions=foo"])
        assert False, "taken"
    except slc.RpcError as e:
        assert e.data["path"] == "/params/flows/1", e.data
        assert e.data["value"] == "foo", e.data
    got = rpc("flow.dump", bridge="br0", limit=1)
    assert len(got["flows"]) == 1 and got["next"] and got["total"] == 2, got
    got = rpc("flow.dump", bridge="br0", limit=1, after=got["next"])
    assert got["flows"][0]["match"] == "in_port=p1", got
    assert got["next"] is None
    assert rpc("flow.stage", transaction="x",
               lines=["priority=3,actions=drop"]) == {"staged": 1}
    assert rpc("flow.add", bridge="br0", transaction="x",
               flows=["priority=4,actions=drop"]) == {"done": 2}
    slc.refused(rpc, "flow.add", bridge="br0", transaction="x", flows=[])
    for n in range(4):
        rpc("flow.stage", transaction="n%d" % n, lines=["actions=drop"])
    slc.refused(rpc, "flow.stage", transaction="n5", lines=["actions=drop"])
    slc.refused(rpc, "flow.dump", bridge="br0", after="bogus")


slc.main(root=True, needs=["ip"])
