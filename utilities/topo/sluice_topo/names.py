# SPDX-License-Identifier: Apache-2.0
"""Names of what is created: the same ones each time, short enough."""
import hashlib
import re

IFNAMSIZ = 15  # octets that an interface name may have
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
PREFIX = "slc-"


def check(text):
    """A name of a topology or of a node; ValueError says what is allowed."""
    if not NAME.fullmatch(text):
        raise ValueError("'%s' is not a name: up to 63 of letters, digits, "
                         "'_', '.' and '-', the first a letter or digit"
                         % text)
    return text


def interface(wanted):
    """The name that an interface gets: `wanted`, or, where that is too long,
    its beginning and a digest of the whole."""
    if wanted in ("", ".", "..", "lo", "all", "default") or \
            re.search(r"[/:\s%#'\"\\]", wanted) or not wanted.isprintable():
        raise ValueError("'%s' is not a name for an interface" % wanted)
    if len(wanted.encode()) <= IFNAMSIZ:
        return wanted
    digest = hashlib.sha256(wanted.encode()).hexdigest()[:6]
    start = wanted.encode()[:IFNAMSIZ - 7].decode(errors="ignore")
    return "%s-%s" % (start, digest)


def node(topology, name):
    """Of a node's network namespace or container."""
    return "%s%s-%s" % (PREFIX, topology, name)


def mac(topology, name, ifname):
    """A locally administered address that an interface always gets."""
    digest = hashlib.sha256(
        ("%s/%s/%s" % (topology, name, ifname)).encode()).digest()
    return "02:" + ":".join("%02x" % b for b in digest[:5])
