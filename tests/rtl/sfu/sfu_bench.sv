// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Both views of systole_vpu_sfu, side by side: the hardware's results, and whether the simulation view has the same.

module sfu_bench
  import systole_sfu_pkg::*;
#(
    parameter int unsigned Lanes = 16
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic [2:0]  op_i,
    input  logic [31:0] a_i [Lanes],
    output logic        valid_o,
    output logic        same_o,
    output logic [31:0] y_o [Lanes]
);
  logic        fast_valid;
  logic [31:0] fast_y [Lanes];

  systole_vpu_sfu #(.Lanes(Lanes), .Fast(1'b0)) u_hardware (
      .clk_i, .rst_ni, .valid_i, .op_i(sfu_op_e'(op_i)), .a_i, .valid_o, .y_o
  );
  systole_vpu_sfu #(.Lanes(Lanes), .Fast(1'b1)) u_fast (
      .clk_i, .rst_ni, .valid_i, .op_i(sfu_op_e'(op_i)), .a_i, .valid_o(fast_valid), .y_o(fast_y)
  );

  always_comb begin
    same_o = fast_valid == valid_o;
    for (int unsigned l = 0; l < Lanes; l++) same_o &= !valid_o || fast_y[l] == y_o[l];
  end
endmodule
