// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One of the three DMA units at a preset behind the same ports, wide ones as arrays of 32-bit words, so that one C++ bench drives
// every unit and size.

module dma_bench
  import systole_presets_pkg::*;
#(
    parameter int unsigned Preset = PresetNano,
    parameter int unsigned Unit = 0,                          // 0: load, 1: store, 2: weights
    localparam core_cfg_t Cfg = core_preset(Preset),
    localparam int unsigned Words = beat_bytes(Cfg) / 4,
    localparam int unsigned Masks = beat_bytes(Cfg) / 32
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        freeze_i,
    input  logic [35:0] hbm_base_i,
    input  logic [36:0] hbm_end_i,
    input  logic        start_valid_i,
    output logic        start_ready_o,
    input  logic [31:0] start_desc_i [16],
    output logic        done_o,
    output logic        fault_valid_o,
    output logic [3:0]  fault_code_o,
    output logic [35:0] fault_addr_o,
    output logic        fault_newest_o,
    output logic        progress_o,
    output logic        full_o,
    output logic        win_valid_o,  // of the unified buffer's windows: a bf16 core's
    output logic        rd_valid_o,
    input  logic        rd_ready_i,
    output logic [35:0] rd_addr_o,
    input  logic        rd_rsp_valid_i,
    input  logic [31:0] rd_rsp_data_i [Words],
    // verilator lint_off UNUSEDSIGNAL
    input  logic [15:0] wf_free_i,   // weights only
    input  logic        wr_ready_i,  // load and store only
    // verilator lint_on UNUSEDSIGNAL
    output logic        wr_valid_o,
    output logic [35:0] wr_addr_o,
    output logic [31:0] wr_data_o [Words],
    output logic [31:0] wr_mask_o [Masks],
    // Tables of indexed loads and stores.
    output logic        index_valid_o,
    // verilator lint_off UNUSEDSIGNAL
    input  logic        index_ready_i,
    output logic [24:0] index_addr_o,
    input  logic        index_rsp_valid_i,
    input  logic [31:0] index_data_i [Words]
    // verilator lint_on UNUSEDSIGNAL
);
  systole_bus_pkg::unit_req_t req;
  systole_bus_pkg::unit_rsp_t rsp;
  logic [Words*32-1:0]     rd_data, wr_data, index_data;
  logic [Masks*32-1:0]     wr_mask;

  assign start_ready_o  = rsp.ready;
  assign done_o         = rsp.done;
  assign fault_valid_o  = rsp.fault;
  assign fault_code_o   = rsp.code;
  assign fault_addr_o   = rsp.addr;
  assign fault_newest_o = rsp.newest;
  assign progress_o     = rsp.progress;
  assign req.peek       = 1'b0;
  assign req.valid      = start_valid_i;

  for (genvar w = 0; w < 16; w++) begin : gen_desc
    assign req.desc[w*32+:32] = start_desc_i[w];
  end
  for (genvar w = 0; w < Words; w++) begin : gen_data
    assign rd_data[w*32+:32] = rd_rsp_data_i[w];
    assign wr_data_o[w]      = wr_data[w*32+:32];
    assign index_data[w*32+:32] = index_data_i[w];
  end
  for (genvar w = 0; w < Masks; w++) begin : gen_mask
    assign wr_mask_o[w] = wr_mask[w*32+:32];
  end

  if (Unit == 0) begin : gen_load
    assign full_o           = 1'b0;
    assign win_valid_o      = 1'b0;
    assign wr_addr_o[35:25] = '0;
    systole_dma_load #(.Cfg(Cfg)) u_dut (
        .clk_i, .rst_ni, .freeze_i, .hbm_base_i, .hbm_end_i,
        .req_i(req), .rsp_o(rsp),
        .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i(rd_data),
        .ub_valid_o(wr_valid_o), .ub_ready_i(wr_ready_i), .ub_addr_o(wr_addr_o[24:0]),
        .ub_data_o(wr_data), .ub_mask_o(wr_mask),
        .index_valid_o, .index_ready_i, .index_addr_o, .index_rsp_valid_i, .index_data_i(index_data)
    );
  end else if (Unit == 1) begin : gen_store
    assign full_o           = 1'b0;
    assign win_valid_o      = 1'b0;
    assign rd_addr_o[35:25] = '0;
    systole_dma_store #(.Cfg(Cfg)) u_dut (
        .clk_i, .rst_ni, .freeze_i, .hbm_base_i, .hbm_end_i,
        .req_i(req), .rsp_o(rsp),
        .ub_valid_o(rd_valid_o), .ub_ready_i(rd_ready_i), .ub_addr_o(rd_addr_o[24:0]),
        .ub_rsp_valid_i(rd_rsp_valid_i), .ub_data_i(rd_data),
        .wr_valid_o, .wr_ready_i, .wr_addr_o, .wr_data_o(wr_data), .wr_mask_o(wr_mask),
        .index_valid_o, .index_ready_i, .index_addr_o, .index_rsp_valid_i, .index_data_i(index_data)
    );
  end else begin : gen_weights
    assign wr_addr_o     = '0;
    assign index_valid_o = 1'b0;
    assign index_addr_o  = '0;
    assign wr_mask   = '1;
    // verilator lint_off UNUSEDSIGNAL
    logic        wf_transpose;  // of tiles from the unified buffer: tiles_bench.sv
    localparam int unsigned T = tile_windows(Cfg);
    logic [T-1:0]       win_valid;
    logic [T-1:0][24:0] win_addr;
    logic [T-1:0][1:0]  win_need;
    // verilator lint_on UNUSEDSIGNAL
    assign win_valid_o = win_valid != '0;
    systole_weight_loader #(.Cfg(Cfg)) u_dut (
        .clk_i, .rst_ni, .freeze_i, .hbm_base_i, .hbm_end_i,
        .req_i(req), .rsp_o(rsp),
        .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i(rd_data),
        .win_valid_o(win_valid), .win_addr_o(win_addr), .win_need_o(win_need), .win_ready_i('0), .win_rsp_valid_i('0),
        .win_data_i('0), .wf_valid_o(wr_valid_o), .wf_data_o(wr_data), .wf_transpose_o(wf_transpose), .wf_free_i, .full_o
    );
  end
endmodule
