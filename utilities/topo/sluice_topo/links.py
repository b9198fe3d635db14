# SPDX-License-Identifier: Apache-2.0
"""Links between namespaces, whoever made the namespaces: both runtimes wire
their nodes with veth pairs, the only virtual links that carry PFC frames both
ways."""
import contextlib
import errno
import fcntl
import os
import socket
import struct

from . import system
from .errors import TopoError

SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
SIOCGIFHWADDR = 0x8927
IFF_UP, IFF_RUNNING = 0x1, 0x40


def _ioctl(sock, request, name, flags=0):
    data = fcntl.ioctl(sock, request, struct.pack(
        "16sH22x", name.encode(), flags))
    return data


@contextlib.contextmanager
def _sock(path):
    """A socket for ioctls in the namespace at a path (None: here)."""
    with system.inside(path) if path else contextlib.nullcontext():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            yield s


def addresses(path, names):
    """{name: MAC or None} of interfaces in a namespace."""
    out = {}
    with _sock(path) as s:
        for name in names:
            try:
                data = _ioctl(s, SIOCGIFHWADDR, name)
                out[name] = ":".join("%02x" % b for b in data[18:24])
            except OSError as e:
                if e.errno != errno.ENODEV:
                    raise
                out[name] = None
    return out


def states(path, names):
    """{name: "up", "down" or "absent"}."""
    out = {}
    with _sock(path) as s:
        for name in names:
            try:
                flags, = struct.unpack_from("H", _ioctl(
                    s, SIOCGIFFLAGS, name), 16)
                out[name] = "up" if flags & IFF_UP and flags & IFF_RUNNING \
                    else "down"
            except OSError:
                out[name] = "absent"
    return out


def counters(path):
    """{name: {"rx", "tx", "rx_dropped", "tx_dropped"}} in frames, as the
    interfaces of a namespace counted them: they outlive what uses them."""
    out = {}
    with system.inside(path):
        with open("/proc/thread-self/net/dev") as f:
            lines = f.readlines()[2:]
    for line in lines:
        name, _, numbers = line.partition(":")
        n = [int(x) for x in numbers.split()]
        out[name.strip()] = {"rx": n[1], "rx_dropped": n[3], "tx": n[9],
                             "tx_dropped": n[11]}
    return out


def set_up(path, names):
    with _sock(path) as s:
        for name in names:
            flags, = struct.unpack_from("H", _ioctl(s, SIOCGIFFLAGS, name),
                                        16)
            _ioctl(s, SIOCSIFFLAGS, name, flags | IFF_UP)


def wire(links, path_of, handle_of):
    """Makes veth pairs and sets them up.  path_of(node): the path of its
    namespace; handle_of(node): how ip(8) calls it, a name or a pid."""
    lines, by_path = [], {}
    for link in links:
        a, b = link.ends
        words = ["link", "add"]
        for end in (a, b):
            words += ["name", end.name, "address", end.mac]
            if link.mtu:
                words += ["mtu", str(link.mtu)]
            if end.node:
                words += ["netns", str(handle_of(end.node))]
            if end is a:
                words += ["type", "veth", "peer"]
            by_path.setdefault(path_of(end.node) if end.node else None,
                               []).append(end.name)
        lines.append(" ".join(words))
    if lines:
        system.batch(lines)
    for path, names in by_path.items():
        set_up(path, names)


def missing(links, path_of):
    """The links of which an end is not there, with what is left of them
    deleted: half a veth pair cannot be mended."""
    wanted = {}
    for link in links:
        for end in link.ends:
            wanted.setdefault(path_of(end.node) if end.node else None,
                              []).append(end)
    gone = set()
    for path, ends in wanted.items():
        found = addresses(path, [e.name for e in ends])
        gone.update(e.link for e in ends if found[e.name] is None)
    for link in gone:
        for end in link.ends:
            delete(path_of(end.node) if end.node else None, end.name,
                   end.mac)
    return [link for link in links if link in gone]


def delete(path, name, mac):
    """Deletes an interface if it is there and has that address."""
    if path and not os.path.exists(path):
        return
    if addresses(path, [name])[name] != mac:
        return
    enter = ["nsenter", "--net=" + path] if path else []
    system.run(*enter, "ip", "link", "del", name, check=False)


def check_free(links):
    """The names of ends on the host must not be taken."""
    ends = [e for link in links for e in link.ends if e.node is None]
    found = addresses(None, [e.name for e in ends])
    for end in ends:
        if found[end.name] is not None:
            return end
    return None


def namespace_inode(path):
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None
    except OSError as e:
        raise TopoError("%s: %s" % (path, e.strerror))
