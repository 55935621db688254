// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The send unit at a preset, wide ports as arrays of 32-bit words and its bundles apart, so that one C++ bench drives every size.

module send_bench
  import systole_presets_pkg::*;
#(
    parameter int unsigned Preset = PresetMinichip,
    localparam chip_cfg_t Chip = preset(Preset),
    localparam int unsigned FlitBytes = flit_bytes(Chip),
    localparam int unsigned Words = beat_bytes(Chip.Core) / 4,
    localparam int unsigned FlitWords = FlitBytes / 4
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        freeze_i,
    input  logic        core_i,
    input  logic [5:0]  columns_i,
    input  logic [5:0]  rows_i,
    input  logic [35:0] base_i,
    input  logic [36:0] end_i,
    input  logic        peek_i,
    input  logic        start_valid_i,
    output logic        start_ready_o,
    input  logic [31:0] start_desc_i [16],
    output logic        done_o,
    output logic        fault_valid_o,
    output logic [3:0]  fault_code_o,
    output logic [35:0] fault_addr_o,
    output logic        fault_newest_o,
    output logic        progress_o,
    output logic        busy_o,
    output logic        ub_valid_o,
    input  logic        ub_ready_i,
    output logic [24:0] ub_addr_o,
    input  logic        ub_rsp_valid_i,
    input  logic [31:0] ub_data_i [Words],
    output logic        send_valid_o,
    input  logic        send_ready_i,
    output logic        send_last_o,
    output logic [31:0] send_data_o [FlitWords],
    output logic [2:0]  kind_o,
    output logic        tie_o,
    output logic [10:0] length_o,
    output logic [4:0]  dst_x_o,
    output logic [4:0]  dst_y_o,
    output logic        dst_core_o,
    output logic        src_core_o,
    output logic [35:0] address_o
);
  systole_bus_pkg::unit_req_t req;
  systole_bus_pkg::unit_rsp_t rsp;
  systole_bus_pkg::torus_t    torus;
  systole_link_pkg::send_t    head;
  logic [Words*32-1:0]        ub_data;
  logic [FlitBytes*8-1:0]     send_data;

  assign req.peek       = peek_i;
  assign req.valid      = start_valid_i;
  assign start_ready_o  = rsp.ready;
  assign done_o         = rsp.done;
  assign fault_valid_o  = rsp.fault;
  assign fault_code_o   = rsp.code;
  assign fault_addr_o   = rsp.addr;
  assign fault_newest_o = rsp.newest;
  assign progress_o     = rsp.progress;
  assign torus          = '{x: '0, y: '0, columns: columns_i, rows: rows_i};
  for (genvar w = 0; w < 16; w++) begin : gen_desc
    assign req.desc[w*32+:32] = start_desc_i[w];
  end
  for (genvar w = 0; w < Words; w++) begin : gen_data
    assign ub_data[w*32+:32] = ub_data_i[w];
  end
  for (genvar w = 0; w < FlitWords; w++) begin : gen_flit
    assign send_data_o[w] = send_data[w*32+:32];
  end
  assign kind_o     = head.kind;
  assign tie_o      = head.tie;
  assign length_o   = head.length;
  assign dst_x_o    = head.dst_x;
  assign dst_y_o    = head.dst_y;
  assign dst_core_o = head.dst_core;
  assign src_core_o = head.src_core;
  assign address_o  = head.address;

  systole_dma_send #(.Cfg(Chip.Core), .FlitBytes(FlitBytes)) u_dut (
      .clk_i, .rst_ni, .freeze_i, .core_i, .torus_i(torus), .base_i, .end_i, .req_i(req), .rsp_o(rsp), .busy_o,
      .ub_valid_o, .ub_ready_i, .ub_addr_o, .ub_rsp_valid_i, .ub_data_i(ub_data),
      .send_valid_o, .send_ready_i, .send_head_o(head), .send_last_o, .send_data_o(send_data)
  );
endmodule
