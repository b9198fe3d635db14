# SPDX-License-Identifier: Apache-2.0
"""What the system tests share: network namespaces, daemons, a JSON-RPC
client, raw frames and TAP.  Nothing but the standard library.

A test file looks like this:

    import slc

    @slc.test("a frame goes through")
    def _(t):                       # t: contextlib.ExitStack
        ns = t.enter_context(slc.Netns("sw"))
        a = ns.veth("p1", "h1")     # p1 in ns, h1 in ns too
        d = t.enter_context(slc.Daemon(ns))
        d.rpc("bridge.add", name="br0")
        ...
        assert got == want, "what went wrong"

    slc.main(root=True, needs=["ip"])

Whatever is created is prefixed "slc" and goes away when the test ends, fails,
or is told to end (SIGTERM, SIGINT).
"""
import atexit
import contextlib
import ctypes
import errno
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

# ---------------------------------------------------------------- where ---

TOP_SRC = os.environ.get(
    "top_srcdir", os.path.join(os.path.dirname(__file__), "..", ".."))
TOP_BUILD = os.environ.get("top_builddir", TOP_SRC)


def program(name):
    """Path of one of our programs: of the build, else of the system.
    Absolute: a child may have another working directory."""
    override = os.environ.get(name.upper().replace("-", "_"))
    if override:
        return override
    for folder in ("vswitchd", "utilities"):
        path = os.path.join(TOP_BUILD, folder, name)
        if os.access(path, os.X_OK):
            return os.path.abspath(path)
    found = shutil.which(name)
    if not found:
        raise Skip("%s is not built" % name)
    return found


def features():
    """Words of sluiced --version: "systemd", "sanitizers", ..."""
    return run(program("sluiced"), "--version").stdout.split()


# ------------------------------------------------------------------ TAP ---

class Skip(Exception):
    """Raised by a test that cannot run here; the text says why."""


_tests = []


def test(name):
    """Registers a test; it runs in the order of the file."""
    def register(fn):
        _tests.append((name, fn))
        return fn
    return register


def diag(text):
    """A line for people, in TAP's way."""
    for line in str(text).rstrip("\n").split("\n"):
        print("# " + line, flush=True)


def skip_all(reason):
    print("1..0 # SKIP " + reason, flush=True)
    sys.exit(0)


def main(root=True, needs=()):
    """Runs the registered tests, or those whose names contain argv[1]."""
    if root and os.geteuid() != 0:
        skip_all("needs root (network namespaces)")
    for command in needs:
        if not shutil.which(command):
            skip_all("needs the command %s" % command)
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sig, _on_signal)
    chosen = [t for t in _tests if len(sys.argv) < 2 or sys.argv[1] in t[0]]
    print("1..%d" % len(chosen), flush=True)
    failed = 0
    for number, (name, fn) in enumerate(chosen, 1):
        began = time.monotonic()
        verdict, note = "ok", ""
        try:
            with contextlib.ExitStack() as stack:
                fn(stack)
        except Skip as e:
            note = " # SKIP %s" % e
        except Exception:  # noqa: a test may fail in any way
            verdict = "not ok"
            failed += 1
            diag(traceback.format_exc())
        print("%s %d - %s%s" % (verdict, number, name, note), flush=True)
        diag("%.1f s" % (time.monotonic() - began))
    if _port_types:
        diag("port types: " + " ".join(sorted(_port_types)))
    sys.exit(1 if failed else 0)


# ------------------------------------------------------------- clean-up ---

_cleanups = []  # of things that live; undone in reverse at the end


def _forget(fn):
    if fn in _cleanups:
        _cleanups.remove(fn)


@atexit.register
def _clean_up():
    while _cleanups:
        try:
            _cleanups.pop()()
        except Exception as e:  # noqa: the rest must be cleaned too
            diag("clean-up: %s" % e)


def _on_signal(sig, _frame):
    sys.exit(128 + sig)


# ----------------------------------------------------------------- help ---

# How long is waited for what is sure to come, however busy the machine is:
# only a test that fails waits for that long.
WAIT = 60.0


def run(*argv, check=True, timeout=90, **kw):
    """Runs a command; its output (text) with .stdout, .stderr."""
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, timeout=timeout, **kw)
    if check and p.returncode:
        raise RuntimeError("%s: exit %d: %s%s" % (
            " ".join(argv), p.returncode, p.stdout, p.stderr))
    return p


def wait_for(fn, what, timeout=WAIT, step=0.02):
    """Polls fn until it answers something true; returns that.  what: a text,
    or what makes one of how far it has come."""
    end = time.monotonic() + timeout
    while True:
        value = fn()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("timed out: %s" % (
                what() if callable(what) else what))
        time.sleep(step)


