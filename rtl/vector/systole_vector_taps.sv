// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Walks the kh x kw taps of a pooling window in row-major order, one a cycle, and tells whether each lies in the image. After
// the last tap it continues with the first tap of the next window.
// Docs: docs/vector.md. Test: tests/rtl/vector/.

module systole_vector_taps
  import systole_vector_pkg::*;
(
    input  logic        clk_i,

    input  logic        load_i,
    input  logic        next_i,

    // The job; it holds during the walk.
    input  logic [6:0]  kh_end_i,  // taps in each direction, minus 1
    input  logic [6:0]  kw_end_i,
    input  logic [8:0]  zero_i,    // added to offset_o for each tap that hits
    input  logic [13:0] kx_i,
    input  logic [19:0] pitch_i,
    input  logic [13:0] lines_i,
    input  logic [19:0] line_bytes_i,

    // First tap of the window: address and coordinates (signed).
    input  walk_addr_t  win_addr_i,
    input  walk_addr_t  win_line_i,
    input  walk_addr_t  win_byte_i,

    output walk_addr_t  addr_o,
    output logic        hit_o,    // the tap lies in the image
    output logic        first_o,
    output logic        last_o,
    output logic [8:0]  taps_o,   // taps that hit, this one included
    output logic [TapBits-1:0] offset_o
);
  logic [6:0]  ky_q, kx_q;
  walk_addr_t  row_q, col_q;  // ky * pitch, kx * distance
  logic [8:0]  taps_q;
  logic [TapBits-1:0] offset_q;
  walk_addr_t  line, byte_x;
  logic        x_last;

  assign addr_o = win_addr_i + row_q + col_q;
  assign line   = win_line_i + WalkBits'(ky_q);
  assign byte_x = win_byte_i + col_q;

  // The comparison is unsigned: a negative coordinate is a large number, so its tap misses.
  assign hit_o   = line < WalkBits'(lines_i) && byte_x < WalkBits'(line_bytes_i);
  assign first_o = ky_q == '0 && kx_q == '0;
  assign x_last  = kx_q == kw_end_i;
  assign last_o  = x_last && ky_q == kh_end_i;
  assign taps_o   = taps_q + 9'(hit_o);
  assign offset_o = hit_o ? offset_q + TapBits'(zero_i) : offset_q;

  always_ff @(posedge clk_i) begin
    if (load_i || (next_i && last_o)) begin
      ky_q   <= '0;
      kx_q   <= '0;
      row_q  <= '0;
      col_q  <= '0;
      taps_q <= '0;
      offset_q <= '0;
    end else if (next_i) begin
      kx_q   <= x_last ? '0 : kx_q + 1'b1;
      col_q  <= x_last ? '0 : col_q + WalkBits'(kx_i);
      taps_q <= taps_o;
      offset_q <= offset_o;
      if (x_last) begin
        ky_q  <= ky_q + 1'b1;
        row_q <= row_q + WalkBits'(pitch_i);
      end
    end
  end
endmodule
