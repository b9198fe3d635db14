# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/pkt/libpkt.a
lib_pkt_libpkt_a_SOURCES = \
	lib/pkt/pkt.c \
	lib/pkt/pkt.h
EXTRA_DIST += lib/pkt/may_include
