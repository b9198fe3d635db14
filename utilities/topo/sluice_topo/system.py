# SPDX-License-Identifier: Apache-2.0
"""Commands, processes and network namespaces of the machine."""
import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import time

from .errors import CannotError, TopoError

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)
# Where our programs are: set by the script that starts us.
FOLDERS = []


def program(name):
    """The path of one of our programs: as the environment says (SLUICED=...),
    of the tree that we are started from, or of the system."""
    override = os.environ.get(name.upper().replace("-", "_"))
    if override:
        return override
    top = os.environ.get("top_builddir")
    folders = [os.path.join(top, d) for d in ("vswitchd", "utilities")] \
        if top else []
    for folder in folders + FOLDERS:
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return os.path.abspath(path)
    found = shutil.which(name, path=os.environ.get("PATH", "") +
                         ":/usr/local/sbin:/usr/sbin:/sbin")
    if not found:
        raise CannotError("there is no program %s" % name)
    return found


def need(*commands):
    for command in commands:
        if not shutil.which(command):
            raise CannotError("the command %s is missing%s" % (
                command, ": install the Debian package iproute2"
                if command == "ip" else ""))


def need_root():
    if os.geteuid() != 0:
        raise CannotError("only root can make network namespaces and links: "
                          "sudo sluice-topo ...")
    with open("/proc/self/status") as f:
        caps = next(int(line.split()[1], 16) for line in f
                    if line.startswith("CapEff"))
    for bit, name in ((12, "CAP_NET_ADMIN"), (21, "CAP_SYS_ADMIN")):
        if not caps >> bit & 1:
            raise CannotError("%s is missing: network namespaces and links "
                              "cannot be made" % name)


def run(*argv, check=True, timeout=60, **kw):
    try:
        p = subprocess.run(argv, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=timeout,
                           stdin=None if "input" in kw else
                           subprocess.DEVNULL, **kw)
    except FileNotFoundError:
        raise CannotError("the command %s is missing" % argv[0])
    except subprocess.TimeoutExpired:
        raise TopoError("%s: no end within %d s" % (" ".join(argv), timeout))
    if check and p.returncode:
        raise TopoError("%s: %s" % (" ".join(argv[:6]),
                                    (p.stderr or p.stdout).strip() or
                                    "exit %d" % p.returncode))
    return p


def wait_for(fn, what, timeout, step=0.01):
    end = time.monotonic() + timeout
    while True:
        value = fn()
        if value:
            return value
        if time.monotonic() > end:
            raise TopoError("%s: not within %g s" % (what, timeout))
        time.sleep(step)


# ------------------------------------------------------------- processes ---

def started(pid):
    """When a process was started, in clock ticks since boot, which no other
    process of that pid shares; None when there is none (a dead one that
    nobody waited for counts as none)."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def is_alive(entry):
    """Whether the process of a journal's entry still runs."""
    return started(entry["pid"]) == entry["started"]


def end(entries, grace=4.0):
    """Ends processes, and waits until they are gone."""
    alive = [e for e in entries if is_alive(e)]
    for sig, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, 4.0)):
        for e in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(e["pid"], sig)
        until = time.monotonic() + seconds
        while alive and time.monotonic() < until:
            _reap()
            alive = [e for e in alive if is_alive(e)]
            if alive:
                time.sleep(0.01)
        if not alive:
            return
    raise TopoError("process %d does not end" % alive[0]["pid"])


_children = []


def spawn(argv, log, **kw):
    """A process that outlives us, in a session of its own."""
    with open(log, "ab") as out:
        p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out,
                             stderr=out, start_new_session=True, **kw)
    _children.append(p)
    return p


def _reap():
    for p in _children[:]:
        if p.poll() is not None:
            _children.remove(p)


def reap():
    _reap()


# ------------------------------------------------------------ namespaces ---

@contextlib.contextmanager
def inside(path):
    """This thread is in the network namespace at a path meanwhile."""
    old = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        new = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _setns(new)
            yield
        finally:
            _setns(old)
            os.close(new)
    finally:
        os.close(old)


def _setns(fd):
    if _libc.setns(fd, CLONE_NEWNET):
        n = ctypes.get_errno()
        raise OSError(n, os.strerror(n))


def quiet(path):
    """No IPv6 of the kernel's own in a namespace: no neighbour discovery or
    router solicitations between the frames of a laboratory."""
    with inside(path):
        for which in ("all", "default"):
            with contextlib.suppress(FileNotFoundError):
                with open("/proc/sys/net/ipv6/conf/%s/disable_ipv6" % which,
                          "w") as f:
                    f.write("1")


def batch(lines):
    """Many changes of links by one process of ip(8); stops at the first that
    does not work.  BatchError.done says how many did."""
    p = run("ip", "-batch", "-", input="\n".join(lines) + "\n", check=False)
    if p.returncode:
        text = p.stderr.strip()
        m = re.search(r"^Command failed -:(\d+)", text, re.M)
        done = int(m.group(1)) - 1 if m else 0
        raise BatchError("ip %s: %s" % (lines[done], text.split("\n")[0]),
                         done)


class BatchError(TopoError):
    def __init__(self, message, done):
        super().__init__(message)
        self.done = done
