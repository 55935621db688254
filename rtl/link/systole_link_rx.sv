// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Receiving side of a link: checks length, CRC and number of what comes from the lanes. A numbered packet that is the next one goes
// to the receive buffers, which learn with its last flit whether it is right; nothing else leaves. An older one is acknowledged once
// more. A wrong packet, a flit without a packet, or a number too high asks for a replay, unless one was asked for before that the
// other end has not acted upon.
// A packet ends where its head's length says, and at the latest where another one begins. One flit a cycle; latency two cycles.
// Docs: docs/link.md. Test: tests/rtl/link. Proof: verif/formal/link.py.

module systole_link_rx
  import systole_link_pkg::*;
#(
    parameter int unsigned FlitBits = 128
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  hold_i,    // the lanes are in training: what was begun is forgotten

    // Lanes.
    input  logic                  valid_i,
    input  logic                  first_i,
    input  logic                  error_i,   // the lanes' tags disagree
    input  logic [FlitBits-1:0]   data_i,

    // Receive buffers.
    output logic [Vcs-1:0]        push_o,
    output logic                  first_o,
    output logic                  last_o,
    output logic                  commit_o,
    output logic [FlitBits-1:0]   data_o,

    // Of the other direction.
    output logic                  control_valid_o,
    output control_t              control_o,

    // For the other end, and its answer: the request to replay that it has acted upon.
    input  logic [NackBits-1:0]   seen_i,
    output logic [SeqBits-1:0]    ack_o,
    output logic [NackBits-1:0]   nack_o,
    output logic                  again_o,

    output logic                  accept_o,  // a numbered packet
    output logic [LengthBits-1:0] length_o,  // its payload
    output logic                  error_o    // a wrong packet, or a flit without one
);
  localparam int unsigned FlitBytes = FlitBits / 8;
  localparam int unsigned Shift = $clog2(FlitBytes);
  localparam int unsigned Slices = FlitBytes / SliceBytes;
  localparam int unsigned LeftBits = $clog2(PacketFlits + 1);
  typedef logic [LeftBits-1:0] left_t;

  function automatic logic numbered(kind_e kind);
    return kind == KindWrite || kind == KindPost || kind == KindPoison;
  endfunction

  // What the lanes deliver.
  logic                valid1_q, first1_q, error1_q;
  logic [FlitBits-1:0] data1_q;
  // Where in a packet it is.
  left_t               left_q, left;
  logic                bad_q, bad, legal, last1, stray;
  // verilator lint_off UNUSEDSIGNAL
  head_t               head1;
  // verilator lint_on UNUSEDSIGNAL
  logic [LengthBits:0] padded;
  logic [31:0]         crc_q [Slices], crc [Slices], next [Slices];
  // The flit after that, with the CRC up to it.
  logic                valid2_q, first2_q, last2_q, bad2_q, stray2_q;
  logic [FlitBits-1:0] data2_q;
  kind_e               kind2_q;  // of the packet
  logic                vc2_q;
  logic [SeqBits-1:0]  seq2_q;
  logic [LengthBits-1:0] length2_q;
  logic                use_q, use2, right, next_one, older, problem;
  logic [SeqBits-1:0]  ack_q;
  logic [NackBits-1:0] nack_q;

  assign head1  = head_t'(data1_q[HeadBits-1:0]);
  assign padded = {1'b0, head1.length} + (LengthBits + 1)'(FlitBytes - 1);
  assign legal  = head1.kind == KindWrite ? head1.length != '0 && 32'(head1.length) <= PayloadFlits * FlitBytes :
                  head1.kind == KindCtrl || (numbered(head1.kind) && head1.length == '0);

  always_comb begin
    // left: flits that follow this one.
    left  = first1_q ? '0 : left_q - 1'b1;
    if (first1_q && head1.kind == KindWrite) left = left_t'(padded >> Shift);
    last1 = left == '0 || (first1_q && !legal);
    bad   = error1_q || (first1_q ? !legal : bad_q);
    // Not of a packet; or the first of one where the one before should go on.
    stray = first1_q ? left_q != '0 : left_q == '0;
    for (int unsigned s = 0; s < Slices; s++) crc[s] = first1_q ? CrcStart ^ s : crc_q[s];
  end

  for (genvar s = 0; s < Slices; s++) begin : gen_slice
    systole_link_crc u_crc (
        .state_i(crc[s]), .slice_i(data1_q[8*SliceBytes*s+:8*SliceBytes]),
        // verilator lint_off PINCONNECTEMPTY
        .part_o(),
        // verilator lint_on PINCONNECTEMPTY
        .next_o(next[s])
    );
  end

  always_ff @(posedge clk_i) begin
    first1_q <= first_i;
    error1_q <= error_i;
    data1_q  <= data_i;
    if (valid1_q) begin
      crc_q    <= next;
      bad_q    <= bad;
      data2_q  <= data1_q;
      first2_q <= first1_q;
      last2_q  <= last1;
      bad2_q   <= bad;
      if (first1_q) {kind2_q, vc2_q, seq2_q, length2_q} <= {head1.kind, head1.vc, head1.seq, head1.length};
    end
  end

  // The verdict.
  always_comb begin
    right = !bad2_q;
    for (int unsigned s = 0; s < Slices; s++) right &= crc_q[s] == CrcResidue;
  end
  assign next_one = seq2_q == ack_q;
  assign older    = SeqBits'(ack_q - seq2_q - 1'b1) < SeqBits'(1 << (SeqBits - 1));
  assign use2     = first2_q ? numbered(kind2_q) && next_one : use_q;
  assign accept_o = valid2_q && last2_q && right && use2;
  assign problem  = valid2_q && (stray2_q || (last2_q && !right) ||
                                 (last2_q && numbered(kind2_q) && !next_one && !older));

  assign push_o   = Vcs'({valid2_q && use2 && vc2_q, valid2_q && use2 && !vc2_q});
  assign first_o  = first2_q;
  assign last_o   = last2_q;
  assign commit_o = right;
  assign data_o   = data2_q;

  assign control_valid_o = valid2_q && last2_q && right && kind2_q == KindCtrl;
  assign control_o       = control_t'(data2_q[HeadBits-1:0]);
  assign ack_o           = ack_q;
  assign nack_o          = nack_q;
  assign again_o         = valid2_q && last2_q && right && numbered(kind2_q) && older;
  assign length_o        = length2_q;
  assign error_o         = valid2_q && (stray2_q || (last2_q && !right));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid1_q  <= 1'b0;
      valid2_q  <= 1'b0;
      stray2_q  <= 1'b0;
      left_q    <= '0;
      use_q     <= 1'b0;
      ack_q     <= '0;
      nack_q    <= '0;
    end else begin
      valid1_q <= valid_i && !hold_i;
      if (hold_i) left_q <= '0;
      else if (valid1_q && (first1_q || left_q != '0)) left_q <= last1 ? '0 : left;
      valid2_q <= valid1_q && !hold_i;
      stray2_q <= valid1_q && stray;
      if (valid2_q) use_q <= use2 && !last2_q;
      if (accept_o) ack_q <= ack_q + 1'b1;
      if (problem && !accept_o && seen_i == nack_q) nack_q <= nack_q + 1'b1;
    end
  end

  // Only packets that are right, and the next, are accepted.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_right : assert (!accept_o || (right && next_one));
      a_one : assert (push_o == '0 || $onehot(push_o));
    end
  end
endmodule
