#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo: three switches carry a congested storage class without loss.

    client1 -- sw1 --\\
                      sw3 -- port 7 -- storage
    client2 -- sw2 --/

Every switch is a sluiced of its own in a network namespace of its own, every
link a veth pair, every end station a sluice-probe.  Links have 200 Mb/s, port
7 of sw3 has 100 Mb/s.  Both clients offer 60 Mb/s of priority 3, the lossless
class, and 80 Mb/s of priority 0 beside it; storage is also paused once.  Then
the same load again, with PFC off everywhere.

Needs root.  Exit status: 0 when everything was as expected, 1 when something
was not, 2 for bad usage, 3 when it could not run.  The fabric and the load
are also what test_topology.py is made of.
"""
import argparse
import contextlib
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # leave no traces where it is installed
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import slc  # noqa: E402

LOSSLESS, LOSSY = 3, 0
LINK = "200M"
PORT7 = "100M"
WEIGHT = {LOSSY: 40, LOSSLESS: 60}  # per cent of port 7
OFFER = {LOSSLESS: "60M", LOSSY: "80M"}
XOFF, XON = "256K", "128K"
# All of these machines share the cores of one: a client, or a switch, may be
# late by some slices of the scheduler, which the other end cannot know of.
HEADROOM, RING = "4M", "16M"
CLIENTS = ("client1", "client2")
STORAGE_MAC = "02:00:00:00:00:07"
# Where a client is attached, in order from storage to the client.
SWITCH_OF = {"client1": "sw1", "client2": "sw2"}

PICTURE = r"""
    client1 --200M-- sw1 --200M--\
                                  sw3 --100M-- storage
    client2 --200M-- sw2 --200M--/     port 7
"""


class Probe:
    """A sluice-probe that is ready, and waits for go()."""

    def __init__(self, ns, *args):
        self.proc = ns.popen(
            slc.program("sluice-probe"), "--iface", "eth0", "--json",
            "--barrier", "--hold", *args, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.proc.stderr.readline()
        if line != "ready\n":
            raise RuntimeError(line + self.proc.stderr.read())

    def go(self):
        self.proc.stdin.write("go\n")
        self.proc.stdin.flush()

    def finish(self):
        """Its flows' time is over."""
        self.go()

    def await_done(self):
        """Until it sends no more: it may be put aside, and send late."""
        line = self.proc.stderr.readline()
        if line != "done\n":
            raise RuntimeError(line + self.proc.stderr.read())

    def result(self, timeout):
        out, err = self.proc.communicate(timeout=timeout)
        if self.proc.returncode:
            raise RuntimeError("sluice-probe: exit %d: %s" %
                               (self.proc.returncode, err))
        return json.loads(out)


class Listener(threading.Thread):
    """Collects the events of one daemon until it is stopped."""

    def __init__(self, switch, daemon):
        super().__init__(daemon=True)
        self.switch = switch
        self.conn = daemon.connect()
        self.conn.call("events.subscribe", {})
        self.events = list(self.conn.events)
        self.conn.events = []
        self.ending = threading.Event()
        self.start()

    def run(self):
        while not self.ending.is_set():
            try:
                message = self.conn.read(timeout=0.2)
            except (TimeoutError, OSError):
                continue
            except EOFError:
                return
            if message.get("method") == "event":
                self.events.append(message["params"])

    def stop(self):
        self.ending.set()
        self.join()
        self.conn.close()
        for e in self.events:
            e["switch"] = self.switch
            e["at"] = datetime.datetime.fromisoformat(
                e["time"].replace("Z", "+00:00")).timestamp()
        return self.events


