// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Proof of systole_link_buffer (verif/formal/link.py), for all packets and all time. Good packets keep to the credits.
// Bad ones keep to nothing and may break off. The outputs must never be high:
//   credit_o  the credits given out are not the size of the buffer plus the flits that were read
//   full_o    the buffer holds more flits than it has entries and an output register
//   data_o    the output is not the oldest flit of the good packets
//   lost_o    for four cycles the reader is ready and the buffer holds flits of good packets, but none comes out

module systole_link_buffer_props
  import systole_link_pkg::*;
#(
    parameter int unsigned Depth = 4
) (
    input  logic clk_i,
    input  logic push_i, first_i, last_i, commit_i, data_i, ready_i,
    output logic credit_o, full_o, data_o, lost_o
);
  localparam int unsigned Held = 4 * Depth;  // size of the reference, a power of two
  localparam int unsigned Bits = $clog2(Held);
  typedef logic [CreditBits-1:0] total_t;
  logic   rst_q, open_q, commit, push, valid, last, data, pop;
  total_t limit, used_q, popped_q, length_q, length, room_q, room;
  logic [1:0] wait_q;
  initial {rst_q, open_q} = '0;

  // A good packet has credits for all its flits, and begins with its first flit.
  assign push   = rst_q && push_i;
  assign length = (first_i ? total_t'(1) : length_q + 1'b1);
  assign room   = first_i ? limit - used_q : room_q;  // the credits left when the packet began
  assign commit = commit_i && (first_i || open_q) && room >= length && 32'(length) <= Depth;
  systole_link_buffer #(.FlitBits(1), .Depth(Depth)) u_dut (
      .clk_i, .rst_ni(rst_q), .push_i(push), .first_i(first_i || !open_q), .last_i, .commit_i(commit), .data_i, .limit_o(limit), .valid_o(valid),
      .ready_i, .last_o(last), .data_o(data)
  );
  assign pop = rst_q && valid && ready_i;

  // Reference: the flits of packets. They are kept if their packet is good.
  logic [Held-1:0][1:0] flit_q;
  logic [Bits-1:0]      at;
  assign at = Bits'(used_q + length - 1'b1);
  always_ff @(posedge clk_i) begin
    rst_q <= 1'b1;
    if (push && (first_i || open_q)) flit_q[at] <= {last_i, data_i};
    if (!rst_q) begin
      {open_q, used_q, popped_q, length_q, wait_q} <= '0;
    end else begin
      if (push) open_q <= !last_i && (first_i || open_q) && 32'(length) < Depth;
      if (push) length_q <= length;
      if (push) room_q <= room;
      if (push && last_i && commit) used_q <= used_q + length;
      if (pop) popped_q <= popped_q + 1'b1;
      wait_q <= used_q == popped_q || pop || !ready_i ? '0 : wait_q == 2'd3 ? wait_q : wait_q + 1'b1;
    end
  end
  assign credit_o = rst_q && limit != total_t'(popped_q + total_t'(valid) + total_t'(Depth));
  assign full_o   = rst_q && 32'(total_t'(used_q - popped_q)) > Depth + 1;
  assign data_o   = pop && (used_q == popped_q || {last, data} != flit_q[Bits'(popped_q)]);
  assign lost_o   = rst_q && wait_q == 2'd3;
endmodule
