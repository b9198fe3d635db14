#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A configuration of more than a mebibyte: what was exported can be applied,
the answer says what there is room for, and one client at a time may send so
much."""
import json

import slc

N_PORTS = 500  # fully configured; half of a bridge each
MIB = 1 << 20


def large(d):
    """Two bridges of ports that have everything set."""
    d.rpc("bridge.add", name="br0", memory_bytes="512M")
    d.rpc("port.add", bridge="br0", name="slcbig0", type="mem",
          rate_bps="10M", pfc={"priorities": [3]})
    for i in range(8):
        d.rpc("buffer.set", port="slcbig0", group=i, xoff_bytes="100K",
              xon_bytes="10K", headroom="20K")
    d.rpc("map.set", port="slcbig0", dscp_to_priority={"1": 2},
          pcp_to_priority={"1": 2})
    whole = d.rpc("config.export")
    bridge = whole["bridges"]["br0"]
    port = bridge["ports"].pop("slcbig0")
    del port["ofport"]
    for b in range(2):
        whole["bridges"]["br%d" % b] = dict(bridge, ports={
            "slcb%d-%d" % (b, i): dict(port, queues={
                str(q): {"mode": "strict", "limit_bytes": 200000 + i,
                         "wred_min_bytes": 50000 + i, "wred_percent": 50,
                         "wred_max_bytes": 100000 + i, "ecn": True,
                         "max_rate_bps": 1000000 + i} for q in range(8)})
            for i in range(N_PORTS // 2)})
        whole["bridges"]["br%d" % b].pop("datapath_id", None)
    return whole


def ctl(d, *argv, **kw):
    return slc.run(slc.program("sluicectl"), "-s", d.socket, *argv,
                   check=False, **kw)


def call(config):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "config.apply",
                       "params": {"config": config, "dry_run": True}})


@slc.test("a configuration of more than 1 MiB can be applied from a file")
def _(t):
    d = t.enter_context(slc.Daemon())
    whole = large(d)
    text = json.dumps(whole, indent=2)
    assert len(call(whole)) > MIB, len(call(whole))
    p = ctl(d, "apply", "-", "--dry-run", input=text)
    last = p.stdout.splitlines()[-1]
    slc.diag("%d octets: %s" % (len(text), last))
    assert last.endswith(" changes, not applied"), last
    # More changes than an answer holds: the first, and how many there are.
    answer = d.rpc("config.apply", config=whole, dry_run=True)
    n = len(answer["changed"]) + answer["n_more"]
    assert answer["n_more"] > 0 and last == "%d changes, not applied" % n
    assert len(json.dumps(answer)) < 3 * MIB
    # And back: what was exported then is what there is.
    p = ctl(d, "apply", "-", input=text)
    assert p.returncode == 0 and p.stdout.endswith(" changes, applied\n"), p
    assert len(d.rpc("bridge.show", name="br1")["ports"]) == N_PORTS // 2
    text = ctl(d, "export").stdout
    assert len(text) > MIB
    p = ctl(d, "apply", "-", input=text)
    assert p.stdout == "nothing to change\n", p
    # Where a mistake is, is still said.
    whole["bridges"]["br1"]["ports"]["slcb1-7"]["rate_bps"] = -1
    p = ctl(d, "apply", "-", input=json.dumps(whole, indent=2))
    assert p.returncode == 1 and "slcb1-7" in p.stderr, p
    assert "-1" in p.stderr, p
    p = ctl(d, "apply", "-", input=text[:-2])
    assert p.returncode == 2 and "ends too early" in p.stderr, p


@slc.test("a file of more than 16 MiB is refused before anything is sent")
def _(t):
    d = t.enter_context(slc.Daemon())
    p = ctl(d, "apply", "-", input="{}" + " " * 16 * MIB)
    assert p.returncode == 2 and "is too long; allowed: at most" in p.stderr, p


@slc.test("one client at a time may send so much")
def _(t):
    d = t.enter_context(slc.Daemon())
    one = t.enter_context(d.connect())
    one.send_raw('{"x": "' + "y" * 2 * MIB)  # and goes on later
    two = t.enter_context(d.connect())
    two.send_raw("[" + " " * MIB)  # all of it is read
    answer = two.read(30)
    assert answer["error"]["code"] == -32600, answer
    assert "try again later" in answer["error"]["message"], answer
    one.send_raw('"}')
    assert one.read(30)["error"]["code"] == -32600
    # The first is done with it, and a client that goes away as well.
    for _ in range(2):
        three = t.enter_context(d.connect())
        three.send_raw('["' + "y" * 2 * MIB + '"]')
        assert three.read(30)[0]["error"]["code"] == -32600
    gone = d.connect()
    gone.send_raw('{"x": "' + "y" * 2 * MIB)
    gone.close()
    slc.wait_for(lambda: d.rpc("daemon.status")["rpc"]["clients"] == 5,
                 "it is gone")
    three.send_raw('["' + "y" * 2 * MIB + '"]')
    assert three.read(30)[0]["error"]["code"] == -32600


slc.main(needs=["ip"])
