# SPDX-License-Identifier: Apache-2.0
"""A topology that is, or comes, up: what the commands do."""
import contextlib
import hashlib
import json
import os
import shlex
import shutil
import signal
import time

from . import config, document, expect, links, model, system
from .docker import Docker
from .errors import FileError, TopoError, UsageError
from .netns import Netns
from .rpc import Rpc
from .state import State, all_names

RUNTIMES = {"netns": Netns, "docker": Docker}
READY_S = 30.0
SOCKET_MAX = 107  # octets that the path of a Unix socket may have


def read(path):
    """A topology file, with everything in it checked."""
    topo = model.read(path)
    config.check(topo)
    expect.of_topology(topo)
    return topo


@contextlib.contextmanager
def unharmed():
    """No signal ends us meanwhile: cleaning up is finished."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    old = [signal.signal(s, signal.SIG_IGN) for s in signals]
    try:
        yield
    finally:
        for s, handler in zip(signals, old):
            signal.signal(s, handler)


class Lab:
    def __init__(self, topo, state, runtime, say=lambda text: None):
        self.topo, self.state, self.say = topo, state, say
        self.runtime = RUNTIMES[runtime](topo, state)

    # -- up ----------------------------------------------------------------

    def up(self):
        """Makes what is missing; whether anything was up before."""
        digest = self.digest()
        if not self.state.exists():
            self._make(digest)
            return False
        head = self.state.head()
        # Without its first entry nothing of it was made.
        if head and head.get("runtime") != self.runtime.kind:
            raise TopoError("topology '%s' is up with the runtime %s: take "
                            "it down first" % (self.topo.name,
                                               head.get("runtime")))
        if not self.state.is_complete():
            self.say("cleaning up what an earlier up left half made")
            destroy(self.state)
            self.state.load()
            self._make(digest)
            return False
        if head.get("digest") != digest:
            raise TopoError("topology '%s' is up, and %s is not what it was "
                            "made from: take it down first" % (
                                self.topo.name, self.topo.path))
        for what in self.runtime.repair():
            self.say("made again: %s" % what)
        self._await_switches()
        self._await_ports()
        self._addresses()
        return True

    def digest(self):
        """Of everything that the topology is made from."""
        h = hashlib.sha256(document.read_text(self.topo.path).encode())
        for node in self.topo.nodes.values():
            if node.startup:
                h.update(document.read_text(node.startup).encode())
        return h.hexdigest()

    def _check_sockets(self):
        for node in self.topo.switches():
            path = self.state.socket(node.name)
            if len(path.encode()) > SOCKET_MAX:
                raise FileError(self.topo.path, node.line, "node '%s': its "
                                "name and that of the topology are too long "
                                "together: %s has more than %d octets" % (
                                    node.name, path, SOCKET_MAX))

    def _make(self, digest):
        self._check_sockets()
        self.runtime.check()
        for note in self.topo.notes:
            self.say("note: " + note)
        try:
            self.state.begin(
                name=self.topo.name, runtime=self.runtime.kind,
                file=os.path.abspath(self.topo.path), digest=digest,
                created=time.strftime("%Y-%m-%dT%H:%M:%S%z"))
            shutil.copyfile(self.topo.path, self.state.copy)
            self.runtime.create()
            self.runtime.wire()
            for node in self.topo.switches():
                self.runtime.start(node)
            self._await_switches()
            self._configure()
            self._await_ports()
            self._addresses()
            self._execs()
            self.state.add("complete")
        except BaseException:
            with unharmed():
                destroy(self.state)
            raise

    def rpc(self, node, kind=Rpc):
        try:
            return kind(self.state.socket(node.name))
        except OSError as e:
            raise TopoError("switch '%s' does not answer: %s" % (
                node.name, e.strerror or e))

    def counters(self, name):
        """Of the interfaces of a node; none while it is not there."""
        node = self.topo.nodes[name]
        if not self.runtime.is_there(node):
            return {}
        found = links.counters(self.runtime.path(node))
        return {i.name: found[i.name] for i in node.interfaces
                if i.name in found}

    def _await_switches(self):
        for node in self.topo.switches():
            def ready():
                why = self.runtime.why_dead(node)
                if why is not None:
                    raise TopoError("switch '%s' ended: %s" % (node.name,
                                                               why))
                try:
                    with Rpc(self.state.socket(node.name)) as rpc:
                        return rpc.call("daemon.status")
                except (OSError, TopoError):
                    return None
            system.wait_for(ready, "switch '%s' answers" % node.name,
                            READY_S)

    def _configure(self):
        for node in self.topo.switches():
            wanted = config.switch(self.topo, node)
            line = node.startup_line if node.startup else node.line
            try:
                with self.rpc(node) as rpc:
                    rpc.call("config.apply", config=wanted)
            except TopoError as e:
                raise FileError(self.topo.path, line, "switch '%s': %s" % (
                    node.name, e))

    def _await_ports(self):
        for node in self.topo.switches():
            with self.rpc(node) as rpc:
                def waiting():
                    return ["%s (%s)" % (p["name"], p["refusal"])
                            if "refusal" in p else p["name"]
                            for p in rpc.call("port.list")
                            if p["state"] != "up"]
                end = time.monotonic() + READY_S
                while waiting():
                    if time.monotonic() > end:
                        raise TopoError("switch '%s': ports that do not come "
                                        "up: %s" % (node.name,
                                                    ", ".join(waiting())))
                    time.sleep(0.02)

    def _addresses(self):
        """Of lossless hosts: their taps come with their daemons."""
        for node in self.topo.switches():
            try:
                give_address(self.topo, self.runtime, node)
            except TopoError as e:
                raise FileError(self.topo.path,
                                node.labels["sluice-address"].line,
                                "node '%s': %s" % (node.name, e))

    def readdress(self, name):
        """After the restart of the container of that name."""
        for node in self.topo.switches():
            if self.runtime.name(node) != name or \
                    not config.address_of(self.topo, node):
                continue

            def given():
                with contextlib.suppress(TopoError):
                    give_address(self.topo, self.runtime, node)
                    return True
            system.wait_for(given, "the tap of node '%s'" % node.name,
                            READY_S, 0.2)

    def _execs(self):
        for node in self.topo.nodes.values():
            for text, line in node.execs:
                p = system.run(*self.runtime.argv(node, shlex.split(text)),
                               check=False, env=environment())
                if p.returncode:
                    raise FileError(
                        self.topo.path, line, "exec '%s' in node '%s': exit "
                        "%d: %s" % (text, node.name, p.returncode,
                                    (p.stderr or p.stdout).strip()))

    # -- show --------------------------------------------------------------

    def show(self):
        nodes, ends = [], {}
        for node in self.topo.nodes.values():
            state, detail = self.runtime.describe(node)
            nodes.append({"node": node.name, "role": node.role,
                          "state": state, "detail": detail,
                          "pid": self.runtime.pid(node),
                          "interfaces": len(node.interfaces)})
            names = [i.name for i in node.interfaces]
            found = links.states(self.runtime.path(node), names) \
                if self.runtime.is_there(node) else dict.fromkeys(
                    names, "absent")
            ends.update({"%s:%s" % (node.name, n): s
                         for n, s in found.items()})
        out = []
        for link in self.topo.links:
            labels = {k: v.text for k, v in link.labels.items()}
            a, b = link.ends
            state = {ends.get(str(e), "up") for e in (a, b)}
            out.append({"a": str(a), "b": str(b),
                        "state": state.pop() if len(state) == 1 else
                        "absent" if "absent" in state else "down",
                        "rate": labels.get("sluice-rate"),
                        "cable": labels.get("sluice-cable"),
                        "mtu": link.mtu})
        return {"name": self.topo.name, "runtime": self.runtime.kind,
                "file": self.topo.path, "created":
                self.state.head().get("created"),
                "complete": self.state.is_complete(),
                "nodes": nodes, "links": out}


def give_address(topo, runtime, node):
    address = config.address_of(topo, node)
    if address:
        system.run(*runtime.argv(node, [
            "ip", "address", "replace", address, "dev",
            config.tap_of(node)]), env=environment())


def environment():
    """Of commands in nodes: our programs are found there."""
    env = dict(os.environ)
    folders = []
    for name in ("sluicectl", "sluice-probe"):
        with contextlib.suppress(TopoError):
            folder = os.path.dirname(system.program(name))
            if folder and folder not in folders:
                folders.append(folder)
    env["PATH"] = ":".join(folders + [env.get("PATH", "/usr/bin:/bin")])
    return env


def destroy(state):
    """Undoes everything that the journal of a topology says."""
    runtime = state.head().get("runtime")
    if runtime:
        RUNTIMES[runtime].destroy(state)
    if os.path.isdir(state.folder):
        state.remove()


def find(word):
    """The State of a topology that is up, by its name or its file; the only
    one that is up when word is None."""
    up = all_names()
    if word is None:
        if len(up) == 1:
            return State(up[0])
        raise UsageError("which topology? %s" % (
            "None is up." if not up else "Up are: %s" % ", ".join(up)))
    if word in up:
        return State(word)
    if os.path.exists(word):
        path = os.path.abspath(word)
        for name in up:
            if State(name).load().head().get("file") == path:
                return State(name)
        # The file may have been moved: go by its name.
        with contextlib.suppress(TopoError):
            name = model.read(word).name
            if name in up:
                return State(name)
    raise TopoError("topology '%s' is not up%s" % (
        word, ": up are %s" % ", ".join(up) if up else ""))


def open_up(state, say=lambda text: None):
    """The Lab of a topology that is up, from the copy of its file: the file
    may have changed since."""
    head = state.load().head()
    if not head:
        raise TopoError("topology '%s' is not up" % state.name)
    topo = model.read(state.copy, shown=head["file"])
    return Lab(topo, state, head["runtime"], say)


def as_json(value):
    return json.dumps(value, indent=2)
