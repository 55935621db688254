// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// In the place of systole_node: shows at its PHY what comes from the other one and from the network (phy_rsp_i says which part), and
// sends them bytes that tell which node and which part they are from. So the test sees how systole_chip joins them.

module systole_node
  import systole_presets_pkg::*;
  import systole_hbm_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned Preset = PresetMinichip,
    parameter int unsigned FastArray = 0,
    parameter bit          Window = 1'b1,  // the host's interface is here
    localparam chip_cfg_t Chip = preset(Preset),
    localparam core_cfg_t Cfg = Chip.Core,
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned H = axi_bytes(Cfg),
    localparam int unsigned FlitBytes = flit_bytes(Chip),
    localparam int unsigned HbmPcs = max(Chip.HbmPcs, 2)
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  axil_req_t         axil_req_i,
    output axil_rsp_t         axil_rsp_o,
    input  axi_req_t          axi_req_i,
    input  logic [H*8-1:0]    axi_wdata_i,
    input  logic [H-1:0]      axi_wstrb_i,
    output axi_rsp_t          axi_rsp_o,
    output logic [H*8-1:0]    axi_rdata_o,
    output node_status_t      node_status_o,
    output retire_t           retire_o,
    output cross_req_t        cross_req_o,
    output cross_rsp_t        cross_rsp_o,
    output logic [D*9-1:0]    cross_wr_o,
    output logic [D*8-1:0]    cross_rd_data_o,
    input  cross_req_t        cross_req_i,
    input  cross_rsp_t        cross_rsp_i,
    input  logic [D*9-1:0]    cross_wr_i,
    input  logic [D*8-1:0]    cross_rd_data_i,
    output net_req_t          net_req_o,
    output logic [FlitBytes*8-1:0] net_send_data_o,
    input  net_rsp_t          net_rsp_i,
    input  logic [FlitBytes*9-1:0] net_recv_i,
    output phy_req_t          phy_req_o [HbmPcs],
    input  phy_rsp_t          phy_rsp_i [HbmPcs],
    output dram_req_t         dram_req_o,
    output logic [D*8-1:0]    dram_wdata_o,
    output logic [D-1:0]      dram_wstrb_o,
    input  dram_rsp_t         dram_rsp_i,
    input  logic [D*8-1:0]    dram_rdata_i
);
  localparam logic [7:0] Me = 8'(Window);
  logic [D*8-1:0] shown;

  assign cross_req_o     = $bits(cross_req_t)'({32{8'h10 | Me}});
  assign cross_rsp_o     = $bits(cross_rsp_t)'({32{8'h20 | Me}});
  assign cross_wr_o      = {{D / 8{8'h40 | Me}}, {D{8'h30 | Me}}};
  assign cross_rd_data_o = {D{8'h50 | Me}};
  assign net_req_o       = $bits(net_req_t)'({32{8'h90 | Me}});
  assign net_send_data_o = {FlitBytes{8'hA0 | Me}};
  always_comb begin
    unique case (phy_rsp_i[0].rdata[3:0])
      4'd1:    shown = (D * 8)'(cross_req_i);
      4'd2:    shown = (D * 8)'(cross_rsp_i);
      4'd3:    shown = cross_wr_i[D*8-1:0];
      4'd4:    shown = (D * 8)'(cross_wr_i[D*8+:D]);
      4'd5:    shown = cross_rd_data_i;
      4'd6:    shown = (D * 8)'(net_rsp_i);
      4'd7:    shown = (D * 8)'(net_recv_i[FlitBytes*8-1:0]);
      4'd8:    shown = (D * 8)'(net_recv_i[FlitBytes*8+:FlitBytes]);
      default: shown = '0;
    endcase
  end

  // What belongs to a node of its own, and the host's pins.
  for (genvar p = 0; p < HbmPcs; p++) begin : gen_pc
    assign phy_req_o[p] = '{
        row_cmd: row_cmd_e'(Me), row_bank: '0, row_addr: '0, col_cmd: ColNop, col_bank: '0, col_addr: '0,
        wmask: phy_rsp_i[p].rcheck, wdata: shown[p*PhyBytes*8+:PhyBytes*8]};
  end
  assign node_status_o  = '{irq: Window, running: !Window, fault: Window};
  assign retire_o = '{valid: 6'(Me) + 6'd1, index: {6{32'(Me) + 32'd3}}};
  assign axi_rdata_o    = ~axi_wdata_i;
  assign dram_wdata_o   = '0;
  assign dram_wstrb_o   = '0;
  always_comb begin
    axil_rsp_o         = '0;
    axil_rsp_o.rdata   = ~axil_req_i.wdata;
    axil_rsp_o.bvalid  = axil_req_i.awaddr[12];
    axil_rsp_o.rvalid  = axil_req_i.araddr[12];
    axi_rsp_o          = '0;
    axi_rsp_o.rid      = axi_req_i.ar.id;
    axi_rsp_o.bid      = axi_req_i.aw.id;
    dram_req_o         = '0;
    dram_req_o.awaddr  = AddrBits'(Me) + 1'b1;
  end
endmodule
