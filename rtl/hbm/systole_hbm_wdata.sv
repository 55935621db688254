// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Write data of a group: holds each beat from acceptance to its WR in the slot given by its tag. The data goes to the
// PHY tCWL and tCWL + 1 cycles after WR, the lower 16 bytes of each pseudo-channel's burst first. Throughput: one beat
// every 2 cycles. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_wdata
  import systole_hbm_pkg::*;
#(
    parameter int unsigned Lanes = 1,  // pseudo-channels of the group
    parameter int unsigned Depth = 64,  // beats (slots), a power of two
    parameter timing_t Timing = HbmTiming,
    parameter bit Ecc = 1'b0,
    localparam int unsigned TagBits = $clog2(Depth),
    localparam int unsigned BeatBytes = BurstBytes * Lanes
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,

    input  logic                              push_i,
    output logic                              room_o,      // three slots are free
    output logic [TagBits-1:0]                tag_o,       // tag of the pushed beat
    input  logic [BeatBytes*8-1:0]            data_i,
    input  logic [BeatBytes-1:0]              mask_i,

    input  logic                              wr_issue_i,  // WR is on the PHY in the next cycle
    input  logic [TagBits-1:0]                wr_tag_i,
    output logic                              busy_o,      // beats are held or in flight
    output logic [Lanes-1:0]                  on_o,        // one cycle after wr_issue_i: pseudo-channels that receive the WR
    output logic [Lanes-1:0][PhyBytes*8-1:0]  wdata_o,
    output logic [Lanes-1:0][PhyBytes-1:0]    wmask_o      // byte mask; with ECC: check bits
);
  localparam int unsigned Cwl = 32'(Timing.tcwl);

  logic [BeatBytes*8-1:0] data;
  logic [TagBits:0]       count_q, fresh_q;  // beats held; tags handed out since reset, up to Depth
  logic [Cwl:0]           since_q;  // bit i: a WR was issued i + 1 cycles ago
  logic [TagBits-1:0]     tag_q[Cwl-1];  // tags of those WRs
  logic [TagBits-1:0]     load_tag, used_tag;
  logic                   load, live, clear, used, unused_valid, unused_ready;  // live: load reads a beat pushed after the last reset
  // clear: no WR in flight is from before the reset
  logic [$clog2(Depth+1)-1:0] unused_count;

  // Tags. Each is handed out once in order after reset; used tags then return in any order through a FIFO and are
  // handed out again.
  assign used   = fresh_q[TagBits];
  assign tag_o  = used ? used_tag : fresh_q[TagBits-1:0];
  assign room_o = count_q <= (TagBits + 1)'(Depth - 3) && clear;
  assign busy_o = count_q != '0 || since_q != '0;
  assign load   = since_q[Cwl-2];
  assign load_tag = tag_q[Cwl-2];

  systole_fifo #(.Width(TagBits), .Depth(Depth)) u_used (
      .clk_i, .rst_ni,
      .valid_i(live), .ready_o(unused_ready), .data_i(load_tag),
      .valid_o(unused_valid), .ready_i(push_i && used), .data_o(used_tag),
      .count_o(unused_count)
  );

  // A slot is never read in the cycle of its write: its tag is handed out again only after it was read.
  systole_prim_ram_1r1w #(.Width(BeatBytes * 8), .Depth(Depth), .AnyOnCollision(1'b1), .Style("block")) u_data (
      .clk_i, .we_i(push_i), .waddr_i(tag_o), .wdata_i(data_i), .re_i(load), .raddr_i(load_tag), .rdata_o(data)
  );

  // The halves of a burst with their byte mask or check bits. With ECC, the mask covers all or none of a
  // pseudo-channel's bytes; a pseudo-channel with none receives no WR.
  logic                             first, second;
  logic [Lanes-1:0][PhyBytes*8-1:0] half;
  logic [Lanes-1:0][PhyBytes-1:0]   half_mask;
  assign first  = since_q[Cwl-1];
  assign second = !first && since_q[Cwl];
  for (genvar l = 0; l < Lanes; l++) begin : gen_half
    assign half[l] = first ? data[l*BurstBytes*8+:PhyBytes*8] : data[(l*BurstBytes+PhyBytes)*8+:PhyBytes*8];
  end
  always_ff @(posedge clk_i) begin
    if (first || second) wdata_o <= half;
  end

  if (Ecc) begin : gen_ecc
    localparam int unsigned WordBits = 64;
    logic [Lanes-1:0] on;
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      assign on[l] = mask_i[l*BurstBytes];
      for (genvar w = 0; w < PhyBytes * 8 / WordBits; w++) begin : gen_word
        // verilator lint_off PINCONNECTEMPTY
        systole_secded u_secded (
            .valid_i(first || second), .data_i(half[l][w*WordBits+:WordBits]), .check_i('0), .code_o(half_mask[l][w*8+:8]),
            .data_o(), .fixed_o(), .bad_o()
        );
        // verilator lint_on PINCONNECTEMPTY
      end
    end
    always_ff @(posedge clk_i) begin
      if (first || second) wmask_o <= half_mask;
    end

    systole_prim_ram_1r1w #(.Width(Lanes), .Depth(Depth), .Style("distributed")) u_on (
        .clk_i, .we_i(push_i), .waddr_i(tag_o), .wdata_i(on), .re_i(1'b1), .raddr_i(wr_tag_i), .rdata_o(on_o)
    );

    // The device takes the data of every WR that was issued, and ECC has no mask to suppress it. So a reset lets the
    // data in flight finish, and room_o stays low until it has.
    logic [Cwl:0] live_q;
    always_ff @(posedge clk_i) begin
      live_q  <= rst_ni ? {live_q[Cwl-1:0], wr_issue_i} : '0;
      since_q <= {since_q[Cwl-1:0], rst_ni && wr_issue_i};
    end
    assign live = live_q[Cwl-2];
    assign clear = (since_q & ~live_q) == '0;
    always_ff @(posedge clk_i) begin
      if (rst_ni) a_mask : assert (!push_i || mask_i == whole(on));
    end
    function automatic logic [BeatBytes-1:0] whole(logic [Lanes-1:0] lanes);
      for (int unsigned l = 0; l < Lanes; l++) whole[l*BurstBytes+:BurstBytes] = {BurstBytes{lanes[l]}};
    endfunction
  end else begin : gen_mask
    logic [BeatBytes-1:0] mask;
    systole_prim_ram_1r1w #(.Width(BeatBytes), .Depth(Depth), .AnyOnCollision(1'b1), .Style("block")) u_mask (
        .clk_i, .we_i(push_i), .waddr_i(tag_o), .wdata_i(mask_i), .re_i(load), .raddr_i(load_tag), .rdata_o(mask)
    );
    always_comb begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        half_mask[l] = first ? mask[l*BurstBytes+:PhyBytes] : mask[l*BurstBytes+PhyBytes+:PhyBytes];
      end
    end
    // A reset between WR and its data must not write stale bytes, so it clears the mask.
    always_ff @(posedge clk_i) begin
      if (!rst_ni) wmask_o <= '0;
      else if (first || second) wmask_o <= half_mask;
      since_q <= rst_ni ? {since_q[Cwl-1:0], wr_issue_i} : '0;
    end
    assign on_o  = '1;
    assign live  = load;
    assign clear = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      fresh_q <= '0;
    end else begin
      count_q <= count_q + (TagBits + 1)'(push_i) - (TagBits + 1)'(live);
      if (push_i && !used) fresh_q <= fresh_q + 1'b1;
    end
    tag_q[0] <= wr_tag_i;
    for (int unsigned i = 1; i < Cwl - 1; i++) tag_q[i] <= tag_q[i-1];
  end

  // Checks: the shift register has at least two stages; no overflow; every beat has a tag; every WR has data; bursts do
  // not overlap.
  initial a_cwl : assert (Cwl >= 2);
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_room : assert (!push_i || (count_q != (TagBits + 1)'(Depth) && clear));
      a_tag : assert (!(push_i && used) || unused_valid);
      a_data : assert (!live || (count_q != '0 && unused_ready));
      a_burst : assert (!(wr_issue_i && since_q[0]));
    end
  end
endmodule
