// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Both views of systole_vpu_alu side by side, rows as arrays of lanes: the hardware's results, and whether the simulation view has the same.
// Operands come with their operation.

module alu_bench
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter int unsigned Cols = 16
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        start_i,
    input  logic [7:0]  op_i,
    input  logic [5:0]  place_i,
    input  logic [31:0] a_i [Cols],
    input  logic [31:0] b_i [Cols],
    input  logic [31:0] c_i [Cols],
    output logic        valid_o,
    output logic [5:0]  place_o,
    output logic        same_o,
    output logic [31:0] y_o [Cols]
);
  logic [Cols*32-1:0] a1_q, b1_q, c1_q, a_q, b_q, c_q, wdata, fast_wdata;
  // verilator lint_off UNUSEDSIGNAL
  write_t             write, fast_write, soon [2];
  // verilator lint_on UNUSEDSIGNAL

  assign valid_o = write.valid;
  assign place_o = {write.number, write.place.step};

  for (genvar c = 0; c < Cols; c++) begin : gen_lane
    always_ff @(posedge clk_i) begin
      a1_q[c*32+:32] <= a_i[c];
      b1_q[c*32+:32] <= b_i[c];
      c1_q[c*32+:32] <= c_i[c];
      a_q[c*32+:32]  <= a1_q[c*32+:32];
      b_q[c*32+:32]  <= b1_q[c*32+:32];
      c_q[c*32+:32]  <= c1_q[c*32+:32];
    end
    assign y_o[c] = wdata[c*32+:32];
  end

  systole_vpu_alu #(.Lanes(Cols), .Fast(1'b0)) u_hardware (
      .clk_i,
      .rst_ni,
      .start_i,
      .op_i     (vpu_op_e'(op_i)),
      .number_i (place_i[5:3]),
      .place_i  ('{step: place_i[2:0], mask: '1, whole: 1'b1}),
      .a_i      (a_q),
      .b_i      (b_q),
      .c_i      (c_q),
      .soon_o   (soon[0]),
      .write_o  (write),
      .wdata_o  (wdata)
  );
  systole_vpu_alu #(.Lanes(Cols), .Fast(1'b1)) u_fast (
      .clk_i,
      .rst_ni,
      .start_i,
      .op_i     (vpu_op_e'(op_i)),
      .number_i (place_i[5:3]),
      .place_i  ('{step: place_i[2:0], mask: '1, whole: 1'b1}),
      .a_i      (a_q),
      .b_i      (b_q),
      .c_i      (c_q),
      .soon_o   (soon[1]),
      .write_o  (fast_write),
      .wdata_o  (fast_wdata)
  );

  assign same_o = fast_write.valid == write.valid && (!write.valid || fast_wdata == wdata);
endmodule
