# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/flow/libflow.a
lib_flow_libflow_a_SOURCES = \
	lib/flow/act.h \
	lib/flow/change.c \
	lib/flow/change.h \
	lib/flow/code.c \
	lib/flow/edit.c \
	lib/flow/edit.h \
	lib/flow/key.c \
	lib/flow/key.h \
	lib/flow/lookup.c \
	lib/flow/mactab.c \
	lib/flow/mactab.h \
	lib/flow/meter.c \
	lib/flow/priv.h \
	lib/flow/plan.c \
	lib/flow/push.c \
	lib/flow/run.c \
	lib/flow/run.h \
	lib/flow/tables.c \
	lib/flow/tables.h
EXTRA_DIST += lib/flow/may_include

check_PROGRAMS += tests/unit/test_mactab
TESTS += tests/unit/test_mactab
tests_unit_test_mactab_SOURCES = tests/unit/test_mactab.c
tests_unit_test_mactab_LDADD = lib/flow/libflow.a lib/wire/libwire.a \
	lib/pkt/libpkt.a lib/base/libbase.a $(UNIT_LIBS)

flow_libs = lib/flow/libflow.a lib/ofp/libofp.a lib/wire/libwire.a \
	lib/base/libbase.a
flow_tests = \
	tests/unit/test_flow_edit \
	tests/unit/test_flow_key \
	tests/unit/test_flow_tables
check_PROGRAMS += $(flow_tests)
TESTS += $(flow_tests)
frame_build = tests/unit/frame_build.h
tests_unit_test_flow_edit_SOURCES = \
	tests/unit/test_flow_edit.c $(frame_build)
tests_unit_test_flow_edit_LDADD = $(flow_libs) $(UNIT_LIBS)
tests_unit_test_flow_key_SOURCES = tests/unit/test_flow_key.c $(frame_build)
tests_unit_test_flow_key_LDADD = $(flow_libs) $(UNIT_LIBS)
tests_unit_test_flow_tables_SOURCES = tests/unit/test_flow_tables.c
tests_unit_test_flow_tables_LDADD = $(flow_libs) $(UNIT_LIBS)

fuzz_targets += tests/fuzz/fuzz_flow
tests_fuzz_fuzz_flow_SOURCES = tests/fuzz/fuzz_flow.c
tests_fuzz_fuzz_flow_LDADD = $(FUZZ_MAIN) $(flow_libs)
