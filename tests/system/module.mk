# SPDX-License-Identifier: Apache-2.0
#
# Tests on real interfaces, in network namespaces that they make themselves.
# They skip without root.
EXTRA_DIST += tests/system/slc.py
