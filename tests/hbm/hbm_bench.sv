// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_hbm with the bits that hold its clients off as a port.

module hbm_bench
  import systole_hbm_pkg::*;
#(
    parameter int unsigned HbmPcs = 2,
    parameter logic [3:0][7:0] RdBurst = {4{8'd64}},
    parameter bit Ecc = 1'b0,
    localparam int unsigned NumRd = 4,
    localparam int unsigned NumWr = 2,
    localparam int unsigned AddrBits = 36,
    localparam int unsigned D = PhyBytes * HbmPcs
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    input  logic [NumRd+NumWr-1:0]             stall_i,  // reads, then writes
    input  logic [NumRd-1:0]                   rd_valid_i,
    output logic [NumRd-1:0]                   rd_ready_o,
    input  logic [NumRd-1:0][AddrBits-1:0]     rd_addr_i,
    output logic [NumRd-1:0]                   rd_rsp_valid_o,
    output logic [D*8-1:0]                     rd_rsp_data_o,
    input  logic [NumWr-1:0]                   wr_valid_i,
    output logic [NumWr-1:0]                   wr_ready_o,
    input  logic [NumWr-1:0][AddrBits-1:0]     wr_addr_i,
    input  logic [NumWr-1:0][D*8-1:0]          wr_data_i,
    input  logic [NumWr-1:0][D-1:0]            wr_mask_i,
    output logic                               outstanding_o,
    output perf_t                              perf_o,
    output logic [NumRd:0]                     ecc_fixed_o,
    output logic [NumRd:0]                     ecc_bad_o,
    output logic                               ecc_look_o,
    output logic [AddrBits-1:0]                ecc_addr_o,
    input  logic [31:0]                        scrub_i,
    output row_cmd_e [HbmPcs-1:0]              row_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]    row_bank_o,
    output logic [HbmPcs-1:0][RowBits-1:0]     row_addr_o,
    output col_cmd_e [HbmPcs-1:0]              col_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]    col_bank_o,
    output logic [HbmPcs-1:0][ColBits-1:0]     col_addr_o,
    output logic [HbmPcs-1:0][PhyBytes*8-1:0]  wdata_o,
    output logic [HbmPcs-1:0][PhyBytes-1:0]    wmask_o,
    input  logic [HbmPcs-1:0][PhyBytes*8-1:0]  rdata_i,
    input  logic [HbmPcs-1:0][PhyBytes-1:0]    rcheck_i,
    input  logic [HbmPcs-1:0]                  rdata_valid_i
);
  systole_hbm #(
      .HbmPcs(HbmPcs), .NumRd(NumRd), .NumWr(NumWr), .AddrBits(AddrBits), .RdBurst(RdBurst), .Ecc(Ecc)
  ) u_hbm (
      .clk_i, .rst_ni, .rd_valid_i, .rd_ready_o, .rd_addr_i, .rd_rsp_valid_o, .rd_rsp_data_o,
      .wr_valid_i, .wr_ready_o, .wr_addr_i, .wr_data_i, .wr_mask_i, .outstanding_o, .perf_o,
      .ecc_fixed_o, .ecc_bad_o, .ecc_look_o, .ecc_addr_o, .scrub_i,
      .row_cmd_o, .row_bank_o, .row_addr_o, .col_cmd_o, .col_bank_o, .col_addr_o, .wdata_o, .wmask_o, .rdata_i, .rcheck_i, .rdata_valid_i
  );
  always_comb u_hbm.u_hold.bench = stall_i;
endmodule
