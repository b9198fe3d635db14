#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon as a process: options, files, privileges, database, start and
end, and what it costs while idle."""
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import time

import slc


def sluiced(*args, timeout=20, **kw):
    return subprocess.run((slc.program("sluiced"),) + args, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, **kw)


def start_fails(d, ns=None, *extra):
    """Starts a second daemon on the files of directory d; its output."""
    args = ["--database", d + "/sluice.db", "--socket", d + "/second.sock"]
    p = sluiced(*(args + list(extra)))
    assert p.returncode == 1, (p.returncode, p.stderr)
    assert not os.path.exists(d + "/second.sock"), "its socket was left"
    return p.stderr


@slc.test("options: version, help, bad usage")
def _(t):
    p = sluiced("--version")
    assert p.returncode == 0 and "afpacket" in p.stdout, p
    p = sluiced("--help")
    assert p.returncode == 0
    for option in ("database", "socket", "pid-file", "detach", "log-level",
                   "log-to", "user", "rpc-tcp", "version"):
        assert "--" + option in p.stdout, option
    for bad in (["--nonsense"], ["--log-level", "loud"], ["word"],
                ["--log-to", "printer"], ["--database"]):
        p = sluiced(*bad)
        assert p.returncode == 2 and p.stderr, (bad, p)
    for option in ("database", "socket", "pid-file", "rpc-tcp", "user",
                   "log-to", "log-level"):
        for words in (["--" + option, ""], ["--" + option + "="]):
            p = sluiced(*words)
            assert p.returncode == 2 and "--%s \"\":" % option in p.stderr, p
    d = t.enter_context(slc.tmpdir())
    for bad in ("0.0.0.0:6640", "192.0.2.1:6640", "127.0.0.1:0",
                "127.0.0.1", "[::]:6640", "localhost:99999"):
        p = sluiced("--database", d + "/db", "--socket", d + "/s",
                    "--rpc-tcp", bad)
        assert p.returncode == 2 and "loopback" in p.stderr, (bad, p)


@slc.test("it makes its directories, and removes socket and pid file")
def _(t):
    top = t.enter_context(slc.tmpdir())
    base = top + "/a/b"
    paths = {"socket": base + "/run/s.sock", "database": base + "/db/x.db",
             "pidfile": base + "/pid/x.pid"}
    log = open(top + "/log", "wb")
    t.callback(log.close)
    p = slc.popen(slc.program("sluiced"), "--database", paths["database"],
                  "--socket", paths["socket"], "--pid-file",
                  paths["pidfile"], stdout=log, stderr=log)
    t.callback(p.reap)
    slc.wait_for(lambda: os.path.exists(paths["pidfile"]) and
                 open(paths["pidfile"]).read().endswith("\n"), "pid file")
    assert int(open(paths["pidfile"]).read()) == p.pid
    rpc = slc.Rpc(paths["socket"])
    assert rpc.call("daemon.status")["pid"] == p.pid
    rpc.close()
    p.send_signal(signal.SIGHUP)
    rpc = slc.Rpc(paths["socket"])
    assert rpc.call("daemon.status")["pid"] == p.pid, "SIGHUP ended it"
    rpc.close()
    p.send_signal(signal.SIGTERM)
    assert p.wait(10) == 0
    assert not os.path.exists(paths["socket"])
    assert not os.path.exists(paths["pidfile"])
    assert os.path.exists(paths["database"])
    assert os.stat(paths["database"]).st_mode & 0o077 in (0, 0o044, 0o040)


@slc.test("of many daemons that find a stale socket one replaces it")
def _(t):
    for _ in range(5):
        d = t.enter_context(slc.tmpdir())
        path = d + "/s"
        s = socket.socket(socket.AF_UNIX)
        s.bind(path)
        s.close()
        many = [t.enter_context(slc.popen(
            slc.program("sluiced"), "--database", "%s/%d.db" % (d, i),
            "--socket", path, "--log-to", "stderr",
            stderr=subprocess.PIPE, text=True)) for i in range(6)]

        def ended():
            return [p for p in many if p.poll() is not None]
        slc.wait_for(lambda: len(ended()) == 5, "five give up", 30)
        for p in ended():
            assert p.returncode == 1 and "in use" in p.stderr.read(), p
        left = [p for p in many if p.poll() is None]

        def asked():
            try:
                return slc.Rpc(path)
            except OSError:
                return None
        rpc = slc.wait_for(asked, "it listens")
        assert rpc.call("daemon.status")["pid"] == left[0].pid
        rpc.close()
        left[0].terminate()
        left[0].wait(20)
        assert not os.path.exists(path) and not os.path.exists(path + ".lock")


@slc.test("a stale socket is replaced, one in use and a file are not")
def _(t):
    d = t.enter_context(slc.tmpdir())
    path = d + "/control.sock"
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.close()
    daemon = t.enter_context(slc.Daemon(dir=d))
    daemon.rpc("daemon.status")
    p = sluiced("--database", d + "/other.db", "--socket", path)
    assert p.returncode == 1 and path in p.stderr and "in use" in p.stderr, p
    daemon.rpc("daemon.status")
    with open(d + "/file", "w") as f:
        f.write("precious")
    p = sluiced("--database", d + "/other.db", "--socket", d + "/file")
    assert p.returncode == 1 and d + "/file" in p.stderr, p
    assert open(d + "/file").read() == "precious"


@slc.test("a second instance on the same database is refused, with the pid")
def _(t):
    daemon = t.enter_context(slc.Daemon())
    daemon.rpc("bridge.add", name="br0")
    text = start_fails(daemon.dir)
    assert str(daemon.pid) in text and "sluice.db" in text, text
    assert [b["name"] for b in daemon.rpc("bridge.list")] == ["br0"]


@slc.test("a pid file: one of a live daemon and a foreign file are left alone")
def _(t):
    d = t.enter_context(slc.tmpdir())
    daemon = t.enter_context(slc.Daemon(dir=d))
    args = ["--database", d + "/other.db", "--socket", d + "/other.sock"]
    for _ in range(2):
        p = sluiced(*args, "--pid-file", daemon.pidfile)
        assert p.returncode == 1, p
        assert daemon.pidfile in p.stderr and str(daemon.pid) in p.stderr, p
        assert int(open(daemon.pidfile).read()) == daemon.pid
        assert not os.path.exists(d + "/other.sock"), "its socket was left"
    with open(d + "/letter", "w") as f:
        f.write("12 apples\n")
    os.mkfifo(d + "/fifo")
    for path in (d + "/letter", d + "/fifo", d + "/other.db"):
        p = sluiced(*args, "--pid-file", path)
        assert p.returncode == 1 and path in p.stderr, p
        assert os.path.exists(path)
    assert open(d + "/letter").read() == "12 apples\n"
    # Somebody else's by now: not ours to remove.
    os.unlink(daemon.pidfile)
    with open(daemon.pidfile, "w") as f:
        f.write("%d\n" % daemon.pid)
    assert daemon.stop() == 0
    assert os.path.exists(daemon.pidfile)


@slc.test("after kill -9 it starts again over what is left")
def _(t):
    d = t.enter_context(slc.tmpdir())
    daemon = t.enter_context(slc.Daemon(dir=d))
    daemon.rpc("bridge.add", name="br0")
    daemon.kill()
    assert os.path.exists(daemon.socket) and os.path.exists(daemon.pidfile)
    daemon.start()
    assert [b["name"] for b in daemon.rpc("bridge.list")] == ["br0"]
    assert int(open(daemon.pidfile).read()) == daemon.pid


@slc.test("--detach: returns when ready, and with 1 when it cannot start")
def _(t):
    d = t.enter_context(slc.tmpdir())
    args = ["--database", d + "/x.db", "--socket", d + "/x.sock", "--detach",
            "--pid-file", d + "/x.pid", "--log-to", "stderr"]
    with open(d + "/log", "wb") as log:
        rc = subprocess.run([slc.program("sluiced")] + args, stdout=log,
                            stderr=log, timeout=20).returncode
    assert rc == 0, open(d + "/log").read()
    pid = int(open(d + "/x.pid").read())

    def gone():
        try:
            os.kill(pid, 0)
            with open("/proc/%d/stat" % pid) as f:
                return f.read().rsplit(")", 1)[1].split()[0] == "Z"
        except (ProcessLookupError, FileNotFoundError):
            return True
    try:
        with slc.Rpc(d + "/x.sock") as rpc:
            assert rpc.call("daemon.status")["pid"] == pid
        with open(d + "/log2", "wb") as log:
            rc = subprocess.run([slc.program("sluiced")] + args, stdout=log,
                                stderr=log, timeout=20).returncode
        assert rc == 1, "a second one: %d" % rc
    finally:
        os.kill(pid, signal.SIGTERM)
    slc.wait_for(gone, "the daemon ended")
    assert not os.path.exists(d + "/x.pid")


CAPS = {12: "NET_ADMIN", 13: "NET_RAW", 14: "IPC_LOCK", 39: "BPF"}


def check_caps(pid, ns):
    st = slc.proc_status(pid)
    allowed = sum(1 << c for c in CAPS)
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(st[name], 16) & ~allowed == 0, (name, st[name])
    assert int(st["CapEff"], 16) & 1 << 12 and int(st["CapEff"], 16) & 1 << 13
    assert st["NoNewPrivs"] == "1"
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/status" % (pid, tid)) as f:
            text = f.read()
        eff = int(text.split("CapEff:")[1].split()[0], 16)
        assert eff & ~allowed == 0, "thread %s has %x" % (tid, eff)


@slc.test("root keeps three capabilities, and can still open ports")
def _(t):
    ns = t.enter_context(slc.Netns("caps"))
    ns.veth("p1", "h1")
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0")
    d.rpc("port.add", bridge="br0", name="p1")
    d.rpc("port.add", bridge="br0", name="slct0", type="tap")
    check_caps(d.pid, ns)


@slc.test("without a privilege of AF_XDP's, type afxdp is refused and says which "
          "is missing; auto is afpacket, and the log says why, once")
def _(t):
    if "afxdp" not in slc.features():
        raise slc.Skip("AF_XDP is not built in")
    for command in ("prlimit", "setpriv"):
        if not shutil.which(command):
            raise slc.Skip("there is no " + command)
    for caps, size, word in (
            ("+net_admin,+net_raw", 1 << 20, "CAP_BPF"),
            ("+net_admin,+net_raw,+bpf", 64 << 20, "CAP_IPC_LOCK"),
            ("+net_admin,+net_raw,+bpf", 1 << 20, None)):
        ns = t.enter_context(slc.Netns("caps"))
        ns.veth("p1", "h1")
        ns.veth("p2", "h2")
        d = t.enter_context(slc.Daemon(ns, wrap=(
            "prlimit", "--memlock=%d" % (8 << 20), "setpriv",
            "--bounding-set", "-all," + caps, "--inh-caps", "-all," + caps)))
        d.rpc("bridge.add", name="br0", memory_bytes=size)
        if not word:
            d.rpc("port.add", bridge="br0", name="p1", type="afxdp")
            d.rpc("port.add", bridge="br0", name="p2", type="auto")
            assert d.rpc("port.show", name="p2")["provider"] == "afxdp"
            continue
        try:
            d.rpc("port.add", bridge="br0", name="p1", type="afxdp")
            raise AssertionError("it was taken")
        except slc.RpcError as e:
            assert "not permitted" in e.message and word in e.message, e
        assert d.rpc("port.list") == []
        d.rpc("port.add", bridge="br0", name="p2", type="auto")
        shown = d.rpc("port.show", name="p2")
        assert shown["provider"] == "afpacket", shown
        assert word in shown["fallback"], shown
        assert d.log().count(shown["fallback"]) == 1, d.log()


@slc.test("--cpu and --fifo say where and how its thread runs, or why not")
def _(t):
    d = t.enter_context(slc.Daemon(t.enter_context(slc.Netns("sched")), args=(
        "--cpu", "br0=0", "--fifo", "br0=10", "--cpu", "br9=0")))
    d.rpc("bridge.add", name="br0")
    d.rpc("bridge.add", name="br1")
    seen = {}
    for tid in os.listdir("/proc/%d/task" % d.pid):
        with open("/proc/%d/task/%s/comm" % (d.pid, tid)) as f:
            seen[f.read().strip()] = (os.sched_getscheduler(int(tid)),
                                      os.sched_getaffinity(int(tid)))
    assert seen["dp-br0"] == (os.SCHED_FIFO, {0}), seen
    assert seen["dp-br1"] == (os.SCHED_OTHER, os.sched_getaffinity(0)), seen
    for args, said in ((("--cpu", "br0=4000"), "CPU"),
                       (("--cpu", "br0"), "BRIDGE=CPU"),
                       (("--fifo", "br0=100"), "1 to 99")):
        p = slc.run(slc.program("sluiced"), *args, check=False)
        assert p.returncode == 2 and said in p.stderr, p
    with slc.tmpdir() as where:
        os.chmod(where, 0o777)
        p = slc.run("setpriv", "--reuid=65534", "--regid=65534",
                    "--clear-groups", slc.program("sluiced"), "--fifo",
                    "br0=10", "--database", where + "/db", "--socket",
                    where + "/s", check=False)
        assert p.returncode != 0 and "not permitted" in p.stderr, p


@slc.test("--user: another user with the same capabilities")
def _(t):
    ns = t.enter_context(slc.Netns("user"))
    ns.veth("p1", "h1")
    top = t.enter_context(slc.tmpdir())
    os.chmod(top, 0o755)
    p = sluiced("--user", "slc-no-such-user", "--database", top + "/x/db",
                "--socket", top + "/x/s")
    assert p.returncode == 1 and "slc-no-such-user" in p.stderr, p
    # A build directory need not be reachable for everybody: start as root,
    # become nobody, then use a database of nobody's.
    base = top + "/of-nobody"
    os.mkdir(base)
    shutil.chown(base, "nobody")
    d = t.enter_context(slc.Daemon(ns, dir=base, args=["--user", "nobody"]))
    st = slc.proc_status(d.pid)
    assert st["Uid"].split()[0] == str(shutil.os.stat(base).st_uid), st["Uid"]
    assert st["Groups"] == "" or "0" not in st["Groups"].split()
    check_caps(d.pid, ns)
    d.rpc("bridge.add", name="br0")
    d.rpc("port.add", bridge="br0", name="p1")
    if os.stat("/dev/net/tun").st_mode & 0o006 == 0o006:
        d.rpc("port.add", bridge="br0", name="slct0", type="tap")
    assert d.stop() == 0
    assert not os.path.exists(d.socket)


def digest(path):
    with open(path, "rb") as f:
        return f.read()


@slc.test("a database that is corrupt, foreign or newer is left alone")
def _(t):
    d = t.enter_context(slc.tmpdir())
    db = d + "/sluice.db"
    daemon = t.enter_context(slc.Daemon(dir=d))
    daemon.rpc("bridge.add", name="br0")
    assert daemon.stop() == 0
    good = digest(db)

    with open(db, "r+b") as f:  # the middle of it
        f.seek(len(good) // 2)
        f.write(os.urandom(len(good) // 4))
    bad = digest(db)
    text = start_fails(d)
    assert db in text, text
    assert digest(db) == bad, "a corrupt file was changed"

    with open(db, "wb") as f:
        f.write(b"this is not a database, but somebody's letter\n" * 100)
    bad = digest(db)
    text = start_fails(d)
    assert db in text, text
    assert digest(db) == bad, "a foreign file was changed"

    with open(db, "wb") as f:
        f.write(good)
    with sqlite3.connect(db) as c:
        version = c.execute("PRAGMA user_version").fetchone()[0]
        c.execute("PRAGMA user_version = %d" % (version + 1))
    c.close()
    newer = digest(db)
    text = start_fails(d)
    assert db in text and ("newer" in text or str(version + 1) in text), text
    assert digest(db) == newer, "a newer database was changed"

    with open(db, "wb") as f:
        f.write(good)
    daemon.start()
    assert [b["name"] for b in daemon.rpc("bridge.list")] == ["br0"]


def small_fs(t, size):
    """A file system of a few KiB; unmounted with the test."""
    d = t.enter_context(slc.tmpdir())
    p = slc.run("mount", "-t", "tmpfs", "-o", "size=%s" % size, "slc", d,
                check=False)
    if p.returncode:
        raise slc.Skip("cannot mount a tmpfs: " + p.stderr.strip())
    t.callback(slc.run, "umount", "-l", d, check=False)
    return d


def fill(d):
    """Leaves no room on the file system."""
    fd = os.open(d + "/filler", os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(fd, b"x" * 4096)
    except OSError:
        pass
    finally:
        os.close(fd)


@slc.test("a read-only database: clear error, or it is left as it is")
def _(t):
    d = small_fs(t, "4m")
    daemon = t.enter_context(slc.Daemon(dir=d))
    daemon.rpc("bridge.add", name="br0")
    assert daemon.stop() == 0
    before = digest(d + "/sluice.db")
    slc.run("mount", "-o", "remount,ro", d)
    p = sluiced("--database", d + "/sluice.db", "--socket", "/tmp/slc-%d.sock"
                % os.getpid())
    assert p.returncode == 1 and "sluice.db" in p.stderr, p
    slc.run("mount", "-o", "remount,rw", d)
    assert digest(d + "/sluice.db") == before
    daemon.start()


@slc.test("a full disk: a change is refused, traffic goes on, nothing breaks")
def _(t):
    ns = t.enter_context(slc.Netns("full"))
    ns.veth("p1", "h1")
    ns.veth("p2", "h2")
    d = small_fs(t, "6m")
    daemon = t.enter_context(slc.Daemon(ns, dir=d))
    daemon.rpc("bridge.add", name="br0")
    daemon.rpc("port.add", bridge="br0", name="p1")
    daemon.rpc("port.add", bridge="br0", name="p2")
    h1 = t.enter_context(slc.Raw(ns, "h1"))
    h2 = t.enter_context(slc.Raw(ns, "h2"))
    fill(d)
    # The WAL may have room for a few changes yet.
    refusal, acknowledged = None, []
    for i in range(500):
        try:
            daemon.rpc("bridge.add", name="x%d" % i, memory_bytes=1 << 20)
            acknowledged.append("x%d" % i)
            daemon.rpc("bridge.del", name="x%d" % i)
            acknowledged.pop()
        except slc.RpcError as e:
            refusal = e
            break
    assert refusal, "500 changes on a full disk"
    assert refusal.code in (-32004, -32005), refusal
    frame = slc.frame(h2.mac, h1.mac, b"still here", size=100)
    h1.send(frame)
    assert h2.recv_match(lambda f: f == frame), "forwarding stopped"
    names = [b["name"] for b in daemon.rpc("bridge.list")]
    assert sorted(names) == sorted(["br0"] + acknowledged), names
    os.unlink(d + "/filler")
    daemon.rpc("bridge.add", name="later", memory_bytes=1 << 20)
    daemon.kill()
    daemon.start()
    names = [b["name"] for b in daemon.rpc("bridge.list")]
    assert sorted(names) == sorted(["br0", "later"] + acknowledged), names


@slc.test("a disk that is full from the start: error, exit 1")
def _(t):
    d = small_fs(t, "64k")
    fill(d)
    p = sluiced("--database", d + "/sluice.db", "--socket",
                "/tmp/slc-%d.sock" % os.getpid())
    assert p.returncode == 1 and "sluice.db" in p.stderr, p


@slc.test("readiness is reported to systemd")
def _(t):
    if "systemd" not in slc.features():
        raise slc.Skip("built without systemd")
    d = t.enter_context(slc.tmpdir())
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    t.callback(s.close)
    s.bind(d + "/notify")
    s.settimeout(10)
    os.environ["NOTIFY_SOCKET"] = d + "/notify"
    try:
        daemon = t.enter_context(slc.Daemon())
    finally:
        del os.environ["NOTIFY_SOCKET"]
    assert b"READY=1" in s.recv(4096)
    daemon.stop()
    assert b"STOPPING=1" in s.recv(4096)


@slc.test("ten idle ports use no CPU, and memory stays within its bound")
def _(t):
    ns = t.enter_context(slc.Netns("idle"))
    d = t.enter_context(slc.Daemon(ns))
    d.rpc("bridge.add", name="br0", memory_bytes="16M")
    for i in range(9):
        ns.veth("p%d" % i, "h%d" % i)
        d.rpc("port.add", bridge="br0", name="p%d" % i, pfc={
            "priorities": [3]}, rate_bps="200M")
    d.rpc("port.add", bridge="br0", name="slct0", type="tap")

    def is_idle():
        """Whether it was, for ten seconds."""
        wakeups = d.rpc("bridge.show", name="br0")["wakeups"]
        cpu, switches = slc.cpu_seconds(d.pid), slc.context_switches(d.pid)
        time.sleep(10)
        cpu = slc.cpu_seconds(d.pid) - cpu
        switches = slc.context_switches(d.pid) - switches
        wakeups = d.rpc("bridge.show", name="br0")["wakeups"] - wakeups
        slc.diag("idle for 10 s: %.2f s of CPU, %d switches, %d wake-ups of "
                 "the datapath" % (cpu, switches, wakeups))
        return cpu <= 0.03 and switches < 200 and wakeups <= 5
    slc.wait_for(is_idle, "it comes to rest", 40)
    rss = slc.rss_kib(d.pid)
    slc.diag("%d KiB resident" % rss)
    if "sanitizers" not in slc.features():
        # For ports of type afxdp there is as much again, locked in memory.
        xdp = "afxdp" in map(slc.port_type, ("p0", "p1"))
        bound = (16 * (2 if xdp else 1) + 32) * 1024
        assert rss < bound, "%d KiB resident" % rss


slc.main(needs=["ip"])
