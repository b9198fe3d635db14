#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The control socket of the daemon under everything that a client can do to
it.  The datapath must not notice."""
import json
import os
import select
import socket
import threading
import time

import slc

MAX_CLIENTS = 64


def bridge_daemon(t, args=()):
    """A daemon with a bridge of two ports, and sockets behind them."""
    ns = t.enter_context(slc.Netns("rpc"))
    ns.veth("p1", "h1")
    ns.veth("p2", "h2")
    d = t.enter_context(slc.Daemon(ns, args=args))
    d.rpc("bridge.add", name="br0")
    d.rpc("port.add", bridge="br0", name="p1", pfc={"priorities": [3]})
    d.rpc("port.add", bridge="br0", name="p2")
    h1 = t.enter_context(slc.Raw(ns, "h1"))
    h2 = t.enter_context(slc.Raw(ns, "h2"))
    return d, h1, h2


def forwards(h1, h2, tag):
    frame = slc.frame(h2.mac, h1.mac, tag, size=90)
    h1.send(frame)
    assert h2.recv_match(lambda f: f == frame, 5), "not forwarded: %r" % tag


@slc.test("requests, notifications, batches, with and without newlines")
def _(t):
    d = t.enter_context(slc.Daemon())
    c = t.enter_context(d.connect())
    one = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "bridge.list"})
    c.send_raw(one * 3 + "\n\n" + one + " \t" + one)
    for _ in range(5):
        assert c.read() == {"jsonrpc": "2.0", "id": 1, "result": []}
    note = json.dumps({"jsonrpc": "2.0", "method": "bridge.add",
                       "params": {"name": "br0"}})
    c.send_raw(note + "[%s,%s]" % (note, one))
    answer = c.read()
    assert len(answer) == 1 and answer[0]["result"][0]["name"] == "br0"
    for octet in one:  # one octet at a time
        c.send_raw(octet)
    assert c.read()["id"] == 1
    c.send_raw('{"jsonrpc":"2.0","id":"x","method":"bridge.lisst"}')
    error = c.read()
    assert error["error"]["code"] == -32601 and error["id"] == "x"
    assert "bridge.list" in error["error"]["message"], error
    c.send_raw('{"jsonrpc":"2.0","id":2}')
    assert c.read()["error"]["code"] == -32600
    c.send_raw('{"jsonrpc":"2.0","id":3,"method":"bridge.show","params":'
               '{"name":"nobody"}}')
    error = c.read()["error"]
    assert error["code"] == -32001 and "nobody" in error["message"], error
    c.send_raw("{nonsense")
    assert c.read()["error"]["code"] == -32700
    try:
        c.read(5)
        raise AssertionError("not closed after garbage")
    except EOFError:
        pass


@slc.test("what was sent before the end of the stream is answered")
def _(t):
    d = t.enter_context(slc.Daemon())
    c = t.enter_context(d.connect())
    n = 500
    c.send_raw("".join(json.dumps({"jsonrpc": "2.0", "id": i,
                                   "method": "daemon.status"})
                       for i in range(n)))
    c.sock.shutdown(socket.SHUT_WR)
    assert [c.read()["id"] for _ in range(n)] == list(range(n))
    try:
        c.read(5)
        raise AssertionError("not closed at the end")
    except EOFError:
        pass


@slc.test("rpc.discover describes every method, and examples are accepted")
def _(t):
    d = t.enter_context(slc.Daemon())
    doc = d.rpc("rpc.discover")
    names = [m["name"] for m in doc["methods"]]
    for name in ("daemon.status", "bridge.add", "port.set", "pfc.counters",
                 "config.apply", "events.subscribe", "doctor.show"):
        assert name in names, name
    for m in doc["methods"]:
        assert m["description"], m["name"]
        for p in m["params"]:
            assert p["name"] and p["description"], (m["name"], p)
            assert "schema" in p, (m["name"], p)
    unknown = slc.refused(d.rpc, "bridge.add", name="b", colour="red",
                          code=-32602, names=["colour"])
    assert unknown.data
    slc.refused(d.rpc, "bridge.add", name="b", memory_bytes=1,
                names=["memory_bytes", "1048576"])
    slc.refused(d.rpc, "pfc.set", port="x", enable=[8], names=["8"])
    d.rpc("bridge.add", name="b0")
    d.rpc("port.add", bridge="b0", name="x", type="mem")
    slc.refused(d.rpc, "pfc.set", port="x", enable=[2, 3], disable=[1, 3],
                names=["x", "3", "enable", "disable"])
    assert d.rpc("port.show", name="x")["pfc"]["priorities"] == []
    d.rpc("bridge.del", name="b0")
    slc.refused(d.rpc, "port.add", bridge="b0", name="x", code=-32001,
                names=["b0"])


@slc.test("100 MB of garbage: memory flat, traffic undisturbed")
def _(t):
    d, h1, h2 = bridge_daemon(t)
    chunk = os.urandom(1 << 16)
    # The kinds of garbage that are read for long: white space, a string that
    # never ends, arrays that nest, one object after another.
    kinds = [(b" \n" * 32768, 12), (b'"' + b"a" * 65535, 6),
             (b"[" * 65536, 2), (chunk, 6), (b"{}" * 32768, 0.1)]
    for kind, _ in kinds:  # once, so that the allocator has its arenas
        flood(d, kind, 1 << 17)
    before = slc.rss_kib(d.pid)
    total = 0
    while total < 100 << 20:
        for kind, mib in kinds:
            total += flood(d, kind, int(mib * (1 << 20)))
        forwards(h1, h2, b"%d" % total)
    after = slc.rss_kib(d.pid)
    slc.diag("%d octets of garbage: %d KiB before, %d KiB after" %
             (total, before, after))
    if "sanitizers" not in slc.features():  # they keep what was freed
        assert after - before < 4096, "%d KiB more" % (after - before)
    assert d.rpc("audit.show")[0]["ok"]
    assert d.rpc("daemon.status")["rpc"]["garbage"] > 0


def flood(d, kind, size):
    """Sends so much, and reads what comes; on a new connection when one is
    closed."""
    sent = 0
    while sent < size:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(d.socket)
            s.setblocking(False)
            at = 0
            try:
                while sent < size:
                    r, w, _ = select.select([s], [s], [], 20)
                    assert r or w, "it neither reads nor writes"
                    if r and not s.recv(1 << 20):
                        break
                    if w:
                        n = s.send(kind[at:])
                        at = (at + n) % len(kind)
                        sent += n
            except (BrokenPipeError, ConnectionResetError):
                pass
            sent += 4096  # what is refused at once would take for ever
    return sent


@slc.test("limits: a request of 16 MiB passes, a longer or deeper one not")
def _(t):
    d = t.enter_context(slc.Daemon())

    def ask(text):
        with d.connect() as c:
            try:
                c.send_raw(text)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return c.read(10)
    head = '{"jsonrpc":"2.0","id":1,"method":"daemon.status"'
    pad = (16 << 20) - len(head) - 1
    assert "result" in ask(head + " " * pad + "}")
    assert ask(head + " " * (pad + 1) + "}")["error"]["code"] == -32700 or \
        ask(head + " " * (pad + 1) + "}")["error"]["code"] == -32600
    deep = head + ',"params":' + "[" * 40 + "]" * 40 + "}"
    assert ask(deep)["error"]["code"] in (-32700, -32600)
    batch = "[" + ",".join([head + "}"] * 1025) + "]"
    assert ask(batch)["error"]["code"] == -32600


@slc.test("an export goes in pieces, so that it may be longer than an answer")
def _(t):
    d = t.enter_context(slc.Daemon())
    vlans = {"mode": "trunk", "trunks": [7, 8, 9]}
    d.rpc("config.apply", config={"bridges": {
        "br%d" % b: {"memory_bytes": 8 << 20, "ports": {
            "slc%d.%d" % (b, i): {"type": "mem", "vlan": vlans}
            for i in range(n)}} for b, n in enumerate((70, 0, 100))}})
    part = d.rpc("config.export", first_port=69, max_ports=3)["bridges"]
    assert {b: len(part[b]["ports"]) for b in part} == {
        "br0": 1, "br1": 0, "br2": 2}, part
    for none in ({"first_port": 170}, {"max_ports": 0}):
        assert not any(b["ports"] for b in d.rpc(
            "config.export", **none)["bridges"].values())
    whole = d.rpc("config.export")
    assert sum(len(b["ports"]) for b in whole["bridges"].values()) == 170
    out = slc.run(slc.program("sluicectl"), "-s", d.socket, "export").stdout
    assert json.loads(out) == whole


@slc.test("64 clients; the 65th is told so, and a free place is usable")
def _(t):
    d = t.enter_context(slc.Daemon())
    clients = []
    for _ in range(MAX_CLIENTS - 1):  # one is the test's own
        clients.append(t.enter_context(d.connect()))
    for c in clients:
        c.call("daemon.status")
    extra = t.enter_context(d.connect())
    error = extra.read(5)["error"]
    assert error["code"] == -32003 and "64" in error["message"], error
    try:
        extra.read(5)
        raise AssertionError("not closed")
    except (EOFError, ConnectionResetError):
        pass
    assert d.rpc("daemon.status")["rpc"]["clients"] == MAX_CLIENTS
    clients.pop().close()

    def place():
        with d.connect() as c:
            try:
                return c.call("daemon.status")
            except (AssertionError, EOFError, OSError):
                return None
    slc.wait_for(place, "a place is free again")


@slc.test("a client that does not read is dropped, no one else notices")
def _(t):
    d, h1, h2 = bridge_daemon(t)
    # One that asks and asks: it is not read from meanwhile, then times out.
    asker = t.enter_context(d.connect())
    asker.sock.setblocking(False)
    ask = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"})
    sent = 0
    end = time.monotonic() + 60
    dropped = False
    worst = 0.0
    while not dropped:
        assert time.monotonic() < end, "still not dropped"
        try:
            sent += asker.sock.send((ask * 50).encode())
        except BlockingIOError:
            time.sleep(0.05)
        except (BrokenPipeError, ConnectionResetError):
            dropped = True
        began = time.monotonic()
        d.rpc("daemon.status")
        worst = max(worst, time.monotonic() - began)
    slc.diag("it got rid of %d octets; others waited %.0f ms at most" %
             (sent, worst * 1000))
    assert sent < 4 << 20, "%d octets were read from it" % sent
    assert worst < 5
    forwards(h1, h2, b"after the asker")
    assert d.rpc("daemon.status")["rpc"]["dropped"] >= 1


@slc.test("a subscriber that does not read is dropped at its bound")
def _(t):
    d = t.enter_context(slc.Daemon())
    lazy = t.enter_context(d.connect())
    good = t.enter_context(d.connect())
    good.call("events.subscribe", {"types": ["config"]})
    lazy.call("events.subscribe", {"types": ["config"]})
    dropped = d.rpc("daemon.status")["rpc"]["dropped"]
    before = slc.rss_kib(d.pid)
    heard = [0]
    stop = threading.Event()

    def listen():
        while not stop.is_set():
            try:
                good.event(0.5)
                heard[0] += 1
            except AssertionError:
                pass
    reader = threading.Thread(target=listen)
    reader.start()
    n = 0
    try:
        # An event that is long: a bridge with a long list of VLANs comes and
        # goes.
        vlans = {"mode": "trunk", "trunks": list(range(1, 4095))}
        whole = {"bridges": {"br0": {"memory_bytes": 1 << 20, "ports": {
            "slcm%d" % i: {"type": "mem", "vlan": vlans}
            for i in range(4)}}}}
        end = time.monotonic() + 50
        while d.rpc("daemon.status")["rpc"]["dropped"] == dropped:
            assert time.monotonic() < end, "not dropped after %d events" % n
            d.rpc("config.apply", config=whole)
            d.rpc("config.apply", config={"bridges": {}})
            n += 2
        more = slc.rss_kib(d.pid) - before
        slc.diag("dropped after %d events, %d KiB more" % (n, more))
        slc.wait_for(lambda: heard[0] >= n, "the other one heard them all")
        if "sanitizers" not in slc.features():
            assert more < 24 * 1024
    finally:
        stop.set()
        reader.join()


@slc.test("TCP on loopback, and nothing else")
def _(t):
    ns = t.enter_context(slc.Netns("tcp"))
    d = t.enter_context(slc.Daemon(ns, args=["--rpc-tcp", "127.0.0.1:6640"]))
    with ns.entered():
        c = t.enter_context(slc.Rpc(("127.0.0.1", 6640)))
    assert c.call("daemon.status")["pid"] == d.pid
    text = ns.run("ss", "-Hltn", check=False).stdout
    if text:
        assert "127.0.0.1:6640" in text and "0.0.0.0" not in text.split(
            "127.0.0.1:6640")[0], text


@slc.test("events: link, config, xoff, xon, with filters")
def _(t):
    ns = t.enter_context(slc.Netns("ev"))
    ns.veth("p1", "h1")
    ns.veth("p2", "h2")
    d = t.enter_context(slc.Daemon(ns))
    c = t.enter_context(d.connect())
    every = c.call("events.subscribe")["subscribed"]
    assert set(every) >= {"xoff", "xon", "violation", "link", "config"}
    slc.refused(c.call, "events.subscribe", {"types": ["weather"]},
                names=["weather", "violation"])
    slc.refused(c.call, "events.subscribe", {"port": "p9"}, code=-32001,
                names=["p9"])
    d.rpc("bridge.add", name="br0")
    e = c.event(type="config")
    assert any("/bridges/br0" in x["path"] for x in e["changed"]), e
    for p in ("p1", "p2"):
        d.rpc("port.add", bridge="br0", name=p, rate_bps="10M",
              pfc={"priorities": [3]},
              groups={"3": {"xoff_bytes": 20000, "xon_bytes": 10000}})
    h1 = t.enter_context(slc.Raw(ns, "h1"))
    h2 = t.enter_context(slc.Raw(ns, "h2"))
    # h2 pauses p2 for priority 3: what comes for it fills p1's group.
    h2.send(slc.pfc(h2.mac, {3: 65535}))
    pause = c.event(type="pause", port="p2")
    assert pause["priority"] == 3 and pause["bridge"] == "br0"
    for i in range(30):
        h1.send(slc.frame(h2.mac, h1.mac, b"%d" % i, tags=[(0, 3)],
                          size=1000))
    xoff = c.event(type="xoff", port="p1")
    assert xoff["group"] == 3 and xoff["priorities"] == [3]
    assert xoff["held_bytes"] >= 20000 and xoff["limit_bytes"] == 20000
    assert slc.parse_pfc(h1.recv_match(slc.parse_pfc)) == {3: 65535}
    h2.send(slc.pfc(h2.mac, {3: 0}))
    assert c.event(type="resume", port="p2")["priority"] == 3
    assert c.event(type="xon", port="p1")["held_bytes"] <= 10000
    assert h1.recv_match(lambda f: slc.parse_pfc(f) == {3: 0})
    c.call("events.subscribe", {"types": ["link"], "port": "p2"})
    ns.ip("link", "set", "h1", "down")
    ns.ip("link", "set", "h2", "down")
    e = c.event(type="link")
    assert e["port"] == "p2" and e["state"] == "down", e
    c.call("events.unsubscribe")
    ns.ip("link", "set", "h2", "up")
    try:
        c.event(0.7)
        raise RuntimeError("an event after unsubscribe")
    except AssertionError:
        pass


slc.main(needs=["ip"])
