// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Unified buffer of one preset, each window on ports of its own, for unified_buffer_test.cc.

module ub_bench
  import systole_presets_pkg::*;
#(
    parameter int unsigned Preset = 0,
    localparam core_cfg_t Cfg = core_preset(Preset),
    localparam int unsigned N = num_windows(Cfg),
    localparam int unsigned W = word_bytes(Cfg),
    localparam int unsigned D = beat_bytes(Cfg)
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic [N+2:0]          stall_i,

    input  logic [N-1:0]          win_rd_valid_i,
    input  logic [UbAddrBits-1:0] win_rd_addr_i [N],
    input  logic [1:0]            win_rd_need_i [N],
    output logic [N-1:0]          win_rd_ready_o,
    output logic [N-1:0]          win_rd_rsp_valid_o,
    output logic [W*8-1:0]        win_rd_data_o [N],

    input  logic                  vec_wr_valid_i,
    output logic                  vec_wr_ready_o,
    input  logic [UbAddrBits-1:0] vec_wr_addr_i,
    input  logic [W*8-1:0]        vec_wr_data_i,
    input  logic [W-1:0]          vec_wr_mask_i,

    input  logic                  dma_wr_valid_i,
    output logic                  dma_wr_ready_o,
    input  logic [UbAddrBits-1:0] dma_wr_addr_i,
    input  logic [D*8-1:0]        dma_wr_data_i,
    input  logic [D-1:0]          dma_wr_mask_i,
    input  logic                  dma_rd_valid_i,
    output logic                  dma_rd_ready_o,
    input  logic [UbAddrBits-1:0] dma_rd_addr_i,
    output logic                  dma_rd_rsp_valid_o,
    output logic [D*8-1:0]        dma_rd_data_o
);
  logic [N-1:0][UbAddrBits-1:0] addr;
  logic [N-1:0][1:0]            need;
  logic [N-1:0][W*8-1:0]        data;

  for (genvar p = 0; p < N; p++) begin : gen_window
    assign addr[p] = win_rd_addr_i[p];
    assign need[p] = win_rd_need_i[p];
    assign win_rd_data_o[p] = data[p];
  end

  systole_unified_buffer #(.Cfg(Cfg)) u_unified_buffer (
      .clk_i, .rst_ni,
      .win_rd_valid_i, .win_rd_addr_i(addr), .win_rd_need_i(need), .win_rd_ready_o, .win_rd_rsp_valid_o,
      .win_rd_data_o(data),
      .vec_wr_valid_i, .vec_wr_ready_o, .vec_wr_addr_i, .vec_wr_data_i, .vec_wr_mask_i,
      .dma_wr_valid_i, .dma_wr_ready_o, .dma_wr_addr_i, .dma_wr_data_i, .dma_wr_mask_i,
      .dma_rd_valid_i, .dma_rd_ready_o, .dma_rd_addr_i, .dma_rd_rsp_valid_o, .dma_rd_data_o
  );
  always @* u_unified_buffer.u_hold.bench = stall_i;
endmodule
