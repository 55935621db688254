// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Load unit: HBM to unified buffer. Throughput: one beat per cycle. Up to Depth beats are in flight, each with an entry
// in the buffer for its response, which covers the HBM's latency. Reads of the next descriptors are issued while data
// of the current one still arrives. An indexed descriptor starts when all before it are complete: they may load its table.
// Docs: docs/dma.md. Test: tests/rtl/dma.

module systole_dma_load
  import systole_isa_pkg::*;
  import systole_bus_pkg::unit_req_t;
  import systole_bus_pkg::unit_rsp_t;
  import systole_presets_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano),
    parameter int unsigned Depth = 128,          // beats in flight, a power of two
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

    // HBM read client.
    output logic                  rd_valid_o,
    input  logic                  rd_ready_i,
    output logic [AddrBits-1:0]   rd_addr_o,
    input  logic                  rd_rsp_valid_i,
    input  logic [D*8-1:0]        rd_rsp_data_i,

    // Unified buffer.
    output logic                  ub_valid_o,
    input  logic                  ub_ready_i,
    output logic [UbAddrBits-1:0] ub_addr_o,
    output logic [D*8-1:0]        ub_data_o,
    output logic [D-1:0]          ub_mask_o,

    // Unified buffer, for the tables of indexed descriptors (bf16).
    output logic                  index_valid_o,
    input  logic                  index_ready_i,
    output logic [UbAddrBits-1:0] index_addr_o,
    input  logic                  index_rsp_valid_i,
    input  logic [D*8-1:0]        index_data_i
);
  localparam int unsigned Shift = $clog2(D);

  // Signals of the unit to its queue.
  logic                unit_ready, unit_done, unit_fault, unit_newest, unit_progress, indexed, walk_idle, drained_q, may_start;
  fault_e              unit_code;
  logic [AddrBits-1:0] unit_addr;
  assign rsp_o = '{ready: unit_ready && may_start, done: unit_done, progress: unit_progress, fault: unit_fault, code: unit_code,
                   addr: unit_addr, newest: unit_newest};

  logic                  beat_valid, beat_ready, beat_last;
  logic [AddrBits-Shift-1:0]   beat_hbm;
  logic [UbAddrBits-Shift-1:0] beat_ub;
  logic [Shift-1:0]      beat_tail;

  systole_dma_walk #(.D(D), .UbBytes(Cfg.UbBytes), .Indexed(Cfg.Cell == CellBf16)) u_walk (
      .clk_i, .rst_ni, .freeze_i, .hbm_base_i, .hbm_end_i,
      .start_valid_i(req_i.valid && may_start), .start_ready_o(unit_ready), .start_desc_i(req_i.desc), .start_tag_i('0),
      .start_illegal_i(1'b0), .start_indexed_o(indexed),
      .fault_valid_o(unit_fault), .fault_code_o(unit_code), .fault_addr_o(unit_addr),
      .index_valid_o, .index_ready_i, .index_addr_o, .index_rsp_valid_i, .index_data_i,
      .beat_valid_o(beat_valid), .beat_ready_i(beat_ready), .beat_hbm_o(beat_hbm),
      .beat_ub_o(beat_ub), .beat_tail_o(beat_tail), .beat_last_o(beat_last),
      .idle_o(walk_idle),
      // verilator lint_off PINCONNECTEMPTY
      .beat_end_o(), .beat_tag_o()
      // verilator lint_on PINCONNECTEMPTY
  );
  assign unit_newest = 1'b1;

  // A beat becomes a read request when there is an entry for its response. Its destination waits in a list.
  logic                         take, credit, written, all_back, place_there, place_ready, place_valid_q, rd_valid_q;
  logic [AddrBits-Shift-1:0]    rd_addr_q;
  logic [$clog2(Depth+1)-1:0]   credits;
  typedef struct packed {
    logic [UbAddrBits-Shift-1:0] addr;  // in beats
    logic [Shift-1:0]            tail;
    logic                        last;
  } place_t;
  place_t                      place;
  logic [UbAddrBits-Shift-1:0] place_addr_q;
  logic [D-1:0]                place_mask_q;
  logic                        place_last_q;

  assign beat_ready = credit && (!rd_valid_q || rd_ready_i);
  assign take       = beat_valid && beat_ready;
  assign rd_valid_o = rd_valid_q;
  assign rd_addr_o  = {rd_addr_q, {Shift{1'b0}}};
  assign may_start  = drained_q || !indexed;
  always_ff @(posedge clk_i) drained_q <= walk_idle && all_back;

  systole_credit #(.Credits(Depth)) u_credit (
      .clk_i, .rst_ni, .take_i(take), .give_i(written), .avail_o(credit), .idle_o(all_back), .count_o(credits)
  );

  systole_dma_buffer #(.Width($bits(place_t)), .Depth(Depth)) u_places (
      .clk_i, .rst_ni, .push_i(take), .data_i({beat_ub, beat_tail, beat_last}),
      .valid_o(place_there), .ready_i(place_ready), .data_o(place)
  );

  systole_dma_buffer #(.Width(D * 8), .Depth(Depth)) u_buffer (
      .clk_i, .rst_ni, .push_i(rd_rsp_valid_i), .data_i(rd_rsp_data_i),
      .valid_o(ub_valid_o), .ready_i(ub_ready_i), .data_o(ub_data_o)
  );

  // Destination of the next write, registered: it is there long before the data.
  assign place_ready = !place_valid_q || written;
  assign ub_addr_o   = {place_addr_q, {Shift{1'b0}}};
  assign ub_mask_o   = place_mask_q;
  assign written     = ub_valid_o && ub_ready_i;

  always_ff @(posedge clk_i) begin
    if (take) rd_addr_q <= beat_hbm;
    if (place_ready) begin
      place_addr_q <= place.addr;
      place_mask_q <= place.tail == '0 ? '1 : ~({D{1'b1}} << place.tail);
      place_last_q <= place.last;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rd_valid_q    <= 1'b0;
      place_valid_q <= 1'b0;
      unit_done     <= 1'b0;
      unit_progress <= 1'b0;
    end else begin
      if (take) rd_valid_q <= 1'b1;
      else if (rd_ready_i) rd_valid_q <= 1'b0;
      if (place_ready) place_valid_q <= place_there;
      unit_done     <= written && place_last_q;
      unit_progress <= take || rd_rsp_valid_i || written;
    end
  end

  // Checks: every response has a destination; requests and writes hold until they are accepted.
  logic                  rd_held_q, ub_held_q;
  logic [AddrBits-1:0]   rd_last_q;
  logic [UbAddrBits-1:0] ub_last_q;
  always_ff @(posedge clk_i) begin
    rd_held_q <= rst_ni && rd_valid_o && !rd_ready_i;
    ub_held_q <= rst_ni && ub_valid_o && !ub_ready_i;
    rd_last_q <= rd_addr_o;
    ub_last_q <= ub_addr_o;
    if (rst_ni) begin
      a_place : assert (!ub_valid_o || place_valid_q);
      a_answer : assert (!rd_rsp_valid_i || !all_back);
      a_back : assert (!all_back || (!place_there && !place_valid_q && 32'(credits) == Depth));
      a_rd_holds : assert (!rd_held_q || (rd_valid_o && rd_addr_o == rd_last_q));
      a_ub_holds : assert (!ub_held_q || (ub_valid_o && ub_addr_o == ub_last_q));
    end
  end
endmodule
