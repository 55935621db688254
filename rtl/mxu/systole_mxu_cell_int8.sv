// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Cell of the int8 array: sum_o = sum_i + activation * weight; the activation selects the weight bank. The activation
// is registered at the input; sum_i is used Stages cycles after that. With two stages the product is registered.
// Registers hold while enable_i is low, but weights may be written at any time.
// Docs: docs/mxu.md. Test: tests/rtl/mxu, verif/formal.

module systole_mxu_cell_int8 #(
    parameter int unsigned Stages = 1,
    parameter int unsigned SumBits = 32,  // bits that the sums need down to this row
    parameter bit          Logic = 1'b0   // 1: multiply in logic, 0: in a multiplier block
) (
    input  logic               clk_i,
    input  logic               enable_i,
    input  logic [8:0]         act_i,       // {weight bank, activation}
    // verilator lint_off UNUSEDSIGNAL
    input  logic signed [31:0] sum_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [1:0]         wl_valid_i,  // write enable of each weight bank
    input  logic [7:0]         wl_data_i,
    output logic [8:0]         act_o,
    output logic signed [31:0] sum_o
);
  logic [7:0]                weight0_q, weight1_q, weight;
  logic signed [15:0]        product, prod_r;
  logic signed [SumBits-1:0] sum_q;
  // Kept, because these registers are equal along a diagonal of cells: merged, they would be one net across the chip.
  (* keep *) logic           bank_q;
  logic [7:0]                act_q;

  assign act_o  = {bank_q, act_q};
  assign weight = bank_q ? weight1_q : weight0_q;

  systole_prim_mult #(.Logic(Logic)) u_mult (.a_i(act_q), .b_i(weight), .product_o(product));
  systole_mxu_delay #(.Width(16), .Cycles(Stages - 1)) u_prod (.clk_i, .enable_i, .d_i(product), .q_o(prod_r));

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      {bank_q, act_q} <= act_i;
      sum_q <= SumBits'(sum_i) + SumBits'(prod_r);
    end
  end
  always_ff @(posedge clk_i) if (wl_valid_i[0]) weight0_q <= wl_data_i;
  always_ff @(posedge clk_i) if (wl_valid_i[1]) weight1_q <= wl_data_i;

  assign sum_o = 32'(sum_q);

  initial a_stages : assert (Stages >= 1 && Stages <= 2 && SumBits >= 16 && SumBits <= 32);
endmodule
