# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the vector unit's test benches see faults: changes one line of the RTL at a time, builds the unit at mini (or the ALU
alone), links it with its bench and expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

FP, TYPES = "vpu/systole_vpu_fp_pkg.sv", "vpu/systole_vpu_types_pkg.sv"
ALU, FAST, LANE, CROSS, RANDOM, LOAD, STORE, UNIT, REGS, DISPATCH, ISSUE, FETCH, CONTROL, TOP = (
    f"vpu/systole_vpu{suffix}.sv" for suffix in ("_alu", "_alu_fast", "_alu_lane", "_cross", "_random", "_load", "_store", "_unit", "_regs", "_dispatch", "_issue",
                                            "_fetch", "_control", ""))

CLOCK = "cells/systole_idle_clock.sv"

MUTANTS = [
    # Arithmetic of a lane: the ALU's own bench.
    (FP, "(f == 0 ? 32'd0 : 32'h80_0000) : f;  //", "32'd0 : f;  //"),
    (FP, "(e == 0 ? 32'd1 : e) + 32'd127", "e + 32'd127"),
    (FP, "return (x << 1) == 0 ? 32'd0 : e;", "return e;"),
    (FP, "(e < Special ? e : Special)", "e"),
    (FP, "s_exp = mag >= Inf ? Special :", "s_exp ="),
    (FP, "lower   = (lower >> count[5:0]) | (lost != 0 ? 64'd1 : 64'd0);", "lower   = lower >> count[5:0];"),
    (FP, "count   = count < 63 ? count : 32'd63;", ""),
    (FP, "(sub != 0 ? 32'd0 : sum & Sign)", "(sum & Sign)"),
    (FP, "info = p == 0 ? none : info;", ""),
    (FP, "info = (mag ^ sub) == (Inf | Sign) ? none : info;", ""),
    (FP, "info = mag > Inf ? Sign : info;", ""),
    (FP, "64'h4000_0000_0000_0000 >> e[5:0] : 64'd0", "64'd0 : 64'd0"),
    (FP, "m = v[63:32] | (v[31:0] != 0 ? 32'd1 : 32'd0)", "m = v[63:32]"),
    (FP, "+ ((mag >> 7) & 32'd1)) >> 7)", ") >> 7)"),
    (FP, "r = r < Inf ? r : Inf;", ""),
    (FP, "part + {31'd0, whole[0]} > 32'h4000_0000", "part > 32'h4000_0000"),
    (FP, "value[63] && part != 0", "part != 0"),
    (FP, "m >= Sign ? ~Sign : m", "m"),
    (FP, "info  = SumOffset + 32'd158;", "info  = SumOffset + 32'd157;"),
    (TYPES, "+ ((x >> 16) & 32'd1)) & 32'hFFFF_0000", ") & 32'hFFFF_0000"),
    (FAST, "zero     = op == VopFmul ? Sign : 32'd0;", "zero     = 32'd0;"),
    (FAST, "x[31] ? x ^ ~Sign : x", "x"),
    (FAST, "((a | b) & ~Sign) != 0 && !is_nan(a)", "!is_nan(a)"),
    (FAST, "op_q[3] == VopF2iFloor", "op_q[2] == VopF2iFloor"),
    (FAST, "kind_q[s]  <= kind_q[s-1];", "kind_q[s]  <= kind_q[1];"),
    # The same in hardware.
    (LANE, "e | 8'(low)", "e"),
    (LANE, "- 10'd100", "- 10'd99"),
    (LANE, "a_i[31] != b_i[31] ? a_i[31] :", "a_i[31] != b_i[31] ? b_i[31] :"),
    (LANE, "!(ctl1_i.float_compare && zeros))", "1'b1)"),
    (LANE, "(fb.zero && !ctl1_i.by_one && !ctl1_i.to_int)", "1'b0"),
    (LANE, "right1_q[6:0] > 7'd77", "right1_q[6:0] > 7'd126"),
    (LANE, "spread[50:35] != '0, spread[34:19] != '0", "spread[50:35] != '0, 1'b0"),
    (LANE, "(x.zero && y.infinite)", "1'b0"),
    (LANE, "special = (z.infinite ? z_sign : p_sign)", "special = p_sign"),
    (LANE, "assign middle = p01_q + p10_q;", "assign middle = p01_q;"),
    (LANE, "turned        = opposed2_q && word_first[W]", "turned        = 1'b0"),
    (LANE, "sign3_q && !(opposed3_q && some3_q == '0)", "sign3_q"),
    (LANE, "most_large || zeros_count < most ? zeros_count : most", "zeros_count"),
    (LANE, "half5_q || rest5_q != '0 || top5_q[8]", "half5_q || rest5_q != '0"),
    (LANE, "if (ctl6_i.to_int && negative) more = !more;", ""),
    (LANE, "rounded[31:23] >= 9'd255 ?", "rounded[31:23] >= 9'd256 ?"),
    (LANE, "ctl6_i.left ? reversed(rounded) : rounded", "rounded"),
    (ALU, "ctl_q[s] <= ctl_q[s-1];", "ctl_q[s] <= ctl_q[1];"),
    # The unit's bench.
    (UNIT, "!head_valid_q ? first_row :", ""),
    (UNIT, "uop_i.source[s].from_reg && !uop_i.source[s].own;", "uop_i.source[s].from_reg;"),
    (UNIT, "src.used && (first_o || (src.from_reg && !src.row0))", "src.used && (first_o || src.from_reg)"),
    (UNIT, "&& there_q == '1 &&", "&&"),
    (UNIT, "start ? row_then : row, present_i", "row, present_i"),
    (UNIT, " && !(Store && scan_q[0].older != '0)", ""),
    (UNIT, "if (i != 0 || pop) scan_d[i] = scan_d[i+1];", "scan_d[i] = scan_d[i+1];"),
    (UNIT, "if (start) row_q <= last_o ? '0 : row_q + by;", "if (start) row_q <= row_q + by;"),
    (UNIT, "32'(row_q) + s < 32'(head_q.rows)", "1'b1"),
    (UNIT, "place_o.whole = wide_q || last_o ||", "place_o.whole = wide_q ||"),
    (UNIT, "place_o.whole = wide_q || last_o || 32'(sublane_of(row_q)) == Sublanes - 1;", "place_o.whole = 1'b1;"),
    (UNIT, "src.row0 || !wide_q;", "!wide_q;"),
    (UNIT, "wide_q <= Wide && !by_row(next.op);", "wide_q <= Wide;"),
    (UNIT, "next.op == VopHalt && scan_q[1].older == '0", "next.op == VopHalt"),
    (UNIT, "(head_halt_q && last_o)", "head_halt_q"),
    (UNIT, "HeldBits'(push_i) - HeldBits'(pop) - HeldBits'(absorb)", "HeldBits'(push_i) - HeldBits'(pop)"),
    (REGS, "BankAlu1: operand_q <= gen_bank[3]", "BankAlu1: operand_q <= gen_bank[2]"),
    (DISPATCH, "held_i[u] - HeldBits'(loaded_i[u])", "held_i[u] == '0 ? '0 : held_i[u] - 1'b1"),
    (DISPATCH, "if (reads_i[u][k]) free[k] = 1'b0;", ""),
    (DISPATCH, "free[0] && !(valid_q && behind)", "free[0]"),
    (DISPATCH, "{number_o[k][2:0], 3'b000}+:8] == '1;", "{number_o[k][2:0], 3'b000}+:8] != '0;"),
    (DISPATCH, "8'hFF >> (3'd7 - step_t'(most >> SublaneBits))", "8'hFF"),
    (DISPATCH, "go = stored_i && held_i[UnitStore] == '0;", "go = held_i[UnitStore] == '0;"),
    (DISPATCH, "idle = all_present && stored_i;", "idle = all_present;"),
    (DISPATCH, "(steady && last <= limit_i)", "last <= limit_i"),
    (DISPATCH, "is_store && rows_q != '0 ? Part : Drain", "Drain"),
    (DISPATCH, "default: if (idle) fault_o", "default: fault_o"),
    (DISPATCH, "is_tpush && popped_q == '0 && 32'(uop_q.rows) > 32'(fit_q)", "is_tpush && popped_q == '0 && fit_q == '0"),
    (DISPATCH, "is_tpush && popped_q == '0 && 32'", "is_tpush && 32'"),
    (DISPATCH, "popped_q == '0 ? 32'(pushed_q) : 32'd0", "32'(pushed_q)"),
    (DISPATCH, "(popped_q == '0 ? pushed_q : '0) + ", "pushed_q + "),
    (DISPATCH, "(popped_q == '0 ? fit_q : ColBits'(Cols))", "fit_q"),
    (CROSS, "l % Cols < 32'(rows_q[ColumnLatency-1]) ? column_y[l%Cols] : '0", "column_y[l%Cols]"),
    (CROSS, "y[l] = base_q + l % Cols;", "y[l] = base_q + l;"),
    (CROSS, "Width'({2{operand_i[s*Width+:Width]}} >>", "Width'({2{operand_i[Width-1:0]}} >>"),
    (CROSS, "operand_i[s*Width+32'({lane_q, 5'd0})+:32]", "operand_i[32'({lane_q, 5'd0})+:32]"),
    (DISPATCH, "(pushed_q == '0 || ", "("),
    (DISPATCH, "if (!rst_ni || start_i) begin\n      pushed_q", "if (!rst_ni) begin\n      pushed_q"),
    (DISPATCH, "of_ub && ends_q != '0", "1'b0"),
    (DISPATCH, "if (is_halt) uop_o.rows = count_t'(1);", ""),
    (DISPATCH, "if (is_store || is_halt) begin", "if (is_store) begin"),
    (DISPATCH, "valid_q && wrong) state_q <= Drain;", "valid_q && wrong && uop_q.op == VopTpop) state_q <= Drain;"),
    (ISSUE, "is_vl && signed'(a) <= 0", "is_vl && a == 0"),
    (ISSUE, "a == '0 || a > Cols", "a == '0 || a > Cols + 1"),
    (ISSUE, "is_branch && taken && far", "is_branch && far"),
    (ISSUE, "signed'(a) < signed'(b)", "a < b"),
    (ISSUE, "if ((is_scalar || is_lds) && in.d != '0)", "if (is_scalar || is_lds)"),
    (ISSUE, "a > 32'(most) ? most : count_t'(a)", "count_t'(a)"),
    (ISSUE, "imm == '0 || imm > Rows ? count_t'(Rows) : count_t'(imm)", "count_t'(Rows)"),
    (ISSUE, "vl_q    <= count_t'(VpuVectorSteps);", "vl_q    <= count_t'(Rows);"),
    (ISSUE, "lanes_q <= (LaneBits + 1)'(Cols);", ""),
    (ISSUE, "if (!rst_ni || stop_i) valid_o <= 1'b0;", "if (!rst_ni) valid_o <= 1'b0;"),
    (ISSUE, "VopLds: size = 32'd4;", ""),
    (ISSUE, "(is_scalar || is_lds) && !decoded_i.illegal", "is_scalar && !decoded_i.illegal"),
    (ISSUE, "asked_q <= is_lds;", "asked_q <= 1'b0;"),
    (ISSUE, "stop_i || go) asked_q", "go) asked_q"),
    (DISPATCH, "VopTpush, VopLds});", "VopTpush});"),
    (LOAD, "d2_q.valid && d2_q.op != VopLds", "d2_q.valid"),
    (FETCH, "fetched_pc_q[11] || !legal", "!legal"),
    (FETCH, "wlegal = !vpu_illegal(wdata_q[1], use_q[1]);", "wlegal = 1'b1;"),
    (ISSUE, "changes && d == number ? value : regs[number]", "regs[number]"),
    (FETCH, "fetched_q <= 1'b0;\n        valid_o   <= 1'b0;\n        running_q <= !stop_i;", "valid_o   <= 1'b0;\n        running_q <= !stop_i;"),
    (LOAD, "c < 32'(d2_q.lanes) ? lane[c] : 32'd0", "lane[c]"),
    (LOAD, "lane[2*c+1] = word[c] & 32'hFFFF_0000;", "lane[2*c+1] = word[c] << 16;"),
    (LOAD, "32'(signed'(word[c][23:16]))", "32'(word[c][23:16])"),
    (LOAD, "assign ub_valid_o  = want_i && !acc && !freeze_i;", "assign ub_valid_o  = want_i && !acc;"),
    (LOAD, "want_i && go_o && last_i;", "want_i && last_i;"),
    (STORE, "credit #(.Credits(Depth))", "credit #(.Credits(Depth + 4))"),
    (STORE, "lane[2*c] >> 16 | (lane[2*c+1] & 32'hFFFF_0000)", "lane[2*c] >> 16"),
    (STORE, "(lane[2*c+1] & 32'hFFFF_0000)", "lane[2*c+1]"),
    (STORE, "if (convert_q.op == VopSt16) for", "for"),
    (STORE, "~({Bytes{1'b1}} << wr_len) : '0", "'1 : '0"),
    (STORE, "first_i ? uop_i.scalar[0] : next_q", "next_q"),
    (STORE, "count = 32'(convert_q.len) >> 1;", "count = 32'(convert_q.len) >> 2;"),
    (STORE, "<< 1 > 32'hFF00_0000", "<< 1 >= 32'hFF00_0000"),
    (STORE, "<< 1 == 32'hFF00_0000 && c < count", "<< 1 == 32'hFF00_0000"),
    (STORE, "assign halted_o   = written && halt;", "assign halted_o   = queue_valid && halt;"),
    (STORE, "queue_valid && write && !freeze_i", "queue_valid && !freeze_i"),
    (CROSS, "Move: go_o = !slot_q[MoveSlot+1].write.valid;", "Move: go_o = 1'b1;"),
    (CROSS, "Column: go_o = !slot_q[ColumnSlot+1].write.valid;", "Column: go_o = 1'b1;"),
    (CROSS, "Random: go_o = !slot_q[RandomSlot+1].write.valid;", "Random: go_o = 1'b1;"),
    (CROSS, "uop_i.scalar[1] + 32'(row_i) * Cols", "uop_i.scalar[1]"),
    (CROSS, "element_q[c][lane1_q]", "element_q[lane1_q][c]"),
    (RANDOM, "second(x2_q[l]) ^ key3_q", "second(x2_q[l]) ^ key2_q"),
    (RANDOM, "p ^ (p >> 15)", "p ^ (p >> 16)"),
    (TOP, "acc_valid[0] && !acc_turn_q ? acc_row[0]", "acc_valid[0] ? acc_row[0]"),
    (TOP, "{ub_valid[u] && tail[OffBits], 1'b1}", "2'b01"),
    (TOP, "|| (vwr_valid_o && !vwr_ready_i);", ";"),
    (CONTROL, "32'(vload.addr) + 32'(vload.count) > VpuImemWords", "32'(vload.count) > VpuImemWords"),
    (CONTROL, "vload.ub_addr[WordBits-1:0] != '0", "vload.ub_addr[3:0] != '0"),
    (CONTROL, "load_end > Cfg.UbBytes", "32'(vload.ub_addr) >= Cfg.UbBytes"),
    (CONTROL, "32'(vload.ub_addr) > Cfg.UbBytes ? 32'(vload.ub_addr) : Cfg.UbBytes", "32'(vload.ub_addr)"),
    (CONTROL, "vrun.opcode == OpVrun && !issuing_q", "vrun.opcode == OpVrun"),
    (CONTROL, "verdict_q != FaultNone && runs_q == '0", "verdict_q != FaultNone"),
    (CONTROL, "vload.opcode == OpVload && runs_q == '0", "vload.opcode == OpVload"),
    (CONTROL, "(state_q == Load && coming_q == '0)", "(state_q == Load && left_q == '0)"),
    (CONTROL, "state_q == Check && checked_q && verdict_q", "state_q == Check && verdict_q"),
    # The clock that stands still.
    (TOP, "work = req_i.valid || !idle;", "work = req_i.valid;"),
    (CONTROL, "state_q == Idle && runs_q == '0 && !issuing_q", "state_q == Idle"),
    (CLOCK, "left_q <= Bits'(Settle);", "left_q <= '0;"),
]

