# SPDX-License-Identifier: Apache-2.0
"""What a topology file says: nodes, links, and labels with their lines.

The format is a subset of containerlab's (docs/topology-format.md); what is
known and what is refused is listed here, and every error names file and line.
"""
import os
import shlex

from . import document, names, values
from .errors import FileError, one_of

MAX_NODES = 256
MAX_LINKS = 1024
MAX_INTERFACES = 64  # of one node: the ports that a bridge can have
PRIVATE = "/etc/sluice/startup.json"  # where our image looks for its start

# Of a node: what has a meaning here, and what is for containerlab alone.
NODE_KEYS = ("kind", "image", "group", "labels", "env", "binds", "exec",
             "startup-config", "network-mode", "cmd")
NODE_IGNORED = ("image-pull-policy", "restart-policy", "cap-add", "devices",
                "memory", "cpu", "cpu-set", "mgmt-ipv4", "mgmt-ipv6",
                "auto-remove", "startup-delay", "enforce-startup-config")
LOSSLESS_HOST = "lossless-host"
ROLES = ("switch", "host", LOSSLESS_HOST, "other")
LINK_KEYS = ("endpoints", "labels", "vars", "mtu", "type")

NO_PFC = {
    "bridge": "a Linux bridge drops PFC frames",
    "ovs-bridge": "Open vSwitch drops PFC frames",
    "macvlan": "a macvlan interface never delivers PFC frames",
    "ipvlan": "an ipvlan interface never delivers PFC frames",
    "mgmt-net": "the management network is a Linux bridge, which drops PFC "
                "frames",
    "host": "the host's own network is not touched",
}


class Label:
    """A label's text and the line where it stands."""

    def __init__(self, text, line):
        self.text, self.line = text, line


class Interface:
    """An end of a link: the name in the file, and the one that it gets."""

    def __init__(self, node, wanted, name, link):
        self.node, self.wanted, self.name, self.link = \
            node, wanted, name, link
        self.mac = None

    @property
    def peer(self):
        a, b = self.link.ends
        return b if self is a else a

    def __str__(self):
        return "%s:%s" % (self.node.name if self.node else "host", self.name)


class Link:
    def __init__(self, line):
        self.line = line
        self.ends = []
        self.labels = {}
        self.mtu = None

    def __str__(self):
        return "%s -- %s" % tuple(self.ends)


class Bind:
    def __init__(self, source, target, read_only, line):
        self.source, self.target, self.line = source, target, line
        self.read_only = read_only


class Node:
    def __init__(self, name, line):
        self.name, self.line = name, line
        self.kind = self.image = self.cmd = None
        self.image_line = line
        self.labels = {}
        self.env = {}
        self.binds = []
        self.execs = []      # (text, line)
        self.startup = None  # path of a configuration for sluicectl apply
        self.startup_line = line
        self.role = "host"
        self.interfaces = []

    @property
    def has_daemon(self):
        return self.role in ("switch", LOSSLESS_HOST)

    def interface(self, name):
        """By either of its names, or None."""
        return next((i for i in self.interfaces
                     if name in (i.wanted, i.name)), None)

    def label(self, key, default=None):
        return self.labels[key].text if key in self.labels else default


class Topology:
    """A file that has been read and checked as a whole."""

    def __init__(self, path):
        self.path = path
        self.folder = os.path.dirname(os.path.abspath(path))
        self.name = None
        self.nodes = {}
        self.links = []
        self.labels = {}   # of topology.defaults: of the whole
        self.notes = []    # what is worth telling, not wrong

    def fail(self, line, message):
        raise FileError(self.path, line, message)

    def switches(self):
        """Nodes with a daemon: a lossless host is a switch of two ports."""
        return [n for n in self.nodes.values() if n.has_daemon]

    def hosts(self):
        return [n for n in self.nodes.values() if n.role == "host"]


def read(path, shown=None):
    """The topology in a file; FileError when anything is wrong with it.
    shown: where a copy is from, for errors and relative paths."""
    return _Reader(path, shown or path).read()


