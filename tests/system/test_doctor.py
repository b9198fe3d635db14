#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pfc-semantics section 6, the doctor: it names the term that is short, and
every command that it prints does what it says when it is pasted.  The stall
that it reckons with is told (SLUICE_TEST_STALL_US), so that what is right does
not depend on the machine."""
import json
import os
import subprocess
import time

import slc


def doctor(d, port=None):
    return d.rpc("doctor.show", **({"port": port} if port else {}))


def terms(d, port):
    return {f["term"]: f for row in doctor(d, port) for f in row["findings"]}


def paste(d, command):
    """As a user would: into a shell."""
    env = dict(os.environ, SLUICE_SOCKET=d.socket, PATH=os.path.dirname(
        slc.program("sluicectl")) + ":" + os.environ["PATH"])
    p = slc.run("sh", "-c", command, check=False, env=env)
    assert p.returncode == 0, (command, p)


def mend(d, ports=None):
    """Pastes the first command of each class until there is none, and all
    classes are lossless.  The commands."""
    done = []
    for _ in range(12):
        rows = [row for row in doctor(d) if not ports or row["port"] in ports]
        todo = [f["command"] for row in rows for f in row["findings"][:1]
                if "command" in f]
        if not todo:
            break
        for command in dict.fromkeys(todo):
            paste(d, command)
            done.append(command)
    for row in rows:
        assert row["lossless"] == "yes", (done, row)
    slc.diag("; ".join(c.replace("sluicectl ", "") for c in done))
    return done


def bridge(t, name, *ports, memory="64M", **config):
    """A daemon with veth ports whose other ends are in the same namespace."""
    ns = t.enter_context(slc.Netns(name))
    d = t.enter_context(slc.Daemon(ns, env={"SLUICE_TEST_STALL_US": "2000"}))
    d.rpc("bridge.add", name="br0", memory_bytes=memory)
    for p in ports:
        ns.veth(p, p.replace("p", "h"))
        d.rpc("port.add", bridge="br0", name=p, **config)
    for p in ports:
        slc.wait_for(lambda: d.rpc("port.show", name=p)["state"] == "up", p)
    return ns, d


@slc.test("section 6: a headroom that is too small, and no memory for it")
def _(t):
    _ns, d = bridge(t, "dhead", "p1", "p2", rate_bps="200M",
                    pfc={"priorities": [3]})
    d.rpc("buffer.set", port="p1", group=3, headroom=1000)
    f = terms(d, "p1")["headroom"]
    row, = doctor(d, "p1")
    assert row["lossless"] == "no"
    assert f["short_bytes"] == row["needed_bytes"] - 1000, f
    mend(d)
    for p in ("p1", "p2"):
        d.rpc("buffer.set", port=p, group=3, headroom=1000)
    d.rpc("bridge.set", name="br0", memory_bytes="1M")
    for p in ("p1", "p2"):
        d.rpc("port.set", name=p, rate_bps="2G")
    assert terms(d, "p1")["headroom"]["command"].startswith(
        "sluicectl bridge set br0 memory "), terms(d, "p1")
    mend(d)


@slc.test("section 6: a pause that runs out during a stall")
def _(t):
    _ns, d = bridge(t, "dquanta", "p1", rate_bps="100M",
                    pfc={"priorities": [3], "quanta": 10})
    row, = doctor(d, "p1")
    # That may be again and again while the peer is to stand still: no
    # headroom makes up for it.
    d.rpc("buffer.set", port="p1", group=3, headroom="16M")
    f = terms(d, "p1")["pause-time"]
    assert f["command"] == "sluicectl pfc set p1 quanta 65535", f
    assert doctor(d, "p1")[0]["lossless"] == "unsure"
    mend(d)
    assert "pause-time" not in terms(d, "p1"), terms(d, "p1")
    d.rpc("pfc.set", port="p1", quanta=10)
    row, = doctor(d, "p1")
    # A stall of 2 ms at least, less the half of 51 us, at 100 Mb/s.
    d.rpc("buffer.set", port="p1", group=3, headroom=row["needed_bytes"])
    f = terms(d, "p1")["pause-time"]
    assert f["short_bytes"] > 24000, f
    assert f["command"] == "sluicectl pfc set p1 quanta 65535", f
    assert doctor(d, "p1")[0]["lossless"] == "unsure"
    mend(d)


@slc.test("section 6: a receive ring, and the queue of a TAP, too small")
def _(t):
    ns, d = bridge(t, "dring", "p1", rate_bps="1G", pfc={"priorities": [3]})
    d.rpc("port.add", bridge="br0", name="slct0", type="tap", rate_bps="1G",
          pfc={"priorities": [3]})
    d.rpc("port.set", name="p1", ring_bytes="64K")
    d.rpc("port.set", name="slct0", ring_bytes="64K")
    f = terms(d, "p1")["ring"]
    assert f["short_bytes"] > 0 and "port set p1 ring" in f["command"], f
    # A quarter of it may be full already when a stall begins.
    row, = doctor(d, "p1")
    arrives = row["stall_ns"] // 8  # at 1 Gb/s
    assert row["ring_needed_bytes"] * 3 // 4 >= arrives, row
    f = terms(d, "slct0")["tap-queue"]
    row, = doctor(d, "slct0")
    assert row["ring_bytes"] == 32 * 1522, row
    assert f["short_bytes"] == row["ring_needed_bytes"] - 32 * 1522, f
    mend(d)
    # Somebody else may change it too.
    ns.ip("link", "set", "slct0", "txqueuelen", "20")
    slc.wait_for(lambda: "tap-queue" in terms(d, "slct0"),
                 "the doctor sees the shorter queue")


@slc.test("section 6: a peer of ours that is faster, or does not honour PFC")
def _(t):
    ns, d = bridge(t, "dpeer")
    ns.veth("va", "vb")
    for port, rate in (("va", "100M"), ("vb", "1G")):
        d.rpc("port.add", bridge="br0", name=port, rate_bps=rate)
    d.rpc("pfc.set", port="va", enable=[3, 4])
    for group in (3, 4):  # enough for 100 Mb/s
        d.rpc("buffer.set", port="va", group=group, headroom="100K")
    assert "headroom" not in terms(d, "va")
    found = terms(d, "va")
    assert found["peer-rate"]["short_bytes"] > 0, found
    assert "port vb" in found["peer-rate"]["message"], found
    assert found["peer-pfc"]["command"] == "sluicectl pfc set vb prio 4:on"
    assert doctor(d, "va")[0]["lossless"] == "no"
    done = mend(d, ["va"])
    assert "sluicectl port set vb rate 100000000" in done, done
    assert "sluicectl pfc set vb prio 3:on" in done, done
    # The same with PAUSE, and one that would have to give it up first.
    d.rpc("pfc.set", port="va", disable=[3, 4])
    d.rpc("pause.set", port="va", tx=True)
    assert terms(d, "va")["peer-pfc"]["command"] == \
        "sluicectl pfc set vb prio all:off"
    mend(d, ["va"])
    assert d.rpc("port.show", name="vb")["config"]["pause"]["rx"]
    d.rpc("pause.set", port="va", tx=False)
    d.rpc("pfc.set", port="va", enable=[3])
    assert terms(d, "va")["peer-pfc"]["command"] == \
        "sluicectl pause set vb rx off tx off"
    mend(d, ["va"])


@slc.test("section 5: a shared headroom that is oversubscribed, and a "
          "profile")
def _(t):
    _ns, d = bridge(t, "dpool", "p1", "p2", rate_bps="200M",
                    pfc={"priorities": [3]})
    need = doctor(d, "p1")[0]["needed_bytes"]
    d.rpc("bridge.set", name="br0", headroom_pool_bytes=need + 1000)
    f = terms(d, "p1")["headroom-pool"]
    assert f["short_bytes"] == need - 1000, (f, need)
    assert doctor(d, "p1")[0]["lossless"] == "unsure"
    mend(d)
    paste(d, "sluicectl profile set br0 gold xoff 64K xon 32K headroom 1000")
    paste(d, "sluicectl buffer set p1 pg 3 profile gold")
    assert terms(d, "p1")["headroom"]["command"] == \
        "sluicectl profile set br0 gold headroom auto"
    mend(d)


class Sender:
    """A probe that sends priority 3 from the other end of p1 to h2."""

    def __init__(self, t, ns, *args):
        self.proc = t.enter_context(ns.popen(
            slc.program("sluice-probe"), "-i", "h1", "--json", "--drain",
            "10ms", *args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True))

    def result(self):
        out, err = self.proc.communicate(timeout=2 * slc.WAIT)
        assert self.proc.returncode == 0, err
        return json.loads(out)

    def end(self):
        self.proc.terminate()
        return self.result()


def counted(d, port):
    """Once all that has arrived somewhere is counted."""
    d.settle()
    return d.rpc("stats.show", port=port)[0]


def known(d, port):
    """Frames that have come in, or were lost before."""
    row = counted(d, port)
    return row["rx_frames"] + row["drops"]["kernel-ring"] + \
        row["drops"]["kernel-backlog"]


def come_in(d, port, n):
    slc.wait_for(lambda: known(d, port) >= n, "%d frames come in" % n)


def all_left(d):
    slc.wait_for(lambda: not d.rpc("audit.show")[0]["held"], "all has left")


def learn(t, ns, d):
    h2 = t.enter_context(slc.Raw(ns, "h2"))
    h2.send(slc.frame(slc.BROADCAST, h2.mac, size=64))
    slc.wait_for(lambda: d.rpc("mac.list", bridge="br0")["entries"], "h2")
    return ":".join("%02x" % x for x in h2.mac)


@slc.test("section 6: a peer that sends on although it was paused is proven, "
          "one that obeys is not")
def _(t):
    ns, d = bridge(t, "dlate", "p1", "p2", rate_bps="100M",
                   pfc={"priorities": [3]})
    d.rpc("port.set", name="p2", rate_bps="10M")
    d.rpc("buffer.set", port="p1", group=3, headroom="16M")
    d.rpc("port.set", name="p1", ring_bytes="16M")
    slc.wait_for(lambda: d.rpc("port.show", name="p1")["state"] == "up", "p1")
    dst = learn(t, ns, d)
    flow = ["-f", "prio=3,size=1000,count=%d,dst=" + dst, "--pfc", "3", "-d",
            "600s", "send"]

    def pfc():
        return d.rpc("pfc.counters", port="p1")[0]

    s = Sender(t, ns, "--rate", "100M", *[w.replace("%d", "1000000")
                                          for w in flow])
    slc.wait_for(lambda: pfc()["tx"]["pauses"][3] >= 3, "it is paused")
    come_in(d, "p1", s.end()["sent"]["flows"][0]["sent"])
    c = pfc()
    assert "peer-pfc" not in terms(d, "p1"), terms(d, "p1")
    slc.diag("obeying: %d octets late in %d pauses" % (
        c["rx"]["late_bytes"][3], c["tx"]["pauses"][3]))
    all_left(d)
    # What headroom holds at most; and so fast that it is more than may come
    # at the rate of the port during the longest stall that there was.
    d.rpc("port.set", name="p1", rate_bps="10M")
    n, before = 14000, known(d, "p1")
    Sender(t, ns, "--ignore-pfc", "--rate", "10G",
           *[w.replace("%d", str(n)) for w in flow]).result()
    come_in(d, "p1", before + n)
    row, = doctor(d, "p1")
    f = next(f for f in row["findings"] if f["term"] == "peer-pfc")
    c = pfc()
    slc.diag(f["message"])
    assert row["lossless"] == "no", row
    assert 0 < f["short_bytes"] < c["rx"]["late_bytes"][3], (f, c)
    assert not counted(d, "p1")["violations"][3]
    d.rpc("port.set", name="p2", rate_bps="100M")
    all_left(d)
    paste(d, f["command"])
    assert "peer-pfc" not in terms(d, "p1")


@slc.test("a flood of a lossless class that runs out of descriptors is named, "
          "and not put down to headroom")
def _(t):
    ports = ["p%d" % i for i in range(1, 9)]
    ns, d = bridge(t, "dflood", *ports, memory="16M", rate_bps="100M",
                   ring_bytes="64K", pfc={"priorities": [3]})
    for p in ports[1:]:
        d.rpc("drill.hold", port=p, queues=[3], duration_ms=600000)
    d.rpc("port.set", name="p1", ring_bytes="12M")  # all of a flood
    slc.wait_for(lambda: d.rpc("port.show", name="p1")["state"] == "up", "p1")
    assert "flood" not in terms(d, "p2")

    def send(n_before):
        Sender(t, ns, "-f", "prio=3,size=64,count=6000,rate=5M,"
               "dst=02:00:00:00:00:99", "--ignore-pfc", "-d", "600s",
               "send").result()
        slc.wait_for(lambda: counted(d, "p1")["rx_frames"] >= n_before + 6000,
                     "all came")
        return counted(d, "p2")["violations"][3]

    lost = send(0)
    assert lost > 0
    slc.wait_for(lambda: "(no-clone): see doctor" in d.log(), "a warning")
    f = terms(d, "p2")["flood"]
    assert int(f["message"].split()[0]) >= lost, f
    paste(d, f["command"])
    assert send(6000) == lost


@slc.test("section 6: a pause that lapses at a peer with a faster clock is "
          "told before the headroom is full")
def _(t):
    # The probe goes by the 10 Gb/s of a veth: a pause lasts 3.4 ms there.
    ns, d = bridge(t, "dlapse", "p1", "p2", rate_bps="50M",
                   pfc={"priorities": [3]})
    d.rpc("buffer.set", port="p1", group=3, headroom="30M")
    dst = learn(t, ns, d)
    d.rpc("drill.hold", port="p2", queues=[3], duration_ms=600000)
    # No more than headroom holds, however often pauses lapse.
    s = Sender(t, ns, "-f", "prio=3,size=1500,rate=45M,count=18000,dst=" + dst,
               "--pfc", "3", "-d", "600s", "send")

    def stall():
        """What the doctor says of the pause after one that is too long."""
        with slc.stopped(d.pid):
            time.sleep(0.04)
        time.sleep(0.01)
        row, = doctor(d, "p1")
        return [(row, f) for f in row["findings"] if f["term"] == "pause-time"]

    (row, f), = slc.wait_for(stall, "a pause has lapsed")
    slc.diag(f["message"])
    assert row["lossless"] == "unsure", row
    assert f["short_bytes"] > 0
    n = d.rpc("pfc.counters", port="p1")[0]["tx"]["lapses"]
    assert n[3] > 0 and not any(n[:3] + n[4:]), n
    s.proc.terminate()
    s.proc.wait()
    assert not counted(d, "p1")["violations"][3]
    d.rpc("drill.stop")
    all_left(d)
    for port in ("p1", "p2"):
        d.rpc("pfc.counters_clear", port=port)
    d.rpc("buffer.watermark_clear")
    assert "pause-time" not in terms(d, "p1"), terms(d, "p1")


@slc.test("section 6: frames that come faster than the rate are proven")
def _(t):
    # Its ring of 37 frames leaves little doubt about what came when.
    ns, d = bridge(t, "dfast", "p1", "p2", rate_bps="2M", ring_bytes="64K",
                   pfc={"priorities": [3]})
    dst = learn(t, ns, d)
    flow = ["-f", "prio=0,size=1000,rate=%s,dst=" + dst, "--rate", "100M",
            "-d", "600s", "send"]
    # As fast as the line: never proven.
    s = Sender(t, ns, *[w.replace("%s", "1900k") for w in flow])
    come_in(d, "p1", 600)
    assert "peer-rate" not in terms(d, "p1"), terms(d, "p1")
    s.end()
    # Ten times as fast, and at least twice where it is put aside itself.
    s = Sender(t, ns, *[w.replace("%s", "20M") for w in flow])

    def rate():
        """As the command says that mends it."""
        f = terms(d, "p1").get("peer-rate")
        return int(f["command"].split()[-1]) if f else 0

    slc.wait_for(lambda: rate() > 4000000, "it is found out")
    s.end()
    f = terms(d, "p1")["peer-rate"]
    slc.diag(f["message"])
    paste(d, f["command"])
    assert "peer-rate" not in terms(d, "p1")
    assert d.rpc("port.show", name="p1")["rate_bps"] > 4000000


@slc.test("section 6: losses are remembered until the counters are cleared")
def _(t):
    ns, d = bridge(t, "dpast", "p1", "p2", rate_bps="100M",
                   pfc={"priorities": [3]})
    mend(d)
    dst = learn(t, ns, d)
    d.rpc("buffer.set", port="p1", group=3, xoff_bytes=1600, xon_bytes=0,
          headroom=0)
    d.rpc("queue.set", port="p2", queues={"3": {"max_rate_bps": 1000}})
    h1 = t.enter_context(slc.Raw(ns, "h1"))
    for _ in range(30):
        h1.send(slc.frame(slc.mac(dst), h1.mac, tags=[(0, 3)], size=1000))
    come_in(d, "p1", 30)
    assert counted(d, "p1")["violations"][3], "no frame is lost"
    assert terms(d, "p1")["violations"]["command"] == \
        "sluicectl stats clear p1"
    done = mend(d)
    assert done[-1] == "sluicectl stats clear p1", done
    # Frames that are still held are not lost by any of it.
    assert d.rpc("audit.show")[0]["ok"]


@slc.test("a path that swallows PFC frames is found")
def _(t):
    ns = t.enter_context(slc.Netns("path"))
    d = t.enter_context(slc.Daemon(ns))
    ns.veth("p1", "e1").veth("p2", "e2")
    ns.ip("link", "add", "slcbr", "type", "bridge")
    ns.ip("link", "set", "e1", "master", "slcbr")
    made = ns.ip("link", "add", "link", "e2", "slcmv", "type", "macvlan",
                 check=False).returncode == 0
    d.rpc("bridge.add", name="br0")
    wanted = {"p1": "is a port of slcbr"}
    if made:
        wanted["slcmv"] = "is a macvlan interface"
    for name in list(wanted) + ["p2"]:
        # A macvlan cannot be an AF_XDP port, whatever the others are.
        kind = {"type": "afpacket"} if name == "slcmv" else {}
        d.rpc("port.add", bridge="br0", name=name, rate_bps=10 ** 8,
              pfc={"priorities": [3]}, **kind)
    for x in d.rpc("doctor.show"):
        found = [f["message"] for f in x["findings"] if f["term"] == "path"]
        if x["port"] in wanted:
            assert x["lossless"] == "no" and wanted[x["port"]] in found[0], x
        else:
            assert not found, found


slc.main(root=True, needs=["ip"])
