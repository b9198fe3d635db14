# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/conf/libconf.a
lib_conf_libconf_a_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
lib_conf_libconf_a_SOURCES = \
	lib/conf/blame.c \
	lib/conf/blame.h \
	lib/conf/build.c \
	lib/conf/build.h \
	lib/conf/conf.h \
	lib/conf/control.c \
	lib/conf/control.h \
	lib/conf/diff.c \
	lib/conf/field.c \
	lib/conf/field.h \
	lib/conf/field_in.c \
	lib/conf/json_in.c \
	lib/conf/json_out.c \
	lib/conf/model.c \
	lib/conf/ofport.c \
	lib/conf/pool.c \
	lib/conf/section.c \
	lib/conf/preset.c \
	lib/conf/preset.h \
	lib/conf/sonic.c \
	lib/conf/sonic.h \
	lib/conf/sonic_buffer.c \
	lib/conf/sonic_int.h \
	lib/conf/sonic_link.c \
	lib/conf/sonic_map.c \
	lib/conf/sonic_queue.c \
	lib/conf/text.c \
	lib/conf/validate.c \
	lib/conf/watch.h
EXTRA_DIST += lib/conf/may_include

CONF_LIBS = lib/conf/libconf.a lib/dp/libdp.a lib/flow/libflow.a \
	lib/ofp/libofp.a \
	lib/qos/libqos.a $(NETDEV_LIBS) $(JSONC_LIBS)

check_PROGRAMS += tests/unit/test_conf
TESTS += tests/unit/test_conf
tests_unit_test_conf_SOURCES = tests/unit/test_conf.c
tests_unit_test_conf_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_conf_LDADD = $(CONF_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_conf_build
TESTS += tests/unit/test_conf_build
tests_unit_test_conf_build_SOURCES = tests/unit/test_conf_build.c
tests_unit_test_conf_build_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_conf_build_LDADD = $(CONF_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_conf_json
TESTS += tests/unit/test_conf_json
tests_unit_test_conf_json_SOURCES = tests/unit/test_conf_json.c \
	tests/unit/conf_random.c tests/unit/conf_random.h
tests_unit_test_conf_json_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS) \
	-I$(top_srcdir)/tests/unit
tests_unit_test_conf_json_LDADD = $(CONF_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_conf_watch
TESTS += tests/unit/test_conf_watch
tests_unit_test_conf_watch_SOURCES = tests/unit/test_conf_watch.c
tests_unit_test_conf_watch_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_conf_watch_LDADD = $(CONF_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_conf_preset tests/unit/test_conf_sonic
TESTS += tests/unit/test_conf_preset tests/unit/test_conf_sonic
tests_unit_test_conf_preset_SOURCES = tests/unit/test_conf_preset.c
tests_unit_test_conf_preset_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_conf_preset_LDADD = $(CONF_LIBS) $(UNIT_LIBS)
tests_unit_test_conf_sonic_SOURCES = tests/unit/test_conf_sonic.c
tests_unit_test_conf_sonic_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_conf_sonic_LDADD = $(CONF_LIBS) $(UNIT_LIBS)

fuzz_targets += tests/fuzz/fuzz_sonic
tests_fuzz_fuzz_sonic_SOURCES = tests/fuzz/fuzz_sonic.c
tests_fuzz_fuzz_sonic_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_fuzz_fuzz_sonic_LDADD = $(FUZZ_MAIN) $(CONF_LIBS)

fuzz_targets += tests/fuzz/fuzz_conf
tests_fuzz_fuzz_conf_SOURCES = tests/fuzz/fuzz_conf.c
tests_fuzz_fuzz_conf_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_fuzz_fuzz_conf_LDADD = $(FUZZ_MAIN) $(CONF_LIBS)

check_PROGRAMS += tests/unit/test_conf_pool
TESTS += tests/unit/test_conf_pool
tests_unit_test_conf_pool_SOURCES = tests/unit/test_conf_pool.c
tests_unit_test_conf_pool_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_conf_pool_LDADD = $(CONF_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_conf_ofport
TESTS += tests/unit/test_conf_ofport
tests_unit_test_conf_ofport_SOURCES = tests/unit/test_conf_ofport.c
tests_unit_test_conf_ofport_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_conf_ofport_LDADD = $(CONF_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/test_conf_control
TESTS += tests/unit/test_conf_control
tests_unit_test_conf_control_SOURCES = tests/unit/test_conf_control.c
tests_unit_test_conf_control_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_conf_control_LDADD = $(CONF_LIBS) $(UNIT_LIBS)
