# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes a copy of systole_unit_queue.sv with a fault: while a queue holds the descriptor with index 3, it takes another one."""

import pathlib
import sys

source, target = map(pathlib.Path, sys.argv[1:])
text = source.read_text()
good = "assign want_o        = !head_valid_q && !hold;"
if text.count(good) != 1:
    sys.exit(f"seed_fault: {source} has changed: no line '{good}'")
target.write_text(text.replace(good, "assign want_o        = (!head_valid_q || head_index_q == PcBits'(3)) && !hold;"))
