#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Connections to controllers: fail modes, backoff and probes, TLS, and
controllers that flood, stall, or never read."""
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import warnings

sys.path.insert(0, os.path.dirname(__file__))
import of13  # noqa: E402
import slc  # noqa: E402

if of13.os_ken:
    from of13 import O, P


def forward(c, *pairs):
    """Entries between ports, for all frames."""
    for a, b in pairs:
        c.send(c.flow(P.OFPMatch(in_port=a), [P.OFPActionOutput(b)],
                      priority=5))
    c.barrier()


# A silent controller is given up after this: ours may be put aside.
PROBE_MS = 1500


def state_of(sw):
    return sw.controllers()[0]


@slc.test("standalone: ordinary when no controller answers, theirs again when "
          "one does")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    assert sw.pings(wait=20), "without controllers"
    l = t.enter_context(of13.Listener(sw.ns))
    sw.rpc("controller.set", bridge="br0", targets=[l.target],
           probe_ms=PROBE_MS, max_backoff_ms=1000)
    c = l.accept()
    assert c.flows() == [], "the tables are the controller's"
    assert not sw.pings(), "empty tables forward"
    # An entry that would drop does not, while nobody is there.
    c.send(c.flow(actions=[], priority=9))
    c.barrier()
    c.close()
    l.close()
    slc.wait_for(sw.pings, "ordinary forwarding", 30)
    with sw.connect() as m:
        assert len(m.flows()) == 1, "the entry is still there"
    l = t.enter_context(of13.Listener(sw.ns, l.port))
    c = l.accept()
    slc.wait_for(lambda: not sw.pings(), "the tables are in force again")
    forward(c, (1, 2), (2, 1))
    c.send(c.flow(priority=9, command=O.OFPFC_DELETE_STRICT))
    c.barrier()
    slc.wait_for(sw.pings, "its own flows")
    # No controller any more: an ordinary bridge, as at first.
    sw.rpc("controller.del", bridge="br0")
    with sw.connect() as m:
        flows = m.flows()
        assert len(flows) == 1 and flows[0].priority == 0, flows
    assert sw.pings(wait=20)
    assert "forwards like an ordinary bridge" in sw.daemon.log()
    sw.daemon.check_log()


@slc.test("secure: only what the tables say, whoever is there")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    sw.rpc("bridge.set", name="br0", fail_mode="secure")
    assert not sw.pings(), "secure without flows"
    l = t.enter_context(of13.Listener(sw.ns))
    sw.rpc("controller.set", bridge="br0", targets=[l.target],
           probe_ms=PROBE_MS, max_backoff_ms=1000)
    c = l.accept()
    forward(c, (1, 2), (2, 1))
    slc.wait_for(sw.pings, "its flows")
    c.close()
    l.close()
    sw.wait_connected(False)
    time.sleep(PROBE_MS * 3.5 / 1000)  # standalone would be ordinary by then
    with sw.connect() as m:
        assert len(m.flows()) == 2
    assert sw.pings(wait=20), "its entries are gone"
    sw.daemon.check_log()


LOSSLESS = 3


@slc.test("a controller is killed and comes back: the lossless class loses "
          "nothing, in both fail modes")
def _(t):
    of13.need_os_ken()
    probe = slc.program("sluice-probe")
    for mode in ("secure", "standalone"):
        sw = of13.Switch(t, fail_mode=mode)
        for port in ("p1", "p2"):
            sw.rpc("pfc.set", port=port, enable=[LOSSLESS])
        l = of13.Listener(sw.ns)
        sw.rpc("controller.set", bridge="br0", targets=[l.target],
               probe_ms=PROBE_MS, max_backoff_ms=1000)
        c = l.accept()
        forward(c, (1, 2), (2, 1))

        def station(host, *words):
            p = sw.hosts[host].popen(
                probe, "-i", "eth0", "--json", "--barrier", "--hold", "--ring",
                "8M", "--pfc", str(LOSSLESS), *words, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            assert p.stderr.readline() == "ready\n"
            say(p)
            return p

        def say(p):
            p.stdin.write("go on\n")
            p.stdin.flush()
        rx = station(1, "receive", "-d", "60s", "--expect", "1")
        tx = station(0, "--rate", "100M", "-d", "50s", "send", "-f",
                     "prio=%d,rate=10M,size=500,dst=%s" % (
                         LOSSLESS, of13.mac_of(2)))
        for _ in range(2):
            time.sleep(0.3)
            c.close()
            l.close()
            sw.wait_connected(False)
            l = of13.Listener(sw.ns, l.port)
            c = l.accept()
        say(tx)  # its time is over
        for p in (tx, rx):
            assert p.stderr.readline() == "done\n"
        out, err = tx.communicate(timeout=60)
        assert tx.returncode == 0, err
        n = json.loads(out)["sent"]["frames"]
        out, err = rx.communicate(timeout=60)
        assert rx.returncode == 0, err
        flow = json.loads(out)["received"]["flows"][0]
        assert flow["lost"] == 0 and flow["received"] == n > 0, (mode, flow)
        l.close()
        c.close()
        sw.daemon.check_log()


@slc.test("several controllers; backoff; a silent one is given up")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    a = t.enter_context(of13.Listener(sw.ns))
    with sw.ns.entered():
        nobody = socket.socket()
        nobody.bind(("127.0.0.1", 0))
    unused = "tcp:127.0.0.1:%d" % nobody.getsockname()[1]
    gone = "unix:" + os.path.join(sw.daemon.dir, "nobody")
    sw.rpc("controller.set", bridge="br0", targets=[a.target, unused, gone],
           probe_ms=1000, max_backoff_ms=1000)
    c = a.accept(reads=False)
    sw.wait_connected()
    # It answers echo requests no more, and comes back when it is let.
    try:
        while True:
            c.recv_raw(20)
    except of13.Closed:
        pass
    why = "no answer to an echo request for 1000 ms"
    assert why in sw.daemon.log(), sw.daemon.log()
    slc.wait_for(lambda: all(x["attempts"] >= 2 for x in sw.controllers()),
                 "attempts")
    by = {x["target"]: x for x in sw.controllers()}
    assert by[unused]["last_error"] == "Connection refused", by
    assert by[gone]["last_error"] == "No such file or directory", by
    # What passive targets take, and refuse.
    sw.rpc("controller.set", bridge="br0", targets=["ptcp:6700:127.0.0.1"])
    with sw.ns.entered():
        s = socket.create_connection(("127.0.0.1", 6700))
    with of13.Conn(s) as p:
        assert p.flows(), "the bridge has NORMAL"
        peer = sw.controllers()[0]["connections"][0]
        assert peer["peer"].startswith("127.0.0.1:"), peer
    e = slc.refused(sw.rpc, "controller.add", bridge="br0",
                    targets=["ptcp:6700"])
    assert "6700" in str(e), e
    sw.daemon.check_log()


def rss(sw):
    return slc.rss_kib(sw.daemon.pid)


@slc.test("controllers that stall, never read, or flood disturb nobody")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    with sw.connect() as c:
        for i in range(3000):
            c.send(c.flow(P.OFPMatch(eth_type=0x800, ip_proto=6, tcp_dst=i),
                          [P.OFPActionOutput(2)], priority=7))
        c.barrier()
    before = rss(sw)
    # In mid-message: as long a one as there is, and no end.
    stalled = []
    for _ in range(16):
        s = sw.connect()
        s.send_raw(of13.HEADER.pack(4, of13.ECHO_REQUEST, 65535, 1) + b"x" * 9)
        stalled.append(s)
    # Never read: everything there is, again and again.
    deaf = sw.connect(reads=False)
    ask = P.OFPFlowStatsRequest(deaf, 0, O.OFPTT_ALL, O.OFPP_ANY, O.OFPG_ANY,
                                0, 0, P.OFPMatch())
    deaf.set_xid(ask)
    ask.serialize()
    deaf.sock.setblocking(False)
    sent = 0
    try:
        for sent in range(100000):
            deaf.sock.send(ask.buf)
    except BlockingIOError:
        pass
    assert sent < 50000, "it takes without end"
    # Flood: errors, echoes, flow-mods, as fast as they go.
    flood = sw.connect(reads=False)
    ending = threading.Event()
    message = (of13.HEADER.pack(4, of13.ECHO_REQUEST, 8, 7) * 500 +
               of13.HEADER.pack(4, 99, 8, 8) * 500)

    def pour():
        while not ending.is_set():
            try:
                flood.sock.sendall(message)
                flood.sock.recv(1 << 20)
            except OSError:
                return
    thread = threading.Thread(target=pour, daemon=True)
    thread.start()
    try:
        # Others are served meanwhile, and so is the datapath.
        worst = 0
        with sw.connect() as c:
            for _ in range(50):
                began = time.monotonic()
                c.barrier()
                worst = max(worst, time.monotonic() - began)
            assert len(c.flows()) == 3001
        assert sw.pings(count=3, wait=20), "the datapath"
        assert sw.rpc("bridge.show", name="br0")["name"] == "br0"
        slc.diag("longest barrier beside a flood: %.1f ms" % (worst * 1e3))
        assert worst < 5
        grown = rss(sw) - before
        slc.diag("memory: %d KiB more" % grown)
        # AddressSanitizer keeps what was freed for a while.
        assert grown < 16384 * (8 if "sanitizers" in slc.features() else 1), \
            grown
    finally:
        ending.set()
        flood.sock.shutdown(socket.SHUT_RDWR)
        thread.join(10)
    # The connections of a bridge are bounded.
    many = []
    for _ in range(60):
        s = socket.socket(socket.AF_UNIX)
        s.connect(sw.management)
        many.append(s)
    s = socket.socket(socket.AF_UNIX)
    s.connect(sw.management)
    assert s.recv(100) == b"", "one too many"
    for s in many + stalled + [deaf]:
        s.close()
    slc.wait_for(lambda: not [
        n for m in sw.rpc("controller.show", bridge="br0")
        for n in m["connections"]], "all are gone")
    assert "64 are the most" in sw.daemon.log() or \
        "are the most" in sw.daemon.log()


# --- TLS ------------------------------------------------------------------

def openssl(*argv):
    slc.run("openssl", *argv)


class Certificates:
    """A CA, and certificates that it signed."""

    def __init__(self, folder, name="ca"):
        self.folder, self.name = folder, name
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=" + name, "-keyout", self("key"), "-out", self("pem"))

    def __call__(self, ext, who=None):
        return os.path.join(self.folder, "%s.%s" % (who or self.name, ext))

    def make(self, who):
        openssl("req", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + who,
                "-keyout", self("key", who), "-out", self("csr", who))
        openssl("x509", "-req", "-days", "2", "-in", self("csr", who), "-CA",
                self("pem"), "-CAkey", self("key"), "-CAcreateserial",
                "-out", self("pem", who))
        return self("key", who), self("pem", who)


def server(ca, key, cert, lowest=False):
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ctx.load_cert_chain(cert, key)
    ctx.load_verify_locations(ca("pem"))
    ctx.verify_mode = ssl.CERT_REQUIRED
    if lowest:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ctx.minimum_version = ssl.TLSVersion.TLSv1
            ctx.maximum_version = ssl.TLSVersion.TLSv1_1
        ctx.set_ciphers("ALL:@SECLEVEL=0")
    return ctx


@slc.test("TLS: certificates of both ends, or nothing")
def _(t):
    of13.need_os_ken()
    if not shutil.which("openssl"):
        raise slc.Skip("openssl is not installed")
    sw = of13.Switch(t)
    ca = Certificates(sw.daemon.dir)
    other = Certificates(sw.daemon.dir, "other")
    key, cert = ca.make("switch")
    files = {"private_key": key, "certificate": cert,
             "ca_certificate": ca("pem")}
    l = t.enter_context(of13.Listener(sw.ns))
    target = l.target.replace("tcp", "ssl")
    e = slc.refused(sw.rpc, "controller.set", bridge="br0", targets=[target])
    assert "private_key" in str(e), e
    for member, wrong in (("private_key", cert), ("certificate", key),
                          ("ca_certificate", "/nonexistent"),
                          ("private_key", other("key"))):
        e = slc.refused(sw.rpc, "bridge.set", name="br0",
                        ssl=dict(files, **{member: wrong}))
        assert member in str(e) and wrong in str(e), e
    sw.rpc("bridge.set", name="br0", ssl=files)
    sw.rpc("controller.set", bridge="br0", targets=[target],
           max_backoff_ms=1000)

    def accept(ctx):
        l.sock.settimeout(20)
        s, _ = l.sock.accept()
        s.settimeout(10)
        return ctx.wrap_socket(s, server_side=True)
    good = server(ca, *ca.make("controller"))
    s = accept(good)
    assert s.getpeercert()["subject"] == ((("commonName", "switch"),),), s
    c = of13.Conn(s, reads=False)
    c.barrier()
    assert state_of(sw)["is_connected"]
    c.close()
    # A stranger's certificate, and an old protocol, are refused.
    for ctx in (server(ca, *other.make("stranger")),
                server(ca, *ca.make("old"), lowest=True)):
        try:
            s = accept(ctx)
            s.recv(1)
            raise AssertionError("it was taken")
        except (ssl.SSLError, OSError):
            pass
        slc.wait_for(lambda: state_of(sw)["last_error"], "why")
        slc.diag(state_of(sw)["last_error"])
        assert not state_of(sw)["is_connected"]
    assert "TLS: the peer's certificate: " in sw.daemon.log()
    c = of13.Conn(accept(good), reads=False)
    c.barrier()
    c.close()
    # Passive: a client without a certificate, one of a stranger, a good one.
    sw.rpc("controller.set", bridge="br0", targets=["pssl:6701:127.0.0.1"])

    def connect(pair=None):
        ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        ctx.check_hostname = False
        ctx.load_verify_locations(ca("pem"))
        if pair:
            ctx.load_cert_chain(pair[1], pair[0])
        with sw.ns.entered():
            s = socket.create_connection(("127.0.0.1", 6701))
        s.settimeout(10)
        return ctx.wrap_socket(s)
    for pair, why in ((None, "TLS: the peer showed no certificate"),
                      (other.make("stranger"), "TLS: the peer's certificate"),
                      ("no TLS", "TLS: what came is no handshake")):
        sw.rpc("controller.del", bridge="br0")  # and what was said of it
        sw.rpc("controller.set", bridge="br0", targets=["pssl:6701:127.0.0.1"])
        try:
            if pair == "no TLS":
                with sw.ns.entered():
                    s = socket.create_connection(("127.0.0.1", 6701))
                s.settimeout(10)
                s.sendall(of13.HEADER.pack(4, of13.HELLO, 8, 1))
            else:
                s = connect(pair)
            assert s.recv(8)[:1] != b"\x04", "a hello"
            raise ssl.SSLError("closed")
        except (ssl.SSLError, OSError):
            pass
        slc.wait_for(lambda: why in state_of(sw)["last_error"], why)
        slc.diag(state_of(sw)["last_error"])
    c = of13.Conn(connect(ca.make("client")), reads=False)
    c.barrier()
    c.close()
    assert "is refused: TLS" in sw.daemon.log(), sw.daemon.log()


@slc.test("controllers survive a restart and a datapath that is made anew")
def _(t):
    of13.need_os_ken()
    sw = of13.Switch(t)
    l = t.enter_context(of13.Listener(sw.ns))
    sw.rpc("controller.set", bridge="br0", targets=[l.target],
           max_backoff_ms=1000)
    c = l.accept()
    forward(c, (1, 2), (2, 1))
    xid = c.send(P.OFPGroupMod(c, O.OFPGC_ADD, O.OFPGT_ALL, 1, [
        P.OFPBucket(actions=[P.OFPActionOutput(1)])]))
    c.barrier()
    # Other sizes make another datapath: connection and books stay.
    sw.rpc("bridge.set", name="br0", memory_bytes="32M")
    assert len(c.flows()) == 2 and xid
    assert len(c.ask(P.OFPGroupDescStatsRequest(c, 0)).body) == 1
    c.barrier()
    slc.wait_for(sw.pings, "flows in the new datapath")
    sw.daemon.restart()
    sw.rpc = sw.daemon.rpc
    c = l.accept()
    assert c.flows() == []
    forward(c, (1, 2), (2, 1))
    slc.wait_for(sw.pings, "flows after a restart")
    assert os.path.exists(sw.management)
    sw.rpc("bridge.del", name="br0")
    assert not os.path.exists(sw.management)
    try:
        assert c.recv_raw(10) is None
    except of13.Closed:
        pass


slc.main(root=True, needs=["ip", "ping"])
