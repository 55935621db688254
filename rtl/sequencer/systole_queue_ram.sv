// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Descriptors that wait, of all queues in one memory: one is written and one read a cycle. What is written counts when the
// sequencer commits it, a cycle later. A queue that wants its next descriptor has it two cycles after the commit at the earliest;
// the lowest queue goes first. Docs: docs/sequencer.md. Test: tests/rtl/sequencer.

module systole_queue_ram
  import systole_isa_pkg::*;
#(
    parameter int unsigned Depth = 8,   // descriptors of a queue
    parameter int unsigned Width = 64,  // bits of one with what goes beside it
    parameter bit          Parity = 1'b0  // the pointers and counts are compared with each other
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 freeze_i,

    // From the sequencer; one queue at most.
    input  logic [NumQueues-1:0] write_i,    // only while ready
    output logic [NumQueues-1:0] ready_o,
    input  logic [Width-1:0]     data_i,
    input  logic [NumQueues-1:0] commit_i,   // what was written in the last cycle counts

    // To the queues.
    input  logic [NumQueues-1:0] want_i,     // the head is empty; may be withdrawn
    output logic [NumQueues-1:0] fill_o,     // data_o is this queue's; one at most
    output logic [Width-1:0]     data_o,
    output logic [NumQueues-1:0] empty_o,    // nothing is written that has not left
    output logic [NumQueues-1:0] bad_o       // they did not agree a cycle ago
);
  localparam int unsigned PtrBits = Depth > 1 ? $clog2(Depth) : 1;
  localparam int unsigned CountBits = $clog2(Depth + 1);
  localparam int unsigned QueueBits = $clog2(NumQueues);
  typedef logic [PtrBits-1:0]   ptr_t;
  typedef logic [CountBits-1:0] count_t;
  typedef logic [QueueBits+PtrBits-1:0] row_t;

  ptr_t                 wr_ptr_q [NumQueues];
  ptr_t                 rd_ptr_q [NumQueues];
  count_t               held_q   [NumQueues];  // places taken
  count_t               avail_q  [NumQueues];  // committed and not read
  logic [NumQueues-1:0] read, open, turn, fill_q, written_q;
  row_t                 wr_row, rd_row;

  function automatic ptr_t next(ptr_t ptr);
    return 32'(ptr) == Depth - 1 ? '0 : ptr + 1'b1;
  endfunction

  // The lowest queue that wants something and has it. What was written in the last cycle is read on the way to its commit, which is known
  // late: without one the sequencer stops, and the read was for nothing.
  always_comb begin
    for (int unsigned q = 0; q < NumQueues; q++) begin
      ready_o[q] = held_q[q] != count_t'(Depth);
      empty_o[q] = held_q[q] == '0;
      open[q]    = want_i[q] && !fill_q[q] && !freeze_i && (avail_q[q] != '0 || written_q[q]);
    end
    turn   = open & (~open + 1'b1);
    wr_row = '0;
    rd_row = '0;
    for (int unsigned q = 0; q < NumQueues; q++) begin
      if (write_i[q]) wr_row |= {QueueBits'(q), wr_ptr_q[q]};
      if (turn[q]) rd_row |= {QueueBits'(q), rd_ptr_q[q]};
      read[q] = turn[q] && (avail_q[q] != '0 || commit_i[q]);
    end
  end
  assign fill_o = fill_q;

  systole_prim_ram_1r1w #(.Width(Width), .Depth(1 << (QueueBits + PtrBits)), .AnyOnCollision(1'b1), .Style("block")) u_ram (
      .clk_i, .we_i(write_i != '0), .waddr_i(wr_row), .wdata_i(data_i), .re_i(turn != '0), .raddr_i(rd_row), .rdata_o(data_o)
  );

  for (genvar q = 0; q < NumQueues; q++) begin : gen_queue
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        wr_ptr_q[q] <= '0;
        rd_ptr_q[q] <= '0;
        held_q[q]   <= '0;
        avail_q[q]  <= '0;
        fill_q[q]   <= 1'b0;
      end else begin
        fill_q[q] <= read[q];
        if (write_i[q]) wr_ptr_q[q] <= next(wr_ptr_q[q]);
        if (read[q]) rd_ptr_q[q] <= next(rd_ptr_q[q]);
        held_q[q]  <= held_q[q] + count_t'(write_i[q]) - count_t'(fill_q[q]);
        avail_q[q] <= avail_q[q] + count_t'(commit_i[q]) - count_t'(read[q]);
      end
    end
  end

  // What is held is available, leaves, or came in the last cycle, and lies between the pointers.
  always_ff @(posedge clk_i) written_q <= rst_ni ? write_i : '0;
  if (Parity) begin : gen_parity
    localparam bit Wraps = Depth == 1 << PtrBits;  // pointers are compared where they wrap by themselves
    for (genvar q = 0; q < NumQueues; q++) begin : gen_bad
      count_t here;
      assign here = held_q[q] - count_t'(fill_q[q]);
      always_ff @(posedge clk_i) begin
        bad_o[q] <= rst_ni && (here != avail_q[q] + count_t'(written_q[q]) || (Wraps && ptr_t'(here) != wr_ptr_q[q] - rd_ptr_q[q]));
      end
    end
  end else begin : gen_no_parity
    assign bad_o = '0;
  end

  // One descriptor at a time, into a place that is free; what is committed was written.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_one : assert ((write_i & (write_i - 1'b1)) == '0 && (fill_o & (fill_o - 1'b1)) == '0);
      a_room : assert ((write_i & ~ready_o) == '0);
      a_commit : assert ((commit_i & ~written_q) == '0);
      for (int unsigned q = 0; q < NumQueues; q++) a_counts : assert (avail_q[q] <= held_q[q] && 32'(held_q[q]) <= Depth);
    end
  end
endmodule
