// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip: one node for each core, and the connections between the nodes. The first node has the host interface. The preset
// defines cores and memory. systole_top has the ports of this module as pins.
// Docs: docs/design.md, docs/chip.md. Test: tests/system, tests/rtl/chip.

module systole_chip
  import systole_presets_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned Preset = PresetEdge,
    parameter int unsigned FastArray = 0,  // 1: the array's simulation view (systole_mxu_array)
    localparam chip_cfg_t Chip = preset(Preset),
    localparam int unsigned Cores = Chip.Cores,
    localparam int unsigned D = beat_bytes(Chip.Core),
    localparam int unsigned H = axi_bytes(Chip.Core),
    localparam int unsigned HbmPcs = max(Chip.HbmPcs, 2),  // a chip without HBM also has the pins
    localparam int unsigned LaneBits = 2 * max(Chip.LinkBytes, 4),
    localparam int unsigned FlitBytes = flit_bytes(Chip)
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,

    // AXI4-Lite: registers (docs/reference/csr.md).
    input  axil_req_t              axil_req_i,
    output axil_rsp_t              axil_rsp_o,

    // AXI4: the memory window. INCR bursts of whole aligned beats of H bytes.
    input  axi_req_t               axi_req_i,
    input  logic [H*8-1:0]         axi_wdata_i,
    input  logic [H-1:0]           axi_wstrb_i,
    output axi_rsp_t               axi_rsp_o,
    output logic [H*8-1:0]         axi_rdata_o,

    output node_status_t           node_status_o [Cores],

    // Trace: a descriptor of queue q has completed.
    output logic [systole_isa_pkg::NumQueues-1:0]       retire_valid_o [Cores],
    output logic [systole_isa_pkg::NumQueues-1:0][31:0] retire_index_o [Cores],

    // HBM: the PHY of each pseudo-channel. A board's DRAM: an AXI4 master. Outputs to a memory that the chip does not have are
    // 0.
    output phy_req_t               phy_req_o [Cores][HbmPcs],
    input  phy_rsp_t               phy_rsp_i [Cores][HbmPcs],
    output dram_req_t              dram_req_o,
    output logic [D*8-1:0]         dram_wdata_o,
    output logic [D-1:0]           dram_wstrb_o,
    input  dram_rsp_t              dram_rsp_i,
    input  logic [D*8-1:0]         dram_rdata_i,

    // Links X+, X-, Y+, Y-, of four lanes each: {tag, bytes} (docs/link.md). 0 in chips without links.
    output logic [3:0][3:0][LaneBits+1:0] lanes_o,
    input  logic [3:0][3:0][LaneBits+1:0] lanes_i
);
  // Signals from each core to the other one. A chip of one core has no other core, and they are 0.
  cross_req_t     cross_req [2];
  cross_rsp_t     cross_rsp [2];
  logic [D*9-1:0] cross_wr [2];
  logic [D*8-1:0] cross_rd_data [2];
  // Outputs of each node; those of the first node are the chip's.
  axil_rsp_t      axil_rsp [Cores];
  axi_rsp_t       axi_rsp [Cores];
  logic [H*8-1:0] axi_rdata [Cores];
  dram_req_t      dram_req [Cores];
  logic [D*8-1:0] dram_wdata [Cores];
  logic [D-1:0]   dram_wstrb [Cores];
  assign axil_rsp_o   = axil_rsp[0];
  assign axi_rsp_o    = axi_rsp[0];
  assign axi_rdata_o  = axi_rdata[0];
  assign dram_req_o   = dram_req[0];
  assign dram_wdata_o = dram_wdata[0];
  assign dram_wstrb_o = dram_wstrb[0];

  net_req_t               net_req [Cores];
  net_rsp_t               net_rsp [Cores];
  logic [FlitBytes*8-1:0] net_send_data [Cores], net_recv_data;
  logic [FlitBytes-1:0]   net_recv_mask;

  for (genvar c = 0; c < Cores; c++) begin : gen_node
    systole_node #(.Preset(Preset), .FastArray(FastArray), .Window(c == 0)) u_node (
        .clk_i, .rst_ni, .axil_req_i(c == 0 ? axil_req_i : '0), .axil_rsp_o(axil_rsp[c]),
        .axi_req_i(c == 0 ? axi_req_i : '0), .axi_wdata_i, .axi_wstrb_i, .axi_rsp_o(axi_rsp[c]), .axi_rdata_o(axi_rdata[c]),
        .node_status_o(node_status_o[c]), .retire_o({retire_valid_o[c], retire_index_o[c]}),
        .cross_req_o(cross_req[c]), .cross_rsp_o(cross_rsp[c]), .cross_wr_o(cross_wr[c]), .cross_rd_data_o(cross_rd_data[c]),
        .cross_req_i(cross_req[1-c]), .cross_rsp_i(cross_rsp[1-c]), .cross_wr_i(cross_wr[1-c]), .cross_rd_data_i(cross_rd_data[1-c]),
        .net_req_o(net_req[c]), .net_send_data_o(net_send_data[c]), .net_rsp_i(net_rsp[c]), .net_recv_i({net_recv_mask, net_recv_data}),
        .phy_req_o(phy_req_o[c]), .phy_rsp_i(phy_rsp_i[c]), .dram_req_o(dram_req[c]), .dram_wdata_o(dram_wdata[c]),
        .dram_wstrb_o(dram_wstrb[c]), .dram_rsp_i, .dram_rdata_i
    );
  end
  if (Chip.LinkBytes != 0) begin : gen_network
    systole_network #(.LinkBytes(Chip.LinkBytes), .FlitBytes(FlitBytes)) u_network (
        .clk_i, .rst_ni, .net_req_i(net_req), .net_send_data_i(net_send_data), .net_rsp_o(net_rsp), .net_recv_data_o(net_recv_data),
        .net_recv_mask_o(net_recv_mask), .lanes_o, .lanes_i
    );
  end else begin : gen_no_network
    assign lanes_o       = '0;
    assign net_recv_data = '0;
    assign net_recv_mask = '0;
    for (genvar c = 0; c < Cores; c++) begin : gen_core
      logic unused_core;
      assign net_rsp[c]  = '0;
      assign unused_core = &{1'b0, net_req[c], net_send_data[c]};
    end
    logic unused;
    assign unused = &{1'b0, lanes_i};
  end
  if (Cores == 1) begin : gen_single
    assign cross_req[1]     = '0;
    assign cross_rsp[1]     = '0;
    assign cross_wr[1]      = '0;
    assign cross_rd_data[1] = '0;
    logic unused;
    assign unused = &{1'b0, cross_req[0], cross_rsp[0], cross_wr[0], cross_rd_data[0]};
  end else begin : gen_pair
    logic unused;
    assign unused = &{1'b0, axil_rsp[1], axi_rsp[1], axi_rdata[1], dram_req[1], dram_wdata[1], dram_wstrb[1]};
  end
endmodule
