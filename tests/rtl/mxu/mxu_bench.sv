// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Matrix unit with its unified buffer and accumulators, for mxu_test.cc.

module mxu_bench
  import systole_presets_pkg::*;
  import systole_isa_pkg::*;
#(
    parameter int unsigned Preset = 0,
    parameter int unsigned FastArray = 0,
    localparam core_cfg_t Cfg = core_preset(Preset),
    localparam int unsigned W = word_bytes(Cfg),
    localparam int unsigned D = beat_bytes(Cfg)
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   flush_i,
    input  logic                   freeze_i,
    input  logic [15:0]            stall_i,  // matrix unit (2), accumulators, unified buffer
    input  logic                   start_peek_i,
    input  logic                   start_valid_i,
    output logic                   start_ready_o,
    input  desc_t                  start_desc_i,
    output logic                   done_o,
    output logic                   fault_valid_o,
    output logic [3:0]             fault_code_o,
    output logic [AddrBits-1:0]    fault_addr_o,
    output logic                   fault_newest_o,
    output logic                   progress_o,
    input  logic                   wf_valid_i,
    input  logic [D*8-1:0]         wf_data_i,
    input  logic                   wf_transpose_i,
    output logic [15:0]            wf_free_o,
    input  logic                   ub_wr_valid_i,
    output logic                   ub_wr_ready_o,
    input  logic [UbAddrBits-1:0]  ub_wr_addr_i,
    input  logic [D*8-1:0]         ub_wr_data_i,
    // The vector unit's and the store's traffic.
    input  logic                   vec_rd_valid_i,
    output logic                   vec_rd_ready_o,
    input  logic [UbAddrBits-1:0]  vec_rd_addr_i,
    output logic                   vec_rd_rsp_valid_o,
    output logic [W*8-1:0]         vec_rd_data_o,
    input  logic                   vec_wr_valid_i,
    output logic                   vec_wr_ready_o,
    input  logic [UbAddrBits-1:0]  vec_wr_addr_i,
    input  logic [W*8-1:0]         vec_wr_data_i,
    input  logic                   dma_rd_valid_i,
    output logic                   dma_rd_ready_o,
    input  logic [UbAddrBits-1:0]  dma_rd_addr_i,
    output logic                   dma_rd_rsp_valid_o,
    output logic [D*8-1:0]         dma_rd_data_o,

    input  logic                   acc_rd_valid_i,
    output logic                   acc_rd_ready_o,
    input  logic [AccAddrBits-1:0] acc_rd_row_i,
    output logic signed [31:0]     acc_rd_data_o [Cfg.Cols],
    output logic                   saturated_o,
    output logic                   vector_o,
    output logic                   stall_weights_o,
    output logic                   stall_swap_o,
    output logic                   stall_acc_o,
    output logic                   stall_ub_o
);
  localparam int unsigned S = Cfg.Segments;
  localparam int unsigned NumWin = num_windows(Cfg);
  logic [S-1:0]                 win_valid, win_ready, win_rsp;
  logic [S-1:0][UbAddrBits-1:0] win_addr;
  logic [S-1:0][1:0]            win_need;
  logic [S-1:0][W*8-1:0]        win_data;
  logic                         acc_valid, acc_accumulate, acc_done, feed_valid, feed_read;
  logic [AccAddrBits-1:0]       acc_row, feed_row;
  logic signed [31:0]           acc_data [Cfg.Cols];
  logic signed [31:0]           feed_data [Cfg.Cols];
  systole_bus_pkg::unit_req_t req;
  systole_bus_pkg::unit_rsp_t rsp;

  // verilator lint_off UNUSEDSIGNAL
  logic [NumWin-1:0]            ub_ready, ub_rsp;
  logic [NumWin-1:0][W*8-1:0]   ub_data;
  // verilator lint_on UNUSEDSIGNAL

  assign start_ready_o      = rsp.ready;
  assign done_o             = rsp.done;
  assign fault_valid_o      = rsp.fault;
  assign fault_code_o       = rsp.code;
  assign fault_addr_o       = rsp.addr;
  assign fault_newest_o     = rsp.newest;
  assign progress_o         = rsp.progress;
  assign req                = '{peek: start_peek_i, valid: start_valid_i, desc: start_desc_i};
  assign win_ready          = ub_ready[S-1:0];
  assign win_rsp            = ub_rsp[S-1:0];
  assign win_data           = ub_data[S-1:0];
  assign vec_rd_ready_o     = ub_ready[S];
  assign vec_rd_rsp_valid_o = ub_rsp[S];
  assign vec_rd_data_o      = ub_data[S];

  systole_mxu #(.Cfg(Cfg), .FastArray(FastArray)) u_mxu (
      .clk_i, .rst_ni, .freeze_i, .flush_i,
      .req_i(req), .rsp_o(rsp), .wf_valid_i, .wf_data_i, .wf_transpose_i, .wf_free_o,
      .win_valid_o(win_valid), .win_addr_o(win_addr), .win_need_o(win_need), .win_ready_i(win_ready),
      .win_rsp_valid_i(win_rsp), .win_data_i(win_data),
      .acc_feed_valid_o(feed_valid), .acc_feed_read_o(feed_read), .acc_feed_row_o(feed_row), .acc_feed_data_i(feed_data),
      .acc_wr_valid_o(acc_valid), .acc_wr_accumulate_o(acc_accumulate), .acc_wr_row_o(acc_row), .acc_wr_data_o(acc_data),
      .acc_wr_done_i(acc_done), .vector_o, .stall_weights_o, .stall_swap_o, .stall_acc_o, .stall_ub_o
  );
  systole_unified_buffer #(.Cfg(Cfg)) u_ub (
      .clk_i, .rst_ni,
      .win_rd_valid_i(NumWin'({vec_rd_valid_i, win_valid})), .win_rd_addr_i((NumWin*UbAddrBits)'({vec_rd_addr_i, win_addr})),
      .win_rd_need_i((NumWin*2)'({2'b11, win_need})), .win_rd_ready_o(ub_ready), .win_rd_rsp_valid_o(ub_rsp),
      .win_rd_data_o(ub_data),
      .vec_wr_valid_i, .vec_wr_ready_o, .vec_wr_addr_i, .vec_wr_data_i, .vec_wr_mask_i('1),
      .dma_wr_valid_i(ub_wr_valid_i), .dma_wr_ready_o(ub_wr_ready_o), .dma_wr_addr_i(ub_wr_addr_i),
      .dma_wr_data_i(ub_wr_data_i), .dma_wr_mask_i('1),
      .dma_rd_valid_i, .dma_rd_ready_o, .dma_rd_addr_i, .dma_rd_rsp_valid_o, .dma_rd_data_o
  );
  systole_accumulators #(.Cfg(Cfg)) u_acc (
      .clk_i, .rst_ni, .clear_i(flush_i),
      .feed_valid_i(feed_valid), .feed_read_i(feed_read), .feed_row_i(feed_row), .feed_data_o(feed_data),
      .wr_valid_i(acc_valid), .wr_accumulate_i(acc_accumulate), .wr_row_i(acc_row), .wr_data_i(acc_data),
      .wr_done_o(acc_done), .rd_valid_i(acc_rd_valid_i), .rd_ready_o(acc_rd_ready_o), .rd_row_i(acc_rd_row_i),
      .rd_data_o(acc_rd_data_o), .saturated_o, .nan_o(), .inf_o()
  );
  always @* u_mxu.u_hold.bench = stall_i[1:0];
  always @* u_acc.u_hold.bench = stall_i[2];
  always @* u_ub.u_hold.bench = stall_i[3+:NumWin+3];
endmodule