class Fabric:
    """The topology, up and configured, for as long as the context lasts."""

    PORTS = {"sw1": ("client1", "sw3"), "sw2": ("client2", "sw3"),
             "sw3": ("sw1", "sw2", "port7")}

    def __init__(self, say=lambda text: None):
        self.say = say
        self.stack = contextlib.ExitStack()
        self.ns, self.sw = {}, {}

    def __enter__(self):
        try:
            self._wire()
            for name in self.PORTS:
                self.sw[name] = self.stack.enter_context(
                    slc.Daemon(self.ns[name]))
            self._configure()
            self._greet()
        except BaseException:
            self.stack.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, *exc):
        return self.stack.__exit__(*exc)

    def _wire(self):
        for name in CLIENTS + ("storage",) + tuple(self.PORTS):
            self.ns[name] = self.stack.enter_context(slc.Netns(name))
        for a, a_if, b, b_if in (("sw1", "client1", "client1", "eth0"),
                                 ("sw2", "client2", "client2", "eth0"),
                                 ("sw1", "sw3", "sw3", "sw1"),
                                 ("sw2", "sw3", "sw3", "sw2"),
                                 ("sw3", "port7", "storage", "eth0")):
            self.ns[a].veth(a_if, b_if, self.ns[b])
        self.ns["storage"].ip("link", "set", "eth0", "address", STORAGE_MAC)

    def ctl(self, switch, *words):
        """sluicectl on one of the switches."""
        self.say("%s# sluicectl %s" % (switch, " ".join(words)))
        return slc.run(slc.program("sluicectl"), "--socket",
                       self.sw[switch].socket, *words).stdout

    def _configure(self):
        for switch, ports in self.PORTS.items():
            self.ctl(switch, "bridge", "add", "br0")
            for port in ports:
                kind = slc.port_type(port)
                self.ctl(switch, "port", "add", "br0", port, "rate",
                         PORT7 if port == "port7" else LINK, "ring", RING,
                         *(() if kind == "afpacket" else ("type", kind)))
                self.ctl(switch, "buffer", "set", port, "pg", str(LOSSLESS),
                         "xoff", XOFF, "xon", XON, "headroom", HEADROOM)
        self.ctl("sw3", "queue", "set", "port7",
                 *("%d:%d%%" % (q, w) for q, w in WEIGHT.items()))
        self.set_pfc(True)
        for switch in self.PORTS:
            slc.wait_for(lambda: all(
                p["state"] == "up"
                for p in self.sw[switch].rpc("port.list")),
                "the ports of %s are up" % switch)

    def set_pfc(self, on):
        for switch, ports in self.PORTS.items():
            for port in ports:
                self.ctl(switch, "pfc", "set", port, "prio",
                         "%d:%s" % (LOSSLESS, "on" if on else "off"))

    def _greet(self):
        """Storage is heard once, so that no frame to it is flooded."""
        self.ns["storage"].run(
            slc.program("sluice-probe"), "--iface", "eth0", "send", "--flow",
            "prio=0,count=1,size=60,dst=broadcast")
        for switch in self.PORTS:
            slc.wait_for(lambda: any(
                e["mac"] == STORAGE_MAC for e in self.sw[switch].rpc(
                    "mac.list", bridge="br0")["entries"]),
                "%s knows where storage is" % switch)

    def snapshot(self):
        """Every counter of every switch."""
        out = {}
        for name, d in self.sw.items():
            out[name] = {
                "stats": {p["port"]: p for p in d.rpc("stats.show")},
                "pfc": {p["port"]: p for p in d.rpc("pfc.counters")},
                "pause": {p["port"]: p for p in d.rpc("pfc.show")},
                "buffer": d.rpc("buffer.show"),
                "audit": d.rpc("audit.show"),
            }
        return out

    def port7_bytes(self):
        p = self.sw["sw3"].rpc("stats.show", port="port7")[0]
        return [q["tx_bytes"] for q in p["queues"]]

    def rpc_all(self, method, **params):
        """The same call for every port of every switch."""
        for switch, ports in self.PORTS.items():
            for port in ports:
                self.sw[switch].rpc(method, port=port, **params)

    def is_quiet(self):
        """Nothing held, no one paused, and nothing moves: each audit is made
        in another turn, and what one has sent the next one has received."""
        counts = []
        for _ in range(4):
            counts.append([])
            for d in self.sw.values():
                for a in d.rpc("audit.show"):
                    if a["held"] or a["charged_bytes"]:
                        return False
                    counts[-1].append((a["rx"], a["tx"]))
                for p in d.rpc("pfc.show"):
                    if p["paused"] or p["pausing"]:
                        return False
            time.sleep(0.05)
        return all(c == counts[0] for c in counts)

    def load(self, pfc, seconds, pause_at, pause_for, meanwhile=None, n=0):
        """One run: the clients send for so many seconds; with pfc, storage is
        paused at pause_at (s) for pause_for.  meanwhile() is called under
        load, again and again, n times at least.  What everyone saw."""
        use_pfc = ["--pfc", str(LOSSLESS)] if pfc else []
        pause = ["--pause-once", "prio=%d,at=%dms,for=%dms" % (
            LOSSLESS, pause_at * 1000, pause_for * 1000)] if pfc else []
        flows = []
        for prio in (LOSSLESS, LOSSY):
            flows += ["--flow", "id=%d,prio=%d,rate=%s,dst=%s" % (
                prio + 1, prio, OFFER[prio], STORAGE_MAC)]
        before = self.snapshot()
        listeners = [Listener(n, d) for n, d in self.sw.items()]
        storage = Probe(self.ns["storage"], "receive", *use_pfc, *pause,
                        "--rate", PORT7, "--ring", "16M", "--idle", "700ms",
                        "--duration", "%ds" % (seconds + 50))
        clients = {c: Probe(self.ns[c], "send", *use_pfc, "--rate", LINK,
                            "--duration", "%dms" % (
                                (seconds + (40 if n else 0)) * 1000),
                            "--drain", "5s", *flows) for c in CLIENTS}
        began = time.time()
        for probe in [storage] + list(clients.values()):
            probe.go()
        # Port 7 is full by then, and not yet paused.
        time.sleep(max(0, began + pause_at * 0.4 - time.time()))
        first = self.port7_bytes()
        time.sleep(max(0, began + pause_at * 0.95 - time.time()))
        second = self.port7_bytes()
        while meanwhile and (n > 0 or time.time() < began + seconds):
            meanwhile()
            n -= 1
        for p in clients.values() if meanwhile else ():
            p.finish()
        for p in clients.values():
            p.await_done()
        slc.wait_for(self.is_quiet, "every buffer is empty and no one paused",
                     20)
        # All held on to the end, so that the last XON found its hearer.
        sent = {c: p.result(10) for c, p in clients.items()}
        received = storage.result(10)
        events = [e for x in listeners for e in x.stop()]
        return Run(pfc, began, before, self.snapshot(), sent, received,
                   [b - a for a, b in zip(first, second)],
                   sorted(events, key=lambda e: e["at"]))


