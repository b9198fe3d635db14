# SPDX-License-Identifier: Apache-2.0
"""A client of sluiced in one small file: copy it and start from there.

    from sluice import Sluice, Refused

    with Sluice() as sw:
        sw.call("bridge.add", name="br0")
        for port in sw.call("port.list"):
            print(port["name"], port["state"])
        for event in sw.events(types=["xoff", "xon"], seconds=10):
            print(event)

Nothing but Python's standard library.  docs/rpc.md has the methods.
"""
import json
import os
import select
import socket
import time

PLACES = ["/run/sluice/sluiced.sock",
          "/usr/local/var/run/sluice/sluiced.sock"]
DEFAULT_SOCKET = os.environ.get("SLUICE_SOCKET") or next(
    filter(os.path.exists, PLACES), PLACES[0])


class Refused(Exception):
    """The daemon said no: .code, .message, and .data with path, value and
    allowed where the error is about a value."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.message = error["message"]
        self.data = error.get("data", {})


class Sluice:
    def __init__(self, path=DEFAULT_SOCKET, timeout=10):
        self.timeout = timeout
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(path)
        except OSError:
            self.socket.close()
            raise
        self.buffer = b""
        self.waiting = []  # events that came while a call was under way
        self.n_calls = 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.socket.close()

    def call(self, method, **params):
        """Calls a method and returns its result; Refused if it is not."""
        self.n_calls += 1
        request = {"jsonrpc": "2.0", "id": self.n_calls, "method": method,
                   "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        while True:
            answer = self._read(self.timeout)
            if answer is None:
                raise TimeoutError("no answer to %s" % method)
            if "method" in answer:
                self.waiting.append(answer["params"])
            elif "error" in answer:
                raise Refused(answer["error"])
            elif answer["id"] == self.n_calls:
                return answer["result"]

    def events(self, seconds=None, **params):
        """Subscribes, then yields events as they happen: for `seconds`, or
        for ever."""
        self.call("events.subscribe", **params)
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            while self.waiting:
                yield self.waiting.pop(0)
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return
            message = self._read(left)
            if message is not None and "method" in message:
                self.waiting.append(message["params"])

    def _read(self, timeout):
        """The next JSON text (the daemon ends each with a newline), or None
        when none came in time."""
        end = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self.buffer:
            left = None if end is None else max(0, end - time.monotonic())
            if not select.select([self.socket], [], [], left)[0]:
                return None
            data = self.socket.recv(65536)
            if not data:
                raise EOFError("the daemon closed the connection")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)
