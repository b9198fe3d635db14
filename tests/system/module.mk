# SPDX-License-Identifier: Apache-2.0
#
# Tests on real interfaces, in network namespaces that they make themselves.
# They skip without root.
EXTRA_DIST += tests/system/slc.py

dist_check_SCRIPTS += tests/system/test_probe.py
TESTS += tests/system/test_probe.py

# sluicectl: without a daemon and against a made-up one (no root needed).
dist_check_SCRIPTS += tests/system/test_ctl_usage.py
TESTS += tests/system/test_ctl_usage.py

system_probe_tests = \
	tests/system/test_buffers.py \
	tests/system/test_counters.py \
	tests/system/test_doctor.py \
	tests/system/test_vendor_plans.py \
	tests/system/test_ports.py \
	tests/system/test_qos.py \
	tests/system/test_topology.py
dist_check_SCRIPTS += $(system_probe_tests)
TESTS += $(system_probe_tests)
# The demo runs from the tree, and from where it is installed.
demodir = $(pkgdatadir)/demo
dist_demo_SCRIPTS = tests/system/demo.py
dist_demo_DATA = tests/system/slc.py

# Flows, groups and meters by sluicectl and RPC.
dist_check_SCRIPTS += tests/system/test_flow.py
TESTS += tests/system/test_flow.py

# The daemon: as a process, its socket, its database, its ports.
daemon_tests = \
	tests/system/test_daemon.py \
	tests/system/test_daemon_crash.py \
	tests/system/test_daemon_ports.py \
	tests/system/test_daemon_rpc.py \
	tests/system/test_daemon_strangers.py \
	tests/system/test_large_config.py
dist_check_SCRIPTS += $(daemon_tests)
TESTS += $(daemon_tests)

# sluice-topo: files that are wrong (no root needed), and on namespaces.
EXTRA_DIST += tests/system/topo.py
dist_check_SCRIPTS += tests/system/test_topo.py
long_tests += tests/system/test_topo.py
topo_tests = \
	tests/system/test_topo_docker.py \
	tests/system/test_topo_files.py
dist_check_SCRIPTS += $(topo_tests)
TESTS += $(topo_tests)

# sluicectl port attach and detach.
dist_check_SCRIPTS += tests/system/test_attach.py
TESTS += tests/system/test_attach.py

# Hosts whose applications wait while their class is paused.
dist_check_SCRIPTS += tests/system/test_host.py
TESTS += tests/system/test_host.py

# A switch that is too slow for what comes.
dist_check_SCRIPTS += tests/system/test_overload.py
TESTS += tests/system/test_overload.py

# The same on ports of other types.
EXTRA_DIST += tests/system/port_types.py
port_type_tests = \
	tests/system/test_port_types_afxdp.py \
	tests/system/test_port_types_mixed.py
dist_check_SCRIPTS += $(port_type_tests)
long_tests += $(port_type_tests)

# The PFC watchdog and what goes with it.
dist_check_SCRIPTS += tests/system/test_watchdog.py
long_tests += tests/system/test_watchdog.py

# A link between two machines.
dist_check_SCRIPTS += tests/system/test_vxlan.py
TESTS += tests/system/test_vxlan.py
