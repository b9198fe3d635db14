#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sluice-topo on network namespaces: the ready topologies, and that it leaves
nothing behind, whatever happens."""
import json
import os
import signal
import subprocess
import time
from xml.etree import ElementTree

import slc
from topo import Topo, line_of, netns_names, script

SMALL = """
name: NAME
topology:
  defaults:
    kind: linux
    network-mode: none
    labels: {sluice-pfc: "3", sluice-memory: 16M}
  nodes:
    sw: {labels: {sluice-role: switch}}
    a: {labels: {sluice-flow: "to=b,prio=3,count=100,rate=50M"}}
    b:
  links:
    - {endpoints: ["a:eth0", "sw:a"], labels: {sluice-rate: 100M}}
    - {endpoints: ["b:eth0", "sw:b"], labels: {sluice-rate: 100M}}
"""


def kill(pid):
    """kill -9; it has ended then, whether its parent knows or not, and so has
    every thread, which may have files open for longer than the first."""
    def is_dead():
        try:
            return slc.proc_status(pid)["State"][0] in "ZX" and \
                len(os.listdir("/proc/%d/task" % pid)) == 1
        except OSError:
            return True
    os.kill(pid, signal.SIGKILL)
    slc.wait_for(is_dead, "it is dead")


def register(word):
    @slc.test("the ready topology %s is as expected" % word)
    def _(t):
        topo = Topo(t)
        status, got = topo.run(topo.ready(word))
        bad = [v for v in got["expectations"] if not v["holds"]]
        if bad:
            for f in got["flows"]:
                slc.diag({k: f[k] for k in ("flow", "prio", "sent",
                                            "received", "lost")})
            slc.diag({n: {p: {r: c for r, c in d.items() if c}
                          for p, d in ports.items()}
                      for n, ports in got["drops"].items()})
            slc.diag("kernel drops: %d" % got["kernel_drops"])
        assert not bad and status == 0 and got["ok"], bad
        assert len(got["expectations"]) > 3
        assert topo.left() == [], topo.left()


for name in ("incast", "victim", "five-hops", "asymmetric", "headroom",
             "leaf-spine", "watchdog", "deadlock", "deadlock-uncured",
             "lossless-host"):
    register(name)


@slc.test("applications of lossless hosts that congest a link lose nothing")
def _(t):
    if not slc.shutil.which("iperf3"):
        raise slc.Skip("there is no iperf3")
    topo = Topo(t)
    topo("up", topo.ready("lossless-host"))
    clients = ("client1", "client2")

    def iperf(node, *words):
        return topo.popen("exec", node, "--", "iperf3", *words,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    servers = [iperf("server", "-s", "-1", "-p", str(5201 + n))
               for n in range(2)]
    slc.wait_for(lambda: topo("exec", "server", "--", "ss", "-Hlnt").stdout
                 .count("\n") == 2, "the servers listen")
    # One of UDP, more than the link carries, and one of TCP.
    runs = [iperf(node, "-J", "-c", "192.0.2.3", "-n", "3M", "-S", "0x60",
                  "-p", str(5201 + n), *words)
            for n, (node, words) in enumerate(zip(clients, (
                ("-u", "-b", "40M"), ())))]
    for p in runs:
        got = json.loads(p.communicate(timeout=60)[0])
        assert "error" not in got and got["end"], got
    for p in servers:
        assert p.wait(20) == 0
    time.sleep(1.2)  # the kernel's counters are read once a second
    for node in clients + ("server", "sw"):
        stats = json.loads(topo("exec", node, "--", "sluicectl", "--json",
                                "stats").stdout)
        lost = {(s["port"], r): n for s in stats
                for r, n in s["drops"].items() if n and r != "no-port"}
        assert not lost, (node, lost)
    paused = json.loads(topo("exec", "client1", "--", "sluicectl", "--json",
                             "pfc", "counters").stdout)
    assert sum(p["rx"]["xoff"][3] for p in paused) > 0, paused
    topo("down")
    assert topo.left() == [], topo.left()


@slc.test("up twice, show, exec, list and down are as one expects")
def _(t):
    topo = Topo(t)
    path = topo.file(SMALL)
    topo("up", path)
    shown = json.loads(topo("show", "--json").stdout)
    pid = next(n["pid"] for n in shown["nodes"] if n["node"] == "sw")
    assert {n["state"] for n in shown["nodes"]} == {"up"}
    assert [x["state"] for x in shown["links"]] == ["up", "up"]
    topo("up", path)
    again = json.loads(topo("show", "--json").stdout)
    assert next(n["pid"] for n in again["nodes"] if n["node"] == "sw") == pid
    got = topo("exec", "sw", "--", "sluicectl", "--json", "port").stdout
    assert [p["name"] for p in json.loads(got)] == ["a", "b"]
    assert topo("exec", "a", "--", "sh", "-c", "exit 7",
                check=False).returncode == 7
    p = topo("exec", "nobody", "--", "true", check=False)
    assert p.returncode == 2 and "no node 'nobody'" in p.stderr
    assert [x["name"] for x in json.loads(topo("list", "--json").stdout)] == [
        topo.name()]
    topo("down", path)
    assert topo.left() == [], topo.left()
    assert "is not up" in topo("down", path).stdout


@slc.test("up mends what went away: a switch, a link")
def _(t):
    topo = Topo(t)
    path = topo.file(SMALL)
    topo("up", path)
    shown = json.loads(topo("show", "--json").stdout)
    kill(next(n["pid"] for n in shown["nodes"] if n["node"] == "sw"))
    topo("exec", "a", "--", "ip", "link", "del", "eth0")
    p = topo("show", "--json", check=False)
    assert p.returncode == 1
    shown = json.loads(p.stdout)
    assert {n["node"]: n["state"] for n in shown["nodes"]}["sw"] == "dead"
    assert [x["state"] for x in shown["links"]] == ["absent", "up"]
    out = topo("up", path).stdout
    assert "made again: switch sw" in out and "made again: link a:eth0" in out
    status, got = topo.run(path, "--duration", "0.5")
    assert status == 0 and got["flows"][0]["received"] == 100, got["flows"]
    # It was up before the run, and still is.
    topo("show")


@slc.test("two topologies live side by side, and one goes without the other")
def _(t):
    topo = Topo(t)
    topo("up", topo.file(SMALL, "one"))
    topo("up", topo.file(SMALL, "two"))
    p = topo("show", check=False)
    assert p.returncode == 2 and "which topology" in p.stderr
    topo("down", topo.name("one"))
    topo("show", topo.name("two"))
    assert not [x for x in topo.left() if topo.name("one") in x]


@slc.test("what a topology is made from cannot change while it is up")
def _(t):
    topo = Topo(t)
    topo("up", topo.file(SMALL))
    path = topo.file(SMALL.replace("100M", "200M"))
    p = topo("up", path, check=False)
    assert p.returncode == 1 and "take it down first" in p.stderr, p.stderr
    topo("show")
    topo("down", path)
    assert topo.left() == [], topo.left()


@slc.test("a failure half-way leaves nothing behind, and names its line")
def _(t):
    topo = Topo(t)
    for text, mark, word in (
            (SMALL.replace("switch}", "switch, sluice-xoff: 1K, sluice-xon: "
                           "2K}"), "sw: {", "xon"),
            (SMALL.replace("    b:\n", "    b: {exec: [\"false\"]}\n"),
             "b: {exec", "exit 1"),
            (SMALL.replace("    b:\n",
                           "    b: {exec: [\"/no/such/program\"]}\n"),
             "b: {exec", "exec '/no/such/program'")):
        path = topo.file(text)
        p = topo("up", path, check=False)
        assert p.returncode == 2, p.stderr
        assert "%s:%d: " % (path, line_of(path, mark)) in p.stderr, p.stderr
        assert word in p.stderr, p.stderr
        assert topo.left() == [], topo.left()
    pictures = os.path.join(topo.dir, "pictures")
    topo("run", "--plot", pictures, path, check=False)
    assert topo.left() == [] and not os.path.exists(pictures)


@slc.test("AF_XDP where the labels say so; what it cannot do is refused with its "
          "line, or afpacket with auto, and the log says why")
def _(t):
    if "afxdp" not in slc.features():
        raise slc.Skip("AF_XDP is not built in")
    topo = Topo(t)
    # The receive rings of a bridge's AF_XDP ports have as much room as its
    # memory: the second is one too many.
    text = SMALL.replace("16M}", "16M, sluice-ring: 12M}")

    def ports(a, b):
        topo("up", topo.file(text.replace(
            "switch}", "switch, sluice-type.a: %s, sluice-type.b: %s}" % (
                a, b))))
        got = json.loads(topo("exec", "sw", "--", "sluicectl", "--json",
                              "port").stdout)
        with open(os.path.join(topo.state, topo.name(), "nodes", "sw",
                               "log")) as f:
            said = f.read()
        topo("down")
        return {p["name"]: p for p in got}, said
    got, _said = ports("afxdp", "afpacket")
    assert (got["a"]["type"], got["a"]["xdp_mode"]) == ("afxdp", "native")
    assert got["b"]["type"] == "afpacket", got
    got, said = ports("afxdp", "auto")
    assert got["b"]["provider"] == "afpacket", got
    assert "make the memory larger" in got["b"]["fallback"], got
    assert said.count(got["b"]["fallback"]) == 1, said
    path = topo.file(text.replace("switch}", "switch, sluice-type: afxdp}"))
    p = topo("up", path, check=False)
    assert p.returncode == 2 and "%s:%d: switch 'sw': \"b\": " % (
        path, line_of(path, "sw: {")) in p.stderr, p.stderr
    assert "make the memory larger or rings smaller" in p.stderr, p.stderr
    assert topo.left() == [], topo.left()


@slc.test("a namespace, or an interface, that is there already is not touched")
def _(t):
    topo = Topo(t)
    ns = "slc-%s-b" % topo.name()
    slc.run("ip", "netns", "add", ns)
    t.callback(slc.run, "ip", "netns", "del", ns, check=False)
    path = topo.file(SMALL)
    p = topo("up", path, check=False)
    assert p.returncode == 2 and ns in p.stderr and \
        "%s:%d: " % (path, line_of(path, "^    b:")) in p.stderr, p.stderr
    assert ns in netns_names()
    assert topo.left() == [ns], topo.left()
    # "host:" ends, in a namespace of ours for the host.
    host = t.enter_context(slc.Netns("host"))
    host.veth("slc-taken", "slc-other")
    path = topo.file(SMALL.replace("NAME", "NAMEx") + """
    - endpoints: ["sw:up", "host:slc-taken"]
