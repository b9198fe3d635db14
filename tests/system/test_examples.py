#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every program under docs/examples/ runs against a real daemon and does what
it says."""
import json
import os
import shutil
import subprocess
import sys

import slc

EXAMPLES = os.path.join(slc.TOP_SRC, "docs", "examples")


class Switch:
    def __init__(self, stack):
        self.ns = stack.enter_context(slc.Netns("ex"))
        for n in "12":
            self.ns.veth("p" + n, "h" + n)
        self.daemon = stack.enter_context(slc.Daemon(self.ns))
        self.rpc = self.daemon.rpc
        self.env = dict(os.environ, SLUICE_SOCKET=self.daemon.socket,
                        PYTHONDONTWRITEBYTECODE="1")

    def argv(self, name, *argv):
        path = os.path.join(EXAMPLES, name)
        first = [sys.executable] if name.endswith(".py") else ["sh"]
        return [*first, path, *argv]

    def run(self, name, *argv, status=0, **env):
        p = subprocess.run(self.argv(name, *argv), stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=60,
                           env=dict(self.env, **env))
        assert p.returncode == status, (p.returncode, p.stdout, p.stderr)
        return p


@slc.test("every example is tested here and mentioned in its README")
def _(t):
    with open(os.path.join(EXAMPLES, "README.md")) as f:
        readme = f.read()
    with open(__file__) as f:
        tests = f.read()
    for name in os.listdir(EXAMPLES):
        if name.endswith((".py", ".sh")):
            assert "`%s`" % name in readme, name
            assert '"%s"' % name in tests, name


@slc.test("sluice.py: calls, errors, events")
def _(t):
    sw = Switch(t)
    script = """if True:
        import sluice
        with sluice.Sluice() as sw:
            sw.call("bridge.add", name="br0")
            assert sw.call("bridge.list")[0]["name"] == "br0"
            try:
                sw.call("bridge.show", name="br9")
            except sluice.Refused as e:
                assert e.code == -32001 and "br9" in e.message, e
            else:
                raise AssertionError("not refused")
            assert list(sw.events(seconds=0.05, types=["config"])) == []
            # From here on we hear of our own change.
            sw.call("bridge.set", name="br0", mac_ageing_s=7)
            event = next(sw.events(seconds=10, types=["config"]))
            assert event["type"] == "config", event
        print("fine")
    """
    p = subprocess.run([sys.executable, "-c", script], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=30, env=dict(sw.env, PYTHONPATH=EXAMPLES))
    assert p.stdout == "fine\n", ("sluice.py", p)


@slc.test("lossless_setup.py: sets up, changes nothing twice, dry run")
def _(t):
    sw = Switch(t)
    p = sw.run("lossless_setup.py", "--dry-run", "br0", "p1", "p2")
    assert "/bridges/br0" in p.stdout, p.stdout
    assert sw.rpc("bridge.list") == []
    p = sw.run("lossless_setup.py", "--prio", "3,4", "--rate", "200M",
               "br0", "p1", "p2")
    assert "are lossless" in p.stdout, p.stdout
    for port in ("p1", "p2"):
        config = sw.rpc("port.show", name=port)["config"]
        assert config["pfc"]["priorities"] == [3, 4], config
        assert config["rate_bps"] == 200000000, config
    p = sw.run("lossless_setup.py", "--prio", "3,4", "--rate", "200M",
               "br0", "p1", "p2")
    assert "nothing to change" in p.stdout, p.stdout


@slc.test("lossless_setup.py: rolls back what is not lossless")
def _(t):
    sw = Switch(t)
    sw.rpc("bridge.add", name="br0")
    sw.rpc("port.add", bridge="br0", name="p1", groups={
        "3": {"headroom": 1000}})
    before = sw.rpc("config.export")
    p = sw.run("lossless_setup.py", "--rate", "1G", "br0", "p1", "p2",
               status=1)
    assert "rolled back" in p.stdout and "p1" in p.stdout, p.stdout
    assert sw.rpc("config.export") == before
    p = sw.run("lossless_setup.py", "br0", "p9", status=1)
    assert "refused" in p.stderr and "p9" in p.stderr, p.stderr
    assert sw.rpc("config.export") == before
    p = sw.run("lossless_setup.py", "--prio", "8", "br0", "p1", status=2)
    assert "0 to 7" in p.stderr, p.stderr
    p = sw.run("lossless_setup.py", "--socket", "/nonexistent", "br0", "p1",
               status=1)
    assert "/nonexistent" in p.stderr, p.stderr


@slc.test("watch_pfc.py: sees a peer pause us and let go")
def _(t):
    sw = Switch(t)
    sw.run("lossless_setup.py", "--rate", "200M", "br0", "p1", "p2")
    peer = t.enter_context(slc.Raw(sw.ns, "h1"))
    watcher = slc.popen(*sw.argv("watch_pfc.py", "--port", "p1", "--seconds",
                                 "30", "--count", "2"),
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                        text=True, env=sw.env)
    # When it has subscribed is not known from outside.
    for _ in range(500):
        peer.send(slc.pfc(peer.mac, {3: 65535}))
        peer.send(slc.pfc(peer.mac, {3: 0}))
        try:
            watcher.wait(0.05)
            break
        except subprocess.TimeoutExpired:
            pass
    out = watcher.communicate(timeout=30)[0]
    assert watcher.returncode == 0, out
    lines = out.splitlines()
    assert " pause " in lines[0] or " resume " in lines[0], out
    assert "p1 priority 3: 0 PFC frames sent" in out, out
    assert lines[-1] == "2 events", out
    p = sw.run("watch_pfc.py", "--seconds", "0.1")
    assert p.stdout.splitlines()[-1] == "0 events", p.stdout
    p = sw.run("watch_pfc.py", "--port", "p9", "--seconds", "0.1", status=1)
    assert "p9" in p.stderr, p.stderr


def shell(sw, tool):
    """rpc.sh with one of its two tools."""
    if not shutil.which(tool):
        raise slc.Skip("needs the command %s" % tool)
    answer = json.loads(sw.run("rpc.sh", "daemon.status",
                               RPC_WITH=tool).stdout)
    assert answer["result"]["pid"] == sw.daemon.pid, answer
    sw.run("rpc.sh", "bridge.add", '{"name": "br0"}', RPC_WITH=tool)
    p = sw.run("rpc.sh", "bridge.add", '{"name": "br0"}', RPC_WITH=tool,
               status=1)
    assert json.loads(p.stdout)["error"]["code"] == -32002, p.stdout
    batch = json.loads(sw.run("rpc.sh", "batch", RPC_WITH=tool).stdout)
    assert [a["id"] for a in batch] == [1, 2, 3], batch
    assert batch[1]["result"][0]["name"] == "br0", batch
    p = slc.popen(*sw.argv("rpc.sh", "watch", "3"), stdout=subprocess.PIPE,
                  text=True, env=dict(sw.env, RPC_WITH=tool))
    line = p.stdout.readline()
    assert json.loads(line)["result"]["subscribed"], line
    sw.rpc("bridge.set", name="br0", mac_ageing_s=9)
    event = json.loads(p.stdout.readline())
    assert event["params"]["type"] == "config", event
    assert p.wait(30) == 0


@slc.test("rpc.sh with socat")
def _(t):
    shell(Switch(t), "socat")


@slc.test("rpc.sh with nc")
def _(t):
    shell(Switch(t), "nc")


@slc.test("rpc.sh: help, and a daemon that is not there")
def _(t):
    p = subprocess.run(["sh", os.path.join(EXAMPLES, "rpc.sh")], text=True,
                       stdout=subprocess.PIPE, timeout=30)
    assert p.returncode == 0 and "METHOD [PARAMS]" in p.stdout, p
    if not (shutil.which("socat") or shutil.which("nc")):
        raise slc.Skip("needs the command socat or nc")
    p = subprocess.run(
        ["sh", os.path.join(EXAMPLES, "rpc.sh"), "daemon.status"], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30,
        env=dict(os.environ, SLUICE_SOCKET="/nonexistent/slc.sock"))
    assert p.returncode == 3 and p.stderr, p


if __name__ == "__main__":
    slc.main(root=True, needs=["ip"])