# Every hop that PFC travels: who tells, on which port; who is told.
HOPS = (
    ("storage", None, "sw3", "port7"),
    ("sw3", "sw1", "sw1", "sw3"),
    ("sw3", "sw2", "sw2", "sw3"),
    ("sw1", "client1", "client1", None),
    ("sw2", "client2", "client2", None),
)


class Run:
    """What one run of the load came to."""

    def __init__(self, pfc, began, before, after, sent, received, port7,
                 events):
        self.pfc, self.began, self.events = pfc, began, events
        self.before, self.after = before, after
        self.sent, self.received = sent, received
        self.port7 = port7  # bytes by queue while port 7 was full

    # -- the end stations --------------------------------------------------

    def n_sent(self, prio, client=None):
        return sum(f["sequence_numbers"] for c, r in self.sent.items()
                   if client in (None, c)
                   for f in r["sent"]["flows"] if f["prio"] == prio)

    def rx_flows(self, prio=None):
        return [f for f in self.received["received"]["flows"]
                if prio in (None, f["prio"])]

    def total(self, what, prio=None):
        return sum(f[what] for f in self.rx_flows(prio))

    def n_lost(self, prio):
        """Against the senders' own count: a flow's end may be lost too."""
        return self.n_sent(prio) - self.total("received", prio) - \
            self.total("corrupted", prio)

    def share(self, prio):
        """Part of port 7 that the class had, of what both had."""
        both = sum(self.port7[p] for p in WEIGHT)
        return self.port7[prio] / both if both else 0

    def latency(self, prio):
        c = self.received["received"]["classes"].get(str(prio))
        return c["latency_ns"] if c else {"p50": 0, "p99": 0, "max": 0}

    # -- the switches ------------------------------------------------------

    def delta(self, *path):
        """A counter now, less what it was before the run."""
        a, b = self.before, self.after
        for key in path:
            a, b = a[key], b[key]
        return b - a

    def violations(self):
        return sum(self.delta(s, "stats", p, "violations", prio)
                   for s in Fabric.PORTS for p in Fabric.PORTS[s]
                   for prio in range(8))

    def drops(self, prio):
        """Frames of a class that the switches say they dropped."""
        n = 0
        for s, ports in Fabric.PORTS.items():
            for p in ports:
                n += self.delta(s, "stats", p, "queues", prio, "drops")
                n += self.delta(s, "stats", p, "groups", prio, "drops")
        return n

    def kernel_drops(self):
        n = self.received["kernel"]["ring_drops"]
        for s, ports in Fabric.PORTS.items():
            for p in ports:
                n += sum(self.delta(s, "stats", p, "drops", reason)
                         for reason in self.after[s]["stats"][p]["drops"]
                         if reason.startswith("kernel-"))
        return n

    def told(self, hop):
        """PFC frames of the class that the first of a hop sent, by kind."""
        who, port = hop[:2]
        if port is None:
            tx = self.received["pfc"]["tx"]
            frames, xoff, pauses, ns = (tx[k][LOSSLESS] for k in (
                "pfc", "xoff", "pauses", "paused_ns"))
        else:
            frames, xoff, pauses, ns = (
                self.delta(who, "pfc", port, "tx", k, LOSSLESS)
                for k in ("pfc", "xoff", "pauses", "paused_ns"))
        return {"frames": frames, "xoff": xoff, "xon": frames - xoff,
                "pauses": pauses, "paused_ns": ns}

    def heard(self, hop):
        """The same as the second of the hop counted them."""
        who, port = hop[2:]
        if port is None:
            rx = self.sent[who]["pfc"]["rx"]
            frames, xoff = rx["pfc"][LOSSLESS], rx["xoff"][LOSSLESS]
        else:
            frames, xoff = (self.delta(who, "pfc", port, "rx", k, LOSSLESS)
                            for k in ("pfc", "xoff"))
        return {"frames": frames, "xoff": xoff, "xon": frames - xoff}

    # -- what happened when ------------------------------------------------

    def moments(self, kind, switch, port):
        """Seconds after the start at which a group tripped, or let go."""
        return [e["at"] - self.began for e in self.events
                if e["type"] == kind and e["switch"] == switch and
                e["port"] == port and e.get("group") == LOSSLESS]

    def released(self):
        """When storage let sw3 go again, or None."""
        times = [e["at"] - self.began for e in self.events
                 if e["type"] == "resume" and e["switch"] == "sw3" and
                 e["port"] == "port7" and e.get("priority") == LOSSLESS]
        return times[0] if times else None


