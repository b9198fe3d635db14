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
	lib/qos/shaper.h
EXTRA_DIST += lib/qos/may_include

# Every policy is tested by itself: its object, not the archive, so that a
# test cannot lean on a sibling.
qos_tests = \
	tests/unit/test_buf
check_PROGRAMS += $(qos_tests)
TESTS += $(qos_tests)
tests_unit_test_buf_SOURCES = tests/unit/test_buf.c lib/qos/buf.c
tests_unit_test_buf_LDADD = lib/base/libbase.a $(UNIT_LIBS)
