# SPDX-License-Identifier: Apache-2.0
dist_check_SCRIPTS += \
	tests/lint/check_format.py \
	tests/lint/check_ignore.py \
	tests/lint/check_layers.py \
	tests/lint/check_packages.py \
	tests/lint/check_sections.py \
	tests/lint/check_size.py
TESTS += \
	tests/lint/check_format.py \
	tests/lint/check_ignore.py \
	tests/lint/check_layers.py \
	tests/lint/check_packages.py \
	tests/lint/check_sections.py \
	tests/lint/check_size.py
EXTRA_DIST += tests/lint/lint.py tests/summary
