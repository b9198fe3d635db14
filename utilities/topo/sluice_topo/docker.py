# SPDX-License-Identifier: Apache-2.0
"""The runtime of Docker: a node is a container of our image without any
network of Docker's, wired with veth pairs that are moved into it.

A container that restarts has a new network namespace, and its links are gone
with the old one: a process that `up` leaves behind hears of the start and
makes them again.
"""
import concurrent.futures
import contextlib
import fcntl
import json
import os
import subprocess
import sys

from . import config, links, names, system
from .errors import CannotError, FileError, TopoError

LABEL = "sluice-topo"
INSIDE = "/run/sluice"  # where the state of a node is in its container
# What is added to Docker's own set, and what of that is dropped: NET_RAW alone
# is left of it, for packet sockets.
CAPS = ("NET_ADMIN",)
NO_CAPS = ("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL",
           "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP",
           "SETUID", "SYS_CHROOT")
# What ports through AF_XDP need beside: programs in the kernel, and frame memory
# that stays resident.
XDP_CAP = "BPF"
XDP_WORDS = ("--cap-add", XDP_CAP, "--ulimit", "memlock=-1")
AT_ONCE = 4
START_S = 120


def docker(*words, check=True, timeout=START_S):
    try:
        return system.run("docker", *words, check=check, timeout=timeout)
    except CannotError:
        raise CannotError("there is no program docker: install the Debian "
                          "package docker.io, or use --runtime netns")


def need_engine():
    p = docker("version", "--format", "{{.Server.Version}}", check=False,
               timeout=20)
    if p.returncode:
        raise CannotError("no Docker engine answers: %s" %
                          (p.stderr.strip().split("\n") or [""])[-1])


