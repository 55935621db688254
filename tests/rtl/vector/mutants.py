# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the vector unit's test bench sees faults: changes one line of the RTL at a time, builds the unit at nano, links it with
the bench and expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

LANES, ISSUE, PREPARE, CHECK, TAPS, WALK, UNIT, RECIP = (
    f"vector/systole_vector{suffix}.sv" for suffix in ("_lanes", "_issue", "_prepare", "_check", "_taps", "_walk", "", "_recip"))

MUTANTS = [
    # Arithmetic.
    (LANES, "return ((a ^ s) & (b ^ s)) < 0 ?", "return ((a ^ s) & (a ^ b)) < 0 ?"),
    (LANES, "~(32'h7fff_ffff >> n)", "~(32'hffff_ffff >> n)"),
    (LANES, "round == RoundDouble ? s1_q[c] : 8'sd0", "s1_q[c]"),
    (LANES, "x1_q[c] < 0 ? -32'(half) : 32'(half)", "32'(half)"),
    (LANES, "p3_q[c] < 0 ? 32'h00ff_ffff", "p3_q[c] < 0 ? 32'h007f_ffff"),
    (LANES, "round == RoundSingle && s3_q[c] < 0 ? 32'h0", "1'b0 ? 32'h0"),
    (LANES, "s > 0 ? 5'd31 - s[4:0]", "s > 0 ? 5'd30 - s[4:0]"),
    (LANES, "== v ? v[31:0] : v < 0 ? Min : Max", "== v ? v[31:0] : v[31:0]"),
    (LANES, "(!away || x >= 0 || (x & rest) != 0)", "(!away || x >= 0)"),
    (LANES, "stage6(round_q[5] == RoundDouble)", "stage6(1'b1)"),
    (LANES, "v < 0 ? -32'sd256 : 32'sd255", "v < 0 ? -32'sd256 : 32'sd127"),
    (LANES, "v = v > 32'(high) ? 32'(high) : v;", ""),
    (LANES, "sum_v[c*32+:32] = add_sat(first_q[c], r6_q[c])", "sum_v[c*32+:32] = first_q[c] + r6_q[c]"),
    (LANES, "tap       = hit ? 16'(byte_v[c]) : -16'sd128", "tap       = 16'(byte_v[c])"),
    (LANES, "9'(c) < len)", "9'(c) < 9'(Cols))"),
    (RECIP, "h100_0000 + n - 1) / n", "h100_0000) / n"),
    # Walks.
    (WALK, "addr_q[s] <= line_q[s] + pitch_i[s];", "addr_q[s] <= addr_q[s] + pitch_i[s];"),
    (WALK, "img_q[s]  <= img_q[s] + img_i[s];", ""),
    (TAPS, "line < WalkBits'(lines_i)", "line <= WalkBits'(lines_i)"),
    (TAPS, "byte_x < WalkBits'(line_bytes_i)", "1'b1"),
    (TAPS, "taps_q <= taps_o;", "taps_q <= taps_q + 1'b1;"),
    (ISSUE, "uop_o.taps = job_q.average ? tap_count : 9'd1;", "uop_o.taps = tap_count;"),
    (ISSUE, "left > 11'(Cols)", "left >= 11'(Cols / 2)"),
    (ISSUE, "rd_len    = src_x_last ? job_q.tail : job_q.len;", "rd_len    = job_q.len;"),
    (ISSUE, "pairs_q != SumCountBits'(SumDepth)", "1'b1"),
    # Order and flow.
    (PREPARE, "stale_q ? drained_i : older_q == '0", "1'b1"),
    (PREPARE, "if (hit && block) stale_q <= 1'b1;", ""),
    (PREPARE, "if (!bank_busy_i[bank_q] && (", "if (("),
    (UNIT, "(job.requant || all_written)", "1'b1"),
    (UNIT, "assign par_sel        = par_valid && !win_held_q;", "assign par_sel        = par_valid && !win_req;"),
    (UNIT, "if (req_ub_q && (par_sel || !vrd_ready_i))", "if (req_ub_q && !vrd_ready_i)"),
    (UNIT, "systole_credit #(.Credits(OutDepth))", "systole_credit #(.Credits(OutDepth + 8))"),
    (UNIT, "assign acc_rd_valid_o = req_valid_q && req_acc_q && !freeze_i;", "assign acc_rd_valid_o = req_valid_q && req_acc_q;"),
    (UNIT, "done_q        <= written && wr_dest.last;", "done_q        <= out_valid && out_dest.last;"),
    (UNIT, "fault_now      = !faulted_q && !freeze_i && all_written", "fault_now      = !faulted_q && !freeze_i"),
    # Checks.
    (CHECK, "32'(rq.cols) > Cols", "32'(rq.cols) > Cols + 1"),
    (CHECK, "taps_q > 10'd256", "taps_q > 10'd300"),
    (CHECK, "rq.params[WordBits-1:0] != '0", "rq.params[0] != '0"),
    (CHECK, "32'(all_rows) > HalfRows - 32'(row_in_bank)", "32'(all_rows) > HalfRows"),
    (CHECK, "many_q || ", ""),
    (CHECK, "32'(block_end) > Cfg.UbBytes", "32'(rq.params) >= Cfg.UbBytes"),
    (ISSUE, "rd_bad    = ub_rd_o && outside(rd_addr, rd_len)", "rd_bad    = 1'b0"),
    (ISSUE, "WalkBits'(Cfg.UbBytes) - WalkBits'(len)", "WalkBits'(Cfg.UbBytes - 1)"),
    (ISSUE, "if (uop_o.src inside {SrcAdd0, SrcAdd1}) src_fault_q <= 1'b1;\n        else stop_q", "stop_q"),
]

BENCHES = [mutation.Bench("vector_bench", "Vvector_nano", "tests/rtl/vector/vector_bench.sv", ("-GPreset=0",), "*/nano")]

if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS, BENCHES))
