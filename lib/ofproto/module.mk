# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += \
	lib/ofproto/may_include \
	lib/ofproto/ofproto.h
