# SPDX-License-Identifier: Apache-2.0
"""Labels to configurations: of a switch as `sluicectl apply` takes it, and of
the probe of a host.

A label of a node holds for all of its interfaces, a label of a link for both
of its ends and before that of the node, and a label of a node with .INTERFACE
at its end for that interface alone and before all others.
"""
import copy
import ipaddress
import json
import shlex

from . import document, names, values
from .errors import FileError, one_of
from .model import LOSSLESS_HOST

# Of ports on interfaces, as ends of links are; the words are those of
# `sluicectl port add`.
TYPES = ("afpacket", "afxdp", "auto")
# Labels of ports: what turns the text into the members of a port.
_PORT = {
    "sluice-type": lambda t: {"type": values.word(t, TYPES)},
    "sluice-rate": lambda t: {"rate_bps": values.rate(t)},
    "sluice-cable": lambda t: {"cable_delay_ns": values.time_ns(t)},
    "sluice-ring": lambda t: {"ring_bytes": values.size(t)},
    "sluice-pfc": lambda t: {"pfc": {"priorities": values.numbers(t, 0, 7)}},
    "sluice-asymmetric": lambda t: {"pfc": {"asymmetric": values.flag(t)}},
    "sluice-quanta": lambda t: {"pfc": {
        "quanta": values.number(t, 1, 65535)}},
    "sluice-pause": lambda t: {"pause": {
        w: w in _words(t, ("rx", "tx")) for w in ("rx", "tx")}},
    "sluice-queues": lambda t: {"queues": {
        str(q): v for q, v in values.by_number(t, _queue).items()}},
    "sluice-limit": lambda t: {"queues": {
        str(q): {"limit_bytes": v} for q, v in
        values.by_number(t, values.size, default=range(8)).items()}},
    "sluice-max-rate": lambda t: {"queues": {
        str(q): {"max_rate_bps": v}
        for q, v in values.by_number(t, values.rate).items()}},
    "sluice-tag": lambda t: {"vlan": {
        "mode": "access", "tag": values.number(t, 0, 4094)}},
    "sluice-trunks": lambda t: {"vlan": {
        "mode": "trunk", "trunks": values.numbers(t, 0, 4094, all="")}},
    "sluice-trust": lambda t: {"map": {"trust": t}},
    "sluice-priority": lambda t: {"map": {
        "default_priority": values.number(t, 0, 7)}},
    "sluice-watchdog": lambda t: {"watchdog": _watchdog(t)},
    "sluice-port-json": lambda t: _port_object(t),
}
# Labels of ports that are about the groups of the lossless priorities.
_GROUP = {
    "sluice-xoff": "xoff_bytes",
    "sluice-xon": "xon_bytes",
    "sluice-xon-offset": "xon_offset_bytes",
    "sluice-reserved": "reserved_bytes",
    "sluice-headroom": "headroom",
}
_BRIDGE = {
    "sluice-memory": lambda t: {"memory_bytes": values.size(t)},
    "sluice-max-frame": lambda t: {
        "max_frame_bytes": values.number(t, 1, 65535)},
    "sluice-bridge-json": lambda t: _object(t),
}
_HOST = ("sluice-mac", "sluice-flow", "sluice-probe", "sluice-pfc",
         "sluice-asymmetric", "sluice-iface", "sluice-rate", "sluice-cable")
_LOSSLESS_HOST = ("sluice-address", "sluice-tap")
_ANY = ("sluice-role", "sluice-bridge", "sluice-mac")
# Of topology.defaults: about a run as a whole.
RUN_LABELS = ("sluice-duration", "sluice-settle", "sluice-expect",
              "sluice-describe")

FLOW_KEYS = ("to", "prio", "rate", "size", "count", "vlan", "at", "for",
             "type", "src")


def _words(text, allowed):
    if text == "off":
        return []
    return [values.word(w, allowed) for w in values.words(text)]


def _queue(text):
    if text == "strict":
        return {"mode": "strict"}
    if not text.endswith("%"):
        raise ValueError("'%s' is not a share such as 30%% or strict" % text)
    return {"mode": "ets", "weight": values.number(text[:-1], 0, 100)}


def _watchdog(text):
    """"on", "off" or "action=drop,detection=400,restoration=400,poll=100"."""
    if text in ("on", "off"):
        return {"enabled": text == "on"}
    out = {"enabled": True}
    for key, value in values.pairs(text).items():
        if key == "action":
            out[key] = values.word(value, ("drop", "forward", "alert"))
        else:
            values.word(key, ("action", "detection", "restoration", "poll"))
            out[key + "_ms"] = values.number(value, 1, 60000)
    return out


def _no_number(text):
    raise ValueError("%s is no number" % text)


def _object(text):
    try:
        out = json.loads(text, parse_constant=_no_number)
    except ValueError as e:
        raise ValueError("is not JSON: %s" % e) from e
    except RecursionError:
        raise ValueError("is nested too deeply")
    if not isinstance(out, dict):
        raise ValueError("is not a JSON object")
    return out


