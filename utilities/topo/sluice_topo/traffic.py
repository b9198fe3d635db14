# SPDX-License-Identifier: Apache-2.0
"""The run of a topology: every host starts its probe, all start together, and
when every switch is quiet again what everyone counted is collected."""
import contextlib
import json
import os
import select
import subprocess
import time

from . import config, expect, lab, values
from .errors import FileError, TopoError, UsageError
from .rpc import Steady

READY_S = 20.0
SETTLE_S = 10.0
QUIET_POLLS = 4
KERNEL_S = 1.1
MAX_SECONDS = 45.0  # sluice-probe holds for a minute
# Flows begin so long after the probes: a receiver counts from its own start,
# and may be woken later than a sender.
LEAD_NS = 300 * 10**6
# Rings of end stations, which share a few cores with everything else.
RING = "8M"


class Probe:
    """The sluice-probe of a host: ready, waiting for go()."""

    def __init__(self, runtime, station, words):
        self.station = station
        self.text = b""  # of standard error, not yet looked at
        argv = [runtime.ready_program("sluice-probe"),
                "--iface", station.interface.name, "--json", "--barrier",
                "--hold"] + words
        self.proc = subprocess.Popen(
            runtime.argv(station.node, argv), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=lab.environment())

    def _await_line(self, end):
        """Its next line on standard error, or what there is at that time."""
        while b"\n" not in self.text and time.monotonic() < end:
            if select.select([self.proc.stderr], [], [], 0.2)[0]:
                data = os.read(self.proc.stderr.fileno(), 4096)
                if not data:
                    break
                self.text += data
        line, _, self.text = self.text.partition(b"\n")
        return line

    def await_ready(self):
        line = self._await_line(time.monotonic() + READY_S)
        if line != b"ready":
            self.fail((line + self.text).decode(errors="replace"))

    def await_done(self, end):
        """Until it sends no more; one that is put aside sends late."""
        self._await_line(end)

    def fail(self, text):
        node = self.station.node
        line = (node.labels.get("sluice-probe") or node).line
        raise FileError(self.station.path, line, "the probe of host '%s': %s"
                        % (node.name, text.strip() or "is not ready within "
                           "%g s" % READY_S))

    def go(self):
        self.proc.stdin.write(b"go\n")
        self.proc.stdin.flush()

    def result(self, timeout):
        try:
            out, err = self.proc.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise TopoError("the probe of host '%s' does not end" %
                            self.station.node.name)
        if self.proc.returncode:
            self.fail(err.decode(errors="replace"))
        return json.loads(out)

    def close(self):
        if self.proc.poll() is None:
            self.proc.kill()
        self.proc.wait()
        for f in (self.proc.stdin, self.proc.stdout, self.proc.stderr):
            with contextlib.suppress(OSError):
                if f is not None:
                    f.close()


class Run:
    """What a run came to; report makes numbers and tables of it."""

    def __init__(self, topo, stations, duration):
        self.topo, self.stations, self.duration = topo, stations, duration
        self.before, self.after = {}, {}
        self.probes = {}
        self.quiet = False
        self.expectations = expect.of_topology(topo)
        self.samples = []


def _setting(topo, key, fn, default):
    label = topo.labels.get(key)
    if label is None:
        return default
    try:
        return fn(label.text)
    except ValueError as e:
        raise FileError(topo.path, label.line, "%s: %s" % (key, e))


def seconds_of(topo, duration=None):
    """(seconds of load, seconds to settle), checked."""
    given = duration is not None
    if not given:
        duration = _setting(topo, "sluice-duration", values.time_ns,
                            3 * 10**9) / 1e9
    settle = _setting(topo, "sluice-settle", values.time_ns,
                      int(SETTLE_S * 1e9)) / 1e9
    _check_seconds(topo, None if given else "sluice-duration", duration,
                   "a run of")
    _check_seconds(topo, "sluice-settle", settle, "to settle in")
    return duration, settle


def _check_seconds(topo, key, seconds, what):
    if 0.1 <= seconds <= MAX_SECONDS:
        return
    text = "%s %g s: 0.1 s to %g s are possible" % (what, seconds,
                                                    MAX_SECONDS)
    if key is None:
        raise UsageError(text)
    raise FileError(topo.path, topo.labels[key].line, "%s: %s" % (key, text))


