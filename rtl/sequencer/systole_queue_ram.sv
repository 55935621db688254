// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Descriptor queues of all units in one memory: one write and one read per cycle. A written descriptor becomes valid
// when the sequencer commits it one cycle later. Latency: a queue head receives a descriptor two cycles after the
// commit at the earliest. The lowest requesting queue has priority.
// Docs: docs/sequencer.md. Test: tests/rtl/sequencer.

module systole_queue_ram
  import systole_isa_pkg::*;
#(
    parameter int unsigned Depth = 8,   // descriptors per queue
    parameter int unsigned Width = 64,  // bits of an entry
    parameter bit          Links = 1'b0,  // there is a queue of sends
    parameter bit          Parity = 1'b0  // cross-check pointers and counts
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 freeze_i,

    // From the sequencer; at most one queue per cycle.
    input  logic [NumQueues-1:0] write_i,    // only while ready_o is high
    output logic [NumQueues-1:0] ready_o,
    input  logic [Width-1:0]     data_i,
    input  logic [NumQueues-1:0] commit_i,   // commits the write of the last cycle

    // To the queue heads.
    input  logic [NumQueues-1:0] want_i,     // the head is empty; the request may be withdrawn
    output logic [NumQueues-1:0] fill_o,     // data_o belongs to this queue; at most one
    output logic [Width-1:0]     data_o,
    output logic [NumQueues-1:0] empty_o,    // no entry is written and not read
    output logic [NumQueues-1:0] bad_o       // pointers and counts did not agree in the last cycle
);
  localparam int unsigned PtrBits = Depth > 1 ? $clog2(Depth) : 1;
  localparam int unsigned CountBits = $clog2(Depth + 1);
  localparam int unsigned QueueBits = $clog2(NumQueues);
  typedef logic [PtrBits-1:0]   ptr_t;
  typedef logic [CountBits-1:0] count_t;
  typedef logic [QueueBits+PtrBits-1:0] row_t;

  ptr_t                 wr_ptr_q [NumQueues];
  ptr_t                 rd_ptr_q [NumQueues];
  count_t               held_q   [NumQueues];  // entries used
  count_t               avail_q  [NumQueues];  // entries committed and not read
  logic [NumQueues-1:0] read, open, turn, fill_q, written_q;
  row_t                 wr_row, rd_row;

  function automatic ptr_t next(ptr_t ptr);
    return 32'(ptr) == Depth - 1 ? '0 : ptr + 1'b1;
  endfunction

  // Without links there is no queue of sends.
  localparam logic [NumQueues-1:0] There = Links ? '1 : ~(NumQueues'(1) << QueueSend);
  logic [NumQueues-1:0] write, commit, want;
  assign write  = write_i & There;
  assign commit = commit_i & There;
  assign want   = want_i & There;

  // Grant to the lowest queue that wants a descriptor and has one. The entry written in the last cycle is read before
  // its commit is known, because the commit is late. Without a commit the sequencer stops and the read is discarded.
  always_comb begin
    for (int unsigned q = 0; q < NumQueues; q++) begin
      ready_o[q] = held_q[q] != count_t'(Depth);
      empty_o[q] = held_q[q] == '0;
      open[q]    = want[q] && !fill_q[q] && !freeze_i && (avail_q[q] != '0 || written_q[q]);
    end
    turn   = open & (~open + 1'b1);
    wr_row = '0;
    rd_row = '0;
    for (int unsigned q = 0; q < NumQueues; q++) begin
      if (write[q]) wr_row |= {QueueBits'(q), wr_ptr_q[q]};
      if (turn[q]) rd_row |= {QueueBits'(q), rd_ptr_q[q]};
      read[q] = turn[q] && (avail_q[q] != '0 || commit[q]);
    end
  end
  assign fill_o = fill_q;

  systole_prim_ram_1r1w #(.Width(Width), .Depth(1 << (QueueBits + PtrBits)), .AnyOnCollision(1'b1), .Style("block")) u_ram (
      .clk_i, .we_i(write != '0), .waddr_i(wr_row), .wdata_i(data_i), .re_i(turn != '0), .raddr_i(rd_row), .rdata_o(data_o)
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
        if (write[q]) wr_ptr_q[q] <= next(wr_ptr_q[q]);
        if (read[q]) rd_ptr_q[q] <= next(rd_ptr_q[q]);
        held_q[q]  <= held_q[q] + count_t'(write[q]) - count_t'(fill_q[q]);
        avail_q[q] <= avail_q[q] + count_t'(commit[q]) - count_t'(read[q]);
      end
    end
  end

  // Cross-check: every entry used is available, leaves, or was written in the last cycle, and is between the pointers.
  always_ff @(posedge clk_i) written_q <= rst_ni ? write : '0;
  if (Parity) begin : gen_parity
    localparam bit Wraps = Depth == 1 << PtrBits;  // power of two: the pointers wrap by themselves and can be compared
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

  // Checks: one write and one fill per cycle, into a free entry; only written entries are committed; counts are in
  // range.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_one : assert ((write_i & (write_i - 1'b1)) == '0 && (fill_o & (fill_o - 1'b1)) == '0);
      a_room : assert ((write_i & ~ready_o) == '0);
      a_commit : assert ((commit_i & ~written_q) == '0);
      for (int unsigned q = 0; q < NumQueues; q++) a_counts : assert (avail_q[q] <= held_q[q] && 32'(held_q[q]) <= Depth);
    end
  end
endmodule
