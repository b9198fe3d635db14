#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sluice-topo and sluicectl port attach with Docker: the same topologies in
containers.  SLUICE_TEST_IMAGE names our image; .ci/run makes an engine where
there is none, and that image while other tests run: SLUICE_TEST_IMAGE_STATE is
a file that comes to be when it is done."""
import json
import os
import time

import slc
from topo import Topo, line_of

IMAGE = os.environ.get("SLUICE_TEST_IMAGE")
STATE = os.environ.get("SLUICE_TEST_IMAGE_STATE")

SMALL = """
name: NAME
topology:
  defaults:
    kind: linux
    image: IMAGE
    network-mode: none
    labels: {sluice-pfc: "3", sluice-memory: 16M, sluice-duration: 500ms,
             sluice-expect.all: "received = 100"}
  nodes:
    sw: {labels: {sluice-role: switch}}
    a: {labels: {sluice-flow: "to=b,prio=3,count=100,rate=50M"}}
    b: {env: {COLOUR: blue}, exec: ["test -d /sys"]}
  links:
    - {endpoints: ["a:eth0", "sw:a"], labels: {sluice-rate: 100M}}
    - {endpoints: ["b:eth0", "sw:b"], labels: {sluice-rate: 100M}}
"""


def engine():
    """Skips where there is none, or none of our image."""
    if not slc.shutil.which("docker"):
        raise slc.Skip("there is no docker program")
    if slc.run("docker", "version", check=False).returncode:
        raise slc.Skip("no Docker engine answers")
    if not IMAGE:
        raise slc.Skip("SLUICE_TEST_IMAGE is not set: .ci/run makes one")
    if STATE:
        await_image()
    if slc.run("docker", "image", "inspect", IMAGE, check=False).returncode:
        raise slc.Skip("there is no image %s" % IMAGE)


def await_image():
    """Until .ci/image has said what came of it."""
    # A bound for what hangs; then for the first of the tests only.
    limit = 0 if waited else 600
    waited.append(True)
    slc.wait_for(lambda: os.path.exists(STATE), "our image is made", limit,
                 0.2)
    with open(STATE) as f:
        verdict, _, details = f.read().partition("\n")
    if verdict != "ready":
        slc.diag(details or verdict)
        word, _, reason = verdict.partition(" ")
        raise slc.Skip(reason) if word == "skip" else AssertionError(reason)


waited = []


def small(topo):
    return topo.file(SMALL.replace("IMAGE", IMAGE))


def containers():
    """Those of this test."""
    return [n for n in slc.run("docker", "ps", "--all", "--format",
                               "{{.Names}}").stdout.split()
            if n.startswith("slc-slc%d" % os.getpid())]


def clean(topo):
    assert not containers(), containers()
    assert topo.left() == [], topo.left()


def register(word):
    @slc.test("the ready topology %s is as expected in containers" % word)
    def _(t):
        engine()
        topo = Topo(t)
        path = topo.ready(word)
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(text.replace("sluice:latest", IMAGE))
        p = topo("run", "--json", "--runtime", "docker", path, check=False,
                 timeout=150)
        assert p.stdout, p.stderr
        got = json.loads(p.stdout)
        assert p.returncode == 0 and got["ok"], [
            v for v in got["expectations"] if not v["holds"]]
        clean(topo)


for name in ("incast", "victim", "leaf-spine"):
    register(name)


@slc.test("a container that restarts gets its links back, and the switch "
          "re-attaches")
def _(t):
    engine()
    topo = Topo(t)
    path = small(topo)
    topo("up", "--runtime", "docker", path)
    name = "slc-%s-sw" % topo.name()
    attached = {p["name"]: p["attached"] for p in json.loads(topo(
        "exec", "sw", "--", "sluicectl", "--json", "port").stdout)}
    assert sorted(attached) == ["a", "b"]
    slc.run("docker", "restart", "--time", "5", name)

    def up():
        p = topo("exec", "sw", "--", "sluicectl", "--json", "port",
                 check=False)
        return p.returncode == 0 and \
            [x["state"] for x in json.loads(p.stdout)] == ["up", "up"]
    slc.wait_for(up, "both ports are up again", 30, 0.2)
    # kill -9 of the daemon is the end of its container.
    slc.run("docker", "exec", name, "sh", "-c", "exit 0")
    pid = int(slc.run("docker", "inspect", "--format", "{{.State.Pid}}",
                      name).stdout)
    os.kill(pid, 9)
    slc.wait_for(lambda: int(slc.run(
        "docker", "inspect", "--format", "{{.State.Pid}}", name).stdout)
        not in (0, pid), "it runs again", 30, 0.2)
    slc.wait_for(up, "both ports are up again", 30, 0.2)
    p = topo("run", "--runtime", "docker", path, check=False)
    assert p.returncode == 0, p.stdout + p.stderr
    topo("down")
    clean(topo)


@slc.test("containers have no network of Docker's, the capability NET_ADMIN "
          "and the device of taps, env, and a health")
def _(t):
    engine()
    topo = Topo(t)
    topo("up", "--runtime", "docker", small(topo))
    for node in ("sw", "a", "b"):
        about = json.loads(slc.run("docker", "inspect", "slc-%s-%s" % (
            topo.name(), node)).stdout)[0]
        host = about["HostConfig"]
        assert host["NetworkMode"] == "none" and not host["Privileged"]
        assert [c.replace("CAP_", "") for c in host["CapAdd"]] == [
            "NET_ADMIN"], host["CapAdd"]
        assert [d["PathOnHost"] for d in host["Devices"]] == ["/dev/net/tun"]
        caps = slc.proc_status(about["State"]["Pid"])["CapEff"]
        assert int(caps, 16) == 1 << 12 | 1 << 13, caps  # and NET_RAW
    assert topo("exec", "b", "--", "sh", "-c",
                "echo $COLOUR").stdout == "blue\n"
    slc.wait_for(lambda: slc.run(
        "docker", "inspect", "--format", "{{.State.Health.Status}}",
        "slc-%s-sw" % topo.name()).stdout.strip() == "healthy",
        "it is healthy", 30, 0.5)
    topo("down")
    clean(topo)


@slc.test("a failure half-way leaves no container behind")
def _(t):
    engine()
    topo = Topo(t)
    text = SMALL.replace("IMAGE", IMAGE)
    path = topo.file(text.replace("test -d /sys", "test -d /nowhere"))
    p = topo("up", "--runtime", "docker", path, check=False)
    assert p.returncode == 2 and "%s:%d: " % (
        path, line_of(path, "nowhere")) in p.stderr, p.stderr
    clean(topo)
    slc.run("docker", "create", "--name", "slc-%s-b" % topo.name(), IMAGE)
    try:
        path = topo.file(text)
        p = topo("up", "--runtime", "docker", path, check=False)
        assert p.returncode == 2 and "exists already" in p.stderr, p.stderr
        assert containers() == ["slc-%s-b" % topo.name()]
    finally:
        slc.run("docker", "rm", "-f", "slc-%s-b" % topo.name())


@slc.test("an image that is not there is refused, with its line")
def _(t):
    engine()
    topo = Topo(t)
    path = topo.file(SMALL.replace("IMAGE", "slc-no-such-image:1"))
    p = topo("up", "--runtime", "docker", path, check=False)
    assert p.returncode == 2 and "%s:%d: there is no image slc-no" % (
        path, line_of(path, "slc-no-such")) in p.stderr, p.stderr
    clean(topo)


@slc.test("without an engine it says so, and makes nothing")
def _(t):
    if not slc.shutil.which("docker"):
        raise slc.Skip("there is no docker program")
    topo = Topo(t)
    topo.env["DOCKER_HOST"] = "unix:///nonexistent/slc.sock"
    p = topo("up", "--runtime", "docker",
             topo.file(SMALL.replace("IMAGE", "x")), check=False)
    assert p.returncode == 3 and "no Docker engine answers" in p.stderr
    assert topo.left() == []


@slc.test("ports of type auto are what the engine allows in containers; afxdp that "
          "it does not allow is refused with its line, and nothing is left")
def _(t):
    engine()
    topo = Topo(t)

    def up(kind, check):
        path = topo.file(SMALL.replace("IMAGE", IMAGE).replace(
            "switch}", "switch, sluice-type: %s}" % kind))
        return path, topo("up", "--runtime", "docker", path, check=check)
    up("auto", True)
    port = json.loads(topo("exec", "sw", "--", "sluicectl", "--json", "port",
                           "show", "a").stdout)
    topo("down")
    path, p = up("afxdp", port["provider"] == "afxdp")
    if port["provider"] != "afxdp":
        slc.diag(port["fallback"])
        assert p.returncode == 2, (p.returncode, p.stderr)
        for word in ("%s:%d: " % (path, line_of(path, "sw: {")), "afxdp"):
            assert word in p.stderr, (word, p.stderr)
        clean(topo)


FAKE = """#!/bin/sh
echo "$*" >>%s
case $1 in
create) echo "%s" >&2; exit 1 ;;
run) echo "nothing runs here" >&2; exit 1 ;;
esac
"""


@slc.test("a switch with AF_XDP ports gets what they need, if the engine knows "
          "of it, and nobody else does")
def _(t):
    topo = Topo(t)
    log = os.path.join(topo.dir, "calls")
    docker = os.path.join(topo.dir, "docker")
    topo.env["PATH"] = topo.dir + ":" + os.environ["PATH"]
    text = SMALL.replace("IMAGE", "x")

    def run(kind, answer):
        """The words of docker run, by node, and what was said."""
        with open(docker, "w") as f:
            f.write(FAKE % (log, answer))
        os.chmod(docker, 0o755)
        open(log, "w").close()
        p = topo("up", "--runtime", "docker", topo.file(text.replace(
            "switch}", "switch, sluice-type.a: %s}" % kind)), check=False)
        assert p.returncode == 2, p.stderr
        with open(log) as f:
            lines = [x.split() for x in f if x.startswith("run ")]
        return {x[x.index("--hostname") + 1]: " ".join(x) for x in lines}, \
            p.stderr
    known, unknown = "No such image", "unknown capability: CAP_BPF"
    words = "--cap-add BPF --ulimit memlock=-1"
    for kind in ("afxdp", "auto"):
        got, _said = run(kind, known)
        assert words in got["sw"] and words not in got["a"], got
    for kind, answer in (("afpacket", known), ("auto", unknown)):
        got, _said = run(kind, answer)
        assert "BPF" not in got["sw"] and "memlock" not in got["sw"], got
    got, said = run("afxdp", unknown)
    assert not got and "node 'sw': ports of type afxdp need" in said, said


@slc.test("port attach wires a container by its name")
def _(t):
    engine()
    name = "slc-slc%d-box" % os.getpid()
    sw = t.enter_context(slc.Netns("sw"))
    d = t.enter_context(slc.Daemon(sw))
    d.rpc("bridge.add", name="br0")
    slc.run("docker", "run", "-d", "--name", name, "--network", "none", IMAGE,
            "host")
    t.callback(slc.run, "docker", "rm", "-f", name)
    sw.run(slc.program("sluicectl"), "--socket", d.socket, "port", "attach",
           "br0", name, "eth0", "port", "p1", "address", "10.0.0.1/24")
    got = slc.run("docker", "exec", name, "ip", "-br", "addr", "show",
                  "eth0").stdout
    assert "10.0.0.1/24" in got, got
    slc.wait_for(lambda: d.rpc("port.show", name="p1")["state"] == "up",
                 "the port is up")
    p = sw.run(slc.program("sluicectl"), "--socket", d.socket, "port",
               "detach", "p1")
    assert not sw.exists("p1"), p.stderr


@slc.test("compose-links wires what is missing, at once after a restart too")
def _(t):
    engine()
    prefix = "slc-slc%d" % os.getpid()
    links = os.path.join(slc.TOP_SRC, "utilities", "docker", "compose-links")

    def start(name, *words):
        slc.run("docker", "run", "-d", "--name", "%s-%s" % (prefix, name),
                "--cap-add", "NET_ADMIN", "--device", "/dev/net/tun", *words)
        t.callback(slc.run, "docker", "rm", "-f", "%s-%s" % (prefix, name))

    def has(name, interface):
        return "LOWER_UP" in slc.run(
            "docker", "exec", "%s-%s" % (prefix, name), "ip", "link", "show",
            interface, check=False).stdout

    def wired():
        return has("switch", "client") and has("client", "eth0") and \
            has("switch", "storage") and has("storage", "eth0")
    for name in ("switch", "client", "storage"):
        start(name, "--network", "none", IMAGE,
              "switch" if name == "switch" else "host")
    slc.run(links, prefix)
    assert wired()
    slc.run(links, prefix)
    assert wired()
    for name in ("storage", "switch"):
        slc.run("docker", "restart", "--time", "1", "%s-%s" % (prefix, name))
        slc.run(links, prefix)
        # The kernel may be late with what it takes away.
        time.sleep(1)
        assert wired(), "after %s was restarted" % name


@slc.test("24 nodes in containers are up in less than a minute")
def _(t):
    engine()
    topo = Topo(t)
    text = SMALL[:SMALL.index("  nodes:")].replace("IMAGE", IMAGE).replace(
        ",\n             sluice-expect.all: \"received = 100\"", "")
    text += "  nodes:\n"
    for n in range(24):
        text += "    s%d: {labels: {sluice-role: switch}}\n" % n
    text += "  links:\n"
    for n in range(23):
        text += "    - endpoints: [\"s%d:down\", \"s%d:up\"]\n" % (n, n + 1)
    began = time.monotonic()
    topo("up", "--runtime", "docker", topo.file(text), timeout=300)
    took = time.monotonic() - began
    slc.diag("up in %.1f s" % took)
    shown = json.loads(topo("show", "--json").stdout)
    assert {n["state"] for n in shown["nodes"]} == {"up"}
    topo("down")
    clean(topo)


slc.main(root=True, needs=["ip", "nsenter"])
