// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip of your own around a Systole chip of preset nano: here its registers alone are connected. systole_top is the same
// with pins in place of bundles.

module hello_soc
  import systole_presets_pkg::*;
  import systole_bus_pkg::*;
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
  axil_req_t    axil_req;
  axil_rsp_t    axil_rsp;
  node_status_t node_status [1];
  phy_rsp_t     no_phy [1][2];  // no HBM is connected

  always_comb begin
    axil_req         = '0;
    axil_req.arvalid = read_valid_i;
    axil_req.araddr  = AxilBits'(read_addr_i);
    axil_req.rready  = 1'b1;
  end
  assign read_ready_o = axil_rsp.arready;
  assign data_valid_o = axil_rsp.rvalid;
  assign data_o       = axil_rsp.rdata;
  assign irq_o        = node_status[0].irq;
  assign no_phy[0][0] = '0;
  assign no_phy[0][1] = '0;

  systole_chip #(
      .Preset(PresetNano),
      .FastArray(1)
  ) u_systole (
      .clk_i,
      .rst_ni,
      .axil_req_i(axil_req),
      .axil_rsp_o(axil_rsp),
      .axi_req_i('0),
      .axi_wdata_i('0),
      .axi_wstrb_i('0),
      .node_status_o(node_status),
      .phy_rsp_i(no_phy),
      .dram_rsp_i('0),
      .dram_rdata_i('0),
      .lanes_i('0),
      // verilator lint_off PINCONNECTEMPTY
      .axi_rsp_o(),
      .axi_rdata_o(),
      .retire_valid_o(),
      .retire_index_o(),
      .phy_req_o(),
      .dram_req_o(),
      .dram_wdata_o(),
      .dram_wstrb_o(),
      .lanes_o()
      // verilator lint_on PINCONNECTEMPTY
  );

  logic unused;
  assign unused = &{1'b0, axil_rsp, node_status[0]};
endmodule
