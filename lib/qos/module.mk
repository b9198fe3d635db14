# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/qos/libqos.a
lib_qos_libqos_a_SOURCES = \
	lib/qos/buf.c \
	lib/qos/buf.h \
	lib/qos/headroom.c \
	lib/qos/headroom.h \
	lib/qos/pfc.c \
	lib/qos/pfc.h \
	lib/qos/sched.c \
	lib/qos/sched.h \
	lib/qos/shaper.c \
	lib/qos/shaper.h
EXTRA_DIST += lib/qos/may_include
