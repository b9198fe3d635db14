# SPDX-License-Identifier: Apache-2.0
"""A YAML document as mappings, lists and texts that know their lines.

Scalars stay the texts that stand in the file: what "on", "3" or "1e3" means
is for the reader of a value to say, as it is in containerlab's labels.
Aliases and merge keys work; aliases that contain themselves, duplicate keys
and documents that would grow without bound are errors.
"""
import os
import stat

from .errors import CannotError, FileError

try:
    import yaml
except ImportError:
    yaml = None

MAX_BYTES = 1 << 20
MAX_VALUES = 100000
MAX_DEPTH = 32


class Map(dict):
    """A mapping: .line is its own, .lines[key] that of each key."""

    def __init__(self, line=0):
        super().__init__()
        self.line, self.lines = line, {}


class Seq(list):
    """A list: .line is its own, .lines[i] that of each element."""

    def __init__(self, line=0):
        super().__init__()
        self.line, self.lines = line, []


def read_text(path):
    """The text of a file that is not absurdly large."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as f:
            if not stat.S_ISREG(os.fstat(f.fileno()).st_mode):
                raise FileError(path, 0, "is not a regular file")
            data = f.read(MAX_BYTES + 1)
    except OSError as e:
        raise FileError(path, 0, e.strerror)
    if len(data) > MAX_BYTES:
        raise FileError(path, 0, "is larger than 1 MiB")
    try:
        return data.decode()
    except UnicodeDecodeError as e:
        raise FileError(path, data.count(b"\n", 0, e.start) + 1,
                        "is not UTF-8")


def load(path):
    """The document in a file, a Map."""
    if yaml is None:
        raise CannotError("the YAML library of Python is missing: install "
                          "the Debian package python3-yaml")
    text = read_text(path)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as e:
        mark = getattr(e, "problem_mark", None)
        what = getattr(e, "problem", None) or getattr(e, "reason", None)
        line = mark.line + 1 if mark else \
            text.count("\n", 0, getattr(e, "position", None) or 0) + 1
        raise FileError(path, line, "is not YAML: %s" % (what or str(e)))
    except RecursionError:
        raise FileError(path, 1, "is nested too deeply")
    if not isinstance(root, yaml.MappingNode):
        raise FileError(path, root.start_mark.line + 1 if root else 1,
                        "is not a mapping: name: and topology: are expected")
    return _Builder(path).value(root)


class _Builder:
    def __init__(self, path):
        self.path = path
        self.n_values = 0
        self.open = []  # nodes that are being built, to find cycles

    def fail(self, node, message):
        raise FileError(self.path, node.start_mark.line + 1, message)

    def value(self, node):
        self.n_values += 1
        if self.n_values > MAX_VALUES:
            self.fail(node, "has more than %d values" % MAX_VALUES)
        if isinstance(node, yaml.ScalarNode):
            if node.tag == "tag:yaml.org,2002:null":
                return None
            return node.value
        if any(n is node for n in self.open):
            self.fail(node, "an alias that contains itself")
        if len(self.open) >= MAX_DEPTH:
            self.fail(node, "is nested deeper than %d" % MAX_DEPTH)
        self.open.append(node)
        make = self.mapping if isinstance(node, yaml.MappingNode) else \
            self.sequence
        out = make(node)
        self.open.pop()
        return out

    def sequence(self, node):
        out = Seq(node.start_mark.line + 1)
        for child in node.value:
            out.append(self.value(child))
            out.lines.append(child.start_mark.line + 1)
        return out

    def mapping(self, node):
        out = Map(node.start_mark.line + 1)
        merged = []
        for key, child in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fail(key, "a key has to be a text")
            if key.tag == "tag:yaml.org,2002:merge":
                merged.append(child)
                continue
            if key.value in out:
                self.fail(key, "'%s' is given twice, first in line %d" % (
                    key.value, out.lines[key.value]))
            out[key.value] = self.value(child)
            out.lines[key.value] = key.start_mark.line + 1
        for child in merged:
            self.merge(out, child)
        return out

    def merge(self, out, child):
        """`<<: *alias`, or a list of them: what is not given already."""
        found = self.value(child)
        for source in found if isinstance(found, Seq) else [found]:
            if not isinstance(source, Map):
                self.fail(child, "'<<' wants a mapping")
            for key in source:
                if key not in out:
                    out[key] = source[key]
                    out.lines[key] = source.lines[key]
