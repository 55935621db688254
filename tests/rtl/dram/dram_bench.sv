// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_axi_dram with a small memory, its clients as arrays and its AXI4 port named as a top's.

module dram_bench
  import systole_bus_pkg::*;
#(
    parameter int unsigned D = 16,
    parameter int unsigned MemBits = 16,
    parameter int unsigned MaxBeats = 16,
    parameter int unsigned Bursts = 16,
    parameter int unsigned WrDepth = 32
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic [NumRd-1:0]   rd_valid_i,
    output logic [NumRd-1:0]   rd_ready_o,
    input  logic [31:0]        rd_addr_i [NumRd],
    output logic [NumRd-1:0]   rd_rsp_valid_o,
    output logic [D*8-1:0]     rd_rsp_data_o,
    input  logic [NumWr-1:0]   wr_valid_i,
    output logic [NumWr-1:0]   wr_ready_o,
    input  logic [31:0]        wr_addr_i [NumWr],
    input  logic [D*8-1:0]     wr_data_i [NumWr],
    input  logic [D-1:0]       wr_mask_i [NumWr],
    input  logic [NumRd+NumWr-1:0] stall_i,
    output logic               outstanding_o,
    output logic               error_o,
    output logic [35:0]        error_addr_o,
    output logic               rd_beat_o,
    output logic               wr_beat_o,

    output logic               dram_awvalid_o,
    input  logic               dram_awready_i,
    output logic [35:0]        dram_awaddr_o,
    output logic [7:0]         dram_awlen_o,
    output logic [2:0]         dram_awsize_o,
    output logic [1:0]         dram_awburst_o,
    output logic               dram_wvalid_o,
    input  logic               dram_wready_i,
    output logic [D*8-1:0]     dram_wdata_o,
    output logic [D-1:0]       dram_wstrb_o,
    output logic               dram_wlast_o,
    input  logic               dram_bvalid_i,
    output logic               dram_bready_o,
    input  logic [1:0]         dram_bresp_i,
    output logic               dram_arvalid_o,
    input  logic               dram_arready_i,
    output logic [35:0]        dram_araddr_o,
    output logic [7:0]         dram_arlen_o,
    output logic [2:0]         dram_arsize_o,
    output logic [1:0]         dram_arburst_o,
    input  logic               dram_rvalid_i,
    output logic               dram_rready_o,
    input  logic [D*8-1:0]     dram_rdata_i,
    input  logic [1:0]         dram_rresp_i,
    input  logic               dram_rlast_i
);
  logic [NumRd-1:0][35:0]    rd_addr;
  logic [NumWr-1:0][35:0]    wr_addr;
  logic [NumWr-1:0][D*8-1:0] wr_data;
  logic [NumWr-1:0][D-1:0]   wr_mask;
  systole_hbm_pkg::perf_t    perf;

  for (genvar i = 0; i < NumRd; i++) begin : gen_read
    assign rd_addr[i] = 36'(rd_addr_i[i]);
  end
  for (genvar i = 0; i < NumWr; i++) begin : gen_write
    assign wr_addr[i] = 36'(wr_addr_i[i]);
    assign wr_data[i] = wr_data_i[i];
    assign wr_mask[i] = wr_mask_i[i];
  end

  systole_axi_dram #(.D(D), .MemBits(MemBits), .MaxBeats(MaxBeats), .Bursts(Bursts), .WrDepth(WrDepth)) u_dut (
      .clk_i, .rst_ni, .rd_valid_i, .rd_ready_o, .rd_addr_i(rd_addr), .rd_rsp_valid_o, .rd_rsp_data_o,
      .wr_valid_i, .wr_ready_o, .wr_addr_i(wr_addr), .wr_data_i(wr_data), .wr_mask_i(wr_mask),
      .stall_i, .outstanding_o, .error_o, .error_addr_o, .perf_o(perf),
      .awvalid_o(dram_awvalid_o), .awready_i(dram_awready_i), .awaddr_o(dram_awaddr_o), .awlen_o(dram_awlen_o),
      .wvalid_o(dram_wvalid_o), .wready_i(dram_wready_i), .wdata_o(dram_wdata_o), .wstrb_o(dram_wstrb_o),
      .wlast_o(dram_wlast_o), .bvalid_i(dram_bvalid_i), .bready_o(dram_bready_o), .bresp_i(dram_bresp_i),
      .arvalid_o(dram_arvalid_o), .arready_i(dram_arready_i), .araddr_o(dram_araddr_o), .arlen_o(dram_arlen_o),
      .rvalid_i(dram_rvalid_i), .rready_o(dram_rready_o), .rdata_i(dram_rdata_i), .rresp_i(dram_rresp_i),
      .rlast_i(dram_rlast_i)
  );
  assign rd_beat_o      = perf.rd_beat;
  assign wr_beat_o      = perf.wr_beat;
  assign dram_awsize_o  = 3'($clog2(D));
  assign dram_arsize_o  = 3'($clog2(D));
  assign dram_awburst_o = 2'b01;
  assign dram_arburst_o = 2'b01;
endmodule
