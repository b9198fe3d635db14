# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/netdev/libnetdev.a
lib_netdev_libnetdev_a_SOURCES = \
	lib/netdev/mem.c \
	lib/netdev/netdev.c \
	lib/netdev/netdev.h
EXTRA_DIST += lib/netdev/may_include

check_PROGRAMS += tests/unit/test_netdev_mem
TESTS += tests/unit/test_netdev_mem
tests_unit_test_netdev_mem_SOURCES = tests/unit/test_netdev_mem.c
tests_unit_test_netdev_mem_LDADD = lib/netdev/libnetdev.a lib/pkt/libpkt.a \
	lib/base/libbase.a $(UNIT_LIBS)
