#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TAP: docs/rpc.md is what docs/gen-rpc-docs.py makes of the daemon's tables,
and the man page of sluicectl knows every command."""
import difflib
import json
import os
import re
import subprocess
import sys

TOP_SRC = os.environ.get("top_srcdir", ".")
TOP_BUILD = os.environ.get("top_builddir", ".")
_n = 0
_failed = 0


def check(ok, name, notes=()):
    global _n, _failed
    _n += 1
    _failed += not ok
    for note in [] if ok else notes:
        print("# " + note.rstrip("\n"))
    print("%s %d - %s" % ("ok" if ok else "not ok", _n, name), flush=True)


def output(*argv, **kw):
    return subprocess.run(argv, stdout=subprocess.PIPE, check=True, text=True,
                          timeout=30, **kw).stdout


def built(*path):
    return os.path.join(TOP_BUILD, *path)


def read(*path):
    with open(os.path.join(TOP_SRC, *path), encoding="utf-8") as f:
        return f.read()


print("1..4", flush=True)
openrpc = output(built("vswitchd", "sluiced"), "--dump-openrpc")
doc = json.loads(openrpc)
want = output(sys.executable, os.path.join(TOP_SRC, "docs",
                                           "gen-rpc-docs.py"), input=openrpc)
have = read("docs", "rpc.md")
check(have == want, "docs/rpc.md is up to date (else: make rpc-docs)",
      list(difflib.unified_diff(have.split("\n"), want.split("\n"),
                                "docs/rpc.md", "generated", lineterm=""))[:40])

lacking = [m["name"] for m in doc["methods"]
           if not m["description"] or not m["result"]["description"]
           or any(not p.get("description") for p in m["params"])]
check(not lacking, "every method and parameter is described", lacking)

lacking = [m["name"] for m in doc["methods"]
           if not m["examples"] and
           any(p["required"] for p in m["params"])]
check(not lacking, "every method with required parameters has an example",
      lacking)

man = read("docs", "man", "sluicectl.8").replace("\\-", "-")
plain = re.sub(r'\\f[A-Z]|^\.[A-Z]+ ', "", man, flags=re.M)
lacking = []
for line in output(built("utilities", "sluicectl"),
                   "--list-commands").splitlines():
    noun, verb, _, keys, options = line.split("\t")
    command = (noun + " " + verb).strip()
    if not re.search(r"^%s\b" % re.escape(command), plain, re.M):
        lacking.append(command)
    lacking += ["%s %s" % (command, word)
                for word in keys.split() + options.split()
                if not re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(word),
                                 plain)]
check(not lacking, "sluicectl(8) knows every command and word", lacking)
sys.exit(1 if _failed else 0)
