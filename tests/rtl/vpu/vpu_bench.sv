// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_vpu at a preset, its wide ports as arrays of 32-bit words, so that one C++ bench drives every size. Beside a small one runs a
// second one whose clock never stands still: what shows must be the same in each cycle.

module vpu_bench
  import systole_presets_pkg::*;
#(
    parameter int unsigned Preset = PresetMini,
    parameter bit          Fast = 1'b1,  // the lanes' simulation view
    parameter int unsigned Sublanes = 0,  // 0: the preset's
    localparam core_cfg_t  Of = core_preset(Preset),
    localparam int unsigned Masks = Of.Cols * 4 / 32
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
    output logic [1:0]         vrd_valid_o,
    input  logic [1:0]         vrd_ready_i,
    output logic [31:0]        vrd_addr_o [2],
    output logic [3:0]         vrd_need_o,
    input  logic [1:0]         vrd_rsp_valid_i,
    input  logic [31:0]        vrd_data_i [2*Of.Cols],
    output logic               vwr_valid_o,
    input  logic               vwr_ready_i,
    output logic [31:0]        vwr_addr_o,
    output logic [31:0]        vwr_data_o [Of.Cols],
    output logic [31:0]        vwr_mask_o [Masks],
    output logic               acc_rd_valid_o,
    input  logic               acc_rd_ready_i,
    output logic [12:0]        acc_rd_row_o,
    input  logic signed [31:0] acc_rd_data_i [Of.Cols],
    output logic [5:0]         busy_o,
    output logic               stall_ub_o,
    output logic [15:0]        nan_o,
    output logic [15:0]        inf_o
);
  function automatic core_cfg_t with_sublanes();
    core_cfg_t c;
    c = Of;
    if (Sublanes != 0) c.Sublanes = Sublanes;
    return c;
  endfunction
  localparam core_cfg_t Cfg = with_sublanes();

  logic [$clog2(Cfg.Cols+1)-1:0] nan, inf;
  assign nan_o = 16'(nan);
  assign inf_o = 16'(inf);

  systole_bus_pkg::unit_req_t req;
  systole_bus_pkg::unit_rsp_t rsp;
  logic [1:0][24:0]        vrd_addr;
  logic [24:0]             vwr_addr;
  logic [Cfg.Cols*32-1:0]  vrd_data [2];
  logic [Cfg.Cols*32-1:0]  vwr_data;
  logic [Cfg.Cols*4-1:0]   vwr_mask;

  assign start_ready_o  = rsp.ready;
  assign done_o         = rsp.done;
  assign fault_valid_o  = rsp.fault;
  assign fault_code_o   = rsp.code;
  assign fault_addr_o   = rsp.addr;
  assign fault_newest_o = rsp.newest;
  assign progress_o     = rsp.progress;
  assign req.peek       = 1'b0;
  assign req.valid      = start_valid_i;
  assign vwr_addr_o     = 32'(vwr_addr);

  for (genvar w = 0; w < 16; w++) begin : gen_desc
    assign req.desc[w*32+:32] = start_desc_i[w];
  end
  for (genvar r = 0; r < 2; r++) begin : gen_read
    assign vrd_addr_o[r] = 32'(vrd_addr[r]);
    for (genvar w = 0; w < Cfg.Cols; w++) begin : gen_words
      assign vrd_data[r][w*32+:32] = vrd_data_i[r*Cfg.Cols+w];
    end
  end
  for (genvar w = 0; w < Cfg.Cols; w++) begin : gen_words
    assign vwr_data_o[w] = vwr_data[w*32+:32];
  end
  for (genvar w = 0; w < Masks; w++) begin : gen_masks
    assign vwr_mask_o[w] = vwr_mask[w*32+:32];
  end

  systole_vpu #(.Cfg(Cfg), .Fast(Fast)) u_vpu (
      .clk_i,
      .rst_ni,
      .req_i(req), .rsp_o(rsp),
      .freeze_i,
      .vrd_valid_o,
      .vrd_ready_i,
      .vrd_addr_o   (vrd_addr),
      .vrd_need_o,
      .vrd_rsp_valid_i,
      .vrd_data_i   (vrd_data),
      .vwr_valid_o,
      .vwr_ready_i,
      .vwr_addr_o   (vwr_addr),
      .vwr_data_o   (vwr_data),
      .vwr_mask_o   (vwr_mask),
      .acc_rd_valid_o,
      .acc_rd_ready_i,
      .acc_rd_row_o,
      .acc_rd_data_i,
      .busy_o,
      .stall_ub_o,
      .nan_o        (nan),
      .inf_o        (inf)
  );

  if (Cfg.Cols == 8 && Fast) begin : gen_second
    systole_bus_pkg::unit_rsp_t    rsp2;
    logic [1:0]                    rd_valid;
    logic [1:0][24:0]              rd_addr;
    logic [1:0][1:0]               need;
    logic                          wr_valid, acc_valid, stall_ub, reset_q, equal;
    logic [24:0]                   wr_addr;
    logic [Cfg.Cols*32-1:0]        data;
    logic [Cfg.Cols*4-1:0]         mask;
    logic [12:0]                   acc_row;
    logic [5:0]                    busy;
    logic [$clog2(Cfg.Cols+1)-1:0] nan2, inf2;

    systole_vpu #(.Cfg(Cfg), .Fast(Fast), .Gate(1'b0)) u_vpu (
        .clk_i,
        .rst_ni,
        .req_i(req), .rsp_o(rsp2),
        .freeze_i,
        .vrd_valid_o  (rd_valid),
        .vrd_ready_i,
        .vrd_addr_o   (rd_addr),
        .vrd_need_o   (need),
        .vrd_rsp_valid_i,
        .vrd_data_i   (vrd_data),
        .vwr_valid_o  (wr_valid),
        .vwr_ready_i,
        .vwr_addr_o   (wr_addr),
        .vwr_data_o   (data),
        .vwr_mask_o   (mask),
        .acc_rd_valid_o(acc_valid),
        .acc_rd_ready_i,
        .acc_rd_row_o (acc_row),
        .acc_rd_data_i,
        .busy_o       (busy),
        .stall_ub_o   (stall_ub),
        .nan_o        (nan2),
        .inf_o        (inf2)
    );

    // What is written may be of a register that no program has written: then it is another one of two units that begin at random.
    always_comb begin
      equal = {rsp2.ready, rsp2.done, rsp2.progress, rsp2.fault, rd_valid, wr_valid, acc_valid, busy, stall_ub} ==
              {rsp.ready, rsp.done, rsp.progress, rsp.fault, vrd_valid_o, vwr_valid_o, acc_rd_valid_o, busy_o, stall_ub_o};
      if (rsp.fault) equal &= {rsp2.code, rsp2.addr, rsp2.newest} == {rsp.code, rsp.addr, rsp.newest};
      for (int unsigned r = 0; r < 2; r++) if (vrd_valid_o[r]) equal &= {rd_addr[r], need[r]} == {vrd_addr[r], vrd_need_o[r*2+:2]};
      if (vwr_valid_o) equal &= {wr_addr, mask} == {vwr_addr, vwr_mask};
      if (acc_rd_valid_o) equal &= acc_row == acc_rd_row_o;
    end
    always_ff @(posedge clk_i) begin
      reset_q <= !rst_ni;
      if (rst_ni && !reset_q) a_equal : assert (equal);
    end
  end
endmodule
