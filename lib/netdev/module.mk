# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/netdev/libnetdev.a
lib_netdev_libnetdev_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBNL_CFLAGS)
lib_netdev_libnetdev_a_SOURCES = \
	lib/netdev/afpacket.c \
	lib/netdev/afpacket.h \
	lib/netdev/afpacket_rx.c \
	lib/netdev/afpacket_tx.c \
	lib/netdev/attach.c \
	lib/netdev/attach.h \
	lib/netdev/auto.c \
	lib/netdev/csum.c \
	lib/netdev/csum.h \
	lib/netdev/gso.c \
	lib/netdev/gso.h \
	lib/netdev/hold.c \
	lib/netdev/hold.h \
	lib/netdev/hold_filter.c \
	lib/netdev/iface.c \
	lib/netdev/iface.h \
	lib/netdev/link.c \
	lib/netdev/link.h \
	lib/netdev/mem.c \
	lib/netdev/netdev.c \
	lib/netdev/netdev.h \
	lib/netdev/nl.h \
	lib/netdev/regroup.c \
	lib/netdev/regroup.h \
	lib/netdev/registry.c \
	lib/netdev/tap.c
if AFXDP
lib_netdev_libnetdev_a_CPPFLAGS += $(XDP_CFLAGS)
lib_netdev_libnetdev_a_SOURCES += $(afxdp_sources)
else
EXTRA_DIST += $(afxdp_sources)
endif
afxdp_sources = \
	lib/netdev/afxdp.c \
	lib/netdev/afxdp.h \
	lib/netdev/afxdp_prog.c \
	lib/netdev/afxdp_rx.c \
	lib/netdev/afxdp_tx.c \
	lib/netdev/code.h \
	lib/netdev/ethtool.c \
	lib/netdev/ethtool.h
EXTRA_DIST += lib/netdev/may_include
# What a program needs that uses netdev_class_find() or a provider other than
# mem.
NETDEV_LIBS = lib/netdev/libnetdev.a lib/wire/libwire.a lib/pkt/libpkt.a \
	lib/base/libbase.a $(LIBNL_LIBS) $(XDP_LIBS)

check_PROGRAMS += tests/unit/test_netdev_mem
TESTS += tests/unit/test_netdev_mem
tests_unit_test_netdev_mem_SOURCES = tests/unit/test_netdev_mem.c
tests_unit_test_netdev_mem_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_gso
TESTS += tests/unit/test_gso
tests_unit_test_gso_SOURCES = tests/unit/test_gso.c tests/unit/netns.c \
	tests/unit/netns.h
tests_unit_test_gso_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)

# On real interfaces, in namespaces of their own; skipped without root.  Each
# of these is built for every type of port: see tests/unit/port_type.h.
port_tests = tests/unit/test_afpacket tests/unit/test_afpacket_link \
	tests/unit/test_offload
check_PROGRAMS += $(port_tests)
TESTS += $(port_tests)
tests_unit_test_afpacket_SOURCES = tests/unit/test_afpacket.c \
	tests/unit/netns.c tests/unit/netns.h tests/unit/port_type.h
tests_unit_test_afpacket_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)
tests_unit_test_afpacket_link_SOURCES = tests/unit/test_afpacket_link.c \
	tests/unit/netns.c tests/unit/netns.h tests/unit/port_type.h
tests_unit_test_afpacket_link_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)
tests_unit_test_offload_SOURCES = tests/unit/test_offload.c \
	tests/unit/netns.c tests/unit/netns.h tests/unit/port_type.h
tests_unit_test_offload_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_afpacket_only
TESTS += tests/unit/test_afpacket_only
tests_unit_test_afpacket_only_SOURCES = tests/unit/test_afpacket_only.c \
	tests/unit/netns.c tests/unit/netns.h
tests_unit_test_afpacket_only_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)

if AFXDP
afxdp_tests = tests/unit/test_afxdp tests/unit/test_afxdp_link \
	tests/unit/test_afxdp_offload tests/unit/test_afxdp_only
check_PROGRAMS += $(afxdp_tests)
TESTS += $(afxdp_tests)
endif
tests_unit_test_afxdp_SOURCES = $(tests_unit_test_afpacket_SOURCES)
tests_unit_test_afxdp_CPPFLAGS = $(AM_CPPFLAGS) -DPORT_TYPE=1
tests_unit_test_afxdp_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)
tests_unit_test_afxdp_link_SOURCES = $(tests_unit_test_afpacket_link_SOURCES)
tests_unit_test_afxdp_link_CPPFLAGS = $(AM_CPPFLAGS) -DPORT_TYPE=1
tests_unit_test_afxdp_link_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)
tests_unit_test_afxdp_offload_SOURCES = $(tests_unit_test_offload_SOURCES)
tests_unit_test_afxdp_offload_CPPFLAGS = $(AM_CPPFLAGS) -DPORT_TYPE=1
tests_unit_test_afxdp_offload_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)

tests_unit_test_afxdp_only_SOURCES = tests/unit/test_afxdp_only.c \
	tests/unit/netns.c tests/unit/netns.h
tests_unit_test_afxdp_only_CPPFLAGS = $(AM_CPPFLAGS) $(XDP_CFLAGS)
tests_unit_test_afxdp_only_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_csum
TESTS += tests/unit/test_csum
tests_unit_test_csum_SOURCES = tests/unit/test_csum.c tests/unit/netns.c \
	tests/unit/netns.h
tests_unit_test_csum_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_tap
TESTS += tests/unit/test_tap
tests_unit_test_tap_SOURCES = tests/unit/test_tap.c \
	tests/unit/netns.c tests/unit/netns.h
tests_unit_test_tap_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_hold
TESTS += tests/unit/test_hold
tests_unit_test_hold_SOURCES = tests/unit/test_hold.c \
	tests/unit/netns.c tests/unit/netns.h
tests_unit_test_hold_LDADD = $(NETDEV_LIBS) $(UNIT_LIBS)

fuzz_targets += tests/fuzz/fuzz_gso
tests_fuzz_fuzz_gso_SOURCES = tests/fuzz/fuzz_gso.c
tests_fuzz_fuzz_gso_LDADD = $(FUZZ_MAIN) lib/netdev/libnetdev.a \
	lib/wire/libwire.a lib/pkt/libpkt.a lib/base/libbase.a

fuzz_targets += tests/fuzz/fuzz_csum
tests_fuzz_fuzz_csum_SOURCES = tests/fuzz/fuzz_csum.c
tests_fuzz_fuzz_csum_LDADD = $(FUZZ_MAIN) lib/netdev/libnetdev.a \
	lib/wire/libwire.a lib/pkt/libpkt.a lib/base/libbase.a
