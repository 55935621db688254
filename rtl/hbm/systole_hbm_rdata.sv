// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Read data of a group: joins the two halves of each burst into a beat and returns the beats in order. A read takes a
// slot when it is accepted, so the PHY's data always has room; the slot's number is the request's tag. Latency: data_o
// is registered and valid one cycle after pop_i. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_rdata
  import systole_hbm_pkg::*;
#(
    parameter int unsigned Lanes = 1,  // pseudo-channels of the group
    parameter int unsigned Depth = 64,  // beats (slots), a power of two
    parameter timing_t Timing = HbmTiming,
    parameter bit Ecc = 1'b0,
    localparam int unsigned TagBits = $clog2(Depth),
    localparam int unsigned BeatBytes = BurstBytes * Lanes,
    localparam int unsigned PlaceBits = $clog2(BeatBytes / 8)
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,

    input  logic                             take_i,      // a read is accepted and takes a slot
    output logic                             room_o,      // a slot is free
    output logic [TagBits-1:0]               tag_o,       // tag of the accepted read
    input  logic                             rd_issue_i,  // RD is on the PHY in the next cycle
    input  logic [TagBits-1:0]               rd_tag_i,
    input  logic [Lanes-1:0][PhyBytes*8-1:0] rdata_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [Lanes-1:0][PhyBytes-1:0]   rcheck_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [Lanes-1:0]                 rdata_valid_i,

    output logic                             valid_o,     // the next beat in order is complete
    input  logic                             pop_i,
    output logic [BeatBytes*8-1:0]           data_o,
    output logic                             fixed_o,     // with data_o: ECC corrected one or more words
    output logic                             bad_o,       // with data_o: ECC found an error that it cannot correct
    output logic [PlaceBits-1:0]             place_o      // with data_o: the first bad word of the beat, else the first corrected one
);
  localparam int unsigned Cl = 32'(Timing.tcl);
  localparam int unsigned Flight = 1 << $clog2(Cl + BurstCycles);  // reads between issue and data

  localparam int unsigned WordBits = 64;  // data bits covered by one set of check bits
  localparam int unsigned Words = PhyBytes * 8 / WordBits;

  logic [BeatBytes*8-1:0]           beat;
  logic [Lanes-1:0][PhyBytes*8-1:0] first_q, half;  // half: half a burst, after correction
  logic [TagBits-1:0]               take_ptr_q, pop_ptr_q;
  logic [TagBits:0]                 taken_q, taken_d;  // slots in use
  logic                             room_q;
  logic [$clog2(Flight):0]          issue_ptr_q, data_ptr_q;
  logic [TagBits-1:0]               tag;
  logic [Depth-1:0]                 here_q;    // per tag: the beat is complete
  logic                             valid_q;   // the next beat to return is complete; computed one cycle ahead
  logic [TagBits-1:0]               then_q;    // the tag after the next one to return
  logic                             second_q;  // the next half is the second one of its burst
  logic                             data, last;

  // Data of an RD issued before a reset is dropped.
  assign data    = rdata_valid_i[0] && issue_ptr_q != data_ptr_q;
  assign last    = data && second_q;
  assign taken_d = taken_q + (TagBits + 1)'(take_i) - (TagBits + 1)'(pop_i);
  assign room_o  = room_q;
  assign tag_o   = take_ptr_q;
  assign valid_o = valid_q;

  for (genvar l = 0; l < Lanes; l++) begin : gen_beat
    assign beat[l*BurstBytes*8+:BurstBytes*8] = {half[l], first_q[l]};
  end

  always_ff @(posedge clk_i) if (data && !second_q) first_q <= half;

  if (Ecc) begin : gen_ecc
    logic [Lanes-1:0][Words-1:0] word_fixed, word_bad;
    logic                        half_fixed, half_bad, fixed_q, bad_q, of_first;
    logic [PlaceBits-1:0]        half_place, place_q;
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      for (genvar w = 0; w < Words; w++) begin : gen_word
        // verilator lint_off PINCONNECTEMPTY
        systole_secded u_secded (
            .valid_i(data), .data_i(rdata_i[l][w*WordBits+:WordBits]), .check_i(rcheck_i[l][w*8+:8]), .code_o(),
            .data_o(half[l][w*WordBits+:WordBits]), .fixed_o(word_fixed[l][w]), .bad_o(word_bad[l][w])
        );
        // verilator lint_on PINCONNECTEMPTY
      end
    end
    assign half_fixed = word_fixed != '0;
    assign half_bad   = word_bad != '0;
    assign of_first   = bad_q || (!half_bad && fixed_q);

    // Index of a word in the beat: {pseudo-channel, half, word of the half}.
    always_comb begin
      half_place = '0;
      for (int unsigned l = Lanes; l > 0; l--) begin
        for (int unsigned w = Words; w > 0; w--) begin
          if (half_bad ? word_bad[l-1][w-1] : word_fixed[l-1][w-1]) half_place = PlaceBits'((l - 1) * 2 * Words + w - 1);
        end
      end
      if (second_q && (half_fixed || half_bad)) half_place |= PlaceBits'(Words);
    end
    always_ff @(posedge clk_i) if (data && !second_q) {place_q, fixed_q, bad_q} <= {half_place, half_fixed, half_bad};

    systole_prim_ram_1r1w #(.Width(PlaceBits + 2), .Depth(Depth), .AnyOnCollision(1'b1)) u_errors (
        .clk_i,
        .we_i(last), .waddr_i(tag), .wdata_i({of_first ? place_q : half_place, fixed_q || half_fixed, bad_q || half_bad}),
        .re_i(pop_i), .raddr_i(pop_ptr_q), .rdata_o({place_o, fixed_o, bad_o})
    );
  end else begin : gen_no_ecc
    assign half = rdata_i;
    assign {place_o, fixed_o, bad_o} = '0;
  end

  // The tags of the reads in flight, in the order in which their data come.
  systole_prim_ram_async #(.Width(TagBits), .Depth(Flight), .Style("distributed")) u_flight (
      .clk_i, .we_i(rd_issue_i), .waddr_i(issue_ptr_q[$clog2(Flight)-1:0]), .wdata_i(rd_tag_i),
      .raddr_i(data_ptr_q[$clog2(Flight)-1:0]), .rdata_o(tag)
  );
  // A beat is returned after the cycle of its write at the earliest.
  systole_prim_ram_1r1w #(.Width(BeatBytes * 8), .Depth(Depth), .AnyOnCollision(1'b1), .Style("block")) u_beats (
      .clk_i, .we_i(last), .waddr_i(tag), .wdata_i(beat), .re_i(pop_i), .raddr_i(pop_ptr_q), .rdata_o(data_o)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      take_ptr_q  <= '0;
      pop_ptr_q   <= '0;
      taken_q     <= '0;
      room_q      <= 1'b1;
      issue_ptr_q <= '0;
      data_ptr_q  <= '0;
      second_q    <= 1'b0;
      here_q      <= '0;
      valid_q     <= 1'b0;
      then_q      <= TagBits'(1);
    end else begin
      if (take_i) take_ptr_q <= take_ptr_q + 1'b1;
      taken_q <= taken_d;
      room_q  <= taken_d != (TagBits + 1)'(Depth);
      if (rd_issue_i) issue_ptr_q <= issue_ptr_q + 1'b1;
      if (data) second_q <= !second_q;
      if (last) data_ptr_q <= data_ptr_q + 1'b1;
      if (last) here_q[tag] <= 1'b1;
      if (pop_i) here_q[pop_ptr_q] <= 1'b0;
      if (pop_i) pop_ptr_q <= pop_ptr_q + 1'b1;
      if (pop_i) then_q <= then_q + 1'b1;
      if (pop_i) valid_q <= here_q[then_q] || (last && tag == then_q);
      else if (last && tag == pop_ptr_q) valid_q <= 1'b1;
    end
  end

  // Checks: the PHY answers exactly tCL and tCL + 1 cycles after RD, all pseudo-channels together; no overflow or
  // underflow; the state computed ahead agrees with the slots.
  logic [Cl+1:0] since_q;  // bit i: RD was issued i + 1 cycles ago
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      since_q <= '0;
    end else begin
      since_q <= {since_q[Cl:0], rd_issue_i};
      a_latency : assert (data == (since_q[Cl] || since_q[Cl+1]));
      a_lockstep : assert (rdata_valid_i == {Lanes{rdata_valid_i[0]}});
      a_room : assert (!take_i || room_o);
      a_pop : assert (!pop_i || valid_o);
      a_ahead : assert (valid_q == here_q[pop_ptr_q] && then_q == pop_ptr_q + 1'b1);
    end
  end
endmodule
