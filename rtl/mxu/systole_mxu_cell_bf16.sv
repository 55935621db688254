// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Cell of the bf16 array: sum_o = sum_i + activation * weight, with one rounding; the activation selects the weight
// bank. The activation is registered at the input; sum_i is used one cycle later, or two with more than one stage. The
// output is registered; further pipeline registers follow the multiplier from 2 stages on, the adder from 3, the
// aligner from 4 and the normaliser from 5. Registers hold while enable_i is low, but weights may be written at any
// time. Operands are packed as in systole_fp_pkg.
// Docs: docs/mxu.md, docs/numerics.md. Test: tests/rtl/fp, verif/formal.

module systole_mxu_cell_bf16
  import systole_fp_pkg::*;
#(
    parameter int unsigned OpExp = 8,   // operands: exponent and mantissa bits
    parameter int unsigned OpMan = 7,
    parameter int unsigned SumExp = 8,  // sums: exponent and mantissa bits
    parameter int unsigned SumMan = 23,
    parameter int unsigned Stages = 1
) (
    input  logic                     clk_i,
    input  logic                     enable_i,
    input  logic [OperandBits:0]     act_i,       // {weight bank, activation}
    input  logic [SumExp+SumMan:0]   sum_i,
    input  logic [1:0]               wl_valid_i,  // write enable of each weight bank
    input  logic [OperandBits-1:0]   wl_data_i,
    output logic [OperandBits:0]     act_o,
    output logic [SumExp+SumMan:0]   sum_o
);
  localparam int unsigned SumBits = 1 + SumExp + SumMan;

  // Values between the steps, without the bits that are always 0. The suffix _r marks a value after its optional
  // register.
  typedef struct packed {
    logic        sign;
    logic [9:0]  exponent;
    logic [15:0] significand;
  } product_t;
  typedef struct packed {
    logic       nan;
    logic [9:0] exponent;
  } info_t;
  typedef struct packed {
    logic        upper_sign;
    logic [29:0] upper;
    logic        subtract;
    logic [29:0] lower;
    info_t       info;
  } aligned_t;
  typedef struct packed {
    logic [31:0] value;
    info_t       info;
  } value_t;

  function automatic logic [31:0] info_word(info_t info);
    return {info.nan, 21'd0, info.exponent};
  endfunction

  logic [OperandBits-1:0] weight0_q, weight1_q, weight;
  product_t               prod, prod_r;
  aligned_t               aligned, aligned_r;
  value_t                 value, value_r, norm, norm_r;
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0]            prod_word, upper, lower, align_info, norm_value, norm_info;
  // verilator lint_on UNUSEDSIGNAL

  assign weight    = act_o[OperandBits] ? weight1_q : weight0_q;
  assign prod_word = multiply(unpack_operand(act_o[OperandBits-1:0]), unpack_operand(weight), OpExp, SumExp);
  assign prod      = '{sign: prod_word[31], exponent: prod_word[25:16], significand: prod_word[15:0]};

  always_comb begin
    align({prod_r.sign, 5'd0, prod_r.exponent, prod_r.significand}, 32'(sum_i), upper, lower, align_info, OpExp, OpMan, SumExp, SumMan);
    aligned = '{upper_sign: upper[31], upper: upper[29:0], subtract: lower[31], lower: lower[29:0],
                info: '{nan: align_info[31], exponent: align_info[9:0]}};
  end

  assign value = '{value: add({aligned_r.upper_sign, 1'b0, aligned_r.upper}, {aligned_r.subtract, 1'b0, aligned_r.lower}),
                   info: aligned_r.info};

  always_comb begin
    normalise(value_r.value, info_word(value_r.info), norm_value, norm_info, OpExp, SumExp, SumMan);
    norm = '{value: norm_value, info: '{nan: norm_info[31], exponent: norm_info[9:0]}};
  end

  systole_mxu_delay #(.Width($bits(prod)), .Cycles(Stages > 1 ? 1 : 0)) u_prod (.clk_i, .enable_i, .d_i(prod), .q_o(prod_r));
  systole_mxu_delay #(.Width($bits(aligned)), .Cycles(Stages > 3 ? 1 : 0)) u_aligned (.clk_i, .enable_i, .d_i(aligned), .q_o(aligned_r));
  systole_mxu_delay #(.Width($bits(value)), .Cycles(Stages > 2 ? 1 : 0)) u_value (.clk_i, .enable_i, .d_i(value), .q_o(value_r));
  systole_mxu_delay #(.Width($bits(norm)), .Cycles(Stages > 4 ? 1 : 0)) u_norm (.clk_i, .enable_i, .d_i(norm), .q_o(norm_r));

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      act_o <= act_i;
      sum_o <= SumBits'(round(norm_r.value, info_word(norm_r.info), SumExp, SumMan));
    end
  end
  always_ff @(posedge clk_i) if (wl_valid_i[0]) weight0_q <= wl_data_i;
  always_ff @(posedge clk_i) if (wl_valid_i[1]) weight1_q <= wl_data_i;

  initial a_format : assert (supported(OpExp, OpMan, SumExp, SumMan) && Stages >= 1 && Stages <= 5);
endmodule
