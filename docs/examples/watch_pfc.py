#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Watches flow control as it happens: who pauses whom, for how long, and
whether a lossless frame was ever lost.

    watch_pfc.py [--socket PATH] [--port PORT] [--seconds S] [--count N]

Ends after S seconds or N events, else when interrupted, with a summary; the
exit status is 1 if a lossless frame was lost.
"""
import argparse
import collections
import sys

import sluice

KINDS = ["xoff", "xon", "pause", "resume", "violation", "link"]


def watch(sw, args):
    """Prints events and counts them by port and kind."""
    seen = collections.Counter()
    filters = {"types": KINDS}
    if args.port:
        filters["port"] = args.port
    for n, event in enumerate(sw.events(seconds=args.seconds, **filters), 1):
        port = event.get("port", "-")
        seen[port, event["type"]] += 1
        rest = " ".join("%s=%s" % (k, v) for k, v in event.items()
                        if k not in ("time", "type", "port", "bridge"))
        print("%s %-9s %-15s %s" % (event["time"], event["type"], port, rest),
              flush=True)
        if args.count and n >= args.count:
            break
    return seen


def summary(sw, args, seen):
    """What the counters say at the end."""
    for port in sw.call("pfc.counters",
                        **({"port": args.port} if args.port else {})):
        for prio in range(8):
            sent, got = port["tx"]["pfc"][prio], port["rx"]["pfc"][prio]
            if sent or got:
                print("%s priority %d: %d PFC frames sent, %d received, "
                      "paused for %.3f ms" % (
                          port["port"], prio, sent, got,
                          port["rx"]["paused_ns"][prio] / 1e6))
    print("%d events" % sum(seen.values()))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--socket", default=sluice.DEFAULT_SOCKET)
    p.add_argument("--port", help="only this port")
    p.add_argument("--seconds", type=float, help="end after so long")
    p.add_argument("--count", type=int, help="end after so many events")
    args = p.parse_args()
    try:
        with sluice.Sluice(args.socket) as sw:
            try:
                seen = watch(sw, args)
            except KeyboardInterrupt:
                return 0
            summary(sw, args, seen)
    except sluice.Refused as e:
        sys.exit("refused: %s" % e)
    except OSError as e:
        sys.exit("%s: %s" % (args.socket, e))
    return 1 if any(kind == "violation" for _, kind in seen) else 0


if __name__ == "__main__":
    sys.exit(main())
