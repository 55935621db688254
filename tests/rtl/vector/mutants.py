# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the vector unit's test bench sees faults: changes one line of the RTL at a time, builds the unit at nano, links it with
the bench and expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

LANES, BEATS, SOURCE, SCALE, ISSUE, PREPARE, CHECK, TAPS, WALK, UNIT, RECIP, CLAMP, TABLE, RESIDUAL = (
    f"vector/systole_vector{suffix}.sv"
    for suffix in ("_lanes", "_beats", "_source", "_scale", "_issue", "_prepare", "_check", "_taps", "_walk", "", "_recip", "_clamp", "_table",
                   "_residual"))
CLOCK = "cells/systole_idle_clock.sv"

MUTANTS = [
    # Arithmetic.
    (SOURCE, "((a ^ s) & (b ^ s)) < 0}", "((a ^ s) & (a ^ b)) < 0}"),
    (SOURCE, "uop_i.hit ? TapBits'(byte_v[c]) : '0", "TapBits'(byte_v[c])"),
    (SOURCE, "+ 32'(even && small1_q[c] >= TapBits'(middle))", "+ 32'(even)"),
    (SOURCE, "uop1_q.taps == '0 ? 16'd127", "uop1_q.taps == '0 ? 16'd0"),
    (SOURCE, "c < 32'(uop1_q.len))", "c < Cols)"),
    (SOURCE, "over1_q[c][1] ? Min : Max", "over1_q[c][1] ? Max : Min"),
    (SCALE, "~(32'h7fff_ffff >> n)", "~(32'hffff_ffff >> n)"),
    (SCALE, "round_i.twice && (", "("),
    (SCALE, "s_v[c] = wide ? 8'sd0 : s;", "s_v[c] = s;"),
    (SCALE, "round_q[2].twice && s2_q[c] < 0 ?", "s2_q[c] < 0 ?"),
    (SCALE, "(!a[4] && w >>> 47 !=", "(!a[4] && w >>> 48 !="),
    (SCALE, "(!a[3] && u >>> 39 !=", "(1'b0 && u >>> 39 !="),
    (SCALE, "(a[4] && w[15:0] != '0)", "(a[4] && w[14:0] != '0)"),
    (SCALE, "(a[1] && t[1:0] != '0)", "1'b0"),
    (SCALE, "right && round_q[3].twice", "right"),
    (SCALE, "f4_q[c][Neg] && !rest)", "f4_q[c][Neg])"),
    (SCALE, "v[0] && !round_q[4].trunc", "v[0]"),
    (SCALE, "(!f5_q[c][Neg] && r[31])", "1'b0"),
    (CLAMP, "v < 0 ? -32'sd256 : 32'sd255", "v < 0 ? -32'sd256 : 32'sd127"),
    (CLAMP, "v      = v > high ? high : v;", ""),
    (LANES, "((a ^ t) & (b ^ t)) < 0 ?", "1'b0 ?"),
    (LANES, "&& !sc_in.single", ""),
    # Products, sums of taps, tables, residual additions.
    (SOURCE, "{SrcAdd0, SrcMul0} ? scalars_i.zp0", "{SrcAdd0} ? scalars_i.zp0"),
    (SOURCE, "SrcSum, SrcMul1: begin", "SrcSum: begin"),
    (SOURCE, "32'(signed'(small1_q[c][15:0]))", "32'(signed'(small1_q[c][7:0]))"),
    (SOURCE, "32'(small1_q[c]) - 32'(uop1_q.offset)", "32'(small1_q[c]) - 32'(uop1_q.offset[15:0])"),
    (SOURCE, "scalars_i.average || scalars_i.sum ?", "scalars_i.average ?"),
    (TAPS, "hit_o ? offset_q + TapBits'(zero_i) : offset_q", "offset_q + TapBits'(zero_i)"),
    (CHECK, "9'(po.src_zp) + 9'd128", "9'(po.src_zp) + 9'd127"),
    (LANES, "(uop.src == SrcTap && !sc_in.sum)", "uop.src == SrcTap"),
    (TABLE, "index     = data_i[c*8+:8] ^ 8'h80", "index     = data_i[c*8+:8]"),
    (TABLE, "byte_q[c%Lanes][1:0], 3'b000", "byte_q[c%Lanes][0], 4'b0000"),
    (TABLE, "row_q  <= row_q + 1'b1", "row_q  <= row_q + 1'b1 + (row_q == 5)"),
    (TABLE, "word_q <= word_q >> 32", "word_q <= word_q >> 16"),
    (RESIDUAL, "n           = sc_in.wide ? y : o", "n           = o"),
    (RESIDUAL, "sc_in.wide ? o : y", "y"),
    (RESIDUAL, "- 16'(sc_in.zp1)", ""),
    (RESIDUAL, "!sc_sum.sum_single", "1'b1"),
    (RESIDUAL, "!sc_narrow.sum_single", "1'b1"),
    (RESIDUAL, "((a ^ t) & (b ^ t)) < 0 ?", "1'b0 ?"),
    (RESIDUAL, "<<< 19", "<<< 18"),
    (RESIDUAL, "if (valid_q[Scaled]) wide_rd_q", "if (valid_q[Scaled] && valid_q[1]) wide_rd_q"),
    (RESIDUAL, "sc_clamp.sum_max", "sc_clamp.clamp_max"),
    (RESIDUAL, "sc_zp.sum_zp", "sc_zp.zp"),
    (RECIP, "h100_0000 + n - 1) / n", "h100_0000) / n"),
    # Beats.
    (LANES, "if (result_valid) rest_q <=", "if (result_valid && result_row_end) rest_q <="),
    (LANES, "result_row_end = looked_tag_q.row_end;", "result_row_end = 1'b1;"),
    (SOURCE, "factor1_q <= factor_q[beat_i];", "factor1_q <= factor_q[0];"),
    (LANES, "residual_valid = ended && tag_q[End].residual", "residual_valid = 1'b0"),
    (LANES, "first_ptr_q <= tag_q[ScaleEnd].row_end ? '0 : first_ptr_q + 1'b1;", "first_ptr_q <= '0;"),
    (SOURCE, "bias_row[32'(beat_i)%Parts*Lanes*32+:Lanes*32]", "bias_row[0+:Lanes*32]"),
    (SOURCE, "shift_row[32'(beat1_q)*Lanes*8+:Lanes*8]", "shift_row[0+:Lanes*8]"),
    (SOURCE, "32'(beat1_q) * Lanes + c < 32'(uop1_q.len)", "c < 32'(uop1_q.len)"),
    (BEATS, "active = valid_i || beat_q != '0", "active = valid_i"),
    (BEATS, "bytes_o   <= uop_i.src == SrcRaw ?", "bytes_o   <= uop_i.src == SrcRaw && beat_q == '0 ?"),
    (BEATS, "ub_data_i[32'(beat_q)*Lanes*8+:Lanes*8]", "ub_data_i[0+:Lanes*8]"),
    (BEATS, "acc_o[c] <= column[beat_q]", "acc_o[c] <= column[0]"),
    (UNIT, "!(gap && gap_ub_q)", "1'b1"),
    (UNIT, "else if (req_go) gap_q <= '1;", "else if (req_go && req_ub) gap_q <= '1;"),
    # Walks.
    (WALK, "addr_q[s] <= line_q[s] + pitch_i[s];", "addr_q[s] <= addr_q[s] + pitch_i[s];"),
    (WALK, "img_q[s]  <= img_q[s] + img_i[s];", ""),
    (TAPS, "line < WalkBits'(lines_i)", "line <= WalkBits'(lines_i)"),
    (TAPS, "byte_x < WalkBits'(line_bytes_i)", "1'b1"),
    (TAPS, "taps_q <= taps_o;", "taps_q <= taps_q + 1'b1;"),
    (ISSUE, "choice.uop.taps = job_q.average ? tap_count : 9'd1;", "choice.uop.taps = tap_count;"),
    (ISSUE, "left > 11'(Cols)", "left >= 11'(Cols / 2)"),
    (ISSUE, "choice.rd_len  = src_x_last ? job_q.tail : job_q.len;", "choice.rd_len  = job_q.len;"),
    (ISSUE, "32'(pairs_q) + 32'(found_valid_q && second) < SumPairs", "1'b1"),
    # Order and flow.
    (PREPARE, "stale_q || kind_q == KindTable ? drained_i : older_q == '0", "1'b1"),
    (PREPARE, "if (hit && !taken_q) stale_q <= 1'b1;", ""),
    (PREPARE, "|| from_second == '1 ||", "||"),
    (PREPARE, "(from_second == -IndexBits'(2) && issue_addr_i[WordBits-1:0] != '0) ||", ""),
    (PREPARE, "(issue_raw_i && from_second[IndexBits-1:3] == '1)", "1'b0"),
    (ISSUE, "else if (sum_take) sums_any_q <= sums_q != SumCountBits'(1);", ""),
    (PREPARE, "if (hit && !taken_q) stale_q", "if (!hit && !taken_q) stale_q"),
    (PREPARE, "&& in_flight_i == '0 && !bank_busy_i[bank_q] ? StFetch", "&& !bank_busy_i[bank_q] ? StFetch"),
    (PREPARE, "&& in_flight_i == '0 && !bank_busy_i[bank_q] ? StFetch", "&& in_flight_i == '0 ? StFetch"),
    (PREPARE, "if (!bank_busy_i[bank_q] && (", "if (("),
    (UNIT, "(follows || all_written)", "1'b1"),
    (UNIT, "job.requant && job.lookup == lookup_q &&", "job.requant &&"),
    (UNIT, "&& !job.residual &&", "&&"),
    (UNIT, "&& !job.residual && !residual_q", "&& !job.residual"),
    (PREPARE, "stale_q || kind_q == KindTable ?", "stale_q ?"),
    (PREPARE, "block && kind_q != KindTable &&", "block &&"),
    (PREPARE, "if (table_q == 9'(TableBytes))", "if (table_q == 9'(TableBytes / 2))"),
    (ISSUE, "job_q.residual || choice", "choice"),
    (ISSUE, "choice.uop.out = second_q;", "choice.uop.out = second_q && !src_x_last;"),
    (ISSUE, "want           = out_avail_i || !second_q;", "want           = 1'b1;"),
    (UNIT, "par_valid && !win_held_q &&", "par_valid && !win_req &&"),
    (UNIT, "if (req_ub && (par_sel || !vrd_ready_i))", "if (req_ub && !vrd_ready_i)"),
    (UNIT, "assign avail       = flying_q != CountBits'(OutDepth);", "assign avail       = 1'b1;"),
    (UNIT, "- CountBits'(out_drop)", ""),
    (UNIT, "!(req_uop.src == SrcAcc && par_busy && req_uop.bank == par_bank)", "1'b1"),
    (UNIT, "assign vwr_valid_o = wr_valid && !freeze_i;", "assign vwr_valid_o = wr_valid;"),
    (UNIT, "(written && wr_dest.last) || table_done;", "(out_valid && out_last) || table_done;"),
    (UNIT, "fault_now      = !faulted_q && !freeze_i && all_written", "fault_now      = !faulted_q && !freeze_i"),
    # The clock that stands still.
    (UNIT, "!empty || !idle || !all_written;", "!empty || !idle;"),
    (UNIT, "!empty || !idle || !all_written;", "!idle || !all_written;"),
    (UNIT, "!empty || !idle || !all_written;", "!empty || !all_written;"),
    (CLOCK, "left_q <= Bits'(Settle);", "left_q <= '0;"),
    # Checks.
    (CHECK, "32'(rq.cols) > Cols", "32'(rq.cols) > Cols + 1"),
    (CHECK, "taps_q > 14'd256", "taps_q > 14'd300"),
    (CHECK, "(sum ? po.flags[FlagPoolAverage] :", "(sum ? 1'b0 :"),
    (CHECK, "block_addr_o[WordBits-1:0] != '0", "block_addr_o[0] != '0"),
    (CHECK, "32'(mu.cols) > Cols", "1'b0"),
    (CHECK, "32'(raw) + 32'(residual) + 32'(rq.flags[FlagRequantTable]) > 1 ||", "(raw && residual) ||"),
    (CHECK, "is_table ? Cfg.UbBytes - TableBytes :", "is_table ? Cfg.UbBytes :"),
    (CHECK, "(29'(product_q) <<< 10)", "(29'(product_q) <<< 9)"),
    (CHECK, "(25'(unsigned'(product_q)) << 10)", "25'd0"),
    (CHECK, "product_q)) > HalfRows - 32'(row_in_bank)", "product_q)) > HalfRows"),
    (CHECK, "many_q || ", ""),
    (CHECK, "Cfg.UbBytes - TableBytes : Cfg.UbBytes - ParamBytes", "Cfg.UbBytes - TableBytes : Cfg.UbBytes"),
    (ISSUE, "rd_bad_q  <= check_q.ub_rd && check_q.rd_addr > WalkBits'(limit(check_q.rd_len))", "rd_bad_q  <= 1'b0"),
    (ISSUE, "limit_t'(Cfg.UbBytes) - limit_t'(len)", "limit_t'(Cfg.UbBytes - 1)"),
    (ISSUE, "if (operand) src_fault_q <= 1'b1;\n        else stop_q", "stop_q"),
]

BENCHES = [mutation.Bench("vector_bench", f"Vvector_{name}", "tests/rtl/vector/vector_bench.sv", (f"-GPreset={preset}",), f"*/{name}")
           for name, preset in (("nano", 0), ("board8", 6))]


def bench_of(mutant):
    """What concerns beats shows where a micro-op has more than one."""
    words = ("rest_q", "first_ptr_q <=", "beat_i", "beat_q", "beat1_q", "looked_tag_q.row_end", "gap")
    return int(mutant[0] == BEATS or any(word in mutant[1] for word in words))


if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS, BENCHES, bench_of))