def _port_object(text):
    """Members of a port; what is read here of them has to make sense, the
    rest is for the daemon to say."""
    out = _object(text)
    pfc = out.get("pfc", {})
    if not isinstance(pfc, dict):
        raise ValueError("pfc is not a JSON object")
    priorities = pfc.get("priorities", [])
    if not isinstance(priorities, list) or any(
            type(p) is not int or not 0 <= p <= 7 for p in priorities):
        raise ValueError("pfc.priorities is not a list of 0 to 7")
    return out


def _headroom(text):
    return "auto" if text == "auto" else values.size(text)


def merge(into, other):
    """Members of `other` over those of `into`, objects member by member."""
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value
    return into


def _base(key):
    return key.split(".", 1)[0]


def _port_labels(node, interface):
    """The labels that hold for an interface, the strongest last."""
    keys = {}
    for key, label in node.labels.items():
        if "." not in key:
            keys[key] = label
    keys.update(interface.link.labels)
    for key, label in node.labels.items():
        base, dot, name = key.partition(".")
        if dot and name in (interface.wanted, interface.name):
            keys[base] = label
    return keys


def port(topo, node, interface):
    """The members of one port."""
    out = {"type": TYPES[0]}
    labels = _port_labels(node, interface)

    def read(key, fn):
        label = labels[key]
        try:
            return fn(label.text)
        except ValueError as e:
            raise FileError(topo.path, label.line, "%s: %s" % (key, e))
    for key, fn in _PORT.items():
        if key in labels:
            merge(out, read(key, fn))
    lossless = out.get("pfc", {}).get("priorities", [])
    for key, member in _GROUP.items():
        if key not in labels:
            continue
        fn = _headroom if member == "headroom" else values.size
        for g, value in read(key, lambda t: values.by_number(
                t, fn, default=lossless)).items():
            merge(out, {"groups": {str(g): {member: value}}})
    return out


def bridge_name(node):
    return node.label("sluice-bridge", "br0")


def _pick_interface(topo, node):
    """The interface of a host: its first, or the one that a label names."""
    if not node.interfaces:
        raise FileError(topo.path, node.line, "host '%s' has no link; "
                        "sluice-role: other is for nodes that take no part"
                        % node.name)
    wanted = node.labels.get("sluice-iface")
    if wanted is None:
        return node.interfaces[0]
    interface = node.interface(wanted.text)
    if interface is None:
        raise FileError(topo.path, wanted.line, "sluice-iface: host '%s' has "
                        "no interface '%s'" % (node.name, wanted.text))
    return interface


def tap_of(node):
    """What applications of a lossless host use."""
    return node.label("sluice-tap", "host0")


def address_of(topo, node):
    """The address of a lossless host, or None."""
    label = node.labels.get("sluice-address")
    if label is None or node.role != LOSSLESS_HOST:
        return None
    try:
        return str(ipaddress.ip_interface(label.text))
    except ValueError as e:
        raise FileError(topo.path, label.line, "sluice-address: %s" % e)


def _lossless_host(topo, node):
    """A bridge of the uplink and a tap: what `sluiced --host` makes."""
    interface = _pick_interface(topo, node)
    tap = tap_of(node)
    try:
        if names.interface(tap) != tap or node.interface(tap):
            raise ValueError("'%s' is too long, or taken" % tap)
    except ValueError as e:
        label = node.labels.get("sluice-tap") or node
        raise FileError(topo.path, label.line, "sluice-tap: %s" % e)
    address_of(topo, node)
    both = {"rate_bps": 10 ** 9, "map": {"trust": "dscp"}}
    uplink = merge(merge(copy.deepcopy(both), {
        "map": {"priority_tags": "if-nonzero"},
        "queues": {str(q): {"mode": "ets", "weight": 12 + (q > 3)}
                   for q in range(8)}}), port(topo, node, interface))
    inside = merge(copy.deepcopy(both), {
        k: v for k, v in port(topo, node, interface).items()
        if k in ("rate_bps", "pfc", "groups", "map")})
    merge(inside, {"type": "tap", "backpressure": True,
                   "mac": names.mac(topo.name, node.name, tap),
                   "map": {"priority_tags": "never"}})
    return {"local": False, "ports": {interface.name: uplink, tap: inside}}


def switch(topo, node):
    """The whole configuration of a switch: what sluicectl apply takes."""
    if node.startup:
        try:
            return _object(document.read_text(node.startup))
        except ValueError as e:
            raise FileError(node.startup, getattr(e.__cause__, "lineno", 0),
                            str(e))
    if node.role == LOSSLESS_HOST:
        bridge = _lossless_host(topo, node)
    else:
        bridge = {"ports": {i.name: port(topo, node, i)
                            for i in node.interfaces}}
    for key, fn in _BRIDGE.items():
        if key in node.labels:
            try:
                merge(bridge, fn(node.labels[key].text))
            except ValueError as e:
                raise FileError(topo.path, node.labels[key].line,
                                "%s: %s" % (key, e))
    name = "host" if node.role == LOSSLESS_HOST else bridge_name(node)
    return {"bridges": {name: bridge}}


