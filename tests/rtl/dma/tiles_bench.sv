// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Weight loader of a bf16 preset behind ports that C++ reads easily: wide ones
// as arrays of 32-bit words.

module tiles_bench import systole_presets_pkg::*;
#(
parameter int unsigned Preset = PresetMini,
                       parameter int unsigned Beat =
                           0,  // bytes; 0: the preset's
    localparam core_cfg_t Of = core_preset(Preset),
                       localparam core_cfg_t Cfg = '{ Rows : Of.Rows,
                       Cols : Of.Cols, Cell : Of.Cell,
                       CellStages : Of.CellStages, Multipliers : Of.Multipliers,
                       UbBytes : Of.UbBytes, UbBanks : Of.UbBanks,
                       AccRows : Of.AccRows, WfifoTiles : Of.WfifoTiles,
                       LoadBuses : Of.LoadBuses, VectorLanes : Of.VectorLanes,
                       Sublanes : Of.Sublanes,
                       Residual : Of.Residual,
                       BeatBytes : Beat == 0 ? Of.BeatBytes : Beat,
                       Segments : Of.Segments, QueueDepth : Of.QueueDepth,
                       Parity : Of.Parity
},
    localparam int unsigned Words = beat_bytes(Cfg) / 4,
    localparam int unsigned WinWords = word_bytes(Cfg) / 4,
    localparam int unsigned T = tile_windows(Cfg)
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        freeze_i,
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
    output logic        rd_valid_o,
    input  logic        rd_ready_i,
    output logic [35:0] rd_addr_o,
    input  logic        rd_rsp_valid_i,
    input  logic [31:0] rd_rsp_data_i [Words],
    output logic [T-1:0] win_valid_o,
    input  logic [T-1:0] win_ready_i,
    output logic [24:0] win_addr_o [T],
    output logic [1:0]  win_need_o [T],
    input  logic [T-1:0] win_rsp_valid_i,
    input  logic [31:0] win_data_i [T][WinWords],
    input  logic [15:0] wf_free_i,
    output logic        wf_valid_o,
    output logic        wf_transpose_o,
    output logic [31:0] wf_data_o [Words]
);
systole_bus_pkg::unit_req_t req;
systole_bus_pkg::unit_rsp_t rsp;
logic [Words * 32 - 1:0] rd_data, wf_data;
logic [T - 1:0] [WinWords * 32 - 1:0] win_data;
logic [T - 1:0] [24:0] win_addr;
logic [T - 1:0] [1:0] win_need;

assign start_ready_o = rsp.ready;
assign done_o = rsp.done;
assign fault_valid_o = rsp.fault;
assign fault_code_o = rsp.code;
assign fault_addr_o = rsp.addr;
assign fault_newest_o = rsp.newest;
assign progress_o = rsp.progress;
assign req.peek = 1'b0;
assign req.valid = start_valid_i;

for (genvar w = 0; w < 16; w++)
  begin : gen_desc assign req.desc [w * 32 +:32] = start_desc_i[w];
end for (genvar w = 0; w < Words; w++) begin :
    gen_beat assign rd_data [w * 32 +:32] = rd_rsp_data_i[w];
assign wf_data_o[w] = wf_data [w * 32 +:32];
end for (genvar t = 0; t < T; t++) begin : gen_window assign win_addr_o[t] =
                                               win_addr[t];
assign win_need_o[t] = win_need[t];
for (genvar w = 0; w < WinWords; w++)
  begin : gen_word assign win_data[t] [w * 32 +:32] = win_data_i[t][w];
    end
  end

  systole_weight_loader #(.Cfg(Cfg)) u_dut (
      .clk_i, .rst_ni, .freeze_i, .hbm_base_i('0), .hbm_end_i, .req_i(req), .rsp_o(rsp),
      .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i(rd_data),
      .win_valid_o, .win_ready_i, .win_addr_o(win_addr), .win_need_o(win_need), .win_rsp_valid_i, .win_data_i(win_data),
      .wf_valid_o, .wf_data_o(wf_data), .wf_transpose_o, .wf_free_i, .full_o
  );
endmodule
