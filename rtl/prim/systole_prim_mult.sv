// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Signed product, combinational. The one place that says what a multiplier of the array is made of: a multiplier block (what mappers
// make of `*`), or logic, as rows that are added along carry chains.
// Docs: docs/mxu.md. Test: tests/rtl/mxu, verif/formal.

module systole_prim_mult #(
    parameter int unsigned Bits = 8,   // of an operand, even
    parameter bit          Logic = 1'b0
) (
    input  logic signed [Bits-1:0]   a_i,
    input  logic signed [Bits-1:0]   b_i,
    output logic signed [2*Bits-1:0] product_o
);
  if (Logic) begin : gen_logic
    // Row i is a_i << i where bit i of b_i is set; the last one counts negative.
    always_comb begin
      product_o = '0;
      for (int unsigned i = 0; i < Bits - 1; i++) product_o = product_o + ((b_i[i] ? (2 * Bits)'(a_i) : '0) << i);
      product_o = product_o - ((b_i[Bits-1] ? (2 * Bits)'(a_i) : '0) << (Bits - 1));
    end
  end else begin : gen_block
    assign product_o = a_i * b_i;
  end
endmodule
