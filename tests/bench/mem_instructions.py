# SPDX-License-Identifier: Apache-2.0
"""Instructions that the datapath spends on a frame, counted by callgrind.

    python3 tests/bench/mem_instructions.py [--frames N] [--json]

Only dp_run() is counted, with the ports in memory that it calls.  Unlike a
time, the figure is the same on every run and on every machine with the same
compiler: this is what to compare before and after a change.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BENCH = os.path.join(os.environ.get("top_builddir", "."),
                     "tests/bench/mem_bench")


def count(ports, addresses, frames):
    """Instructions of one run over `frames` frames."""
    with tempfile.TemporaryDirectory(prefix="slc-") as folder:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=dp_run",
             "--callgrind-out-file=" + os.path.join(folder, "out"),
             BENCH, "--frames", str(frames), "--ports", str(ports),
             "--addresses", str(addresses)],
            stderr=subprocess.PIPE, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=200000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("mem_instructions: valgrind is missing: install the Debian "
              "package valgrind", file=sys.stderr)
        return 1
    rows = []
    for ports in 2, 64:
        for addresses in 1024, 65536:
            # A second run, twice as long: what is done once falls out.
            once = count(ports, addresses, args.frames)
            twice = count(ports, addresses, 2 * args.frames)
            rows.append({"ports": ports, "addresses": addresses,
                         "instructions": (twice - once) / args.frames})
    if args.json:
        print(json.dumps(rows, indent=1))
        return 0
    print("ports  addresses  instructions/frame")
    for row in rows:
        print("%(ports)5d  %(addresses)9d  %(instructions)18.1f" % row)
    return 0


sys.exit(main())