# ------------------------------------------------------------ verdicts ---

# Events are stamped with the wall clock by three processes.
CLOCK_SLACK = 0.003


def first_after(times, when):
    return next((t for t in times if t >= when - CLOCK_SLACK), None)


def spread_in_order(run):
    """XOFF went from sw3 to each sw and on to its client, in that order."""
    for client in CLIENTS:
        sw = SWITCH_OF[client]
        near = run.moments("xoff", "sw3", sw)
        far = run.moments("xoff", sw, client)
        if not near or not far or far[0] < near[0] - CLOCK_SLACK:
            return False
    return True


def released_in_order(run):
    """After storage let go, sw3 let each sw go before that let its client
    go: what the class held upstream cannot drain earlier."""
    start = run.released()
    if start is None:
        return False
    for client in CLIENTS:
        sw = SWITCH_OF[client]
        near = first_after(run.moments("xon", "sw3", sw), start)
        far = first_after(run.moments("xon", sw, client), start)
        if near is None or far is None or far < near - CLOCK_SLACK:
            return False
    return True


def counted(run, timing=True):
    """The expectations of a run with PFC as (text, holds, detail); without
    timing only those that hold on any machine, however busy."""
    lost3, lost0 = run.n_lost(LOSSLESS), run.n_lost(LOSSY)
    out = [
        ("priority 3 loses nothing",
         lost3 == 0 and run.n_sent(LOSSLESS) > 0 and
         all(f["complete"] for f in run.rx_flows(LOSSLESS)),
         "%d sent, %d lost" % (run.n_sent(LOSSLESS), lost3)),
        ("nothing is reordered, repeated or changed",
         not any(run.total(w) for w in ("reordered", "duplicated", "corrupted",
                                        "too_old", "pcp_changed")),
         "%d, %d, %d" % tuple(run.total(w) for w in (
             "reordered", "duplicated", "corrupted"))),
        ("priority 0 loses frames", lost0 > 0,
         "%d of %d" % (lost0, run.n_sent(LOSSY))),
        ("no lossless violation is counted", run.violations() == 0,
         "%d" % run.violations()),
        ("congestion of port 7 reaches sw1, sw2 and both clients",
         all(run.told(h)["xoff"] > 0 for h in HOPS),
         ", ".join("%d" % run.told(h)["xoff"] for h in HOPS) + " XOFF"),
        every_xon(run),
        ("both ends of every link counted the same PFC frames",
         all(run.told(h)["frames"] == run.heard(h)["frames"] and
             run.told(h)["xoff"] == run.heard(h)["xoff"] for h in HOPS),
         ", ".join("%d/%d" % (run.told(h)["frames"], run.heard(h)["frames"])
                   for h in HOPS)),
    ] + afterwards(run)
    if timing:
        share = run.share(LOSSLESS)
        out += [
            ("each class gets its share of port 7: 60 % and 40 %",
             abs(share - WEIGHT[LOSSLESS] / 100) < 0.02,
             "%.1f %% and %.1f %%" % (share * 100, 100 - share * 100)),
            ("XOFF spread from sw3 to sw1, sw2 and on to the clients",
             spread_in_order(run), ""),
            ("and was let go in the same order", released_in_order(run), ""),
        ]
    return out


