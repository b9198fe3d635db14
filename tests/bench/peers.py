# SPDX-License-Identifier: Apache-2.0
"""The peers of the benchmarks, and the bed that they forward on.

Each peer is a context manager that makes ready a switch between the
interfaces p1 and p2 of a bed, in its best known configuration, and yields its
pid (None for the kernel's own bridge).  Used by
forward.py and tcp.py.
"""
import contextlib
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "system"))
import slc  # noqa: E402

GEN_CPU, PEER_CPU = "0", "1"
TEACH_SECONDS = 0.05


def bench_program(name):
    path = os.path.join(slc.TOP_BUILD, "tests", "bench", name)
    if not os.access(path, os.X_OK):
        raise slc.Skip("%s is not built: make bench-programs" % name)
    return os.path.abspath(path)


def pinned(cpu, *argv):
    return ("taskset", "-c", cpu) + argv


def text_of(mac):
    return ":".join("%02x" % octet for octet in mac)


class Bed:
    """in --veth--> peer --veth--> out, each in its own namespace."""

    def __init__(self, stack):
        self.sw = stack.enter_context(slc.Netns("bsw"))
        self.src = stack.enter_context(slc.Netns("bsrc"))
        self.dst = stack.enter_context(slc.Netns("bdst"))
        self.sw.veth("p1", "e1", self.src, mtu=1500)
        self.sw.veth("p2", "e2", self.dst, mtu=1500)
        self.src_mac = text_of(self.src.mac("e1"))
        self.dst_mac = text_of(self.dst.mac("e2"))

    def teach(self):
        """Lets the peer learn where both ends are."""
        for ns, ifname, mac in ((self.dst, "e2", self.dst_mac),
                                (self.src, "e1", self.src_mac)):
            ns.run(bench_program("veth_gen"), ifname, "ff:ff:ff:ff:ff:ff",
                   mac, "64", str(TEACH_SECONDS), "-", "1", "200")

    def delivered(self):
        text = self.dst.run("cat", "/sys/class/net/e2/statistics/rx_packets")
        return int(getattr(text, "stdout", text))

    def load(self, size, seconds):
        """Frames a second that arrive, over the middle of a full load."""
        gen = self.src.popen(*pinned(
            GEN_CPU, bench_program("veth_gen"), "e1", self.dst_mac,
            self.src_mac, str(size), str(seconds)),
            stdout=subprocess.PIPE, text=True)
        time.sleep(0.25)
        t0, n0 = time.monotonic(), self.delivered()
        time.sleep(seconds - 0.6)
        t1, n1 = time.monotonic(), self.delivered()
        out, _ = gen.communicate(timeout=seconds + 10)
        offered = int(out.split()[0]) / seconds
        return (n1 - n0) / (t1 - t0), offered


@contextlib.contextmanager
def sluice(bed):
    with slc.Daemon(bed.sw, wrap=pinned(PEER_CPU)) as d:
        d.rpc("bridge.add", name="br0")
        for port in ("p1", "p2"):
            d.rpc("port.add", bridge="br0", name=port, type="afpacket",
                  pfc={"priorities": [3]})
        yield d.pid


@contextlib.contextmanager
def bare(bed):
    loop = bed.sw.popen(*pinned(PEER_CPU, bench_program("bare_loop"),
                                "p1", "p2"))
    time.sleep(0.3)
    try:
        yield loop.pid
    finally:
        loop.terminate()
        loop.wait(10)


@contextlib.contextmanager
def bridge(bed):
    bed.sw.ip("link", "add", "br0", "type", "bridge", "stp_state", "0",
              "forward_delay", "0")
    bed.sw.ip("link", "set", "br0", "up")
    for port in ("p1", "p2"):
        bed.sw.ip("link", "set", port, "master", "br0")
    time.sleep(0.3)
    yield None


@contextlib.contextmanager
def ovs(bed, config=()):
    """The userspace datapath; `config`: other_config words."""
    for name in ("ovs-vswitchd", "ovsdb-server", "ovs-vsctl", "ovsdb-tool"):
        if not slc.shutil.which(name):
            raise slc.Skip("no Open vSwitch: apt-get install "
                           "openvswitch-switch")
    with contextlib.ExitStack() as stack:
        d = stack.enter_context(slc.tmpdir())
        env = dict(os.environ, OVS_RUNDIR=d, OVS_DBDIR=d, OVS_LOGDIR=d,
                   OVS_SYSCONFDIR=d)
        db = "unix:%s/db.sock" % d
        slc.run("ovsdb-tool", "create", d + "/conf.db",
                "/usr/share/openvswitch/vswitch.ovsschema", env=env)
        server = bed.sw.popen("ovsdb-server", d + "/conf.db",
                              "--remote=p" + db, "-vconsole:off", env=env)
        stack.callback(end, server)
        slc.wait_for(lambda: os.path.exists(d + "/db.sock"), "ovsdb-server")
        slc.run("ovs-vsctl", "--db=" + db, "--no-wait", "init", env=env)
        for word in config:
            slc.run("ovs-vsctl", "--db=" + db, "--no-wait", "set",
                    "Open_vSwitch", ".", "other_config:" + word, env=env)
        switch = bed.sw.popen(*pinned(
            PEER_CPU, "ovs-vswitchd", db, "-vconsole:off",
            "--unixctl=%s/vs.ctl" % d), env=env)
        stack.callback(end, switch)
        slc.run("ovs-vsctl", "--db=" + db, "add-br", "br0", "--", "set",
                "bridge", "br0", "datapath_type=netdev", "--", "add-port",
                "br0", "p1", "--", "add-port", "br0", "p2", env=env)
        time.sleep(0.5)
        yield switch.pid


def end(process):
    process.terminate()
    process.wait(10)


PEERS = {"sluice": sluice, "ovs": ovs, "bridge": bridge, "bare": bare}