class Docker:
    kind = "docker"

    def __init__(self, topo, state):
        self.topo, self.state = topo, state
        self._pids = self._knows_xdp = None

    # -- names -------------------------------------------------------------

    def name(self, node):
        return names.node(self.topo.name, node.name)

    def handle(self, node):
        pid = self.pids().get(self.name(node))
        if not pid:
            raise TopoError("the container %s does not run" %
                            self.name(node))
        return pid

    def path(self, node):
        return "/proc/%d/ns/net" % self.handle(node)

    def pids(self, fresh=False):
        """{container: pid}, 0 where it does not run."""
        if self._pids is None or fresh:
            wanted = [self.name(n) for n in self.topo.nodes.values()]
            p = docker("inspect", "--type", "container", "--format",
                       "{{.Name}} {{.State.Pid}}", *wanted, check=False)
            self._pids = {}
            for line in p.stdout.splitlines():
                name, pid = line.lstrip("/").split()
                self._pids[name] = int(pid)
        return self._pids

    # -- up ----------------------------------------------------------------

    def check(self):
        system.need("ip", "nsenter")
        system.need_root()
        need_engine()
        images = {}
        for node in self.topo.nodes.values():
            if not node.image:
                raise FileError(self.topo.path, node.line, "node '%s' has no "
                                "image" % node.name)
            images.setdefault(node.image, node)
        for image, node in images.items():
            if docker("image", "inspect", image, check=False).returncode:
                raise FileError(
                    self.topo.path, node.image_line, "there is no image %s: "
                    "make it with `docker build -t %s .` in Sluice's source "
                    "tree" % (image, image))
        self.check_xdp()
        taken = set(docker("ps", "--all", "--format",
                           "{{.Names}}").stdout.split())
        for node in self.topo.nodes.values():
            if self.name(node) in taken:
                raise FileError(self.topo.path, node.line, "node '%s': the "
                                "container %s exists already" % (
                                    node.name, self.name(node)))
        end = links.check_free(self.topo.links)
        if end:
            raise FileError(self.topo.path, end.link.line, "there is an "
                            "interface %s on this machine already" % end.name)

    def knows_xdp(self):
        """Whether the engine can give a container what AF_XDP needs.  It says
        so before it finds that there is no image of that name."""
        if self._knows_xdp is None:
            p = docker("create", "--pull", "never", "--cap-add", XDP_CAP,
                       "sluice.invalid/none", check=False)
            self._knows_xdp = "unknown capability" not in p.stderr.lower()
        return self._knows_xdp

    def check_xdp(self):
        """Ports of type afxdp have to be possible; for auto it is enough to
        try."""
        for node in self.topo.switches():
            if "afxdp" in config.port_types(self.topo, node) and \
                    not self.knows_xdp():
                raise FileError(
                    self.topo.path, node.line, "node '%s': ports of type "
                    "afxdp need the capability %s, which this Docker engine "
                    "does not know: use type afpacket or auto, a newer "
                    "engine, or --runtime netns" % (node.name, XDP_CAP))

    def xdp_words(self, node):
        wanted = node.has_daemon and config.port_types(
            self.topo, node) & {"afxdp", "auto"}
        return XDP_WORDS if wanted and self.knows_xdp() else ()

    def words(self, node):
        """The arguments of docker run."""
        out = ["--detach", "--name", self.name(node), "--hostname",
               node.name, "--label", "%s=%s" % (LABEL, self.topo.name),
               "--network", "none",
               "--device", "/dev/net/tun", "--restart", "on-failure",
               "--sysctl", "net.ipv6.conf.all.disable_ipv6=1",
               "--sysctl", "net.ipv6.conf.default.disable_ipv6=1",
               "--volume", "%s:%s" % (self.state.node_folder(node.name),
                                      INSIDE)]
        for cap in CAPS:
            out += ["--cap-add", cap]
        for cap in NO_CAPS:
            out += ["--cap-drop", cap]
        out += self.xdp_words(node)
        for key, value in node.env.items():
            out += ["--env", "%s=%s" % (key, value)]
        for b in node.binds:
            out += ["--volume", "%s:%s%s" % (
                b.source, b.target, ":ro" if b.read_only else "")]
        out.append(node.image)
        if node.cmd:
            out += node.cmd.split()
        else:
            out.append("switch" if node.has_daemon else "host")
        return out

    def create(self):
        nodes = list(self.topo.nodes.values())
        for node in nodes:
            os.makedirs(self.state.node_folder(node.name))
            self.state.add("container", name=self.name(node))

        def start(node):
            try:
                p = docker("run", *self.words(node))
            except TopoError as e:
                raise FileError(self.topo.path, node.line,
                                "node '%s': %s" % (node.name, e))
            return self.name(node), p.stdout.strip()
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            jobs = [pool.submit(start, n) for n in nodes]
            concurrent.futures.wait(jobs)
        for job in jobs:
            name, ident = job.result()
            self.state.add("container-made", name=name, id=ident)
        for node in nodes:
            links.set_up(self.path(node), ["lo"])

    @contextlib.contextmanager
    def wiring(self):
        """One process at a time makes links: we, or the one that watches."""
        with open(os.path.join(self.state.folder, "links.lock"), "a") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            self.pids(fresh=True)
            yield

    def wire(self):
        for link in self.topo.links:
            for end in link.ends:
                if end.node is None:
                    self.state.add("hostlink", name=end.name, mac=end.mac)
        with self.wiring():
            links.wire(self.topo.links, self.path, self.handle)
        self.watch()

    def mend(self):
        """Makes the links that are missing between containers that run; a
        list of them."""
        with self.wiring():
            running = [link for link in self.topo.links
                       if all(e.node is None or
                              self.pids().get(self.name(e.node))
                              for e in link.ends)]
            gone = links.missing(running, self.path)
            links.wire(gone, self.path, self.handle)
        return gone

    def watch(self):
        """Leaves a process behind that mends links."""
        p = system.spawn([sys.executable, sys.argv[0], "watch",
                          self.topo.name],
                         os.path.join(self.state.folder, "watch.log"))
        start = system.started(p.pid)
        if start is None:
            raise TopoError("the process that mends links ended at once: see "
                            "%s/watch.log" % self.state.folder)
        self.state.add("process", name="watch", pid=p.pid, started=start)

    def start(self, node):
        """Switches start with their containers."""

    def why_dead(self, node):
        if self.pids(fresh=True).get(self.name(node)):
            return None
        p = docker("logs", "--tail", "1", self.name(node), check=False)
        return (p.stdout + p.stderr).strip() or "its container does not run"

    def ready_program(self, name):
        return name

    def repair(self):
        out = []
        for node in self.topo.nodes.values():
            pid = self.pids(fresh=True).get(self.name(node))
            if pid is None:
                raise TopoError("the container %s is gone: take the topology "
                                "down and up again" % self.name(node))
            if pid == 0:
                docker("start", self.name(node))
                out.append("container %s" % node.name)
        out += ["link %s" % link for link in self.mend()]
        watch = self.state.processes().get("watch")
        if watch is None or not system.is_alive(watch):
            self.watch()
        return out

    # -- while it is up ----------------------------------------------------

    def argv(self, node, command, tty=False):
        return ["docker", "exec", "-it" if tty else "-i", self.name(node)] + \
            list(command)

    def is_there(self, node):
        return bool(self.pids().get(self.name(node)))

    def describe(self, node):
        pid = self.pids().get(self.name(node))
        if pid is None:
            return "gone", ""
        return "up" if pid else "dead", "container %s" % self.name(node)

    def pid(self, node):
        return self.pids().get(self.name(node)) or None

    # -- down --------------------------------------------------------------

    @staticmethod
    def destroy(state):
        system.end(list(state.processes().values()))
        made = {e["name"]: e["id"] for e in state.of("container-made")}
        wanted = [e["name"] for e in state.of("container")]
        if wanted:
            # By our label too: one of that name may be somebody else's.
            p = docker("ps", "--all", "--no-trunc", "--filter", "label=%s=%s"
                       % (LABEL, state.head()["name"]), "--format",
                       "{{.Names}} {{.ID}}")
            found = dict(line.split() for line in p.stdout.splitlines())
            ours = [found[n] for n in wanted
                    if n in found and made.get(n, found[n]) == found[n]]
            if ours:
                docker("rm", "--force", "--volumes", *ours)
        for e in state.of("hostlink"):
            links.delete(None, e["name"], e["mac"])


def watch(runtime, after):
    """Hears of containers that start, and gives them their links back; then
    after(container) does the rest.  Does not return."""
    p = subprocess.Popen(
        ["docker", "events", "--filter", "label=%s=%s" % (
            LABEL, runtime.topo.name), "--filter", "event=start",
         "--format", "{{json .Actor.Attributes.name}}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        runtime.mend()
        for line in p.stdout:
            name = json.loads(line)
            print("started: %s" % name, flush=True)
            try:
                for link in runtime.mend():
                    print("made again: %s" % link, flush=True)
                after(name)
            except TopoError as e:  # it may have ended again meanwhile
                print(e, flush=True)
    finally:
        p.kill()
        p.wait()
    raise TopoError("the Docker engine went away")

