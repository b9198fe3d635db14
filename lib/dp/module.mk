# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/dp/libdp.a
lib_dp_libdp_a_SOURCES = \
	lib/dp/act.c \
	lib/dp/admit.c \
	lib/dp/adopt.c \
	lib/dp/audit.c \
	lib/dp/cause.c \
	lib/dp/cable.c \
	lib/dp/cable.h \
	lib/dp/dp.c \
	lib/dp/dp.h \
	lib/dp/dp_priv.h \
	lib/dp/enqueue.c \
	lib/dp/frame.h \
	lib/dp/lookup.c \
	lib/dp/mark.c \
	lib/dp/of.c \
	lib/dp/of.h \
	lib/dp/of_msg.c \
	lib/dp/of_out.c \
	lib/dp/of_priv.h \
	lib/dp/of_ring.c \
	lib/dp/of_run.c \
	lib/dp/of_trace.c \
	lib/dp/parse.c \
	lib/dp/pause.c \
	lib/dp/peaks.c \
	lib/dp/plan.c \
	lib/dp/plan.h \
	lib/dp/port.c \
	lib/dp/port.h \
	lib/dp/release.c \
	lib/dp/rx.c \
	lib/dp/set.h \
	lib/dp/stall.c \
	lib/dp/tx.c \
	lib/dp/wire.c \
	lib/dp/wire.h \
	lib/dp/watch.c \
	lib/dp/watch.h
EXTRA_DIST += lib/dp/may_include

# The datapath is tested as a whole, between mem ports.
dp_tests = \
	tests/unit/test_dp_audit \
	tests/unit/test_dp_counters \
	tests/unit/test_cable \
	tests/unit/test_dp_behaviour \
	tests/unit/test_dp_buffer \
	tests/unit/test_dp_cable \
	tests/unit/test_dp_flow \
	tests/unit/test_dp_forward \
	tests/unit/test_dp_map \
	tests/unit/test_dp_pfc \
	tests/unit/test_dp_plan \
	tests/unit/test_dp_pools \
	tests/unit/test_dp_sched \
	tests/unit/test_dp_ring \
	tests/unit/test_dp_stall \
	tests/unit/test_dp_super \
	tests/unit/test_dp_tx \
	tests/unit/test_dp_vlan \
	tests/unit/test_dp_watchdog \
	tests/unit/test_dp_wred
check_PROGRAMS += $(dp_tests)
TESTS += $(dp_tests)
dp_rig = tests/unit/dp_rig.c tests/unit/dp_rig.h
dp_libs = lib/dp/libdp.a lib/netdev/libnetdev.a lib/flow/libflow.a \
	lib/ofp/libofp.a lib/qos/libqos.a lib/wire/libwire.a \
	lib/pkt/libpkt.a lib/base/libbase.a
dp_test_libs = $(dp_libs) $(LIBNL_LIBS) $(UNIT_LIBS)
tests_unit_test_dp_audit_SOURCES = tests/unit/test_dp_audit.c $(dp_rig)
tests_unit_test_dp_audit_LDADD = $(dp_test_libs)
tests_unit_test_dp_counters_SOURCES = \
	tests/unit/test_dp_counters.c $(flow_rig)
tests_unit_test_dp_counters_LDADD = $(dp_test_libs)
tests_unit_test_dp_buffer_SOURCES = tests/unit/test_dp_buffer.c $(dp_rig)
tests_unit_test_dp_buffer_LDADD = $(dp_test_libs)
tests_unit_test_cable_SOURCES = tests/unit/test_cable.c
tests_unit_test_cable_LDADD = $(dp_test_libs)
tests_unit_test_dp_cable_SOURCES = tests/unit/test_dp_cable.c $(dp_rig)
tests_unit_test_dp_cable_LDADD = $(dp_test_libs)
flow_rig = tests/unit/flow_rig.c tests/unit/flow_rig.h $(dp_rig)
tests_unit_test_dp_flow_SOURCES = tests/unit/test_dp_flow.c $(flow_rig)
tests_unit_test_dp_flow_LDADD = $(dp_test_libs)
tests_unit_test_dp_forward_SOURCES = tests/unit/test_dp_forward.c $(dp_rig)
tests_unit_test_dp_forward_LDADD = $(dp_test_libs)
tests_unit_test_dp_map_SOURCES = tests/unit/test_dp_map.c $(dp_rig)
tests_unit_test_dp_map_LDADD = $(dp_test_libs)
tests_unit_test_dp_pfc_SOURCES = tests/unit/test_dp_pfc.c $(dp_rig)
tests_unit_test_dp_pfc_LDADD = $(dp_test_libs)
tests_unit_test_dp_plan_SOURCES = tests/unit/test_dp_plan.c $(dp_rig)
tests_unit_test_dp_plan_LDADD = $(dp_test_libs)
tests_unit_test_dp_pools_SOURCES = tests/unit/test_dp_pools.c $(dp_rig)
tests_unit_test_dp_pools_LDADD = $(dp_test_libs)
tests_unit_test_dp_sched_SOURCES = tests/unit/test_dp_sched.c $(dp_rig)
tests_unit_test_dp_sched_LDADD = $(dp_test_libs)
tests_unit_test_dp_ring_SOURCES = tests/unit/test_dp_ring.c $(dp_rig)
tests_unit_test_dp_ring_LDADD = $(dp_test_libs)
tests_unit_test_dp_stall_SOURCES = tests/unit/test_dp_stall.c $(dp_rig)
tests_unit_test_dp_stall_LDADD = $(dp_test_libs)
tests_unit_test_dp_super_SOURCES = tests/unit/test_dp_super.c $(dp_rig)
tests_unit_test_dp_super_LDADD = $(dp_test_libs)
tests_unit_test_dp_tx_SOURCES = tests/unit/test_dp_tx.c $(dp_rig)
tests_unit_test_dp_tx_LDADD = $(dp_test_libs)
tests_unit_test_dp_vlan_SOURCES = tests/unit/test_dp_vlan.c $(dp_rig)
tests_unit_test_dp_vlan_LDADD = $(dp_test_libs)
tests_unit_test_dp_watchdog_SOURCES = \
	tests/unit/test_dp_watchdog.c $(dp_rig)
tests_unit_test_dp_watchdog_LDADD = $(dp_test_libs)
tests_unit_test_dp_wred_SOURCES = tests/unit/test_dp_wred.c $(dp_rig)
tests_unit_test_dp_wred_LDADD = $(dp_test_libs)
tests_unit_test_dp_behaviour_SOURCES = \
	tests/unit/test_dp_behaviour.c $(dp_rig)
tests_unit_test_dp_behaviour_LDADD = $(dp_test_libs)
