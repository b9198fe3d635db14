#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Sets Sluice up on Debian: installs the packages that are missing, then
# autoreconf, configure and make.  Usage: boot.sh [demo|check]
set -eu
cd "$(dirname "$0")"
autoreconf -fi
./configure -q --enable-werror
make -s -j"$(nproc)"
