// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// HBM subsystem: front end and one controller per group of pseudo-channels. Each instance is a box of the figure in docs/hbm.md.
// Reads and writes are arbitrated separately. A write goes into the write buffer, which drains to the controllers in batches; a
// read of a buffered beat stalls until that write has drained. Responses return in the order of acceptance. Throughput: one beat
// per cycle. Latency of a read of an open row: 25 or 26 cycles from acceptance to response.
// Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm
  import systole_hbm_pkg::*;
  import systole_hbm_front_pkg::*;
#(
    parameter int unsigned HbmPcs = 2,  // pseudo-channels, even
    parameter int unsigned NumRd = 4,
    parameter int unsigned NumWr = 2,
    parameter int unsigned AddrBits = 36,
    parameter logic [NumRd-1:0][7:0] RdBurst = {NumRd{8'd64}},  // beats per turn of each client: its traffic class (docs/hbm.md)
    parameter logic [NumWr-1:0][7:0] WrBurst = {NumWr{8'd64}},
    parameter timing_t Timing = HbmTiming,
    parameter bit Ecc = 1'b0,
    parameter bit Gate = 1'b1,  // gate the clock of the read-modify-write unit (ECC only)
    localparam int unsigned D = PhyBytes * HbmPcs  // bytes per beat
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,

    // Read clients. A response cannot be stalled; each client's responses return in order.
    input  logic [NumRd-1:0]                   rd_valid_i,
    output logic [NumRd-1:0]                   rd_ready_o,
    input  logic [NumRd-1:0][AddrBits-1:0]     rd_addr_i,   // byte address; bits inside the beat are ignored
    output logic [NumRd-1:0]                   rd_rsp_valid_o,
    output logic [D*8-1:0]                     rd_rsp_data_o,

    // Write clients. A read returns every write accepted in an earlier cycle. It may also return a write accepted
    // later, until the read is answered.
    input  logic [NumWr-1:0]                   wr_valid_i,
    output logic [NumWr-1:0]                   wr_ready_o,
    input  logic [NumWr-1:0][AddrBits-1:0]     wr_addr_i,
    input  logic [NumWr-1:0][D*8-1:0]          wr_data_i,
    input  logic [NumWr-1:0][D-1:0]            wr_mask_i,   // 1: write the byte

    output logic                               outstanding_o,  // reads not answered, or writes not yet in the device
    output perf_t                              perf_o,

    // ECC reports, one cycle after the response: a bit was corrected (fixed), or an error could not be corrected (bad).
    // There is one bit per read client; the top bit is for partial writes and the scrubber. The address is that of the
    // first such 8-byte word.
    output logic [NumRd:0]                     ecc_fixed_o,
    output logic [NumRd:0]                     ecc_bad_o,
    output logic                               ecc_look_o,     // the report belongs to the scrubber: no client asked for the data
    output logic [AddrBits-1:0]                ecc_addr_o,
    input  logic [31:0]                        scrub_i,        // cycles from one scrubbed beat to the next; 0: no scrubbing

    // PHY, one element per pseudo-channel.
    output row_cmd_e [HbmPcs-1:0]              row_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]    row_bank_o,
    output logic [HbmPcs-1:0][RowBits-1:0]     row_addr_o,
    output col_cmd_e [HbmPcs-1:0]              col_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]    col_bank_o,
    output logic [HbmPcs-1:0][ColBits-1:0]     col_addr_o,
    output logic [HbmPcs-1:0][PhyBytes*8-1:0]  wdata_o,
    output logic [HbmPcs-1:0][PhyBytes-1:0]    wmask_o,      // byte mask; with ECC: 8 check bits per 64 bits
    input  logic [HbmPcs-1:0][PhyBytes*8-1:0]  rdata_i,
    input  logic [HbmPcs-1:0][PhyBytes-1:0]    rcheck_i,     // check bits, with ECC
    input  logic [HbmPcs-1:0]                  rdata_valid_i
);
  localparam int unsigned Lanes = HbmPcs / 2;
  localparam int unsigned PlaceBits = $clog2(D / 8);

  // Clients that a test stalls.
  logic [NumRd-1:0] rd_hold;
  logic [NumWr-1:0] wr_hold;
  systole_prim_hold #(.Streams(NumRd + NumWr)) u_hold (.clk_i, .hold_o({wr_hold, rd_hold}));

  // Writes: chosen, past the list of partial writes, for the write buffer.
  logic           wr_valid, wr_ready, wr_partial, whole_valid, whole_ready;
  beat_t          wr_beat, whole_beat;
  logic [D*8-1:0] wr_data, whole_data;
  logic [D-1:0]   wr_mask, whole_mask;

  systole_hbm_write_port #(.NumWr(NumWr), .AddrBits(AddrBits), .D(D), .Burst(WrBurst), .Ecc(Ecc)) u_write_port (
      .clk_i, .rst_ni,
      .valid_i(wr_valid_i), .ready_o(wr_ready_o), .addr_i(wr_addr_i), .data_i(wr_data_i), .mask_i(wr_mask_i), .hold_i(wr_hold),
      .valid_o(wr_valid), .ready_i(wr_ready), .beat_o(wr_beat), .data_o(wr_data), .mask_o(wr_mask), .partial_o(wr_partial)
  );

  logic           part_busy, part_rd_valid, part_rd_ready, part_rsp_valid, part_look, part_again, rsp_fixed, rsp_bad;
  beat_t          part_rd_beat;

  systole_hbm_partial #(.D(D), .Ecc(Ecc), .Gate(Gate)) u_partial (
      .clk_i, .rst_ni,
      .valid_i(wr_valid), .ready_o(wr_ready), .beat_i(wr_beat), .data_i(wr_data), .mask_i(wr_mask), .partial_i(wr_partial),
      .valid_o(whole_valid), .ready_i(whole_ready), .beat_o(whole_beat), .data_o(whole_data), .mask_o(whole_mask),
      .busy_o(part_busy), .rd_valid_o(part_rd_valid), .rd_ready_i(part_rd_ready), .rd_beat_o(part_rd_beat),
      .rsp_valid_i(part_rsp_valid), .rsp_data_i(rd_rsp_data_o), .rsp_fixed_i(rsp_fixed), .rsp_bad_i(rsp_bad),
      .look_o(part_look), .again_o(part_again), .scrub_i, .quiet_i(rd_valid_i == '0)
  );

  logic [1:0]     put_valid, put_room, put_busy;
  tag_t           put_tag [2];
  logic [D*8-1:0] put_data;
  logic [D-1:0]   put_mask;
  logic           new_valid, new_ready, drain_valid, drain_ready, drain_high, buffer_busy;
  read_t          new_read;
  marks_t         same, held;
  request_t       drain;

  systole_hbm_buffer #(.D(D)) u_buffer (
      .clk_i, .rst_ni,
      .valid_i(whole_valid), .ready_o(whole_ready), .beat_i(whole_beat), .data_i(whole_data), .mask_i(whole_mask),
      .put_valid_o(put_valid), .put_data_o(put_data), .put_mask_o(put_mask), .put_tag_i(put_tag), .put_room_i(put_room),
      .look_valid_i(new_valid), .look_beat_i(new_read.beat), .same_o(same), .held_o(held),
      .valid_o(drain_valid), .ready_i(drain_ready), .request_o(drain), .high_o(drain_high), .busy_o(buffer_busy)
  );

  // Reads: chosen, behind the writes of their beats.
  logic  rd_valid, rd_ready, rd_hazard;
  read_t rd_read;
  loc_t  rd_loc;

  systole_hbm_read_port #(.NumRd(NumRd), .AddrBits(AddrBits), .BeatShift($clog2(D)), .Burst(RdBurst)) u_read_port (
      .clk_i, .rst_ni,
      .valid_i(rd_valid_i), .ready_o(rd_ready_o), .addr_i(rd_addr_i), .hold_i(rd_hold),
      .partial_busy_i(part_busy), .partial_valid_i(part_rd_valid), .partial_ready_o(part_rd_ready), .partial_beat_i(part_rd_beat),
      .valid_o(new_valid), .ready_i(new_ready), .read_o(new_read)
  );

  systole_hbm_hazard u_hazard (
      .clk_i, .rst_ni,
      .valid_i(new_valid), .ready_o(new_ready), .read_i(new_read), .same_i(same), .held_i(held),
      .valid_o(rd_valid), .ready_i(rd_ready), .read_o(rd_read), .loc_o(rd_loc), .hazard_o(rd_hazard)
  );

  // Reads or writes, for the groups.
  logic [1:0] req_valid, req_ready, low, rd_room;
  request_t   request;

  systole_hbm_direction u_direction (
      .clk_i, .rst_ni,
      .rd_valid_i(rd_valid), .rd_ready_o(rd_ready), .rd_loc_i(rd_loc), .rd_hazard_i(rd_hazard), .rd_more_i(new_valid),
      .rd_room_i(rd_room),
      .wr_valid_i(drain_valid), .wr_ready_o(drain_ready), .wr_request_i(drain), .wr_high_i(drain_high),
      .wr_stalled_i(wr_valid && !wr_ready),
      .valid_o(req_valid), .ready_i(req_ready), .request_o(request), .low_i(low)
  );

  // The groups. Pseudo-channel i of the lower one and i of the upper one are a channel of the memory, with one row and one column
  // bus.
  logic [1:0]           slot_q, beat_valid, beat_pop, beat_fixed, beat_bad;
  logic [D*8-1:0]       beat_data [2];
  logic [PlaceBits-1:0] beat_place [2];
  events_t [1:0]        events;
  command_t             command [2];
  logic [HbmPcs-1:0]    on;

  always_ff @(posedge clk_i) slot_q <= rst_ni ? slot_q + 1'b1 : '0;

  for (genvar g = 0; g < 2; g++) begin : gen_group
    systole_hbm_group #(.Upper(1'(g)), .Lanes(Lanes), .Timing(Timing), .Ecc(Ecc)) u_group (
        .clk_i, .rst_ni, .slot_i(slot_q),
        .req_valid_i(req_valid[g]), .req_ready_o(req_ready[g]), .request_i(request), .low_o(low[g]),
        .put_i(put_valid[g]), .put_data_i(put_data), .put_mask_i(put_mask), .put_tag_o(put_tag[g]), .put_room_o(put_room[g]),
        .put_busy_o(put_busy[g]),
        .rd_room_o(rd_room[g]), .beat_valid_o(beat_valid[g]), .beat_pop_i(beat_pop[g]), .beat_data_o(beat_data[g]),
        .beat_fixed_o(beat_fixed[g]), .beat_bad_o(beat_bad[g]), .beat_place_o(beat_place[g]), .events_o(events[g]),
        .command_o(command[g]), .on_o(on[g*Lanes+:Lanes]), .wdata_o(wdata_o[g*Lanes+:Lanes]), .wmask_o(wmask_o[g*Lanes+:Lanes]),
        .rdata_i(rdata_i[g*Lanes+:Lanes]), .rcheck_i(rcheck_i[g*Lanes+:Lanes]), .rdata_valid_i(rdata_valid_i[g*Lanes+:Lanes])
    );
  end

  for (genvar p = 0; p < HbmPcs; p++) begin : gen_pc
    localparam int unsigned G = p / Lanes;
    assign row_cmd_o[p]  = command[G].row;
    assign row_bank_o[p] = command[G].row_bank;
    assign row_addr_o[p] = command[G].row_addr;
    assign col_cmd_o[p]  = command[G].col == ColWr && !on[p] ? ColNop : command[G].col;
    assign col_bank_o[p] = command[G].col_bank;
    assign col_addr_o[p] = command[G].col_addr;
  end

  // Responses.
  logic order_pop, order_busy;

  systole_hbm_order #(.NumRd(NumRd), .AddrBits(AddrBits), .D(D), .Ecc(Ecc)) u_order (
      .clk_i, .rst_ni,
      .put_i(rd_ready), .read_i(rd_read), .group_i(rd_loc.group),
      .beat_valid_i(beat_valid), .beat_pop_o(beat_pop), .beat_data_i(beat_data), .beat_fixed_i(beat_fixed), .beat_bad_i(beat_bad),
      .beat_place_i(beat_place),
      .valid_o(rd_rsp_valid_o), .partial_valid_o(part_rsp_valid), .data_o(rd_rsp_data_o), .fixed_o(rsp_fixed), .bad_o(rsp_bad),
      .look_i(part_look), .again_i(part_again), .ecc_fixed_o, .ecc_bad_o, .ecc_look_o, .ecc_addr_o,
      .pop_o(order_pop), .busy_o(order_busy)
  );

  assign outstanding_o = new_valid || rd_valid || part_busy || order_busy || buffer_busy || put_busy != '0;

  always_ff @(posedge clk_i) begin
    perf_o.rd_beat    <= order_pop;
    perf_o.wr_beat    <= wr_ready;
    perf_o.columns    <= 8'(Lanes) * (8'(events[0].rd) + 8'(events[1].rd) + 8'(events[0].wr) + 8'(events[1].wr));
    perf_o.activates  <= 8'(Lanes) * (8'(events[0].act) + 8'(events[1].act));
    perf_o.refreshing <= 8'(Lanes) * (8'(events[0].refresh) + 8'(events[1].refresh));
    if (!rst_ni) perf_o <= '0;
  end

  // Checks: legal parameters; the data of every buffered write is held.
  initial begin
    a_pcs : assert (HbmPcs >= 2 && HbmPcs % 2 == 0 && D == 1 << $clog2(D) && AddrBits >= $clog2(D) + BeatBits);
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) a_empty : assert (put_busy != '0 || !drain_valid);
  end
endmodule
