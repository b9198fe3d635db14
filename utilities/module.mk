# SPDX-License-Identifier: Apache-2.0

# sluice-probe: all but main() in an archive, for its unit tests.
noinst_LIBRARIES += utilities/libprobe.a
utilities_libprobe_a_SOURCES = \
	utilities/probe_conf.c \
	utilities/probe_conf.h \
	utilities/probe_frame.c \
	utilities/probe_frame.h \
	utilities/probe_hist.c \
	utilities/probe_hist.h \
	utilities/probe_kv.c \
	utilities/probe_kv.h \
	utilities/probe_malformed.c \
	utilities/probe_malformed.h \
	utilities/probe_options.c \
	utilities/probe_options.h \
	utilities/probe_print.c \
	utilities/probe_report.c \
	utilities/probe_report.h \
	utilities/probe_sender.c \
	utilities/probe_sender.h \
	utilities/probe_slow.c \
	utilities/probe_slow.h \
	utilities/probe_station.c \
	utilities/probe_station.h \
	utilities/probe_stats.c \
	utilities/probe_stats.h
utilities_libprobe_a_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
probe_libs = utilities/libprobe.a lib/rpc/librpc.a lib/qos/libqos.a \
	$(NETDEV_LIBS) $(JSONC_LIBS)

bin_PROGRAMS += utilities/sluice-probe
utilities_sluice_probe_SOURCES = utilities/probe_main.c
utilities_sluice_probe_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
utilities_sluice_probe_LDADD = $(probe_libs)
dist_man_MANS += docs/man/sluice-probe.1

probe_tests = \
	tests/unit/test_probe_conf \
	tests/unit/test_probe_frame \
	tests/unit/test_probe_station \
	tests/unit/test_probe_stats
check_PROGRAMS += $(probe_tests)
TESTS += $(probe_tests)
tests_unit_test_probe_conf_SOURCES = tests/unit/test_probe_conf.c
tests_unit_test_probe_conf_LDADD = $(probe_libs) $(UNIT_LIBS)
tests_unit_test_probe_frame_SOURCES = tests/unit/test_probe_frame.c
tests_unit_test_probe_frame_LDADD = $(probe_libs) $(UNIT_LIBS)
tests_unit_test_probe_station_SOURCES = tests/unit/test_probe_station.c
tests_unit_test_probe_station_LDADD = $(probe_libs) $(UNIT_LIBS)
tests_unit_test_probe_stats_SOURCES = tests/unit/test_probe_stats.c
tests_unit_test_probe_stats_LDADD = $(probe_libs) $(UNIT_LIBS)

# sluicectl: main() and options in ctl.c, a file per noun.
bin_PROGRAMS += utilities/sluicectl
utilities_sluicectl_SOURCES = \
	utilities/ctl.c \
	utilities/ctl.h \
	utilities/ctl_attach.c \
	utilities/ctl_bridge.c \
	utilities/ctl_buffer.c \
	utilities/ctl_config.c \
	utilities/ctl_controller.c \
	utilities/ctl_doctor.c \
	utilities/ctl_events.c \
	utilities/ctl_file.c \
	utilities/ctl_flow.c \
	utilities/ctl_graph.c \
	utilities/ctl_group.c \
	utilities/ctl_headroom.c \
	utilities/ctl_help.c \
	utilities/ctl_history.c \
	utilities/ctl_history.h \
	utilities/ctl_json.c \
	utilities/ctl_lines.c \
	utilities/ctl_lines.h \
	utilities/ctl_mac.c \
	utilities/ctl_map.c \
	utilities/ctl_pfc.c \
	utilities/ctl_pool.c \
	utilities/ctl_port.c \
	utilities/ctl_preset.c \
	utilities/ctl_queue.c \
	utilities/ctl_rpc.c \
	utilities/ctl_stats.c \
	utilities/ctl_table.c \
	utilities/ctl_watchdog.c \
	utilities/ctl_watermark.c \
	utilities/ctl_values.c \
	utilities/ctl_words.c
utilities_sluicectl_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
utilities_sluicectl_LDADD = lib/rpc/librpc.a lib/ofp/libofp.a \
	$(NETDEV_LIBS) $(JSONC_LIBS)
dist_man_MANS += docs/man/sluicectl.8
EXTRA_DIST += utilities/may_include
dist_bashcomp_DATA = utilities/sluicectl.bash
dist_check_SCRIPTS += tests/system/test_ctl.py
TESTS += tests/system/test_ctl.py