@contextlib.contextmanager
def tmpdir():
    path = tempfile.mkdtemp(prefix="slc-")

    def undo():
        shutil.rmtree(path, ignore_errors=True)
    _cleanups.append(undo)
    try:
        yield path
    finally:
        _forget(undo)
        undo()


def proc_status(pid):
    """/proc/PID/status as a dict of texts."""
    with open("/proc/%d/status" % pid) as f:
        pairs = (line.split(":", 1) for line in f if ":" in line)
        return {k: v.strip() for k, v in pairs}


@contextlib.contextmanager
def stopped(pid):
    """A process stands still meanwhile: every thread, not only soon."""
    def is_still():
        states = set()
        for tid in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/stat" % (pid, tid)) as f:
                states.add(f.read().rsplit(")", 1)[1].split()[0])
        return states == {"T"}
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_for(is_still, "process %d has stopped" % pid, step=0.001)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def rss_kib(pid):
    return int(proc_status(pid)["VmRSS"].split()[0])


def cpu_seconds(pid):
    """utime + stime of all threads."""
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def context_switches(pid):
    """Voluntary ones, all threads: how often the process woke up."""
    n = 0
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/status" % (pid, tid)) as f:
            for line in f:
                if line.startswith("voluntary_ctxt_switches"):
                    n += int(line.split()[1])
    return n


# ----------------------------------------------------------- namespaces ---

_libc = ctypes.CDLL(None, use_errno=True)
_serial = [0]


class Netns:
    """A network namespace of our own: slc<pid>n<serial>-<name>."""

    def __init__(self, name="ns"):
        _serial[0] += 1
        self.name = "slc%dn%d-%s" % (os.getpid(), _serial[0], name)
        run("ip", "netns", "add", self.name)
        self._undo = self.close
        _cleanups.append(self._undo)
        # No neighbour discovery or router solicitations between our frames.
        self.run("sh", "-c",
                 "for c in all default; do f=/proc/sys/net/ipv6/conf/$c/"
                 "disable_ipv6; test ! -e $f || echo 1 > $f; done")
        self.ip("link", "set", "lo", "up")

    def close(self):
        _forget(self._undo)
        run("ip", "netns", "del", self.name, check=False)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def argv(self, *argv):
        return ("ip", "netns", "exec", self.name) + argv

    def run(self, *argv, **kw):
        return run(*self.argv(*argv), **kw)

    def popen(self, *argv, **kw):
        """Starts a command in the namespace; it ends with the test."""
        return popen(*self.argv(*argv), **kw)

    def ip(self, *argv, **kw):
        return run("ip", "-n", self.name, *argv, **kw)

    def veth(self, here, there, other=None, mtu=None):
        """A veth pair, both ends up: `here` in this namespace, `there` in
        `other` (this one when not given)."""
        other = other or self
        self.ip("link", "add", here, "type", "veth", "peer", "name", there,
                "netns", other.name)
        for ns, name in ((self, here), (other, there)):
            if mtu:
                ns.ip("link", "set", name, "mtu", str(mtu))
            ns.ip("link", "set", name, "up")
        self.wait_active(here)
        return self

    def wait_active(self, ifname):
        """An interface whose peer has come up loses in silence what is sent
        before a thread of the kernel has made it fit to send."""
        def is_active():
            link, = json.loads(self.ip("-j", "link", "show", ifname).stdout)
            return link["operstate"] == "UP" and link["qdisc"] != "noop"
        wait_for(is_active, "%s can send" % ifname)

    def mac(self, ifname):
        with self.entered():
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as s:
                s.bind((ifname, 0))
                return s.getsockname()[4]

    def n_received(self, ifname):
        """Frames that have come over the wire of a veth, whether a socket has
        them yet or the kernel still holds them."""
        with self.entered(), open("/proc/thread-self/net/dev") as f:
            fields = next(line.split(":")[1].split() for line in f
                          if line.split(":")[0].strip() == ifname)
        return int(fields[1])

    def exists(self, ifname):
        return self.ip("link", "show", ifname, check=False).returncode == 0

    @contextlib.contextmanager
    def entered(self):
        """This thread is in the namespace meanwhile: sockets that are made
        here stay in it."""
        old = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        new = os.open("/run/netns/" + self.name, os.O_RDONLY)
        try:
            _setns(new)
            yield
        finally:
            _setns(old)
            os.close(new)
            os.close(old)


