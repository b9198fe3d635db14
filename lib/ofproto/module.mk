# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/ofproto/libofproto.a
lib_ofproto_libofproto_a_SOURCES = \
	lib/ofproto/books.h \
	lib/ofproto/change.c \
	lib/ofproto/check.c \
	lib/ofproto/entry.c \
	lib/ofproto/expire.c \
	lib/ofproto/flowmod.c \
	lib/ofproto/groupmod.c \
	lib/ofproto/inst.c \
	lib/ofproto/judge.h \
	lib/ofproto/metermod.c \
	lib/ofproto/ofproto.c \
	lib/ofproto/ofproto.h \
	lib/ofproto/ports.c \
	lib/ofproto/rebind.c \
	lib/ofproto/set.c \
	lib/ofproto/tables.c \
	lib/ofproto/walk.c
EXTRA_DIST += lib/ofproto/may_include

OFPROTO_LIBS = lib/ofproto/libofproto.a lib/ofp/libofp.a

OFPROTO_RIG = tests/unit/ofproto_fake.c tests/unit/ofproto_rig.c \
	tests/unit/ofproto_rig.h
OFPROTO_TEST_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit

check_PROGRAMS += tests/unit/test_ofproto tests/unit/test_ofproto_more
TESTS += tests/unit/test_ofproto tests/unit/test_ofproto_more
tests_unit_test_ofproto_SOURCES = tests/unit/test_ofproto.c $(OFPROTO_RIG)
tests_unit_test_ofproto_CPPFLAGS = $(OFPROTO_TEST_CPPFLAGS)
tests_unit_test_ofproto_LDADD = $(OFPROTO_LIBS) lib/base/libbase.a $(UNIT_LIBS)
tests_unit_test_ofproto_more_SOURCES = tests/unit/test_ofproto_more.c \
	$(OFPROTO_RIG)
tests_unit_test_ofproto_more_CPPFLAGS = $(OFPROTO_TEST_CPPFLAGS)
tests_unit_test_ofproto_more_LDADD = $(OFPROTO_LIBS) lib/base/libbase.a \
	$(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_ofproto_model
TESTS += tests/unit/test_ofproto_model
tests_unit_test_ofproto_model_SOURCES = tests/unit/test_ofproto_model.c
tests_unit_test_ofproto_model_LDADD = $(OFPROTO_LIBS) lib/flow/libflow.a \
	$(OFPROTO_LIBS) lib/pkt/libpkt.a lib/wire/libwire.a \
	lib/base/libbase.a $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_ofproto_dp
TESTS += tests/unit/test_ofproto_dp
tests_unit_test_ofproto_dp_SOURCES = tests/unit/test_ofproto_dp.c $(flow_rig)
tests_unit_test_ofproto_dp_LDADD = lib/ofproto/libofproto.a $(dp_test_libs)