def every_xon(run):
    return ("every XOFF is followed by an XON",
            all(run.told(h)["xon"] == run.told(h)["pauses"] for h in HOPS),
            ", ".join("%d/%d" % (run.told(h)["pauses"], run.told(h)["xon"])
                      for h in HOPS))


def afterwards(run):
    """What holds after any run."""
    out, held, shared = [], 0, 0
    for s in Fabric.PORTS:
        for g in run.after[s]["buffer"]["groups"]:
            held += sum(g["used"].values()) + g["held_frames"]
        for b in run.after[s]["buffer"]["bridges"]:
            shared += b["shared_used"]
    paused = [p for s in Fabric.PORTS for p in run.after[s]["pause"].values()
              if p["paused"] or p["pausing"]]
    ends = [r["pfc"] for r in list(run.sent.values()) + [run.received]]
    out.append(("afterwards every buffer is empty", held == shared == 0,
                "%d octets" % (held + shared)))
    out.append(("and no one is paused",
                not paused and not any(e["paused"] or e["pausing"]
                                       for e in ends),
                "%d" % len(paused)))
    out.append(("the audit of every switch adds up",
                all(a["ok"] for s in Fabric.PORTS
                    for a in run.after[s]["audit"]), ""))
    out.append(agreement(run))
    return out


