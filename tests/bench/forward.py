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
import sys

from peers import PEERS, Bed, slc


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
