# SPDX-License-Identifier: Apache-2.0
"""What was created for a topology, on disk: its journal.

An entry is written before the thing is made and says how to recognise it, so
that `down` finds all that there is to undo whatever happened, and touches
nothing else.  One process at a time works on a topology: the journal is
locked.
"""
import contextlib
import fcntl
import json
import os
import shutil

from .errors import TopoError

DEFAULT = "/run/sluice-topo"


def root():
    return os.environ.get("SLUICE_TOPO_STATE") or DEFAULT


def all_names():
    try:
        found = os.listdir(root())
    except OSError:
        return []
    return sorted(n for n in found if not n.startswith(".") and
                  os.path.exists(os.path.join(root(), n, "journal")))


class State:
    """The folder of one topology."""

    def __init__(self, name):
        self.name = name
        self.folder = os.path.join(root(), name)
        self.journal = os.path.join(self.folder, "journal")
        self.copy = os.path.join(self.folder, "topology.yml")
        self.entries = []
        self._file = None

    def exists(self):
        return os.path.exists(self.journal)

    def node_folder(self, node):
        return os.path.join(self.folder, "nodes", node)

    def socket(self, node):
        return os.path.join(self.node_folder(node), "control.sock")

    @contextlib.contextmanager
    def locked(self):
        """Nobody else works on this topology meanwhile."""
        os.makedirs(root(), mode=0o755, exist_ok=True)
        path = os.path.join(root(), ".%s.lock" % self.name)
        while True:
            lock = open(path, "a")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                raise TopoError("another sluice-topo is working on topology "
                                "'%s'" % self.name)
            # It may have been removed before we had it.
            try:
                if os.stat(path).st_ino == os.fstat(lock.fileno()).st_ino:
                    break
            except FileNotFoundError:
                pass
            lock.close()
        try:
            self.load()
            yield self
        finally:
            if self._file:
                self._file.close()
                self._file = None
            os.unlink(path)
            lock.close()
            with contextlib.suppress(OSError):  # others are up, or not ours
                if root() == DEFAULT:
                    os.rmdir(root())

    def load(self):
        self.entries = []
        try:
            with open(self.journal) as f:
                for line in f:
                    # The last line may be torn: what it announces was not
                    # begun.
                    with contextlib.suppress(ValueError):
                        self.entries.append(json.loads(line))
        except FileNotFoundError:
            pass
        return self

    def begin(self, **head):
        os.makedirs(os.path.join(self.folder, "nodes"), mode=0o755)
        self.add("head", **head)

    def add(self, kind, **entry):
        entry["kind"] = kind
        if self._file is None:
            self._file = open(self.journal, "a")
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()
        self.entries.append(entry)

    def of(self, kind):
        return [e for e in self.entries if e["kind"] == kind]

    def head(self):
        found = self.of("head")
        return found[0] if found else {}

    def is_complete(self):
        return any(e["kind"] == "complete" for e in self.entries)

    def processes(self):
        """The last process of each name: (name, entry)."""
        return {e["name"]: e for e in self.of("process")}

    def remove(self):
        if self._file:
            self._file.close()
            self._file = None
        # The journal goes last: without it nothing would be found again.
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if name != "journal":
                shutil.rmtree(path) if os.path.isdir(path) and \
                    not os.path.islink(path) else os.unlink(path)
        shutil.rmtree(self.folder)
        self.entries = []
