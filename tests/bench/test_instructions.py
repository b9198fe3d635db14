# SPDX-License-Identifier: Apache-2.0
"""The datapath costs no more instructions a frame, in any stage, than the
record in the tree says (instructions.json), and 5 %.  See mem_instructions.py;
`make instructions` writes the record anew."""
import sys

import mem_instructions

sys.exit(mem_instructions.check())
