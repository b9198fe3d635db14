#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sluice-topo and files that are wrong: an error with file and line, and
nothing left behind.  What is found in the file alone needs no root."""
import os

import slc
from topo import Topo, line_of

HEAD = """
name: NAME
topology:
  defaults: {kind: linux, network-mode: none}
"""
PAIR = HEAD + """
  nodes:
    a:
    b:
"""


def refused(t, text, mark, *words):
    """The file is refused, at the line that has `mark`, with these words."""
    topo = Topo(t)
    path = topo.file(text)
    p = topo("up", path, check=False)
    assert p.returncode == 2, (p.returncode, p.stderr)
    where = "%s:%d: " % (path, line_of(path, mark))
    assert where in p.stderr, (where, p.stderr)
    for word in words:
        assert word in p.stderr, (word, p.stderr)
    assert "Traceback" not in p.stderr, p.stderr
    assert topo.left() == [], topo.left()


CASES = [
    ("a link to a node that is not there", PAIR + """
  links:
    - endpoints: ["a:eth0", "c:eth0"]
""", "c:eth0", ["no node 'c'", "a or b"]),
    ("an interface used twice", HEAD + """
  nodes: {a: , b: , c: }
  links:
    - endpoints: ["a:eth0", "b:eth0"]
    - endpoints: ["a:eth0", "c:eth0"]
""", "a:eth0.*c:eth0", ["a:eth0 is used twice", "first in line 7"]),
    ("both ends of a link on one interface", PAIR + """
  links:
    - endpoints: ["a:eth0", "a:eth0"]
""", "a:eth0", ["used twice"]),
    ("an unknown kind", HEAD + """
  nodes:
    a: {kind: srl}
""", "srl", ["kind 'srl' is not known", "linux"]),
    ("a kind that drops PFC", HEAD + """
  nodes:
    a: {kind: bridge}
""", "bridge", ["Linux bridge drops PFC frames"]),
    ("a node without a kind", """
name: NAME
topology:
  nodes:
    a:
""", "a:$", ["node 'a' has no kind"]),
    ("a network that drops PFC", HEAD + """
  nodes:
    a: {network-mode: bridge}
""", "network-mode: bridge", ["Linux bridge drops PFC", "none"]),
    ("a link that never delivers PFC", PAIR + """
  links:
    - type: macvlan
      endpoints: ["a:eth0", "b:eth0"]
""", "macvlan", ["never delivers PFC"]),
    ("a cycle of binds", HEAD + """
  nodes:
    a:
      binds:
        - /usr/share:/usr/lib
        - /usr/lib:/usr/share
""", "/usr/share:/usr/lib", ["a cycle"]),
    ("a bind of what is not there", HEAD + """
  nodes:
    a: {binds: ["/nowhere/at/all:/mnt"]}
""", "nowhere", ["there is no /nowhere/at/all"]),
    ("two binds onto one target", HEAD + """
  nodes:
    a:
      binds: ["/usr:/mnt",
              "/etc:/mnt"]
""", "/etc:/mnt", ["bound twice", "first in line"]),
    ("YAML that does not parse", HEAD + """
  nodes: {a: ]
""", "a: ]", ["is not YAML"]),
    ("a tabulator", "name: NAME\n\ttopology: x\n", "topology", ["not YAML"]),
    ("a key that is given twice", HEAD + """
  nodes:
    a: {}
    a:
""", "^    a:$", ["'a' is given twice"]),
    ("an alias that contains itself", HEAD + """
  nodes:
    a: &x
      labels: *x
""", "a: &x", ["contains itself"]),
    ("a key that is not known", HEAD + """
  nodes:
    a: {imagee: x}
""", "imagee", ["'imagee' is not known", "image"]),
    ("no nodes", "name: NAME\ntopology: {links: []}\n", "topology",
     ["'nodes' is missing"]),
    ("no name", "topology:\n  nodes: {a: }\n", "topology",
     ["'name' is missing"]),
    ("a name with a slash", "name: ../NAME\ntopology: {nodes: {a: }}\n",
     "name", ["is not a name"]),
    ("a name for an interface with a slash", PAIR + """
  links:
    - endpoints: ["a:et/h", "b:eth0"]
""", "et/h", ["not a name for an interface"]),
    ("three ends of a link", PAIR + """
  links:
    - endpoints: ["a:e0", "b:e0", "b:e1"]
""", "e0", ["two endpoints, not 3"]),
    ("a label that does not exist", HEAD + """
  nodes:
    a: {labels: {sluice-xof: 64K}}
""", "sluice-xof", ["'sluice-xof' is not known", "sluice-xoff"]),
    ("a label of an interface that does not exist", HEAD + """
  nodes:
    a: {labels: {sluice-role: switch, sluice-xoff.p9: 64K}}
