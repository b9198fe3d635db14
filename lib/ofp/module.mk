# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/ofp/libofp.a
lib_ofp_libofp_a_SOURCES = \
	lib/ofp/act.h \
	lib/ofp/act10.c \
	lib/ofp/act_wire.c \
	lib/ofp/action.c \
	lib/ofp/action.h \
	lib/ofp/arena.c \
	lib/ofp/arena.h \
	lib/ofp/buf.c \
	lib/ofp/buf.h \
	lib/ofp/codec.h \
	lib/ofp/decode.h \
	lib/ofp/error.c \
	lib/ofp/error.h \
	lib/ofp/fit.c \
	lib/ofp/group_wire.c \
	lib/ofp/inst_wire.c \
	lib/ofp/match.c \
	lib/ofp/match.h \
	lib/ofp/match10.c \
	lib/ofp/msg.c \
	lib/ofp/msg.h \
	lib/ofp/msg10.c \
	lib/ofp/msg13.c \
	lib/ofp/multipart.c \
	lib/ofp/nx.c \
	lib/ofp/nx.h \
	lib/ofp/oxm.c \
	lib/ofp/oxm.h \
	lib/ofp/port.h \
	lib/ofp/port_wire.h \
	lib/ofp/reply.c \
	lib/ofp/reply.h \
	lib/ofp/reply_mp.c \
	lib/ofp/tablefeat.c \
	lib/ofp/tablefeat.h \
	lib/ofp/text.h \
	lib/ofp/text_action.c \
	lib/ofp/text_flow.c \
	lib/ofp/text_group.c \
	lib/ofp/text_lex.c \
	lib/ofp/text_lex.h \
	lib/ofp/text_match.c \
	lib/ofp/text_out.c \
	lib/ofp/v10.h
EXTRA_DIST += lib/ofp/may_include

ofp_unit_tests = \
	tests/unit/test_ofp_match \
	tests/unit/test_ofp_msg \
	tests/unit/test_ofp_text
check_PROGRAMS += $(ofp_unit_tests)
TESTS += $(ofp_unit_tests)
tests_unit_test_ofp_text_SOURCES = tests/unit/test_ofp_text.c
tests_unit_test_ofp_text_LDADD = \
	lib/ofp/libofp.a lib/wire/libwire.a lib/base/libbase.a $(UNIT_LIBS)
EXTRA_DIST += tests/unit/data
tests_unit_test_ofp_msg_SOURCES = tests/unit/test_ofp_msg.c
tests_unit_test_ofp_msg_LDADD = \
	lib/ofp/libofp.a lib/wire/libwire.a lib/base/libbase.a $(UNIT_LIBS)
tests_unit_test_ofp_match_SOURCES = tests/unit/test_ofp_match.c
tests_unit_test_ofp_match_LDADD = \
	lib/ofp/libofp.a lib/wire/libwire.a lib/base/libbase.a $(UNIT_LIBS)

fuzz_targets += tests/fuzz/fuzz_ofp tests/fuzz/fuzz_ofp_text
tests_fuzz_fuzz_ofp_text_SOURCES = tests/fuzz/fuzz_ofp_text.c
tests_fuzz_fuzz_ofp_text_LDADD = \
	$(FUZZ_MAIN) lib/ofp/libofp.a lib/wire/libwire.a lib/base/libbase.a
tests_fuzz_fuzz_ofp_SOURCES = tests/fuzz/fuzz_ofp.c
tests_fuzz_fuzz_ofp_LDADD = \
	$(FUZZ_MAIN) lib/ofp/libofp.a lib/wire/libwire.a lib/base/libbase.a

# Shows the codec to other implementations: tests/interop/test_ofp_codec.py.
check_PROGRAMS += tests/interop/ofp_mirror
tests_interop_ofp_mirror_SOURCES = tests/interop/ofp_mirror.c
tests_interop_ofp_mirror_LDADD = lib/ofp/libofp.a lib/wire/libwire.a lib/base/libbase.a
dist_check_SCRIPTS += tests/interop/test_ofp_codec.py
TESTS += tests/interop/test_ofp_codec.py
