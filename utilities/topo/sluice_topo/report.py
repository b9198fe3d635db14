# SPDX-License-Identifier: Apache-2.0
"""What a run came to: numbers, tables, JSON, and whether it is as expected."""
from . import values


def delta(run, node, *path):
    """A counter of a switch now, less what it was before the run; those of
    a daemon that was restarted began anew."""
    a, b = run.before[node], run.after[node]
    again = a["pid"] != b["pid"]
    for key in path:
        a, b = a[key], b[key]
    return b if again else b - a


def interfaces(run, node):
    """What the interfaces of a switch counted during the run, whatever became
    of its daemon; those of a container that was restarted are new ones."""
    out = {}
    for name, now in run.after[node]["interfaces"].items():
        was = run.before[node]["interfaces"].get(name, {})
        out[name] = {k: now[k] - was.get(k, 0) for k in now}
        if any(n < 0 for n in out[name].values()):
            out[name] = now
    return out


def restarted(run):
    return [n for n in run.after
            if run.before[n]["pid"] != run.after[n]["pid"]]


class Numbers:
    """The counted results of a run."""

    def __init__(self, run):
        self.run = run
        self.flows = [self._flow(s, f) for s in run.stations.values()
                      for f in s.flows]
        self.ports = [self._port(n, i, prio) for n in run.topo.switches()
                      for i in run.after[n.name]["stats"]
                      for prio in range(8)]

    def _flow(self, station, flow):
        """By sequence numbers, at both ends: the end of a flow may be lost
        too, which the receiver cannot know of."""
        sent = next((f for f in self.run.probes[station.node.name]
                     .get("sent", {}).get("flows", [])
                     if f["id"] == flow.number), None)
        far = self.run.probes[flow.target.name].get("received", {})
        got = next((f for f in far.get("flows", [])
                    if f["id"] == flow.number and
                    f["src"] == (sent or {}).get("src")), None)
        n_sent = sent["sequence_numbers"] if sent else 0
        out = {"flow": flow.name, "from": flow.source.name,
               "to": flow.target.name, "prio": flow.prio,
               "vlan": flow.vlan, "sent": n_sent}
        for key in ("received", "duplicated", "reordered", "corrupted"):
            out[key] = got[key] if got else 0
        out["lost"] = n_sent - out["received"] - out["corrupted"]
        out["latency_ns"] = got["latency_ns"] if got else None
        out["bytes"] = sent["bytes"] if sent else 0
        if got and got["last_ns"] > got["first_ns"] and n_sent:
            out["goodput_bps"] = int(
                out["bytes"] / n_sent * out["received"] * 8 * 1e9 /
                (got["last_ns"] - got["first_ns"]))
        else:
            out["goodput_bps"] = 0
        return out

    def _port(self, node, name, prio):
        run = self.run

        def d(*path):
            return delta(run, node.name, *path)
        tx = ("pfc", name, "tx")
        rx = ("pfc", name, "rx")
        group = next((g for g in run.after[node.name]["buffer"]["groups"]
                      if g["port"] == name and g["group"] == prio), {})
        interface = node.interface(name)
        return {
            "node": node.name, "port": "%s:%s" % (node.name, name),
            "peer": str(interface.peer) if interface else "",
            "prio": prio,
            "xoff": d(*tx, "xoff", prio),
            "xon": d(*tx, "pfc", prio) - d(*tx, "xoff", prio),
            "pauses": d(*tx, "pauses", prio),
            "paused-ms": d(*tx, "paused_ns", prio) / 1e6,
            "xoff-heard": d(*rx, "xoff", prio),
            "xon-heard": d(*rx, "pfc", prio) - d(*rx, "xoff", prio),
            "violations": d("stats", name, "violations", prio),
            "queue-drops": d("stats", name, "queues", prio, "drops"),
            "group-drops": d("stats", name, "groups", prio, "drops"),
            "headroom-peak": group.get("headroom_peak_bytes", 0),
            "storms": d("watchdog", name, prio),
        }

    def whole(self, metric, node=None):
        nodes = [n for n in self.run.after if node in (None, n)]
        after = self.run.after
        if metric == "quiet":
            return int(self.run.quiet)
        if metric == "audit":
            return int(all(a["ok"] for n in nodes
                           for a in after[n]["audit"]))
        if metric == "doctor":
            return int(all(d["lossless"] == "yes" for n in nodes
                           for d in after[n]["doctor"]))
        total = sum(delta(self.run, n, "stats", p, "drops", reason)
                    for n in nodes for p in after[n]["stats"]
                    for reason in after[n]["stats"][p]["drops"]
                    if reason.startswith("kernel-"))
        if node is None:
            total += sum(p["kernel"]["ring_drops"] +
                         p["kernel"]["backlog_drops"]
                         for p in self.run.probes.values())
        return total

    def value(self, e):
        """The number that an expectation is about."""
        if e.metric in ("quiet", "audit", "doctor", "kernel-drops"):
            return self.whole(e.metric, e.keys.get("node"))
        rows = self.flows if e.metric in self.flows_metrics() else self.ports
        return sum(r[e.metric] for r in rows
                   if all(str(r[k]) == v for k, v in e.keys.items()))

    @staticmethod
    def flows_metrics():
        from .expect import FLOW_METRICS
        return FLOW_METRICS

    def verdicts(self):
        out = []
        for e in self.run.expectations:
            value = self.value(e)
            verdict = {"text": e.text, "value": value}
            if e.other:
                verdict["other"] = self.value(e.other)
                verdict["holds"] = e.holds(value, verdict["other"])
            else:
                verdict["holds"] = e.holds(value)
            out.append(verdict)
        return out


