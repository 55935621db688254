// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Sending side of a link: packets of the replay buffer and CTRL packets become flits with number and CRC. A CTRL packet goes out
// between two packets: at once if what it says has changed and no packet waits, else after CtrlPackets packets; a nack, or that
// one was acted upon, before the next packet; and in any case one in KeepAlive cycles, which makes good one that was lost. One flit a cycle; latency two cycles.
// Docs: docs/link.md. Test: tests/rtl/link. Proof: verif/formal/link.py.

module systole_link_tx
  import systole_link_pkg::*;
#(
    parameter int unsigned FlitBits = 128,
    parameter int unsigned CtrlPackets = 2,
    parameter int unsigned KeepAlive = 128
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  hold_i,   // the lanes are in training: begin again with a packet's first flit

    // What the receiving side wants to tell the other end.
    input  logic [SeqBits-1:0]    ack_i,
    input  logic [NackBits-1:0]   nack_i,
    input  logic [NackBits-1:0]   seen_i,
    input  logic [Vcs-1:0][CreditBits-1:0] limit_i,
    input  logic                  again_i,  // a packet came that had been accepted: say so once more
    input  logic [IdentityBits-1:0] identity_i,  // of this end; stays

    // Replay buffer.
    input  logic                  valid_i,
    output logic                  ready_o,
    input  logic                  first_i,
    input  logic                  last_i,
    input  logic [SeqBits-1:0]    seq_i,
    input  logic [FlitBits-1:0]   data_i,

    // Lanes.
    output logic                  valid_o,
    input  logic                  ready_i,
    output logic                  first_o,
    output logic [FlitBits-1:0]   data_o,
    output logic                  sent_o    // the first flit of a numbered packet was taken from the replay buffer
);
  localparam int unsigned Slices = FlitBits / (8 * SliceBytes);
  localparam int unsigned AliveBits = $clog2(KeepAlive + 1);
  localparam int unsigned PacketBits = $clog2(CtrlPackets + 1);

  // What was told last.
  logic [SeqBits-1:0]    ack_q;
  logic [NackBits-1:0]   nack_q, seen_q;
  logic [Vcs-1:0][CreditBits-1:0] limit_q;
  logic                  again_q, news, urgent, due, due_q, turn, ctrl, free, free2, valid1_q, middle_q;
  logic [AliveBits-1:0]  alive_q;
  logic [PacketBits-1:0] packets_q;

  assign news   = ack_i != ack_q || limit_i != limit_q || again_q || urgent;
  assign urgent = nack_i != nack_q || seen_i != seen_q;
  assign due    = alive_q == '0 || urgent || (news && (!valid_i || packets_q == PacketBits'(CtrlPackets)));
  assign free   = (!valid1_q || free2) && !hold_i;
  assign turn   = !middle_q && due_q;  // of a CTRL packet: known before the lanes are ready
  assign ctrl   = free && turn;

  control_t control;
  assign control = '{
      zero: '0, identity: identity_i, limit1: limit_i[1], limit0: limit_i[0], seen: seen_i, nack: nack_i, ack: ack_i,
      kind: KindCtrl};

  // A flit with the number in its head.
  logic                go, first, last;
  logic [FlitBits-1:0] flit;
  head_t               head;
  assign ready_o = free && !ctrl;
  assign go      = ctrl || (free && valid_i);
  assign first   = turn || first_i;
  assign last    = turn || last_i;
  assign sent_o  = valid_i && ready_o && first_i;
  always_comb begin
    head     = head_t'(data_i[HeadBits-1:0]);
    head.seq = seq_i;
    flit     = turn ? '0 : data_i;
    if (first) flit[HeadBits-1:0] = turn ? control : head;
  end

  // A cycle later: with the CRC in the last bytes.
  logic                first1_q, last1_q, go2;
  logic [FlitBits-1:0] flit1_q, out;
  logic [31:0]         crc_q [Slices], crc [Slices], part [Slices], next [Slices];
  assign free2 = !valid_o || ready_i;
  assign go2   = valid1_q && free2;
  always_comb begin
    for (int unsigned s = 0; s < Slices; s++) crc[s] = first1_q ? CrcStart ^ s : crc_q[s];
  end
  always_comb begin
    out = flit1_q;
    for (int unsigned s = 0; s < Slices; s++) begin
      if (last1_q) out[8*SliceBytes*s+8*(SliceBytes-CrcBytes)+:8*CrcBytes] = ~part[s];
    end
  end

  for (genvar s = 0; s < Slices; s++) begin : gen_slice
    systole_link_crc u_crc (
        .state_i(crc[s]), .slice_i(flit1_q[8*SliceBytes*s+:8*SliceBytes]), .part_o(part[s]), .next_o(next[s])
    );
  end

  logic                valid_q, first_q;
  logic [FlitBits-1:0] data_q;
  assign valid_o = valid_q;
  assign first_o = first_q;
  assign data_o  = data_q;

  always_ff @(posedge clk_i) begin
    if (go) {flit1_q, first1_q, last1_q} <= {flit, first, last};
    if (go2) begin
      data_q  <= out;
      first_q <= first1_q;
      crc_q   <= next;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid1_q  <= 1'b0;
      valid_q   <= 1'b0;
      middle_q  <= 1'b0;
      again_q   <= 1'b0;
      due_q     <= 1'b0;
      ack_q     <= '0;
      nack_q    <= '0;
      seen_q    <= '0;
      limit_q   <= '0;
      alive_q   <= '0;
      packets_q <= '0;
    end else begin
      if (hold_i) valid1_q <= 1'b0;
      else if (go) valid1_q <= 1'b1;
      else if (free2) valid1_q <= 1'b0;
      if (hold_i) valid_q <= 1'b0;
      else if (go2) valid_q <= 1'b1;
      else if (ready_i) valid_q <= 1'b0;
      if (hold_i) middle_q <= 1'b0;
      else if (go) middle_q <= !last;

      if (hold_i || ctrl) alive_q <= hold_i ? '0 : AliveBits'(KeepAlive);
      else if (alive_q != '0) alive_q <= alive_q - 1'b1;
      if (ctrl) packets_q <= '0;
      else if (go && first && packets_q != PacketBits'(CtrlPackets)) packets_q <= packets_q + 1'b1;
      again_q <= again_i || (again_q && !ctrl);
      due_q   <= due && !ctrl;
      if (ctrl) begin
        ack_q   <= ack_i;
        nack_q  <= nack_i;
        seen_q  <= seen_i;
        limit_q <= limit_i;
      end
    end
  end

  // A packet's flits follow each other, the first one with the head.
  always_ff @(posedge clk_i) begin
    if (rst_ni && !hold_i) begin
      a_first : assert (!(valid_i && ready_o) || first_i == !middle_q);
    end
  end
endmodule
