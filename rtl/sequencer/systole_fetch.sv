// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Prefetches descriptors from HBM in order, in whole beats of D bytes, as far as its buffer has room. Throughput: up to
// one descriptor per cycle (D >= 64). It stops at the end of the program and before a beat outside the memory.
// Docs: docs/sequencer.md. Test: tests/rtl/sequencer.

module systole_fetch
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
#(
    parameter int unsigned D = 64  // bytes per beat
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                start_i,      // pulse: fetch the program
    input  logic                freeze_i,     // make no new request
    input  logic [AddrBits-1:0] prog_addr_i,  // multiple of the beat; this and the next three inputs are stable from two cycles before the start
    input  logic [PcBits-1:0]   prog_len_i,
    input  logic [AddrBits-1:0] hbm_base_i,   // lower bound of every beat
    input  logic [AddrBits:0]   hbm_end_i,    // end of the memory: every beat ends at or below it

    // HBM read client.
    output logic                rd_valid_o,
    input  logic                rd_ready_i,
    output logic [AddrBits-1:0] rd_addr_o,
    input  logic                rd_rsp_valid_i,
    input  logic [D*8-1:0]      rd_rsp_data_i,

    output logic                desc_valid_o,
    input  logic                desc_ready_i,
    output desc_t               desc_o,
    output logic                out_of_range_o,  // all fetched descriptors are consumed, and the next one is outside the memory
    output logic                idle_o           // no read is in flight
);
  localparam int unsigned DescBytes = DescBits / 8;
  localparam int unsigned BeatsPerDesc = D < DescBytes ? DescBytes / D : 1;
  localparam int unsigned DescsPerBeat = D > DescBytes ? D / DescBytes : 1;
  localparam int unsigned StepBytes = D > DescBytes ? D : DescBytes;  // bytes requested per step
  localparam int unsigned Depth = 16 * BeatsPerDesc;  // in beats: one descriptor every 4 cycles at the HBM's latency
  localparam int unsigned PartBits = 4;
  typedef logic [AddrBits+1:0] limit_t;  // an address; negative if the memory is smaller than a step

  // Requests. All conditions are registered; while idle, the registers follow the program's address and length.
  logic                active_q, more_q, in_range_q, ask, credit, outside_q, part_last;
  logic [PcBits-1:0]   left_q;      // descriptors not requested yet
  logic [AddrBits-1:0] addr_q;      // address of the next one; outside the memory only while in_range_q is 0
  limit_t              first_end_q, next_end_q;  // highest legal address of the next descriptor, and of the one after it
  logic [PartBits-1:0] ask_part_q;  // beat within that descriptor
  logic                rd_valid_q;
  logic [AddrBits-1:0] rd_addr_q;

  assign part_last = 32'(ask_part_q) == BeatsPerDesc - 1;
  assign ask       = (active_q || start_i) && more_q && in_range_q && credit && !freeze_i && (!rd_valid_q || rd_ready_i);

  assign rd_valid_o = rd_valid_q;
  assign rd_addr_o  = rd_addr_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q   <= 1'b0;
      rd_valid_q <= 1'b0;
      outside_q  <= 1'b0;
    end else begin
      if (start_i) active_q <= 1'b1;
      else if (!more_q) active_q <= 1'b0;  // everything is requested: the length may change for the next program
      if (ask) rd_valid_q <= 1'b1;
      else if (rd_ready_i) rd_valid_q <= 1'b0;
      outside_q <= active_q && more_q && !in_range_q;
    end
  end

  always_ff @(posedge clk_i) begin
    first_end_q <= limit_t'(hbm_end_i) - limit_t'(StepBytes);
    next_end_q  <= limit_t'(hbm_end_i) - limit_t'(2 * StepBytes);
    if (ask) rd_addr_q <= addr_q + AddrBits'(32'(ask_part_q) * D);
    if (ask) begin
      ask_part_q <= part_last ? '0 : ask_part_q + 1'b1;
      if (part_last) begin
        left_q     <= left_q - PcBits'(DescsPerBeat);
        more_q     <= left_q > PcBits'(DescsPerBeat);
        addr_q     <= addr_q + AddrBits'(StepBytes);
        in_range_q <= signed'(limit_t'(addr_q)) <= signed'(next_end_q);
      end
    end else if (!active_q && !start_i) begin
      left_q     <= prog_len_i;
      more_q     <= prog_len_i != '0;
      addr_q     <= prog_addr_i;
      in_range_q <= prog_addr_i >= hbm_base_i && signed'(limit_t'(prog_addr_i)) <= signed'(first_end_q);
      ask_part_q <= '0;
    end
  end

  // Received beats. A credit covers each beat in flight.
  logic                       beat_valid, beat_ready, no_beats;
  logic [D*8-1:0]             beat;
  logic [$clog2(Depth+1)-1:0] credits, flying_q;
  logic [PartBits-1:0]        part_q;  // beat within a descriptor, or descriptor within a beat

  systole_credit #(.Credits(Depth)) u_credit (
      .clk_i, .rst_ni, .take_i(ask), .give_i(beat_valid && beat_ready), .avail_o(credit), .idle_o(no_beats),
      .count_o(credits)
  );
  systole_dma_buffer #(.Width(D * 8), .Depth(Depth)) u_beats (
      .clk_i, .rst_ni, .push_i(rd_rsp_valid_i), .data_i(rd_rsp_data_i),
      .valid_o(beat_valid), .ready_i(beat_ready), .data_o(beat)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) flying_q <= '0;
    else flying_q <= flying_q + ($clog2(Depth+1))'(ask) - ($clog2(Depth+1))'(rd_rsp_valid_i);
  end

  if (BeatsPerDesc > 1) begin : gen_join
    logic [DescBits-D*8-1:0] low_q;
    logic                    complete;
    assign complete     = 32'(part_q) == BeatsPerDesc - 1;
    assign desc_o       = {beat, low_q};
    assign desc_valid_o = beat_valid && complete;
    assign beat_ready   = !complete || desc_ready_i;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) part_q <= '0;
      else if (beat_valid && beat_ready) part_q <= complete ? '0 : part_q + 1'b1;
    end
    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < BeatsPerDesc - 1; i++) begin
        if (beat_valid && 32'(part_q) == i) low_q[i*D*8+:D*8] <= beat;
      end
    end
  end else begin : gen_split
    assign desc_o       = beat[32'(part_q)*DescBits+:DescBits];
    assign desc_valid_o = beat_valid;
    assign beat_ready   = desc_ready_i && 32'(part_q) == DescsPerBeat - 1;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) part_q <= '0;
      else if (desc_valid_o && desc_ready_i) part_q <= beat_ready ? '0 : part_q + 1'b1;
    end
  end

  assign out_of_range_o = outside_q && no_beats;
  assign idle_o         = flying_q == '0;

  // Checks: every response was requested and has room; a request holds until it is accepted; every beat is inside the
  // memory.
  logic                held_q;
  logic [AddrBits-1:0] held_addr_q;
  always_ff @(posedge clk_i) begin
    held_q      <= rst_ni && rd_valid_o && !rd_ready_i;
    held_addr_q <= rd_addr_o;
    if (rst_ni) begin
      a_asked : assert (!rd_rsp_valid_i || flying_q != '0);
      a_room : assert (32'(credits) + 32'(flying_q) <= Depth);
      a_holds : assert (!held_q || (rd_valid_o && rd_addr_o == held_addr_q));
      a_range : assert (!rd_valid_o || (rd_addr_o >= hbm_base_i && {1'b0, rd_addr_o} + (AddrBits + 1)'(D) <= hbm_end_i));
    end
  end
endmodule
