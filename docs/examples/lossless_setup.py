#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sets up a bridge with lossless priorities, and takes everything back if the
result is not really lossless.

    lossless_setup.py [--socket PATH] [--prio 3[,4]] [--rate 200M]
                      [--cable 0] [--dry-run] BRIDGE PORT [PORT...]

It works on the configuration as a whole: exports it, edits a copy, applies
that (one transaction: all or nothing), asks the daemon's own diagnosis, and
applies the first one again if any class is not lossless or anything else goes
wrong.  The exit status is 0 when the classes are lossless, 1 when it was
rolled back or refused.
"""
import argparse
import copy
import json
import sys

import sluice


def desired(old, args):
    """The configuration that we want: the old one with our bridge in it."""
    new = copy.deepcopy(old)
    bridge = new.setdefault("bridges", {}).setdefault(args.bridge, {})
    ports = bridge.setdefault("ports", {})
    for name in args.port:
        port = ports.setdefault(name, {"type": args.type})
        port["pfc"] = {"priorities": args.prio}
        if args.rate:
            port["rate_bps"] = args.rate
        port["cable_delay_ns"] = args.cable
    return new


def show_changes(changes):
    for c in changes:
        print("  %-7s %s: %s -> %s" % (
            c["op"], c["path"], json.dumps(c.get("old")),
            json.dumps(c.get("new"))))
    if not changes:
        print("  nothing to change")


def problems(sw, args):
    """Why the classes are not lossless; empty when they are."""
    found = []
    for name in args.port:
        for class_ in sw.call("doctor.show", port=name):
            if class_["lossless"] == "no":
                found += ["%s, priority %s: %s (try: %s)" % (
                    name, class_["priority"], f["message"],
                    f.get("command", "-")) for f in class_["findings"]]
    for bridge in sw.call("audit.show", bridge=args.bridge):
        if not bridge["ok"]:
            found.append("the audit of %s does not add up" % bridge["bridge"])
    return found


def set_up(sw, args):
    old = sw.call("config.export")
    new = desired(old, args)
    answer = sw.call("config.apply", config=new, dry_run=args.dry_run)
    show_changes(answer["changed"])
    if args.dry_run:
        return 0
    try:
        found = problems(sw, args)
    except Exception:
        sw.call("config.apply", config=old)
        raise
    for problem in found:
        print("  ! " + problem)
    if found and not args.keep:
        sw.call("config.apply", config=old)
        print("rolled back")
        return 1
    print("priorities %s of %s are %slossless" % (
        ",".join(map(str, args.prio)), ", ".join(args.port),
        "not " if found else ""))
    return 1 if found else 0


def priorities(text):
    found = sorted({int(p) for p in text.split(",")})
    if any(p not in range(8) for p in found):
        raise argparse.ArgumentTypeError("priorities are 0 to 7")
    return found


def rate(text):
    factor = {"K": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:].upper())
    return int(text[:-1]) * factor if factor else int(text)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--socket", default=sluice.DEFAULT_SOCKET)
    p.add_argument("--prio", type=priorities, default=[3],
                   help="lossless priorities, like 3,4 [3]")
    p.add_argument("--rate", type=rate, help="line rate of the ports")
    p.add_argument("--cable", type=int, default=0,
                   help="delay of the cable, ns [0]")
    p.add_argument("--type", default="afpacket",
                   help="type of ports that are new [afpacket]")
    p.add_argument("--keep", action="store_true",
                   help="do not roll back")
    p.add_argument("--dry-run", action="store_true",
                   help="only say what would change")
    p.add_argument("bridge", metavar="BRIDGE")
    p.add_argument("port", metavar="PORT", nargs="+")
    args = p.parse_args()
    try:
        with sluice.Sluice(args.socket) as sw:
            return set_up(sw, args)
    except sluice.Refused as e:
        sys.exit("refused: %s %s" % (e, e.data or ""))
    except OSError as e:
        sys.exit("%s: %s" % (args.socket, e))


if __name__ == "__main__":
    sys.exit(main())
