// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Takes packets for a chip's cores apart: each cycle of the output is a flit of payload with its mask and, in the head, its address;
// or a packet without payload. A WRITE's first flit brings no output. Latency: none. Docs: docs/link.md. Test: tests/rtl/link.

module systole_link_unpack
  import systole_link_pkg::*;
#(
    parameter int unsigned FlitBits = 128,
    localparam int unsigned FlitBytes = FlitBits / 8
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,

    input  logic                 valid_i,
    output logic                 ready_o,
    input  logic                 last_i,
    input  logic [FlitBits-1:0]  data_i,

    output logic                 valid_o,
    input  logic                 ready_i,
    output head_t                head_o,   // WRITE: with the flit's address, and the bytes of payload from there on
    output logic                 last_o,
    output logic [FlitBits-1:0]  data_o,
    output logic [FlitBytes-1:0] mask_o
);
  localparam int unsigned SliceBits = 8 * SliceBytes;
  localparam int unsigned Slices = FlitBits / SliceBits;
  localparam int unsigned Rest = SliceBits - HeadBits;

  logic                        middle_q, bare;
  logic [Slices-1:0][Rest-1:0] held_q;   // payload that came before this flit
  head_t                       head, head_q;

  assign head    = head_t'(data_i[HeadBits-1:0]);
  assign bare    = !middle_q && head.kind != KindWrite;
  assign valid_o = valid_i && (middle_q || bare);
  assign ready_o = ready_i || !(middle_q || bare);
  assign head_o  = middle_q ? head_q : head;
  assign last_o  = last_i;
  always_comb begin
    for (int unsigned s = 0; s < Slices; s++) data_o[s*SliceBits+:SliceBits] = {data_i[s*SliceBits+:HeadBits], held_q[s]};
    for (int unsigned i = 0; i < FlitBytes; i++) mask_o[i] = middle_q && i < 32'(head_q.length);
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && ready_o) begin
      for (int unsigned s = 0; s < Slices; s++) held_q[s] <= data_i[s*SliceBits+HeadBits+:Rest];
      if (!middle_q) begin
        head_q <= head;
      end else begin
        head_q.address <= head_q.address + AddressBits'(FlitBytes);
        head_q.length  <= head_q.length - LengthBits'(FlitBytes);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) middle_q <= 1'b0;
    else if (valid_i && ready_o) middle_q <= !last_i;
  end

  // A packet is as long as its head says.
  always_ff @(posedge clk_i) begin
    if (rst_ni && valid_o) a_length : assert (last_i == (bare || 32'(head_q.length) <= FlitBytes));
  end
endmodule
