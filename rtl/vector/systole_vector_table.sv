// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The lanes' table of 256 bytes: a byte q becomes byte q + 128 of the table. Each lane has a copy, so all lanes look up in
// parallel. Two stages that never stall: read a word of four bytes | select the byte. A word of the unified buffer is stored at
// four bytes a cycle; loaded_o comes with its last four bytes.
// Docs: docs/vector.md, docs/isa.md. Test: tests/rtl/vector/.

module systole_vector_table
  import systole_vector_pkg::*;
#(
    parameter int unsigned Cols = 8,
    parameter int unsigned Lanes = 8,
    localparam int unsigned Slots = Lanes < 4 ? 4 : Lanes
) (
    input  logic               clk_i,
    input  logic               rst_ni,

    input  logic               load_i,    // pulse: word_i is the next of the table's TableBytes / Cols words
    input  logic [Cols*8-1:0]  word_i,
    output logic               loaded_o,  // pulse: the word is in the table

    input  logic               valid_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [Slots*8-1:0] data_i,    // with fewer than 4 lanes, only the lowest bytes are used
    // verilator lint_on UNUSEDSIGNAL
    output logic               valid_o,   // two cycles later
    output logic [Slots*8-1:0] data_o
);
  localparam int unsigned Quads = Cols / 4;
  localparam int unsigned QuadBits = $clog2(Quads);
  localparam int unsigned Depth = TableBytes / 4;

  // Loading.
  logic                     loading_q;
  logic [Cols*8-1:0]        word_q;
  logic [QuadBits-1:0]      quad_q;
  logic [$clog2(Depth)-1:0] row_q;

  assign loaded_o = loading_q && quad_q == QuadBits'(Quads - 1);

  always_ff @(posedge clk_i) begin
    if (load_i) word_q <= word_i;
    else if (loading_q) word_q <= word_q >> 32;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      loading_q <= 1'b0;
      quad_q    <= '0;
      row_q     <= '0;
    end else begin
      loading_q <= load_i || (loading_q && !loaded_o);
      if (loading_q) begin
        quad_q <= quad_q + 1'b1;
        row_q  <= row_q + 1'b1;
      end
    end
  end

  // Lookup.
  logic        valid_q;
  logic [31:0] four_q [Lanes];
  logic [7:0]  byte_q [Lanes];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      valid_o <= 1'b0;
    end else begin
      valid_q <= valid_i;
      valid_o <= valid_q;
    end
  end

  for (genvar c = 0; c < Lanes; c++) begin : gen_lane
    logic [7:0]  index;
    logic [31:0] four;
    assign index     = data_i[c*8+:8] ^ 8'h80;
    assign four_q[c] = four;
    systole_prim_ram_1r1w #(.Width(32), .Depth(Depth), .AnyOnCollision(1'b1)) u_ram (
        .clk_i,
        .we_i   (loading_q),
        .waddr_i(row_q),
        .wdata_i(word_q[31:0]),
        .re_i   (valid_i),
        .raddr_i(index[7:2]),
        .rdata_o(four)
    );
    always_ff @(posedge clk_i) begin
      if (valid_i) byte_q[c] <= index;
    end
  end

  always_ff @(posedge clk_i) begin : choose
    logic [7:0]         y_v [Slots];
    logic [Slots*8-1:0] out_v;
    if (valid_q) begin
      for (int unsigned c = 0; c < Slots; c++) begin
        logic [31:0] four;
        four   = c < Lanes ? four_q[c%Lanes] : '0;
        y_v[c] = four[{byte_q[c%Lanes][1:0], 3'b000}+:8];
      end
      for (int unsigned w = 0; w < Slots / 4; w++) out_v[w*32+:32] = {y_v[4*w+3], y_v[4*w+2], y_v[4*w+1], y_v[4*w]};
      data_o <= out_v;
    end
  end

  // Checks: a word comes only after the previous one is stored, and never during a lookup.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_load : assert (!(load_i && loading_q));
      a_apart : assert (!(valid_i && (load_i || loading_q)));
    end
  end
endmodule