# Of the lanes in hardware and the rows in block RAM.
HARDWARE = [
    (REGS, "? fetch_q[p].number[5:3] : 3'd0]", "? fetch_i[p].number[5:3] : 3'd0]"),
    (REGS, ".raddr_i({fetch_i[p].number[2:0], fetch_i[p].step})", ".raddr_i({fetch_i[p].number[2:0], fetch_q[p].step})"),
    (REGS, "fetch_q[p].pick ? row : from", "fetch_i[p].pick ? row : from"),
    (REGS, "write_i[b].valid && write_i[b].place.mask[s]),", "write_i[b].valid),"),
    (CROSS, ".we_i     (push),", ".we_i     (push || pop),"),
    (RANDOM, "^ key;", "^ k1;"),
    (RANDOM, "k1 ^ (k1 >> 15)", "k1"),
    (RANDOM, "x2 ^ (x2 >> 16)", "x2"),
]

BENCHES = [mutation.Bench("vpu_bench", "Vvpu_mini", "tests/rtl/vpu/vpu_bench.sv", ("-GPreset=3",), "*/mini"),
           mutation.Bench("alu_bench", "Vvpu_alu", "tests/rtl/vpu/alu_bench.sv"),
           mutation.Bench("vpu_bench", "Vvpu_hardware", "tests/rtl/vpu/vpu_bench.sv", ("-GPreset=3", "-GFast=0"), "*/hardware")]


def bench_of(mutant):
    if mutant in HARDWARE:
        return 2
    return int(mutant[0] in (FP, TYPES, ALU, FAST, LANE))


if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS + HARDWARE, BENCHES, bench_of))
