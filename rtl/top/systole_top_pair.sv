// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip with two cores, joined by their links. One host interface, at core 0: a block of registers a core, 4096 bytes each, and a
// window on both memories, core 0's first. Docs: docs/chip.md. Test: tests/system, tests/rtl/chip.

module systole_top_pair
  import systole_presets_pkg::*;
  import systole_hbm_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned Preset = PresetMinichip,
    parameter int unsigned FastArray = 0,  // 1: the array's simulation view (systole_mxu_array)
    localparam chip_cfg_t Chip = preset(Preset),
    localparam core_cfg_t Cfg = Chip.Core,
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned H = axi_bytes(Cfg),
    localparam int unsigned HbmPcs = max(Chip.HbmPcs, 2)  // another memory's chip is refused below
) (
    input  logic                                   clk_i,
    input  logic                                   rst_ni,

    // AXI4-Lite: registers (docs/reference/csr.md).
    input  logic                                   axil_awvalid_i,
    output logic                                   axil_awready_o,
    input  logic [12:0]                            axil_awaddr_i,
    input  logic                                   axil_wvalid_i,
    output logic                                   axil_wready_o,
    input  logic [31:0]                            axil_wdata_i,
    input  logic [3:0]                             axil_wstrb_i,
    output logic                                   axil_bvalid_o,
    input  logic                                   axil_bready_i,
    output logic [1:0]                             axil_bresp_o,
    input  logic                                   axil_arvalid_i,
    output logic                                   axil_arready_o,
    input  logic [12:0]                            axil_araddr_i,
    output logic                                   axil_rvalid_o,
    input  logic                                   axil_rready_i,
    output logic [31:0]                            axil_rdata_o,
    output logic [1:0]                             axil_rresp_o,

    // AXI4: the HBM window. INCR bursts of whole aligned beats of H bytes.
    input  logic                                   axi_awvalid_i,
    output logic                                   axi_awready_o,
    input  logic [AddrBits-1:0]                    axi_awaddr_i,
    input  logic [7:0]                             axi_awlen_i,
    input  logic [2:0]                             axi_awsize_i,
    input  logic [1:0]                             axi_awburst_i,
    input  logic [3:0]                             axi_awid_i,
    input  logic                                   axi_wvalid_i,
    output logic                                   axi_wready_o,
    input  logic [H*8-1:0]                         axi_wdata_i,
    input  logic [H-1:0]                           axi_wstrb_i,
    input  logic                                   axi_wlast_i,
    output logic                                   axi_bvalid_o,
    input  logic                                   axi_bready_i,
    output logic [1:0]                             axi_bresp_o,
    output logic [3:0]                             axi_bid_o,
    input  logic                                   axi_arvalid_i,
    output logic                                   axi_arready_o,
    input  logic [AddrBits-1:0]                    axi_araddr_i,
    input  logic [7:0]                             axi_arlen_i,
    input  logic [2:0]                             axi_arsize_i,
    input  logic [1:0]                             axi_arburst_i,
    input  logic [3:0]                             axi_arid_i,
    output logic                                   axi_rvalid_o,
    input  logic                                   axi_rready_i,
    output logic [H*8-1:0]                         axi_rdata_o,
    output logic [1:0]                             axi_rresp_o,
    output logic                                   axi_rlast_o,
    output logic [3:0]                             axi_rid_o,

    output logic [1:0]                              irq_o,  // a core each

    // PHY of the HBM: a core each, a pseudo-channel each.
    output row_cmd_e [HbmPcs-1:0]              phy_row_cmd_o [2],
    output logic [HbmPcs-1:0][BankBits-1:0]    phy_row_bank_o [2],
    output logic [HbmPcs-1:0][RowBits-1:0]     phy_row_addr_o [2],
    output col_cmd_e [HbmPcs-1:0]              phy_col_cmd_o [2],
    output logic [HbmPcs-1:0][BankBits-1:0]    phy_col_bank_o [2],
    output logic [HbmPcs-1:0][ColBits-1:0]     phy_col_addr_o [2],
    output logic [HbmPcs-1:0][PhyBytes*8-1:0]  phy_wdata_o [2],
    output logic [HbmPcs-1:0][PhyBytes-1:0]    phy_wmask_o [2],   // with ECC the check bits
    input  logic [HbmPcs-1:0][PhyBytes*8-1:0]  phy_rdata_i [2],
    input  logic [HbmPcs-1:0][PhyBytes-1:0]    phy_rcheck_i [2],  // with ECC: 8 check bits each 64 bits
    input  logic [HbmPcs-1:0]                  phy_rdata_valid_i [2],

    // Trace, a core each: a descriptor of queue q is complete.
    output logic [4:0]                             retire_valid_o [2],
    output logic [4:0][31:0]                       retire_index_o [2]
);
  link_req_t      req[2];
  link_rsp_t      rsp[2];
  logic [D*8-1:0] wr_data[2], rd_data[2];
  logic [D-1:0]   wr_mask[2];

  systole_node #(.Preset(Preset), .FastArray(FastArray), .Window(1'b1)) u_node0 (
      .clk_i, .rst_ni,
      .axil_awvalid_i, .axil_awready_o, .axil_awaddr_i, .axil_wvalid_i, .axil_wready_o, .axil_wdata_i, .axil_wstrb_i, .axil_bvalid_o,
      .axil_bready_i, .axil_bresp_o, .axil_arvalid_i, .axil_arready_o, .axil_araddr_i, .axil_rvalid_o, .axil_rready_i, .axil_rdata_o,
      .axil_rresp_o, .axi_awvalid_i, .axi_awready_o, .axi_awaddr_i, .axi_awlen_i, .axi_awsize_i, .axi_awburst_i, .axi_awid_i,
      .axi_wvalid_i, .axi_wready_o, .axi_wdata_i, .axi_wstrb_i, .axi_wlast_i, .axi_bvalid_o, .axi_bready_i, .axi_bresp_o, .axi_bid_o,
      .axi_arvalid_i, .axi_arready_o, .axi_araddr_i, .axi_arlen_i, .axi_arsize_i, .axi_arburst_i, .axi_arid_i, .axi_rvalid_o,
      .axi_rready_i, .axi_rdata_o, .axi_rresp_o, .axi_rlast_o, .axi_rid_o,
      .irq_o(irq_o[0]), .phy_row_cmd_o(phy_row_cmd_o[0]), .phy_row_bank_o(phy_row_bank_o[0]), .phy_row_addr_o(phy_row_addr_o[0]),
      .phy_col_cmd_o(phy_col_cmd_o[0]), .phy_col_bank_o(phy_col_bank_o[0]), .phy_col_addr_o(phy_col_addr_o[0]),
      .phy_wdata_o(phy_wdata_o[0]), .phy_wmask_o(phy_wmask_o[0]), .phy_rdata_i(phy_rdata_i[0]), .phy_rcheck_i(phy_rcheck_i[0]),
      .phy_rdata_valid_i(phy_rdata_valid_i[0]), .retire_valid_o(retire_valid_o[0]), .retire_index_o(retire_index_o[0]),
      .link_req_o(req[0]), .link_rsp_o(rsp[0]), .link_wr_data_o(wr_data[0]), .link_wr_mask_o(wr_mask[0]), .link_rd_data_o(rd_data[0]),
      .link_req_i(req[1]), .link_rsp_i(rsp[1]), .link_wr_data_i(wr_data[1]), .link_wr_mask_i(wr_mask[1]), .link_rd_data_i(rd_data[1])
  );
  // verilator lint_off PINCONNECTEMPTY
  systole_node #(.Preset(Preset), .FastArray(FastArray), .Window(1'b0)) u_node1 (
      .clk_i, .rst_ni,
      .axil_awvalid_i('0), .axil_awready_o(), .axil_awaddr_i('0), .axil_wvalid_i('0), .axil_wready_o(), .axil_wdata_i('0),
      .axil_wstrb_i('0), .axil_bvalid_o(), .axil_bready_i('0), .axil_bresp_o(), .axil_arvalid_i('0), .axil_arready_o(),
      .axil_araddr_i('0), .axil_rvalid_o(), .axil_rready_i('0), .axil_rdata_o(), .axil_rresp_o(), .axi_awvalid_i('0), .axi_awready_o(),
      .axi_awaddr_i('0), .axi_awlen_i('0), .axi_awsize_i('0), .axi_awburst_i('0), .axi_awid_i('0), .axi_wvalid_i('0), .axi_wready_o(),
      .axi_wdata_i('0), .axi_wstrb_i('0), .axi_wlast_i('0), .axi_bvalid_o(), .axi_bready_i('0), .axi_bresp_o(), .axi_bid_o(),
      .axi_arvalid_i('0), .axi_arready_o(), .axi_araddr_i('0), .axi_arlen_i('0), .axi_arsize_i('0), .axi_arburst_i('0), .axi_arid_i('0),
      .axi_rvalid_o(), .axi_rready_i('0), .axi_rdata_o(), .axi_rresp_o(), .axi_rlast_o(), .axi_rid_o(),
      .irq_o(irq_o[1]), .phy_row_cmd_o(phy_row_cmd_o[1]), .phy_row_bank_o(phy_row_bank_o[1]), .phy_row_addr_o(phy_row_addr_o[1]),
      .phy_col_cmd_o(phy_col_cmd_o[1]), .phy_col_bank_o(phy_col_bank_o[1]), .phy_col_addr_o(phy_col_addr_o[1]),
      .phy_wdata_o(phy_wdata_o[1]), .phy_wmask_o(phy_wmask_o[1]), .phy_rdata_i(phy_rdata_i[1]), .phy_rcheck_i(phy_rcheck_i[1]),
      .phy_rdata_valid_i(phy_rdata_valid_i[1]), .retire_valid_o(retire_valid_o[1]), .retire_index_o(retire_index_o[1]),
      .link_req_o(req[1]), .link_rsp_o(rsp[1]), .link_wr_data_o(wr_data[1]), .link_wr_mask_o(wr_mask[1]), .link_rd_data_o(rd_data[1]),
      .link_req_i(req[0]), .link_rsp_i(rsp[0]), .link_wr_data_i(wr_data[0]), .link_wr_mask_i(wr_mask[0]), .link_rd_data_i(rd_data[0])
  );
  // verilator lint_on PINCONNECTEMPTY
endmodule