def table(rows, left=1):
    """Rows of texts as aligned lines; the first columns to the left."""
    widths = [max(len(str(r[i])) for r in rows) for i in range(len(rows[0]))]
    return "\n".join("  " + "  ".join(
        str(c).ljust(w) if i < left else str(c).rjust(w)
        for i, (c, w) in enumerate(zip(r, widths))).rstrip() for r in rows)


def _flow_table(numbers):
    rows = [("flow", "to", "prio", "sent", "received", "lost", "late",
             "Mb/s", "latency ms p50", "p99")]
    for f in numbers.flows:
        lat = f["latency_ns"]
        rows.append((f["flow"], f["to"], f["prio"], f["sent"],
                     f["received"], f["lost"], f["reordered"],
                     "%.1f" % (f["goodput_bps"] / 1e6),
                     "%.1f" % (lat["p50"] / 1e6) if lat else "-",
                     "%.1f" % (lat["p99"] / 1e6) if lat else "-"))
    return table(rows, left=2)


def _pfc_rows(numbers):
    return [p for p in numbers.ports if p["xoff"] or p["xon"] or
            p["xoff-heard"] or p["violations"] or p["storms"]]


def _pfc_table(numbers):
    rows = [("PFC of", "with", "prio", "XOFF", "XON", "paused ms",
             "XOFF heard", "violations", "storms")]
    for p in _pfc_rows(numbers):
        rows.append((p["port"], p["peer"], p["prio"], p["xoff"], p["xon"],
                     "%.1f" % p["paused-ms"], p["xoff-heard"],
                     p["violations"], p["storms"]))
    return table(rows, left=2) if len(rows) > 1 else \
        "  No PFC frame was sent or heard."


def _drop_lines(numbers):
    out = []
    for node, snap in numbers.run.after.items():
        for port, p in snap["stats"].items():
            found = {r: delta(numbers.run, node, "stats", port, "drops", r)
                     for r in p["drops"]}
            words = ["%s %d" % kv for kv in found.items() if kv[1]]
            if words:
                out.append("  %s:%s  %s" % (node, port, ", ".join(words)))
    return out


def _doctor_lines(numbers):
    out = []
    for node, snap in numbers.run.after.items():
        for d in snap["doctor"]:
            if d["lossless"] != "yes":
                out.append("  %s:%s priority %s: lossless: %s%s" % (
                    node, d["port"], d.get("priority"), d["lossless"],
                    "".join("; " + _finding(f) for f in d["findings"])))
    return out


def _finding(f):
    if isinstance(f, dict):
        return f.get("text") or f.get("message") or str(f)
    return str(f)


def say(run, out):
    """The report for people; whether everything was as expected."""
    numbers = Numbers(run)
    verdicts = numbers.verdicts()
    out("\nFlows, by sequence numbers at the far end:\n" +
        _flow_table(numbers))
    out("\n" + _pfc_table(numbers))
    for node in restarted(run):
        out("\n%s was restarted meanwhile: its counters began anew.  Its "
            "interfaces counted, in frames:" % node)
        for name, n in interfaces(run, node).items():
            out("  %s:%s  in %d, out %d" % (node, name, n["rx"], n["tx"]))
    drops = _drop_lines(numbers)
    out("\nDrops of the switches, by port and reason:\n" +
        ("\n".join(drops) if drops else "  none"))
    doctor = _doctor_lines(numbers)
    out("\nDoctor:\n" + ("\n".join(doctor) if doctor else
                         "  every lossless class: yes"))
    out("\nAudit: %s" % ("every frame is accounted for" if
                         numbers.whole("audit") else "DOES NOT ADD UP"))
    out("\nExpected:")
    for v in verdicts:
        out("  [%s] %s%s" % ("ok" if v["holds"] else "NOT SO", v["text"],
                             "" if v["holds"] and v["text"].endswith(
                                 "= %g" % v["value"]) else
                             "  (%g%s)" % (v["value"], " and %g" % v["other"]
                                           if "other" in v else "")))
    bad = sum(not v["holds"] for v in verdicts)
    out("\n%s" % ("Everything was as expected." if not bad else
                  "%d of %d expectations did not hold." % (
                      bad, len(verdicts))))
    return not bad


def as_object(run):
    """The report for programs."""
    numbers = Numbers(run)
    verdicts = numbers.verdicts()
    return {
        "topology": run.topo.name,
        "duration_s": run.duration,
        "flows": numbers.flows,
        "pfc": _pfc_rows(numbers),
        "drops": {n: {p: {r: delta(run, n, "stats", p, "drops", r)
                          for r in s["drops"]}
                      for p, s in snap["stats"].items()}
                  for n, snap in run.after.items()},
        "interfaces": {n: interfaces(run, n) for n in run.after},
        "doctor": {n: s["doctor"] for n, s in run.after.items()},
        "audit": {n: s["audit"] for n, s in run.after.items()},
        "kernel_drops": numbers.whole("kernel-drops"),
        "quiet": run.quiet,
        "restarted": restarted(run),
        "probes": run.probes,
        "expectations": verdicts,
        "ok": all(v["holds"] for v in verdicts),
    }


def show_table(shown):
    """Nodes and links of `show`."""
    rows = [("node", "role", "state", "detail")]
    rows += [(n["node"], n["role"], n["state"], n["detail"])
             for n in shown["nodes"]]
    text = "%s (%s), from %s\n\n%s" % (
        shown["name"], shown["runtime"], shown["file"], table(rows, left=4))
    if shown["links"]:
        rows = [("link", "", "state", "rate", "cable")]
        for link in shown["links"]:
            rate = link["rate"]
            rows.append((link["a"], link["b"], link["state"],
                         values.show_rate(values.rate(rate)) if rate else "-",
                         link["cable"] or "-"))
        text += "\n\n" + table(rows, left=3)
    return text
