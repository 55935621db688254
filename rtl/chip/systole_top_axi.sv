// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip of a board: the chip and its AXI4 master to the board's DRAM.
// Docs: docs/design.md, docs/dram.md. Test: tests/system.

module systole_top_axi
  import systole_presets_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned Preset = PresetBoard8,
    parameter int unsigned FastArray = 0,  // 1: the array's simulation view (systole_mxu_array)
    localparam chip_cfg_t Chip = preset(Preset),
    localparam core_cfg_t Cfg = Chip.Core,
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned H = axi_bytes(Cfg)
) (
    input  logic                                   clk_i,
    input  logic                                   rst_ni,

    // AXI4-Lite: registers (docs/reference/csr.md).
    input  logic                                   axil_awvalid_i,
    output logic                                   axil_awready_o,
    input  logic [11:0]                            axil_awaddr_i,
    input  logic                                   axil_wvalid_i,
    output logic                                   axil_wready_o,
    input  logic [31:0]                            axil_wdata_i,
    input  logic [3:0]                             axil_wstrb_i,
    output logic                                   axil_bvalid_o,
    input  logic                                   axil_bready_i,
    output logic [1:0]                             axil_bresp_o,
    input  logic                                   axil_arvalid_i,
    output logic                                   axil_arready_o,
    input  logic [11:0]                            axil_araddr_i,
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

    output logic                                   irq_o,
    output logic                                   running_o,  // a program runs
    output logic                                   fault_o,    // a fault froze the core

    // AXI4 master to the DRAM: INCR bursts of whole aligned beats of D bytes, one ID.
    output logic                                   dram_awvalid_o,
    input  logic                                   dram_awready_i,
    output logic [AddrBits-1:0]                    dram_awaddr_o,
    output logic [7:0]                             dram_awlen_o,
    output logic [2:0]                             dram_awsize_o,
    output logic [1:0]                             dram_awburst_o,
    output logic                                   dram_wvalid_o,
    input  logic                                   dram_wready_i,
    output logic [D*8-1:0]                         dram_wdata_o,
    output logic [D-1:0]                           dram_wstrb_o,
    output logic                                   dram_wlast_o,
    input  logic                                   dram_bvalid_i,
    output logic                                   dram_bready_o,
    input  logic [1:0]                             dram_bresp_i,
    output logic                                   dram_arvalid_o,
    input  logic                                   dram_arready_i,
    output logic [AddrBits-1:0]                    dram_araddr_o,
    output logic [7:0]                             dram_arlen_o,
    output logic [2:0]                             dram_arsize_o,
    output logic [1:0]                             dram_arburst_o,
    input  logic                                   dram_rvalid_i,
    output logic                                   dram_rready_o,
    input  logic [D*8-1:0]                         dram_rdata_i,
    input  logic [1:0]                             dram_rresp_i,
    input  logic                                   dram_rlast_i,

    // Trace: a descriptor of queue q has completed.
    output logic [4:0]                             retire_valid_o,
    output logic [4:0][31:0]                       retire_index_o
);
  if (Chip.Memory != MemoryAxi) begin : gen_other_memory
    $fatal(1, "the memory of this preset is no AXI4 DRAM: systole_top is its top");
  end

  axil_req_t axil_req;
  axil_rsp_t axil_rsp;
  axi_req_t  axi_req;
  axi_rsp_t  axi_rsp;

  assign axil_req = '{
      awvalid: axil_awvalid_i, awaddr: axil_awaddr_i, wvalid: axil_wvalid_i, wdata: axil_wdata_i, wstrb: axil_wstrb_i,
      bready: axil_bready_i, arvalid: axil_arvalid_i, araddr: axil_araddr_i, rready: axil_rready_i};
  assign axil_awready_o = axil_rsp.awready;
  assign axil_wready_o  = axil_rsp.wready;
  assign axil_bvalid_o  = axil_rsp.bvalid;
  assign axil_bresp_o   = axil_rsp.bresp;
  assign axil_arready_o = axil_rsp.arready;
  assign axil_rvalid_o  = axil_rsp.rvalid;
  assign axil_rdata_o   = axil_rsp.rdata;
  assign axil_rresp_o   = axil_rsp.rresp;

  assign axi_req = '{
      awvalid: axi_awvalid_i,
      aw: '{addr: axi_awaddr_i, len: axi_awlen_i, size: axi_awsize_i, burst: axi_awburst_i, id: axi_awid_i},
      wvalid: axi_wvalid_i, wlast: axi_wlast_i, bready: axi_bready_i, arvalid: axi_arvalid_i,
      ar: '{addr: axi_araddr_i, len: axi_arlen_i, size: axi_arsize_i, burst: axi_arburst_i, id: axi_arid_i},
      rready: axi_rready_i};
  assign axi_awready_o = axi_rsp.awready;
  assign axi_wready_o  = axi_rsp.wready;
  assign axi_bvalid_o  = axi_rsp.bvalid;
  assign axi_bresp_o   = axi_rsp.bresp;
  assign axi_bid_o     = axi_rsp.bid;
  assign axi_arready_o = axi_rsp.arready;
  assign axi_rvalid_o  = axi_rsp.rvalid;
  assign axi_rresp_o   = axi_rsp.rresp;
  assign axi_rlast_o   = axi_rsp.rlast;
  assign axi_rid_o     = axi_rsp.rid;

  mem_req_t                  mem_req;
  mem_rsp_t                  mem_rsp;
  logic [NumWr-1:0][D*8-1:0] mem_wr_data;
  logic [NumWr-1:0][D-1:0]   mem_wr_mask;
  logic [D*8-1:0]            mem_rd_data;

  systole_chip #(.Preset(Preset), .FastArray(FastArray)) u_chip (
      .clk_i, .rst_ni, .axil_req_i(axil_req), .axil_rsp_o(axil_rsp),
      .axi_req_i(axi_req), .axi_wdata_i, .axi_wstrb_i, .axi_rsp_o(axi_rsp), .axi_rdata_o, .irq_o, .running_o, .fault_o,
      .mem_req_o(mem_req), .mem_wr_data_o(mem_wr_data), .mem_wr_mask_o(mem_wr_mask), .mem_rsp_i(mem_rsp),
      // verilator lint_off PINCONNECTEMPTY
      .scalar_mem_req_o(), .scalar_wr_data_o(), .scalar_wr_mask_o(), .peer_rsp_o(),
      // verilator lint_on PINCONNECTEMPTY
      .scalar_mem_rsp_i('0), .peer_req_i('0), .mem_rd_data_i(mem_rd_data), .retire_valid_o, .retire_index_o
  );

  dram_req_t dram_req;
  dram_rsp_t dram_rsp;

  systole_axi_dram #(.D(D), .MemBits($clog2(max(Chip.DramBytes, 4096)))) u_dram (
      .clk_i, .rst_ni, .mem_req_i(mem_req), .mem_wr_data_i(mem_wr_data), .mem_wr_mask_i(mem_wr_mask),
      .mem_rsp_o(mem_rsp), .mem_rd_data_o(mem_rd_data),
      .dram_req_o(dram_req), .dram_wdata_o, .dram_wstrb_o, .dram_rsp_i(dram_rsp), .dram_rdata_i
  );

  assign dram_awvalid_o = dram_req.awvalid;
  assign dram_awaddr_o  = dram_req.awaddr;
  assign dram_awlen_o   = dram_req.awlen;
  assign dram_wvalid_o  = dram_req.wvalid;
  assign dram_wlast_o   = dram_req.wlast;
  assign dram_bready_o  = dram_req.bready;
  assign dram_arvalid_o = dram_req.arvalid;
  assign dram_araddr_o  = dram_req.araddr;
  assign dram_arlen_o   = dram_req.arlen;
  assign dram_rready_o  = dram_req.rready;
  assign dram_rsp = '{
      awready: dram_awready_i, wready: dram_wready_i, bvalid: dram_bvalid_i, bresp: dram_bresp_i, arready: dram_arready_i,
      rvalid: dram_rvalid_i, rresp: dram_rresp_i, rlast: dram_rlast_i};
  assign dram_awsize_o  = 3'($clog2(D));
  assign dram_arsize_o  = 3'($clog2(D));
  assign dram_awburst_o = 2'b01;
  assign dram_arburst_o = 2'b01;
endmodule