""", "p9", ["no interface 'p9'"]),
    ("a rate that is none", PAIR.replace(
        "a:\n", "a: {labels: {sluice-role: switch}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
      labels: {sluice-rate: fast}
""", "fast", ["sluice-rate", "'fast' is not a rate"]),
    ("a type of port that is none", PAIR.replace(
        "a:\n", "a: {labels: {sluice-role: switch}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
      labels: {sluice-type: afxpd}
""", "afxpd", ["sluice-type", "'afxpd'", "afpacket, afxdp, auto"]),
    ("a type of port that an end of a link cannot have", PAIR.replace(
        "b:\n", "b: {labels: {sluice-type: tap}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "sluice-type", ["'tap'", "afpacket, afxdp, auto"]),
    ("a priority 8", PAIR.replace(
        "b:\n", "b: {labels: {sluice-pfc: '8'}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "sluice-pfc", ["'8' is not a number from 0 to 7"]),
    ("a flow to nobody", PAIR.replace(
        "b:\n", "b: {labels: {sluice-flow: 'to=c,prio=3'}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "sluice-flow", ["no host 'c'"]),
    ("an address of a host that has no tap", PAIR.replace(
        "b:\n", "b: {labels: {sluice-address: 192.0.2.1/24}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "sluice-address", ["of role lossless-host", "of role host"]),
    ("an address that is none", PAIR.replace(
        "b:\n", "b: {labels: {sluice-role: lossless-host, sluice-address: "
        "192.0.2.300}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "sluice-address", ["192.0.2.300"]),
    ("a flow of a switch", PAIR.replace(
        "b:\n", "b: {labels: {sluice-role: switch, sluice-flow: "
        "'to=a,prio=3'}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "sluice-flow", ["of role host"]),
    ("an expectation that is none", PAIR.replace(
        "none}", "none, labels: {sluice-expect.x: 'lost prio=3'}}") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "sluice-expect", ["METRIC"]),
    ("an expectation that compares with what is not there", PAIR.replace(
        "none}", "none, labels: {sluice-expect.x: 'lost < 2 * lost to=c'}}") +
     """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "sluice-expect", ["no node 'c'"]),
    ("an expectation about a port that is not there", PAIR.replace(
        "none}", "none, labels: {sluice-expect.x: 'xoff port=a:e7 > 0'}}") +
     """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "sluice-expect", ["no port 'a:e7'"]),
    ("a startup configuration that is not there", HEAD + """
  nodes:
    a: {startup-config: nowhere.json}
""", "nowhere", ["there is no file"]),
    ("an endpoint that is a list", PAIR + """
  links:
    - endpoints: [["a:eth0"], "b:eth0"]
""", "a:eth0", ["is not NODE:INTERFACE"]),
    ("a kind that is a list", HEAD + """
  nodes:
    a: {kind: [linux]}
""", "kind: .linux.", ["'kind' has to be a text"]),
    ("a group that is a list", HEAD + """
  nodes:
    a: {group: [x]}
""", "group", ["'group' has to be a text"]),
    ("a network mode that is a mapping", HEAD + """
  nodes:
    a: {network-mode: {none: x}}
""", "none: x", ["'network-mode' has to be a text"]),
    ("a type of link that is a list", PAIR + """
  links:
    - type: [veth]
      endpoints: ["a:eth0", "b:eth0"]
""", "veth", ["'type' has to be a text"]),
    ("a control character", HEAD + """
  nodes:
    a: {image: "x\a"}
""", "image", ["is not YAML", "special characters"]),
    ("a name for an interface that ip(8) would take for a comment", PAIR + """
  links:
    - endpoints: ["a:e#1", "b:eth0"]
""", "e#1", ["not a name for an interface"]),
    ("a command that does not parse", HEAD + """
  nodes:
    a: {exec: ['echo "x']}
""", "exec", ["No closing quotation"]),
    ("an empty command", HEAD + """
  nodes:
    a: {exec: ['']}
""", "exec", ["an empty command"]),
    ("members of a port that are no object", PAIR.replace(
        "a:\n", "a: {labels: {sluice-role: switch, sluice-port-json: "
        "'{\"pfc\": 3}'}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "port-json", ["pfc is not a JSON object"]),
    ("priorities of a port that are no list", PAIR.replace(
        "b:\n", "b: {labels: {sluice-port-json: "
        "'{\"pfc\": {\"priorities\": 3}}'}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "port-json", ["not a list of 0 to 7"]),
    ("a number that JSON does not have", PAIR.replace(
        "a:\n", "a: {labels: {sluice-role: switch, sluice-port-json: "
        "'{\"x\": NaN}'}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "port-json", ["is not JSON", "NaN"]),
    ("an expectation about a flow that is not there", PAIR.replace(
        "none}", "none, labels: {sluice-expect.x: 'lost flow=a.9 = 0'}}"
    ).replace("a:\n", "a: {labels: {sluice-flow: 'to=b,prio=3'}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "sluice-expect", ["no flow 'a.9'"]),
    ("an expectation about a class that nobody sends", PAIR.replace(
        "none}", "none, labels: {sluice-expect.x: 'lost prio=5 = 0'}}"
    ).replace("a:\n", "a: {labels: {sluice-flow: 'to=b,prio=3'}}\n") + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""", "sluice-expect", ["no flow with prio=5"]),
    ("names that are too long together for a socket", """
name: NAME
topology:
  defaults: {kind: linux, labels: {sluice-role: switch}}
  nodes:
    a:
    %s:
""" % ("b" * 63), "bbb", ["too long together"]),
]


