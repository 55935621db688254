// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Head of a unit's queue: takes the next descriptor from systole_queue_ram, waits for its flags, offers it to the unit,
// and lists the descriptors in flight. When the unit is done with the oldest one, it makes its posts and retires it.
// Outputs to the unit are registered.
// Docs: docs/sequencer.md. Test: tests/rtl/sequencer.

module systole_unit_queue
  import systole_isa_pkg::*;
  import systole_presets_pkg::PcBits;
  import systole_control_pkg::*;
  import systole_bus_pkg::unit_req_t;
#(
    parameter int unsigned InFlight = 8,  // descriptors in flight in the unit, a power of two
    parameter bit          Parity = 1'b0
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                freeze_i,     // start nothing

    // Waiting descriptors.
    output logic                want_o,
    input  logic                fill_i,
    input  desc_t               fill_desc_i,
    input  logic [PcBits-1:0]   fill_index_i,
    input  logic                fill_free_i,  // the descriptor waits for no flag
    input  logic                fill_parity_i,  // of the descriptor and fill_free_i

    // Sync flags (systole_sync).
    output logic                flag_want_o,
    output logic [NumFlags-1:0] flag_wait_o,
    input  logic                flag_met_i,   // all flags are set and are taken in this cycle
    output logic [NumFlags-1:0] post_o,
    output logic                post_parity_o,

    // Unit.
    output unit_req_t           req_o,
    input  logic                start_ready_i,
    input  logic                done_i,

    // Index of a descriptor, for the fault latch.
    input  logic                posted_hold_i,
    input  place_e              place_i,
    output logic [PcBits-1:0]   index_o,      // one cycle after place_i

    // Bit flips found in the last cycle: in the head, in the list in flight. The receiver of the posts checks their
    // parity.
    output logic                head_bad_o,
    output logic                flight_bad_o,

    // State.
    output logic                idle_o,         // no head and nothing in flight
    output logic                busy_o,         // something is in flight
    output logic                waiting_o,      // in the last cycle the head waited for flags that were not set
    output logic                retire_valid_o, // one cycle after done_i
    output logic [PcBits-1:0]   retire_index_o
);
  localparam int unsigned PtrBits = $clog2(InFlight) + 1;
  typedef logic [PtrBits-1:0] ptr_t;

  // The head.
  logic              head_valid_q, granted_q, waiting_q, offer, start, full, hold;
  desc_t             head_q;
  logic [PcBits-1:0] head_index_q;
  // verilator lint_off UNUSEDSIGNAL
  header_desc_t      header;  // only the masks are used
  // verilator lint_on UNUSEDSIGNAL

  // Path into the head.
  systole_prim_hold u_hold (.clk_i, .hold_o(hold));

  assign header        = header_desc_t'(head_q);
  assign want_o        = !head_valid_q && !hold;
  assign flag_want_o   = head_valid_q && !granted_q;
  assign flag_wait_o   = header.wait_mask;
  assign offer         = granted_q && !full && !freeze_i;
  assign start         = offer && start_ready_i;
  assign req_o         = '{peek: head_valid_q, valid: offer, desc: head_q};

  always_ff @(posedge clk_i) begin
    if (fill_i) begin
      head_q       <= fill_desc_i;
      head_index_q <= fill_index_i;
    end
  end

  // Descriptors in flight, oldest first. The list has twice as many entries as descriptors may be in flight, and the
  // head's entry is written after the newest one. So the fault latch finds the index of each, also after it retired.
  ptr_t in_ptr_q, out_ptr_q, out_ptr, flights, posted_q, posted2_q, place;
  logic [PcBits-1:0]   retire_index, place_index;
  logic [NumFlags-1:0] oldest_post;

  assign flights = in_ptr_q - out_ptr_q;
  assign full    = flights[PtrBits-1];
  assign post_o  = done_i ? oldest_post : '0;
  assign out_ptr = done_i ? out_ptr_q + 1'b1 : out_ptr_q;

  systole_prim_ram_async #(.Width(PcBits), .Depth(1 << PtrBits), .Reads(2), .Style("distributed")) u_index (
      .clk_i, .we_i(head_valid_q), .waddr_i(in_ptr_q), .wdata_i(head_index_q),
      .raddr_i({place, out_ptr_q}), .rdata_o({place_index, retire_index})
  );
  systole_prim_ram_1r1w #(.Width(NumFlags), .Depth(1 << PtrBits), .Style("distributed")) u_post (
      .clk_i, .we_i(head_valid_q), .waddr_i(in_ptr_q), .wdata_i(header.post_mask),
      .re_i(1'b1), .raddr_i(out_ptr), .rdata_o(oldest_post)
  );

  always_ff @(posedge clk_i) begin
    posted_q       <= out_ptr_q;
    retire_index_o <= retire_index;
    index_o        <= place_index;
    if (!posted_hold_i) posted2_q <= posted_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_valid_q   <= 1'b0;
      granted_q      <= 1'b0;
      waiting_q      <= 1'b0;
      in_ptr_q       <= '0;
      out_ptr_q      <= '0;
      retire_valid_o <= 1'b0;
    end else begin
      retire_valid_o <= done_i;
      if (fill_i) head_valid_q <= 1'b1;
      else if (start) head_valid_q <= 1'b0;
      if (fill_i) granted_q <= fill_free_i;
      else if (flag_want_o && flag_met_i) granted_q <= 1'b1;
      else if (start) granted_q <= 1'b0;
      waiting_q <= flag_want_o && !flag_met_i;
      if (start) in_ptr_q <= in_ptr_q + 1'b1;
      out_ptr_q <= out_ptr;
    end
  end

  always_comb begin
    unique case (place_i)
      PlaceOldest: place = flights == '0 ? in_ptr_q - 1'b1 : out_ptr_q;
      PlaceNewest: place = in_ptr_q - 1'b1;
      PlacePosted: place = posted2_q;
      default:     place = in_ptr_q;
    endcase
  end

  assign idle_o    = !head_valid_q && flights == '0;
  assign busy_o    = flights != '0;
  assign waiting_o = waiting_q;

  // Parity of the head while it waits, and of the posts in flight when they are made. Single control bits are
  // duplicated.
  if (Parity) begin : gen_parity
    (* keep *) logic no_head_q, not_granted_q;
    logic head_free_q, head_parity_q, oldest_parity;
    always_ff @(posedge clk_i) begin
      if (fill_i) {head_free_q, head_parity_q} <= {fill_free_i, fill_parity_i};
    end
    systole_prim_ram_1r1w #(.Width(1), .Depth(1 << PtrBits), .Style("distributed")) u_post_parity (
        .clk_i, .we_i(head_valid_q), .waddr_i(in_ptr_q), .wdata_i(^header.post_mask),
        .re_i(1'b1), .raddr_i(out_ptr), .rdata_o(oldest_parity)
    );
    assign post_parity_o = done_i && oldest_parity;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        no_head_q     <= 1'b1;
        not_granted_q <= 1'b1;
        head_bad_o    <= 1'b0;
        flight_bad_o  <= 1'b0;
      end else begin
        if (fill_i) no_head_q <= 1'b0;
        else if (start) no_head_q <= 1'b1;
        if (fill_i) not_granted_q <= !fill_free_i;
        else if (flag_want_o && flag_met_i) not_granted_q <= 1'b0;
        else if (start) not_granted_q <= 1'b1;
        head_bad_o   <= (head_valid_q && (^head_q ^ head_free_q ^ head_parity_q)) || head_valid_q == no_head_q
                        || granted_q == not_granted_q;
        flight_bad_o <= (done_i && flights == '0) || 32'(flights) > InFlight;
      end
    end
  end else begin : gen_no_parity
    assign head_bad_o    = 1'b0;
    assign flight_bad_o  = 1'b0;
    assign post_parity_o = 1'b0;
    logic unused;
    assign unused = &{1'b0, fill_parity_i};
  end

  // Checks: a unit completes only what it has, at least two cycles after the start; an offered start holds until it is
  // taken; the head is filled only when it is empty.
  logic held_q, started_q;
  always_ff @(posedge clk_i) begin
    held_q    <= rst_ni && offer && !start_ready_i;
    started_q <= rst_ni && start;
    if (rst_ni) begin
      a_done : assert (!done_i || flights > ptr_t'(started_q));
      a_flights : assert (32'(flights) <= InFlight);
      a_start_holds : assert (!held_q || offer || freeze_i);
      a_fill : assert (!fill_i || !head_valid_q);
      a_granted : assert (!granted_q || head_valid_q);
    end
  end
endmodule
