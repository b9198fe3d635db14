#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests of ports again, on ports of type afxdp."""
import sys

import port_types

sys.exit(port_types.main("afxdp"))
