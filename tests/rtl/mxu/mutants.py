# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the bf16 matrix unit's test bench sees faults: changes one line of the RTL at a time, builds unit, unified buffer and
accumulators at mini, links them with the bench and expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes
its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

SDS, PREPARE, WALK, MXU, ROWS, TRANSPOSER, FIFO, BLOCK = (
    f"mxu/systole_{name}.sv" for name in ("sds", "sds_prepare", "sds_walk", "mxu", "mxu_rows", "transposer", "weight_fifo", "weight_block"))
RAM, ACC, BANK, BUFFER = ("cells/systole_transpose_ram.sv", "accumulators/systole_accumulators.sv", "unified_buffer/systole_ub_bank.sv",
                          "unified_buffer/systole_unified_buffer.sv")

MUTANTS = [
    # Waits for rows.
    (ROWS, "row_t'(away_q[enter_q]) < rows_q[enter_q]", "row_t'(away_q[enter_q]) <= rows_q[enter_q]"),
    (ROWS, "row_t'(row_i) < end_q[i]", "row_t'(row_i) + row_t'(1) < end_q[i]"),
    (ROWS, "row_t'(row_i) + row_t'(away_q[i]) >= end_q[i]", "row_t'(row_i) + row_t'(away_q[i]) > end_q[i]"),
    (ROWS, "entered_q[enter_q] <= 1'b1;", ""),
    (MXU, ".read_i(next_valid && next.accumulate)", ".read_i(1'b0)"),
    (MXU, ".leave_i(tag_out_valid)", ".leave_i(tag2_q.valid)"),
    # Rows that vectors begin from.
    (MXU, "assign acc_feed_read_o  = tag1_q.accumulate;", "assign acc_feed_read_o  = 1'b1;"),
    (ACC, "!read1_q ? '0 : bank1_q", "bank1_q"),
    (ACC, "bank1_q <= mxu_bank;", "bank1_q <= 1'b0;"),
    (ACC, "!(mxu_reads && mxu_bank == rd_bank)", "1'b1"),
    # The transposer.
    (TRANSPOSER, "i <= 32'(last3_q)", "i < 32'(last3_q)"),
    (TRANSPOSER, "i <= 32'(last3_q) ? column[i] : '0", "column[i]"),
    (TRANSPOSER, "block_q[out_q].take && column_q == '0", "block_q[out_q].take"),
    (TRANSPOSER, "block_q[out_q].done && column_last", "block_q[out_q].done"),
    (TRANSPOSER, "!col_accumulate_o && !fill_last_i &&", "!fill_last_i &&"),
    (TRANSPOSER, "!col_accumulate_o && !fill_last_i &&", "!col_accumulate_o &&"),
    (TRANSPOSER, "column_q >= IndexBits'(Rows - 3)", "column_q >= IndexBits'(Rows - 4)"),
    (RAM, "wdata_i[IndexBits'(m-32'(wrow_i))]", "wdata_i[IndexBits'(m+32'(wrow_i))]"),
    (RAM, "m - 32'(column1_q)", "m + 32'(column1_q)"),
    (MXU, "empty && next_go", "next_go"),
    (MXU, "head_transpose ? fill_ready", "head_transpose ? 1'b1"),
    (WALK, "transpose ? take_q && !pass_last : pass_last", "pass_last"),
    (WALK, "|| (!transpose && !first_pass_q)", "|| !first_pass_q"),
    (WALK, "row_q <= row_q + AccAddrBits'(Cfg.Rows);", "row_q <= row_q;"),
    # Elements of two bytes.
    (SDS, "- {1'b0, b.first[NearBits-1:0]}) >> Shift;", "- {1'b0, b.first[NearBits-1:0]});"),
    (SDS, "left[NearBits-1:0]} >> Shift;", "left[NearBits-1:0]};"),
    (SDS, "((OffBits + 2)'(r.lo) << Shift)", "(OffBits + 2)'(r.lo)"),
    (SDS, "((OffBits + 2)'(r.hi) << Shift)", "(OffBits + 2)'(r.hi)"),
    (SDS, "((SizeBits + 1)'(r.hi) << Shift)", "(SizeBits + 1)'(r.hi)"),
    # The walk, its products, and what is asked for together.
    (WALK, "ly_q <= next_line || next_outer ? l_sum : l1_q;", "ly_q <= next_line ? l_sum : l1_q;"),
    (WALK, "bx_q    <= next_outer ? '0 : x_last && !next_pass ? b0_q : b_sum;", "bx_q    <= x_last && !next_pass ? b0_q : b_sum;"),
    (PREPARE, "base_o[s] - multiple", "base_o[s] + multiple"),
    (SDS, "d_banks_q[s][t].next && d_q[s].need[1]", "1'b0 && d_q[s].need[1]"),
    (SDS, "r_rest_q <= r_rest_q & ~later;", "r_rest_q <= '0;"),
    (SDS, "first: !began_q", "first: 1'b1"),
    (SDS, "d_bad && !d_wait_q && !r_valid_q", "d_bad && !d_wait_q"),
    # Checks.
    (PREPARE, "|| (Bf16 && desc_i.pad != '0)", ""),
    (PREPARE, "many_q  <= 32'(count_q) > Rows;", "many_q  <= 1'b0;"),
    (PREPARE, "if (desc_i.img_pitch[0]) odd = AddrBits'(desc_i.img_pitch);", ""),
    (PREPARE, "AddrBits'($signed(desc_i.seg_dx[s-1]))", "AddrBits'(desc_i.seg_dx[s-1])"),
    # Tiles.
    (FIFO, "(t == 1 ? C : R)", "R"),
    (FIFO, "(t==1?R : C)*PartBits", "C*PartBits"),
    (FIFO, "32'(age_q[i]) == Offset)", "32'(age_q[i]) + 3 == Offset)"),
    (FIFO, "start_transpose[b] = transpose_q[i];", "start_transpose[b] = rd_transpose;"),
    (FIFO, "transpose_q[wr_tile_q] <= wf_transpose_i", "transpose_q[wr_tile_q] <= 1'b0"),
    (FIFO, "pop[Blocks-1] ?", "pop[0] ?"),
    (BLOCK, "if (32'(index_q) == BlockRows - 1) bank_q <= !bank_q;", ""),
    (BLOCK, "start_i ? transpose_i : transpose_q", "transpose_i"),
    (BLOCK, "row_index_o     <= index1_q;", "row_index_o     <= index_q;"),
    (MXU, ".wl_column_i(row_transpose)", ".wl_column_i('0)"),
    (MXU, "else if (pass_first) bank_q <= !bank_q;", "else if (enter) bank_q <= !bank_q;"),
    (MXU, "cool_q[b] <= CoolBits'(Cool);", "cool_q[b] <= CoolBits'(Cool - 4);"),
    (MXU, "!used_q[load_bank_q] &&", ""),
    (MXU, "if (next_valid && next_take) used_q[bank_q] <= 1'b0;", "if (next_valid) used_q[bank_q] <= 1'b0;"),
    # The buffer.
    (BANK, "if (we != '1) begin", "if (1'b0) begin"),
    (BUFFER, "re |= rd_claims[p][b];", "re |= rd_claims[p][b] && p != 1;"),
    (BUFFER, "window_row |= rd_claims[p][b] ?", "window_row |= rd_claims[p][b] && p != 1 ?"),
    (BUFFER, "windows && !urgent_banks[b] ?", "windows ?"),
    (BUFFER, "? {first[NB-2:0], first[NB-1]} : '0", "? first : '0"),
    (BUFFER, "~({W*8{1'b1}} << {off_q, 3'b000})", "({W*8{1'b1}} << {off_q, 3'b000})"),
]

BENCHES = [mutation.Bench("mxu_bench", "VMxuMini", "tests/rtl/mxu/mxu_bench.sv", ("-GPreset=3", "-GFastArray=1"))]

if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS, BENCHES))
