# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/base/libbase.a
lib_base_libbase_a_SOURCES = \
	lib/base/clock.c \
	lib/base/clock.h \
	lib/base/counter.h \
	lib/base/csum.c \
	lib/base/csum.h \
	lib/base/cursor.h \
	lib/base/err.c \
	lib/base/err.h \
	lib/base/log.c \
	lib/base/log.h \
	lib/base/opaque.h \
	lib/base/ring.c \
	lib/base/ring.h \
	lib/base/rng.h \
	lib/base/utf8.h
EXTRA_DIST += lib/base/may_include

check_PROGRAMS += tests/unit/test_ring
TESTS += tests/unit/test_ring
tests_unit_test_ring_SOURCES = tests/unit/test_ring.c
tests_unit_test_ring_LDADD = lib/base/libbase.a $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_base
TESTS += tests/unit/test_base
tests_unit_test_base_SOURCES = tests/unit/test_base.c
tests_unit_test_base_LDADD = lib/base/libbase.a $(UNIT_LIBS)