def port_types(topo, node):
    """The types that the ports of a switch have.  What makes no sense in a
    startup configuration is for the daemon to say."""
    def members(value, key):
        found = value.get(key) if isinstance(value, dict) else None
        return list(found.values()) if isinstance(found, dict) else []
    return {p["type"] for b in members(switch(topo, node), "bridges")
            for p in members(b, "ports")
            if isinstance(p, dict) and isinstance(p.get("type"), str)}


# ----------------------------------------------------------------- hosts ---

class Flow:
    """One flow of a host: `to` is a node, the rest is for its probe."""

    def __init__(self, number, name, source, target, pairs, line):
        self.number, self.name, self.line = number, name, line
        self.source, self.target = source, target
        self.pairs = pairs

    @property
    def prio(self):
        return int(self.pairs["prio"])

    @property
    def vlan(self):
        return self.pairs.get("vlan", "0")


class Station:
    """A host as its probe needs it."""

    def __init__(self, node, interface):
        self.node, self.interface = node, interface
        self.flows = []
        self.pfc = []
        self.asymmetric = False
        self.rate = None
        self.extra = []


def _station(topo, node):
    interface = _pick_interface(topo, node)
    out = Station(node, interface)
    settings = port(topo, node, interface)
    pfc = settings.get("pfc", {})
    out.pfc = pfc.get("priorities", [])
    out.asymmetric = pfc.get("asymmetric", False)
    out.rate = settings.get("rate_bps")
    label = node.labels.get("sluice-probe")
    if label is not None:
        try:
            out.extra = shlex.split(label.text)
        except ValueError as e:
            raise FileError(topo.path, label.line, "sluice-probe: %s" % e)
    return out


def _flow(topo, station, number, key, label):
    def fail(message):
        raise FileError(topo.path, label.line, "%s: %s" % (key, message))
    try:
        pairs = values.pairs(label.text)
        for k in pairs:
            values.word(k, FLOW_KEYS)
        for k in ("to", "prio"):
            if k not in pairs:
                fail("'%s' is missing" % k)
        values.number(pairs["prio"], 0, 7)
        if "rate" in pairs:
            values.rate(pairs["rate"])
        for k in ("at", "for"):
            if k in pairs:
                values.time_ns(pairs[k])
        if pairs.get("vlan", "none") != "none":
            values.number(pairs["vlan"], 0, 4094)
    except ValueError as e:
        fail(e)
    target = pairs.pop("to")
    if target not in topo.nodes or topo.nodes[target].role != "host":
        fail("there is no host '%s': the hosts are %s" % (
            target, one_of([n.name for n in topo.hosts()][:12])))
    name = key.partition(".")[2] or str(number)
    return Flow(number, "%s.%s" % (station.node.name, name), station.node,
                topo.nodes[target], pairs, label.line)


def stations(topo):
    """{name of host: Station} with their flows, all checked."""
    out = {n.name: _station(topo, n) for n in topo.hosts()}
    for station in out.values():
        keys = [k for k in station.node.labels if _base(k) == "sluice-flow"]
        if len(keys) > 64:
            raise FileError(topo.path, station.node.line, "host '%s' has %d "
                            "flows: at most 64 are possible" % (
                                station.node.name, len(keys)))
        for number, key in enumerate(keys, 1):
            station.flows.append(_flow(topo, station, number, key,
                                       station.node.labels[key]))
    return out


# ---------------------------------------------------------------- checks ---

def check(topo):
    """Everything that the labels say is built once, for its errors."""
    _check_names(topo)
    for node in topo.switches():
        switch(topo, node)
    stations(topo)


def _check_names(topo):
    of_port = tuple(_PORT) + tuple(_GROUP)
    known = of_port + tuple(_BRIDGE) + _HOST + _LOSSLESS_HOST + _ANY + \
        RUN_LABELS

    def unknown(key, label, allowed):
        if key.startswith("sluice-") and _base(key) not in allowed:
            raise FileError(topo.path, label.line, "the label '%s' is not "
                            "known: %s" % (key, _similar(_base(key),
                                                         allowed)))
    for node in topo.nodes.values():
        for key, label in node.labels.items():
            unknown(key, label, known)
            base, dot, name = key.partition(".")
            for labels, role in ((("sluice-flow",), "host"),
                                 (_LOSSLESS_HOST, LOSSLESS_HOST)):
                if base in labels and node.role != role:
                    raise FileError(
                        topo.path, label.line, "the label '%s' is for nodes "
                        "of role %s: '%s' is of role %s" % (
                            key, role, node.name, node.role))
            if dot and base in of_port and node.interface(name) is None:
                raise FileError(topo.path, label.line, "the label '%s': node "
                                "'%s' has no interface '%s'" % (
                                    key, node.name, name))
    for link in topo.links:
        for key, label in link.labels.items():
            unknown(key, label, of_port)


def _similar(word, allowed):
    import difflib
    close = difflib.get_close_matches(word, allowed, 1)
    if close:
        return "is %s meant?" % close[0]
    return "allowed are %s" % one_of(allowed)
