# SPDX-License-Identifier: Apache-2.0
"""What a topology expects of its run, as counted numbers.

    sluice-expect.storage: "lost prio=3 = 0"
    sluice-expect.spread:  "xoff port=sw3:sw1 prio=3 > 0"

METRIC [KEY=VALUE]... OPERATOR NUMBER.  A metric is the sum over everything
that the keys select; report.Numbers has them.
"""
import operator
import re

from .errors import FileError

OPERATORS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt,
             "<=": operator.le, ">": operator.gt, ">=": operator.ge}
FLOW_METRICS = ("sent", "received", "lost", "duplicated", "reordered",
                "corrupted")
PORT_METRICS = ("xoff", "xon", "pauses", "xoff-heard", "xon-heard",
                "violations", "queue-drops", "group-drops", "headroom-peak",
                "storms", "paused-ms")
WHOLE_METRICS = ("quiet", "audit", "doctor", "kernel-drops")
FLOW_KEYS = ("prio", "flow", "from", "to")
PORT_KEYS = ("prio", "port", "node")
# What is expected of every run that says nothing else about it.
ALWAYS = ("quiet", "audit")


class Expectation:
    def __init__(self, text, metric, keys, op, number):
        self.text, self.metric, self.keys = text, metric, keys
        self.op, self.number = op, number

    def holds(self, value):
        return OPERATORS[self.op](value, self.number)


def parse(text):
    """ValueError says what is wrong."""
    m = re.fullmatch(r"\s*(\S+)((?:\s+[a-z]+=\S+)*)\s*(<=|>=|!=|=|<|>)\s*"
                     r"(\d{1,15}(?:\.\d{1,9})?)\s*", text)
    if not m:
        raise ValueError("'%s' is not METRIC [KEY=VALUE]... OPERATOR NUMBER, "
                         "such as lost prio=3 = 0" % text)
    metric = m.group(1)
    keys = dict(k.split("=", 1) for k in m.group(2).split())
    allowed = FLOW_KEYS if metric in FLOW_METRICS else \
        PORT_KEYS if metric in PORT_METRICS else \
        ("node",) if metric in WHOLE_METRICS else None
    if allowed is None:
        raise ValueError("'%s' is not one of %s" % (metric, ", ".join(
            FLOW_METRICS + PORT_METRICS + WHOLE_METRICS)))
    for key in keys:
        if key not in allowed:
            raise ValueError("%s cannot be chosen by '%s': by %s" % (
                metric, key, ", ".join(allowed)))
    if "prio" in keys and keys["prio"] not in tuple("01234567"):
        raise ValueError("prio=%s is not 0 to 7" % keys["prio"])
    return Expectation(" ".join(text.split()), metric, keys, m.group(3),
                       float(m.group(4)))


def _check_selected(topo, keys):
    """What an expectation names has to be there: a sum over nothing would
    hold of everything."""
    for key in ("from", "to", "node"):
        if key in keys and keys[key] not in topo.nodes:
            raise ValueError("there is no node '%s'" % keys[key])
    if "port" in keys:
        name, _, interface = keys["port"].partition(":")
        node = topo.nodes.get(name)
        if node is None or node.interface(interface) is None:
            raise ValueError("there is no port '%s'" % keys["port"])
        keys["port"] = "%s:%s" % (name, node.interface(interface).name)
    if "flow" in keys:
        name, _, flow = keys["flow"].partition(".")
        node = topo.nodes.get(name)
        if node is None or not any(
                k in ("sluice-flow." + flow, "sluice-flow")
                for k in node.labels):
            raise ValueError("there is no flow '%s'" % keys["flow"])


def of_topology(topo):
    """The expectations that topology.defaults.labels has."""
    out = []
    for key, label in topo.labels.items():
        if key.split(".", 1)[0] != "sluice-expect":
            continue
        try:
            e = parse(label.text)
            _check_selected(topo, e.keys)
        except ValueError as err:
            raise FileError(topo.path, label.line, "%s: %s" % (key, err))
        out.append(e)
    for metric in ALWAYS:
        if not any(e.metric == metric for e in out):
            out.append(parse("%s = 1" % metric))
    return out
