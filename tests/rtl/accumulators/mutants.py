# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the accumulators' test bench sees faults: changes one line of the RTL at a time, builds the accumulators of nano, links
them with the bench and expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

UNIT = "accumulators/systole_accumulators.sv"

MUTANTS = [
    # Rows that are added to again before they are in the memory.
    (UNIT, "s1_near_q   <= mxu_reads && s1_valid_q && s1_row_q == wr_row_i;", "s1_near_q   <= 1'b0;"),
    (UNIT, "s1_far_q    <= mxu_reads && s2_valid_q && s2_row_q == wr_row_i;", "s1_far_q    <= 1'b0;"),
    (UNIT, "s1_near_q   <= mxu_reads && s1_valid_q", "s1_near_q   <= s1_valid_q"),
    (UNIT, "s2_near_q ? last_q[c] : old_q[c]", "s2_near_q && c != 3 ? last_q[c] : old_q[c]"),
    (UNIT, "if (!s1_accumulate_q) old_q", "if (1'b0) old_q"),
    (UNIT, "else if (s1_far_q) old_q", "else if (1'b0) old_q"),
    # Sums.
    (UNIT, "return a[31] == b[31] && s[31] != a[31];", "return 1'b0;"),
    (UNIT, "base[c][31] ? 32'sh8000_0000", "!base[c][31] ? 32'sh8000_0000"),
    (UNIT, "saturates |= overflows(", "saturates = overflows("),
    (UNIT, "else if (saturates_q) saturated_o <= 1'b1;", "else saturated_o <= saturates_q;"),
    # Ports.
    (UNIT, "assign wr_done_o = s2_valid_q;", "assign wr_done_o = s1_valid_q;"),
    (UNIT, "!(mxu_reads && mxu_bank == rd_bank)", "1'b1"),
    (UNIT, "s1_row_q[RowBits] ? rdata[1]", "s1_row_q[0] ? rdata[1]"),
    (UNIT, "if (rd_accept) rd_bank_q <= rd_bank;", "if (rd_accept) rd_bank_q <= 1'b0;"),
]

BENCHES = [mutation.Bench("acc_bench", "VAccNano", "tests/rtl/accumulators/acc_bench.sv", ("-GPreset=0",), "*Nano*:*AddInEveryCycle*")]

if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS, BENCHES))
