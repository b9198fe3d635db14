#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/rpc.md from the OpenRPC document of the daemon.

    vswitchd/sluiced --dump-openrpc | docs/gen-rpc-docs.py > docs/rpc.md

The document is made from the tables that validate parameters, so what is
described here is what is accepted.  docs/check_rpc_docs.py (a test of `make
check`) fails when the file in the tree is not what this writes.
"""
import json
import sys

INTRO = """\
# JSON-RPC reference

<!-- Written by docs/gen-rpc-docs.py from `sluiced --dump-openrpc`.
     Do not edit: change the tables in vswitchd/ and run `make rpc-docs`. -->

The daemon speaks [JSON-RPC 2.0](https://www.jsonrpc.org/specification) over
a Unix stream socket, and over TCP on loopback when told to: requests,
notifications and batches, one JSON text after another, with or without
newlines between them. Answers end with a newline. `rpc.discover` answers
the [OpenRPC](https://spec.open-rpc.org/) document that this page was made
from.

    $ echo '{"jsonrpc":"2.0","id":1,"method":"daemon.status"}' |
          socat -t 5 - UNIX-CONNECT:/run/sluice/sluiced.sock

Parameters may be given by name (an object) or by position (an array, in the
order of the tables). Unknown parameters are refused. Where a unit is shown, a
number may also be written as text: sizes with K, M, G (1024-based), rates
with K, M, G, T (1000-based), times with us, ms, s or min, h, d.
[docs/examples/](examples/) has programs to start from.
"""

PLURALS = {
    "request_octets": "octets of one JSON text",
    "nesting_depth": "levels of nesting",
    "containers": "arrays and objects in one JSON text",
    "values": "values in one JSON text",
    "long_request_octets": "octets of a text that is beyond these bounds: "
                           "one at a time of all clients may be, like a "
                           "configuration for `config.apply`",
    "long_containers": "arrays and objects in such a text",
    "long_values": "values in such a text",
    "batch_requests": "requests in a batch",
    "answer_octets": "octets of the answer to one request; in place of a "
                     "longer one comes -32004",
    "waiting_octets": "octets of answers and events that wait for a client, "
                      "the next answer included",
}

MEANINGS = {
    -32700: "what came is no JSON; the connection is closed",
    -32600: "JSON, but no request, or beyond a limit above, or not taken: see "
            "above",
    -32601: "no such method; one with a similar name is suggested",
    -32602: "a parameter is unknown, missing, of a wrong type or out of "
            "range",
    -32603: "a mistake in the daemon: please report it",
    -32000: "a value that cannot be, alone or beside the others",
    -32001: "no such port, bridge or entry; those that exist are named",
    -32002: "there is one of that name already",
    -32003: "not now; the same request may succeed later",
    -32004: "buffers, memory or disk space do not suffice",
    -32005: "the operating system refused",
}


def escape(text):
    return text.replace("|", "\\|").replace("\n", " ")


def number(n):
    """12345678 as 12 345 678: readable, and still one word."""
    return "{:,}".format(n).replace(",", "\u00a0")


def type_of(schema):
    """('integer', 'minimum to maximum') of a JSON schema."""
    for key in ("oneOf", "anyOf"):
        if key in schema:
            kind, allowed = type_of(schema[key][0])
            for other in schema[key][1:]:
                if "enum" in other:
                    allowed += ", or " + ", ".join(
                        "`%s`" % w for w in other["enum"])
            return kind, allowed
    if "enum" in schema:
        return "string", ", ".join("`%s`" % w for w in schema["enum"])
    kind = schema.get("type", "any")
    if kind == "integer":
        return kind, "%s to %s" % (number(schema["minimum"]),
                                   number(schema["maximum"]))
    if kind == "string" and "maxLength" in schema:
        return kind, "%d to %d octets" % (schema["minLength"],
                                          schema["maxLength"])
    if kind == "array":
        count = "%s to %s elements" % (number(schema["minItems"]),
                                       number(schema["maxItems"]))
        if "items" in schema:
            inner, allowed = type_of(schema["items"])
            return "array of " + inner, count + (
                ", each " + allowed if allowed else "")
        return kind, count
    return kind, ""


def params_table(params):
    yield "| parameter | type | required | allowed | unit | meaning |"
    yield "|---|---|---|---|---|---|"
    for p in params:
        kind, allowed = type_of(p["schema"])
        yield "| `%s` | %s | %s | %s | %s | %s |" % (
            p["name"], kind, "yes" if p["required"] else "no",
            escape(allowed), p["schema"].get("x-unit", ""),
            escape(p.get("description", "")))


def request_of(method):
    """The request of the method's example."""
    request = {"jsonrpc": "2.0", "id": 1, "method": method["name"]}
    for example in method["examples"]:
        params = {p["name"]: p["value"] for p in example["params"]}
        if params:
            request["params"] = params
    return json.dumps(request)


def describe(method, errors):
    yield "## " + method["name"]
    yield ""
    yield method["description"]
    if method.get("x-changes-configuration"):
        yield ""
        yield "Changes the configuration: answered when it is stored and in " \
            "force."
    yield ""
    if method["params"]:
        yield from params_table(method["params"])
    else:
        yield "No parameters."
    yield ""
    yield "Result: " + method["result"]["description"]
    yield ""
    yield "Request and the shape of its answer:"
    yield ""
    yield "```json"
    yield request_of(method)
    yield '{"jsonrpc": "2.0", "result": ..., "id": 1}'
    yield "```"
    yield ""
    yield "Errors: " + ", ".join(
        "%d" % errors[e["$ref"].rsplit("/", 1)[1]]["code"]
        for e in method["errors"]) + "."
    yield ""


def page(doc):
    errors = doc["components"]["errors"]
    yield from INTRO.split("\n")
    yield "Limits; what goes beyond is refused, and the connection closed " \
        "where the rest could not be understood:"
    yield ""
    for name, value in doc["x-limits"].items():
        yield "- %s %s" % (number(value), PLURALS.get(name, name))
    yield ""
    yield "Requests of all clients are executed in turn, one of each, those " \
        "of a batch too; the answer to a batch comes in pieces, and nothing " \
        "more of a client is executed while a megabyte waits for it to be " \
        "read.  A client that reads nothing for ten seconds, or has more " \
        "events waiting than fit, is dropped."
    yield ""
    yield "Valid JSON that is answered with -32600 and id null, without an " \
        "effect (of a batch: as a whole), while the connection goes on: a " \
        "string or name with the character `\\u0000`, an integer that does " \
        "not fit 64 bits, and an object with two members of the same name.  " \
        "A number is answered in `id` as it was sent.  Half a text at the " \
        "end of the stream is answered with -32700."
    yield ""
    yield "Errors have `code`, `message` (one sentence for people) and, " \
        "where they are about a value, `data` with `path` (a JSON pointer " \
        "into the request, `/params/...`, or into the configuration, " \
        "`/bridges/...`), `value` (what was found, as people write it: a " \
        "string without quotes, all else as JSON) and `allowed`:"
    yield ""
    yield "| code | name | when |"
    yield "|---|---|---|"
    for name, e in sorted(errors.items(), key=lambda i: -i[1]["code"]):
        yield "| %d | %s | %s |" % (e["code"], name,
                                    MEANINGS.get(e["code"], e["message"]))
    yield ""
    yield "```json"
    yield '{"jsonrpc": "2.0", "error": {"code": -32602, "message": ' \
        '"pfc.set: parameter enable/0 is 8; allowed: 0 to 7", "data": ' \
        '{"path": "/params/enable/0", "value": "8", "allowed": "0 to 7"}}, ' \
        '"id": 1}'
    yield "```"
    yield ""
    yield "Methods:"
    yield ""
    for m in sorted(doc["methods"], key=lambda m: m["name"]):
        yield "- [%s](#%s)" % (m["name"],
                               m["name"].replace(".", "").lower())
    yield ""
    for m in sorted(doc["methods"], key=lambda m: m["name"]):
        yield from describe(m, errors)


def render(doc):
    return "\n".join(page(doc)).rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.stdout.write(render(json.load(sys.stdin)))
