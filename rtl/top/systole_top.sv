// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip of one core with HBM: the chip and its HBM controllers.
// Docs: docs/design.md, docs/host.md. Test: tests/system.

module systole_top
  import systole_presets_pkg::*;
  import systole_hbm_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned Preset = PresetEdge,
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

    // PHY of the HBM: a pseudo-channel each.
    output row_cmd_e [HbmPcs-1:0]              phy_row_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]    phy_row_bank_o,
    output logic [HbmPcs-1:0][RowBits-1:0]     phy_row_addr_o,
    output col_cmd_e [HbmPcs-1:0]              phy_col_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]    phy_col_bank_o,
    output logic [HbmPcs-1:0][ColBits-1:0]     phy_col_addr_o,
    output logic [HbmPcs-1:0][PhyBytes*8-1:0]  phy_wdata_o,
    output logic [HbmPcs-1:0][PhyBytes-1:0]    phy_wmask_o,   // with ECC the check bits
    input  logic [HbmPcs-1:0][PhyBytes*8-1:0]  phy_rdata_i,
    input  logic [HbmPcs-1:0][PhyBytes-1:0]    phy_rcheck_i,  // with ECC: 8 check bits each 64 bits
    input  logic [HbmPcs-1:0]                  phy_rdata_valid_i,

    // Trace: a descriptor of queue q is complete.
    output logic [4:0]                             retire_valid_o,
    output logic [4:0][31:0]                       retire_index_o
);
  if (Chip.Memory != MemoryHbm) begin : gen_other_memory
    $fatal(1, "the memory of this preset is no HBM: systole_top_axi is its top");
  end
  if (Chip.Cores != 1) begin : gen_other_cores
    $fatal(1, "this preset has two cores: systole_top_pair is its top");
  end

  localparam bit          HasScalar = Chip.SmemBytes != 0;
  localparam int unsigned Rds = NumRd + 32'(HasScalar);  // clients of the memory
  localparam int unsigned Wrs = NumWr + 32'(HasScalar);

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

  // The scalar unit's clients come last.
  // verilator lint_off UNUSEDSIGNAL
  client_req_t     scalar_req;
  logic [D*8-1:0]  scalar_wr_data;
  logic [D-1:0]    scalar_wr_mask;
  // verilator lint_on UNUSEDSIGNAL
  client_rsp_t                     scalar_rsp;
  logic [Rds-1:0]                  rd_valid, rd_ready, rd_rsp_valid;
  logic [Rds-1:0][AddrBits-1:0]    rd_addr;
  logic [Wrs-1:0]                  wr_valid, wr_ready;
  logic [Wrs-1:0][AddrBits-1:0]    wr_addr;
  logic [Wrs-1:0][D*8-1:0]         wr_data;
  logic [Wrs-1:0][D-1:0]           wr_mask;

  systole_chip #(.Preset(Preset), .FastArray(FastArray)) u_chip (
      .clk_i, .rst_ni, .axil_req_i(axil_req), .axil_rsp_o(axil_rsp),
      .axi_req_i(axi_req), .axi_wdata_i, .axi_wstrb_i, .axi_rsp_o(axi_rsp), .axi_rdata_o, .irq_o,
      // verilator lint_off PINCONNECTEMPTY
      .running_o(), .fault_o(), .peer_rsp_o(),
      // verilator lint_on PINCONNECTEMPTY
      .mem_req_o(mem_req), .mem_wr_data_o(mem_wr_data), .mem_wr_mask_o(mem_wr_mask), .mem_rsp_i(mem_rsp),
      .mem_rd_data_i(mem_rd_data), .retire_valid_o, .retire_index_o,
      .scalar_mem_req_o(scalar_req), .scalar_wr_data_o(scalar_wr_data), .scalar_wr_mask_o(scalar_wr_mask),
      .scalar_mem_rsp_i(scalar_rsp), .peer_req_i('0)
  );

  assign mem_rsp.rd_ready     = rd_ready[NumRd-1:0];
  assign mem_rsp.rd_rsp_valid = rd_rsp_valid[NumRd-1:0];
  assign mem_rsp.rd_rsp_far   = '0;
  assign mem_rsp.wr_ready     = wr_ready[NumWr-1:0];
  assign rd_valid[NumRd-1:0] = mem_req.rd_valid;
  assign rd_addr[NumRd-1:0]  = mem_req.rd_addr;
  assign wr_valid[NumWr-1:0] = mem_req.wr_valid;
  assign wr_addr[NumWr-1:0]  = mem_req.wr_addr;
  assign wr_data[NumWr-1:0]  = mem_wr_data;
  assign wr_mask[NumWr-1:0]  = mem_wr_mask;
  if (HasScalar) begin : gen_scalar
    assign rd_valid[NumRd] = scalar_req.rd_valid;
    assign rd_addr[NumRd]  = scalar_req.rd_addr;
    assign wr_valid[NumWr] = scalar_req.wr_valid;
    assign wr_addr[NumWr]  = scalar_req.wr_addr;
    assign wr_data[NumWr]  = scalar_wr_data;
    assign wr_mask[NumWr]  = scalar_wr_mask;
    assign scalar_rsp = '{
        rd_ready: rd_ready[NumRd], rd_rsp_valid: rd_rsp_valid[NumRd], rd_rsp_far: 1'b0, wr_ready: wr_ready[NumWr]};
  end else begin : gen_no_scalar
    assign scalar_rsp = '0;
  end

  logic [Rds:0]        ecc_fixed, ecc_bad;
  logic                ecc_look;
  logic [AddrBits-1:0] ecc_addr;

  // The scalar unit's turns are as short as the host's.
  systole_hbm #(
      .HbmPcs(HbmPcs), .NumRd(Rds), .NumWr(Wrs), .AddrBits(AddrBits), .RdBurst((Rds * 8)'({HostBurst, RdBurst})),
      .WrBurst((Wrs * 8)'({HostBurst, WrBurst})), .Ecc(Chip.Ecc != 0)
  ) u_hbm (
      .clk_i, .rst_ni,
      .rd_valid_i(rd_valid), .rd_ready_o(rd_ready), .rd_addr_i(rd_addr),
      .rd_rsp_valid_o(rd_rsp_valid), .rd_rsp_data_o(mem_rd_data),
      .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_addr_i(wr_addr),
      .wr_data_i(wr_data), .wr_mask_i(wr_mask),
      .outstanding_o(mem_rsp.outstanding), .perf_o(mem_rsp.perf),
      .ecc_fixed_o(ecc_fixed), .ecc_bad_o(ecc_bad), .ecc_look_o(ecc_look), .ecc_addr_o(ecc_addr), .scrub_i(mem_req.scrub),
      .row_cmd_o(phy_row_cmd_o), .row_bank_o(phy_row_bank_o), .row_addr_o(phy_row_addr_o),
      .col_cmd_o(phy_col_cmd_o), .col_bank_o(phy_col_bank_o), .col_addr_o(phy_col_addr_o),
      .wdata_o(phy_wdata_o), .wmask_o(phy_wmask_o), .rdata_i(phy_rdata_i), .rcheck_i(phy_rcheck_i),
      .rdata_valid_i(phy_rdata_valid_i)
  );

  // What cannot be corrected faults the core, whoever read it; what only the scrubber read is counted.
  assign mem_rsp.ecc   = '{fixed: ecc_fixed != '0, bad: ecc_bad != '0, addr: ecc_addr};
  assign mem_rsp.error = '{valid: ecc_bad != '0 && !ecc_look, code: systole_isa_pkg::FaultEccError, addr: ecc_addr};
endmodule
