# SPDX-License-Identifier: Apache-2.0
"""What a topology expects of its run, as counted numbers.

    sluice-expect.storage: "lost prio=3 = 0"
    sluice-expect.spread:  "xoff port=sw3:sw1 prio=3 > 0"
    sluice-expect.victim:  "sent flow=b.cured > 1.5 * sent flow=b.victim"

METRIC [KEY=VALUE]... OPERATOR NUMBER, or in place of the number another metric
with its keys, a NUMBER * before it or not: what is compared then holds on a
machine that is too busy for the rates.  A metric is the sum over everything
that the keys select; report.Numbers has them.
"""
import operator
import re

from . import config
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


class Term:
    """A metric, and the keys that it is summed over."""

    def __init__(self, metric, keys):
        self.metric, self.keys = metric, keys


class Expectation(Term):
    def __init__(self, text, term, op, number, other):
        super().__init__(term.metric, term.keys)
        self.text, self.op = text, op
        self.number = number  # what is compared with, or times `other`
        self.other = other    # a Term, or None

    def holds(self, value, other=1):
        return OPERATORS[self.op](value, self.number * other)


_TERM = r"([a-z]\S*)((?:\s+[a-z]+=\S+)*)"
_NUMBER = r"(\d{1,15}(?:\.\d{1,9})?)"
_WHOLE = re.compile(r"\s*%s\s*(<=|>=|!=|=|<|>)\s*(?:%s|(?:%s\s*\*\s*)?%s)\s*"
                    % (_TERM, _NUMBER, _NUMBER, _TERM))


def _term(metric, keys):
    keys = dict(k.split("=", 1) for k in keys.split())
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
    return Term(metric, keys)


def parse(text):
    """ValueError says what is wrong."""
    m = _WHOLE.fullmatch(text)
    if not m:
        raise ValueError("'%s' is not METRIC [KEY=VALUE]... OPERATOR NUMBER, "
                         "such as lost prio=3 = 0" % text)
    metric, keys, op, number, factor, other, other_keys = m.groups()
    return Expectation(" ".join(text.split()), _term(metric, keys), op,
                       float(number or factor or 1),
                       _term(other, other_keys) if other else None)


def _check_selected(topo, term, flows):
    """What an expectation names has to be there: a sum over nothing would
    hold of everything."""
    keys = term.keys
    for key in ("from", "to", "node"):
        if key in keys and keys[key] not in topo.nodes:
            raise ValueError("there is no node '%s'" % keys[key])
    if "port" in keys:
        name, _, interface = keys["port"].partition(":")
        node = topo.nodes.get(name)
        if node is None or node.interface(interface) is None:
            raise ValueError("there is no port '%s'" % keys["port"])
        keys["port"] = "%s:%s" % (name, node.interface(interface).name)
    if "flow" in keys and all(f.name != keys["flow"] for f in flows):
        raise ValueError("there is no flow '%s'" % keys["flow"])
    if term.metric in FLOW_METRICS and keys and not any(
            _is_chosen(f, keys) for f in flows):
        raise ValueError("there is no flow with %s" % " ".join(
            "%s=%s" % kv for kv in keys.items()))


def _is_chosen(flow, keys):
    has = {"prio": str(flow.prio), "flow": flow.name,
           "from": flow.source.name, "to": flow.target.name}
    return all(has[k] == v for k, v in keys.items())


def of_topology(topo):
    """The expectations that topology.defaults.labels has."""
    out = []
    flows = [f for s in config.stations(topo).values() for f in s.flows]
    for key, label in topo.labels.items():
        if key.split(".", 1)[0] != "sluice-expect":
            continue
        try:
            e = parse(label.text)
            for term in filter(None, (e, e.other)):
                _check_selected(topo, term, flows)
        except ValueError as err:
            raise FileError(topo.path, label.line, "%s: %s" % (key, err))
        out.append(e)
    for metric in ALWAYS:
        if not any(e.metric == metric for e in out):
            out.append(parse("%s = 1" % metric))
    return out
