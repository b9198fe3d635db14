# SPDX-License-Identifier: Apache-2.0
"""A picture of a topology: for Graphviz, or as text."""
from . import config

SHAPES = {"switch": "box", "host": "ellipse", "lossless-host": "ellipse",
          "other": "note"}


def _quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def _words(link):
    return " ".join(link.labels[k].text for k in ("sluice-rate",
                                                  "sluice-cable")
                    if k in link.labels)


def dot(topo):
    out = ["graph %s {" % _quoted(topo.name), "  layout=neato overlap=false;",
           "  node [fontname=sans]; edge [fontname=sans fontsize=9];"]
    for node in topo.nodes.values():
        out.append("  %s [shape=%s%s];" % (
            _quoted(node.name), SHAPES[node.role],
            " style=bold" if node.role == "switch" else ""))
    if any(e.node is None for link in topo.links for e in link.ends):
        out.append("  host [shape=doublecircle];")
    for link in topo.links:
        a, b = link.ends
        out.append("  %s -- %s [label=%s taillabel=%s headlabel=%s];" % (
            _quoted(a.node.name if a.node else "host"),
            _quoted(b.node.name if b.node else "host"),
            _quoted(_words(link)), _quoted(a.name), _quoted(b.name)))
    return "\n".join(out + ["}"])


def text(topo):
    """Every node with its links, switches first, then the flows."""
    out = []
    for node in sorted(topo.nodes.values(),
                       key=lambda n: n.role != "switch"):
        out.append("%s (%s)" % (node.name, node.role))
        for n, i in enumerate(node.interfaces):
            last = n == len(node.interfaces) - 1
            words = _words(i.link)
            out.append("  %s- %s %s %s" % (
                "`" if last else "|", i.name,
                "--%s--" % words.replace(" ", "-") if words else "--",
                i.peer))
    flows = [f for s in config.stations(topo).values() for f in s.flows]
    if flows:
        out.append("flows")
        out += ["  %s -> %s  priority %d%s" % (
            f.name, f.target.name, f.prio, "".join(
                "  %s %s" % (k, v) for k, v in f.pairs.items()
                if k != "prio")) for f in flows]
    return "\n".join(out)
