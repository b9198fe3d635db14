# SPDX-License-Identifier: Apache-2.0
"""The runtime of network namespaces: a node is a namespace, a switch is a
sluiced in it, a host is what its probe does there."""
import contextlib
import os
import shlex

from . import links, names, system
from .errors import FileError, TopoError
from .model import PRIVATE

FOLDER = "/run/netns/"


class Netns:
    kind = "netns"

    def __init__(self, topo, state):
        self.topo, self.state = topo, state

    # -- names -------------------------------------------------------------

    def name(self, node):
        return names.node(self.topo.name, node.name)

    def path(self, node):
        return FOLDER + self.name(node)

    def handle(self, node):
        return self.name(node)

    # -- up ----------------------------------------------------------------

    def check(self):
        """What can be known to go wrong before anything is made."""
        system.need("ip", "nsenter")
        system.need_root()
        system.program("sluiced")
        for node in self.topo.nodes.values():
            if os.path.exists(self.path(node)):
                raise FileError(self.topo.path, node.line, "node '%s': the "
                                "network namespace %s exists already" % (
                                    node.name, self.name(node)))
            for bind in self.binds(node):
                if not os.path.exists(bind.target):
                    raise FileError(
                        self.topo.path, bind.line, "bind: namespaces share "
                        "the files of this machine, and there is no %s to "
                        "bind to" % bind.target)
        end = links.check_free(self.topo.links)
        if end:
            raise FileError(self.topo.path, end.link.line, "there is an "
                            "interface %s on this machine already" % end.name)

    @staticmethod
    def binds(node):
        """Without that of the start of our image: it is for containers."""
        return [b for b in node.binds if b.target != PRIVATE]

    def create(self):
        for node in self.topo.nodes.values():
            self.state.add("netns", node=node.name, name=self.name(node))
            os.makedirs(self.state.node_folder(node.name))
        nodes = list(self.topo.nodes.values())
        try:
            system.batch(["netns add " + self.name(n) for n in nodes])
        except system.BatchError as e:
            # Those from there on are not ours, if they exist at all.
            self.made(nodes[:e.done])
            self.state.add("netns-failed")
            raise
        self.made(nodes)
        for node in nodes:
            path = self.path(node)
            system.quiet(path)
            links.set_up(path, ["lo"])
            if self.binds(node):
                self.anchor(node)

    def made(self, nodes):
        for node in nodes:
            self.state.add("netns-made", name=self.name(node),
                           inode=os.stat(self.path(node)).st_ino)

    def anchor(self, node):
        """A process that keeps the mounts of a node with binds."""
        steps = ["mount --make-rprivate /"]
        for b in self.binds(node):
            steps.append("mount --bind %s %s" % (shlex.quote(b.source),
                                                 shlex.quote(b.target)))
            if b.read_only:
                steps.append("mount -o remount,ro,bind %s" %
                             shlex.quote(b.target))
        ready = os.path.join(self.state.node_folder(node.name), "mounted")
        # Made before the mounts may hide where it is.
        fd = os.open(ready, os.O_CREAT | os.O_RDWR, 0o600)
        steps.append("echo yes >&%d; exec sleep infinity" % fd)
        log = os.path.join(self.state.node_folder(node.name), "mount.log")
        try:
            p = system.spawn(["ip", "netns", "exec", self.name(node), "sh",
                              "-ec", "\n".join(steps)], log, pass_fds=(fd,))
            self.journal("anchor", node, p)
            system.wait_for(lambda: os.fstat(fd).st_size or
                            p.poll() is not None,
                            "the mounts of node '%s'" % node.name, 10)
        finally:
            os.close(fd)
        if p.poll() is not None:
            with open(log, errors="replace") as f:
                raise FileError(self.topo.path, self.binds(node)[0].line,
                                "binds of node '%s': %s" % (
                                    node.name, f.read().strip()))

    def journal(self, what, node, process):
        start = system.started(process.pid)
        if start is not None:
            self.state.add("process", name="%s %s" % (what, node.name),
                           pid=process.pid, started=start)

    def wire(self, some=None):
        chosen = self.topo.links if some is None else some
        for link in chosen:
            for end in link.ends:
                if end.node is None:
                    self.state.add("hostlink", name=end.name, mac=end.mac)
        links.wire(chosen, self.path, self.handle)

    def start(self, node):
        """The daemon of a switch."""
        folder = self.state.node_folder(node.name)
        p = system.spawn(self.argv(node, [
            system.program("sluiced"), "--foreground",
            "--database", os.path.join(folder, "sluice.db"),
            "--socket", self.state.socket(node.name),
            "--pid-file", os.path.join(folder, "sluiced.pid"),
            "--log-to", "stderr"]), self.log(node))
        self.journal("sluiced", node, p)
        return p

    def log(self, node):
        return os.path.join(self.state.node_folder(node.name), "log")

    def ready_program(self, name):
        return system.program(name)

    def why_dead(self, node):
        """What a daemon that ended had to say; None while it runs."""
        system.reap()
        entry = self.state.processes().get("sluiced " + node.name)
        if entry and system.is_alive(entry):
            return None
        with contextlib.suppress(OSError):
            with open(self.log(node), errors="replace") as f:
                return f.read().strip().split("\n")[-1]
        return "it is not running"

    def repair(self):
        """Makes what went away since; a list of what was made."""
        out = []
        for node in self.topo.nodes.values():
            inode = links.namespace_inode(self.path(node))
            mine = next((e["inode"] for e in self.state.of("netns-made")
                         if e["name"] == self.name(node)), None)
            if inode is None or inode != mine:
                raise TopoError("the network namespace %s is not the one "
                                "that was made: take the topology down and "
                                "up again" % self.name(node))
        gone = links.missing(self.topo.links, self.path)
        self.wire(gone)
        out += ["link %s" % link for link in gone]
        for node in self.topo.switches():
            if self.why_dead(node) is not None:
                self.start(node)
                out.append("switch %s" % node.name)
        return out

    # -- while it is up ----------------------------------------------------

    def argv(self, node, command, tty=False):
        """A command as it runs in a node."""
        env = dict(node.env)
        if node.has_daemon:
            env["SLUICE_SOCKET"] = self.state.socket(node.name)
        words = ["env"] + ["%s=%s" % kv for kv in env.items()] if env else []
        anchor = self.state.processes().get("anchor " + node.name)
        if anchor:
            enter = ["nsenter", "--target", str(anchor["pid"]), "--mount",
                     "--net"]
        else:
            enter = ["ip", "netns", "exec", self.name(node)]
        return enter + words + list(command)

    def is_there(self, node):
        return os.path.exists(self.path(node))

    def describe(self, node):
        """(state, detail) for `show`."""
        if not self.is_there(node):
            return "gone", ""
        if not node.has_daemon:
            return "up", "netns %s" % self.name(node)
        entry = self.state.processes().get("sluiced " + node.name)
        if entry is None or not system.is_alive(entry):
            return "dead", "netns %s" % self.name(node)
        return "up", "pid %d, netns %s" % (entry["pid"], self.name(node))

    def pid(self, node):
        entry = self.state.processes().get("sluiced " + node.name)
        return entry["pid"] if entry and system.is_alive(entry) else None

    # -- down --------------------------------------------------------------

    @staticmethod
    def destroy(state):
        """Undoes what the journal says; needs no topology file."""
        made = {e["name"]: e["inode"] for e in state.of("netns-made")}
        ours = []
        sure = not state.of("netns-failed")
        for e in state.of("netns"):
            inode = links.namespace_inode(FOLDER + e["name"])
            if inode is not None and \
                    made.get(e["name"], inode if sure else None) == inode:
                ours.append((e["name"], inode))
        system.end(list(state.processes().values()))
        system.end(_inhabitants({inode for _, inode in ours}))
        for e in state.of("hostlink"):
            links.delete(None, e["name"], e["mac"])
        if ours:
            system.batch(["netns del " + name for name, _ in ours])


def _inhabitants(inodes):
    """The processes that are in one of our namespaces."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            inode = os.stat("/proc/%s/ns/net" % pid).st_ino
        except OSError:
            continue
        start = system.started(int(pid)) if inode in inodes else None
        if start is not None and int(pid) != os.getpid():
            out.append({"pid": int(pid), "started": start})
    return out
