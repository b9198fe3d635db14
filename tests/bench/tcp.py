# SPDX-License-Identifier: Apache-2.0
"""One TCP stream between two unmodified namespaces through each peer.

    sudo python3 tests/bench/tcp.py [--runs 3] [--seconds 3] [--json FILE]

Nothing is set on the hosts: offloads are what the kernel makes them.  Open
vSwitch gets userspace-tso-enable=true, without which its userspace datapath
cannot carry TCP between such hosts.  Peers in turn, medians, ratios first.
"""
import argparse
import contextlib
import functools
import json
import os
import statistics
import sys

from peers import Bed, bridge, ovs, slc, sluice

PEERS = {"sluice": sluice,
         "ovs": functools.partial(ovs, config=("userspace-tso-enable=true",)),
         "bridge": bridge}


def measure(peer, seconds):
    """Bits a second that the receiver counted."""
    with contextlib.ExitStack() as stack:
        bed = Bed(stack)
        bed.src.ip("addr", "add", "192.0.2.1/24", "dev", "e1")
        bed.dst.ip("addr", "add", "192.0.2.2/24", "dev", "e2")
        stack.enter_context(PEERS[peer](bed))
        bed.teach()
        server = bed.dst.popen("iperf3", "-s", "-1", "-B", "192.0.2.2",
                               stdout=slc.subprocess.DEVNULL)
        stack.callback(server.reap)
        slc.wait_for(lambda: "5201" in bed.dst.run("ss", "-ltn").stdout,
                     "iperf3 listens")
        out = bed.src.run("iperf3", "-c", "192.0.2.2", "-t", str(seconds),
                          "-J", timeout=seconds + 20)
        return json.loads(out.stdout)["end"]["sum_received"]["bits_per_second"]


def rounds(n, seconds):
    """{peer: [bits a second, ...]}, the peers interleaved."""
    got = {peer: [] for peer in PEERS}
    for number in range(n):
        for peer in list(got):
            try:
                bps = measure(peer, seconds)
            except slc.Skip as reason:
                print("# %s left out: %s" % (peer, reason))
                del got[peer]
                continue
            got[peer].append(bps)
            print("# round %d, TCP, %s: %.2f Gb/s"
                  % (number + 1, peer, bps / 1e9), flush=True)
    return got


def report(got):
    """Prints the table; returns its JSON form."""
    medians = {peer: statistics.median(v) for peer, v in got.items() if v}
    print("\nTCP, one stream")
    for peer in medians:
        if peer != "sluice" and "sluice" in medians:
            print("  %5.2f x %s" % (medians["sluice"] / medians[peer], peer))
    for peer, bps in medians.items():
        print("  %-7s %6.2f Gb/s   (%.2f to %.2f)"
              % (peer, bps / 1e9, min(got[peer]) / 1e9, max(got[peer]) / 1e9))
    return {"median_bps": medians, "runs_bps": got}


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--runs", type=int, default=3)
    ap.add_argument("--seconds", type=int, default=3)
    ap.add_argument("--json", help="write the result there too")
    args = ap.parse_args()
    if os.geteuid() != 0:
        ap.error("network namespaces need root")
    result = report(rounds(args.runs, args.seconds))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