class _Reader:
    def __init__(self, path, shown):
        self.source = path
        self.path = shown
        self.topo = Topology(shown)

    def fail(self, line, message):
        raise FileError(self.path, line, message)

    def read(self):
        root = document.load(self.source)
        self.known(root, "the file", ("name", "prefix", "topology"),
                   ("mgmt", "settings"))
        self.topo.name = self.named(root)
        body = self.member(root, "topology", document.Map, root.line,
                           required=True)
        self.known(body, "topology", ("defaults", "kinds", "groups", "nodes",
                                      "links"))
        self.levels = {
            "defaults": self.level(body, "defaults"),
            "kinds": self.level_by_name(body, "kinds"),
            "groups": self.level_by_name(body, "groups"),
        }
        self.topo.labels = self.labels(self.levels["defaults"], "defaults")
        self.nodes(body)
        self.read_links(body)
        self.finish()
        return self.topo

    # -- help --------------------------------------------------------------

    def known(self, mapping, what, allowed, ignored=()):
        for key in mapping:
            if key in ignored:
                note = "line %d: '%s' is for containerlab, and ignored" % (
                    mapping.lines[key], key)
                if note not in self.topo.notes:
                    self.topo.notes.append(note)
            elif key not in allowed:
                self.fail(mapping.lines[key], "'%s' is not known in %s: "
                          "allowed are %s" % (key, what, one_of(allowed)))

    def member(self, mapping, key, kind, line, required=False):
        value = mapping.get(key)
        if value is None:
            if required:
                self.fail(line, "'%s' is missing" % key)
            return kind(line) if kind is not str else None
        if not isinstance(value, kind):
            names_of = {document.Map: "a mapping", document.Seq: "a list",
                        str: "a text"}
            self.fail(mapping.lines[key], "'%s' has to be %s" % (
                key, names_of[kind]))
        return value

    def named(self, root):
        name = self.member(root, "name", str, root.line, required=True)
        try:
            if len(names.check(name)) > 40:
                raise ValueError("'%s' is longer than 40" % name)
        except ValueError as e:
            self.fail(root.lines["name"], "name: %s" % e)
        return name

    # -- nodes -------------------------------------------------------------

    def level(self, body, key):
        value = self.member(body, key, document.Map, body.line)
        self.known(value, key, NODE_KEYS, NODE_IGNORED)
        return value

    def level_by_name(self, body, key):
        out = self.member(body, key, document.Map, body.line)
        for name in out:
            if out[name] is None:
                out[name] = document.Map(out.lines[name])
            if not isinstance(out[name], document.Map):
                self.fail(out.lines[name], "'%s' has to be a mapping" % name)
            self.known(out[name], "%s.%s" % (key, name), NODE_KEYS,
                       NODE_IGNORED)
            if key == "kinds":
                self.check_kind(name, out.lines[name])
        return out

    def check_kind(self, kind, line):
        if kind in NO_PFC:
            self.fail(line, "kind '%s': %s; a switch of Sluice is a node of "
                      "kind linux with the label sluice-role: switch" % (
                          kind, NO_PFC[kind]))
        if kind != "linux":
            self.fail(line, "kind '%s' is not known: allowed is linux" % kind)

    def nodes(self, body):
        all_nodes = self.member(body, "nodes", document.Map, body.line,
                                required=True)
        if not all_nodes:
            self.fail(body.lines["nodes"], "'nodes' is empty")
        if len(all_nodes) > MAX_NODES:
            self.fail(body.lines["nodes"], "%d nodes: at most %d are "
                      "possible" % (len(all_nodes), MAX_NODES))
        for name in all_nodes:
            line = all_nodes.lines[name]
            own = all_nodes[name]
            if own is None:
                own = document.Map(line)
            if not isinstance(own, document.Map):
                self.fail(line, "node '%s' has to be a mapping" % name)
            try:
                names.check(name)
            except ValueError as e:
                self.fail(line, "node: %s" % e)
            if name in NO_PFC:
                self.fail(line, "a node cannot be called '%s'" % name)
            self.known(own, "node '%s'" % name, NODE_KEYS, NODE_IGNORED)
            self.topo.nodes[name] = self.node(name, own, line)

    def node(self, name, own, line):
        node = Node(name, line)
        defaults = self.levels["defaults"]
        group = self.member(own, "group", str, line)
        if group is not None and group not in self.levels["groups"]:
            self.fail(own.lines["group"], "there is no group '%s'" % group)
        of_group = self.levels["groups"].get(group, document.Map())
        kind_at = next((m for m in (own, of_group, defaults)
                        if m.get("kind")), None)
        if kind_at is None:
            self.fail(line, "node '%s' has no kind" % name)
        node.kind = self.member(kind_at, "kind", str, line)
        self.check_kind(node.kind, kind_at.lines["kind"])
        levels = [defaults, self.levels["kinds"].get(node.kind,
                                                     document.Map()),
                  of_group, own]
        for level in levels:
            self.fill(node, level)
        self.role(node)
        self.check_binds(node)
        return node

    def fill(self, node, level):
        """What one level says, over what the ones before it said."""
        what = "node '%s'" % node.name
        image = self.member(level, "image", str, node.line)
        if image:
            node.image, node.image_line = image, level.lines["image"]
        node.cmd = self.member(level, "cmd", str, node.line) or node.cmd
        node.labels.update(self.labels(level, what))
        node.env.update({k: v.text for k, v in self.texts(
            level, "env", what).items()})
        self.network_mode(level)
        execs = self.member(level, "exec", document.Seq, node.line)
        for text, line in zip(execs, execs.lines):
            if not isinstance(text, str):
                self.fail(line, "exec: a command has to be a text")
            try:
                if not shlex.split(text):
                    raise ValueError("an empty command")
            except ValueError as e:
                self.fail(line, "exec '%s': %s" % (text, e))
            node.execs.append((text, line))
        binds = self.member(level, "binds", document.Seq, node.line)
        node.binds += [self.bind(t, n) for t, n in zip(binds, binds.lines)]
        startup = self.member(level, "startup-config", str, node.line)
        if startup:
            line = level.lines["startup-config"]
            node.startup, node.startup_line = self.path_of(startup, line), \
                line
            if not os.path.isfile(node.startup):
                self.fail(line, "startup-config: there is no file %s" %
                          node.startup)

    def network_mode(self, level):
        mode = self.member(level, "network-mode", str, level.line)
        if mode not in (None, "none"):
            self.fail(level.lines["network-mode"],
                      "network-mode '%s': %s; allowed is none" % (
                          mode, NO_PFC.get(mode, "it is not wired with veth "
                                           "pairs, so PFC frames do not get "
                                           "through")))

    def texts(self, level, key, what):
        found = self.member(level, key, document.Map, level.line)
        out = {}
        for k in found:
            if not isinstance(found[k], str):
                self.fail(found.lines[k], "%s: %s '%s' has to be a text" % (
                    what, key, k))
            out[k] = Label(found[k], found.lines[k])
        return out

    def labels(self, level, what):
        return self.texts(level, "labels", what)

    def role(self, node):
        label = node.labels.get("sluice-role")
        if label is None:
            node.role = "switch" if node.startup else "host"
            return
        try:
            node.role = values.word(label.text, ROLES)
        except ValueError as e:
            self.fail(label.line, "sluice-role: %s" % e)
        if node.startup and node.role != "switch":
            self.fail(node.startup_line, "startup-config is for switches: "
                      "node '%s' has the role %s" % (node.name, node.role))

    # -- binds -------------------------------------------------------------

    def path_of(self, text, line):
        path = os.path.expanduser(text)
        if not os.path.isabs(path):
            path = os.path.join(self.topo.folder, path)
        try:
            return os.path.realpath(path, strict=True)
        except FileNotFoundError:
            return os.path.normpath(path)
        except OSError as e:  # a cycle of symbolic links
            self.fail(line, "%s: %s" % (text, e.strerror))

    def bind(self, text, line):
        parts = text.split(":") if isinstance(text, str) else ()
        if len(parts) not in (2, 3) or not all(parts) or \
                (len(parts) == 3 and parts[2] not in ("ro", "rw")):
            self.fail(line, "bind '%s' is not SOURCE:TARGET or "
                      "SOURCE:TARGET:ro" % text)
        source, target = self.path_of(parts[0], line), parts[1]
        if not os.path.isabs(target) or os.path.normpath(target) == "/":
            self.fail(line, "bind '%s': the target has to be an absolute "
                      "path, and not /" % text)
        if not os.path.exists(source):
            self.fail(line, "bind '%s': there is no %s" % (text, source))
        return Bind(source, os.path.normpath(target),
                    parts[2:] == ["ro"], line)

    def check_binds(self, node):
        """Refuses targets that are bound twice, and cycles: a source that
        can only be had once another bind, which needs it, is in place."""
        seen = {}
        for b in node.binds:
            if b.target in seen:
                self.fail(b.line, "binds: %s is bound twice, first in line "
                          "%d" % (b.target, seen[b.target]))
            seen[b.target] = b.line

        def needs(a, b):  # /lib:/lib is no cycle: it needs no other
            return a is not b and _inside(a.source, b.target)

        done, active = set(), []

        def visit(b):
            if b in active:
                chain = active[active.index(b):] + [b]
                self.fail(b.line, "binds: a cycle: %s" % " -> ".join(
                    "%s:%s" % (x.source, x.target) for x in chain))
            if b in done:
                return
            active.append(b)
            for other in node.binds:
                if needs(b, other):
                    visit(other)
            active.pop()
            done.add(b)
        for b in node.binds:
            visit(b)

    # -- links -------------------------------------------------------------

    def read_links(self, body):
        links = self.member(body, "links", document.Seq, body.line)
        if len(links) > MAX_LINKS:
            self.fail(links.line, "%d links: at most %d are possible" % (
                len(links), MAX_LINKS))
        self.used = {}  # (node, interface) -> line
        for item, line in zip(links, links.lines):
            if not isinstance(item, document.Map):
                self.fail(line, "a link has to be a mapping with endpoints")
            self.topo.links.append(self.link(item, line))

    def link(self, item, line):
        kind = self.member(item, "type", str, line)
        if kind in NO_PFC:
            self.fail(item.lines["type"], "a link of type '%s': %s; allowed "
                      "is veth" % (kind, NO_PFC[kind]))
        if kind not in (None, "veth"):
            self.fail(item.lines["type"], "a link of type '%s' is not known: "
                      "allowed is veth" % kind)
        self.known(item, "a link", LINK_KEYS)
        link = Link(line)
        ends = self.member(item, "endpoints", document.Seq, line,
                           required=True)
        if len(ends) != 2:
            self.fail(item.lines["endpoints"],
                      "a link has two endpoints, not %d" % len(ends))
        link.labels = self.labels(item, "link")
        if item.get("mtu") is not None:
            try:
                link.mtu = values.number(str(item["mtu"]), 68, 65535)
            except ValueError as e:
                self.fail(item.lines["mtu"], "mtu: %s" % e)
        for end, end_line in zip(ends, ends.lines):
            link.ends.append(self.end(end, end_line, link))
        return link

    def end(self, end, line, link):
        mac = None
        if isinstance(end, document.Map):
            self.known(end, "an endpoint", ("node", "interface", "mac"))
            node_name = self.member(end, "node", str, line, required=True)
            wanted = self.member(end, "interface", str, line, required=True)
            mac = self.member(end, "mac", str, line)
        else:
            node_name, colon, wanted = end.partition(":") \
                if isinstance(end, str) else ("", "", "")
            if not colon or not node_name or not wanted:
                self.fail(line, "endpoint '%s' is not NODE:INTERFACE" % end)
        if node_name in NO_PFC and node_name != "host":
            self.fail(line, "endpoint '%s': %s" % (node_name,
                                                   NO_PFC[node_name]))
        node = self.topo.nodes.get(node_name)
        if node is None and node_name != "host":
            self.fail(line, "there is no node '%s': the nodes are %s" % (
                node_name, one_of(list(self.topo.nodes)[:12])))
        return self.interface(node, wanted, line, link, mac)

    def interface(self, node, wanted, line, link, mac):
        where = node.name if node else "host"
        try:
            name = names.interface(wanted)
            mac = values.mac(mac) if mac else None
        except ValueError as e:
            self.fail(line, str(e))
        for key in (wanted, name):
            if (where, key) in self.used:
                self.fail(line, "interface %s:%s is used twice, first in "
                          "line %d" % (where, key, self.used[where, key]))
        self.used[where, wanted] = self.used[where, name] = line
        if name != wanted:
            self.topo.notes.append("line %d: %s:%s is too long for an "
                                   "interface, and is called %s" % (
                                       line, where, wanted, name))
        out = Interface(node, wanted, name, link)
        out.mac = mac or names.mac(self.topo.name, where, wanted)
        if node:
            node.interfaces.append(out)
            if len(node.interfaces) > MAX_INTERFACES:
                self.fail(line, "node '%s' has more than %d interfaces" % (
                    where, MAX_INTERFACES))
        return out

    def finish(self):
        for node in self.topo.nodes.values():
            label = node.labels.get("sluice-mac")
            if label is None:
                continue
            try:
                address = values.mac(label.text)
            except ValueError as e:
                self.fail(label.line, "sluice-mac: %s" % e)
            if not node.interfaces:
                self.fail(label.line, "sluice-mac: node '%s' has no "
                          "interface" % node.name)
            node.interfaces[0].mac = address


def _inside(path, folder):
    return path == folder or path.startswith(folder.rstrip("/") + "/")
