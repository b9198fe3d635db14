#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sluicectl without a daemon, and against a made-up one that answers what a
test wants: command lines, exit statuses, what is sent, how answers are shown,
the completion.  Needs no root; test_ctl.py is about the real daemon."""
import contextlib
import json
import os
import pty
import re
import socket
import subprocess
import threading

import slc

OK, REFUSED, USAGE, NO_DAEMON = 0, 1, 2, 3


def ctl(*argv, where="/nonexistent/slc.sock", env=None, stdin=None, **kw):
    """Runs sluicectl; the finished process."""
    environ = dict(os.environ, SLUICE_SOCKET=where, **(env or {}))
    kw.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([slc.program("sluicectl"), *argv],
                          stderr=subprocess.PIPE, text=True, timeout=30,
                          env=environ, input=stdin, **kw)


class Fake:
    """A daemon whose answers are in a table: method -> result, RpcError-like
    dict with "code", or a function of params.  Keeps the calls."""

    def __init__(self, answers, notifications=()):
        self.answers = answers
        self.notifications = list(notifications)
        self.calls = []
        self.stack = contextlib.ExitStack()
        self.path = os.path.join(self.stack.enter_context(slc.tmpdir()),
                                 "fake.sock")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(8)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            with conn, contextlib.suppress(OSError):
                for line in conn.makefile():
                    self.answer(conn, json.loads(line))

    def answer(self, conn, request):
        method, params = request["method"], request.get("params")
        self.calls.append((method, params))
        result = self.answers.get(method)
        if callable(result):
            result = result(params)
        if isinstance(result, bytes):
            conn.sendall(result)
            conn.shutdown(socket.SHUT_RDWR)
            return
        kind = "error" if isinstance(result, dict) and "code" in result \
            else "result"
        conn.sendall(json.dumps({"jsonrpc": "2.0", "id": request["id"],
                                 kind: result}).encode() + b"\n")
        if method == "events.subscribe":
            for params in self.notifications:
                conn.sendall(json.dumps({
                    "jsonrpc": "2.0", "method": "event",
                    "params": params}).encode() + b"\n")

    def ctl(self, *argv, **kw):
        return ctl(*argv, where=self.path, **kw)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(10)
        self.stack.close()


def says(p, status, *texts):
    """Asserts the exit status, and that standard error has the texts."""
    assert p.returncode == status, (p.returncode, p.stdout, p.stderr)
    for text in texts:
        assert text in p.stderr, "%r is not in:\n%s" % (text, p.stderr)


def sends(argv, method, params):
    """Asserts what a command line calls."""
    with Fake({}) as fake:
        p = fake.ctl(*argv.split())
        says(p, OK)
        assert fake.calls == [(method, params)], fake.calls
        assert p.stderr == "", p.stderr


def commands():
    out = ctl("--list-commands").stdout
    return [line.split("\t") for line in out.splitlines()]


# --------------------------------------------------------------- usage ---

@slc.test("no daemon is 3, for every command")
def _(t):
    for noun, verb, args, _keys, _options in commands():
        argv = [noun] + ([verb] if verb else [])
        words = args.split()
        if noun == "drill" and verb in ("storm", "hold"):
            argv += ["for", "1s", "prio" if verb == "storm" else "queue", "3"]
        if (noun, verb) in (("buffer", "set"),):
            argv += ["eth1", "pg", "3", "xoff", "64K"]
        elif (noun, verb) in (("apply", ""), ("import", "sonic")):
            argv += ["-"]
        elif verb == "set" and noun not in ("bridge", "port", "pool",
                                            "controller",
                                            "profile"):
            extra = {"pfc": ["3:on"], "pause": ["rx", "on"],
                     "queue": ["0:30%"], "map": ["trust", "pcp"],
                     "controller": ["tcp:192.0.2.1"]}
            argv += ["eth1"] + extra[noun]
        else:
            argv += ["-" if noun == "flow" and w == "FILE" else "slcx"
                     for w in words if w != "JSON"]
        p = ctl(*argv, stdin="{}")
        says(p, NO_DAEMON, "/nonexistent/slc.sock",
             "No such file or directory")
        assert p.stdout == "", p.stdout


@slc.test("a socket that nobody listens on is 3")
def _(t):
    path = os.path.join(t.enter_context(slc.tmpdir()), "sock")
    s = t.enter_context(socket.socket(socket.AF_UNIX))
    s.bind(path)
    says(ctl("status", where=path), NO_DAEMON, path, "Connection refused")
    says(ctl("status", "--socket", path), NO_DAEMON, path)
    says(ctl("status", "-s", path), NO_DAEMON, path)
    says(ctl("status", "--socket=" + path), NO_DAEMON, path)


@slc.test("a path or address that cannot be is 2")
def _(t):
    says(ctl("status", "--socket", "x" * 200), USAGE, "1 to 107")
    says(ctl("status", "--socket", "tcp:localhost:x"), USAGE,
         "tcp:ADDRESS:PORT")


@slc.test("a mistyped noun, verb, option or key names what was meant")
def _(t):
    says(ctl("prot"), USAGE, "'prot'", "'port'")
    says(ctl("bufer", "show"), USAGE, "'bufer'", "'buffer'")
    says(ctl("pfc", "shwo"), USAGE, "'shwo'", "'show'",
         "show, counters, history, graph, set")
    says(ctl("--jsno", "status"), USAGE, "'--jsno'", "'--json'")
    says(ctl("buffer", "set", "eth1", "pg", "3", "xof", "64K"), USAGE,
         "'xof'", "'xoff'")
    says(ctl("port", "add", "br0", "eth1", "rtae=1M"), USAGE, "'rtae'",
         "'rate'")
    says(ctl("port", "add", "br0", "eth1", "type", "afpaket"), USAGE,
         "'afpaket'", "'afpacket'")
    says(ctl("events", "type", "xof"), USAGE, "'xof'", "'xoff'")
    says(ctl("wombat"), USAGE, "'wombat'")


@slc.test("a value that cannot be names the value and what is allowed")
def _(t):
    cases = [
        ("pfc set eth1 prio 8:on", "'8'", "0 to 7"),
        ("pfc set eth1 prio -1:on", "'-1'", "0 to 7"),
        ("pfc set eth1 prio 3:maybe", "'maybe'", "on"),
        ("pfc set eth1 prio", "prio", "needs a value"),
        ("pfc set eth1 quanta 0", "0", "1 to 65535"),
        ("pfc set eth1", "nothing to set"),
        ("pfc set", "PORT is missing"),
        ("pause set eth1 rx yes", "'yes'", "on"),
        ("buffer set eth1 pg 8 xoff 1K", "pg", "8", "0 to 7"),
        ("buffer set eth1 xoff 64K", "pg is missing"),
        ("buffer set eth1 pg 3", "nothing to set"),
        ("buffer set eth1 pg 3 xoff 64Q", "'64Q'", "K, M or G"),
        ("buffer set eth1 pg 3 headroom many", "'many'", "auto"),
        ("queue set eth1 0:101%", "'101%'", "0% to 100%"),
        ("queue set eth1 8:strict", "'8'", "0 to 7"),
        ("queue set eth1 0:30", "'30'", "strict"),
        ("queue set eth1 max-rate 0:fast", "'fast'", "like 200M"),
        ("queue set eth1", "nothing to set"),
        ("map set eth1 pcp 9:1", "'9'", "PCP", "0 to 7"),
        ("map set eth1 pcp 1:9", "'9'", "0 to 7"),
        ("map set eth1 trust vlan", "'vlan'", "pcp, dscp, port"),
        ("map set eth1 dscp 64:1", "'64'", "DSCP", "0 to 63"),
        ("map set eth1 dscp 9-8:1", "9-8", "FIRST-LAST"),
        ("map set eth1 queue 3:8", "'8'", "0 to 7"),
        ("map set eth1 rewrite-dscp 3:64", "'64'", "0 to 63", "keep"),
        ("map set eth1 rewrite-pcp 3:none", "'none'", "0 to 7", "keep"),
        ("queue set eth1 ecn 3:yes", "'yes'", "on nor off"),
        ("queue set eth1 wred-probability 3:101", "101", "0 to 100"),
        ("map set trust pcp", "either PORT or bridge"),
        ("map set eth1 bridge br0 trust pcp", "either PORT or bridge"),
        ("port add br0 eth1 tag 4095", "4095", "0 to 4094"),
        ("port add br0 eth1 trunks 1,5000", "'5000'", "0 to 4094"),
        ("port add br0 eth1 trunks 9-3", "9-3", "FIRST-LAST"),
        ("port add br0 eth1 mode access-all", "'access-all'", "trunk"),
        ("port add br0 eth1 rate 999T", "999T", "0 to 400G"),
        ("port add br0 eth1 cable 2km", "'2km'", "0m to 198000000m",
         "0ns to 1s"),
        ("port set eth1 cable -1m", "'-1m'", "0m to 198000000m"),
        ("port set eth1 cable=-1m", "'-1m'", "0m to 198000000m"),
        ("port set eth1 cable 198000001m", "'198000001m'", "0ns to 1s"),
        ("headroom cable -1m", "'-1m'", "0m to"),
        ("headroom small 101", "101", "0 to 100"),
        ("headroom cell 0", "0", "1 to 4K"),
        ("buffer set eth1 pg 3 alpha 4", "'4'", "-7 to 3, or none"),
        ("buffer set eth1 pg 3 alpha -8", "'-8'", "-7 to 3, or none"),
        ("queue set eth1 alpha 0:x", "'x'", "-7 to 3, or none"),
        ("queue set eth1 profile lossy", "'lossy'", "queue:VALUE"),
        ("pool set br0 p mode dynamik", "'dynamik'", "dynamic"),
        ("port add br0", "PORT is missing"),
        ("bridge add br0 memory 1K", "1K", "1M to 4G"),
        ("bridge show br0 br1", "'br1'", "one word too many"),
        ("mac show br0 limit 0", "0", "1 to 10000"),
        ("stats --watch 0", "'0'", "0.001"),
        ("stats --watch=soon", "'soon'"),
        ("events --count 0", "'0'", "1 and more"),
        ("status --timeout never", "'never'"),
        ("status --watch", "--watch"),
        ("status --dry-run", "--dry-run"),
        ("status --count 3", "--count"),
        ("status --json=yes", "--json", "no value"),
        ("status --timeout", "--timeout", "needs a value"),
        ("rpc", "METHOD is missing"),
        ("rpc x {", "{", "JSON"),
        ("rpc x 1", "'1'", "JSON"),
        ("rpc x {}{}", "JSON"),
    ]
    for line, *texts in cases:
        argv = line.split()
        p = ctl(*argv)
        says(p, USAGE, *texts)
        assert p.stdout == "", p.stdout


@slc.test("help and version go to standard output with 0")
def _(t):
    for argv in (["--help"], ["-h"], ["help"]):
        p = ctl(*argv)
        says(p, OK)
        for noun in {c[0] for c in commands()}:
            assert re.search(r"^  %s\b" % noun, p.stdout, re.M), noun
    for noun in {c[0] for c in commands()}:
        p = ctl(noun, "--help")
        says(p, OK)
        assert "sluicectl " + noun in p.stdout, p.stdout
        assert ctl("help", noun).stdout == p.stdout
    p = ctl("--version")
    says(p, OK)
    assert re.match(r"sluicectl \(Sluice\) \d+\.\d+", p.stdout), p.stdout
    says(ctl(), USAGE, "a command is missing")


@slc.test("standard output that cannot be written is an error")
def _(t):
    with open("/dev/full", "w") as full:
        says(ctl("--help", stdout=full), REFUSED, "No space left")
    r, w = os.pipe()
    os.close(r)
    try:
        # `sluicectl ... | head`: no reason to say anything.
        for argv in (["--help"], ["status"], ["--list-commands"]):
            with Fake({}) as fake:
                p = fake.ctl(*argv, stdout=w)
            says(p, REFUSED)
            assert p.stderr == "", p.stderr
    finally:
        os.close(w)


@slc.test("usage shows the word that a quantity may be instead")
def _(t):
    for argv, want in (("buffer set", "[headroom SIZE|auto]"),
                       ("profile set", "[headroom SIZE|auto]"),
                       ("port set", "[rate RATE|auto]"),
                       ("port set", "[cell SIZE|bridge]"),
                       ("bridge set", "[headroom-pool SIZE|none]"),
                       ("buffer set", "[xon SIZE]")):
        p = ctl("help", argv.split()[0])
        rows = [r for r in p.stdout.split("\n")
                if r.startswith("  sluicectl %s " % argv)]
        assert rows and all(want in r for r in rows), (want, rows)


# ------------------------------------------------------- what is sent ---

@slc.test("words become params, key value and key=value alike")
def _(t):
    sends("bridge add br0 memory 32M ageing=5min max-frame 9K "
          "forward-reserved on", "bridge.add",
          {"name": "br0", "memory_bytes": 33554432, "mac_ageing_s": 300,
           "max_frame_bytes": 9216, "forward_reserved": True})
    sends("bridge del br0", "bridge.del", {"name": "br0"})
    sends("bridge set br0 fail-mode secure certificate /c", "bridge.set",
          {"name": "br0", "fail_mode": "secure",
           "ssl": {"certificate": "/c"}})
    sends("controller set br0 tcp:192.0.2.1,ptcp: probe 1000",
          "controller.set",
          {"bridge": "br0", "targets": ["tcp:192.0.2.1", "ptcp:"],
           "probe_ms": 1000})
    sends("controller add br0 unix:/a probe off max-backoff=2000",
          "controller.add", {"bridge": "br0", "targets": ["unix:/a"],
                             "probe_ms": 0, "max_backoff_ms": 2000})
    sends("controller del br0", "controller.del", {"bridge": "br0"})
    port = {"bridge": "br0", "name": "eth1", "type": "tap",
            "rate_bps": 200000000, "cable_delay_ns": 500,
            "vlan": {"mode": "access", "tag": 10}}
    sends("port add br0 eth1 type=tap rate=200M cable=500ns vlan tag=10 "
          "mode=access", "port.add", port)
    sends("port add br0 eth1 type tap rate 200M cable 500ns vlan tag 10 "
          "mode access", "port.add", port)
    sends("port set eth1 trunks=1,3-5 pfc=3,4 rate=auto pause-rx=off",
          "port.set",
          {"name": "eth1", "vlan": {"trunks": [1, 3, 4, 5]},
           "pfc": {"priorities": [3, 4]}, "rate_bps": 0,
           "pause": {"rx": False}})
    sends("port set eth1 trunks all pfc none", "port.set",
          {"name": "eth1", "vlan": {"trunks": []},
           "pfc": {"priorities": []}})
    sends("port add br0 t0 mac=02:00:00:00:00:01", "port.add",
          {"bridge": "br0", "name": "t0", "mac": "02:00:00:00:00:01"})
    sends("port list br0", "port.list", {"bridge": "br0"})
    sends("port", "port.list", {})
    sends("pfc set eth1 prio 3:on 4:off", "pfc.set",
          {"port": "eth1", "enable": [3], "disable": [4]})
    sends("pfc set eth1 3:on", "pfc.set", {"port": "eth1", "enable": [3]})
    sends("pfc set eth1 prio-pfc all:off 3:on asymmetric on quanta 1000",
          "pfc.set",
          {"port": "eth1", "disable": [0, 1, 2, 4, 5, 6, 7], "enable": [3],
           "asymmetric": True, "quanta": 1000})
    sends("pfc set eth1 only 3,4", "pfc.set",
          {"port": "eth1", "priorities": [3, 4]})
    sends("pfc counters eth1", "pfc.counters", {"port": "eth1"})
    sends("pause set eth1 rx on tx=off", "pause.set",
          {"port": "eth1", "rx": True, "tx": False})
    sends("pause show", "pfc.show", {})
    sends("buffer set eth1 pg 3 xoff 64K xon 32K headroom auto",
          "buffer.set", {"port": "eth1", "group": 3, "xoff_bytes": 65536,
                         "xon_bytes": 32768, "headroom": "auto"})
    sends("buffer set eth1 headroom=1M xon-offset=4K reserved=0 pg=0",
          "buffer.set", {"port": "eth1", "group": 0, "headroom": 1048576,
                         "xon_offset_bytes": 4096, "reserved_bytes": 0})
    sends("queue set eth1 0:30% 1:70% 7:strict", "queue.set",
          {"port": "eth1", "queues": {
              "0": {"mode": "ets", "weight": 30},
              "1": {"mode": "ets", "weight": 70},
              "7": {"mode": "strict"}}})
    sends("queue set eth1 queue=0:30%,1:70% max-rate 0:10M limit all:128K",
          "queue.set", {"port": "eth1", "queues": {
              "0": {"mode": "ets", "weight": 30, "max_rate_bps": 10000000,
                    "limit_bytes": 131072},
              "1": {"mode": "ets", "weight": 70, "limit_bytes": 131072},
              **{str(q): {"limit_bytes": 131072} for q in range(2, 8)}}})
    sends("map set eth1 pcp 5:3 6:4 queue 3:2 trust port "
          "default-priority 2 pg 3:1", "map.set",
          {"port": "eth1", "pcp_to_priority": {"5": 3, "6": 4},
           "priority_to_queue": {"3": 2}, "trust": "port",
           "default_priority": 2, "priority_to_group": {"3": 1}})
    sends("map set eth1 trust dscp dscp 26:3 8-10:1 group 3:4 "
          "rewrite-dscp 3:26,4:keep rewrite-pcp all:keep priority-tags never",
          "map.set",
          {"port": "eth1", "trust": "dscp",
           "dscp_to_priority": {"26": 3, "8": 1, "9": 1, "10": 1},
           "priority_to_group": {"3": 4},
           "priority_to_dscp": {"3": 26, "4": -1},
           "priority_to_pcp": {str(p): -1 for p in range(8)},
           "priority_tags": "never"})
    sends("queue set eth1 wred-min 3:64K wred-max 3:128K "
          "wred-probability 3:5 ecn 3:on,4:off", "queue.set",
          {"port": "eth1", "queues": {
              "3": {"wred_min_bytes": 65536, "wred_max_bytes": 131072,
                    "wred_percent": 5, "ecn": True},
              "4": {"ecn": False}}})
    sends("map set bridge br0 pcp all:0", "map.set",
          {"bridge": "br0",
           "pcp_to_priority": {str(p): 0 for p in range(8)}})
    sends("map show bridge=br0", "map.show", {"bridge": "br0"})
    sends("mac flush br0 port eth1 vid 10", "mac.flush",
          {"bridge": "br0", "port": "eth1", "vid": 10})
    sends("stats eth1", "stats.show", {"port": "eth1"})
    sends("stats show eth1", "stats.show", {"port": "eth1"})
    sends("audit", "audit.show", {})
    sends("doctor eth1", "doctor.show", {"port": "eth1"})
    sends("stats clear", "stats.clear", {})
    sends("stats eth1 clear", "stats.clear", {"port": "eth1"})
    sends("stats eth1 --raw", "stats.show", {"port": "eth1", "raw": True})
    sends("queue clear eth1", "queue.clear", {"port": "eth1"})
    sends("queue show --raw", "queue.show", {"raw": True})
    sends("buffer clear", "buffer.clear", {})
    sends("buffer watermark", "buffer.watermark", {})
    sends("buffer watermark eth1 --persistent", "buffer.watermark",
          {"port": "eth1", "persistent": True})
    sends("buffer watermark --persistent clear", "buffer.watermark_clear",
          {"persistent": True})
    sends("pfc counters clear", "pfc.counters_clear", {})
    sends("pfc counters clear eth1", "pfc.counters_clear", {"port": "eth1"})
    sends("pfc counters eth1 clear", "pfc.counters_clear", {"port": "eth1"})
    sends("drill hold eth1 queue 3 for 500ms", "drill.hold",
          {"port": "eth1", "queues": [3], "duration_ms": 500})
    sends("rpc some.method", "some.method", None)
    sends("rpc some.method [1,2]", "some.method", [1, 2])
    sends("-- port show --json", "port.show", {"name": "--json"})


@slc.test("export is that of one moment, whatever it takes")
def _(t):
    generations = iter([1, 2, 2, 2])
    answers = {
        "daemon.status": lambda p: {"config_generation": next(generations)},
        "config.export": lambda p: {"bridges": {"br0": {"ports": {
            "p%d" % i: {} for i in range(p["first_port"], min(
                100, p["first_port"] + p["max_ports"]))}}}}}
    with Fake(answers) as fake:
        p = fake.ctl("export")
        says(p, OK)
        assert json.loads(p.stdout) == {"bridges": {"br0": {"ports": {
            "p%d" % i: {} for i in range(100)}}}}
        assert [m for m, _ in fake.calls] == [
            "daemon.status", "config.export", "config.export",
            "daemon.status"] * 2
        answers["daemon.status"] = lambda p: {
            "config_generation": len(fake.calls)}
        says(fake.ctl("export"), REFUSED, "changed all the time")


@slc.test("times that were measured are exact, and readable")
def _(t):
    spans = {0: "0", 7: "7ns", 999: "999ns", 1000: "1us", 2048: "2.048us",
             15541326: "15.541326ms", 2190462157: "2190.462157ms",
             10000000001: "10.000000001s", 60000000000: "60s"}
    for ns, text in spans.items():
        pauses = [{"port": "p1", "priority": 3,
                   "rx": {"pauses": 1, "paused_ns": ns}, "tx": {}}]
        with Fake({"pfc.history": {"bridges": [], "events": [],
                                   "pauses": pauses}}) as fake:
            p = fake.ctl("pfc", "history")
            says(p, OK)
            row, = [r.split() for r in p.stdout.splitlines()
                    if r.startswith("p1  ")][:1]
            assert row[3] == text, (ns, row)


@slc.test("the words of a command come in any order")
def _(t):
    for words in ("eth1 --action drop --detection 400",
                  "--action drop eth1 --detection 400",
                  "--detection 400 --action drop eth1",
                  "action=drop detection 400 eth1"):
        sends("watchdog start " + words, "watchdog.start",
              {"port": "eth1", "action": "drop", "detection_ms": 400})
    for words in ("eth1 0:30% 1:70%", "0:30% eth1 1:70%", "0:30% 1:70% eth1",
                  "queue 0:30% 1:70% eth1"):
        sends("queue set " + words, "queue.set", {
            "port": "eth1", "queues": {
                "0": {"mode": "ets", "weight": 30},
                "1": {"mode": "ets", "weight": 70}}})
    sends("pfc set 3:on eth1", "pfc.set", {"port": "eth1", "enable": [3]})
    sends("port add --rate 1G br0 type tap t0", "port.add",
          {"bridge": "br0", "name": "t0", "type": "tap",
           "rate_bps": 1000000000})
    sends("map set dscp 26:3 eth1", "map.set",
          {"port": "eth1", "dscp_to_priority": {"26": 3}})
    sends("drill hold for 1s queue 3 eth1", "drill.hold",
          {"port": "eth1", "queues": [3], "duration_ms": 1000})
    # A name that is a key's: arguments come first where that can be meant.
    sends("watchdog start action action drop", "watchdog.start",
          {"port": "action", "action": "drop"})
    sends("watchdog guard time", "watchdog.guard", {"port": "time"})
    says(ctl("watchdog", "start", "--action", "drop"), USAGE,
         "watchdog start: PORT is missing")
    says(ctl("watchdog", "start", "--action", "explode", "eth1"), USAGE,
         "'explode' is no action; allowed: drop, forward, alert")
    says(ctl("watchdog", "start", "--poll", "5ms", "eth1"), USAGE,
         "poll: 5ms is out of range; allowed: 100ms to 1s")
    says(ctl("watchdog", "start", "eth1", "eth2"), USAGE, "'eth2'")


@slc.test("what is missing or no value of a key is named")
def _(t):
    says(ctl("drill", "hold", "eth1", "queue", "3"), USAGE,
         "drill hold: 'for' is missing")
    says(ctl("drill", "storm", "eth1", "for", "1s"), USAGE,
         "drill storm: 'prio' is missing",
         "drill storm PORT prio P,P|none|all for TIME")
    says(ctl("drill", "hold", "eth1", "queue", "8", "for", "1s"), USAGE,
         "'8' is no queue; allowed: 0 to 7")
    says(ctl("drill", "storm", "eth1", "prio", "8", "for", "1s"), USAGE,
         "'8' is no priority; allowed: 0 to 7")
    says(ctl("map", "set", "eth1", "dscp", "3:8"), USAGE,
         "'8' is no priority; allowed: 0 to 7")
    says(ctl("map", "set", "eth1", "pg", "3:8"), USAGE,
         "'8' is no priority group; allowed: 0 to 7")
    says(ctl("map", "set", "eth1", "rewrite-dscp", "3:64"), USAGE,
         "'64' is no DSCP; allowed: 0 to 63, or keep")
    says(ctl("queue", "set", "eth1", "wred-probability", "3:101"), USAGE,
         "101 is out of range", "[wred-probability Q:N...]")


@slc.test("options may stand anywhere")
def _(t):
    with Fake({"port.list": []}) as fake:
        for argv in (["--json", "port", "list"], ["port", "--json", "list"],
                     ["port", "list", "--json"], ["port", "list", "-j"]):
            p = fake.ctl(*argv)
            says(p, OK)
            assert json.loads(p.stdout) == []


@slc.test("the only bridge need not be named, of several one must be")
def _(t):
    one = {"bridge.list": [{"name": "br0"}],
           "mac.list": {"entries": [], "total": 0}}
    with Fake(one) as fake:
        says(fake.ctl("mac", "show"), OK)
        assert fake.calls[-1] == ("mac.list", {"bridge": "br0"})
    with Fake({"bridge.list": [{"name": "br0"}, {"name": "br1"}]}) as fake:
        says(fake.ctl("mac"), USAGE, "BRIDGE is missing", "2 bridges")


# ----------------------------------------------------------- refusals ---

@slc.test("a refusal is 1, with the message and what is allowed")
def _(t):
    error = {"code": -32001, "message": "there is no port eth9",
             "data": {"path": "/params/port", "value": "eth9",
                      "allowed": "eth1, eth2"}}
    with Fake({"pfc.show": error}) as fake:
        p = fake.ctl("pfc", "show", "eth9")
        says(p, REFUSED, "there is no port eth9", "allowed: eth1, eth2")
        assert p.stdout == ""
        p = fake.ctl("pfc", "show", "eth9", "--json")
        says(p, REFUSED, "there is no port eth9")
        assert json.loads(p.stdout) == {"error": error}
    with Fake({"status": None, "daemon.status": {
            "code": -32603, "message": "Internal error"}}) as fake:
        p = fake.ctl("status")
        says(p, REFUSED)
        assert p.stderr == "sluicectl: Internal error\n", p.stderr


@slc.test("a daemon that goes away, says nonsense or nothing is 3")
def _(t):
    with Fake({"daemon.status": b""}) as fake:
        says(fake.ctl("status"), NO_DAEMON, "closed the connection")
    with Fake({"daemon.status": b"HTTP/1.0 400\r\n"}) as fake:
        says(fake.ctl("status"), NO_DAEMON, "no JSON-RPC")
    stop = threading.Event()
    with Fake({"daemon.status": lambda p: stop.wait(20) and None}) as fake:
        says(fake.ctl("status", "--timeout", "0.1"), NO_DAEMON, "in time")
        stop.set()


@slc.test("answers of another shape do not crash any command")
def _(t):
    shapes = [None, 0, "x", [], {}, [None], [1], [{}], [[]], {"x": 1},
              {"entries": 1, "changed": {}, "bridges": "x", "groups": 5},
              {"entries": [0], "changed": [0], "bridges": [0],
               "groups": [[]]},
              [{"port": None, "drops": [], "rx": 1, "tx": "x", "groups": {},
                "queues": 3, "violations": {}, "terms": [], "findings": {},
                "vlan": 7, "pfc": [], "map": 0, "ports": {}}]]
    methods = ["daemon.status", "bridge.list", "bridge.show", "port.list",
               "port.show", "pfc.show", "pfc.counters", "buffer.show",
               "queue.show", "map.show", "mac.list", "mac.flush",
               "stats.show", "audit.show", "doctor.show", "config.export"]
    argvs = ["status", "bridge", "bridge show b", "port", "port show p",
             "pfc", "pfc counters", "pause", "buffer", "buffer pool",
             "queue", "map", "mac show b", "mac flush b", "stats",
             "stats p", "audit", "doctor", "export"]
    for shape in shapes:
        with Fake({m: shape for m in methods}) as fake:
            for argv in argvs:
                for form in ([], ["--tsv"], ["--json"]):
                    p = fake.ctl(*argv.split(), *form)
                    assert p.returncode in (0, 1), (argv, shape, p)


# ------------------------------------------------------------- output ---

PORTS = [{"name": "eth1", "bridge": "br0", "type": "afpacket",
          "state": "up", "mac": "02:00:00:00:00:01", "mtu": 1500,
          "rate_bps": 200000000, "configured_rate_bps": 200000000,
          "cable_delay_ns": 500,
          "vlan": {"mode": "trunk", "tag": 0, "trunks": [1, 2, 3, 7]},
          "pfc": {"priorities": [3, 4]}},
         {"name": "evil\x1b[31m\n", "bridge": "br0", "type": "tap",
          "state": "down", "mac": "02:00:00:00:00:02", "mtu": 1500,
          "rate_bps": 10000000000, "configured_rate_bps": 0,
          "cable_delay_ns": 0,
          "vlan": {"mode": "access", "tag": 10, "trunks": []},
          "pfc": {"priorities": []}}]


@slc.test("tables align, TSV has plain numbers, JSON is the result")
def _(t):
    with Fake({"port.list": PORTS}) as fake:
        lines = fake.ctl("port").stdout.splitlines()
        assert len(lines) == 4, lines
        assert lines[0].startswith("Port "), lines
        assert set(lines[1]) == {"-", " "}, lines
        assert len({line.rstrip().index("br0") for line in lines[2:]}) == 1
        assert " 200M " in lines[2] and " 500ns " in lines[2], lines
        assert " 1-3,7 " in lines[2] and lines[2].endswith("3,4"), lines
        rows = [line.split("\t") for line in
                fake.ctl("port", "--tsv").stdout.splitlines()]
        assert {len(r) for r in rows} == {14}, rows
        assert rows[0][:2] == ["port", "bridge"], rows
        row = dict(zip(rows[0], rows[1]))
        assert row["rate"] == "200000000", row
        assert row["cable"] == "500" and row["vlan_mode"] == "trunk", row
        assert json.loads(fake.ctl("port", "--json").stdout) == PORTS


@slc.test("names from outside do not reach the terminal as commands")
def _(t):
    with Fake({"port.list": PORTS, "pfc.show": {
            "code": -32000, "message": "no \x1b[2J \x9b2J"}}) as fake:
        for argv in (["port"], ["port", "--tsv"], ["port", "--json"]):
            assert "\x1b" not in fake.ctl(*argv).stdout
        p = fake.ctl("pfc")
        assert p.stderr == "sluicectl: no ?[2J ?2J\n", p.stderr


@slc.test("the terminal and its width change nothing in TSV and JSON")
def _(t):
    with Fake({"port.list": PORTS, "stats.show": []}) as fake:
        for argv in (["port", "--tsv"], ["port", "--json"], ["port"],
                     ["stats", "--tsv"]):
            want = fake.ctl(*argv).stdout
            for columns in ("1", "20", "500"):
                for term in ("dumb", "xterm-256color"):
                    env = {"COLUMNS": columns, "LINES": "1", "TERM": term}
                    assert fake.ctl(*argv, env=env).stdout == want
            master, slave = pty.openpty()
            fake.ctl(*argv, stdout=slave)
            os.close(slave)
            got = b""
            with contextlib.suppress(OSError):
                while data := os.read(master, 65536):
                    got += data
            os.close(master)
            assert got.decode().replace("\r\n", "\n") == want, got


STATS = {"port": "eth1", "bridge": "br0", "state": "up", "rx_frames": 100,
         "rx_bytes": 6400, "tx_frames": 0, "tx_bytes": 0, "held": 1,
         "drops": {"ingress-limit": 3, "kernel-ring": 0, "queue-limit": 2},
         "violations": [0, 0, 0, 1, 0, 0, 0, 0], "copies": 0,
         "drop_bytes": {"ingress-limit": 600, "queue-limit": 400},
         "groups": [{"rx_frames": 9, "rx_bytes": 8, "drops": 7,
                     "drop_bytes": 70}] * 8,
         "queues": [{"tx_frames": 6, "tx_bytes": 5, "drops": 4,
                     "drop_bytes": 40}] * 8}


@slc.test("stats: sums, drops by reason, classes of one port")
def _(t):
    with Fake({"stats.show": [STATS]}) as fake:
        out = fake.ctl("stats").stdout
        assert re.search(r"^eth1 .* 100 +6400 +0 +0 +1 +5 +1$", out, re.M), \
            out
        assert re.search(r"^eth1 +ingress-limit +3 +600$", out, re.M), out
        assert "kernel-ring" not in out
        assert "Class" not in out
        out = fake.ctl("stats", "eth1").stdout
        assert re.search(r"^ +3 +9 +8 +7 +6 +5 +4 +1 +70 +40$", out, re.M), out


@slc.test("stats --watch repeats, with rates, in place on a terminal only")
def _(t):
    n = [0]

    def sample(params):
        n[0] += 1
        return [dict(STATS, rx_frames=100 * n[0])]
    with Fake({"stats.show": sample}) as fake:
        p = fake.ctl("stats", "--watch", "0.01", "--count", "3")
        says(p, OK)
        assert p.stdout.count("Rx fps") == 3, p.stdout
        assert "\x1b" not in p.stdout
        row = [line for line in p.stdout.splitlines()
               if re.match("eth1 +br0 ", line)][-1].split()
        assert int(row[10]) > 0, row
        p = fake.ctl("stats", "--watch=0.01", "--count=2", "--json")
        assert len([json.loads(x) for x in p.stdout.splitlines()]) == 2
        master, slave = pty.openpty()
        says(fake.ctl("stats", "--watch", "0.01", "--count", "2",
                      stdout=slave), OK)
        os.close(slave)
        got = os.read(master, 65536)
        os.close(master)
        assert got.startswith(b"\x1b[H\x1b[J"), got


EVENTS = [{"type": "xoff", "time": "2026-01-01T00:00:00.5Z", "port": "eth1",
           "bridge": "br0", "group": 3},
          {"type": "xon", "time": "2026-01-01T00:00:01.5Z", "port": "eth1",
           "bridge": "br0", "group": 3}]


@slc.test("events: a line each, --count and --timeout")
def _(t):
    with Fake({"events.subscribe": {"subscribed": []}}, EVENTS) as fake:
        p = fake.ctl("events", "type=xoff,xon", "port", "eth1", "--count",
                     "2")
        says(p, OK)
        assert fake.calls[0] == ("events.subscribe", {
            "types": ["xoff", "xon"], "port": "eth1"}), fake.calls
        assert p.stdout.splitlines()[0] == \
            "2026-01-01T00:00:00.5Z xoff port=eth1 bridge=br0 group=3", \
            p.stdout
        p = fake.ctl("events", "--count", "2", "--json")
        assert [json.loads(x) for x in p.stdout.splitlines()] == EVENTS
        p = fake.ctl("events", "--timeout", "0.2")
        says(p, OK)
        assert len(p.stdout.splitlines()) == 2
        p = fake.ctl("events", "--timeout", "0.2", "--count", "5")
        says(p, REFUSED, "2 of 5")
        assert len(p.stdout.splitlines()) == 2
        r, w = os.pipe()
        os.close(r)
        p = fake.ctl("events", stdout=w)
        os.close(w)
        says(p, REFUSED)
        assert p.stderr == "", p.stderr


@slc.test("pfc graph --dot has each edge once, whoever waits")
def _(t):
    behind = {"port": "x1", "queue": 3, "frames": 2, "bytes": 3000,
              "paused_for": [3], "held_by_drill": False}
    by = [{"bridge": "br1", "port": "x2", "group": 3}]
    waits = [{"bridge": "br0", "port": p, "group": 3, "xoff": True,
              "behind": b, "paused_by": by}
             for p, b in (("p1", behind), ("p2", behind),
                          ("p3", dict(behind, queue=4)))]
    with Fake({"pfc.graph": {"waits": waits, "cycles": [],
                             "not_shown": 0}}) as fake:
        lines = fake.ctl("pfc", "graph", "--dot").stdout.splitlines()
    edges = [x for x in lines if "->" in x]
    assert len(edges) == len(set(edges)) == 5, lines
    assert '  "br0 x1 queue 3" -> "br1 x2 group 3";' in edges, edges


@slc.test("apply: what a file may be, and where it is wrong")
def _(t):
    d = t.enter_context(slc.tmpdir())
    path = os.path.join(d, "conf.json")

    def apply(text, *more):
        with open(path, "w") as f:
            f.write(text)
        return fake.ctl("apply", path, *more)
    answer = {"changed": [{"path": "/bridges/br0/memory_bytes",
                           "op": "replace", "old": 1, "new": 2}],
              "applied": True}
    with Fake({"config.apply": answer}) as fake:
        p = apply('{"bridges": {}}\n')
        says(p, OK)
        assert fake.calls == [("config.apply", {"config": {"bridges": {}}})]
        assert "replace" in p.stdout and "1 change, applied" in p.stdout
        says(apply("{}", "--dry-run"), OK)
        assert fake.calls[-1][1] == {"config": {}, "dry_run": True}
        says(fake.ctl("apply", "-", stdin="{}"), OK)
        n = len(fake.calls)
        says(apply('{"a":\n 1,\n}'), USAGE, path, "line 3, column 1")
        says(apply('{"a": 1'), USAGE, "ends too early")
        says(apply(""), USAGE, "ends too early")
        says(apply("[]"), USAGE, "no JSON object")
        says(apply("{} {}"), USAGE, "behind the configuration")
        says(apply('"%s"' % ("x" * (16 << 20))), USAGE, "too long",
             "octets")
        says(fake.ctl("apply", os.path.join(d, "none")), USAGE,
             "No such file")
        says(fake.ctl("apply", d), USAGE, "Is a directory")
        assert len(fake.calls) == n


@slc.test("audit and doctor say in the exit status that it is not so")
def _(t):
    audit = {"bridge": "br0", "ok": True, "drops": {"a": 1, "b": 2}}
    with Fake({"audit.show": [audit]}) as fake:
        p = fake.ctl("audit")
        says(p, OK)
        assert "yes" in p.stdout, p.stdout
    with Fake({"audit.show": [audit, dict(audit, ok=False)]}) as fake:
        p = fake.ctl("audit")
        says(p, REFUSED)
        assert "NO" in p.stdout, p.stdout
    patient = {"port": "eth1", "bridge": "br0", "priority": 3, "group": 3,
               "lossless": "no", "headroom_bytes": 100,
               "needed_bytes": 98765, "ring_bytes": 5,
               "ring_needed_bytes": 4,
               "terms": {"cable_bytes": 11, "stall_bytes": 22,
                         "total_bytes": 98765},
               "findings": [{"term": "headroom", "short_bytes": 98665,
                             "message": "the headroom is too small",
                             "command": "sluicectl buffer set eth1 pg 3 "
                                        "headroom auto"}]}
    with Fake({"doctor.show": [patient]}) as fake:
        p = fake.ctl("doctor")
        says(p, REFUSED)
        for text in ("eth1", "lossless: no", "98765", "98665", "11", "22",
                     "the headroom is too small",
                     "try: sluicectl buffer set eth1 pg 3 headroom auto"):
            assert text in p.stdout, (text, p.stdout)
        rows = fake.ctl("doctor", "--tsv").stdout.splitlines()
        assert len(rows) == 2 and rows[1].split("\t")[4] == "no", rows
    with Fake({"doctor.show": [dict(patient, lossless="yes",
                                    findings=[])]}) as fake:
        says(fake.ctl("doctor"), OK)


# --------------------------------------------------------- completion ---

COMPLETION = os.path.join(slc.TOP_SRC, "utilities", "sluicectl.bash")


def complete(line, where):
    """What bash offers behind `line`."""
    script = r'''
        source "$1"
        COMP_LINE=$2 COMP_POINT=${#2}
        read -ra COMP_WORDS <<<"$2"
        COMP_WORDS[0]=$3 COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        COMPREPLY=()
        _sluicectl
        printf '%s\n' "${COMPREPLY[@]}"
    '''
    p = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", COMPLETION, line,
         slc.program("sluicectl")], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, timeout=30,
        env=dict(os.environ, SLUICE_SOCKET=where))
    assert p.returncode == 0 and p.stderr == "", p
    return p.stdout.split()


@slc.test("completion knows nouns, verbs, keys, values, options")
def _(t):
    where = "/nonexistent/slc.sock"
    assert "bridge" in complete("sluicectl ", where)
    assert complete("sluicectl br", where) == ["bridge"]
    assert complete("sluicectl --json br", where) == ["bridge"]
    assert complete("sluicectl pfc ", where) == [
        "show", "counters", "history", "graph", "set"]
    assert complete("sluicectl pfc co", where) == ["counters"]
    assert "xoff" in complete("sluicectl buffer set eth1 ", where)
    assert complete("sluicectl buffer set eth1 pg 3 head", where) == \
        ["headroom"]
    assert complete("sluicectl buffer set eth1 pg 3 headroom ", where) == \
        ["auto"]
    assert complete("sluicectl port add br0 eth1 type=t", where) == ["tap"]
    assert complete("sluicectl port attach br0 web eth0 type ", where) == \
        ["afpacket", "afxdp", "auto"]
    assert complete("sluicectl port add br0 eth1 mode acc", where) == \
        ["access"]
    assert complete("sluicectl pfc set eth1 prio 3:", where) == \
        ["on", "off"]
    assert "--watch" in complete("sluicectl stats --", where)
    assert "--watch" not in complete("sluicectl port --", where)
    assert "--dry-run" in complete("sluicectl preset apply x br0 --", where)
    assert complete("sluicectl help pf", where) == ["pfc"]


@slc.test("completion asks for ports and bridges, silently without a daemon")
def _(t):
    answers = {"port.list": [{"name": "eth1"}, {"name": "eth2"}],
               "bridge.list": [{"name": "br0"}, {"name": "br7"}]}
    with Fake(answers) as fake:
        for line in ("pfc show ", "pfc set ", "port show ", "stats ",
                     "doctor ", "mac flush br0 port ", "buffer set "):
            assert complete("sluicectl " + line, fake.path) == \
                ["eth1", "eth2"], line
        assert complete("sluicectl port add ", fake.path) == ["br0", "br7"]
        assert complete("sluicectl port add br7", fake.path) == ["br7"]
        assert complete("sluicectl bridge show ", fake.path) == \
            ["br0", "br7"]
        assert "br7" in complete("sluicectl map set bridge ", fake.path)
        assert complete("sluicectl -s %s pfc show " % fake.path,
                        "/nonexistent") == ["eth1", "eth2"]
    assert complete("sluicectl pfc show ", "/nonexistent/slc.sock") == []


if __name__ == "__main__":
    slc.main(root=False, needs=["bash"])
