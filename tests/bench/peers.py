# SPDX-License-Identifier: Apache-2.0
"""The peers of the benchmarks, and the bed that they forward on.

Each peer is a context manager that makes ready a switch between the
interfaces p1 and p2 of a bed, in its best known configuration, and yields its
pid (None for the kernel's own bridge).  Used by
all that measures here.
"""
import argparse
import contextlib
import functools
import json
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


def words(allowed):
    """For argparse: words with commas between them, each of those allowed."""
    def split(text):
        bad = [w for w in text.split(",") if w not in allowed]
        if bad:
            raise argparse.ArgumentTypeError(
                "%r: allowed are %s" % (bad[0], ", ".join(allowed)))
        return text.split(",")
    return split


def text_of(mac):
    return ":".join("%02x" % octet for octet in mac)


class Bed:
    """in --veth--> peer --veths--> out, each in its own namespace: what comes
    in at p1 goes to all other ports in turn, to as many addresses as are
    asked for (a power of two)."""

    def __init__(self, stack, mtu=1500, n_ports=2, n_addresses=1):
        self.mtu = mtu
        self.n_addresses = max(n_addresses, 1 << (n_ports - 2).bit_length())
        self.kind = "skb"   # what frames of the load are; see veth_probe
        self.sw = stack.enter_context(slc.Netns("bsw"))
        self.src = stack.enter_context(slc.Netns("bsrc"))
        self.dst = stack.enter_context(slc.Netns("bdst"))
        self.ports = ["p%d" % (i + 1) for i in range(n_ports)]
        self.outs = ["e%d" % (i + 1) for i in range(1, n_ports)]
        self.sw.veth("p1", "e1", self.src, mtu=mtu)
        for port, out in zip(self.ports[1:], self.outs):
            self.sw.veth(port, out, self.dst, mtu=mtu)
        self.src_mac = text_of(self.src.mac("e1"))
        # Not those of the interfaces: what has been counted and stamped is
        # not for the receiver's stack to look at too, on the switch's core.
        self.dst_mac = "02:00:00:01:00:00"

    def teach(self):
        """Lets the peer learn where all addresses are."""
        per_port = -(-self.n_addresses // len(self.outs))
        for i, out in enumerate(self.outs):
            first = i * per_port
            n = min(per_port, self.n_addresses - first)
            if n > 0:
                self.say(self.dst, out, "02:00:00:01:%02x:%02x"
                         % (first >> 8, first & 255), n)
        self.say(self.src, "e1", self.src_mac, 1)

    @staticmethod
    def say(ns, ifname, mac, n):
        """Frames from n addresses, each more than once."""
        pps = max(200, min(20 * n, 20000))
        ns.run(bench_program("veth_gen"), ifname, "ff:ff:ff:ff:ff:ff", mac,
               "64", str(max(TEACH_SECONDS, 2.5 * n / pps)), "-", str(n),
               str(pps))

    def delivered(self):
        total = 0
        with self.dst.entered(), open("/proc/thread-self/net/dev",
                                      encoding="ascii") as f:
            for line in f:
                name, _, numbers = line.partition(":")
                if name.strip() in self.outs:
                    total += int(numbers.split()[1])
        return total

    def probe(self, size, seconds, pps, flows=1):
        """A load at a rate: what veth_probe says, and how many arrived."""
        n0 = self.delivered()
        # A frame of the kernel's own is a page at most.
        kind = self.kind if size == "imix" or size <= 1514 else "skb"
        out = slc.run(*pinned(
            GEN_CPU, bench_program("veth_probe"), self.src.name, "e1",
            self.dst.name, "e2" if len(self.outs) == 1 else "any",
            self.dst_mac, self.src_mac, str(size), str(seconds),
            str(int(pps)), str(flows), str(self.n_addresses), kind),
            timeout=seconds + 20)
        got = json.loads(out.stdout)
        got["arrived"] = min(self.delivered() - n0, got["sent"])
        return got

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
def sluice(bed, port_type="afpacket", pfc=True):
    """PFC on priority 3, unless told otherwise."""
    with slc.Daemon(bed.sw, wrap=pinned(PEER_CPU)) as d:
        # Beside the reserves of so many ports, rings of a useful size.
        d.rpc("bridge.add", name="br0",
              memory_bytes=max(64, 16 * len(bed.ports)) << 20,
              max_frame_bytes=max(1522, bed.mtu + 18))
        if port_type == "afxdp":
            bed.kind = "xdp"
        for port in bed.ports:
            try:
                d.rpc("port.add", bridge="br0", name=port, type=port_type,
                      **({"pfc": {"priorities": [3]}} if pfc else {}))
            except slc.RpcError as e:
                raise slc.Skip("no %s port: %s" % (port_type, e)) from e
        yield d.pid


@contextlib.contextmanager
def bare(bed, program="bare_loop"):
    if len(bed.ports) != 2:
        raise slc.Skip("%s has two ports" % program)
    if program != "bare_loop":
        bed.kind = "xdp"
    loop = bed.sw.popen(*pinned(PEER_CPU, bench_program(program),
                                "p1", "p2"))
    time.sleep(0.5)
    if loop.poll() is not None:
        raise slc.Skip("%s ended with %d" % (program, loop.returncode))
    try:
        yield loop.pid
    finally:
        loop.terminate()
        loop.wait(10)


@contextlib.contextmanager
def bridge(bed, rps=False):
    """rps: forwards on the peer's core, not in what sends to it."""
    if rps:
        for port in bed.ports:
            bed.sw.run("sh", "-c", "echo %x > /sys/class/net/%s/queues/rx-0/"
                       "rps_cpus" % (1 << int(PEER_CPU), port))
    bed.sw.ip("link", "add", "br0", "type", "bridge", "stp_state", "0",
              "forward_delay", "0")
    bed.sw.ip("link", "set", "br0", "up")
    for port in bed.ports:
        bed.sw.ip("link", "set", port, "master", "br0")
    time.sleep(0.3)
    yield None


OVS = "/usr/lib/openvswitch-switch/ovs-vswitchd"
OVS_DPDK = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"


@contextlib.contextmanager
def ovs_on(ns, ports, config=(), program=OVS, wrap=pinned(PEER_CPU)):
    """Its userspace datapath in a namespace; `config`: other_config words;
    ports: names, each with the words that make its interface.  Yields its
    pid, and a function that asks it (ovs-appctl)."""
    for name in (program, "ovsdb-server", "ovs-vsctl", "ovsdb-tool"):
        if not slc.shutil.which(name):
            raise slc.Skip("no Open vSwitch: apt-get install "
                           "openvswitch-switch openvswitch-switch-dpdk")
    with contextlib.ExitStack() as stack:
        d = stack.enter_context(slc.tmpdir())
        env = dict(os.environ, OVS_RUNDIR=d, OVS_DBDIR=d, OVS_LOGDIR=d,
                   OVS_SYSCONFDIR=d)
        db = "unix:%s/db.sock" % d
        slc.run("ovsdb-tool", "create", d + "/conf.db",
                "/usr/share/openvswitch/vswitch.ovsschema", env=env)
        server = ns.popen("ovsdb-server", d + "/conf.db",
                          "--remote=p" + db, "-vconsole:off", env=env)
        stack.callback(end, server)
        slc.wait_for(lambda: os.path.exists(d + "/db.sock"), "ovsdb-server")
        slc.run("ovs-vsctl", "--db=" + db, "--no-wait", "init", env=env)
        for word in config:
            slc.run("ovs-vsctl", "--db=" + db, "--no-wait", "set",
                    "Open_vSwitch", ".", "other_config:" + word, env=env)
        switch = ns.popen(*wrap, program, db, "-vconsole:off",
                          "--unixctl=%s/vs.ctl" % d, env=env)
        stack.callback(end, switch)
        add = ["add-br", "br0", "--", "set", "bridge", "br0",
               "datapath_type=netdev",
               "other_config:mac-table-size=131072"]
        for name, words in ports.items():
            add += ["--", "add-port", "br0", name]
            if words:
                add += ["--", "set", "interface", name] + words
        try:
            slc.run("ovs-vsctl", "--db=" + db, "--timeout=60", *add, env=env,
                    timeout=70)
        except RuntimeError as e:
            raise slc.Skip("Open vSwitch did not make %d ports in 60 s"
                           % len(ports)) from e
        for name in ports:
            error = slc.run("ovs-vsctl", "--db=" + db, "get", "interface",
                            name, "error", env=env).stdout.strip()
            if error not in ("[]", ""):
                raise slc.Skip("Open vSwitch has no %s: %s" % (name, error))
        time.sleep(0.5)
        yield switch.pid, lambda *words: slc.run(
            "ovs-appctl", "--target=%s/vs.ctl" % d, *words, env=env).stdout


@contextlib.contextmanager
def ovs(bed, config=()):
    """On AF_PACKET: what its main thread polls, without a PMD thread."""
    with ovs_on(bed.sw, {port: [] for port in bed.ports}, config) as (pid, _):
        yield pid


@contextlib.contextmanager
def ovs_afxdp(bed):
    """On AF_XDP, generic or native as it can, its PMD thread on the peer's
    core."""
    words = ["type=afxdp", "options:xdp-mode=best-effort"]
    bed.kind = "xdp"
    with ovs_on(bed.sw, {port: words for port in bed.ports},
                ("pmd-cpu-mask=0x%x" % (1 << int(PEER_CPU)),)) as (pid, _):
        yield pid


@contextlib.contextmanager
def testpmd(bed):
    """DPDK's io forwarding between two af_packet ports, one polling core; a
    ring of 4096 frames each, which is where it lost nothing first."""
    program = slc.shutil.which("dpdk-testpmd")
    if len(bed.ports) != 2:
        raise slc.Skip("testpmd forwards between pairs of ports")
    if not program:
        raise slc.Skip("no testpmd: apt-get install dpdk-dev")
    frame = 2048 if bed.mtu <= 1500 else 16384
    args = [program, "--no-huge", "-m", "512", "--no-pci", "--no-shconf",
            "--no-telemetry", "--lcores=0@%s,1@%s" % (GEN_CPU, PEER_CPU)]
    for i, port in enumerate(("p1", "p2")):
        args.append("--vdev=net_af_packet%d,iface=%s,framesz=%d,blocksz=%d,"
                    "framecnt=%d" % (i, port, frame, frame * 8,
                                     4096 if frame == 2048 else 512))
    args += ["--", "--forward-mode=io", "--auto-start", "--stats-period=0",
             "--total-num-mbufs=16384", "--mbuf-size=%d" % (frame + 384),
             "--max-pkt-len=%d" % (bed.mtu + 18), "--no-flush-rx"]
    # It would end at the end of its input.
    pmd = bed.sw.popen(*args, stdin=subprocess.PIPE,
                       stdout=subprocess.DEVNULL)
    try:
        time.sleep(2.5)
        if pmd.poll() is not None:
            raise slc.Skip("testpmd ended with status %d" % pmd.returncode)
        yield pmd.pid
    finally:
        end(pmd)


def end(process):
    process.terminate()
    process.wait(10)


PEERS = {
    "sluice": sluice,
    "sluice-nopfc": functools.partial(sluice, pfc=False),
    "sluice-afxdp": functools.partial(sluice, port_type="afxdp"),
    "sluice-afxdp-nopfc": functools.partial(sluice, port_type="afxdp",
                                            pfc=False),
    "ovs": ovs,
    "ovs-afxdp": ovs_afxdp,
    "testpmd": testpmd,
    "bridge": bridge,
    "bridge-rps": functools.partial(bridge, rps=True),
    "bare": bare,
    "bare-afxdp": functools.partial(bare, program="bare_xdp"),
}
