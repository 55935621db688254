// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Queue of one unit: holds descriptors, starts the head when its flags are there and the unit takes it, keeps the list of what is
// in flight, posts and retires the oldest when the unit is done with it. A descriptor waits here at least two cycles; one can
// start each cycle. Docs: docs/sequencer.md. Test: tests/rtl/sequencer.

module systole_unit_queue
  import systole_isa_pkg::*;
  import systole_presets_pkg::PcBits;
#(
    parameter int unsigned Depth = 8,     // descriptors that wait
    parameter int unsigned InFlight = 8   // descriptors that the unit works on, a power of two
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                freeze_i,     // start nothing

    // From the sequencer.
    input  logic                push_valid_i,
    output logic                push_ready_o,
    input  desc_t               push_desc_i,
    input  logic [PcBits-1:0]   push_index_i,

    // Sync flags (systole_sync).
    output logic [NumFlags-1:0] wait_o,
    input  logic [NumFlags-1:0] unmet_i,
    output logic                take_o,
    output logic [NumFlags-1:0] post_o,

    // Unit.
    output logic                start_valid_o,
    input  logic                start_ready_i,
    output desc_t               start_desc_o,
    input  logic                done_i,

    // State.
    output logic                idle_o,         // nothing queued or in flight
    output logic                busy_o,         // something in flight
    output logic                waiting_o,      // the head waits for flags
    output logic [PcBits-1:0]   head_index_o,
    output logic [PcBits-1:0]   oldest_index_o, // in flight; while done_i is high: of the next in flight
    output logic [PcBits-1:0]   newest_index_o, // started last, before this cycle
    output logic                retire_valid_o,
    output logic [PcBits-1:0]   retire_index_o
);
  localparam int unsigned PtrBits = $clog2(InFlight);

  typedef struct packed {
    logic [PcBits-1:0] index;
    desc_t             desc;
  } entry_t;

  // The FIFO, and its head in registers of its own.
  entry_t                     fifo_entry, head_q;
  logic                       fifo_valid, fifo_pop, head_valid_q, start, head_empty, hold;
  logic [$clog2(Depth+1)-1:0] fifo_count;
  // verilator lint_off UNUSEDSIGNAL
  header_desc_t               head_header;  // the masks alone
  // verilator lint_on UNUSEDSIGNAL

  systole_fifo #(
      .Width($bits(entry_t)),
      .Depth(Depth)
  ) u_fifo (
      .clk_i,
      .rst_ni,
      .valid_i(push_valid_i),
      .ready_o(push_ready_o),
      .data_i ({push_index_i, push_desc_i}),
      .valid_o(fifo_valid),
      .ready_i(fifo_pop),
      .data_o (fifo_entry),
      .count_o(fifo_count)
  );

  // On the way to the head.
  systole_prim_hold u_hold (.clk_i, .hold_o(hold));

  assign head_empty = !head_valid_q || start;
  assign fifo_pop   = fifo_valid && head_empty && !hold;

  always_ff @(posedge clk_i) begin
    if (fifo_pop) head_q <= fifo_entry;
  end

  // In flight, oldest first.
  typedef struct packed {
    logic [PcBits-1:0]   index;
    logic [NumFlags-1:0] post_mask;
  } flight_t;
  flight_t            flight_q [InFlight];
  logic [PtrBits:0]   in_ptr_q, out_ptr_q, flights;
  logic [PtrBits-1:0] next_ptr;
  logic [PcBits-1:0]  newest_q;
  logic               flight_room;

  assign flights     = in_ptr_q - out_ptr_q;
  assign flight_room = flights != (PtrBits + 1)'(InFlight);
  assign next_ptr    = out_ptr_q[PtrBits-1:0] + PtrBits'(done_i);

  assign head_header   = header_desc_t'(head_q.desc);
  assign wait_o        = head_valid_q ? head_header.wait_mask : '0;
  assign start_valid_o = head_valid_q && unmet_i == '0 && flight_room && !freeze_i;
  assign start_desc_o  = head_q.desc;
  assign start         = start_valid_o && start_ready_i;
  assign take_o        = start;
  assign post_o        = done_i ? flight_q[out_ptr_q[PtrBits-1:0]].post_mask : '0;

  always_ff @(posedge clk_i) begin
    if (start) begin
      flight_q[in_ptr_q[PtrBits-1:0]] <= '{index: head_q.index, post_mask: head_header.post_mask};
      newest_q <= head_q.index;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_valid_q <= 1'b0;
      in_ptr_q     <= '0;
      out_ptr_q    <= '0;
    end else begin
      if (head_empty) head_valid_q <= fifo_pop;
      if (start) in_ptr_q <= in_ptr_q + 1'b1;
      if (done_i) out_ptr_q <= out_ptr_q + 1'b1;
    end
  end

  assign idle_o         = !fifo_valid && !head_valid_q && flights == '0;
  assign busy_o         = flights != '0;
  assign waiting_o      = head_valid_q && unmet_i != '0;
  assign head_index_o   = head_q.index;
  assign oldest_index_o = flights == (PtrBits + 1)'(done_i) ? newest_index_o : flight_q[next_ptr].index;
  assign newest_index_o = newest_q;
  assign retire_valid_o = done_i;
  assign retire_index_o = flight_q[out_ptr_q[PtrBits-1:0]].index;

  // A unit completes only what it has; a start that was offered stays until it is taken.
  logic held_q;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && start_valid_o && !start_ready_i;
    if (rst_ni) begin
      a_done : assert (!done_i || flights != '0);
      a_flights : assert (flights <= (PtrBits + 1)'(InFlight));
      a_start_holds : assert (!held_q || start_valid_o || freeze_i);
      a_count : assert (32'(fifo_count) <= Depth);
    end
  end
endmodule