def agreement(run):
    """The switches' counters against those of the end stations."""
    wrong = []

    def same(what, ours, theirs):
        if ours != theirs:
            wrong.append("%s: %d, the probes %d" % (what, ours, theirs))
    for prio in (LOSSLESS, LOSSY):
        for client in CLIENTS:
            sw = SWITCH_OF[client]
            same("%s received of %s, priority %d" % (sw, client, prio),
                 run.delta(sw, "stats", client, "groups", prio, "rx_frames"),
                 run.n_sent(prio, client))
        same("port 7 sent of priority %d" % prio,
             run.delta("sw3", "stats", "port7", "queues", prio, "tx_frames"),
             run.total("received", prio))
        same("dropped of priority %d" % prio, run.drops(prio),
             run.n_lost(prio))
    return ("the switches' counters agree with the probes', frame by frame",
            not wrong, "; ".join(wrong))


def without_pfc(run):
    """The expectations of a run without."""
    return [
        ("without PFC priority 3 loses frames too", run.n_lost(LOSSLESS) > 0,
         "%d of %d" % (run.n_lost(LOSSLESS), run.n_sent(LOSSLESS))),
        ("without PFC no PFC frame is sent",
         not any(run.told(h)["frames"] for h in HOPS), ""),
    ] + [("without PFC, too, " + text, ok, detail)
         for text, ok, detail in afterwards(run)]


# -------------------------------------------------------------- output ---

def table(rows, left=1):
    """Rows of texts as aligned lines; the first `left` columns to the left."""
    widths = [max(len(str(r[i])) for r in rows) for i in range(len(rows[0]))]
    return "\n".join("  " + "  ".join(
        str(c).ljust(w) if i < left else str(c).rjust(w)
        for i, (c, w) in enumerate(zip(r, widths))).rstrip() for r in rows)


def ms(ns):
    return "%.1f" % (ns / 1e6)


def class_table(with_pfc, without):
    rows = [("", "", "sent", "received", "lost", "late", "latency ms p50",
             "p99", "share of port 7")]
    for prio in (LOSSLESS, LOSSY):
        for name, run in (("with PFC", with_pfc), ("without", without)):
            lat = run.latency(prio)
            rows.append(("priority %d" % prio, name, run.n_sent(prio),
                         run.total("received", prio), run.n_lost(prio),
                         run.total("reordered", prio), ms(lat["p50"]),
                         ms(lat["p99"]), "%.1f %%" % (run.share(prio) * 100)))
    return table(rows, left=2)


def hop_table(run):
    rows = [("PFC frames of priority 3", "XOFF", "XON", "pauses", "paused ms")]
    for h in HOPS:
        told = run.told(h)
        rows.append(("%s -> %s" % (h[0], h[2]), told["xoff"], told["xon"],
                     told["pauses"], ms(told["paused_ns"])))
    return table(rows)


def timeline(run):
    """First XOFF of every hop, and the first XON after storage let go."""
    rows = []
    start = run.released()
    for who, port, to, _ in HOPS[1:]:
        xoff = run.moments("xoff", who, port)
        if xoff:
            rows.append((xoff[0], "%s pauses %s" % (who, to)))
        xon = first_after(run.moments("xon", who, port), start) \
            if start is not None else None
        if xon is not None:
            rows.append((xon, "%s lets %s go" % (who, to)))
    paused = [e["at"] - run.began for e in run.events
              if e["type"] == "pause" and e["switch"] == "sw3" and
              e["port"] == "port7"]
    if paused:
        rows.append((paused[0], "storage pauses sw3"))
    if start is not None:
        rows.append((start, "storage lets sw3 go"))
    return "\n".join("  %9.4f s  %s" % r for r in sorted(rows))


