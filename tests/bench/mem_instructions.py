#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions that the datapath spends on a frame, stage by stage.

    python3 tests/bench/mem_instructions.py [--frames N] [--json]
    python3 tests/bench/mem_instructions.py --write FILE

Counted by callgrind in dp_run() and what it calls.  Each case runs twice, once
twice as long: what is done once falls out.  "generator" is what makes the
frames, which is the benchmark and not the switch: the copy of the template and
the addresses.  --write makes the record anew that test_instructions.py holds the
datapath to.

Unlike a time the figure is the same on every machine, with the same compiler
and flags: with others the guard is skipped, and says so.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("top_builddir", ".")
BENCH = os.path.join(BUILD, "tests/bench/mem_bench")
RECORD = os.path.join(HERE, "instructions.json")
TOLERANCE = 1.05
# Of a stage so small that 5 % are less than one instruction.
LEAST = 1.0

# Functions by stage; one that is in none of them counts as "turn", what a turn
# costs beside its frames.  What is inlined counts where it is inlined.
STAGES = {
    "generator": ("stamp", "mem_rx", "memcpy", "memmove"),
    "rx": ("pkt_alloc_bulk", "rx_batch"),
    "parse": ("dp_parse", "take_plain", "take_by_dscp", "take_macctl",
              "dscp_prio"),
    "admit": ("dp_admit", "admit_each", "buf_admit_all", "buf_admit_slow"),
    "lookup": ("dp_lookup", "mactab_switch", "learn_key", "lookup_key",
               "learn_slow", "mactab_lookup"),
    "enqueue": ("dp_enqueue", "dp_enqueue_one", "dp_enqueue_to",
                "enqueue_closely", "enqueue_copy", "flood", "dp_act",
                "dp_rewrite_dscp", "dp_may_enqueue", "wred_decide"),
    "cable": ("dp_wire_run", "run_port", "deliver", "dp_wire_send",
              "dp_cable_put", "dp_cable_due", "dp_cable_take",
              "pkt_copy_out_open"),
    "tx": ("dp_tx", "tx_port", "mem_tx", "fill", "take_run", "settle",
           "sched_pick_ets", "sched_idle", "follow_changes", "dp_port_show"),
    "release": ("dp_release_sent", "release_closely", "buf_release_slow",
                "pkt_free_shared"),
}
STAGE_OF = {fn: stage for stage, fns in STAGES.items() for fn in fns}
ORDER = list(STAGES) + ["turn"]

CASES = (
    ("2 ports", ["--ports", "2", "--addresses", "1024"]),
    ("one priority", ["--ports", "2", "--addresses", "1024", "--prios", "1"]),
    ("PFC off", ["--ports", "2", "--addresses", "1024", "--no-pfc"]),
    ("64 ports", ["--ports", "64", "--addresses", "65536"]),
    # Dynamic limits, ETS, watchdogs, WRED, trust in DSCP, DSCP rewritten ...
    ("features", ["--ports", "2", "--addresses", "1024", "--with",
                  "alpha,ets,watch,wred,dscp,rewrite"]),
    # ... and what is for a queue in congestion, and for labs.
    ("all marked", ["--ports", "2", "--addresses", "1024", "--with", "mark"]),
    ("cables", ["--ports", "2", "--addresses", "1024", "--with", "cable"]),
)
# What a frame took in the switch, in the case "2 ports", before there was any
# of the features.  With all of them it is to take 10 % more at the most.
FOUNDATION = 515.0


def stage_of(function):
    function = re.sub(r"\.(constprop|part|isra|cold)\S*$", "", function)
    if "memcpy" in function or "memmove" in function:
        function = "memcpy"
    return STAGE_OF.get(function, "turn")


def self_costs(path):
    """Instructions by function, without what it calls."""
    names, costs, fn, is_call = {}, {}, None, False
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = re.match(r"fn=\((\d+)\)(?: (.*))?$", line)
            if m:
                if m.group(2):
                    names[m.group(1)] = m.group(2)
                fn = names[m.group(1)]
            elif line.startswith("cfn="):
                m = re.match(r"cfn=\((\d+)\)(?: (.*))?$", line)
                if m.group(2):
                    names[m.group(1)] = m.group(2)
            elif line.startswith("calls="):
                is_call = True
            elif re.match(r"[+*\-\d]\S* \d+$", line):
                if not is_call:
                    costs[fn] = costs.get(fn, 0) + int(line.split()[1])
                is_call = False
    return costs


