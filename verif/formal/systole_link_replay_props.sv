// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Proof of systole_link_replay (verif/formal/link.py) with numbers of three bits: any packets of one or two flits, any
// acknowledgements of packets that were sent (also during a replay), any nacks and trainings. As in the router, a packet
// is chosen while the last flit of the one before passes, and begins in a later cycle. The data of a packet's flits are
// its number. The outputs must never be high:
//   number_o  a flit goes out with the number of another packet
//   order_o   a packet begins that is neither the one after the last, nor at most Window packets older than the newest
//   whole_o   a packet breaks off without a training, or has the wrong length
//   alias_o   Window packets or more are kept: half of all numbers, so that a number might be ambiguous

module systole_link_replay_props #(
    parameter int unsigned SeqBits = 3,
    parameter int unsigned Depth = 4
) (
    input  logic               clk_i,
    input  logic               choose_i, push_i, two_i, ready_i, nack_i, hold_i, ack_valid_i,
    input  logic [SeqBits-1:0] ack_i,
    output logic               number_o, order_o, whole_o, alias_o
);
  localparam int unsigned Window = 1 << (SeqBits - 1);
  typedef logic [SeqBits-1:0] seq_t;
  logic rst_q, busy_q, second_q, start, push, room, valid, first, last, take, ack, replay, two;
  seq_t pushed_q, acked_q, sent_q, next_q, seq, data, number;
  logic middle_q;
  logic [2**SeqBits-1:0] two_q;  // for each number: its packet has two flits
  initial {rst_q, busy_q, second_q} = '0;

  assign push  = rst_q && push_i && busy_q;
  assign start = rst_q && choose_i && room && (!busy_q || (push && !two));
  assign two  = second_q ? 1'b0 : two_i;
  // Only packets that were sent completely are acknowledged.
  assign ack  = rst_q && ack_valid_i && seq_t'(ack_i - acked_q) <= seq_t'(sent_q - acked_q);
  systole_link_replay #(.FlitBits(SeqBits), .Depth(Depth), .MaxFlits(3), .SeqBits(SeqBits), .Window(Window), .Timeout(3)) u_dut (
      .clk_i, .rst_ni(rst_q), .room_o(room), .push_i(push), .last_i(!two), .data_i(pushed_q),
      .valid_o(valid), .ready_i, .first_o(first), .last_o(last), .seq_o(seq), .data_o(data),
      .ack_valid_i(ack), .ack_i, .nack_i, .hold_i, .drain_i(1'b0), .empty_o(), .progress_o(), .replay_o(replay), .give_up_o()
  );
  assign take   = rst_q && valid && ready_i && !hold_i;
  assign number = middle_q ? seq_t'(next_q - 1'b1) : seq;

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b1;
    if (push && !second_q) two_q[pushed_q] <= two_i;
    if (!rst_q) begin
      {pushed_q, acked_q, sent_q, next_q, middle_q, busy_q, second_q} <= '0;
    end else begin
      if (start) busy_q <= 1'b1;
      else if (push && !two) busy_q <= 1'b0;
      if (push) second_q <= two;
      if (push && !two) pushed_q <= pushed_q + 1'b1;
      if (ack) acked_q <= ack_i;
      if (hold_i) middle_q <= 1'b0;
      else if (take) middle_q <= !last;
      if (take && first) next_q <= seq + 1'b1;
      if (take && last && seq == sent_q) sent_q <= sent_q + 1'b1;
    end
  end
  assign number_o = take && data != seq;
  // Allowed: the packet after the last one or, in a replay, an older one that is kept.
  assign order_o  = take && first && !middle_q && seq != next_q && seq_t'(sent_q - seq) > seq_t'(Window);
  assign whole_o  = take && (first == middle_q || seq != number || last == (first && two_q[seq]));
  assign alias_o  = rst_q && seq_t'(pushed_q - acked_q) >= seq_t'(Window);
  logic unused;
  assign unused = replay;
endmodule
