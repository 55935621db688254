# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the bf16 matrix unit's test bench sees faults: changes one line of the RTL at a time, builds unit, unified buffer and
accumulators at mini, links them with the bench and expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes
its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

SDS, MXU, ROWS, TRANSPOSER, FIFO = (
    f"mxu/systole_{name}.sv" for name in ("sds", "mxu", "mxu_rows", "transposer", "weight_fifo"))
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
    (SDS, "transpose ? take_q && !pass_last : pass_last", "pass_last"),
    (SDS, "|| (!transpose && (p0_q", "|| ((p0_q"),
    (SDS, "row_q <= row_q + AccAddrBits'(Rows);", "row_q <= row_q;"),
    # Elements of two bytes.
    (SDS, "skip      = -b >>> Shift;", "skip      = -b;"),
    (SDS, "- b) >>> Shift;", "- b);"),
    (SDS, "pos_t'(seg_lo[s] << Shift) < boundary", "pos_t'(seg_lo[s]) < boundary"),
    (SDS, "pos_t'(seg_hi[s] << Shift) > boundary", "pos_t'(seg_hi[s]) > boundary"),
    (SDS, "<<< Shift) - addr_t'(1);", ") - addr_t'(1);"),
    # Checks.
    (SDS, "|| (Bf16 && n.pad != '0)", ""),
    (SDS, "(n_transpose && n_vectors > 39'(Rows))", "1'b0"),
    (SDS, "if (n.img_pitch[0]) n_odd = AddrBits'(n.img_pitch);", ""),
    (SDS, "AddrBits'($signed(n.seg_dx[s-1]))", "AddrBits'(n.seg_dx[s-1])"),
    (SDS, "39'(n.t0) * 39'(n.t1) * 39'(Rows)", "39'(n.t0) * 39'(Rows)"),
    # Tiles.
    (FIFO, "if (pop && 32'(rd_ptr_q) % WordsPerTile == 0) transpose1_q", "if (pop) transpose1_q"),
    (MXU, ".wl_column_i(row_transpose)", ".wl_column_i(1'b0)"),
    (MXU, "else if (pass_first) bank_q <= !bank_q;", "else if (enter) bank_q <= !bank_q;"),
    (MXU, "if (pass_first) cool_q <= CoolBits'(Cool);", "if (pass_first) cool_q <= CoolBits'(Cool - 4);"),
    # The buffer.
    (BANK, "if (we != '1) begin", "if (1'b0) begin"),
    (BUFFER, "if (rd_gnt[p] && rd_banks[p][b]) begin", "if (rd_gnt[p] && rd_banks[p][b] && p != 1) begin"),
]

BENCHES = [mutation.Bench("mxu_bench", "VMxuMini", "tests/rtl/mxu/mxu_bench.sv", ("-GPreset=3", "-GFastArray=1"))]

if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS, BENCHES))
