# SPDX-License-Identifier: Apache-2.0
"""A JSON-RPC 2.0 client of sluiced."""
import json
import socket
import time

from .errors import RefusedError, TopoError


class GoneError(TopoError):
    """The daemon went away."""


class Rpc:
    def __init__(self, path, timeout=20.0):
        self.path = path
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(timeout)
        try:
            self.sock.connect(path)
        except OSError:
            self.sock.close()
            raise
        self.buffer = ""
        self.n = 0
        self.decoder = json.JSONDecoder()

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def read(self):
        """The next JSON text; None when none is whole within the time."""
        while True:
            self.buffer = self.buffer.lstrip()
            if self.buffer:
                try:
                    value, end = self.decoder.raw_decode(self.buffer)
                    self.buffer = self.buffer[end:]
                    return value
                except ValueError:
                    pass
            data = self.sock.recv(1 << 18)
            if not data:
                raise GoneError("%s: the daemon went away" % self.path)
            self.buffer += data.decode()

    def call(self, method, **params):
        self.n += 1
        try:
            self.sock.sendall((json.dumps({
                "jsonrpc": "2.0", "id": self.n, "method": method,
                "params": params}) + "\n").encode())
            while True:
                answer = self.read()
                if answer.get("id") == self.n:
                    break
        except OSError as e:
            raise GoneError("%s: %s: %s" % (self.path, method, e))
        if "error" in answer:
            error = answer["error"]
            data = error.get("data") or {}
            raise RefusedError(" ".join(
                str(x) for x in (error.get("message"), data.get("path")
                                 and "(%s)" % data["path"]) if x))
        return answer["result"]


class Steady:
    """A client that asks again when the daemon was restarted meanwhile: for
    questions only."""

    def __init__(self, path, patience=15.0):
        self.path, self.patience = path, patience
        self.rpc = Rpc(path)

    def close(self):
        self.rpc.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def call(self, method, **params):
        end = time.monotonic() + self.patience
        while True:
            try:
                return self.rpc.call(method, **params)
            except GoneError:
                if time.monotonic() > end:
                    raise
            self.rpc.close()
            self._again(end)

    def _again(self, end):
        """Connects once the daemon is there again."""
        while True:
            try:
                self.rpc = Rpc(self.path)
                return
            except OSError:
                if time.monotonic() > end:
                    raise GoneError(
                        "%s: the daemon went away, and did not come back "
                        "within %g s" % (self.path, self.patience))
            time.sleep(0.05)
