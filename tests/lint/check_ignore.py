#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the build makes in the source tree is ignored by git, and nothing that
is kept in git is."""
import os
import shutil
import subprocess
import sys

import lint


def git(*args, **kw):
    return subprocess.run(("git", "-C", lint.ROOT) + args, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, **kw)


def main():
    tap = lint.Tap()
    inside = shutil.which("git") and \
        os.path.exists(os.path.join(lint.ROOT, ".git")) and \
        git("rev-parse", "--git-dir").returncode == 0
    if not inside:
        tap.skip("what is made is ignored", "not a git tree")
        return tap.done()
    made = subprocess.run(
        ("make", "-s", "--no-print-directory", "-C",
         os.environ.get("top_builddir", "."), "print-made"),
        text=True, stdout=subprocess.PIPE, check=True,
        env={k: v for k, v in os.environ.items()
             if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}).stdout.split()
    ignored = git("check-ignore", "--no-index", "--stdin",
                  input="\n".join(made)).stdout.split("\n")
    tap.case("what is made is ignored",
              ["not in .gitignore: " + m for m in made if m not in ignored])
    kept = git("ls-files", "-ci", "--exclude-standard").stdout.split()
    tap.case("nothing that is kept is ignored", kept)
    return tap.done()


sys.exit(main())
