#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All benchmarks, side by side with the peers, in one run: a table, and JSON.

    sudo python3 tests/bench/run.py [--only mem,null,rate,tcp,pause,flows]
         [--peers ...] [--sizes 64,1500] [--flows 1] [--ports 2]
         [--addresses 1] [--rounds 3] [--full] [--loss 0.001] [--json FILE]

  mem    the datapath alone, between ports in memory: 2 to 64 ports, 1 k to
         64 k addresses, one priority or eight, PFC off and on; instructions
         and cycles of a frame, stage by stage; bridges on several cores
  null   beside it, Open vSwitch with DPDK between two net_null ports
  rate   over veth, each size with each number of flows, and the first size
         with each further number of ports (frames from one to all others) and
         of addresses: the highest rate at which no more than --loss of the
         frames are lost (a binary search, as in RFC 2544), what arrives at
         full load, the latency at half the rate (kernel's stamps: p50, p99,
         p99.9), processor time per million frames, resident memory
  tcp    a TCP stream between unmodified namespaces
  pause  what a pause that is received is longer than it should be, and how
         soon it begins (pause_reaction.py)
  flows  flow tables beside Open vSwitch's, a hundred thousand entries and a
         million flows (flows.py); with --full, or when asked for

Peers are measured in turn, round after round; medians are compared, and the
range of the rounds is shown.  Ratios come first: of rates above 1.00, and of
times and memory below 1.00, Sluice does better.  How each peer is set up:
peers.py.  The load and its softirq work are on the first core, the peer on
the second.  The default takes about a quarter of an hour; --full is all sizes,
flows, ports and addresses, and takes more than an hour.
"""
import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import time

import mem_instructions
import pause_reaction
import tcp
from peers import (OVS_DPDK, PEER_CPU, PEERS, Bed, bench_program, ovs_on,
                   pinned, slc, words)

PARTS = ("mem", "null", "rate", "tcp", "pause", "flows")
DEFAULT_PEERS = "sluice,sluice-nopfc,sluice-afxdp,sluice-afxdp-nopfc,ovs," \
    "ovs-afxdp,testpmd,bridge,bridge-rps,bare,bare-afxdp"
TRIAL_S = 0.4   # of the search
STEPS = 6       # of the search: within 2 % of the full load
TRIES = 2       # of a rate: a virtual machine stands still now and then
LATENCY_S = 1.0
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pid):
    """Processor time of a process; of the whole machine without one, but for
    what is idle."""
    if pid is None:
        with open("/proc/stat", encoding="ascii") as f:
            words = [int(w) for w in f.readline().split()[1:9]]
        return (sum(words) - words[3] - words[4] - words[7]) / TICKS
    with open("/proc/%d/stat" % pid, encoding="ascii") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICKS


def rss_mb(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024


# --- over veth ---------------------------------------------------------------


def passes(bed, size, pps, flows, loss):
    """The rate that was sent without too much loss; 0 when there was, each
    time: what a machine that stood still lost is no limit of the switch."""
    for _ in range(TRIES):
        got = bed.probe(size, TRIAL_S, pps, flows)
        if got["arrived"] >= got["sent"] * (1 - loss) > 0:
            # The load itself may not have kept up with what it was told.
            return min(pps, got["sent"] / TRIAL_S)
    return 0


def lossless_rate(bed, size, flows, full, loss):
    """The highest rate that passes, and what passed of it at full load."""
    low, high, pps = 0.0, full, full * 0.98
    if full < 100:  # nothing to speak of passes
        return 0.0
    for _ in range(STEPS):
        passed = passes(bed, size, pps, flows, loss)
        if passed:
            low = max(low, passed)
        else:
            high = pps
        if high - low < full * 0.02:
            break
        pps = (low + high) / 2 if low else pps * 0.7
    return low


def measure_rate(peer, key, loss):
    size, flows, ports, addresses = key
    with contextlib.ExitStack() as stack:
        octets = 1500 if size == "imix" else size
        bed = Bed(stack, mtu=9000 if octets > 1514 else 1500, n_ports=ports,
                  n_addresses=addresses)
        # Sizes are those of Ethernet, with the FCS that no one sees here.
        size = size if size == "imix" else min(size - 4, bed.mtu + 14)
        pid = stack.enter_context(PEERS[peer](bed))
        bed.teach()
        t0, n0 = cpu_s(pid), bed.delivered()
        got = bed.probe(size, 1.0, 3e6, flows)
        cpu = cpu_s(pid) - t0
        full = got["arrived"] / 1.0
        row = {"full_pps": full,
               "cpu_s_per_m": cpu * 1e6 / max(1, bed.delivered() - n0),
               "lossless_pps": lossless_rate(bed, size, flows, full, loss)}
        # One frame after the other, as a packet socket sends them: those of
        # the kernel's own come in handfuls.
        bed.kind = "skb"
        got = bed.probe(size, LATENCY_S, max(1000, row["lossless_pps"] / 2),
                        flows)
        for p in "p50", "p99", "p999":
            row[p + "_us"] = got[p + "_ns"] / 1e3
        if pid is not None:
            row["rss_mb"] = rss_mb(pid)
        return row


COLUMNS = (("lossless_pps", "lossless/s", "%10.0f"),
           ("full_pps", "full/s", "%9.0f"),
           ("p50_us", "p50 us", "%7.1f"), ("p99_us", "p99 us", "%7.1f"),
           ("p999_us", "p99.9", "%7.0f"),
           ("cpu_s_per_m", "cpu s/M", "%7.2f"), ("rss_mb", "RSS MB", "%6.0f"))
RATIOS = (("lossless_pps", "rate"), ("p99_us", "p99"),
          ("cpu_s_per_m", "cpu"), ("rss_mb", "RSS"))


def title_of(key):
    size, flows, ports, addresses = key
    return "%s, %d flow%s, %d ports, %d address%s" % (
        "internet mix" if size == "imix" else "%d octets" % size,
        flows, "" if flows == 1 else "s", ports, addresses,
        "" if addresses == 1 else "es")


def ratios_to(own, row):
    """Of ours to theirs, where both have it."""
    return {c: own[c] / row[c] for c, _ in RATIOS
            if own and own.get(c) and row.get(c)}


def width(form):
    return int(re.search(r"\d+", form).group())


def show_rate(key, peers):
    """One table; returns its JSON form."""
    print("\n%s: medians (lowest to highest lossless rate)\n"
          "  %-18s sluice's is so many times the peer's" % (title_of(key), ""))
    print("  %-18s" % "" + " ".join("%5s" % title for _, title in RATIOS)
          + "  | " + " ".join("%*s" % (width(f), title)
                             for _, title, f in COLUMNS))
    medians = {peer: {c: statistics.median(r[c] for r in rows)
                      for c, _, _ in COLUMNS if c in rows[0]}
               for peer, rows in peers.items() if rows}
    result = []
    for peer, row in medians.items():
        rates = [r["lossless_pps"] for r in peers[peer]]
        ratios = ratios_to(medians.get("sluice-afxdp" if "afxdp" in peer
                                       else "sluice"), row)
        print("  %-18s" % peer
              + " ".join("%5.2f" % ratios[c] if c in ratios else "    -"
                         for c, _ in RATIOS) + "  | "
              + " ".join(f % row[c] if c in row else " " * width(f)
                         for c, _, f in COLUMNS)
              + "   (%.0f to %.0f)" % (min(rates), max(rates)))
        result.append({"size": key[0], "flows": key[1], "ports": key[2],
                       "addresses": key[3], "peer": peer,
                       "sluice_ratios": ratios, "median": row,
                       "rounds": peers[peer]})
    return result


def rate_keys(args):
    """What is measured: see the head of this file."""
    first = args.sizes[0], args.flows[0], args.ports[0], args.addresses[0]
    keys = [(size, flows, *first[2:]) for size in args.sizes
            for flows in args.flows]
    keys += [(*first[:2], ports, first[3]) for ports in args.ports[1:]]
    return keys + [(*first[:3], n) for n in args.addresses[1:]]


def part_rate(args):
    keys = rate_keys(args)
    got = {key: {peer: [] for peer in args.peers} for key in keys}
    missing = set()
    for number in range(args.rounds):
        for key in keys:
            for peer in args.peers:
                if (key, peer) in missing:
                    continue
                try:
                    row = measure_rate(peer, key, args.loss)
                except slc.Skip as reason:
                    print("# %s, %s left out: %s"
                          % (title_of(key), peer, reason))
                    missing.add((key, peer))
                    continue
                got[key][peer].append(row)
                print("# round %d, %s, %s: %.0f frames/s without loss"
                      % (number + 1, title_of(key), peer,
                         row["lossless_pps"]), flush=True)
    return [row for key in keys for row in show_rate(key, got[key])]


# --- in the process ----------------------------------------------------------


def cycles():
    """Of each stage, and of the switch."""
    out = subprocess.run([*pinned(PEER_CPU), bench_program("mem_cycles"),
                          "--json"], check=True, capture_output=True,
                         text=True)
    got = json.loads(out.stdout)
    cases = got["cases"]
    print("\n%s a frame; %.2f are a ns" % (got["unit"], got["per_ns"]))
    print("%-10s" % "" + "".join("%14s" % name for name in cases))
    for stage in next(iter(cases.values())):
        print("%-10s" % stage
              + "".join("%14.1f" % row[stage] for row in cases.values()))
    return got


def bridges():
    """As many bridges as there are cores, each on its own."""
    out = subprocess.run([bench_program("mem_bench"), "--json", "--threads",
                          str(os.cpu_count()), "--seconds", "0.5", "--runs",
                          "3"], check=True, capture_output=True, text=True)
    got = json.loads(out.stdout)
    print("\nbridges, each on a core of its own: Mpps, times one")
    for row in got:
        print("  %2d %8.2f %6.2f" % (row["bridges"], row["mpps"],
                                     row["speedup"]))
    return got


def part_mem(args):
    rows = []
    for words in ((), ("--prios", "1"), ("--no-pfc",)):
        out = subprocess.run(
            [*pinned(PEER_CPU), bench_program("mem_bench"), "--json",
             "--seconds", "0.3", "--runs", str(args.rounds),
             *(["--full"] if args.full else []), *words],
            check=True, capture_output=True, text=True)
        for row in json.loads(out.stdout):
            rows.append(dict(row, prios=1 if "--prios" in words else 8,
                             pfc="--no-pfc" not in words))
    print("\nmem to mem, 64 octets, one core (best of %d)\n"
          "  ports addresses priorities  PFC    Mpps  ns" % args.rounds)
    for r in rows:
        print("  %5d %9d %10d %4s  %6.2f  %.0f"
              % (r["ports"], r["addresses"], r["prios"],
                 "on" if r["pfc"] else "off", r["mpps"], 1e3 / r["mpps"]))
    result = {"mpps": rows, "cycles": cycles(), "bridges": bridges()}
    if slc.shutil.which("valgrind"):
        mem_instructions.BENCH = bench_program("mem_bench")
        mem_instructions.BUILD = slc.TOP_BUILD
        cases = {name: mem_instructions.per_frame(case, 20000)
                 for name, case in mem_instructions.CASES}
        print("\ninstructions a frame")
        mem_instructions.print_table(cases)
        result["instructions"] = cases
    return result


@contextlib.contextmanager
def huge_pages(n):
    """Open vSwitch 3.1 has DPDK in memory of that kind only."""
    path = "/proc/sys/vm/nr_hugepages"
    with open(path, encoding="ascii") as f:
        before = int(f.read())

    def reserve(pages):
        with open(path, "w", encoding="ascii") as f:
            f.write(str(pages))
        with open(path, encoding="ascii") as f:
            return int(f.read())

    try:
        if reserve(before + n) < before + n:
            raise slc.Skip("no %d huge pages to be had" % n)
        yield
    finally:
        reserve(before)


def pmd_cpu_s(pid):
    """Processor time of the PMD thread."""
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/stat" % (pid, task),
                  encoding="ascii") as f:
            head, words = f.read().rsplit(")", 1)
        if "pmd-c" in head:
            return sum(int(w) for w in words.split()[11:13]) / TICKS
    raise slc.Skip("Open vSwitch has no PMD thread")


def null_rate(ns):
    """Frames a second of a core that Open vSwitch moves between two net_null
    ports, each of which makes as many as it is asked for, all alike, and
    writes nothing to them; NORMAL forwarding, one PMD thread."""
    ports = {"null%d" % i: ["type=dpdk", "options:dpdk-devargs=net_null%d" % i]
             for i in (0, 1)}
    config = ("dpdk-init=true", "dpdk-extra=--no-pci --no-telemetry",
              "pmd-cpu-mask=0x%x" % (1 << int(PEER_CPU)),
              "dpdk-lcore-mask=0x1")
    with ovs_on(ns, ports, config, program=OVS_DPDK, wrap=()) as (pid, ask):
        time.sleep(1)
        ask("dpif-netdev/pmd-stats-clear")
        t0 = pmd_cpu_s(pid)
        time.sleep(2)
        text = ask("dpif-netdev/pmd-perf-show")
        cpu = pmd_cpu_s(pid) - t0
    rx = re.search(r"Rx packets:\s+(\d+) ", text)
    tx = re.search(r"Tx packets:\s+(\d+) ", text)
    if not rx or not tx or cpu <= 0:
        raise slc.Skip("Open vSwitch says nothing of its PMD thread")
    return {"rx_mpps": int(rx.group(1)) / cpu / 1e6,
            "tx_mpps": int(tx.group(1)) / cpu / 1e6}


def part_null(args):
    ours, theirs = [], []
    with slc.Netns("null") as ns, huge_pages(512):
        for _ in range(args.rounds):
            out = subprocess.run(
                [*pinned(PEER_CPU), bench_program("mem_bench"), "--json",
                 "--seconds", "0.5", "--runs", "1", "--prios", "1"],
                check=True, capture_output=True, text=True)
            ours.append(json.loads(out.stdout)[0]["mpps"])
            try:
                theirs.append(null_rate(ns))
            except (slc.Skip, RuntimeError) as reason:
                print("# net_null left out: %s" % str(reason).split("\n")[0])
                return None
    rx = statistics.median(t["rx_mpps"] for t in theirs)
    mine = statistics.median(ours)
    print("\nthe datapath alone, two ports, one priority, NORMAL\n"
          "  %.2f x Open vSwitch with net_null ports\n"
          "  sluice %6.2f Mpps (%.2f to %.2f)   ovs %6.2f Mpps (%.2f to %.2f)"
          % (mine / rx, mine, min(ours), max(ours), rx,
             min(t["rx_mpps"] for t in theirs),
             max(t["rx_mpps"] for t in theirs)))
    return {"ratio": mine / rx, "sluice_mpps": ours, "ovs": theirs}


# --- what other scripts measure ----------------------------------------------


def part_tcp(args):
    got = tcp.rounds(args.rounds, 2)
    return tcp.report(got)


def part_pause(args):
    out = subprocess.run(
        [sys.executable, os.path.join(os.path.dirname(__file__),
                                      "pause_jitter.py"),
         "--json", "--pauses", "300" if args.full else "100"],
        check=True, capture_output=True, text=True)
    got = json.loads(out.stdout)
    print("\nwhat a pause is longer than it should be, us (of it, a frame's "
          "own time)")
    for r in got["cases"]:
        e = r["error_ns"]
        print("  %-5s p50 %7.1f  p99 %7.1f  max %7.1f   a frame %7.1f"
              % (r["rate"], e["p50"] / 1e3, e["p99"] / 1e3, e["max"] / 1e3,
                 r["frame_ns"] / 1e3))
    out = subprocess.run(
        [sys.executable, os.path.join(os.path.dirname(__file__),
                                      "pause_reaction.py"),
         "--json", "--samples", "1000" if args.full else "200"],
        check=True, stdout=subprocess.PIPE, text=True)
    got["reaction"] = json.loads(out.stdout)["cases"]
    pause_reaction.table(got["reaction"])
    for row in got["reaction"]:
        del row["raw"]
    return got


def part_flows(args):
    with slc.tmpdir() as folder:
        path = os.path.join(folder, "flows.json")
        subprocess.run(
            [sys.executable, os.path.join(os.path.dirname(__file__),
                                          "flows.py"),
             "--rounds", str(args.rounds), "--json", path], check=True)
        with open(path, encoding="utf-8") as f:
            return json.load(f)


def within(low, high, text):
    """A whole number; says what is allowed otherwise."""
    if not text.isdigit() or not low <= int(text) <= high:
        raise argparse.ArgumentTypeError("%r: allowed are %d to %d"
                                         % (text, low, high))
    return int(text)


def number(low, high):
    return lambda text: within(low, high, text)


def numbers(low, high):
    return lambda text: [within(low, high, w) for w in text.split(",")]


def sizes(text):
    return [w if w == "imix" else within(64, 9018, w)
            for w in text.split(",")]


def addresses(text):
    """Powers of two: so the load spreads over all of them."""
    got = numbers(1, 65536)(text)
    bad = [n for n in got if n & (n - 1)]
    if bad:
        raise argparse.ArgumentTypeError("%d: allowed are powers of two"
                                         % bad[0])
    return got


def share(text):
    try:
        got = float(text)
    except ValueError:
        got = -1
    if not 0 <= got < 1:
        raise argparse.ArgumentTypeError("%r: allowed are 0 to less than 1"
                                         % text)
    return got


def writable(path):
    """Known before the run, not after it."""
    try:
        with open(path, "a", encoding="utf-8"):
            return path
    except OSError as e:
        raise argparse.ArgumentTypeError("%s: %s" % (path, e.strerror)) from e


def parse_args():
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    ap.add_argument("--only", type=words(PARTS),
                    help="parts: " + ",".join(PARTS))
    ap.add_argument("--peers", default=DEFAULT_PEERS.split(","),
                    type=words(PEERS), help="of " + ",".join(PEERS))
    ap.add_argument("--sizes", type=sizes,
                    help="octets with FCS, 64 to 9018, or imix")
    ap.add_argument("--flows", type=numbers(1, 1000000),
                    help="1 to 1000000")
    ap.add_argument("--ports", type=numbers(2, 64), help="2 to 64")
    ap.add_argument("--addresses", type=addresses,
                    help="powers of two, 1 to 65536; one a port at least")
    ap.add_argument("--rounds", type=number(1, 1000))
    ap.add_argument("--loss", type=share, default=0.001,
                    help="share of the frames that may be lost")
    ap.add_argument("--full", action="store_true")
    ap.add_argument("--json", type=writable,
                    help="write the result there too")
    args = ap.parse_args()
    if os.geteuid() != 0:
        ap.error("network namespaces need root")
    args.sizes = args.sizes or ([64, 256, 1500, 9000, "imix"] if args.full
                                else [64, 1500])
    args.flows = args.flows or ([1, 1000, 1000000] if args.full else [1])
    args.ports = args.ports or ([2, 8, 64] if args.full else [2])
    args.addresses = args.addresses or ([1, 1024, 65536] if args.full
                                        else [1])
    args.rounds = args.rounds or 3
    return args


def main():
    args = parse_args()
    result = {"machine": {"cores": os.cpu_count(),
                          "kernel": os.uname().release,
                          "load": os.getloadavg()[0]}}
    for part in PARTS:
        if part in (args.only or (PARTS if args.full else PARTS[:-1])):
            result[part] = globals()["part_" + part](args)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
            f.write("\n")
    if result.get("rate") == []:
        print("run.py: nothing could be measured: see what was left out",
              file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except slc.Skip as reason:
        print("run.py: %s" % reason, file=sys.stderr)
        sys.exit(3)