def _setns(fd):
    if _libc.setns(fd, 0x40000000):  # CLONE_NEWNET
        n = ctypes.get_errno()
        raise OSError(n, os.strerror(n))


# ------------------------------------------------------------ processes ---

class Process(subprocess.Popen):
    """A child that ends with the test, also as a context."""

    def __init__(self, *argv, **kw):
        super().__init__(argv, **kw)
        self._undo = self.reap
        _cleanups.append(self._undo)

    def reap(self):
        _forget(self._undo)
        if self.poll() is None:
            self.kill()
        self.wait()
        for f in (self.stdin, self.stdout, self.stderr):
            if f and not f.closed:
                f.close()

    def __exit__(self, *exc):
        self.reap()


def popen(*argv, **kw):
    return Process(*argv, **kw)


_port_types = set()  # those that were asked for


def port_type(name):
    """The type of a port for which a test names none: port_types.py repeats
    tests with other ones."""
    word = os.environ.get("SLUICE_TEST_PORT_TYPE", "afpacket")
    if word == "mixed":
        word = "afxdp" if name[-1] in "13579" else "afpacket"
    _port_types.add(word)
    return word


class Daemon:
    """One sluiced in a namespace (None: one of its own, where root can make
    it; the interfaces of its bridges meet no others), with its files in a
    directory of its own (dir: an existing one, kept).  env: variables beside
    those that there are."""

    def __init__(self, ns=None, args=(), dir=None, wait=True, name="sluiced",
                 wrap=(), env=()):
        self._stack = contextlib.ExitStack()
        if not ns and os.geteuid() == 0:
            ns = self._stack.enter_context(Netns("own"))
        self.ns = ns
        self.dir = dir or self._stack.enter_context(tmpdir())
        self.socket = os.path.join(self.dir, "control.sock")
        self.database = os.path.join(self.dir, "sluice.db")
        self.pidfile = os.path.join(self.dir, "sluiced.pid")
        self.logfile = os.path.join(self.dir, "log")
        self.args = list(args)
        self.name = name
        self.wrap = tuple(wrap)
        self.env = dict(env)
        self.proc = None
        self._rpc = None
        self.start(wait)

    def argv(self):
        argv = self.wrap + (
            program(self.name), "--database", self.database, "--socket",
            self.socket, "--pid-file", self.pidfile, "--log-to", "stderr",
            *self.args)
        # ip netns exec replaces itself: the pid is the daemon's.
        return self.ns.argv(*argv) if self.ns else argv

    def start(self, wait=True):
        with open(self.logfile, "ab") as log:
            self.proc = popen(*self.argv(), stdout=log, stderr=log,
                              stdin=subprocess.DEVNULL,
                              env=dict(os.environ, **self.env))
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, timeout=WAIT):
        def ready():
            if self.proc.poll() is not None:
                raise AssertionError("sluiced ended with %d:\n%s" % (
                    self.proc.returncode, self.log()))
            try:
                # It listens before its bridges run, and answers after.
                self._rpc = Rpc(self.socket)
                self._rpc.call("daemon.status")
                return True
            except (OSError, EOFError):
                return False
        wait_for(ready, "sluiced is ready", timeout)

    @property
    def pid(self):
        return self.proc.pid

    def log(self):
        with open(self.logfile, errors="replace") as f:
            return f.read()

    def rpc(self, method, _params=None, **params):
        """Calls a method; RpcError when refused."""
        if method == "port.add" and _params is None:
            params.setdefault("type", port_type(params["name"]))
        return self._rpc.call(method, _params if _params is not None
                              else params)

    def settle(self):
        """What a frame that has arrived somewhere is counted as is counted
        when this returns: it was sent in a turn of its bridge's thread, which
        counts at the end, and the audit is made in a later one."""
        self.rpc("audit.show")

    def connect(self):
        """A connection of its own."""
        return Rpc(self.socket)

    def _hang_up(self):
        if self._rpc:
            self._rpc.close()
            self._rpc = None

    def kill(self):
        """kill -9."""
        self._hang_up()
        self.proc.kill()
        self.proc.wait()

    def stop(self, sig=signal.SIGTERM, timeout=WAIT):
        """Asks it to end; its exit status."""
        self._hang_up()
        if self.proc.poll() is None:
            self.proc.send_signal(sig)
        return self.proc.wait(timeout)

    def restart(self):
        self.stop()
        return self.start()

    def close(self):
        self._hang_up()
        alive = self.proc.poll() is None
        if alive:
            try:
                self.stop()
            except subprocess.TimeoutExpired:
                diag("sluiced did not end within %g s of SIGTERM" % WAIT)
        self.proc.reap()
        try:
            self.check_log()
        finally:
            self._stack.close()

    def check_log(self):
        text = self.log()
        for bad in ("AddressSanitizer", "runtime error:", "LeakSanitizer",
                    "Assertion"):
            assert bad not in text, "sluiced said:\n" + text

    def __enter__(self):
        return self

    def __exit__(self, kind, *exc):
        if kind and os.path.exists(self.logfile):
            diag("log of the daemon:")
            diag("\n".join(self.log().split("\n")[-40:]))
        self.close()