""")
    enter = ["nsenter", "--net=/run/netns/" + host.name]
    p = slc.run(*enter, script(), "up", path, check=False, env=topo.env)
    assert p.returncode == 2 and "interface slc-taken" in p.stderr, p.stderr
    assert host.exists("slc-taken") and host.exists("slc-other")
    path = topo.file(SMALL.replace("NAME", "NAMEx") + """
    - endpoints: ["sw:up", "host:slc-free"]
""")
    slc.run(*enter, script(), "up", path, env=topo.env)
    assert host.exists("slc-free")
    slc.run(*enter, script(), "down", path, env=topo.env)
    assert not host.exists("slc-free") and host.exists("slc-taken")


@slc.test("binds and env hold in a node, and nowhere else")
def _(t):
    topo = Topo(t)
    with open(os.path.join(topo.dir, "hello"), "w") as f:
        f.write("from the bind\n")
    path = topo.file(SMALL.replace("    b:\n", """    b:
      env: {COLOUR: "dark blue"}
      binds: [".:/mnt:ro"]
      exec: ["test -f /mnt/hello"]
"""))
    topo("up", path)
    got = topo("exec", "b", "--", "sh", "-c",
               "cat /mnt/hello; echo $COLOUR").stdout
    assert got == "from the bind\ndark blue\n", got
    assert topo("exec", "b", "--", "touch", "/mnt/x",
                check=False).returncode != 0
    assert not os.path.exists("/mnt/hello")
    topo("down")
    assert topo.left() == [], topo.left()
    p = topo("up", topo.file(SMALL.replace(
        "    b:\n", "    b: {binds: [\".:/no/such/place\"]}\n")), check=False)
    assert p.returncode == 2 and "/no/such/place" in p.stderr, p.stderr


@slc.test("killed half-way, what up made is found again, and told to end, it "
          "cleans up")
def _(t):
    topo = Topo(t)
    path = topo.file(SMALL.replace("    b:\n", """    b: {exec: ["sleep 60"]}
