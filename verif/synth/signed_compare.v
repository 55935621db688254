// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Yosys techmap: signed comparisons become unsigned ones with inverted sign bits. Yosys 0.23 (cmp2lut.v) maps narrow
// signed comparisons with a negative constant to wrong lookup tables, as the lockstep simulation of the array's netlist
// shows.

(* techmap_celltype = "$lt $le $ge $gt" *)
module systole_signed_compare (A, B, Y);
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter _TECHMAP_CELLTYPE_ = "";
  localparam WIDTH = A_WIDTH > B_WIDTH ? A_WIDTH : B_WIDTH;

  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;

  wire _TECHMAP_FAIL_ = !(A_SIGNED && B_SIGNED);

  wire signed [A_WIDTH-1:0] a_signed = A;
  wire signed [B_WIDTH-1:0] b_signed = B;
  wire signed [WIDTH-1:0] a_wide = a_signed;
  wire signed [WIDTH-1:0] b_wide = b_signed;
  wire [WIDTH-1:0] a = a_wide ^ {1'b1, {(WIDTH - 1) {1'b0}}};
  wire [WIDTH-1:0] b = b_wide ^ {1'b1, {(WIDTH - 1) {1'b0}}};

  generate
    case (_TECHMAP_CELLTYPE_)
      "$lt": assign Y = a < b;
      "$le": assign Y = a <= b;
      "$ge": assign Y = a >= b;
      "$gt": assign Y = a > b;
    endcase
  endgenerate
endmodule
