// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Controllers with one time of the table wrong each (number 0 is right), for the test that the checker notices: one cycle
// too short, the refresh interval too long. Each has command buses of its own, so that no slot hides a time.
// Test: tests/hbm/mutant_test.cc, which has the same list.

module hbm_mutants
  import systole_hbm_pkg::*;
#(
    parameter int unsigned N = 18
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic [N-1:0]               req_valid_i,
    output logic [N-1:0]               req_ready_o,
    input  logic [N-1:0]               req_write_i,
    input  logic [N-1:0][BankBits-1:0] req_bank_i,
    input  logic [N-1:0][RowBits-1:0]  req_row_i,
    input  logic [N-1:0][ColBits-1:0]  req_col_i,
    output logic [N-1:0][2:0]          row_cmd_o,
    output logic [N-1:0][BankBits-1:0] row_bank_o,
    output logic [N-1:0][RowBits-1:0]  row_addr_o,
    output logic [N-1:0][2:0]          col_cmd_o,
    output logic [N-1:0][BankBits-1:0] col_bank_o,
    output logic [N-1:0][ColBits-1:0]  col_addr_o
);
  function automatic timing_t mutate(int unsigned i);
    timing_t t;
    t = HbmTiming;
    t.tfaw = 30;  // at the table's 15 tRRD_S covers it
    case (i)
      0: ;
      1: t.trcdrd = t.trcdrd - 1;
      2: t.trcdwr = t.trcdwr - 1;
      3: begin  // with them tRC, which they imply
        t.trp = t.trp - 1;
        t.trc = t.trc - 1;
      end
      4: begin
        t.tras = t.tras - 1;
        t.trc  = t.trc - 1;
      end
      5: t.trrd_s = t.trrd_s - 1;
      6: t.trrd_l = t.trrd_l - 1;
      7: t.tfaw = t.tfaw - 1;
      8: t.trrefd = t.trrefd - 1;
      9: t.tccd_l = t.tccd_l - 1;
      10: t.twtr_s = t.twtr_s - 1;
      11: t.twtr_l = t.twtr_l - 1;
      12: t.trtw = t.trtw - 1;
      13: t.twr = t.twr - 1;
      14: t.trtp = t.trtp - 1;
      15: t.trfc = t.trfc - 1;
      16: t.trfcsb = t.trfcsb - 1;
      default: t.trefi = 4 * t.trefi;
    endcase
    return t;
  endfunction

  for (genvar i = 0; i < N; i++) begin : gen_mutant
    row_cmd_e row_cmd;
    col_cmd_e col_cmd;
    systole_hbm_ctrl #(.Timing(mutate(i))) u_ctrl (
        .clk_i, .rst_ni, .col_slot_i(1'b1), .act_slot_i(1'b1), .row_slot_i(1'b1),
        .req_valid_i(req_valid_i[i]), .req_ready_o(req_ready_o[i]), .req_write_i(req_write_i[i]),
        .req_bank_i(req_bank_i[i]), .req_row_i(req_row_i[i]), .req_col_i(req_col_i[i]), .req_tag_i('0), .low_o(),
        .rd_issue_o(), .wr_issue_o(), .tag_o(), .act_issue_o(), .refresh_o(),
        .row_cmd_o(row_cmd), .row_bank_o(row_bank_o[i]), .row_addr_o(row_addr_o[i]),
        .col_cmd_o(col_cmd), .col_bank_o(col_bank_o[i]), .col_addr_o(col_addr_o[i])
    );
    assign row_cmd_o[i] = row_cmd;
    assign col_cmd_o[i] = col_cmd;
  end
endmodule
