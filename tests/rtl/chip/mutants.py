# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the bench of the crossings sees faults: changes one line of the RTL at a time and expects a failure. Each entry of MUTANTS:
file, text that occurs once, what takes its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

CROSSING = "chip/systole_crossing.sv"

MUTANTS = [
    (CROSSING, "&& (!busy_q[r] || place_q[r] == rd_far[r])", ""),  # answers of two memories overtake each other
    (CROSSING, "rd_behind_q == '0 && order_room", "order_room"),  # a read passes a write
    (CROSSING, "rd_behind_q <= rd_room ? writes_before :", "rd_behind_q <= rd_room ? '0 :"),
    (CROSSING, "rst_ni && post_behind_q == '0 ? post_q", "rst_ni ? post_q"),  # a post passes a write
    (CROSSING, "else if (post_behind_q == '0) post_q", "else post_q"),  # posts are lost
    (CROSSING, "post_behind_q <= post_q == '0 ? writes_before", "post_behind_q <= post_q == '0 ? '0"),
    (CROSSING, "post_take_o = post_q == '0 ? posted_i : '0", "post_take_o = posted_i"),
    (CROSSING, "assign wr_far[w]       = wr_addr_i[w][MemBits]", "assign wr_far[w]       = wr_addr_i[w][MemBits+1]"),
    (CROSSING, "rd_addr_q   <= rd_addr_i[rd_idx][MemBits-1:0]", "rd_addr_q   <= rd_addr_i[0][MemBits-1:0]"),
    (CROSSING, "rd_client_q <= rd_idx", "rd_client_q <= '0"),
    (CROSSING, "own_rd_rsp_valid_i | far_rsp_q", "own_rd_rsp_valid_i"),
    (CROSSING, "rd_rsp_far_o   = far_rsp_q", "rd_rsp_far_o   = '0"),
    (CROSSING, "busy_q != '0 || writes_q", "writes_q"),
    (CROSSING, "wr_data_i[wr_idx]", "wr_data_i[0]"),
    (CROSSING, "wr_far_ready[w] = wr_idx == WrBits'(w) && wr_room", "wr_far_ready[w] = wr_room"),
]

BENCHES = [mutation.Bench("crossing_bench", "VCrossing", "tests/rtl/chip/crossing_bench.sv")]

if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS, BENCHES))
