// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// sum_o = a_i * b_i + sum_i with one rounding, Stages cycles later; one a cycle. Holds while enable_i is low. Registers at the output
// and, from as many stages as said on, behind multiplier (2), adder (3), aligner (4), normaliser (5). sum_i is taken when its
// alignment begins: with the operands at one stage, a cycle behind them at more.
// Docs: docs/numerics.md. Test: tests/rtl/fp.

module systole_fma
  import systole_fp_pkg::*;
#(
    parameter int unsigned OpExp  = 8,  // operands: exponent and mantissa bits
    parameter int unsigned OpMan  = 7,
    parameter int unsigned SumExp = 8,  // sums
    parameter int unsigned SumMan = 23,
    parameter int unsigned Stages = 1
) (
    input  logic                   clk_i,
    input  logic                   enable_i,
    input  logic [OpExp+OpMan:0]   a_i,
    input  logic [OpExp+OpMan:0]   b_i,
    input  logic [SumExp+SumMan:0] sum_i,
    output logic [SumExp+SumMan:0] sum_o
);
  localparam int unsigned SumBits = 1 + SumExp + SumMan;

  // What goes from step to step; _r behind the registers, if there are any.
  typedef struct packed {
    logic [31:0] upper;
    logic [31:0] lower;
    logic [31:0] info;
  } aligned_t;
  typedef struct packed {
    logic [31:0] value;
    logic [31:0] info;
  } value_t;
  logic [31:0] prod, prod_r;
  aligned_t    aligned, aligned_r;
  value_t      value, value_r, norm, norm_r;

  assign prod = multiply(recode(32'(a_i), OpExp, OpMan, SumExp), recode(32'(b_i), OpExp, OpMan, SumExp), OpExp, SumExp);
  always_comb align(prod_r, 32'(sum_i), aligned.upper, aligned.lower, aligned.info, OpExp, OpMan, SumExp, SumMan);
  assign value = '{value: add(aligned_r.upper, aligned_r.lower), info: aligned_r.info};
  always_comb normalise(value_r.value, value_r.info, norm.value, norm.info, OpExp, SumExp, SumMan);

  systole_fma_reg #(.Width($bits(prod)), .On(Stages > 1)) u_prod (.clk_i, .enable_i, .d_i(prod), .q_o(prod_r));
  systole_fma_reg #(.Width($bits(aligned)), .On(Stages > 3)) u_aligned (.clk_i, .enable_i, .d_i(aligned), .q_o(aligned_r));
  systole_fma_reg #(.Width($bits(value)), .On(Stages > 2)) u_value (.clk_i, .enable_i, .d_i(value), .q_o(value_r));
  systole_fma_reg #(.Width($bits(norm)), .On(Stages > 4)) u_norm (.clk_i, .enable_i, .d_i(norm), .q_o(norm_r));

  always_ff @(posedge clk_i) if (enable_i) sum_o <= SumBits'(round(norm_r.value, norm_r.info, SumExp, SumMan));

  initial a_format : assert (supported(OpExp, OpMan, SumExp, SumMan) && Stages >= 1 && Stages <= 5);
endmodule
