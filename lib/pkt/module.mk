# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/pkt/libpkt.a
lib_pkt_libpkt_a_SOURCES = \
	lib/pkt/offload.c \
	lib/pkt/offload.h \
	lib/pkt/pkt.c \
	lib/pkt/pkt.h \
	lib/pkt/share.c \
	lib/pkt/share.h
EXTRA_DIST += lib/pkt/may_include

check_PROGRAMS += tests/unit/test_pkt
TESTS += tests/unit/test_pkt
tests_unit_test_pkt_SOURCES = tests/unit/test_pkt.c
tests_unit_test_pkt_LDADD = lib/pkt/libpkt.a lib/base/libbase.a $(UNIT_LIBS)
