#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 in the middle of changes: what the daemon starts with afterwards is
what some prefix of the changes made, and the last one that was acknowledged is
in it.

One client sends numbered changes without waiting for each answer; a thread
reads the answers.  Change k is made so that the configuration after it tells
k, and is different from the one before in several rows at once: a change that
was applied by half would be seen.
"""
import json
import os
import random
import threading
import time

import slc

CHANGES = 1000
KILLS = 8


def change(k):
    """Bridge br0 says k in one number, and each of four ports says it again
    in another table."""
    ports = {"slcm%d" % i: {
        "type": "mem", "rate_bps": 1000000 + k,
        "pfc": {"priorities": [k % 8]},
        "groups": {str(k % 8): {"xoff_bytes": 65536 + k,
                                "xon_bytes": 32768 + k}},
        "queues": {"0": {"mode": "strict", "limit_bytes": 100000 + k}},
    } for i in range(4)}
    # The set of ports itself changes too.
    del ports["slcm%d" % (k % 4)]
    return {"bridges": {"br0": {"memory_bytes": 4 << 20, "mac_ageing_s": k,
                                "ports": ports}}}


def number_of(conf):
    """k of a whole configuration; fails when it is none that change() made."""
    if not conf["bridges"]:
        return 0
    assert list(conf["bridges"]) == ["br0"], conf
    k = conf["bridges"]["br0"]["mac_ageing_s"]
    want = change(k)["bridges"]["br0"]
    have = conf["bridges"]["br0"]
    assert sorted(have["ports"]) == sorted(want["ports"]), (k, have)
    for name, port in want["ports"].items():
        got = have["ports"][name]
        assert got["rate_bps"] == port["rate_bps"], (k, name, got)
        assert got["pfc"]["priorities"] == port["pfc"]["priorities"]
        group, = got["groups"].values()
        assert list(got["groups"]) == [str(k % 8)], (k, name, got)
        for member in ("xoff_bytes", "xon_bytes"):
            assert group[member] == port["groups"][str(k % 8)][member]
        assert got["queues"]["0"]["limit_bytes"] == 100000 + k, (k, got)
    return k


class Writer:
    """Sends changes first..last; .acknowledged is the last that was answered,
    and .sent the last that was (perhaps) sent."""

    def __init__(self, daemon, first, last):
        self.rpc = daemon.connect()
        self.acknowledged = self.sent = first - 1
        self.error = None
        self.first, self.last = first, last
        self.threads = [threading.Thread(target=f)
                        for f in (self._send, self._read)]
        for thread in self.threads:
            thread.start()

    def _send(self):
        try:
            for k in range(self.first, self.last + 1):
                self.sent = k
                self.rpc.send_raw(json.dumps({
                    "jsonrpc": "2.0", "id": k, "method": "config.apply",
                    "params": {"config": change(k)}}))
        except OSError:
            pass  # it was killed

    def _read(self):
        try:
            while self.acknowledged < self.last:
                answer = self.rpc.read()
                if "error" in answer:
                    self.error = answer
                    return
                assert answer["id"] == self.acknowledged + 1, answer
                self.acknowledged = answer["id"]
        except (EOFError, OSError, ValueError):
            pass  # it was killed

    def join(self):
        for thread in self.threads:
            thread.join(30)
            assert not thread.is_alive()
        self.rpc.close()
        assert not self.error, self.error


@slc.test("kill -9 in the middle of 1,000 changes, %d times" % KILLS)
def _(t):
    seed = int(os.environ.get("SLC_SEED", time.time_ns() % 1000000))
    rng = random.Random(seed)
    slc.diag("SLC_SEED=%d" % seed)
    daemon = t.enter_context(slc.Daemon())
    k, begun = 0, time.monotonic()
    for kill in range(KILLS):
        last = CHANGES if kill == KILLS - 1 else k + CHANGES // KILLS
        writer = Writer(daemon, k + 1, max(last, k + 1))
        # Either at a moment, or right at an acknowledgement.
        if kill % 2:
            time.sleep(rng.uniform(0.0, 0.25))
        else:
            want = k + rng.randint(1, CHANGES // KILLS)
            slc.wait_for(lambda: writer.acknowledged >= min(want, last) or
                         writer.error, "change %d" % want, 30, 0.0005)
        daemon.kill()
        writer.join()
        daemon.start()
        k = number_of(daemon.rpc("config.export"))
        assert writer.acknowledged <= k <= writer.sent, (
            "SLC_SEED=%d: started with change %d, but %d was acknowledged "
            "and %d sent" % (seed, k, writer.acknowledged, writer.sent))
    # What it says is also what runs.
    ports = {p["name"]: p for p in daemon.rpc("port.list")}
    assert sorted(ports) == sorted(change(k)["bridges"]["br0"]["ports"])
    assert all(p["rate_bps"] == 1000000 + k for p in ports.values())
    slc.diag("%d changes were applied, %.1f s" % (k, time.monotonic() - begun))
    daemon.rpc("config.apply", config=change(k + 1))
    assert number_of(daemon.rpc("config.export")) == k + 1


@slc.test("1,000 changes in one go, each acknowledged, none lost at the end")
def _(t):
    daemon = t.enter_context(slc.Daemon())
    began = time.monotonic()
    writer = Writer(daemon, 1, CHANGES)
    # However slow the disk is: as long as it gets on.
    while writer.acknowledged < CHANGES and not writer.error:
        seen = writer.acknowledged
        slc.wait_for(lambda: writer.acknowledged > seen or writer.error,
                     "the change after %d" % seen, 60)
    slc.diag("%.0f changes a second" % (CHANGES / (time.monotonic() - began)))
    daemon.kill()
    writer.join()
    daemon.start()
    assert number_of(daemon.rpc("config.export")) == CHANGES


@slc.test("applying an export changes nothing, also after a restart")
def _(t):
    daemon = t.enter_context(slc.Daemon())
    daemon.rpc("config.apply", config=change(77))
    whole = daemon.rpc("config.export")
    answer = daemon.rpc("config.apply", config=whole)
    assert answer == {"changed": [], "applied": True}, answer
    assert daemon.restart().rpc("config.export") == whole
    dry = daemon.rpc("config.apply", config=change(78), dry_run=True)
    assert dry["changed"] and not dry["applied"]
    assert daemon.rpc("config.export") == whole
    diff = daemon.rpc("config.apply", config=change(78))["changed"]
    assert diff == dry["changed"], "a dry run says something else"


@slc.test("a change that is refused changes nothing")
def _(t):
    daemon = t.enter_context(slc.Daemon())
    daemon.rpc("config.apply", config=change(5))
    whole = daemon.rpc("config.export")
    bad = change(6)
    bad["bridges"]["br1"] = {"ports": {"slc-none": {"type": "afpacket"}}}
    slc.refused(daemon.rpc, "config.apply", config=bad, code=-32001,
                names=["slc-none"])
    del bad["bridges"]["br1"]
    bad["bridges"]["br0"]["ports"]["slcm1"]["groups"]["6"]["xon_bytes"] = \
        1 << 30
    slc.refused(daemon.rpc, "config.apply", config=bad, names=["xon_bytes"])
    slc.refused(daemon.rpc, "port.add", bridge="br0", name="slc-none",
                code=-32001, names=["slc-none"])
    slc.refused(daemon.rpc, "port.add", bridge="br0", name="slcm0",
                type="mem", code=-32002)
    slc.refused(daemon.rpc, "bridge.add", name="br0", code=-32002)
    slc.refused(daemon.rpc, "port.set", name="slcm3", pause={"rx": True},
                names=["pause"])
    slc.refused(daemon.rpc, "queue.set", port="slcm3", queues={
        "1": {"mode": "ets", "weight": 30}}, names=["30"])
    assert daemon.rpc("config.export") == whole
    assert daemon.restart().rpc("config.export") == whole


slc.main(root=False)
