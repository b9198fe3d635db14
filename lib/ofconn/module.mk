# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/ofconn/libofconn.a
lib_ofconn_libofconn_a_SOURCES = \
	lib/ofconn/buffer.c \
	lib/ofconn/bundle.c \
	lib/ofconn/conn.c \
	lib/ofconn/dispatch.c \
	lib/ofconn/hello.c \
	lib/ofconn/int.h \
	lib/ofconn/multipart.c \
	lib/ofconn/ofconn.h \
	lib/ofconn/proto.h \
	lib/ofconn/reply.c \
	lib/ofconn/role.c
EXTRA_DIST += lib/ofconn/may_include

check_PROGRAMS += tests/unit/test_ofconn tests/unit/test_ofconn_parts
TESTS += tests/unit/test_ofconn tests/unit/test_ofconn_parts
ofconn_test_libs = lib/ofconn/libofconn.a lib/ofp/libofp.a lib/base/libbase.a
ofconn_rig = tests/unit/ofconn_rig.c tests/unit/ofconn_rig.h
tests_unit_test_ofconn_SOURCES = tests/unit/test_ofconn.c $(ofconn_rig)
tests_unit_test_ofconn_LDADD = $(ofconn_test_libs) $(UNIT_LIBS)
tests_unit_test_ofconn_parts_SOURCES = tests/unit/test_ofconn_parts.c \
	$(ofconn_rig)
tests_unit_test_ofconn_parts_LDADD = $(ofconn_test_libs) $(UNIT_LIBS)

fuzz_targets += tests/fuzz/fuzz_ofconn
tests_fuzz_fuzz_ofconn_SOURCES = tests/fuzz/fuzz_ofconn.c
tests_fuzz_fuzz_ofconn_LDADD = $(FUZZ_MAIN) $(ofconn_test_libs)
tests_fuzz_fuzz_ofconn_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