"""))
    journal = os.path.join(topo.state, topo.name(), "nodes", "sw", "sluiced."
                           "pid")
    for sig in (signal.SIGKILL, signal.SIGTERM):
        p = topo.popen("up", path)
        slc.wait_for(lambda: os.path.exists(journal), "half of it is there")
        p.send_signal(sig)
        p.wait(20)
        if sig == signal.SIGKILL:
            assert [x for x in topo.left() if x.startswith("slc-")]
            topo("down", path)
        assert topo.left() == [], topo.left()


@slc.test("a run that is not as expected says so by its exit status")
def _(t):
    topo = Topo(t)
    path = topo.file(SMALL.replace(
        "16M}", "16M, sluice-duration: 300ms, "
        "sluice-expect.x: \"received from=a = 99\"}"))
    p = topo("run", path, check=False)
    assert p.returncode == 1, p.stderr
    assert "[NOT SO] received from=a = 99  (100)" in p.stdout, p.stdout
    assert "1 of 3 expectations did not hold." in p.stdout, p.stdout
    assert topo.left() == [], topo.left()


@slc.test("a run draws a picture of each link, direction and class")
def _(t):
    topo = Topo(t)
    folder = os.path.join(topo.dir, "plots")
    path = topo.file(SMALL.replace("16M}", "16M, sluice-duration: 500ms}"))
    status, got = topo.run(path, "--plot", folder)
    assert status == 0, got["expectations"]
    assert sorted(os.listdir(folder)) == [
        "a_eth0--sw_a-prio3.svg", "sw_b--b_eth0-prio3.svg"]
    for name in os.listdir(folder):
        root = ElementTree.parse(os.path.join(folder, name)).getroot()
        texts = [x.text for x in root.iter() if x.tag.endswith("}text")]
        for word in ("offered", "delivered", "seconds"):
            assert word in texts, (name, texts)
        assert ("XOFF" in texts) == name.startswith("a_"), (name, texts)
        # Lines can be told apart by their dashes.
        dashes = [x.get("stroke-dasharray") for x in root.iter()
                  if x.tag.endswith("}polyline")]
        assert len(set(dashes)) == (4 if name.startswith("a_") else 2), dashes
    p = topo("run", "--plot", "/proc/slc", path, check=False)
    assert p.returncode == 1 and "/proc/slc" in p.stderr, p.stderr
    assert topo.left() == [], topo.left()


@slc.test("24 switches are up at once, and idle without a busy loop")
def _(t):
    topo = Topo(t)
    text = SMALL[:SMALL.index("  nodes:")] + "  nodes:\n"
    for n in range(24):
        text += "    s%d: {labels: {sluice-role: switch}}\n" % n
    text += "  links:\n"
    for n in range(23):
        text += "    - endpoints: [\"s%d:down\", \"s%d:up\"]\n" % (n, n + 1)
    began = time.monotonic()
    topo("up", topo.file(text))
    slc.diag("up in %.1f s" % (time.monotonic() - began))
    nodes = json.loads(topo("show", "--json").stdout)["nodes"]
    pids = [n["pid"] for n in nodes if n["pid"]]
    assert len(pids) == 24 and {n["state"] for n in nodes} == {"up"}
    slc.wait_for(lambda: is_idle(pids), "no busy loop is left", 60)


def is_idle(pids, seconds=2):
    """Whether processes rest for that time: no one wakes up all the time."""
    before = [(slc.context_switches(p), slc.cpu_seconds(p)) for p in pids]
    began = time.monotonic()
    time.sleep(seconds)
    after = [(slc.context_switches(p), slc.cpu_seconds(p)) for p in pids]
    seconds = time.monotonic() - began
    wakes = max((b[0] - a[0]) / seconds for a, b in zip(before, after))
    used = sum(b[1] - a[1] for a, b in zip(before, after)) / seconds * 100
    slc.diag("%.2f %% of a core for %d of them, at most %d wakes a second" % (
        used, len(pids), wakes))
    # Counted, not timed: a busy loop has many thousands.
    return wakes < 200 and used < 5


def died_in(got):
    """What sw3, and the wire to storage, did not give on of what came from
    sw1 and sw2.  The interfaces counted it: they outlive the daemon, and so
    does what they say of frames that were in its memory when it died, or came
    while it was dead.  Pauses that sw1 and sw2 sent are no frames of flows."""
    n = got["interfaces"]["sw3"]
    pauses = sum(p["xoff"] + p["xon"] for p in got["pfc"]
                 if p["port"] in ("sw1:sw3", "sw2:sw3"))
    end = got["probes"]["storage"]["kernel"]
    return n["sw1"]["rx"] + n["sw2"]["rx"] - pauses - n["storage"]["tx"] + \
        end["ring_drops"] + end["backlog_drops"]


def died_before(got):
    """What sw1 and sw2 dropped of what their clients sent.  At the port to
    sw3 only on the way out: until the new sw3 has heard storage it floods,
    and copies that come back are no frames that are missing."""
    out = 0
    for sw, client in (("sw1", "client1"), ("sw2", "client2")):
        drops = got["drops"][sw]
        out += sum(drops[client].values())
        out += sum(drops["sw3"][r] for r in (
            "queue-limit", "wred", "oversize", "port-down", "tx-error",
            "kernel-tx", "no-clone"))
    return out


@slc.test("after kill -9 of a switch under load it is lossless again, no one "
          "stays paused, and all agree on the loss, frame by frame")
def _(t):
    topo = Topo(t)
    path = topo.ready("incast")
    topo("up", path)
    ns = "slc-%s-sw3" % topo.name("incast")
    pid = next(n["pid"] for n in json.loads(topo("show", "--json").stdout)[
        "nodes"] if n["node"] == "sw3")
    with open("/proc/%d/cmdline" % pid, "rb") as f:
        argv = f.read().decode().rstrip("\0").split("\0")
    run = topo.popen("run", "--json", path, "--duration", "4",
                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    # Under way when sw3 has told sw1 to stop for the first time.
    with slc.Rpc(os.path.join(topo.state, topo.name("incast"), "nodes", "sw1",
                              "control.sock")) as rpc:
        slc.wait_for(lambda: rpc.call("pfc.counters", {"port": "sw3"})[0][
            "rx"]["xoff"][3] > 3, "sw3 has paused sw1", 30)
    kill(pid)
    time.sleep(0.2)  # of loss
    again = slc.popen("ip", "netns", "exec", ns, *argv,
                      stderr=subprocess.DEVNULL)
    got = json.loads(run.communicate(timeout=90)[0])
    lost = {p: sum(f["lost"] for f in got["flows"] if f["prio"] == p)
            for p in (0, 3)}
    slc.diag("lost of priority 3: %d, of priority 0: %d" % (lost[3], lost[0]))
    assert got["restarted"] == ["sw3"], got["restarted"]
    assert lost[3] > 0, "the kill came too late"
    assert not sum(f["reordered"] + f["corrupted"] for f in got["flows"])
    # Nothing is held, and no one paused, of the neighbours neither.
    assert got["quiet"]
    assert lost[0] + lost[3] == died_before(got) + died_in(got), (
        lost, died_before(got), died_in(got), got["drops"],
        got["interfaces"], got["pfc"], got["probes"]["storage"]["kernel"])
    again.terminate()
    again.wait(10)
    # And with one that sluice-topo starts; the same sum where nobody dies.
    status, got = topo.run(path)
    assert status == 0, [v for v in got["expectations"] if not v["holds"]]
    lost = sum(f["lost"] for f in got["flows"])
    assert lost == died_before(got) + died_in(got), (
        lost, died_before(got), died_in(got))


slc.main(root=True, needs=["ip", "nsenter"])