# ------------------------------------------------------------- JSON-RPC ---

class RpcError(Exception):
    """An error answer: .code, .message, .data."""

    def __init__(self, error):
        self.code = error.get("code")
        self.message = error.get("message", "")
        self.data = error.get("data") or {}
        super().__init__("%s %s %s" % (self.code, self.message, self.data))


class Rpc:
    """A blocking JSON-RPC 2.0 client on a Unix socket, or on TCP with
    where = (host, port)."""

    def __init__(self, where, timeout=WAIT):
        family = socket.AF_UNIX if isinstance(where, str) else socket.AF_INET
        self.sock = socket.socket(family, socket.SOCK_STREAM)
        self.sock.settimeout(timeout)
        try:
            self.sock.connect(where)
        except OSError:
            self.sock.close()
            raise
        self.buffer = ""
        self.n = 0
        self.events = []

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def send_raw(self, text):
        self.sock.sendall(text if isinstance(text, bytes) else text.encode())

    def read(self, timeout=None):
        """The next JSON text that the daemon sent; EOFError at its end."""
        decoder = json.JSONDecoder()
        if timeout is not None:
            self.sock.settimeout(timeout)
        while True:
            self.buffer = self.buffer.lstrip()
            if self.buffer:
                try:
                    value, end = decoder.raw_decode(self.buffer)
                    self.buffer = self.buffer[end:]
                    return value
                except json.JSONDecodeError:
                    pass
            data = self.sock.recv(1 << 20)
            if not data:
                raise EOFError("the daemon closed the connection")
            self.buffer += data.decode()

    def request(self, method, params=None):
        """Sends a call without waiting; its id."""
        self.n += 1
        message = {"jsonrpc": "2.0", "id": self.n, "method": method}
        if params is not None:
            message["params"] = params
        self.send_raw(json.dumps(message) + "\n")
        return self.n

    def call(self, method, params=None):
        want = self.request(method, params or {})
        while True:
            answer = self.read()
            if "method" in answer and "id" not in answer:
                self.events.append(answer["params"])
                continue
            assert answer.get("id") == want, answer
            if "error" in answer:
                raise RpcError(answer["error"])
            return answer["result"]

    def event(self, timeout=WAIT, **match):
        """The next event whose members are as in match."""
        end = time.monotonic() + timeout
        while True:
            while self.events:
                event = self.events.pop(0)
                if all(event.get(k) == v for k, v in match.items()):
                    return event
            left = end - time.monotonic()
            if left <= 0:
                raise AssertionError("no event %s within %g s" %
                                     (match, timeout))
            try:
                message = self.read(timeout=left)
            except (socket.timeout, TimeoutError):
                continue
            if "method" in message:
                self.events.append(message["params"])


def refused(fn, *args, code=None, names=(), **kw):
    """Asserts that a call is refused, by code and with texts that its error
    has to contain; the RpcError."""
    try:
        result = fn(*args, **kw)
    except RpcError as e:
        assert code is None or e.code == code, e
        for name in names:
            assert str(name) in str(e), "%r is not in: %s" % (name, e)
        return e
    raise AssertionError("not refused: %s %s -> %s" % (args, kw, result))


# --------------------------------------------------------------- frames ---

ETH_P_ALL = 3
ETH_P_8021Q = 0x8100
ETH_P_8021AD = 0x88A8
ETH_P_MACCTL = 0x8808
ETH_P_TEST = 0x88B5  # for local experiments, IEEE
MAC_PFC = bytes.fromhex("0180c2000001")
BROADCAST = b"\xff" * 6
_SOL_PACKET = 263
_PACKET_ADD_MEMBERSHIP = 1
_PACKET_AUXDATA = 8
_PACKET_IGNORE_OUTGOING = 23


def mac(text):
    """An address from text, or 02:00:00:00:00:n from a number."""
    if isinstance(text, int):
        return b"\x02\0\0" + struct.pack(">I", text)[1:]
    return bytes.fromhex(text.replace(":", ""))


