// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip with a board's DRAM, for cocotbext-axi: its three buses under the names that the library looks for, and nothing else.
//   axil  the chip's slave: registers        axi  the chip's slave: memory window        dram  the chip's master

module chip_axi
  import systole_presets_pkg::*;
  import systole_bus_pkg::AxilBits;
#(
    parameter int unsigned Preset = PresetBoard8,
    localparam chip_cfg_t Chip = preset(Preset),
    localparam int unsigned D = beat_bytes(Chip.Core),
    localparam int unsigned H = axi_bytes(Chip.Core)
) (
    input  logic                clk,
    input  logic                rst_n,
    output logic                irq,

    input  logic                axil_awvalid,
    output logic                axil_awready,
    input  logic [AxilBits-2:0] axil_awaddr,
    input  logic                axil_wvalid,
    output logic                axil_wready,
    input  logic [31:0]         axil_wdata,
    input  logic [3:0]          axil_wstrb,
    output logic                axil_bvalid,
    input  logic                axil_bready,
    output logic [1:0]          axil_bresp,
    input  logic                axil_arvalid,
    output logic                axil_arready,
    input  logic [AxilBits-2:0] axil_araddr,
    output logic                axil_rvalid,
    input  logic                axil_rready,
    output logic [31:0]         axil_rdata,
    output logic [1:0]          axil_rresp,

    input  logic                axi_awvalid,
    output logic                axi_awready,
    input  logic [AddrBits-1:0] axi_awaddr,
    input  logic [7:0]          axi_awlen,
    input  logic [2:0]          axi_awsize,
    input  logic [1:0]          axi_awburst,
    input  logic [3:0]          axi_awid,
    input  logic                axi_wvalid,
    output logic                axi_wready,
    input  logic [H*8-1:0]      axi_wdata,
    input  logic [H-1:0]        axi_wstrb,
    input  logic                axi_wlast,
    output logic                axi_bvalid,
    input  logic                axi_bready,
    output logic [1:0]          axi_bresp,
    output logic [3:0]          axi_bid,
    input  logic                axi_arvalid,
    output logic                axi_arready,
    input  logic [AddrBits-1:0] axi_araddr,
    input  logic [7:0]          axi_arlen,
    input  logic [2:0]          axi_arsize,
    input  logic [1:0]          axi_arburst,
    input  logic [3:0]          axi_arid,
    output logic                axi_rvalid,
    input  logic                axi_rready,
    output logic [H*8-1:0]      axi_rdata,
    output logic [1:0]          axi_rresp,
    output logic                axi_rlast,
    output logic [3:0]          axi_rid,

    output logic                dram_awvalid,
    input  logic                dram_awready,
    output logic [AddrBits-1:0] dram_awaddr,
    output logic [7:0]          dram_awlen,
    output logic [2:0]          dram_awsize,
    output logic [1:0]          dram_awburst,
    output logic                dram_awid,
    output logic                dram_wvalid,
    input  logic                dram_wready,
    output logic [D*8-1:0]      dram_wdata,
    output logic [D-1:0]        dram_wstrb,
    output logic                dram_wlast,
    input  logic                dram_bvalid,
    output logic                dram_bready,
    input  logic [1:0]          dram_bresp,
    input  logic                dram_bid,
    output logic                dram_arvalid,
    input  logic                dram_arready,
    output logic [AddrBits-1:0] dram_araddr,
    output logic [7:0]          dram_arlen,
    output logic [2:0]          dram_arsize,
    output logic [1:0]          dram_arburst,
    output logic                dram_arid,
    input  logic                dram_rvalid,
    output logic                dram_rready,
    input  logic [D*8-1:0]      dram_rdata,
    input  logic [1:0]          dram_rresp,
    input  logic                dram_rlast,
    input  logic                dram_rid
);
  // The chip's master has one ID.
  assign dram_awid = 1'b0;
  assign dram_arid = 1'b0;

  systole_top #(.Preset(Preset), .FastArray(1)) u_chip (
      .clk_i(clk), .rst_ni(rst_n), .irq_o(irq),
      .axil_awvalid_i(axil_awvalid), .axil_awready_o(axil_awready), .axil_awaddr_i(axil_awaddr),
      .axil_wvalid_i(axil_wvalid), .axil_wready_o(axil_wready), .axil_wdata_i(axil_wdata), .axil_wstrb_i(axil_wstrb),
      .axil_bvalid_o(axil_bvalid), .axil_bready_i(axil_bready), .axil_bresp_o(axil_bresp),
      .axil_arvalid_i(axil_arvalid), .axil_arready_o(axil_arready), .axil_araddr_i(axil_araddr),
      .axil_rvalid_o(axil_rvalid), .axil_rready_i(axil_rready), .axil_rdata_o(axil_rdata), .axil_rresp_o(axil_rresp),
      .axi_awvalid_i(axi_awvalid), .axi_awready_o(axi_awready), .axi_awaddr_i(axi_awaddr), .axi_awlen_i(axi_awlen),
      .axi_awsize_i(axi_awsize), .axi_awburst_i(axi_awburst), .axi_awid_i(axi_awid),
      .axi_wvalid_i(axi_wvalid), .axi_wready_o(axi_wready), .axi_wdata_i(axi_wdata), .axi_wstrb_i(axi_wstrb),
      .axi_wlast_i(axi_wlast),
      .axi_bvalid_o(axi_bvalid), .axi_bready_i(axi_bready), .axi_bresp_o(axi_bresp), .axi_bid_o(axi_bid),
      .axi_arvalid_i(axi_arvalid), .axi_arready_o(axi_arready), .axi_araddr_i(axi_araddr), .axi_arlen_i(axi_arlen),
      .axi_arsize_i(axi_arsize), .axi_arburst_i(axi_arburst), .axi_arid_i(axi_arid),
      .axi_rvalid_o(axi_rvalid), .axi_rready_i(axi_rready), .axi_rdata_o(axi_rdata), .axi_rresp_o(axi_rresp),
      .axi_rlast_o(axi_rlast), .axi_rid_o(axi_rid),
      .dram_awvalid_o(dram_awvalid), .dram_awready_i(dram_awready), .dram_awaddr_o(dram_awaddr), .dram_awlen_o(dram_awlen),
      .dram_awsize_o(dram_awsize), .dram_awburst_o(dram_awburst),
      .dram_wvalid_o(dram_wvalid), .dram_wready_i(dram_wready), .dram_wdata_o(dram_wdata), .dram_wstrb_o(dram_wstrb),
      .dram_wlast_o(dram_wlast),
      .dram_bvalid_i(dram_bvalid), .dram_bready_o(dram_bready), .dram_bresp_i(dram_bresp),
      .dram_arvalid_o(dram_arvalid), .dram_arready_i(dram_arready), .dram_araddr_o(dram_araddr), .dram_arlen_o(dram_arlen),
      .dram_arsize_o(dram_arsize), .dram_arburst_o(dram_arburst),
      .dram_rvalid_i(dram_rvalid), .dram_rready_o(dram_rready), .dram_rdata_i(dram_rdata), .dram_rresp_i(dram_rresp),
      .dram_rlast_i(dram_rlast),
      // HBM and links: chips with a board's DRAM have none.
      .phy_rdata_i('0), .phy_rcheck_i('0), .phy_rdata_valid_i('0), .lanes_i('0),
      .phy_row_cmd_o(), .phy_row_bank_o(), .phy_row_addr_o(), .phy_col_cmd_o(), .phy_col_bank_o(), .phy_col_addr_o(),
      .phy_wdata_o(), .phy_wmask_o(), .lanes_o(),
      .running_o(), .fault_o(), .retire_valid_o(), .retire_index_o()
  );

  logic unused;
  assign unused = &{1'b0, dram_bid, dram_rid};
endmodule
