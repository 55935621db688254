// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_scalar_copy with its bundles as ports, between 256 bytes of SMEM and 4096 of HBM.

module copy_bench
  import systole_scalar_pkg::*;
  import systole_presets_pkg::AddrBits;
#(
    localparam int unsigned D = 32
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                in_i,
    input  logic                out_i,
    input  logic [31:0]         len_i,
    input  logic [AddrBits-1:0] hbm_addr_i,
    input  logic [31:0]         smem_addr_i,
    input  logic                window_i,
    input  logic [AddrBits-1:0] base_i,
    input  logic [AddrBits:0]   limit_i,
    output logic                busy_o,
    output logic                refused_o,
    output logic                smem_valid_o,
    output logic                smem_write_o,
    output logic [3:0]          smem_strobe_o,
    output logic [29:0]         smem_word_o,
    output logic [31:0]         smem_data_o,
    input  logic                smem_ready_i,
    input  logic                smem_valid_i,
    input  logic [31:0]         smem_data_i,
    output logic                rd_valid_o,
    input  logic                rd_ready_i,
    output logic [AddrBits-1:0] rd_addr_o,
    input  logic                rd_rsp_valid_i,
    input  logic [D*8-1:0]      rd_rsp_data_i,
    output logic                wr_valid_o,
    input  logic                wr_ready_i,
    output logic [AddrBits-1:0] wr_addr_o,
    output logic [D*8-1:0]      wr_data_o,
    output logic [D-1:0]        wr_mask_o
);
  smem_req_t req;
  assign {smem_valid_o, smem_write_o, smem_strobe_o, smem_word_o, smem_data_o} = req;

  systole_scalar_copy #(.D(D), .SmemBytes(256), .HbmBytes(37'h1000)) u_dut (
      .clk_i, .rst_ni, .in_i, .out_i, .len_i, .hbm_addr_i, .smem_addr_i, .window_i, .base_i, .limit_i, .busy_o, .refused_o,
      .smem_req_o(req), .smem_rsp_i('{ready: smem_ready_i, valid: smem_valid_i, failed: 1'b0, data: smem_data_i}),
      .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i,
      .wr_valid_o, .wr_ready_i, .wr_addr_o, .wr_data_o, .wr_mask_o
  );
endmodule
