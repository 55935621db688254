// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The fused multiply-add at every stage count, side by side: what enters in a cycle leaves sum_o[s] s + 1 cycles later.

module fma_bench #(
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
  logic [SumExp+SumMan:0] sum_q;
  always_ff @(posedge clk_i) if (enable_i) sum_q <= sum_i;

  for (genvar s = 0; s < 5; s++) begin : gen_stages
    systole_fma #(.OpExp(OpExp), .OpMan(OpMan), .SumExp(SumExp), .SumMan(SumMan), .Stages(s + 1)) u_fma (
        .clk_i, .enable_i, .a_i, .b_i, .sum_i(s == 0 ? sum_i : sum_q), .sum_o(sum_o[s])
    );
  end
endmodule
