// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Weight unit: streams tiles from HBM, or from the unified buffer (bf16), into the weight FIFO. Throughput: one beat
// per cycle. It requests only beats that the FIFO has room for, so responses go straight in. Up to InFlight descriptors
// are in flight, all of the same kind.
// Docs: docs/dma.md. Test: tests/rtl/dma.

module systole_weight_loader
  import systole_isa_pkg::*;
  import systole_bus_pkg::unit_req_t;
  import systole_bus_pkg::unit_rsp_t;
  import systole_presets_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano),
    parameter int unsigned InFlight = 4,
    localparam int unsigned W = word_bytes(Cfg),
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned T = tile_windows(Cfg)
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                freeze_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [AddrBits-1:0] hbm_base_i, // a multiple of the beat
    input  logic [AddrBits:0]   hbm_end_i,  // only whole beats count
    // verilator lint_on UNUSEDSIGNAL

    // Unit interface (docs/design.md).
    // verilator lint_off UNUSEDSIGNAL
    input  unit_req_t             req_i,
    // verilator lint_on UNUSEDSIGNAL
    output unit_rsp_t             rsp_o,

    // HBM read client.
    output logic                rd_valid_o,
    input  logic                rd_ready_i,
    output logic [AddrBits-1:0] rd_addr_o,
    input  logic                rd_rsp_valid_i,
    input  logic [D*8-1:0]      rd_rsp_data_i,

    // Windows of the unified buffer (bf16).
    output logic [T-1:0]                 win_valid_o,
    output logic [T-1:0][UbAddrBits-1:0] win_addr_o,
    output logic [T-1:0][1:0]            win_need_o,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [T-1:0]                 win_ready_i,
    input  logic [T-1:0]                 win_rsp_valid_i,
    input  logic [T-1:0][W*8-1:0]        win_data_i,
    // verilator lint_on UNUSEDSIGNAL

    // Weight FIFO.
    output logic                wf_valid_o,
    output logic [D*8-1:0]      wf_data_o,
    output logic                wf_transpose_o,
    input  logic [15:0]         wf_free_i,  // free space in beats; beats in flight are not subtracted

    output logic                full_o      // a beat waits for room in the FIFO
);
  localparam int unsigned Shift = $clog2(D);
  localparam int unsigned TileBeats = tile_bytes(Cfg) / D;
  localparam int unsigned BeatBits = 16 + $clog2(TileBeats);
  localparam int unsigned HbmBits = AddrBits - Shift + 1;  // in beats, with room for the first address beyond the end
  typedef logic [HbmBits-1:0]  hbm_t;
  typedef logic [BeatBits-1:0] count_t;

  // Signals of the unit to its queue.
  logic                unit_ready, unit_done, unit_fault, unit_newest, unit_progress;
  fault_e              unit_code;
  logic [AddrBits-1:0] unit_addr;
  assign rsp_o = '{ready: unit_ready, done: unit_done, progress: unit_progress, fault: unit_fault, code: unit_code,
                   addr: unit_addr, newest: unit_newest};

  // verilator lint_off UNUSEDSIGNAL
  weights_desc_t d;
  // verilator lint_on UNUSEDSIGNAL
  assign d = weights_desc_t'(req_i.desc);

  // Tiles from the unified buffer. Beats must arrive in the order of the descriptors, so only one of the two sources is
  // active at a time.
  logic                ub_ready, ub_busy, ub_step, ub_full, ub_beat, is_tiles, start, stopped_q;
  fault_e              ub_code;
  logic [AddrBits-1:0] ub_addr;
  logic [D*8-1:0]      ub_data;

  if (Cfg.Cell == CellBf16) begin : gen_tiles
    assign is_tiles = d.opcode == OpTiles;
    systole_tile_loader #(.Cfg(Cfg)) u_tiles (
        .clk_i, .rst_ni, .freeze_i(freeze_i || stopped_q),
        .start_ready_o(ub_ready), .start_i(start && is_tiles), .start_desc_i(req_i.desc), .busy_o(ub_busy), .fault_code_o(ub_code),
        .fault_addr_o(ub_addr), .step_o(ub_step), .full_o(ub_full),
        .win_valid_o, .win_addr_o, .win_need_o, .win_ready_i, .win_rsp_valid_i, .win_data_i,
        .wf_free_i, .beat_valid_o(ub_beat), .beat_data_o(ub_data)
    );
  end else begin : gen_no_tiles
    assign {ub_ready, ub_busy, ub_step, ub_full, ub_beat, is_tiles} = '0;
    assign ub_code     = FaultNone;
    assign ub_addr     = '0;
    assign ub_data     = '0;
    assign win_valid_o = '0;
    assign win_addr_o  = '0;
    assign win_need_o  = '0;
  end

  // Requests: of the current descriptor, and of a next one that waits until the current one's last beat is requested.
  // All conditions are registered; the room is that of the last cycle minus what was requested in that cycle.
  typedef struct packed {
    hbm_t             addr;  // of the next beat
    logic [Shift-1:0] low;   // not 0: the address is misaligned
    count_t           left;  // beats left
    logic             last;  // left is 1
    logic             illegal;
    logic             outside;
  } request_t;
  request_t            new_d, next_q, now_q;
  logic                active_q, next_valid_q, bad, room, room1_q, room2_q, asked_q;
  logic                hbm_start, ask, finish, offer, list_room, rd_valid_q;
  hbm_t                end_d, last_beat_q;
  fault_e              hbm_code;
  logic [AddrBits-Shift-1:0] rd_addr_q;
  logic [15:0]         under_way_q;  // beats requested and not received

  assign end_d = hbm_end_i[AddrBits:Shift];
  always_comb begin
    new_d.addr    = hbm_t'(d.hbm_addr[AddrBits-1:Shift]);
    new_d.low     = d.hbm_addr[Shift-1:0];
    new_d.left    = count_t'(32'(d.tiles) * TileBeats);
    new_d.last    = new_d.left == count_t'(1);
    new_d.illegal = d.tiles == '0;
    new_d.outside = hbm_t'(d.hbm_addr[AddrBits-1:Shift]) >= end_d || d.hbm_addr[AddrBits-1:Shift] < hbm_base_i[AddrBits-1:Shift];
  end

  assign bad        = now_q.illegal || now_q.low != '0 || now_q.outside;
  assign offer      = active_q && !bad && !freeze_i && !stopped_q;
  assign room       = asked_q ? room2_q : room1_q;
  assign full_o     = ub_full || (offer && !room);
  assign ask        = offer && room && (!rd_valid_q || rd_ready_i);
  assign finish     = ask && now_q.last;
  assign unit_ready = (is_tiles ? ub_ready && !active_q && under_way_q == '0 : (!active_q || (now_q.last && !bad)) && !ub_busy)
                         && !next_valid_q && list_room && !freeze_i && !stopped_q;
  assign start      = req_i.valid && unit_ready;
  assign hbm_start  = start && !is_tiles;
  assign rd_valid_o = rd_valid_q;
  assign rd_addr_o  = {rd_addr_q, {Shift{1'b0}}};

  always_comb begin
    hbm_code  = FaultNone;
    unit_addr = {now_q.addr[AddrBits-Shift-1:0], now_q.low};
    if (active_q) begin
      if (now_q.illegal) begin
        hbm_code  = FaultIllegalDescriptor;
        unit_addr = '0;
      end else if (now_q.low != '0) begin
        hbm_code = FaultMisaligned;
      end else if (now_q.outside) begin
        hbm_code = FaultHbmRange;
      end
    end
    unit_code = hbm_code;
    if (ub_code != FaultNone) begin
      unit_code = ub_code;
      unit_addr = ub_addr;
    end
  end
  assign unit_fault  = unit_code != FaultNone && !freeze_i && !stopped_q;
  assign unit_newest = 1'b1;

  always_ff @(posedge clk_i) begin
    last_beat_q <= end_d - hbm_t'(1);
    asked_q     <= ask;
    room1_q     <= under_way_q < wf_free_i;
    room2_q     <= under_way_q + 16'd1 < wf_free_i;
    if (hbm_start) next_q <= new_d;
    if (!active_q || finish) begin
      now_q <= next_valid_q ? next_q : new_d;
    end else if (ask) begin
      now_q.addr    <= now_q.addr + hbm_t'(1);
      now_q.left    <= now_q.left - 1'b1;
      now_q.last    <= now_q.left == count_t'(2);
      now_q.outside <= now_q.addr == last_beat_q;
    end
    if (ask) rd_addr_q <= now_q.addr[AddrBits-Shift-1:0];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q     <= 1'b0;
      next_valid_q <= 1'b0;
      stopped_q    <= 1'b0;
      rd_valid_q   <= 1'b0;
      under_way_q  <= '0;
    end else begin
      if (unit_fault) stopped_q <= 1'b1;
      if (!active_q || finish) active_q <= next_valid_q || hbm_start;
      next_valid_q <= active_q && !finish && (next_valid_q || hbm_start);
      if (ask) rd_valid_q <= 1'b1;
      else if (rd_ready_i) rd_valid_q <= 1'b0;
      under_way_q <= under_way_q + 16'(ask) - 16'(rd_rsp_valid_i);
    end
  end

  // Responses: the beats of each descriptor in flight are counted. A descriptor without tiles never gets here.
  count_t                          list_beats, come_q;
  logic                            list_valid, list_transpose, complete, transpose;
  logic [$clog2(InFlight+1)-1:0]   list_count;

  // Number of tiles, from the descriptor's kind.
  logic [15:0] tiles;
  // verilator lint_off UNUSEDSIGNAL
  tiles_desc_t ub_desc;
  // verilator lint_on UNUSEDSIGNAL
  assign ub_desc   = tiles_desc_t'(req_i.desc);
  assign tiles     = is_tiles ? ub_desc.tiles : d.tiles;
  assign transpose = Cfg.Cell == CellBf16 && (is_tiles ? d.flags[FlagTilesTranspose] : d.flags[FlagWeightsTranspose]);

  systole_fifo #(.Width(BeatBits + 1), .Depth(InFlight)) u_list (
      .clk_i, .rst_ni,
      .valid_i(start), .ready_o(list_room), .data_i({transpose, count_t'(32'(tiles) * TileBeats)}),
      .valid_o(list_valid), .ready_i(complete), .data_o({list_transpose, list_beats}), .count_o(list_count)
  );
  assign complete       = wf_valid_o && come_q + count_t'(1) == list_beats;
  assign wf_valid_o     = rd_rsp_valid_i || ub_beat;
  assign wf_data_o      = ub_beat ? ub_data : rd_rsp_data_i;
  assign wf_transpose_o = list_transpose;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      come_q        <= '0;
      unit_done     <= 1'b0;
      unit_progress <= 1'b0;
    end else begin
      if (complete) come_q <= '0;
      else if (wf_valid_o) come_q <= come_q + 1'b1;
      unit_done     <= complete;
      unit_progress <= ask || ub_step || wf_valid_o;
    end
  end

  // Checks: every response belongs to a descriptor and was requested; one source at a time; requests hold until
  // accepted.
  logic                rd_held_q;
  logic [AddrBits-1:0] rd_last_q;
  always_ff @(posedge clk_i) begin
    rd_held_q <= rst_ni && rd_valid_o && !rd_ready_i;
    rd_last_q <= rd_addr_o;
    if (rst_ni) begin
      a_answer : assert (!rd_rsp_valid_i || (list_valid && under_way_q != '0));
      a_one_way : assert (!ub_beat || (list_valid && !rd_rsp_valid_i));
      a_list : assert (32'(list_count) <= InFlight);
      a_room : assert (under_way_q <= wf_free_i);
      a_next : assert (!next_valid_q || (active_q && now_q.last && !bad));
      a_rd_holds : assert (!rd_held_q || (rd_valid_o && rd_addr_o == rd_last_q));
    end
  end
endmodule
