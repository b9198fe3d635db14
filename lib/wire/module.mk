# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/wire/libwire.a
lib_wire_libwire_a_SOURCES = \
	lib/wire/eth.c \
	lib/wire/eth.h \
	lib/wire/macctl.c \
	lib/wire/macctl.h
EXTRA_DIST += lib/wire/may_include

check_PROGRAMS += tests/unit/test_eth tests/unit/test_macctl
TESTS += tests/unit/test_eth tests/unit/test_macctl
tests_unit_test_eth_SOURCES = tests/unit/test_eth.c
tests_unit_test_eth_LDADD = lib/wire/libwire.a lib/base/libbase.a $(UNIT_LIBS)
tests_unit_test_macctl_SOURCES = tests/unit/test_macctl.c
tests_unit_test_macctl_LDADD = \
	lib/wire/libwire.a lib/base/libbase.a $(UNIT_LIBS)

fuzz_targets += tests/fuzz/fuzz_eth tests/fuzz/fuzz_macctl
tests_fuzz_fuzz_eth_SOURCES = tests/fuzz/fuzz_eth.c
tests_fuzz_fuzz_eth_LDADD = \
	$(FUZZ_MAIN) lib/wire/libwire.a lib/base/libbase.a
tests_fuzz_fuzz_macctl_SOURCES = tests/fuzz/fuzz_macctl.c
tests_fuzz_fuzz_macctl_LDADD = \
	$(FUZZ_MAIN) lib/wire/libwire.a lib/base/libbase.a