def register(name, text, mark, words):
    @slc.test("refused with its line: " + name)
    def _(t):
        refused(t, text, mark, *words)


for case in CASES:
    register(*case)


@slc.test("a file that is not there, is a folder, or is too large is refused")
def _(t):
    topo = Topo(t)
    large = topo.file("#" * (1 << 20) + "\nname: x\n", "large")
    for path, words in (("/nowhere.yml", "No such file"),
                        ("/", "directory"),
                        ("/dev/null", "not a regular file"),
                        (large, "larger than 1 MiB"),
                        (topo.file("", "empty"), "not a mapping"),
                        (topo.file("- a\n", "list"), "not a mapping")):
        p = topo("up", path, check=False)
        assert p.returncode == 2 and words in p.stderr, (path, p.stderr)


@slc.test("a startup configuration that is no JSON is refused with its line")
def _(t):
    topo = Topo(t)
    path = os.path.join(topo.dir, "wrong.json")
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"bridges":\n  {"br0": ]}\n')
    p = topo("up", topo.file(HEAD + """
  nodes:
    a: {startup-config: %s}
""" % path), check=False)
    assert p.returncode == 2 and "%s:2: is not JSON" % path in p.stderr, (
        p.returncode, p.stderr)


@slc.test("a run that is too short is refused with the line of its label")
def _(t):
    topo = Topo(t)
    path = topo.file(HEAD.replace(
        "none}", "none, labels: {sluice-role: other, "
        "sluice-duration: 0s}}") + "  nodes: {a: }\n")
    p = topo("run", path, check=False)
    assert p.returncode == 2 and "%s:%d: sluice-duration" % (
        path, line_of(path, "sluice-duration")) in p.stderr, p.stderr


@slc.test("what was ended before it began is listed, and up begins again")
def _(t):
    topo = Topo(t)
    path = topo.file(HEAD + "  nodes: {a: {labels: {sluice-role: other}}}\n")
    os.makedirs(os.path.join(topo.state, topo.name()))
    with open(os.path.join(topo.state, topo.name(), "journal"), "w",
              encoding="utf-8"):
        pass
    p = topo("list")
    assert topo.name() in p.stdout and "(not whole)" in p.stdout, p.stdout
    topo("up", path)
    topo("down", path)
    assert topo.left() == [], topo.left()


@slc.test("a file that would grow without bound is refused")
def _(t):
    topo = Topo(t)
    text = "x0: &x0 [a, a]\n"
    for n in range(1, 30):
        text += "x%d: &x%d [*x%d, *x%d]\n" % (n, n, n - 1, n - 1)
    p = topo("up", topo.file(text), check=False, timeout=20)
    assert p.returncode == 2 and "more than" in p.stderr, p.stderr
    text = "name: " + "[" * 5000 + "]" * 5000
    p = topo("up", topo.file(text), check=False, timeout=20)
    assert p.returncode == 2 and "deep" in p.stderr, p.stderr


@slc.test("names that are too long for an interface are cut the same way")
def _(t):
    topo = Topo(t)
    path = topo.file(PAIR + """
  links:
    - endpoints: ["a:uplink-to-the-spine-1", "b:uplink-to-the-spine-2"]
    - endpoints: ["a:uplink-to-the-spine-2", "b:eth1"]
""")
    first = topo("graph", path).stdout
    assert first == topo("graph", path).stdout
    cut = {w for w in first.split() if w.startswith("uplink-")}
    assert len(cut) == 2 and all(len(w) == 15 for w in cut), first


