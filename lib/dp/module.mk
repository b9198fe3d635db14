# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/dp/libdp.a
lib_dp_libdp_a_SOURCES = \
	lib/dp/act.c \
	lib/dp/admit.c \
	lib/dp/adopt.c \
	lib/dp/audit.c \
	lib/dp/dp.c \
	lib/dp/dp.h \
	lib/dp/dp_priv.h \
	lib/dp/enqueue.c \
	lib/dp/lookup.c \
	lib/dp/parse.c \
	lib/dp/pause.c \
	lib/dp/plan.c \
	lib/dp/plan.h \
	lib/dp/port.c \
	lib/dp/rx.c \
	lib/dp/stall.c \
	lib/dp/tx.c
EXTRA_DIST += lib/dp/may_include
