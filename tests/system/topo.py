# SPDX-License-Identifier: Apache-2.0
"""What the tests of sluice-topo share: running it, with its journal in a
folder of the test's own and names that no one else uses."""
import itertools
import json
import os
import re
import subprocess
import textwrap

import slc

READY = os.path.join(slc.TOP_SRC, "docs", "topologies")
PACKAGES = os.path.join(slc.TOP_SRC, "utilities", "topo")


def script():
    path = os.path.join(slc.TOP_BUILD, "utilities", "topo", "sluice-topo")
    if not os.access(path, os.X_OK):
        raise slc.Skip("sluice-topo is not built")
    return os.path.abspath(path)


def need_yaml():
    if subprocess.run(["/usr/bin/python3", "-c", "import yaml"],
                      stderr=subprocess.DEVNULL).returncode:
        raise slc.Skip("python3-yaml is not installed")


def with_types(text):
    """Links, which all have a rate, of the types that slc.port_type() says:
    nothing is said of the one that is the default."""
    links = itertools.count(1)

    def label(match):
        kind = slc.port_type(str(next(links)))
        return match.group() if kind == "afpacket" else \
            "{sluice-type: %s, sluice-rate: " % kind
    return re.sub(r"\{sluice-rate: ", label, text)


class Topo:
    """sluice-topo with a state folder that goes away with the test, and
    whatever is still up with it."""

    def __init__(self, stack):
        need_yaml()
        self.dir = stack.enter_context(slc.tmpdir())
        self.state = os.path.join(self.dir, "state")
        self.env = dict(os.environ, SLUICE_TOPO_STATE=self.state,
                        SLUICE_TOPO_PACKAGES=os.path.abspath(PACKAGES),
                        top_builddir=os.path.abspath(slc.TOP_BUILD))
        # Also when the test is told to end.
        slc._cleanups.append(self.close)
        stack.callback(self.close)

    def close(self):
        slc._forget(self.close)
        if os.path.isdir(self.state):
            self("down", "--all", check=False)

    def __call__(self, *words, check=True, timeout=300, **kw):
        p = slc.run(script(), *words, check=False, env=self.env,
                    timeout=timeout, **kw)
        if check and p.returncode:
            raise AssertionError("sluice-topo %s: exit %d\n%s%s" % (
                " ".join(words), p.returncode, p.stdout, p.stderr))
        return p

    def popen(self, *words, **kw):
        return slc.popen(script(), *words, env=self.env, **kw)

    def name(self, word="t"):
        return "slc%d%s" % (os.getpid(), word)

    def file(self, text, word="t"):
        """A file of the test; NAME in it becomes its name."""
        path = os.path.join(self.dir, "%s.clab.yml" % word)
        with open(path, "w") as f:
            f.write(with_types(textwrap.dedent(text).lstrip("\n").replace(
                "NAME", self.name(word))))
        return path

    def ready(self, word):
        """A ready topology under a name of the test's own."""
        with open(os.path.join(READY, "%s.clab.yml" % word)) as f:
            text = f.read()
        assert "\nname: %s\n" % word in text, word
        return self.file(text.replace("\nname: %s\n" % word,
                                      "\nname: NAME\n"), word)

    def run(self, path, *words):
        """(exit status, the report as an object)."""
        p = self("run", "--json", path, *words, check=False)
        assert p.returncode in (0, 1) and p.stdout, p.stderr
        return p.returncode, json.loads(p.stdout)

    def left(self):
        """Everything that is still there of topologies of this test."""
        mark = "slc-slc%d" % os.getpid()
        out = [n for n in netns_names() if n.startswith(mark)]
        if os.path.isdir(self.state):
            out += os.listdir(self.state)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as f:
                    line = f.read().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if self.state in line or mark in line:
                out.append("process %s: %s" % (pid, line))
        return out


def netns_names():
    try:
        return sorted(os.listdir("/run/netns"))
    except FileNotFoundError:
        return []


def line_of(path, word):
    """The line of a file that has a word, the first one."""
    with open(path) as f:
        for number, line in enumerate(f, 1):
            if re.search(word, line):
                return number
    raise AssertionError("%s is not in %s" % (word, path))
