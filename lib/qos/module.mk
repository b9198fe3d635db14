# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/qos/libqos.a
lib_qos_libqos_a_SOURCES = \
	lib/qos/buf.c \
	lib/qos/buf.h \
	lib/qos/headroom.c \
	lib/qos/headroom.h \
	lib/qos/pfc.c \
	lib/qos/pfc.h \
	lib/qos/sched.c \
	lib/qos/sched.h \
	lib/qos/shaper.c \
	lib/qos/shaper.h \
	lib/qos/watchdog.c \
	lib/qos/watchdog.h \
	lib/qos/waitgraph.c \
	lib/qos/waitgraph.h \
	lib/qos/wred.c \
	lib/qos/wred.h
EXTRA_DIST += lib/qos/may_include

# Every policy is tested by itself: its object, not the archive, so that a
# test cannot lean on a sibling.
qos_tests = \
	tests/unit/test_buf \
	tests/unit/test_headroom \
	tests/unit/test_pfc \
	tests/unit/test_sched \
	tests/unit/test_shaper \
	tests/unit/test_waitgraph \
	tests/unit/test_watchdog \
	tests/unit/test_wred
check_PROGRAMS += $(qos_tests)
TESTS += $(qos_tests)
qos_test_libs = lib/wire/libwire.a lib/base/libbase.a $(UNIT_LIBS)
tests_unit_test_buf_SOURCES = tests/unit/test_buf.c lib/qos/buf.c
tests_unit_test_buf_LDADD = lib/base/libbase.a $(UNIT_LIBS)
tests_unit_test_headroom_SOURCES = \
	tests/unit/test_headroom.c lib/qos/headroom.c
tests_unit_test_headroom_LDADD = $(qos_test_libs)
tests_unit_test_pfc_SOURCES = tests/unit/test_pfc.c lib/qos/pfc.c
tests_unit_test_pfc_LDADD = $(qos_test_libs)
tests_unit_test_sched_SOURCES = tests/unit/test_sched.c lib/qos/sched.c
tests_unit_test_sched_LDADD = lib/base/libbase.a $(UNIT_LIBS) -lm
tests_unit_test_shaper_SOURCES = tests/unit/test_shaper.c lib/qos/shaper.c
tests_unit_test_shaper_LDADD = lib/base/libbase.a $(UNIT_LIBS) -lm
tests_unit_test_watchdog_SOURCES = \
	tests/unit/test_watchdog.c lib/qos/watchdog.c
tests_unit_test_watchdog_LDADD = lib/base/libbase.a $(UNIT_LIBS)
tests_unit_test_wred_SOURCES = tests/unit/test_wred.c lib/qos/wred.c
tests_unit_test_wred_LDADD = lib/base/libbase.a $(UNIT_LIBS) -lm
tests_unit_test_waitgraph_SOURCES = \
	tests/unit/test_waitgraph.c lib/qos/waitgraph.c
tests_unit_test_waitgraph_LDADD = lib/base/libbase.a $(UNIT_LIBS)
