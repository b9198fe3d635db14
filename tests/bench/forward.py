# SPDX-License-Identifier: Apache-2.0
"""Forwarding over veth, side by side with peers, in one run.

    sudo python3 tests/bench/forward.py [--sizes 64,1500] [--peers ...]
         [--runs 5] [--seconds 2] [--json FILE]

A generator in one namespace sends as fast as the kernel takes frames; the
peer forwards between two veth interfaces; the far interface's own counter says
what arrived.  The peers are measured in turn, round after round, and medians
are compared, because these machines are noisy.  Ratios first.

Peers, each in its best known configuration:

  sluice   sluiced, two afpacket ports, PFC on priority 3 enabled
  ovs      Open vSwitch's userspace datapath (datapath_type=netdev) on the same
           interfaces (AF_PACKET); the flow cache is on, as by default
  bridge   the Linux bridge in the kernel, no netfilter, no STP
  bare     tests/bench/bare_loop: receive ring to sendmmsg, nothing in between:
           the limit of this kernel interface

The generator and the softirq work that it causes are pinned to the first core,
the peer to the second.
"""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "system"))
import slc  # noqa: E402

GEN_CPU, PEER_CPU = "0", "1"
TEACH_S = 0.05


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
                   mac, "64", str(TEACH_S), "-", "1", "200")

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
def ovs(bed):
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


def measure(peer, size, seconds):
    """One run on a fresh bed: delivered and offered frames a second."""
    with contextlib.ExitStack() as stack:
        bed = Bed(stack)
        stack.enter_context(PEERS[peer](bed))
        bed.teach()
        return bed.load(size, seconds)


def rounds(args):
    """{size: {peer: [delivered, ...]}}, the peers interleaved."""
    got = {size: {peer: [] for peer in args.peers} for size in args.sizes}
    missing = set()
    for number in range(args.runs):
        for size in args.sizes:
            for peer in args.peers:
                if peer in missing:
                    continue
                try:
                    pps, offered = measure(peer, size, args.seconds)
                except slc.Skip as reason:
                    print("# %s left out: %s" % (peer, reason))
                    missing.add(peer)
                    continue
                got[size][peer].append(pps)
                print("# round %d, %d bytes, %s: %.0f of %.0f frames/s"
                      % (number + 1, size, peer, pps, offered), flush=True)
    return got


def report(got):
    """Prints the tables; returns the JSON form."""
    result = []
    for size, peers in got.items():
        medians = {p: statistics.median(v) for p, v in peers.items() if v}
        row = {"size": size, "ratios": {}, "peers": {}}
        print("\n%d-byte frames" % size)
        for peer, pps in medians.items():
            runs = peers[peer]
            row["peers"][peer] = {"median_pps": pps, "min_pps": min(runs),
                                  "max_pps": max(runs)}
        if "sluice" in medians:
            for peer, pps in medians.items():
                if peer != "sluice" and pps:
                    ratio = medians["sluice"] / pps
                    row["ratios"]["sluice/" + peer] = ratio
                    print("  %5.2f x %s" % (ratio, peer))
        for peer, v in row["peers"].items():
            print("  %-7s %9.0f frames/s   (%.0f to %.0f)"
                  % (peer, v["median_pps"], v["min_pps"], v["max_pps"]))
        result.append(row)
    return result


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--sizes", default="64,1500",
                    type=lambda s: [int(x) for x in s.split(",")])
    ap.add_argument("--peers", default="sluice,ovs,bare,bridge",
                    type=lambda s: s.split(","))
    ap.add_argument("--runs", type=int, default=5)
    ap.add_argument("--seconds", type=float, default=2.0)
    ap.add_argument("--json", help="write the result there too")
    args = ap.parse_args()
    unknown = [p for p in args.peers if p not in PEERS]
    if unknown:
        ap.error("no peer %r: allowed are %s"
                 % (unknown[0], ", ".join(PEERS)))
    if os.geteuid() != 0:
        ap.error("network namespaces need root")
    result = report(rounds(args))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
