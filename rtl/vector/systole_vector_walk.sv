// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Walks images 0..n_end_i of lines 0..y_end_i of positions 0..x_end_i. At each position it gives Streams linear functions, base
// + image * img + line * pitch + position * step, computed by additions only. It moves by one position a cycle. load_i starts
// at the first position. n_end_i to step_i hold during the walk.
// Docs: docs/vector.md. Test: tests/rtl/vector/.

module systole_vector_walk
  import systole_vector_pkg::*;
#(
    parameter int unsigned Streams = 1
) (
    input  logic                     clk_i,

    input  logic                     load_i,
    input  walk_addr_t [Streams-1:0] base_i,   // taken at load_i

    input  logic [9:0]               n_end_i,
    input  logic [13:0]              y_end_i,
    input  logic [17:0]              x_end_i,
    input  walk_addr_t [Streams-1:0] img_i,
    input  walk_addr_t [Streams-1:0] pitch_i,
    input  walk_addr_t [Streams-1:0] step_i,

    input  logic                     next_i,
    output walk_addr_t [Streams-1:0] addr_o,
    output logic                     x_last_o,  // last position of a line
    output logic                     last_o     // last position of all
);
  logic [9:0]               i_q;
  logic [13:0]              y_q;
  logic [17:0]              x_q;
  walk_addr_t [Streams-1:0] img_q, line_q, addr_q;  // address of the image's start, of the line's start, of this position
  logic                     y_last;

  assign addr_o   = addr_q;
  assign x_last_o = x_q == x_end_i;
  assign y_last   = y_q == y_end_i;
  assign last_o   = x_last_o && y_last && i_q == n_end_i;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      i_q    <= '0;
      y_q    <= '0;
      x_q    <= '0;
      img_q  <= base_i;
      line_q <= base_i;
      addr_q <= base_i;
    end else if (next_i) begin
      x_q <= x_last_o ? '0 : x_q + 1'b1;
      if (x_last_o) y_q <= y_last ? '0 : y_q + 1'b1;
      if (x_last_o && y_last) i_q <= i_q + 1'b1;
      for (int unsigned s = 0; s < Streams; s++) begin
        if (!x_last_o) begin
          addr_q[s] <= addr_q[s] + step_i[s];
        end else if (!y_last) begin
          addr_q[s] <= line_q[s] + pitch_i[s];
          line_q[s] <= line_q[s] + pitch_i[s];
        end else begin
          addr_q[s] <= img_q[s] + img_i[s];
          line_q[s] <= img_q[s] + img_i[s];
          img_q[s]  <= img_q[s] + img_i[s];
        end
      end
    end
  end
endmodule
