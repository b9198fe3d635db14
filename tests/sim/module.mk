# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/sim/sim
long_tests += tests/sim/sim
tests_sim_sim_SOURCES = \
	tests/sim/build.c \
	tests/sim/check.c \
	tests/sim/deadlock.c \
	tests/sim/demo.c \
	tests/sim/engine.c \
	tests/sim/leafspine.c \
	tests/sim/main.c \
	tests/sim/openflow.c \
	tests/sim/openflow.h \
	tests/sim/overload.c \
	tests/sim/random.c \
	tests/sim/random.h \
	tests/sim/scenarios.h \
	tests/sim/sim.h \
	tests/sim/station.c \
	tests/sim/switch.c \
	tests/sim/tree.c \
	tests/sim/wire.c \
	tests/sim/world.h
tests_sim_sim_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS) \
	-I$(top_srcdir)/tests
tests_sim_sim_LDADD = lib/conf/libconf.a lib/dp/libdp.a \
	lib/netdev/libnetdev.a lib/flow/libflow.a lib/ofp/libofp.a \
	lib/qos/libqos.a \
	lib/pkt/libpkt.a lib/wire/libwire.a lib/base/libbase.a \
	$(JSONC_LIBS) $(LIBNL_LIBS) $(XDP_LIBS)
