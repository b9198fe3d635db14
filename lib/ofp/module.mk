# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += \
	lib/ofp/action.h \
	lib/ofp/error.h \
	lib/ofp/match.h \
	lib/ofp/may_include
