#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages of the build agree: what configure.ac asks for is
installed by boot.sh and by the Dockerfile, and the image has the library of
everything that the programs are linked with."""
import os
import re
import shutil
import subprocess
import sys

import lint

# In every Debian: what the base image of a container has already.
BASE = {"libc6", "libsystemd0"}
# The image has no tests and no init system.
NOT_IN_IMAGE = {"libcriterion-dev", "libsystemd-dev"}
PROGRAMS = ("vswitchd/sluiced", "utilities/sluicectl",
            "utilities/sluice-probe")


def text(path):
    return "\n".join(lint.lines(path))


def wanted():
    """What the error messages of configure tell people to install."""
    found = re.findall(r"SLUICE_NEED\(\[\w+\], \[[^]]*\], \[([a-z0-9.+-]+)\]",
                       text("configure.ac"))
    for names in re.findall(r"\(apt-get install ([a-z0-9 .+-]+)\)",
                            text("configure.ac")):
        found += names.split()
    return set(found)


def missing(who, has, names):
    return ["%s does not install %s" % (who, n)
            for n in sorted(names - has)]


def stages():
    """The words of the two stages of the Dockerfile, the last one last."""
    return [set(s.split()) for s in
            re.split(r"^FROM ", text("Dockerfile"), flags=re.M)[1:]]


def linked(program):
    """The packages of the libraries that a program names itself."""
    dynamic = subprocess.run(["readelf", "--dynamic", program], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    out = {}
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        p = subprocess.run(["dpkg", "--search", "*/" + name],
                           stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True)
        for line in p.stdout.splitlines():
            out.setdefault(name, set()).add(line.split(":")[0])
    return out


def unlinked(has):
    """Of the packages of one library any is enough."""
    for path in PROGRAMS:
        program = os.path.join(os.environ.get("top_builddir", lint.ROOT),
                               path)
        if not os.path.exists(program):
            continue
        for name, packages in sorted(linked(program).items()):
            # The run time of a sanitizer is not what is shipped.
            if "san." not in name and not packages & has:
                yield "the image does not have %s, which %s needs: %s" % (
                    name, path, " or ".join(sorted(packages)))


def main():
    tap = lint.Tap()
    build, image = stages()
    tap.case("boot.sh installs what configure asks for", missing(
        "boot.sh", set(re.split(r'[\s"=]+', text("boot.sh"))), wanted()))
    tap.case("the Dockerfile installs what configure asks for", missing(
        "the Dockerfile", build, wanted() - NOT_IN_IMAGE))
    name = "the image has the libraries of the programs"
    if not shutil.which("readelf") or not shutil.which("dpkg"):
        tap.skip(name, "there is no readelf or no dpkg")
    else:
        tap.case(name, list(unlinked(image | BASE)))
    return tap.done()


sys.exit(main())
