# SPDX-License-Identifier: Apache-2.0
"""A controller, as a library: connections whose messages os-ken writes and
reads, without its framework, so that a test says what is sent and when.

    with of13.Listener(ns) as l:            # tcp:127.0.0.1:PORT in ns
        d.rpc("controller.set", bridge="br0", targets=[l.target])
        c = l.accept()                      # hello is done
        c.send(P.OFPFlowMod(c, ...))
        c.barrier()
        reply = c.ask(P.OFPRoleRequest(c, ...))
"""
import os
import queue
import socket
import struct
import sys
import threading
import time

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
    from os_ken.ofproto import (ofproto_parser, ofproto_v1_0,
                                ofproto_v1_0_parser, ofproto_v1_3,
                                ofproto_v1_3_parser)
    P, O = ofproto_v1_3_parser, ofproto_v1_3
    P10, O10 = ofproto_v1_0_parser, ofproto_v1_0

HEADER = struct.Struct("!BBHI")
HELLO = 0
ERROR = 1
ECHO_REQUEST = 2


def need_os_ken():
    if not os_ken:
        raise slc.Skip("os-ken is not installed (python3-os-ken)")


class Closed(Exception):
    """The other end closed the connection."""


class Conn:
    """One connection; also what os-ken calls a datapath.  A thread reads what
    comes, and answers echo requests, whatever the test is at; with reads=False
    there is none, and nothing is read before it is asked for."""

    def __init__(self, sock, version=4, hello=True, reads=True):
        self.sock = sock
        self._queue = queue.Queue()
        self._reads = reads
        self._lock = threading.Lock()
        self.ofproto, self.ofproto_parser = (
            (O, P) if version == 4 else (O10, P10))
        self.version = version
        self.xid = 0x1000
        self.seen = []        # what came and nobody asked for
        self.id = None
        self.ports = {}
        if reads:
            threading.Thread(target=self._read, daemon=True).start()
        if hello:
            sock.sendall(HEADER.pack(version, HELLO, 8, 1))
            raw = self.recv_raw(10)
            assert raw[1] == HELLO, raw

    # What os-ken's messages ask of a datapath.
    def set_xid(self, msg):
        self.xid += 1
        msg.set_xid(self.xid)
        return self.xid

    def close(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send_raw(self, data):
        with self._lock:
            self.sock.sendall(data)

    def _take(self, size):
        data = b""
        while len(data) < size:
            more = self.sock.recv(size - len(data))
            if not more:
                raise Closed()
            data += more
        return data

    def _message(self):
        head = self._take(8)
        return head + self._take(HEADER.unpack(head)[2] - 8)

    def _read(self):
        try:
            while True:
                raw = self._message()
                version, kind, size, xid = HEADER.unpack_from(raw)
                if kind == ECHO_REQUEST:
                    self.send_raw(HEADER.pack(version, 3, size, xid) + raw[8:])
                else:
                    self._queue.put(raw)
        except (OSError, Closed):
            self._queue.put(None)

    def send(self, msg):
        xid = self.set_xid(msg)
        msg.serialize()
        self.send_raw(msg.buf)
        return xid

    def recv_raw(self, timeout=10.0):
        """A whole message; None when none comes in time."""
        if not self._reads:
            self.sock.settimeout(timeout)
            try:
                return self._message()
            except ConnectionResetError:
                raise Closed()
            finally:
                self.sock.settimeout(None)
        try:
            raw = self._queue.get(timeout=max(0, timeout))
        except queue.Empty:
            return None
        if raw is None:
            self._queue.put(None)
            raise Closed()
        return raw

    def recv(self, timeout=10.0):
        """The next message, parsed."""
        raw = self.recv_raw(timeout)
        if raw is None:
            return None
        version, kind, size, xid = HEADER.unpack_from(raw)
        return ofproto_parser.msg(self, version, kind, size, xid, raw)

    def replies(self, xid, timeout=20.0):
        """What comes with that xid, to the end of a multipart reply."""
        got = []
        end = time.monotonic() + timeout
        while True:
            m = self.recv(end - time.monotonic())
            assert m is not None, "no reply to 0x%x" % xid
            if m.xid != xid:
                self.seen.append(m)
                continue
            got.append(m)
            if not getattr(m, "flags", 0) & 1 or not hasattr(m, "body"):
                return got

    def ask(self, msg, timeout=20.0):
        """The reply (or error); bodies of a multipart reply are joined."""
        got = self.replies(self.send(msg), timeout)
        for more in got[1:]:
            got[0].body += more.body
        return got[0]

    def barrier(self, timeout=20.0):
        return self.ask(self.ofproto_parser.OFPBarrierRequest(self), timeout)

    def find(self, cls, timeout=10.0, match=lambda m: True):
        """The next message of that class, seen already or not."""
        for m in self.seen:
            if isinstance(m, cls) and match(m):
                self.seen.remove(m)
                return m
        end = time.monotonic() + timeout
        while True:
            m = self.recv(max(0, end - time.monotonic()))
            assert m is not None, "no %s" % cls.__name__
            if isinstance(m, cls) and match(m):
                return m
            self.seen.append(m)

    def nothing(self, cls, quiet=0.3):
        """No message of that class comes."""
        while True:
            m = self.recv(quiet)
            if m is None:
                break
            self.seen.append(m)
        assert not [m for m in self.seen if isinstance(m, cls)], self.seen

    # Short words for what tests send over and over.
    def flow(self, match=None, actions=None, table=0, priority=1,
             command=None, goto=None, more=(), **kw):
        """Adds a flow of 1.3, or with `command` modifies or deletes."""
        inst = list(more)
        if actions is not None:
            inst.append(P.OFPInstructionActions(O.OFPIT_APPLY_ACTIONS,
                                                actions))
        if goto is not None:
            inst.append(P.OFPInstructionGotoTable(goto))
        kw.setdefault("out_port", O.OFPP_ANY)
        kw.setdefault("out_group", O.OFPG_ANY)
        return P.OFPFlowMod(
            self, table_id=table, priority=priority,
            command=O.OFPFC_ADD if command is None else command,
            match=match or P.OFPMatch(), instructions=inst, **kw)

    def flows(self):
        return self.ask(P.OFPFlowStatsRequest(
            self, 0, O.OFPTT_ALL, O.OFPP_ANY, O.OFPG_ANY, 0, 0,
            P.OFPMatch())).body


def connect_unix(path, version=4, hello=True, reads=True):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect(path)
    return Conn(s, version, hello, reads)


class Listener:
    """Where the switch connects to."""

    def __init__(self, ns, port=0):
        with ns.entered():
            self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.bind(("127.0.0.1", port))
        self.sock.listen(8)
        self.port = self.sock.getsockname()[1]
        self.target = "tcp:127.0.0.1:%d" % self.port

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def accept(self, version=4, hello=True, timeout=20.0, reads=True):
        self.sock.settimeout(timeout)
        sock, _ = self.sock.accept()
        sock.settimeout(None)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Conn(sock, version, hello, reads)


class Switch:
    """A daemon with a bridge and hosts h1, h2, ... on ports p1, p2, ...,
    numbered so.  Hosts are namespaces with 10.0.0.N and no IPv6."""

    def __init__(self, t, n=2, **bridge):
        self.ns = t.enter_context(slc.Netns("sw"))
        self.hosts = [t.enter_context(slc.Netns("h%d" % (i + 1)))
                      for i in range(n)]
        self.daemon = t.enter_context(slc.Daemon(self.ns))
        self.rpc = self.daemon.rpc
        self.rpc("bridge.add", name="br0", **bridge)
        for i, host in enumerate(self.hosts, 1):
            self.ns.veth("p%d" % i, "eth0", host)
            host.ip("addr", "add", "10.0.0.%d/24" % i, "dev", "eth0")
            self.rpc("port.add", bridge="br0", name="p%d" % i, ofport=i)
        self.management = os.path.join(self.daemon.dir, "br0.mgmt")

    def raw(self, t, i):
        """A socket for frames at host i (from 1)."""
        return t.enter_context(slc.Raw(self.hosts[i - 1], "eth0"))

    def connect(self, version=4, reads=True):
        return connect_unix(self.management, version, reads=reads)

    def pings(self, a=1, b=2, count=1, wait=1):
        """Whether host a reaches host b: to poll, or to say that it does not.
        Who knows that it does waits for longer."""
        return self.hosts[a - 1].run(
            "ping", "-n", "-c", str(count), "-i", "0.2", "-W", str(wait),
            "10.0.0.%d" % b, check=False).returncode == 0

    def controllers(self):
        return [c for c in self.rpc("controller.show", bridge="br0")
                if not c["is_management"]]

    def wait_connected(self, yes=True, timeout=20.0):
        slc.wait_for(
            lambda: any(c["is_connected"] for c in self.controllers()) == yes,
            "controllers are %sconnected" % ("" if yes else "not "), timeout)


def mac_of(i):
    return "02:00:00:00:00:%02x" % i