def as_json(runs, verdicts):
    def one(run):
        return {
            "pfc": run.pfc,
            "classes": {str(p): {
                "sent": run.n_sent(p), "received": run.total("received", p),
                "lost": run.n_lost(p), "reordered": run.total("reordered", p),
                "duplicated": run.total("duplicated", p),
                "latency_ns": run.latency(p), "share": run.share(p),
            } for p in (LOSSLESS, LOSSY)},
            "hops": [dict(run.told(h), **{"from": h[0], "to": h[2]})
                     for h in HOPS],
            "kernel_drops": run.kernel_drops(),
            "probes": dict(run.sent, storage=run.received),
            "events": run.events,
        }
    return json.dumps({
        "runs": [one(r) for r in runs],
        "expectations": [{"text": t, "holds": ok, "detail": d}
                         for t, ok, d in verdicts],
        "ok": all(ok for _, ok, _ in verdicts)})


def demo(args):
    say = (lambda text: None) if args.json else \
        (lambda text="": print(text, flush=True))
    say(PICTURE)
    say("Three switches, each a sluiced of its own.  PFC on priority 3.")
    say("Both clients offer 60 Mb/s of priority 3 and 80 Mb/s of priority 0;"
        "\nport 7 has 100 Mb/s for both: 60 % for priority 3, 40 % for 0.\n")
    with Fabric(say if args.verbose else lambda text: None) as fabric:
        say("With PFC, %g s; storage is paused once ..." % args.seconds)
        runs = [fabric.load(True, args.seconds, args.seconds * 0.6, 0.3)]
        say("Without PFC, %g s ..." % args.seconds)
        fabric.set_pfc(False)
        runs.append(fabric.load(False, args.seconds, args.seconds * 0.6, 0.3))
    verdicts = counted(runs[0]) + without_pfc(runs[1])
    if args.json:
        print(as_json(runs, verdicts))
    else:
        report(say, runs, verdicts)
    return all(ok for _, ok, _ in verdicts)


def report(say, runs, verdicts):
    say("\nFrames, by sequence numbers at storage:\n" + class_table(*runs))
    say("\n" + hop_table(runs[0]))
    say("\nWho was paused when (the first time), and who was let go after "
        "storage's pause:\n" + timeline(runs[0]))
    for run in runs:
        if run.kernel_drops():
            say("\nThe kernel dropped %d frames %s PFC: this machine was too "
                "slow for the load." % (run.kernel_drops(),
                                        "with" if run.pfc else "without"))
    say("\nExpected:")
    for text, ok, detail in verdicts:
        say("  [%s] %s%s" % ("ok" if ok else "NOT SO", text,
                             ": " + detail if detail else ""))
    bad = sum(not ok for _, ok, _ in verdicts)
    say("\n%s" % ("Everything was as expected." if not bad else
                  "%d of %d expectations did not hold." % (
                      bad, len(verdicts))))


def main():
    parser = argparse.ArgumentParser(
        description="Three switches carry a congested storage class without "
                    "losing a frame, beside the same without PFC.")
    parser.add_argument("--json", action="store_true",
                        help="print everything as one JSON object")
    parser.add_argument("--seconds", type=float, default=4, metavar="S",
                        help="of load in each of the two runs, 2 to 60 (4)")
    parser.add_argument("-v", "--verbose", action="store_true",
                        help="show the configuration commands")
    args = parser.parse_args()
    if not 2 <= args.seconds <= 60:
        parser.error("--seconds %g: 2 to 60 are allowed" % args.seconds)
    if os.geteuid() != 0:
        print("demo.py: needs root (network namespaces): sudo ./boot.sh demo",
              file=sys.stderr)
        return 3
    if not shutil.which("ip"):
        print("demo.py: needs the command ip: install the Debian package "
              "iproute2", file=sys.stderr)
        return 3
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sig, lambda s, _frame: sys.exit(128 + s))
    try:
        return 0 if demo(args) else 1
    except slc.Skip as e:
        print("demo.py: %s" % e, file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
