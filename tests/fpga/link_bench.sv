// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The link with its buses as loose ports, for link_test.cc.

module link_bench (
    input  logic                clk_i,
    input  logic                rst_ni,

    input  logic                rx_valid_i,  // pulse
    input  logic [7:0]          rx_data_i,
    output logic                tx_valid_o,
    input  logic                tx_ready_i,
    output logic [7:0]          tx_data_o,
    output logic                good_o,  // pulse: a frame came in
    output logic                bad_o,   // pulse: a frame was dropped

    output logic                axil_awvalid_o,
    input  logic                axil_awready_i,
    output logic                axil_wvalid_o,
    input  logic                axil_wready_i,
    output logic [31:0]         axil_wdata_o,
    input  logic                axil_bvalid_i,
    input  logic [1:0]          axil_bresp_i,
    output logic                axil_arvalid_o,
    input  logic                axil_arready_i,
    input  logic                axil_rvalid_i,
    input  logic [31:0]         axil_rdata_i,
    input  logic [1:0]          axil_rresp_i,
    output logic [11:0]         axil_addr_o,  // of reads and writes

    output logic                axi_awvalid_o,
    input  logic                axi_awready_i,
    output logic                axi_wvalid_o,
    input  logic                axi_wready_i,
    output logic [127:0]        axi_wdata_o,
    output logic [15:0]         axi_wstrb_o,
    input  logic                axi_bvalid_i,
    input  logic [1:0]          axi_bresp_i,
    output logic                axi_arvalid_o,
    input  logic                axi_arready_i,
    input  logic                axi_rvalid_i,
    input  logic [127:0]        axi_rdata_i,
    input  logic [1:0]          axi_rresp_i,
    output logic [35:0] axi_addr_o  // of reads and writes, aligned
);
  systole_bus_pkg::axil_rsp_t axil_rsp;
  systole_bus_pkg::axi_rsp_t  axi_rsp;
  // verilator lint_off UNUSEDSIGNAL
  systole_bus_pkg::axil_req_t axil_req;
  systole_bus_pkg::axi_req_t  axi_req;
  // verilator lint_on UNUSEDSIGNAL

  assign axil_awvalid_o = axil_req.awvalid;
  assign axil_wvalid_o  = axil_req.wvalid;
  assign axil_wdata_o   = axil_req.wdata;
  assign axil_arvalid_o = axil_req.arvalid;
  assign axil_addr_o    = axil_req.awvalid ? axil_req.awaddr[11:0] : axil_req.araddr[11:0];
  assign axil_rsp       = '{awready: axil_awready_i, wready: axil_wready_i, bvalid: axil_bvalid_i, bresp: axil_bresp_i,
                            arready: axil_arready_i, rvalid: axil_rvalid_i, rdata: axil_rdata_i, rresp: axil_rresp_i};
  assign axi_awvalid_o  = axi_req.awvalid;
  assign axi_wvalid_o   = axi_req.wvalid;
  assign axi_arvalid_o  = axi_req.arvalid;
  assign axi_addr_o     = axi_req.awvalid ? axi_req.aw.addr : axi_req.ar.addr;
  assign axi_rsp        = '{awready: axi_awready_i, wready: axi_wready_i, bvalid: axi_bvalid_i, bresp: axi_bresp_i, bid: '0,
                            arready: axi_arready_i, rvalid: axi_rvalid_i, rresp: axi_rresp_i, rlast: 1'b1, rid: '0};

  systole_serial u_link (
      .clk_i, .rst_ni, .rx_valid_i, .rx_data_i, .tx_valid_o, .tx_ready_i, .tx_data_o, .good_o, .bad_o,
      .axil_o(axil_req), .axil_i(axil_rsp),
      .axi_o(axi_req), .axi_wdata_o, .axi_wstrb_o, .axi_i(axi_rsp), .axi_rdata_i
  );
endmodule
