# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/rpc/librpc.a
lib_rpc_librpc_a_SOURCES = \
	lib/rpc/client.c \
	lib/rpc/dispatch.c \
	lib/rpc/internal.h \
	lib/rpc/openrpc.c \
	lib/rpc/params.c \
	lib/rpc/quantity.c \
	lib/rpc/rpc.h \
	lib/rpc/stream.c \
	lib/rpc/suggest.c \
	lib/rpc/twice.c
lib_rpc_librpc_a_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
EXTRA_DIST += lib/rpc/may_include

check_PROGRAMS += \
	tests/unit/test_rpc_client \
	tests/unit/test_rpc_dispatch \
	tests/unit/test_rpc_params \
	tests/unit/test_rpc_stream \
	tests/unit/test_rpc_values
TESTS += \
	tests/unit/test_rpc_client \
	tests/unit/test_rpc_dispatch \
	tests/unit/test_rpc_params \
	tests/unit/test_rpc_stream \
	tests/unit/test_rpc_values
rpc_test_libs = lib/rpc/librpc.a lib/base/libbase.a $(JSONC_LIBS) $(UNIT_LIBS)
tests_unit_test_rpc_dispatch_SOURCES = tests/unit/test_rpc_dispatch.c
tests_unit_test_rpc_dispatch_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_rpc_dispatch_LDADD = $(rpc_test_libs)
tests_unit_test_rpc_params_SOURCES = tests/unit/test_rpc_params.c
tests_unit_test_rpc_params_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_rpc_params_LDADD = $(rpc_test_libs)
tests_unit_test_rpc_stream_SOURCES = tests/unit/test_rpc_stream.c
tests_unit_test_rpc_stream_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_rpc_stream_LDADD = $(rpc_test_libs)
tests_unit_test_rpc_values_SOURCES = tests/unit/test_rpc_values.c
tests_unit_test_rpc_values_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_rpc_values_LDADD = $(rpc_test_libs)
tests_unit_test_rpc_client_SOURCES = tests/unit/test_rpc_client.c
tests_unit_test_rpc_client_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_unit_test_rpc_client_LDADD = $(rpc_test_libs)

fuzz_targets += tests/fuzz/fuzz_rpc
tests_fuzz_fuzz_rpc_SOURCES = tests/fuzz/fuzz_rpc.c
tests_fuzz_fuzz_rpc_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS)
tests_fuzz_fuzz_rpc_LDADD = $(FUZZ_MAIN) lib/rpc/librpc.a \
	lib/base/libbase.a $(JSONC_LIBS)
tests_fuzz_fuzz_rpc_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