def words_of(station, stations, duration, settle):
    """The arguments of a host's probe, beside the common ones."""
    words = ["receive"]
    if station.flows:
        words.append("send")
    words += ["--duration", "%dms" % (duration * 1000 + LEAD_NS // 10**6),
              "--drain", "%dms" % (settle * 1000), "--ring", RING]
    if station.rate:
        words += ["--rate", str(station.rate)]
    if station.pfc:
        words += ["--pfc", ",".join(map(str, station.pfc))]
    if station.asymmetric:
        words.append("--asymmetric")
    for flow in station.flows:
        at = max(LEAD_NS, values.time_ns(flow.pairs.get("at", "0s")))
        pairs = dict(flow.pairs, id=str(flow.number), at="%dns" % at,
                     dst=stations[flow.target.name].interface.mac)
        words += ["--flow", ",".join("%s=%s" % kv for kv in pairs.items())]
    return words + station.extra


def greet(the_lab, stations):
    """Every host that is sent to is heard once in each of the VLANs in which
    it is sent to, so that nothing to it is flooded."""
    wanted = sorted({(f.target.name, f.vlan) for s in stations.values()
                     for f in s.flows})
    runtime = the_lab.runtime
    flows = {}
    for name, vlan in wanted:
        flows.setdefault(name, []).append(vlan)
    procs = []
    for name, vlans in flows.items():
        argv = [runtime.ready_program("sluice-probe"), "--iface",
                stations[name].interface.name, "send"]
        for vlan in vlans:
            argv += ["--flow", "prio=0,count=1,size=60,dst=broadcast,vlan=%s"
                     % vlan]
        procs.append((name, subprocess.Popen(
            runtime.argv(stations[name].node, argv), env=lab.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)))
    for name, p in procs:
        _, err = p.communicate(timeout=READY_S)
        if p.returncode:
            raise TopoError("host '%s' cannot send: %s" % (name,
                                                           err.strip()))


def _storms(port):
    """Storms that were detected, by priority: only some are watched."""
    out = [0] * 8
    for q in port["queues"]:
        out[q["priority"]] = q["detected"]
    return out


def _snapshot(the_lab, connections):
    return {name: {
        "interfaces": the_lab.counters(name),
        "pid": rpc.call("daemon.status")["pid"],
        "stats": {p["port"]: p for p in rpc.call("stats.show")},
        "pfc": {p["port"]: p for p in rpc.call("pfc.counters")},
        "pause": {p["port"]: p for p in rpc.call("pfc.show")},
        "buffer": rpc.call("buffer.show"),
        "doctor": rpc.call("doctor.show"),
        "audit": rpc.call("audit.show"),
        "watchdog": {p["port"]: _storms(p)
                     for p in rpc.call("watchdog.show")},
    } for name, rpc in connections.items()}


def _is_quiet(connections):
    """Nothing held, no one paused: then what was received and sent so far,
    else None."""
    counts = []
    for rpc in connections.values():
        for a in rpc.call("audit.show"):
            if a["held"] or a["charged_bytes"]:
                return None
            counts.append((a["rx"], a["tx"]))
        if any(p["paused"] or p["pausing"] for p in rpc.call("pfc.show")):
            return None
    return counts


def _await_quiet(connections, end):
    """Until nothing moves: the last frames may be on their way between the
    switches."""
    last, in_a_row = None, 0
    while in_a_row < QUIET_POLLS:
        counts = _is_quiet(connections)
        in_a_row = in_a_row + 1 if counts is not None and \
            counts == last else 0
        last = counts
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def run(the_lab, duration=None, sampler=None):
    """Runs the traffic of a topology that is up."""
    topo = the_lab.topo
    duration, settle = seconds_of(topo, duration)
    stations = config.stations(topo)
    for s in stations.values():
        s.path = topo.path
    out = Run(topo, stations, duration)
    with contextlib.ExitStack() as stack:
        connections = {n.name: stack.enter_context(the_lab.rpc(n, Steady))
                       for n in topo.switches()}
        greet(the_lab, stations)
        _await_quiet(connections, time.monotonic() + settle)
        probes = {}
        for name, s in stations.items():
            probes[name] = Probe(the_lab.runtime, s, words_of(
                s, stations, duration, settle))
            stack.callback(probes[name].close)
        for probe in probes.values():
            probe.await_ready()
        out.before = _snapshot(the_lab, connections)
        began = time.monotonic() + LEAD_NS / 1e9
        for probe in probes.values():
            probe.go()
        if sampler:
            out.samples = sampler(connections, began, duration)
        end = began + duration + settle
        for probe in probes.values():
            probe.await_done(end)
        out.quiet = _await_quiet(connections, end)
        for probe in probes.values():
            with contextlib.suppress(OSError):
                probe.proc.stdin.close()
            probe.proc.stdin = None
        # A flow that is paused for good waits for as long as it may.
        limit = max(5, end - time.monotonic() + 5)
        out.probes = {n: p.result(limit) for n, p in probes.items()}
        # What the kernel lost is read once a second: a look at it that is
        # older than the quiet would miss the last of it.
        time.sleep(KERNEL_S)
        out.after = _snapshot(the_lab, connections)
    return out