@slc.test("bad usage is exit status 2, no topology 1")
def _(t):
    topo = Topo(t)
    assert topo("fly", check=False).returncode == 2
    assert topo(check=False).returncode == 2
    assert topo("down", check=False).returncode == 2
    assert topo("down", "nobody", check=False).returncode == 1
    p = topo("show", "nobody", check=False)
    assert p.returncode == 1 and "'nobody' is not up" in p.stderr
    assert topo("list").stdout == ""
    path = topo.file(HEAD + "  nodes: {a: {labels: {sluice-role: other}}}\n")
    p = topo("run", "--plot", path, path, check=False)
    assert p.returncode == 1 and "--plot %s: File exists" % path in p.stderr, \
        p.stderr


@slc.test("the labels make the configuration that the format says")
def _(t):
    import json
    topo = Topo(t)
    path = topo.file(HEAD.replace("none}", "none, labels: {sluice-pfc: '3'}}")
                     + """
  nodes:
    s:
      labels:
        sluice-role: switch
        sluice-memory: 32M
        sluice-xoff: 64K
        sluice-xoff.p2: "3:1M"
        sluice-queues: "0:40% 3:60% 7:strict"
        sluice-pfc.p2: "3-4"
        sluice-port-json.p2: '{"pfc": {"quanta": 1000}}'
    b:
  links:
    - {endpoints: ["s:p1", "b:e0"], labels: {sluice-rate: 1.5G}}
    - {endpoints: ["s:p2", "b:e1"], labels: {sluice-cable: 5us}}
""")
    got = json.loads(topo("config", path, "s").stdout)["bridges"]["br0"]
    assert got["memory_bytes"] == 32 << 20
    queues = {"0": {"mode": "ets", "weight": 40},
              "3": {"mode": "ets", "weight": 60}, "7": {"mode": "strict"}}
    assert got["ports"] == {
        "p1": {"type": "afpacket", "rate_bps": 1500000000,
               "pfc": {"priorities": [3]}, "queues": queues,
               "groups": {"3": {"xoff_bytes": 65536}}},
        "p2": {"type": "afpacket", "cable_delay_ns": 5000,
               "pfc": {"priorities": [3, 4], "quanta": 1000},
               "queues": queues, "groups": {"3": {"xoff_bytes": 1 << 20}}},
    }, got["ports"]


@slc.test("a port's type comes from its node, its link, or its own label; that "
          "of a lossless host is its uplink's")
def _(t):
    import json
    topo = Topo(t)
    path = topo.file(HEAD.replace("none}", "none, labels: {sluice-type: auto}}")
                     + """
  nodes:
    s: {labels: {sluice-role: switch, sluice-type.p3: afxdp}}
    h: {labels: {sluice-role: lossless-host}}
    b:
  links:
    - {endpoints: ["s:p1", "b:e0"]}
    - {endpoints: ["s:p2", "b:e1"], labels: {sluice-type: afpacket}}
    - {endpoints: ["s:p3", "h:e0"], labels: {sluice-type: afpacket}}
""")

    def types(node, bridge):
        ports = json.loads(topo("config", path, node).stdout)["bridges"][
            bridge]["ports"]
        return {name: p["type"] for name, p in ports.items()}
    assert types("s", "br0") == {"p1": "auto", "p2": "afpacket",
                                 "p3": "afxdp"}
    assert types("h", "host") == {"e0": "afpacket", "host0": "tap"}


@slc.test("every ready topology is a file that holds, and has its page")
def _(t):
    from topo import READY
    topo = Topo(t)
    words = sorted(n[:-len(".clab.yml")] for n in os.listdir(READY)
                   if n.endswith(".clab.yml"))
    assert "incast" in words, words
    with open(os.path.join(READY, "README.md")) as f:
        index = f.read()
    for word in words:
        assert "graph \"" in topo("graph", "--dot", os.path.join(
            READY, word + ".clab.yml")).stdout
        page = word.replace("-uncured", "")  # one page with its cure
        with open(os.path.join(READY, page + ".md")) as f:
            assert "Everything was as expected." in f.read(), word
        assert "(%s.md)" % page in index, word


@slc.test("without privileges up says so, and makes nothing")
def _(t):
    if os.geteuid() != 0:
        raise slc.Skip("needs root, to give it up")
    topo = Topo(t)
    path = topo.file(PAIR + """
  links:
    - endpoints: ["a:e0", "b:e0"]
""")
    os.chmod(topo.dir, 0o777)
    os.chmod(path, 0o644)
    import topo as lib
    if slc.run("setpriv", "--reuid", "65534", "--clear-groups", "test", "-x",
               lib.script(), check=False).returncode:
        raise slc.Skip("the tree is closed to other users")
    p = slc.run("setpriv", "--reuid", "65534", "--clear-groups",
                lib.script(), "up", path, check=False, env=topo.env)
    assert p.returncode == 3 and "root" in p.stderr, (p.returncode, p.stderr)
    assert topo.left() == [], topo.left()


slc.main(root=False)
