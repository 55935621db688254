// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Store unit: unified buffer to HBM. Throughput: one beat per cycle. It reads ahead by at most Depth beats. A
// descriptor is complete when the HBM has accepted its last beat. Data that was read before a freeze is still written.
// Docs: docs/dma.md. Test: tests/rtl/dma.

module systole_dma_store
  import systole_isa_pkg::*;
  import systole_bus_pkg::unit_req_t;
  import systole_bus_pkg::unit_rsp_t;
  import systole_presets_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano),
    parameter int unsigned Depth = 16,           // beats between the two memories
    localparam int unsigned D = beat_bytes(Cfg)
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  freeze_i,
    input  logic [AddrBits-1:0]   hbm_base_i,
    input  logic [AddrBits:0]     hbm_end_i,

    // Unit interface (docs/design.md).
    // verilator lint_off UNUSEDSIGNAL
    input  unit_req_t             req_i,
    // verilator lint_on UNUSEDSIGNAL
    output unit_rsp_t             rsp_o,

    // Unified buffer.
    output logic                  ub_valid_o,
    input  logic                  ub_ready_i,
    output logic [UbAddrBits-1:0] ub_addr_o,
    input  logic                  ub_rsp_valid_i,
    input  logic [D*8-1:0]        ub_data_i,

    // HBM write client.
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [AddrBits-1:0]   wr_addr_o,
    output logic [D*8-1:0]        wr_data_o,
    output logic [D-1:0]          wr_mask_o,

    // Unified buffer, for the tables of indexed descriptors (bf16).
    output logic                  index_valid_o,
    input  logic                  index_ready_i,
    output logic [UbAddrBits-1:0] index_addr_o,
    input  logic                  index_rsp_valid_i,
    input  logic [D*8-1:0]        index_data_i
);
  localparam int unsigned Shift = $clog2(D);

  // Signals of the unit to its queue.
  logic                unit_ready, unit_done, unit_fault, unit_newest, unit_progress;
  fault_e              unit_code;
  logic [AddrBits-1:0] unit_addr;
  assign rsp_o = '{ready: unit_ready, done: unit_done, progress: unit_progress, fault: unit_fault, code: unit_code,
                   addr: unit_addr, newest: unit_newest};

  logic                  beat_valid, beat_ready, beat_last;
  logic [AddrBits-Shift-1:0]   beat_hbm;
  logic [UbAddrBits-Shift-1:0] beat_ub;
  logic [Shift-1:0]      beat_tail;

  systole_dma_walk #(.D(D), .UbBytes(Cfg.UbBytes), .Indexed(Cfg.Cell == CellBf16)) u_walk (
      .clk_i, .rst_ni, .freeze_i, .hbm_base_i, .hbm_end_i,
      .start_valid_i(req_i.valid), .start_ready_o(unit_ready), .start_desc_i(req_i.desc), .start_tag_i('0), .start_illegal_i(1'b0),
      .fault_valid_o(unit_fault), .fault_code_o(unit_code), .fault_addr_o(unit_addr),
      .index_valid_o, .index_ready_i, .index_addr_o, .index_rsp_valid_i, .index_data_i,
      .beat_valid_o(beat_valid), .beat_ready_i(beat_ready), .beat_hbm_o(beat_hbm),
      .beat_ub_o(beat_ub), .beat_tail_o(beat_tail), .beat_last_o(beat_last),
      // verilator lint_off PINCONNECTEMPTY
      .start_indexed_o(), .beat_end_o(), .beat_tag_o(), .idle_o()
      // verilator lint_on PINCONNECTEMPTY
  );
  assign unit_newest = 1'b1;

  // A beat is read when there is an entry for its data. Its destination waits in a list.
  logic                       take, credit, written, all_back, place_valid, place_room, data_room, ub_room, asked_q, written_q;
  logic [UbAddrBits-Shift-1:0] ub_beat;
  logic [$clog2(Depth+1)-1:0] credits, places, beats;
  typedef struct packed {
    logic [AddrBits-Shift-1:0] addr;  // in beats
    logic [Shift-1:0]          tail;
    logic                      last;
  } place_t;
  place_t place;

  assign beat_ready = credit && ub_room;
  assign take       = beat_valid && beat_ready;
  assign ub_addr_o  = {ub_beat, {Shift{1'b0}}};

  // Skid buffer: the walk does not wait for the grant of the buffer in the same cycle.
  systole_skid #(.Width(UbAddrBits - Shift)) u_request (
      .clk_i, .rst_ni, .valid_i(beat_valid && credit), .ready_o(ub_room), .data_i(beat_ub),
      .valid_o(ub_valid_o), .ready_i(ub_ready_i), .data_o(ub_beat)
  );

  systole_credit #(.Credits(Depth)) u_credit (
      .clk_i, .rst_ni, .take_i(take), .give_i(written), .avail_o(credit), .idle_o(all_back), .count_o(credits)
  );

  systole_fifo #(.Width($bits(place_t)), .Depth(Depth)) u_places (
      .clk_i, .rst_ni,
      .valid_i(take), .ready_o(place_room), .data_i({beat_hbm, beat_tail, beat_last}),
      .valid_o(place_valid), .ready_i(written), .data_o(place), .count_o(places)
  );

  systole_fifo #(.Width(D * 8), .Depth(Depth)) u_data (
      .clk_i, .rst_ni,
      .valid_i(ub_rsp_valid_i), .ready_o(data_room), .data_i(ub_data_i),
      .valid_o(wr_valid_o), .ready_i(wr_ready_i), .data_o(wr_data_o), .count_o(beats)
  );

  assign wr_addr_o = {place.addr, {Shift{1'b0}}};
  assign wr_mask_o = place.tail == '0 ? '1 : ~({D{1'b1}} << place.tail);
  assign written   = wr_valid_o && wr_ready_i;

  // A new request, or a beat written in the last cycle.
  assign unit_progress = (ub_valid_o && !asked_q) || written_q;
  always_ff @(posedge clk_i) asked_q <= rst_ni && ub_valid_o && !ub_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      written_q <= 1'b0;
      unit_done <= 1'b0;
    end else begin
      unit_done <= written && place.last;
      written_q <= written;
    end
  end

  // Checks: every beat has a destination and room; requests and writes hold until they are accepted.
  logic                  wr_held_q;
  logic [UbAddrBits-1:0] ub_last_q;
  logic [AddrBits-1:0]   wr_last_q;
  always_ff @(posedge clk_i) begin
    wr_held_q <= rst_ni && wr_valid_o && !wr_ready_i;
    ub_last_q <= ub_addr_o;
    wr_last_q <= wr_addr_o;
    if (rst_ni) begin
      a_place : assert (!wr_valid_o || place_valid);
      a_room : assert ((!take || place_room) && (!ub_rsp_valid_i || data_room));
      a_credits : assert (32'(credits) + 32'(places) == Depth && beats <= places);
      a_answer : assert (!ub_rsp_valid_i || !all_back);
      a_ub_holds : assert (!asked_q || (ub_valid_o && ub_addr_o == ub_last_q));
      a_wr_holds : assert (!wr_held_q || (wr_valid_o && wr_addr_o == wr_last_q));
    end
  end
endmodule
