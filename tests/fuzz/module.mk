# SPDX-License-Identifier: Apache-2.0
#
# Fuzz targets.  Each is a file tests/fuzz/fuzz_X.c that defines
# LLVMFuzzerTestOneInput() and aborts when a property does not hold.
#
# Configured with --enable-fuzzing CC=clang it is linked with libFuzzer, is no
# part of `make check`, and is run by hand:
#
#     make tests/fuzz/fuzz_X
#     tests/fuzz/fuzz_X NEW_INPUTS_DIR $(srcdir)/tests/fuzz/corpus/fuzz_X
#
# Otherwise tests/fuzz/replay.c gives it a main() that replays every file of
# tests/fuzz/corpus/fuzz_X/ and a bounded number of mutations of them, from a
# fixed seed: one TAP case of `make check`.
#
# A folder adds a target to its own module.mk in three lines, and puts seeds
# into tests/fuzz/corpus/fuzz_X/, one at least (they are distributed here):
#
#     fuzz_targets += tests/fuzz/fuzz_X
#     tests_fuzz_fuzz_X_SOURCES = tests/fuzz/fuzz_X.c
#     tests_fuzz_fuzz_X_LDADD = $(FUZZ_MAIN) lib/y/liby.a lib/base/libbase.a
#
# FUZZ_MAIN is the main() in either case.  Archives: highest layer first.
if FUZZING
FUZZ_MAIN = $(FUZZ_LDFLAGS)
else
FUZZ_MAIN = tests/fuzz/libreplay.a
TESTS += $(fuzz_targets)
check_LIBRARIES += tests/fuzz/libreplay.a
tests_fuzz_libreplay_a_SOURCES = tests/fuzz/replay.c
endif
check_PROGRAMS += $(fuzz_targets)
EXTRA_DIST += tests/fuzz/corpus
