# SPDX-License-Identifier: Apache-2.0
"""The errors that people see, and the exit status that each one means."""


class TopoError(Exception):
    """Something that was asked for could not be done: exit status 1."""
    status = 1


class FileError(TopoError):
    """The topology file is wrong, at a line: exit status 2."""
    status = 2

    def __init__(self, path, line, message):
        self.path, self.line, self.message = path, line, message
        where = "%s:%d" % (path, line) if line else str(path)
        super().__init__("%s: %s" % (where, message))


class UsageError(TopoError):
    """The command line is wrong: exit status 2."""
    status = 2


class CannotError(TopoError):
    """It cannot be done on this machine: no privileges, no engine, a program
    that is missing.  Exit status 3."""
    status = 3


class RefusedError(TopoError):
    """A daemon refused a call."""


def one_of(words):
    """Words as a text for people: "a, b or c"."""
    words = [str(w) for w in words]
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + " or " + words[-1]