def frame(dst, src, payload=b"", type=ETH_P_TEST, tags=(), size=0):
    """An Ethernet frame.  tags: (vid, pcp) or (vid, pcp, tpid), outer first.
    size: padded to so many octets in all, without FCS."""
    out = dst + src
    for tag in tags:
        vid, pcp, tpid = (tuple(tag) + (ETH_P_8021Q,))[:3]
        out += struct.pack(">HH", tpid, pcp << 13 | vid)
    out += struct.pack(">H", type) + payload
    return out + bytes(max(0, size - len(out)))


def pfc(src, times, vector=None):
    """A PFC frame.  times: {priority: quanta}."""
    bits = sum(1 << p for p in times) if vector is None else vector
    return MAC_PFC + src + struct.pack(
        ">HHH8H", ETH_P_MACCTL, 0x0101, bits,
        *(times.get(p, 0) for p in range(8))) + bytes(26)


def pause(src, quanta):
    """An 802.3x PAUSE frame."""
    return MAC_PFC + src + struct.pack(">HHH", ETH_P_MACCTL, 1, quanta) + \
        bytes(42)


def parse_pfc(data):
    """{priority: quanta} of a PFC frame, or None."""
    if len(data) < 34 or data[:6] != MAC_PFC or \
            data[12:16] != b"\x88\x08\x01\x01":
        return None
    fields = struct.unpack(">H8H", data[16:34])
    return {p: fields[1 + p] for p in range(8) if fields[0] >> p & 1}


def parse(data):
    """(dst, src, [(tpid, pcp, vid)...], type, payload)."""
    tags, at = [], 12
    while True:
        kind, = struct.unpack_from(">H", data, at)
        if kind not in (ETH_P_8021Q, ETH_P_8021AD):
            return data[:6], data[6:12], tags, kind, data[at + 2:]
        tci, = struct.unpack_from(">H", data, at + 2)
        tags.append((kind, tci >> 13, tci & 0xFFF))
        at += 4


class Raw:
    """A raw socket on an interface: what it sends and receives is the frame
    as on the wire, VLAN tag included.  Own output is not received."""

    def __init__(self, ns, ifname, rcvbuf=8 << 20):
        with (ns.entered() if ns else contextlib.nullcontext()):
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            # SO_RCVBUFFORCE, SO_SNDBUFFORCE
            self.sock.setsockopt(socket.SOL_SOCKET, 33, rcvbuf)
            self.sock.setsockopt(socket.SOL_SOCKET, 32, rcvbuf)
            self.sock.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
            self.sock.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
            index = socket.if_nametoindex(ifname)
            self.sock.setsockopt(_SOL_PACKET, _PACKET_ADD_MEMBERSHIP,
                                 struct.pack("iHH8s", index, 1, 0, b""))
            self.sock.bind((ifname, ETH_P_ALL))
        self.mac = self.sock.getsockname()[4]

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def fileno(self):
        return self.sock.fileno()

    def send(self, data):
        while True:
            try:
                return self.sock.send(data)
            except OSError as e:
                if e.errno not in (errno.ENOBUFS, errno.EAGAIN):
                    raise
                time.sleep(0.001)

    def recv(self, timeout=WAIT):
        """The next frame, or None.  That an interface goes down or comes back
        meanwhile is no frame."""
        end = time.monotonic() + timeout
        while True:
            left = max(0, end - time.monotonic())
            if not select.select([self.sock], [], [], left)[0]:
                return None
            try:
                data, aux, _flags, _addr = self.sock.recvmsg(
                    65536, 128, socket.MSG_DONTWAIT)
                break
            except OSError as e:
                if e.errno not in (errno.ENETDOWN, errno.EAGAIN):
                    raise
        for level, kind, value in aux:
            if level != _SOL_PACKET or kind != _PACKET_AUXDATA:
                continue
            status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH",
                                                          value[:20])
            if status & 0x10:  # TP_STATUS_VLAN_VALID
                if not status & 0x40:  # TP_STATUS_VLAN_TPID_VALID
                    tpid = ETH_P_8021Q
                data = data[:12] + struct.pack(">HH", tpid, tci) + data[12:]
        return data

    def recv_all(self, quiet=0.2, limit=1 << 20):
        """Everything that comes until nothing came for `quiet` seconds."""
        out = []
        while len(out) < limit:
            data = self.recv(quiet)
            if data is None:
                break
            out.append(data)
        return out

    def recv_match(self, match, timeout=WAIT):
        """The next frame that match(data) says yes to, or None."""
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return None
            data = self.recv(left)
            if data is not None and match(data):
                return data

    def drain(self):
        self.recv_all(quiet=0)
