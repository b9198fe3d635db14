#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests of ports again, on bridges that have ports of both types."""
import sys

import port_types

sys.exit(port_types.main("mixed"))
