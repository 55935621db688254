// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The multiply-add of the array's bf16 cell at every stage count, side by side: what enters in a cycle leaves sum_o[s] s + 2 cycles later.
// b_i is written as the cell's weight as a_i enters; the sum comes when the cell takes it.

module fma_bench
  import systole_fp_pkg::*;
#(
    parameter int unsigned OpExp = 8,
    parameter int unsigned OpMan = 7,
    parameter int unsigned SumExp = 8,
    parameter int unsigned SumMan = 23
) (
    input  logic                   clk_i,
    input  logic                   enable_i,
    input  logic [OpExp+OpMan:0]   a_i,
    input  logic [OpExp+OpMan:0]   b_i,
    input  logic [SumExp+SumMan:0] sum_i,
    output logic [SumExp+SumMan:0] sum_o [5]
);
  logic [SumExp+SumMan:0] sum1_q, sum2_q;
  logic                   bank_q;          // the two weight banks take turns

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      sum1_q <= sum_i;
      sum2_q <= sum1_q;
      bank_q <= !bank_q;
    end
  end

  for (genvar s = 0; s < 5; s++) begin : gen_stages
    // verilator lint_off UNUSEDSIGNAL
    logic [OperandBits:0] act;
    // verilator lint_on UNUSEDSIGNAL
    systole_mxu_cell_bf16 #(.OpExp(OpExp), .OpMan(OpMan), .SumExp(SumExp), .SumMan(SumMan), .Stages(s + 1)) u_cell (
        .clk_i, .enable_i, .act_i({bank_q, pack_operand(recode(32'(a_i), OpExp, OpMan, SumExp))}), .sum_i(s == 0 ? sum1_q : sum2_q),
        .wl_valid_i(enable_i ? {bank_q, !bank_q} : '0), .wl_data_i(pack_operand(recode(32'(b_i), OpExp, OpMan, SumExp))),
        .act_o(act), .sum_o(sum_o[s])
    );
  end
endmodule
