# SPDX-License-Identifier: Apache-2.0
#
# Benchmarks: `make bench` builds and runs them side by side with their peers
# (as root; BENCH_FLAGS: what run.py takes, e.g. --full); `make
# bench-programs` only builds.  `make instructions` records anew what a frame
# costs.
bench_programs += tests/bench/veth_gen
tests_bench_veth_gen_SOURCES = tests/bench/veth_gen.c
tests_bench_veth_gen_LDADD = lib/wire/libwire.a lib/base/libbase.a
EXTRA_DIST += tests/bench/pause_jitter.py tests/bench/peers.py \
	tests/bench/flows.py tests/bench/run.py tests/bench/tcp.py

if AFXDP
bench_programs += tests/bench/veth_probe
endif
tests_bench_veth_probe_SOURCES = tests/bench/veth_probe.c \
	tests/bench/enter.h \
	tests/bench/xdp_load.c tests/bench/xdp_load.h \
	tests/bench/xsk_load.c tests/bench/xsk_load.h
tests_bench_veth_probe_CPPFLAGS = $(AM_CPPFLAGS) $(XDP_CFLAGS)
tests_bench_veth_probe_LDADD = lib/wire/libwire.a lib/base/libbase.a \
	$(XDP_LIBS)

bench_programs += tests/bench/pause_reaction
tests_bench_pause_reaction_SOURCES = tests/bench/pause_reaction.c \
	tests/bench/enter.h
tests_bench_pause_reaction_LDADD = lib/qos/libqos.a lib/wire/libwire.a \
	lib/base/libbase.a
EXTRA_DIST += tests/bench/pause_reaction.py

bench_programs += tests/bench/bare_loop tests/bench/port_loop
tests_bench_bare_loop_SOURCES = tests/bench/bare_loop.c
tests_bench_port_loop_SOURCES = tests/bench/port_loop.c
tests_bench_port_loop_LDADD = $(NETDEV_LIBS)

if AFXDP
bench_programs += tests/bench/bare_xdp
endif
tests_bench_bare_xdp_SOURCES = tests/bench/bare_xdp.c
tests_bench_bare_xdp_CPPFLAGS = $(AM_CPPFLAGS) $(XDP_CFLAGS)
tests_bench_bare_xdp_LDADD = $(XDP_LIBS)

# The one that a test needs too: the guard of what a frame costs.
check_PROGRAMS += tests/bench/mem_bench
TESTS += tests/bench/test_instructions.py
EXTRA_DIST += tests/bench/mem_instructions.py \
	tests/bench/test_instructions.py tests/bench/instructions.json
mem_rig = tests/bench/mem_rig.c tests/bench/mem_rig.h
tests_bench_mem_bench_SOURCES = tests/bench/mem_bench.c $(mem_rig)
tests_bench_mem_bench_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_bench_mem_bench_LDADD = lib/conf/libconf.a lib/dp/libdp.a \
	lib/netdev/libnetdev.a lib/flow/libflow.a lib/ofp/libofp.a \
	lib/qos/libqos.a \
	lib/pkt/libpkt.a lib/wire/libwire.a lib/base/libbase.a \
	$(JSONC_LIBS) $(LIBNL_LIBS) $(XDP_LIBS)

# The same datapath, with functions that the linker puts round its stages.
bench_programs += tests/bench/mem_cycles
tests_bench_mem_cycles_SOURCES = tests/bench/mem_cycles.c $(mem_rig)
tests_bench_mem_cycles_CPPFLAGS = $(tests_bench_mem_bench_CPPFLAGS)
tests_bench_mem_cycles_LDADD = $(tests_bench_mem_bench_LDADD)
tests_bench_mem_cycles_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dp_rx \
	-Wl,--wrap=dp_parse -Wl,--wrap=dp_admit -Wl,--wrap=dp_lookup \
	-Wl,--wrap=dp_enqueue -Wl,--wrap=dp_wire_run -Wl,--wrap=dp_tx \
	-Wl,--wrap=dp_release_sent -Wl,--wrap=pkt_alloc_bulk

bench_programs += tests/bench/flow_bench
tests_bench_flow_bench_SOURCES = tests/bench/flow_bench.c
tests_bench_flow_bench_LDADD = lib/dp/libdp.a lib/netdev/libnetdev.a \
	lib/flow/libflow.a lib/ofp/libofp.a lib/qos/libqos.a \
	lib/pkt/libpkt.a lib/wire/libwire.a lib/base/libbase.a \
	$(LIBNL_LIBS) $(XDP_LIBS)

EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)
.PHONY: bench bench-programs instructions
bench-programs: $(bench_programs) tests/bench/mem_bench
instructions: tests/bench/mem_bench
	top_builddir='$(top_builddir)' \
		python3 $(top_srcdir)/tests/bench/mem_instructions.py \
		--write $(top_srcdir)/tests/bench/instructions.json
bench: all bench-programs
	top_srcdir='$(top_srcdir)' top_builddir='$(top_builddir)' \
		python3 $(top_srcdir)/tests/bench/run.py $(BENCH_FLAGS)
	$(if $(findstring --only,$(BENCH_FLAGS))$(filter -h --help,$(BENCH_FLAGS)),,$(top_builddir)/tests/bench/flow_bench)

bench_programs += tests/bench/of_client
tests_bench_of_client_SOURCES = tests/bench/of_client.c
tests_bench_of_client_LDADD = lib/base/libbase.a
EXTRA_DIST += tests/bench/openflow.py
