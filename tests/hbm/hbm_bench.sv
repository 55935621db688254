// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_hbm with the bits that hold its clients off as a port; with ECC beside one whose clocks never stand still.

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
  always @* u_hbm.u_hold.bench = stall_i;

  if (Ecc) begin : gen_second
    logic [NumRd-1:0]        rd_ready, rd_rsp_valid;
    logic [NumWr-1:0]        wr_ready;
    logic [D*8-1:0]          rd_rsp_data;
    logic                    outstanding, ecc_look, equal, reset_q;
    logic [NumRd:0]          ecc_fixed, ecc_bad;
    logic [AddrBits-1:0]     ecc_addr;
    row_cmd_e [HbmPcs-1:0]   row_cmd;
    col_cmd_e [HbmPcs-1:0]   col_cmd;
    systole_hbm #(
        .HbmPcs(HbmPcs), .NumRd(NumRd), .NumWr(NumWr), .AddrBits(AddrBits), .RdBurst(RdBurst), .Ecc(Ecc), .Gate(1'b0)
    ) u_hbm (
        .clk_i, .rst_ni, .rd_valid_i, .rd_ready_o(rd_ready), .rd_addr_i, .rd_rsp_valid_o(rd_rsp_valid), .rd_rsp_data_o(rd_rsp_data),
        .wr_valid_i, .wr_ready_o(wr_ready), .wr_addr_i, .wr_data_i, .wr_mask_i, .outstanding_o(outstanding),
        .ecc_fixed_o(ecc_fixed), .ecc_bad_o(ecc_bad), .ecc_look_o(ecc_look), .ecc_addr_o(ecc_addr), .scrub_i,
        .row_cmd_o(row_cmd), .col_cmd_o(col_cmd), .rdata_i, .rcheck_i, .rdata_valid_i,
        // verilator lint_off PINCONNECTEMPTY
        .perf_o(), .row_bank_o(), .row_addr_o(), .col_bank_o(), .col_addr_o(), .wdata_o(), .wmask_o()
        // verilator lint_on PINCONNECTEMPTY
    );
    always @* u_hbm.u_hold.bench = stall_i;
    always_comb begin
      equal = {rd_ready, rd_rsp_valid, wr_ready, outstanding, ecc_fixed, ecc_bad, row_cmd, col_cmd} ==
              {rd_ready_o, rd_rsp_valid_o, wr_ready_o, outstanding_o, ecc_fixed_o, ecc_bad_o, row_cmd_o, col_cmd_o};
      if (rd_rsp_valid_o != '0) equal &= rd_rsp_data == rd_rsp_data_o;
      if (ecc_fixed_o != '0 || ecc_bad_o != '0) equal &= {ecc_look, ecc_addr} == {ecc_look_o, ecc_addr_o};
    end
    always_ff @(posedge clk_i) begin
      reset_q <= !rst_ni;
      if (rst_ni && !reset_q) a_equal : assert (equal);
    end
  end
endmodule
