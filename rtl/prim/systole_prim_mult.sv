// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Signed 8 x 8 product, combinational. Only this module decides how a multiplier of the int8 array is built: from a multiplier
// block, which mappers infer from `*`, or (Logic) from a tree of two-input adders on carry chains, which no mapper turns into a
// multiplier block.
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_prim_mult #(
    parameter bit Logic = 1'b0
) (
    input  logic signed [7:0]  a_i,
    input  logic signed [7:0]  b_i,
    output logic signed [15:0] product_o
);
  if (Logic) begin : gen_logic
    // Partial products of two's complement numbers after Baugh and Wooley: those with exactly one sign bit are inverted, and
    // 2 ** 8 and 2 ** 15 are added. The constant 2 ** 8 is part of row 1: 2 ** 8 (1 + p) = 2 ** 9 p + 2 ** 8 !p.
    logic [7:0] row [8];
    always_comb begin
      for (int unsigned i = 0; i < 8; i++) begin
        row[i] = b_i[i] ? a_i : '0;
        if (i < 7) row[i][7] = !row[i][7];
        else row[i][6:0] = ~row[i][6:0];
      end
    end

    // keep stops the mapper from merging the sums into a tree of 3-to-2 compressors in lookup tables. Bits without a partner
    // bypass the adder.
    (* keep *) logic [10:0] sum01;
    (* keep *) logic [9:0]  sum23, sum45, sum67;
    (* keep *) logic [12:0] sum03;
    (* keep *) logic [11:0] sum47, sum07;
    assign sum01 = {10'(row[0][7:1]) + 10'({row[1][7], !row[1][7], row[1][6:0]}), row[0][0]};
    assign sum23 = {9'(row[2][7:1]) + 9'(row[3]), row[2][0]};
    assign sum45 = {9'(row[4][7:1]) + 9'(row[5]), row[4][0]};
    assign sum67 = {9'(row[6][7:1]) + 9'(row[7]), row[6][0]};
    assign sum03 = {11'(sum01[10:2]) + 11'(sum23), sum01[1:0]};
    assign sum47 = {10'(sum45[9:2]) + 10'(sum67), sum45[1:0]};
    assign sum07 = 12'(sum03[12:4]) + sum47;
    assign product_o = {!sum07[11], sum07[10:0], sum03[3:0]};
  end else begin : gen_block
    assign product_o = a_i * b_i;
  end
endmodule
