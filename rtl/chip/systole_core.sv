// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The core: sequencer, queues, sync flags, units, unified buffer and accumulators; everything except the HBM and the host
// interface. A start resets it for one cycle, so that a program finds flags, weight FIFO and saturation flag clear. Memories
// keep their data.
// Docs: docs/design.md, docs/sequencer.md. Test: tests/system.

module systole_core
  import systole_presets_pkg::*;
  import systole_isa_pkg::*;
  import systole_csr_pkg::*;
  import systole_hbm_pkg::perf_t;
  import systole_mxu_pkg::*;
  import systole_bus_pkg::unit_req_t;
  import systole_bus_pkg::unit_rsp_t;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano),
    parameter int unsigned FastArray = 0,  // 1: the array's simulation view (systole_mxu_array)
    parameter bit          Issue = 1'b0,   // 1: the chip has a scalar unit
    parameter int unsigned Cores = 1,      // cores of the chip
    parameter bit          Links = 1'b0,   // 1: the chip has links
    parameter int unsigned FlitBytes = 16,
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned NumWin = num_windows(Cfg),
    localparam int unsigned T = tile_windows(Cfg)
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,       // power-on or soft reset
    input  logic                           freeze_i,     // a soft reset follows: make no new access

    // Registers (systole_csr).
    input  logic                           start_i,      // pulse
    input  systole_bus_pkg::core_ctl_t     ctl_i,
    input  logic [AddrBits:0]              hbm_end_i,    // programs may access addresses from ctl_i.base to hbm_end_i - 1
    output systole_bus_pkg::core_status_t  status_o,
    output logic [NumCounters-1:0][CtrIncBits-1:0] ctr_inc_o,
    // verilator lint_off UNUSEDSIGNAL
    input  systole_bus_pkg::mem_status_t   mem_i,        // errors, and events for the counters
    // verilator lint_on UNUSEDSIGNAL

    // Scalar unit: issue port and sync flags; 0 without one.
    input  systole_bus_pkg::issue_req_t    issue_req_i,
    output logic                           issue_ready_o,
    input  systole_bus_pkg::flag_req_t     flag_req_i,
    output systole_bus_pkg::flag_rsp_t     flag_rsp_o,

    // Posts between cores; 0 without another core.
    input  systole_bus_pkg::peer_req_t     peer_req_i,
    output systole_bus_pkg::peer_rsp_t     peer_rsp_o,

    // HBM clients: 0 fetch, 1 weight, 2 load; store.
    output logic [2:0]                     rd_valid_o,
    input  logic [2:0]                     rd_ready_i,
    output logic [2:0][AddrBits-1:0]       rd_addr_o,
    input  logic [2:0]                     rd_rsp_valid_i,
    input  logic [2:0]                     rd_rsp_far_i,  // with it: the data are from the other core, on the last bus of rd_rsp_data_i
    input  logic [Cores-1:0][D*8-1:0]      rd_rsp_data_i,
    output logic                           wr_valid_o,
    input  logic                           wr_ready_i,
    output logic [AddrBits-1:0]            wr_addr_o,
    output logic [D*8-1:0]                 wr_data_o,
    output logic [D-1:0]                   wr_mask_o,

    // Network; 0 without links.
    input  systole_bus_pkg::send_ctl_t     send_i,
    output systole_bus_pkg::send_stream_t  send_o,
    output logic [FlitBytes*8-1:0]         send_data_o,

    output systole_bus_pkg::retire_t       retire_o
);
  localparam int unsigned W = word_bytes(Cfg);
  localparam int unsigned S = Cfg.Segments;
  localparam logic        Bf16 = Cfg.Cell == CellBf16;
  localparam int unsigned LaneBits = $clog2(Cfg.Cols + 1);
  localparam int unsigned MxuInFlight = max_in_flight(array_latency(Cfg.Rows, Cfg.Cols, Cfg.CellStages));

  // A start clears the state that a program must find clear. The program begins one cycle later.
  logic clear_q, begin_q, core_rst_n;
  always_ff @(posedge clk_i) begin
    clear_q <= rst_ni && start_i;
    begin_q <= rst_ni && clear_q;
  end
  assign core_rst_n = rst_ni && !clear_q;

  // Read data, from the core's own memory or from the other core's.
  logic [D*8-1:0] fetch_data, weight_data, load_data;
  if (Cores > 1) begin : gen_far
    assign fetch_data  = rd_rsp_far_i[0] ? rd_rsp_data_i[1] : rd_rsp_data_i[0];
    assign weight_data = rd_rsp_far_i[1] ? rd_rsp_data_i[1] : rd_rsp_data_i[0];
    assign load_data   = rd_rsp_far_i[2] ? rd_rsp_data_i[1] : rd_rsp_data_i[0];
  end else begin : gen_near
    assign fetch_data  = rd_rsp_data_i[0];
    assign weight_data = rd_rsp_data_i[0];
    assign load_data   = rd_rsp_data_i[0];
    logic unused;
    assign unused = &{1'b0, rd_rsp_far_i};
  end

  // Program control. req and rsp are indexed by queue number.
  unit_req_t                    req [NumQueues];
  unit_rsp_t                    rsp [NumQueues];
  logic [NumQueues-1:0]         done, q_idle, q_busy, q_waiting, freeze, freeze_q;
  systole_bus_pkg::core_status_t control_status;
  logic                         dispatch_stall;

  systole_control #(.D(D), .Cell(Cfg.Cell), .QueueDepth(Cfg.QueueDepth), .MxuInFlight(MxuInFlight), .Issue(Issue), .Peer(Cores > 1),
      .Links(Links), .Parity(Cfg.Parity != 0)) u_control (
      .clk_i, .rst_ni(core_rst_n), .peer_rst_ni(rst_ni), .peer_req_i, .peer_rsp_o, .freeze_i, .freeze_o(freeze),
      .start_i(begin_q), .ctl_i, .hbm_end_i, .mem_error_i(mem_i.error), .status_o(control_status),
      .rd_valid_o(rd_valid_o[0]), .rd_ready_i(rd_ready_i[0]), .rd_addr_o(rd_addr_o[0]),
      .rd_rsp_valid_i(rd_rsp_valid_i[0]), .rd_rsp_data_i(fetch_data),
      .issue_req_i, .issue_ready_o, .flag_req_i, .flag_rsp_o, .req_o(req), .rsp_i(rsp),
      .idle_o(q_idle), .busy_o(q_busy), .waiting_o(q_waiting), .dispatch_stall_o(dispatch_stall),
      .retire_valid_o(retire_o.valid), .retire_index_o(retire_o.index)
  );
  // The units are far from the control, and the freeze gates requests that go on to arbiters. So it crosses to the units in a
  // pipeline stage of its own.
  always_ff @(posedge clk_i) freeze_q <= freeze;
  for (genvar q = 0; q < NumQueues; q++) begin : gen_done
    assign done[q] = rsp[q].done;
  end

  // Unified buffer.
  logic [NumWin-1:0]                 win_valid, win_ready, win_rsp_valid;
  logic [NumWin-1:0][UbAddrBits-1:0] win_addr;
  logic [NumWin-1:0][1:0]            win_need;
  logic [NumWin-1:0][W*8-1:0]        win_data;
  logic                              vec_wr_valid, vec_wr_ready, ld_valid, ld_ready, st_valid, st_ready, st_rsp_valid;
  logic [UbAddrBits-1:0]             vec_wr_addr, ld_addr, st_addr;
  logic [W*8-1:0]                    vec_wr_data;
  logic [W-1:0]                      vec_wr_mask;
  logic [D*8-1:0]                    ld_data, st_data;
  logic [D-1:0]                      ld_mask;

  systole_unified_buffer #(.Cfg(Cfg)) u_unified_buffer (
      .clk_i, .rst_ni(core_rst_n),
      .win_rd_valid_i(win_valid), .win_rd_addr_i(win_addr), .win_rd_need_i(win_need), .win_rd_ready_o(win_ready),
      .win_rd_rsp_valid_o(win_rsp_valid), .win_rd_data_o(win_data),
      .vec_wr_valid_i(vec_wr_valid), .vec_wr_ready_o(vec_wr_ready), .vec_wr_addr_i(vec_wr_addr),
      .vec_wr_data_i(vec_wr_data), .vec_wr_mask_i(vec_wr_mask),
      .dma_wr_valid_i(ld_valid), .dma_wr_ready_o(ld_ready), .dma_wr_addr_i(ld_addr), .dma_wr_data_i(ld_data),
      .dma_wr_mask_i(ld_mask),
      .dma_rd_valid_i(st_valid), .dma_rd_ready_o(st_ready), .dma_rd_addr_i(st_addr), .dma_rd_rsp_valid_o(st_rsp_valid),
      .dma_rd_data_o(st_data)
  );

  // DMA. Reads of beats of the unified buffer: store's data, store's and load's tables (bf16), send's data (links). They share a port.
  localparam int unsigned Readers = Links ? 4 : Bf16 ? 3 : 1;
  logic [3:0]                 beat_valid, beat_ready, beat_rsp_valid;
  logic [3:0][UbAddrBits-1:0] beat_addr;
  if (Readers > 1) begin : gen_share
    systole_dma_share #(.Units(Readers)) u_share (
        .clk_i, .rst_ni(core_rst_n), .valid_i(beat_valid[Readers-1:0]), .ready_o(beat_ready[Readers-1:0]),
        .addr_i(beat_addr[Readers-1:0]), .rsp_valid_o(beat_rsp_valid[Readers-1:0]),
        .ub_valid_o(st_valid), .ub_ready_i(st_ready), .ub_addr_o(st_addr), .ub_rsp_valid_i(st_rsp_valid)
    );
  end else begin : gen_no_share
    assign st_valid          = beat_valid[0];
    assign st_addr           = beat_addr[0];
    assign beat_ready[0]     = st_ready;
    assign beat_rsp_valid[0] = st_rsp_valid;
  end
  for (genvar i = Readers; i < 4; i++) begin : gen_no_reader
    assign {beat_ready[i], beat_rsp_valid[i]} = '0;
    logic unused;
    assign unused = &{1'b0, beat_valid[i], beat_addr[i], beat_ready[i], beat_rsp_valid[i]};
  end

  logic                  wf_valid, wf_transpose, weight_full;
  logic [T-1:0]          tile_win_ready, tile_win_rsp_valid;
  logic [D*8-1:0]        wf_data;
  logic [15:0]           wf_free;
  // verilator lint_off UNUSEDSIGNAL
  logic [T-1:0]          tile_win_valid;  // used with bf16 only
  logic [T-1:0][1:0]     tile_win_need;
  logic [T-1:0][UbAddrBits-1:0] tile_win_addr;
  // verilator lint_on UNUSEDSIGNAL

  systole_dma_load #(.Cfg(Cfg)) u_load (
      .clk_i, .rst_ni(core_rst_n), .freeze_i(freeze_q[QueueLoad]), .hbm_base_i(ctl_i.base), .hbm_end_i,
      .req_i(req[QueueLoad]), .rsp_o(rsp[QueueLoad]),
      .rd_valid_o(rd_valid_o[2]), .rd_ready_i(rd_ready_i[2]), .rd_addr_o(rd_addr_o[2]),
      .rd_rsp_valid_i(rd_rsp_valid_i[2]), .rd_rsp_data_i(load_data),
      .ub_valid_o(ld_valid), .ub_ready_i(ld_ready), .ub_addr_o(ld_addr), .ub_data_o(ld_data), .ub_mask_o(ld_mask),
      .index_valid_o(beat_valid[2]), .index_ready_i(beat_ready[2]), .index_addr_o(beat_addr[2]), .index_rsp_valid_i(beat_rsp_valid[2]),
      .index_data_i(st_data)
  );

  systole_weight_loader #(.Cfg(Cfg)) u_weight_loader (
      .clk_i, .rst_ni(core_rst_n), .freeze_i(freeze_q[QueueWeight]), .hbm_base_i(ctl_i.base), .hbm_end_i,
      .req_i(req[QueueWeight]), .rsp_o(rsp[QueueWeight]),
      .rd_valid_o(rd_valid_o[1]), .rd_ready_i(rd_ready_i[1]), .rd_addr_o(rd_addr_o[1]),
      .rd_rsp_valid_i(rd_rsp_valid_i[1]), .rd_rsp_data_i(weight_data),
      .win_valid_o(tile_win_valid), .win_addr_o(tile_win_addr), .win_need_o(tile_win_need),
      .win_ready_i(tile_win_ready), .win_rsp_valid_i(tile_win_rsp_valid), .win_data_i(win_data[NumWin-1-:T]),
      .wf_valid_o(wf_valid), .wf_data_o(wf_data), .wf_transpose_o(wf_transpose), .wf_free_i(wf_free), .full_o(weight_full)
  );

  systole_dma_store #(.Cfg(Cfg)) u_store (
      .clk_i, .rst_ni(core_rst_n), .freeze_i(freeze_q[QueueStore]), .hbm_base_i(ctl_i.base), .hbm_end_i,
      .req_i(req[QueueStore]), .rsp_o(rsp[QueueStore]),
      .ub_valid_o(beat_valid[0]), .ub_ready_i(beat_ready[0]), .ub_addr_o(beat_addr[0]), .ub_rsp_valid_i(beat_rsp_valid[0]),
      .ub_data_i(st_data),
      .wr_valid_o, .wr_ready_i, .wr_addr_o, .wr_data_o, .wr_mask_o,
      .index_valid_o(beat_valid[1]), .index_ready_i(beat_ready[1]), .index_addr_o(beat_addr[1]), .index_rsp_valid_i(beat_rsp_valid[1]),
      .index_data_i(st_data)
  );
  if (Links) begin : gen_send
    systole_dma_send #(.Cfg(Cfg), .FlitBytes(FlitBytes)) u_send (
        .clk_i, .rst_ni(core_rst_n), .freeze_i(freeze_q[QueueSend]), .core_i(send_i.core), .torus_i(send_i.torus),
        .base_i(ctl_i.base), .end_i(send_i.last), .req_i(req[QueueSend]), .rsp_o(rsp[QueueSend]), .busy_o(send_o.busy),
        .ub_valid_o(beat_valid[3]), .ub_ready_i(beat_ready[3]), .ub_addr_o(beat_addr[3]), .ub_rsp_valid_i(beat_rsp_valid[3]),
        .ub_data_i(st_data),
        .send_valid_o(send_o.valid), .send_ready_i(send_i.ready), .send_head_o(send_o.head), .send_last_o(send_o.last), .send_data_o
    );
  end else begin : gen_no_send
    assign {beat_valid[3], beat_addr[3]} = '0;
    assign rsp[QueueSend] = '0;
    assign send_o         = '0;
    assign send_data_o    = '0;
    logic unused;
    assign unused = &{1'b0, req[QueueSend], send_i};
  end

  // Matrix unit and accumulators.
  logic                   acc_wr_valid, acc_wr_accumulate, acc_wr_done, acc_rd_valid, acc_rd_ready, acc_saturated;
  logic                   acc_feed_valid, acc_feed_read;
  logic [AccAddrBits-1:0] acc_wr_row, acc_rd_row, acc_feed_row;
  logic signed [31:0]     acc_wr_data [Cfg.Cols];
  logic signed [31:0]     acc_rd_data [Cfg.Cols];
  logic signed [31:0]     acc_feed_data [Cfg.Cols];
  logic                   mxu_vector, mxu_stall_weights, mxu_stall_swap, mxu_stall_acc, mxu_stall_ub;
  logic                   vec_stall_ub, vec_saturated, vec_saturated_q;
  logic [LaneBits-1:0]    mxu_nan, mxu_inf, vec_nan, vec_inf;  // number of elements in this cycle

  systole_mxu #(.Cfg(Cfg), .FastArray(FastArray)) u_mxu (
      .clk_i, .rst_ni(core_rst_n), .freeze_i(freeze_q[QueueMxu]), .flush_i(begin_q),
      .req_i(req[QueueMxu]), .rsp_o(rsp[QueueMxu]),
      .wf_valid_i(wf_valid), .wf_data_i(wf_data), .wf_transpose_i(wf_transpose), .wf_free_o(wf_free),
      .win_valid_o(win_valid[S-1:0]), .win_addr_o(win_addr[S-1:0]), .win_need_o(win_need[S-1:0]),
      .win_ready_i(win_ready[S-1:0]), .win_rsp_valid_i(win_rsp_valid[S-1:0]), .win_data_i(win_data[S-1:0]),
      .acc_feed_valid_o(acc_feed_valid), .acc_feed_read_o(acc_feed_read), .acc_feed_row_o(acc_feed_row),
      .acc_feed_data_i(acc_feed_data),
      .acc_wr_valid_o(acc_wr_valid), .acc_wr_accumulate_o(acc_wr_accumulate), .acc_wr_row_o(acc_wr_row),
      .acc_wr_data_o(acc_wr_data), .acc_wr_done_i(acc_wr_done),
      .vector_o(mxu_vector), .stall_weights_o(mxu_stall_weights), .stall_swap_o(mxu_stall_swap),
      .stall_acc_o(mxu_stall_acc), .stall_ub_o(mxu_stall_ub)
  );

  systole_accumulators #(.Cfg(Cfg)) u_accumulators (
      .clk_i, .rst_ni(core_rst_n), .clear_i(begin_q),
      .feed_valid_i(acc_feed_valid), .feed_read_i(acc_feed_read), .feed_row_i(acc_feed_row), .feed_data_o(acc_feed_data),
      .wr_valid_i(acc_wr_valid), .wr_accumulate_i(acc_wr_accumulate), .wr_row_i(acc_wr_row), .wr_data_i(acc_wr_data),
      .wr_done_o(acc_wr_done),
      .rd_valid_i(acc_rd_valid), .rd_ready_o(acc_rd_ready), .rd_row_i(acc_rd_row), .rd_data_o(acc_rd_data),
      .saturated_o(acc_saturated), .nan_o(mxu_nan), .inf_o(mxu_inf)
  );

  // Vector unit: the quantising one (int8) or the programmable one (bf16).
  if (!Bf16) begin : gen_int8
    systole_vector #(.Cfg(Cfg)) u_vector (
        .clk_i, .rst_ni(core_rst_n), .freeze_i(freeze_q[QueueVector]),
        .req_i(req[QueueVector]), .rsp_o(rsp[QueueVector]),
        .vrd_valid_o(win_valid[S]), .vrd_ready_i(win_ready[S]), .vrd_addr_o(win_addr[S]), .vrd_rsp_valid_i(win_rsp_valid[S]),
        .vrd_data_i(win_data[S]),
        .vwr_valid_o(vec_wr_valid), .vwr_ready_i(vec_wr_ready), .vwr_addr_o(vec_wr_addr), .vwr_data_o(vec_wr_data),
        .vwr_mask_o(vec_wr_mask),
        .acc_rd_valid_o(acc_rd_valid), .acc_rd_ready_i(acc_rd_ready), .acc_rd_row_o(acc_rd_row),
        .acc_rd_data_i(acc_rd_data),
        .saturated_o(vec_saturated), .stall_ub_o(vec_stall_ub)
    );
    assign win_need[S] = {win_addr[S][$clog2(W)-1:0] != '0, 1'b1};  // an aligned window is one word
    assign {tile_win_ready, tile_win_rsp_valid, vec_nan, vec_inf} = '0;
  end else begin : gen_bf16
    logic [W*8-1:0] vrd_data [2];
    // verilator lint_off UNUSEDSIGNAL
    logic [systole_vpu_types_pkg::Units-1:0] rows;  // not used for counters
    // verilator lint_on UNUSEDSIGNAL
    assign vrd_data = '{win_data[S], win_data[S+1]};

    systole_vpu #(.Cfg(Cfg)) u_vector (
        .clk_i, .rst_ni(core_rst_n), .freeze_i(freeze_q[QueueVector]),
        .req_i(req[QueueVector]), .rsp_o(rsp[QueueVector]),
        .vrd_valid_o(win_valid[S+1:S]), .vrd_ready_i(win_ready[S+1:S]), .vrd_addr_o(win_addr[S+1:S]),
        .vrd_need_o(win_need[S+1:S]), .vrd_rsp_valid_i(win_rsp_valid[S+1:S]), .vrd_data_i(vrd_data),
        .vwr_valid_o(vec_wr_valid), .vwr_ready_i(vec_wr_ready), .vwr_addr_o(vec_wr_addr), .vwr_data_o(vec_wr_data),
        .vwr_mask_o(vec_wr_mask),
        .acc_rd_valid_o(acc_rd_valid), .acc_rd_ready_i(acc_rd_ready), .acc_rd_row_o(acc_rd_row),
        .acc_rd_data_i(acc_rd_data),
        .busy_o(rows), .stall_ub_o(vec_stall_ub), .nan_o(vec_nan), .inf_o(vec_inf)
    );
    assign vec_saturated = 1'b0;

    // The weight loader's windows.
    assign win_valid[NumWin-1-:T] = tile_win_valid;
    assign win_addr[NumWin-1-:T]  = tile_win_addr;
    assign win_need[NumWin-1-:T]  = tile_win_need;
    assign tile_win_ready      = win_ready[NumWin-1-:T];
    assign tile_win_rsp_valid  = win_rsp_valid[NumWin-1-:T];
  end

  always_ff @(posedge clk_i) begin
    if (!core_rst_n) vec_saturated_q <= 1'b0;
    else if (vec_saturated) vec_saturated_q <= 1'b1;
  end
  always_comb begin
    status_o               = control_status;
    status_o.running       = (clear_q || begin_q || control_status.running) && !control_status.fault;
    status_o.acc_saturated = acc_saturated || vec_saturated_q;
  end

  // Performance counters: the increment of each in this cycle of a program.
  logic acc_stall;
  assign acc_stall = acc_rd_valid && !acc_rd_ready;
  always_comb begin
    ctr_inc_o[CtrCycles]          = CtrIncBits'(1);
    ctr_inc_o[CtrDescriptors]     = CtrIncBits'($countones(done)) + CtrIncBits'(control_status.done);
    ctr_inc_o[CtrLoadBusy]        = CtrIncBits'(q_busy[QueueLoad]);
    ctr_inc_o[CtrLoadWait]        = CtrIncBits'(q_waiting[QueueLoad]);
    ctr_inc_o[CtrLoadBytes]       = ld_valid && ld_ready ? CtrIncBits'(D) : '0;
    ctr_inc_o[CtrWeightBusy]      = CtrIncBits'(q_busy[QueueWeight]);
    ctr_inc_o[CtrWeightWait]      = CtrIncBits'(q_waiting[QueueWeight]);
    ctr_inc_o[CtrWeightBytes]     = rd_rsp_valid_i[1] ? CtrIncBits'(D) : '0;
    ctr_inc_o[CtrWeightFull]      = CtrIncBits'(weight_full);
    ctr_inc_o[CtrMxuBusy]         = CtrIncBits'(q_busy[QueueMxu]);
    ctr_inc_o[CtrMxuWait]         = CtrIncBits'(q_waiting[QueueMxu]);
    ctr_inc_o[CtrMxuVectors]      = CtrIncBits'(mxu_vector);
    ctr_inc_o[CtrMxuStallWeights] = CtrIncBits'(mxu_stall_weights);
    ctr_inc_o[CtrMxuStallSwap]    = CtrIncBits'(mxu_stall_swap);
    ctr_inc_o[CtrMxuStallUb]      = CtrIncBits'(mxu_stall_ub);
    ctr_inc_o[CtrMxuStallAcc]     = CtrIncBits'(mxu_stall_acc);
    ctr_inc_o[CtrMxuIdle]         = CtrIncBits'(q_idle[QueueMxu]);
    ctr_inc_o[CtrVectorBusy]      = CtrIncBits'(q_busy[QueueVector]);
    ctr_inc_o[CtrVectorWait]      = CtrIncBits'(q_waiting[QueueVector]);
    ctr_inc_o[CtrVectorStallUb]   = CtrIncBits'(vec_stall_ub || acc_stall);
    ctr_inc_o[CtrStoreBusy]       = CtrIncBits'(q_busy[QueueStore]);
    ctr_inc_o[CtrStoreWait]       = CtrIncBits'(q_waiting[QueueStore]);
    ctr_inc_o[CtrStoreBytes]      = wr_valid_o && wr_ready_i ? CtrIncBits'(D) : '0;
    ctr_inc_o[CtrHbmReadBeats]    = CtrIncBits'(mem_i.perf.rd_beat);
    ctr_inc_o[CtrHbmWriteBeats]   = CtrIncBits'(mem_i.perf.wr_beat);
    ctr_inc_o[CtrHbmActivates]    = CtrIncBits'(mem_i.perf.activates);
    ctr_inc_o[CtrHbmRefresh]      = CtrIncBits'(mem_i.perf.refreshing);
    ctr_inc_o[CtrFetchBytes]      = rd_rsp_valid_i[0] ? CtrIncBits'(D) : '0;
    ctr_inc_o[CtrDispatchStall]   = CtrIncBits'(dispatch_stall);
    ctr_inc_o[CtrMxuNan]          = CtrIncBits'(mxu_nan);
    ctr_inc_o[CtrMxuInf]          = CtrIncBits'(mxu_inf);
    ctr_inc_o[CtrVectorNan]       = CtrIncBits'(vec_nan);
    ctr_inc_o[CtrVectorInf]       = CtrIncBits'(vec_inf);
    ctr_inc_o[CtrSendBusy]        = CtrIncBits'(q_busy[QueueSend]);
    ctr_inc_o[CtrSendWait]        = CtrIncBits'(q_waiting[QueueSend]);
    ctr_inc_o[CtrSendBytes]       = send_o.valid && send_i.ready && send_o.head.length != '0 ? CtrIncBits'(FlitBytes) : '0;
  end

  // Checks: every fault has a code; at the end of a program, all queues are idle and no memory access is requested.
  always_ff @(posedge clk_i) begin
    if (core_rst_n) begin
      for (int unsigned q = 0; q < NumQueues; q++) a_code : assert (!rsp[q].fault || rsp[q].code != FaultNone);
      a_quiet : assert (!control_status.done || (q_idle == '1 && rd_valid_o == '0 && !wr_valid_o));
    end
  end
endmodule
