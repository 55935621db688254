// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The last two stages of a scaling, which never stall: add the zero point | clamp to a byte.
// Docs: docs/vector.md. Test: tests/rtl/vector/.

module systole_vector_clamp #(
    parameter int unsigned Lanes = 8,
    localparam int unsigned Slots = Lanes < 4 ? 4 : Lanes  // bytes in whole words
) (
    input  logic               clk_i,

    input  logic               valid_i,
    input  logic signed [31:0] r_i [Lanes],
    input  logic signed [7:0]  zp_i,

    input  logic               valid1_i,  // valid_i, one cycle later
    input  logic signed [7:0]  min_i,     // belongs to valid1_i
    input  logic signed [7:0]  max_i,

    output logic [Slots*8-1:0] data_o     // with fewer than 4 lanes, only the lowest bytes are used
);
  // A value that does not fit nine bits is clamped for any zero point. So values saturate to nine bits first.
  logic signed [15:0] z_q [Lanes];

  always_ff @(posedge clk_i) begin : zero_point
    logic signed [15:0] z_v [Lanes];
    if (valid_i) begin
      for (int unsigned c = 0; c < Lanes; c++) begin
        logic signed [31:0] v;
        v      = r_i[c];
        v      = 32'(signed'(v[8:0])) == v ? v : v < 0 ? -32'sd256 : 32'sd255;
        z_v[c] = 16'(signed'(v[8:0])) + 16'(zp_i);
      end
      z_q <= z_v;
    end
  end

  always_ff @(posedge clk_i) begin : clamp
    logic [7:0]         y_v [Slots];
    logic [Slots*8-1:0] out_v;
    if (valid1_i) begin
      for (int unsigned c = 0; c < Slots; c++) begin
        logic signed [15:0] v, low, high;
        v      = c < Lanes ? z_q[c%Lanes] : '0;
        low    = 16'(min_i);
        high   = 16'(max_i);
        v      = v < low ? low : v;
        v      = v > high ? high : v;
        y_v[c] = v[7:0];
      end
      for (int unsigned w = 0; w < Slots / 4; w++) out_v[w*32+:32] = {y_v[4*w+3], y_v[4*w+2], y_v[4*w+1], y_v[4*w]};
      data_o <= out_v;
    end
  end
endmodule
