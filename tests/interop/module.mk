# SPDX-License-Identifier: Apache-2.0
#
# Real peers: ovs-ofctl, controllers on os-ken, ovs-testcontroller.  Each is
# skipped, visibly, where it is not installed.
EXTRA_DIST += \
	tests/interop/apps/learn10.py \
	tests/interop/apps/learn13.py \
	tests/interop/of13.py
interop_tests = \
	tests/interop/test_controllers.py \
	tests/interop/test_of_ports.py \
	tests/interop/test_ofctl.py \
	tests/interop/test_osken.py
dist_check_SCRIPTS += $(interop_tests)
TESTS += $(interop_tests)

# The tester of os-ken over patterns of ours: a minute of them; all, and what
# they are, see there.
dist_check_SCRIPTS += tests/interop/conformance/test_conformance.py
EXTRA_DIST += \
	tests/interop/conformance/paced.py \
	tests/interop/conformance/patterns.py
long_tests += tests/interop/conformance/test_conformance.py
