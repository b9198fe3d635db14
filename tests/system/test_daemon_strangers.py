#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of the daemon that ask for much and read nothing, that send what is
JSON but means something else to others, and that end in mid-text; and what is
left of their memory."""
import json
import socket
import time

import slc

MIB = 1024  # KiB
PLAIN = "sanitizers" not in slc.features()  # they keep what was freed


def call(method, id=1, **params):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method,
                       "params": params})


def batch(method, n=1024):
    return ("[" + ",".join([call(method)] * n) + "]").encode()


def rpc_counters(d):
    return d.rpc("daemon.status")["rpc"]


def settled(d, below):
    """Waits for the memory to come down to so many KiB."""
    try:
        slc.wait_for(lambda: slc.rss_kib(d.pid) <= below, "memory back", 20)
    except AssertionError:
        slc.diag("%d KiB, not %d" % (slc.rss_kib(d.pid), below))
        raise


@slc.test("requests of batches are executed in turn with those of others")
def _(t):
    d = t.enter_context(slc.Daemon())
    me = t.enter_context(d.connect())
    n_big, n_mine = 8, 40
    big = [t.enter_context(d.connect()) for _ in range(n_big)]
    for c in big:
        c.call("daemon.status")
    for c in big:
        c.send_raw(batch("daemon.status").decode())
    me.send_raw(call("daemon.status") * n_mine)
    seen = [me.read()["result"]["rpc"]["requests"] for _ in range(n_mine)]
    gaps = [b - a for a, b in zip(seen, seen[1:])]
    slc.diag("requests of others between two of mine: %d at most" %
             (max(gaps) - 1))
    # One of each in a turn of the loop, in any order within it.
    assert max(gaps) <= 2 * n_big + 1, gaps
    for c in big:  # the answers are whole
        assert len(c.read(60)) == 1024


@slc.test("20 clients that read nothing of their batches: bounded, given back")
def _(t):
    d = t.enter_context(slc.Daemon())
    doc = d.rpc("rpc.discover")
    before = slc.rss_kib(d.pid)
    n = rpc_counters(d)["requests"]
    lazy = []
    for i in range(20):
        s = socket.socket(socket.AF_UNIX)
        s.connect(d.socket)
        s.sendall(batch("rpc.discover", 1024 if i else 100))
        lazy.append(s)
    size = len(json.dumps(doc, separators=(",", ":")))
    # What is executed is what their queues, of 4 MiB at most, take; no more.
    for _ in range(50):
        rpc_counters(d)
    more = slc.rss_kib(d.pid) - before
    ran = rpc_counters(d)["requests"] - n
    slc.diag("%d requests of 19556 executed, %d octets each; %d KiB more" %
             (ran, size, more))
    assert ran < 20 * ((4 << 20) // size + 1) + 100, ran
    if PLAIN:
        assert more < 20 * 4 * MIB + 40 * MIB, more
    # One of them reads after all: nothing is missing.
    lazy[0].settimeout(30)
    text = bytearray()
    while not text.endswith(b"]\n"):
        piece = lazy[0].recv(1 << 20)
        assert piece, "closed"
        text += piece
    answers = json.loads(text)
    assert len(answers) == 100
    assert all(a["result"] == doc for a in answers)
    for s in lazy:
        s.close()
    slc.wait_for(lambda: rpc_counters(d)["clients"] == 1, "they are gone")
    if PLAIN:
        settled(d, before + 4 * MIB)


@slc.test("a client that reads is not dropped because the daemon was late")
def _(t):
    d = t.enter_context(slc.Daemon())
    c = t.enter_context(d.connect())
    before = rpc_counters(d)["requests"]
    c.send_raw(batch("rpc.discover", 60).decode())
    slc.wait_for(lambda: rpc_counters(d)["requests"] > before + 10,
                 "answers wait to be written")
    with slc.stopped(d.pid):
        c.buffer = c.sock.recv(1 << 20).decode()  # now there is room
        time.sleep(11)  # longer than somebody may read nothing
    assert len(c.read()) == 60


@slc.test("events do not come in the middle of an answer to a batch")
def _(t):
    d = t.enter_context(slc.Daemon())
    c = t.enter_context(d.connect())
    c.call("events.subscribe", {"types": ["config"]})
    c.send_raw("[" + ",".join(
        [call("rpc.discover")] * 12 + [call("bridge.add", name="b0")] +
        [call("rpc.discover")] * 12) + "]")
    answer = c.read(30)
    assert isinstance(answer, list) and len(answer) == 25
    assert c.event(type="config")


@slc.test("bridges that come and go leave no memory behind")
def _(t):
    d = t.enter_context(slc.Daemon())

    def round(n=20):
        for i in range(n):
            d.rpc("bridge.add", name="b%d" % i)
        for i in range(n):
            d.rpc("bridge.del", name="b%d" % i)
    empty = slc.rss_kib(d.pid)
    round()
    if PLAIN:
        settled(d, empty + 6 * MIB)
    first = slc.rss_kib(d.pid)
    for _ in range(5):
        round()
    if PLAIN:
        settled(d, first + 1 * MIB)
    slc.diag("%d KiB empty, %d after a round, %d after six" %
             (empty, first, slc.rss_kib(d.pid)))


@slc.test("names with NUL, names that come twice, integers beyond 64 bits")
def _(t):
    d = t.enter_context(slc.Daemon())
    c = t.enter_context(d.connect())

    def refused(text, *words):
        c.send_raw(text)
        answer = c.read()
        assert answer["error"]["code"] == -32600, answer
        assert answer["id"] is None, answer
        for w in words:
            assert w in answer["error"]["message"], answer
    refused('{"jsonrpc":"2.0","id":1,"method":"rpc.discover\\u0000junk"}',
            "\\u0000")
    refused('{"jsonrpc":"2.0\\u0000x","id":1,"method":"rpc.discover"}')
    refused('{"jsonrpc":"2.0","id":1,"method":"config.apply","params":'
            '{"config":{"bridges":{"bb\\u0000x":{}}}}}')
    refused('{"jsonrpc":"2.0","id":1,"method":"bridge.set","params":'
            '{"name":"b0","map":{"trust\\u0000x":"port"}}}')
    refused('{"jsonrpc":"2.0","id":1,"method":"bridge.add","params":'
            '{"name":"b0","name":"b1"}}', "\"name\" is twice in /params")
    refused('{"jsonrpc":"2.0","id":99999999999999999999999999,'
            '"method":"bridge.list"}', "99999999999999999999999999")
    refused('{"jsonrpc":"2.0","id":1,"method":"bridge.add","params":{"name":'
            '"b0","memory_bytes":18446744073709551616}}',
            "18446744073709551616", "64 bits")
    assert d.rpc("bridge.list") == []
    c.send_raw('{"jsonrpc":"2.0","id":18446744073709551615,'
               '"method":"bridge.list"}')  # the same connection
    assert c.read()["id"] == 18446744073709551615


@slc.test("half a text at the end of the stream is a parse error")
def _(t):
    d = t.enter_context(slc.Daemon())
    for text, code in (('{"jsonrpc":"2.0","id":1,"meth', -32700),
                       ("[", -32700), ("12", -32600)):
        with d.connect() as c:
            c.send_raw(text)
            c.sock.shutdown(socket.SHUT_WR)
            answer = c.read(10)
            assert answer["error"]["code"] == code, (text, answer)
            try:
                c.read(5)
                raise AssertionError("not closed")
            except EOFError:
                pass


@slc.test("errors: path and value are there, in one form (section 5)")
def _(t):
    ns = t.enter_context(slc.Netns("err"))
    ns.veth("p1", "h1")
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0")
    d.rpc("port.add", bridge="br0", name="p1", pfc={"priorities": [3]})

    def check(path, value, method, **params):
        e = slc.refused(d.rpc, method, **params)
        got = e.data["path"], e.data["value"]
        assert got == (path, value), (method, got, str(e))
        return e.data
    check("/params/port", "p9", "events.subscribe", port="p9")
    check("/params/name", "p9", "port.add", bridge="br0", name="p9")
    check("/params/name", "lo", "port.add", bridge="br0", name="lo")
    check("/params/types/0", "bm", "events.subscribe", types=["bm"])
    check("/bridges/br0/map/trust", "dscb", "bridge.set", name="br0",
          map={"trust": "dscb"})
    check("/bridges/\u00e9", "\u00e9", "bridge.add", name="\u00e9")
    big = check("/bridges/br0/ports/p1/groups/3/reserved_bytes", "4294967296",
                "buffer.set", port="p1", group=3, reserved_bytes="4G")
    assert big["allowed"].startswith("0 to "), big


slc.main()