def count(case, frames):
    """Instructions by stage of one run over so many frames."""
    # The C library picks its memcpy by processor: the same one for all.
    env = dict(os.environ, GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-AVX512F,"
               "-ERMS,-FSRM,-AVX_Fast_Unaligned_Load")
    with tempfile.TemporaryDirectory(prefix="slc-") as folder:
        out = os.path.join(folder, "out")
        subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=dp_run",
             "--callgrind-out-file=" + out, BENCH, "--frames", str(frames)]
            + case, stderr=subprocess.DEVNULL, env=env, check=True)
        costs = self_costs(out)
    stages = dict.fromkeys(ORDER, 0)
    for function, n in costs.items():
        stages[stage_of(function)] += n
    return stages


def per_frame(case, frames):
    once, twice = count(case, frames), count(case, 2 * frames)
    row = {s: round((twice[s] - once[s]) / frames, 1) for s in ORDER}
    row["switch"] = round(sum(v for s, v in row.items() if s != "generator"),
                          1)
    return row


def toolchain():
    """What the figures depend on beside the sources."""
    flags = ""
    with open(os.path.join(BUILD, "Makefile"), encoding="utf-8") as f:
        text = f.read()
    for name in "CFLAGS", "SAN_CFLAGS", "COV_CFLAGS", "FUZZ_CFLAGS":
        m = re.search(r"^%s = *(.*)$" % name, text, re.M)
        flags += " " + m.group(1) if m and m.group(1) else ""
    cc = re.search(r"^CC = *(.*)$", text, re.M).group(1)
    version = subprocess.run([*cc.split(), "--version"], text=True, check=True,
                             capture_output=True).stdout.split("\n")[0]
    machine = subprocess.run([*cc.split(), "-dumpmachine"], text=True,
                             check=True, capture_output=True).stdout.strip()
    return {"compiler": re.sub(r"^\S+ ", "", version), "machine": machine,
            "flags": flags.strip()}


def print_table(rows):
    print("%-10s" % "" + "".join("%14s" % name for name in rows))
    for stage in ORDER + ["switch"]:
        print("%-10s" % stage
              + "".join("%14.1f" % row[stage] for row in rows.values()))


def check(frames=20000):
    """The guard, as TAP: no stage costs more than recorded, and 5 %."""
    with open(RECORD, encoding="utf-8") as f:
        record = json.load(f)
    reason = None
    if not shutil.which("valgrind"):
        reason = "no valgrind"
    elif toolchain() != record["toolchain"]:
        reason = ("recorded with another compiler or other flags: %s"
                  % json.dumps(record["toolchain"]))
    print("1..%d" % len(CASES))
    failed = False
    for number, (name, case) in enumerate(CASES, 1):
        if reason:
            print("ok %d - instructions a frame, %s # SKIP %s"
                  % (number, name, reason))
            continue
        row, was = per_frame(case, frames), record["cases"][name]
        worse = [s for s in ORDER[1:] + ["switch"]
                 if row[s] > max(was[s] * TOLERANCE, was[s] + LEAST)]
        if name == "features":
            print("# %+.1f %% against the foundation"
                  % ((row["switch"] / FOUNDATION - 1) * 100))
            if row["switch"] > FOUNDATION * 1.1:
                worse.append("switch")
        print("%sok %d - instructions a frame, %s: %.1f"
              % ("not " if worse else "", number, name, row["switch"]))
        for s in worse:
            print("# %s: %.1f, recorded are %.1f" % (s, row[s], was[s]))
        if worse:
            print("# if that is what it must cost: make instructions")
        failed |= bool(worse)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--frames", type=int, default=20000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("mem_instructions: valgrind is missing: install the Debian "
              "package valgrind", file=sys.stderr)
        return 1
    rows = {name: per_frame(case, args.frames) for name, case in CASES}
    if args.write:
        with open(args.write, "w", encoding="utf-8") as f:
            json.dump({"toolchain": toolchain(), "cases": rows}, f, indent=1)
            f.write("\n")
    elif args.json:
        print(json.dumps(rows, indent=1))
    else:
        print_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
