// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// In the place of systole_node: shows at its PHY what comes over the link (phy_rdata_i says which part), and sends the other one bytes
// that tell which node and which part they are from. So the test sees how systole_top_pair joins two of them.

module systole_node
  import systole_presets_pkg::*;
  import systole_hbm_pkg::*;
  import systole_bus_pkg::*;
  import systole_isa_pkg::PeerFlags;
  import systole_isa_pkg::FaultEccError;
#(
    parameter int unsigned Preset = PresetMinichip,
    parameter int unsigned FastArray = 0,  // 1: the array's simulation view (systole_mxu_array)
    parameter bit          Window = 1'b1,  // the host's interface is here
    localparam chip_cfg_t Chip = preset(Preset),
    localparam core_cfg_t Cfg = Chip.Core,
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned H = axi_bytes(Cfg),
    localparam int unsigned HbmPcs = max(Chip.HbmPcs, 2)  // another memory's chip is refused below
) (
    input  logic                                   clk_i,
    input  logic                                   rst_ni,

    // AXI4-Lite: registers of both cores (docs/reference/csr.md); without Window idle, as the next.
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

    output logic                                   irq_o,

    // PHY of the HBM, a pseudo-channel each.
    output row_cmd_e [HbmPcs-1:0]                  phy_row_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]        phy_row_bank_o,
    output logic [HbmPcs-1:0][RowBits-1:0]         phy_row_addr_o,
    output col_cmd_e [HbmPcs-1:0]                  phy_col_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]        phy_col_bank_o,
    output logic [HbmPcs-1:0][ColBits-1:0]         phy_col_addr_o,
    output logic [HbmPcs-1:0][PhyBytes*8-1:0]      phy_wdata_o,
    output logic [HbmPcs-1:0][PhyBytes-1:0]        phy_wmask_o,   // with ECC the check bits
    input  logic [HbmPcs-1:0][PhyBytes*8-1:0]      phy_rdata_i,
    input  logic [HbmPcs-1:0][PhyBytes-1:0]        phy_rcheck_i,  // with ECC: 8 check bits each 64 bits
    input  logic [HbmPcs-1:0]                      phy_rdata_valid_i,

    // Trace: a descriptor of queue q is complete.
    output logic [4:0]                             retire_valid_o,
    output logic [4:0][31:0]                       retire_index_o,

    // To the other core and from it: requests, answers, data of writes to the other memory, the memory's answers.
    output link_req_t                              link_req_o,
    output link_rsp_t                              link_rsp_o,
    output logic [D*8-1:0]                         link_wr_data_o,
    output logic [D-1:0]                           link_wr_mask_o,
    output logic [D*8-1:0]                         link_rd_data_o,
    input  link_req_t                              link_req_i,
    // verilator lint_off UNUSEDSIGNAL
    input  link_rsp_t                              link_rsp_i,  // never far itself
    // verilator lint_on UNUSEDSIGNAL
    input  logic [D*8-1:0]                         link_wr_data_i,
    input  logic [D-1:0]                           link_wr_mask_i,
    input  logic [D*8-1:0]                         link_rd_data_i
);
  localparam logic [7:0] Me = 8'(Window);

  assign link_req_o     = $bits(link_req_t)'({32{8'h10 | Me}});
  assign link_rsp_o     = $bits(link_rsp_t)'({32{8'h20 | Me}});
  assign link_wr_data_o = {D{8'h30 | Me}};
  assign link_wr_mask_o = {D / 8{8'h40 | Me}};
  assign link_rd_data_o = {D{8'h50 | Me}};
  always_comb begin
    unique case (phy_rdata_i[0][2:0])
      3'd1:    phy_wdata_o = (D * 8)'(link_req_i);
      3'd2:    phy_wdata_o = (D * 8)'(link_rsp_i);
      3'd3:    phy_wdata_o = link_wr_data_i;
      3'd4:    phy_wdata_o = (D * 8)'(link_wr_mask_i);
      3'd5:    phy_wdata_o = link_rd_data_i;
      default: phy_wdata_o = '0;
    endcase
  end

  // What belongs to a node of its own, and the host's pins.
  assign irq_o          = Window;
  assign retire_valid_o = 5'(Me) + 5'd1;
  assign retire_index_o = {5{32'(Me) + 32'd3}};
  assign phy_row_cmd_o  = {HbmPcs{row_cmd_e'(Me)}};
  assign {phy_row_bank_o, phy_row_addr_o, phy_col_bank_o, phy_col_addr_o} = '0;
  assign phy_col_cmd_o  = {HbmPcs{ColNop}};
  assign phy_wmask_o    = phy_rcheck_i;
  assign axil_rdata_o   = ~axil_wdata_i;
  assign axi_rdata_o    = ~axi_wdata_i;
  assign axi_rid_o      = axi_arid_i;
  assign axi_bid_o      = axi_awid_i;
  assign {axil_awready_o, axil_wready_o, axil_bvalid_o, axil_bresp_o, axil_arready_o, axil_rvalid_o, axil_rresp_o} = '0;
  assign {axi_awready_o, axi_wready_o, axi_bvalid_o, axi_bresp_o, axi_arready_o, axi_rvalid_o, axi_rresp_o, axi_rlast_o} = '0;
endmodule
