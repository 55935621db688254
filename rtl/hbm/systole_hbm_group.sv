// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A group of pseudo-channels: its controller, whose commands are for all of them, and the memories of their data. The groups share
// the command buses of the memory's channels: they take turns of one cycle on the column bus, of two cycles, which an ACT needs,
// on the row bus. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_group
  import systole_hbm_pkg::*;
  import systole_hbm_front_pkg::*;
#(
    parameter bit Upper = 1'b0,        // the upper group
    parameter int unsigned Lanes = 1,  // pseudo-channels of the group
    parameter timing_t Timing = HbmTiming,
    parameter bit Ecc = 1'b0,
    localparam int unsigned D = BurstBytes * Lanes,
    localparam int unsigned PlaceBits = $clog2(D / 8)
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,
    input  logic [1:0]                       slot_i,        // counter of the turns: see docs/hbm.md

    // Requests.
    input  logic                             req_valid_i,   // only with req_ready_o, and for a read rd_room_o
    output logic                             req_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  request_t                         request_i,     // its group is this one
    // verilator lint_on UNUSEDSIGNAL
    output logic                             low_o,         // few requests are left

    // Data of writes, before their requests.
    input  logic                             put_i,
    input  logic [D*8-1:0]                   put_data_i,
    input  logic [D-1:0]                     put_mask_i,
    output tag_t                             put_tag_o,
    output logic                             put_room_o,    // for three beats
    output logic                             put_busy_o,    // beats are held, or on their way to the device

    // Data of reads, in the order of their requests.
    output logic                             rd_room_o,     // a read has a slot for its data
    output logic                             beat_valid_o,
    input  logic                             beat_pop_i,
    output logic [D*8-1:0]                   beat_data_o,   // one cycle after beat_pop_i, as all below
    output logic                             beat_fixed_o,
    output logic                             beat_bad_o,
    output logic [PlaceBits-1:0]             beat_place_o,

    output events_t                          events_o,

    // PHY; data have one element per pseudo-channel.
    output command_t                         command_o,
    output logic [Lanes-1:0]                 on_o,          // pseudo-channels that receive a WR
    output logic [Lanes-1:0][PhyBytes*8-1:0] wdata_o,
    output logic [Lanes-1:0][PhyBytes-1:0]   wmask_o,
    input  logic [Lanes-1:0][PhyBytes*8-1:0] rdata_i,
    input  logic [Lanes-1:0][PhyBytes-1:0]   rcheck_i,
    input  logic [Lanes-1:0]                 rdata_valid_i
);
  localparam int unsigned QueueDepth = 16;  // requests per row queue of the controller

  tag_t tag, rd_tag;  // of the issued column; of the next read

  systole_hbm_ctrl #(.Depth(QueueDepth), .TagBits(TagBits), .Timing(Timing)) u_ctrl (
      .clk_i, .rst_ni,
      .col_slot_i(slot_i[0] == Upper), .act_slot_i(slot_i == {Upper, 1'b0}), .row_slot_i(slot_i[1] == Upper),
      .req_valid_i, .req_ready_o, .req_write_i(request_i.write),
      .req_bank_i(request_i.loc.bank), .req_row_i(request_i.loc.row), .req_col_i(request_i.loc.col),
      .req_tag_i(request_i.write ? request_i.tag : rd_tag), .low_o,
      .rd_issue_o(events_o.rd), .wr_issue_o(events_o.wr), .tag_o(tag), .act_issue_o(events_o.act), .refresh_o(events_o.refresh),
      .row_cmd_o(command_o.row), .row_bank_o(command_o.row_bank), .row_addr_o(command_o.row_addr),
      .col_cmd_o(command_o.col), .col_bank_o(command_o.col_bank), .col_addr_o(command_o.col_addr)
  );

  systole_hbm_wdata #(.Lanes(Lanes), .Depth(Slots), .Timing(Timing), .Ecc(Ecc)) u_wdata (
      .clk_i, .rst_ni,
      .push_i(put_i), .room_o(put_room_o), .tag_o(put_tag_o), .data_i(put_data_i), .mask_i(put_mask_i),
      .wr_issue_i(events_o.wr), .wr_tag_i(tag), .busy_o(put_busy_o), .on_o, .wdata_o, .wmask_o
  );

  systole_hbm_rdata #(.Lanes(Lanes), .Depth(Slots), .Timing(Timing), .Ecc(Ecc)) u_rdata (
      .clk_i, .rst_ni,
      .take_i(req_valid_i && !request_i.write), .room_o(rd_room_o), .tag_o(rd_tag), .rd_issue_i(events_o.rd), .rd_tag_i(tag),
      .rdata_i, .rcheck_i, .rdata_valid_i,
      .valid_o(beat_valid_o), .pop_i(beat_pop_i), .data_o(beat_data_o), .fixed_o(beat_fixed_o), .bad_o(beat_bad_o),
      .place_o(beat_place_o)
  );

  // Check: a request comes to its group.
  always_ff @(posedge clk_i) begin
    if (rst_ni) a_group : assert (!req_valid_i || request_i.loc.group == Upper);
  end
endmodule
