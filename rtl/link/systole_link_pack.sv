// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Makes packets of what a core sends: a head, and for a WRITE its payload in flits from byte 0 on. The head comes with the first flit;
// a packet without payload is one cycle with last_i. A packet's flits have the payload moved up by the 12 bytes of the head, in each
// slice, and take a cycle more than the payload. Latency: none. Docs: docs/link.md. Test: tests/rtl/link.

module systole_link_pack
  import systole_link_pkg::*;
#(
    parameter int unsigned FlitBits = 128
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic [CoordinateBits-1:0] x_i,
    input  logic [CoordinateBits-1:0] y_i,

    input  logic                      valid_i,
    output logic                      ready_o,
    input  send_t                     head_i,
    input  logic                      last_i,
    input  logic [FlitBits-1:0]       data_i,

    output logic                      valid_o,
    input  logic                      ready_i,
    output logic                      last_o,
    output logic [FlitBits-1:0]       data_o
);
  localparam int unsigned SliceBits = 8 * SliceBytes;
  localparam int unsigned Slices = FlitBits / SliceBits;
  localparam int unsigned Rest = SliceBits - HeadBits;  // of a slice beside a head

  logic                            middle_q, tail_q, bare;
  logic [Slices-1:0][HeadBits-1:0] held_q;  // payload that the next flit begins with
  head_t                           head;

  assign bare    = head_i.kind != KindWrite;
  assign valid_o = tail_q || valid_i;
  assign ready_o = ready_i && !tail_q;
  assign last_o  = tail_q || bare;

  assign head = '{
      zero: '0, seq: '0, address: head_i.address, src_core: head_i.src_core, src_y: y_i, src_x: x_i, dst_core: head_i.dst_core,
      dst_y: head_i.dst_y, dst_x: head_i.dst_x, length: bare ? '0 : head_i.length, tie: head_i.tie, vc: 1'b0, kind: head_i.kind};
  always_comb begin
    for (int unsigned s = 0; s < Slices; s++) begin
      data_o[s*SliceBits+:HeadBits] = middle_q ? held_q[s] : s == 0 ? head : '0;
      data_o[s*SliceBits+HeadBits+:Rest] = tail_q || bare ? '0 : data_i[s*SliceBits+:Rest];
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && ready_o) for (int unsigned s = 0; s < Slices; s++) held_q[s] <= data_i[s*SliceBits+Rest+:HeadBits];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      middle_q <= 1'b0;
      tail_q   <= 1'b0;
    end else if (valid_o && ready_i) begin
      middle_q <= !last_o;
      tail_q   <= !tail_q && !bare && last_i;
    end
  end

  // What a core sends is a packet.
  always_ff @(posedge clk_i) begin
    if (rst_ni && valid_i) begin
      a_kind : assert (head_i.kind == KindWrite || head_i.kind == KindPost);
      a_length : assert (bare || (head_i.length != '0 && 32'(head_i.length) <= PayloadFlits * FlitBits / 8));
      a_last : assert (!bare || last_i);
    end
  end
endmodule
