#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The topology of the demo as a test: the same code, and only what is counted
is asserted.  Shares and the times of events depend on how busy the machine
is; they are shown."""
import os
import random
import signal
import subprocess
import sys
import time

import slc

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import demo  # noqa: E402


def show(run):
    slc.diag("priority 3: %d sent, %d lost; priority 0: %d sent, %d lost" % (
        run.n_sent(demo.LOSSLESS), run.n_lost(demo.LOSSLESS),
        run.n_sent(demo.LOSSY), run.n_lost(demo.LOSSY)))
    slc.diag("share of priority 3: %.1f %%, kernel drops: %d" % (
        run.share(demo.LOSSLESS) * 100, run.kernel_drops()))
    slc.diag(demo.hop_table(run))


def check(verdicts):
    for text, ok, detail in verdicts:
        slc.diag("[%s] %s: %s" % ("ok" if ok else "NOT SO", text, detail))
    wrong = [text for text, ok, _ in verdicts if not ok]
    assert not wrong, "; ".join(wrong)


@slc.test("congestion spreads hop by hop and loses nothing of priority 3; "
          "without PFC it does")
def _(t):
    fabric = t.enter_context(demo.Fabric())
    run = fabric.load(True, 2.5, 1.5, 0.8)
    show(run)
    check(demo.counted(run, timing=False))
    fabric.set_pfc(False)
    run = fabric.load(False, 1.5, 1.0, 0)
    show(run)
    check(demo.without_pfc(run))


@slc.test("thresholds and headroom changed under load lose nothing")
def _(t):
    fabric = t.enter_context(demo.Fabric())
    rng = random.Random(1)
    changes = [0]

    def change():
        xoff = rng.randrange(64, 512) << 10
        fabric.rpc_all("buffer.set", group=demo.LOSSLESS, xoff_bytes=xoff,
                       xon_bytes=rng.randrange(1, xoff),
                       headroom=rng.randrange(3, 6) << 20)
        changes[0] += 1
    run = fabric.load(True, 2.5, 0.5, 0.7, meanwhile=change, n=3)
    show(run)
    slc.diag("%d changes of all ports" % changes[0])
    assert changes[0] > 2
    check(demo.counted(run, timing=False))


@slc.test("PFC taken off and put on under load leaves no one paused")
def _(t):
    fabric = t.enter_context(demo.Fabric())
    state = [True, 0]

    def toggle():
        state[0] = not state[0]
        state[1] += 1
        fabric.rpc_all("pfc.set", **{
            "enable" if state[0] else "disable": [demo.LOSSLESS]})
        time.sleep(0.2)
    run = fabric.load(True, 2.5, 0.5, 0.1, meanwhile=toggle, n=3)
    show(run)
    slc.diag("PFC was switched %d times" % state[1])
    assert state[1] > 2
    check([demo.every_xon(run)] + demo.afterwards(run))


DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo.py")


@slc.test("the demo refuses what it cannot do")
def _(t):
    p = slc.run(sys.executable, DEMO, "--seconds", "1", check=False)
    assert p.returncode == 2 and "--seconds 1" in p.stderr, p


@slc.test("the demo cleans up when it is interrupted")
def _(t):
    slc.program("sluiced")  # skips without
    p = t.enter_context(slc.popen(
        sys.executable, DEMO, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True))
    while "With PFC" not in (p.stdout.readline() or "With PFC"):
        pass

    def left():
        names = os.listdir("/run/netns")
        return [n for n in names if n.startswith("slc%dn" % p.pid)]
    slc.wait_for(left, "the demo has made its namespaces")
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=30)
    assert p.returncode == 128 + signal.SIGINT, (p.returncode, out, err)
    assert left() == [], left()


slc.main(root=True, needs=["ip"])
