// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip of your own around a Systole core of preset nano: here its registers alone are connected.

module hello_soc
  import systole_presets_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        read_valid_i,  // hold until read_ready_o
    output logic        read_ready_o,
    input  logic [11:0] read_addr_i,
    output logic        data_valid_o,
    output logic [31:0] data_o,
    output logic        irq_o
);

  /* verilator lint_off PINCONNECTEMPTY */
  systole_top #(
      .Preset(PresetNano),
      .FastArray(1)
  ) u_systole (
      .clk_i,
      .rst_ni,
      .axil_awvalid_i(1'b0),
      .axil_awready_o(),
      .axil_awaddr_i('0),
      .axil_wvalid_i(1'b0),
      .axil_wready_o(),
      .axil_wdata_i('0),
      .axil_wstrb_i('0),
      .axil_bvalid_o(),
      .axil_bready_i(1'b1),
      .axil_bresp_o(),
      .axil_arvalid_i(read_valid_i),
      .axil_arready_o(read_ready_o),
      .axil_araddr_i(read_addr_i),
      .axil_rvalid_o(data_valid_o),
      .axil_rready_i(1'b1),
      .axil_rdata_o(data_o),
      .axil_rresp_o(),
      .axi_awvalid_i(1'b0),
      .axi_awready_o(),
      .axi_awaddr_i('0),
      .axi_awlen_i('0),
      .axi_awsize_i('0),
      .axi_awburst_i('0),
      .axi_awid_i('0),
      .axi_wvalid_i(1'b0),
      .axi_wready_o(),
      .axi_wdata_i('0),
      .axi_wstrb_i('0),
      .axi_wlast_i(1'b0),
      .axi_bvalid_o(),
      .axi_bready_i(1'b1),
      .axi_bresp_o(),
      .axi_bid_o(),
      .axi_arvalid_i(1'b0),
      .axi_arready_o(),
      .axi_araddr_i('0),
      .axi_arlen_i('0),
      .axi_arsize_i('0),
      .axi_arburst_i('0),
      .axi_arid_i('0),
      .axi_rvalid_o(),
      .axi_rready_i(1'b1),
      .axi_rdata_o(),
      .axi_rresp_o(),
      .axi_rlast_o(),
      .axi_rid_o(),
      .irq_o,
      .phy_row_cmd_o(),
      .phy_row_bank_o(),
      .phy_row_addr_o(),
      .phy_col_cmd_o(),
      .phy_col_bank_o(),
      .phy_col_addr_o(),
      .phy_wdata_o(),
      .phy_wmask_o(),
      .phy_rdata_i('0),
      .phy_rcheck_i('0),
      .phy_rdata_valid_i('0),
      .retire_valid_o(),
      .retire_index_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */

endmodule
