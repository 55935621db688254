// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_axi_hbm with its bundles as ports.

module window_bench
  import systole_presets_pkg::*;
#(
    parameter int unsigned D = 64,
    parameter int unsigned H = D,
    parameter logic [AddrBits:0] HbmBytes = '0
) (
    input  logic                clk_i,
    input  logic                rst_ni,

    input  logic                axi_awvalid_i,
    output logic                axi_awready_o,
    input  logic [AddrBits-1:0] axi_awaddr_i,
    input  logic [7:0]          axi_awlen_i,
    input  logic [2:0]          axi_awsize_i,
    input  logic [1:0]          axi_awburst_i,
    input  logic [3:0]          axi_awid_i,
    input  logic                axi_wvalid_i,
    output logic                axi_wready_o,
    input  logic [H*8-1:0]      axi_wdata_i,
    input  logic [H-1:0]        axi_wstrb_i,
    input  logic                axi_wlast_i,
    output logic                axi_bvalid_o,
    input  logic                axi_bready_i,
    output logic [1:0]          axi_bresp_o,
    output logic [3:0]          axi_bid_o,
    input  logic                axi_arvalid_i,
    output logic                axi_arready_o,
    input  logic [AddrBits-1:0] axi_araddr_i,
    input  logic [7:0]          axi_arlen_i,
    input  logic [2:0]          axi_arsize_i,
    input  logic [1:0]          axi_arburst_i,
    input  logic [3:0]          axi_arid_i,
    output logic                axi_rvalid_o,
    input  logic                axi_rready_i,
    output logic [H*8-1:0]      axi_rdata_o,
    output logic [1:0]          axi_rresp_o,
    output logic                axi_rlast_o,
    output logic [3:0]          axi_rid_o,

    // HBM clients (systole_hbm).
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
  systole_bus_pkg::axi_req_t req;
  systole_bus_pkg::axi_rsp_t rsp;

  systole_axi_hbm #(.D(D), .H(H), .HbmBytes(HbmBytes)) u_dut (
      .clk_i, .rst_ni, .axi_req_i(req), .axi_wdata_i, .axi_wstrb_i, .axi_rsp_o(rsp), .axi_rdata_o,
      .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i,
      .wr_valid_o, .wr_ready_i, .wr_addr_o, .wr_data_o, .wr_mask_o
  );

  assign req.awvalid = axi_awvalid_i;
  assign req.wvalid = axi_wvalid_i;
  assign req.wlast = axi_wlast_i;
  assign req.bready = axi_bready_i;
  assign req.arvalid = axi_arvalid_i;
  assign req.rready = axi_rready_i;
  assign req.aw.addr = axi_awaddr_i;
  assign req.aw.len = axi_awlen_i;
  assign req.aw.size = axi_awsize_i;
  assign req.aw.burst = axi_awburst_i;
  assign req.aw.id = axi_awid_i;
  assign req.ar.addr = axi_araddr_i;
  assign req.ar.len = axi_arlen_i;
  assign req.ar.size = axi_arsize_i;
  assign req.ar.burst = axi_arburst_i;
  assign req.ar.id = axi_arid_i;
  assign axi_awready_o = rsp.awready;
  assign axi_wready_o = rsp.wready;
  assign axi_bvalid_o = rsp.bvalid;
  assign axi_bresp_o = rsp.bresp;
  assign axi_bid_o = rsp.bid;
  assign axi_arready_o = rsp.arready;
  assign axi_rvalid_o = rsp.rvalid;
  assign axi_rresp_o = rsp.rresp;
  assign axi_rlast_o = rsp.rlast;
  assign axi_rid_o = rsp.rid;
endmodule
