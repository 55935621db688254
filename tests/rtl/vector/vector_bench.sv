// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_vector at a preset, its wide ports as arrays of 32-bit words, so that one C++ bench drives every size. Beside a small one runs
// a second one whose clock never stands still: what shows must be the same in each cycle.

module vector_bench
  import systole_presets_pkg::*;
#(
    parameter int unsigned Preset = PresetNano,
    localparam core_cfg_t Cfg = core_preset(Preset),
    localparam int unsigned Words = Cfg.Cols / 4,
    localparam int unsigned Masks = (Cfg.Cols + 31) / 32
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               start_valid_i,
    output logic               start_ready_o,
    input  logic [31:0]        start_desc_i [16],
    output logic               done_o,
    output logic               fault_valid_o,
    output logic [3:0]         fault_code_o,
    output logic [35:0]        fault_addr_o,
    output logic               fault_newest_o,
    input  logic               freeze_i,
    output logic               progress_o,
    output logic               vrd_valid_o,
    input  logic               vrd_ready_i,
    output logic [24:0]        vrd_addr_o,
    input  logic               vrd_rsp_valid_i,
    input  logic [31:0]        vrd_data_i [Words],
    output logic               vwr_valid_o,
    input  logic               vwr_ready_i,
    output logic [24:0]        vwr_addr_o,
    output logic [31:0]        vwr_data_o [Words],
    output logic [31:0]        vwr_mask_o [Masks],
    output logic               acc_rd_valid_o,
    input  logic               acc_rd_ready_i,
    output logic [12:0]        acc_rd_row_o,
    input  logic signed [31:0] acc_rd_data_i [Cfg.Cols],
    output logic               saturated_o,
    output logic               stall_ub_o
);
  systole_bus_pkg::unit_req_t req;
  systole_bus_pkg::unit_rsp_t rsp;
  logic [Cfg.Cols*8-1:0]   vrd_data, vwr_data;
  logic [Masks*32-1:0]     vwr_mask;
  logic [Cfg.Cols-1:0]     mask;

  assign start_ready_o  = rsp.ready;
  assign done_o         = rsp.done;
  assign fault_valid_o  = rsp.fault;
  assign fault_code_o   = rsp.code;
  assign fault_addr_o   = rsp.addr;
  assign fault_newest_o = rsp.newest;
  assign progress_o     = rsp.progress;
  assign req.peek       = 1'b0;
  assign req.valid      = start_valid_i;
  assign vwr_mask       = (Masks * 32)'(mask);

  for (genvar w = 0; w < 16; w++) begin : gen_desc
    assign req.desc[w*32+:32] = start_desc_i[w];
  end
  for (genvar w = 0; w < Words; w++) begin : gen_words
    assign vrd_data[w*32+:32] = vrd_data_i[w];
    assign vwr_data_o[w]      = vwr_data[w*32+:32];
  end
  for (genvar w = 0; w < Masks; w++) begin : gen_masks
    assign vwr_mask_o[w] = vwr_mask[w*32+:32];
  end

  systole_vector #(.Cfg(Cfg)) u_vector (
      .clk_i,
      .rst_ni,
      .req_i(req), .rsp_o(rsp),
      .freeze_i,
      .vrd_valid_o,
      .vrd_ready_i,
      .vrd_addr_o,
      .vrd_rsp_valid_i,
      .vrd_data_i   (vrd_data),
      .vwr_valid_o,
      .vwr_ready_i,
      .vwr_addr_o,
      .vwr_data_o   (vwr_data),
      .vwr_mask_o   (mask),
      .acc_rd_valid_o,
      .acc_rd_ready_i,
      .acc_rd_row_o,
      .acc_rd_data_i,
      .saturated_o,
      .stall_ub_o
  );

  if (Cfg.Cols == 8) begin : gen_second
    systole_bus_pkg::unit_rsp_t                         rsp2;
    logic                                               vrd_valid, vwr_valid, acc_rd_valid, saturated, stall_ub, reset_q, equal;
    logic [systole_presets_pkg::UbAddrBits-1:0]         vrd_addr, vwr_addr;
    logic [systole_presets_pkg::AccAddrBits-1:0]        acc_rd_row;
    logic [Cfg.Cols*8-1:0]                              data;
    logic [Cfg.Cols-1:0]                                mask2;

    systole_vector #(.Cfg(Cfg), .Gate(1'b0)) u_vector (
        .clk_i,
        .rst_ni,
        .req_i(req), .rsp_o(rsp2),
        .freeze_i,
        .vrd_valid_o  (vrd_valid),
        .vrd_ready_i,
        .vrd_addr_o   (vrd_addr),
        .vrd_rsp_valid_i,
        .vrd_data_i   (vrd_data),
        .vwr_valid_o  (vwr_valid),
        .vwr_ready_i,
        .vwr_addr_o   (vwr_addr),
        .vwr_data_o   (data),
        .vwr_mask_o   (mask2),
        .acc_rd_valid_o(acc_rd_valid),
        .acc_rd_ready_i,
        .acc_rd_row_o (acc_rd_row),
        .acc_rd_data_i,
        .saturated_o  (saturated),
        .stall_ub_o   (stall_ub)
    );

    always_comb begin
      equal = {rsp2.ready, rsp2.done, rsp2.progress, rsp2.fault, vrd_valid, vwr_valid, acc_rd_valid, saturated, stall_ub} ==
              {rsp.ready, rsp.done, rsp.progress, rsp.fault, vrd_valid_o, vwr_valid_o, acc_rd_valid_o, saturated_o, stall_ub_o};
      if (rsp.fault) equal &= {rsp2.code, rsp2.addr, rsp2.newest} == {rsp.code, rsp.addr, rsp.newest};
      if (vrd_valid_o) equal &= vrd_addr == vrd_addr_o;
      if (vwr_valid_o) equal &= {vwr_addr, data, mask2} == {vwr_addr_o, vwr_data, mask};
      if (acc_rd_valid_o) equal &= acc_rd_row == acc_rd_row_o;
    end
    always_ff @(posedge clk_i) begin
      reset_q <= !rst_ni;
      if (rst_ni && !reset_q) a_equal : assert (equal);
    end
  end
endmodule
