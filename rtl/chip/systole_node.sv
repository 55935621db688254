// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One core of a chip with two: its registers, core, memory, and the crossing to the other core, connected by the link. Both
// cores are the same, but only the first one has the host interface. The chip is systole_top_pair. Simulation connects two
// models of this module instead (verif/tb), so that both cores run the same code. Docs: docs/chip.md. Test: tests/system.

module systole_node
  import systole_presets_pkg::*;
  import systole_hbm_pkg::*;
  import systole_bus_pkg::*;
  import systole_isa_pkg::PeerFlags;
  import systole_isa_pkg::FaultEccError;
#(
    parameter int unsigned Preset = PresetMinichip,
    parameter int unsigned FastArray = 0,  // 1: the array's simulation view (systole_mxu_array)
    parameter bit          Window = 1'b1,  // 1: the host interface is here
    localparam chip_cfg_t Chip = preset(Preset),
    localparam core_cfg_t Cfg = Chip.Core,
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned H = axi_bytes(Cfg),
    localparam int unsigned HbmPcs = max(Chip.HbmPcs, 2)  // a chip with another memory is refused below
) (
    input  logic                                   clk_i,
    input  logic                                   rst_ni,

    // AXI4-Lite: registers of both cores (docs/reference/csr.md). It and the next interface are idle without Window.
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

    // PHY of the HBM, one entry per pseudo-channel.
    output row_cmd_e [HbmPcs-1:0]                  phy_row_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]        phy_row_bank_o,
    output logic [HbmPcs-1:0][RowBits-1:0]         phy_row_addr_o,
    output col_cmd_e [HbmPcs-1:0]                  phy_col_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]        phy_col_bank_o,
    output logic [HbmPcs-1:0][ColBits-1:0]         phy_col_addr_o,
    output logic [HbmPcs-1:0][PhyBytes*8-1:0]      phy_wdata_o,
    output logic [HbmPcs-1:0][PhyBytes-1:0]        phy_wmask_o,   // with ECC: the check bits
    input  logic [HbmPcs-1:0][PhyBytes*8-1:0]      phy_rdata_i,
    input  logic [HbmPcs-1:0][PhyBytes-1:0]        phy_rcheck_i,  // with ECC: 8 check bits for each 64 bits
    input  logic [HbmPcs-1:0]                      phy_rdata_valid_i,

    // Trace: a descriptor of queue q has completed.
    output logic [4:0]                             retire_valid_o,
    output logic [4:0][31:0]                       retire_index_o,

    // The link to the other core and back: requests, responses, data of writes to the other memory, data of reads.
    output link_req_t                              link_req_o,
    output link_rsp_t                              link_rsp_o,
    output logic [D*8-1:0]                         link_wr_data_o,
    output logic [D-1:0]                           link_wr_mask_o,
    output logic [D*8-1:0]                         link_rd_data_o,
    input  link_req_t                              link_req_i,
    // verilator lint_off UNUSEDSIGNAL
    input  link_rsp_t                              link_rsp_i,  // rd_rsp_far in it is 0
    // verilator lint_on UNUSEDSIGNAL
    input  logic [D*8-1:0]                         link_wr_data_i,
    input  logic [D-1:0]                           link_wr_mask_i,
    input  logic [D*8-1:0]                         link_rd_data_i
);
  if (Chip.Memory != MemoryHbm) begin : gen_other_memory
    $fatal(1, "the memory of this preset is no HBM: systole_top_axi is its top");
  end
  if (Chip.Cores != 2) begin : gen_other_cores
    $fatal(1, "this preset has one core: systole_top is its top");
  end

  localparam bit          HasScalar = Chip.SmemBytes != 0;
  localparam int unsigned Rds = NumRd + 32'(HasScalar);  // a core's clients of the memory
  localparam int unsigned Wrs = NumWr + 32'(HasScalar);
  localparam logic [Rds-1:0][7:0] Reads = (Rds * 8)'({HostBurst, RdBurst});  // the scalar unit's turns are as short as the host's
  localparam logic [Wrs-1:0][7:0] Writes = (Wrs * 8)'({HostBurst, WrBurst});
  localparam int unsigned MemBits = $clog2(memory_bytes(Chip));

  // Registers. An access to the second core's registers follows the host's earlier writes to that core's memory.
  logic      crossing;
  axil_req_t chip_axil_req, far_axil_req;
  axil_rsp_t chip_axil_rsp;
  axi_req_t  axi_req;
  axi_rsp_t  axi_rsp;
  if (Window) begin : gen_window
    axil_req_t axil_req, split_req[2];
    axil_rsp_t axil_rsp, split_rsp[2];
    assign axil_req = '{
        awvalid: axil_awvalid_i, awaddr: axil_awaddr_i[11:0], wvalid: axil_wvalid_i, wdata: axil_wdata_i, wstrb: axil_wstrb_i,
        bready: axil_bready_i, arvalid: axil_arvalid_i, araddr: axil_araddr_i[11:0], rready: axil_rready_i};
    assign axil_awready_o = axil_rsp.awready;
    assign axil_wready_o  = axil_rsp.wready;
    assign axil_bvalid_o  = axil_rsp.bvalid;
    assign axil_bresp_o   = axil_rsp.bresp;
    assign axil_arready_o = axil_rsp.arready;
    assign axil_rvalid_o  = axil_rsp.rvalid;
    assign axil_rdata_o   = axil_rsp.rdata;
    assign axil_rresp_o   = axil_rsp.rresp;
    systole_axil_split u_axil_split (
        .clk_i, .rst_ni, .req_i(axil_req), .aw_second_i(axil_awaddr_i[12]), .ar_second_i(axil_araddr_i[12]), .rsp_o(axil_rsp),
        .hold_second_i(crossing), .req_o(split_req), .rsp_i(split_rsp)
    );
    assign split_rsp     = '{chip_axil_rsp, link_rsp_i.axil};
    assign far_axil_req  = split_req[1];
    assign chip_axil_req = split_req[0] | link_req_i.axil;  // one of the two is always idle: only the first core has a host interface

    assign axi_req = '{
        awvalid: axi_awvalid_i,
        aw: '{addr: axi_awaddr_i, len: axi_awlen_i, size: axi_awsize_i, burst: axi_awburst_i, id: axi_awid_i},
        wvalid: axi_wvalid_i, wlast: axi_wlast_i, bready: axi_bready_i, arvalid: axi_arvalid_i,
        ar: '{addr: axi_araddr_i, len: axi_arlen_i, size: axi_arsize_i, burst: axi_arburst_i, id: axi_arid_i},
        rready: axi_rready_i};
  end else begin : gen_no_window
    assign {axil_awready_o, axil_wready_o, axil_bvalid_o, axil_bresp_o, axil_arready_o, axil_rvalid_o, axil_rdata_o, axil_rresp_o} = '0;
    assign far_axil_req  = '0;
    assign chip_axil_req = link_req_i.axil;
    assign axi_req       = '0;
    logic unused;
    assign unused = &{
        1'b0, axil_awvalid_i, axil_awaddr_i, axil_wvalid_i, axil_wdata_i, axil_wstrb_i, axil_bready_i, axil_arvalid_i, axil_araddr_i,
        axil_rready_i, axi_awvalid_i, axi_awaddr_i, axi_awlen_i, axi_awsize_i, axi_awburst_i, axi_awid_i, axi_wvalid_i, axi_wlast_i,
        axi_bready_i, axi_arvalid_i, axi_araddr_i, axi_arlen_i, axi_arsize_i, axi_arburst_i, axi_arid_i, axi_rready_i, link_rsp_i.axil,
        crossing};
  end
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
  client_req_t               scalar_req;
  client_rsp_t               scalar_rsp;
  peer_req_t                 peer_req;
  peer_rsp_t                 peer_rsp;
  logic [1:0][D*8-1:0]       rd_data;
  logic [NumWr-1:0][D*8-1:0] mem_wr_data;
  logic [NumWr-1:0][D-1:0]   mem_wr_mask;
  // verilator lint_off UNUSEDSIGNAL
  logic [D*8-1:0]            scalar_wr_data;
  logic [D-1:0]              scalar_wr_mask;
  // verilator lint_on UNUSEDSIGNAL

  systole_chip #(.Preset(Preset), .FastArray(FastArray), .Window(Window)) u_chip (
      .clk_i, .rst_ni, .axil_req_i(chip_axil_req), .axil_rsp_o(chip_axil_rsp),
      .axi_req_i(axi_req), .axi_wdata_i, .axi_wstrb_i, .axi_rsp_o(axi_rsp), .axi_rdata_o, .irq_o,
      // verilator lint_off PINCONNECTEMPTY
      .running_o(), .fault_o(),
      // verilator lint_on PINCONNECTEMPTY
      .mem_req_o(mem_req), .mem_wr_data_o(mem_wr_data), .mem_wr_mask_o(mem_wr_mask), .mem_rsp_i(mem_rsp),
      .mem_rd_data_i(rd_data), .peer_req_i(peer_req), .peer_rsp_o(peer_rsp),
      .scalar_mem_req_o(scalar_req), .scalar_wr_data_o(scalar_wr_data), .scalar_wr_mask_o(scalar_wr_mask),
      .scalar_mem_rsp_i(scalar_rsp), .retire_valid_o, .retire_index_o
  );

  // The core's clients, the scalar unit's last.
  logic [Rds-1:0]               rd_valid, rd_ready, rd_rsp_valid, rd_rsp_far;
  logic [Rds-1:0][AddrBits-1:0] rd_addr;
  logic [Wrs-1:0]               wr_valid, wr_ready;
  logic [Wrs-1:0][AddrBits-1:0] wr_addr;
  logic [Wrs-1:0][D*8-1:0]      wr_data;
  logic [Wrs-1:0][D-1:0]        wr_mask;

  assign rd_valid[NumRd-1:0]  = mem_req.rd_valid;
  assign rd_addr[NumRd-1:0]   = mem_req.rd_addr;
  assign wr_valid[NumWr-1:0]  = mem_req.wr_valid;
  assign wr_addr[NumWr-1:0]   = mem_req.wr_addr;
  assign wr_data[NumWr-1:0]   = mem_wr_data;
  assign wr_mask[NumWr-1:0]   = mem_wr_mask;
  assign mem_rsp.rd_ready     = rd_ready[NumRd-1:0];
  assign mem_rsp.rd_rsp_valid = rd_rsp_valid[NumRd-1:0];
  assign mem_rsp.rd_rsp_far   = rd_rsp_far[NumRd-1:0];
  assign mem_rsp.wr_ready     = wr_ready[NumWr-1:0];
  if (HasScalar) begin : gen_scalar
    assign rd_valid[NumRd] = scalar_req.rd_valid;
    assign rd_addr[NumRd]  = scalar_req.rd_addr;
    assign wr_valid[NumWr] = scalar_req.wr_valid;
    assign wr_addr[NumWr]  = scalar_req.wr_addr;
    assign wr_data[NumWr]  = scalar_wr_data;
    assign wr_mask[NumWr]  = scalar_wr_mask;
    assign scalar_rsp = '{
        rd_ready: rd_ready[NumRd], rd_rsp_valid: rd_rsp_valid[NumRd], rd_rsp_far: rd_rsp_far[NumRd],
        wr_ready: wr_ready[NumWr]};
  end else begin : gen_no_scalar
    assign scalar_rsp = '0;
    logic unused;
    assign unused = &{1'b0, scalar_req};
  end

  logic [Rds-1:0]       own_rd_valid, own_rd_ready, own_rd_rsp_valid;
  logic [Wrs-1:0]       own_wr_valid, own_wr_ready;
  client_req_t          far_req;  // to the other memory
  client_rsp_t          far_rsp;  // to the other core
  logic [PeerFlags-1:0] post;
  assign rd_data[0]    = link_rd_data_o;
  assign peer_req.post = link_req_i.post;

  systole_crossing #(.D(D), .MemBits(MemBits), .Rds(Rds), .Wrs(Wrs), .Reads(Reads), .Writes(Writes)) u_crossing (
      .clk_i, .rst_ni,
      .rd_valid_i(rd_valid), .rd_ready_o(rd_ready), .rd_addr_i(rd_addr), .rd_rsp_valid_o(rd_rsp_valid),
      .rd_rsp_far_o(rd_rsp_far), .far_rd_data_o(rd_data[1]),
      .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_addr_i(wr_addr), .wr_data_i(wr_data), .wr_mask_i(wr_mask),
      .outstanding_o(mem_rsp.outstanding), .crossing_o(crossing),
      .own_rd_valid_o(own_rd_valid), .own_rd_ready_i(own_rd_ready), .own_rd_rsp_valid_i(own_rd_rsp_valid),
      .own_wr_valid_o(own_wr_valid), .own_wr_ready_i(own_wr_ready),
      .far_req_o(far_req), .far_wr_data_o(link_wr_data_o), .far_wr_mask_o(link_wr_mask_o), .far_rsp_i(link_rsp_i.memory),
      .far_rd_data_i(link_rd_data_i),
      .posted_i(peer_rsp.posted), .post_take_o(peer_req.take), .post_o(post)
  );

  // An uncorrectable error faults the core that read the word. If only the scrubber read it, it is counted.
  logic [Rds+1:0]      ecc_fixed, ecc_bad;
  logic                ecc_look, own_bad;
  logic [AddrBits-1:0] ecc_addr;
  assign own_bad = (ecc_bad & ~((Rds + 2)'(1) << Rds)) != '0 && !ecc_look;
  assign mem_rsp.ecc   = '{fixed: ecc_fixed != '0, bad: ecc_bad != '0, addr: ecc_addr};
  assign mem_rsp.error = '{
      valid: own_bad || link_req_i.bad, code: FaultEccError,
      addr: own_bad ? ecc_addr : link_req_i.bad_addr | (AddrBits'(1) << MemBits)};
  assign link_req_o = '{memory: far_req, post: post, bad: ecc_bad[Rds], bad_addr: ecc_addr, axil: far_axil_req};
  assign link_rsp_o = '{memory: far_rsp, axil: chip_axil_rsp};

  // The memory. Its clients are the core's and, last, the other core.
  assign far_rsp.rd_rsp_far = 1'b0;
  systole_hbm #(
      .HbmPcs(HbmPcs), .NumRd(Rds + 1), .NumWr(Wrs + 1), .AddrBits(AddrBits), .RdBurst({StreamBurst, Reads}),
      .WrBurst({StreamBurst, Writes}), .Ecc(Chip.Ecc != 0)
  ) u_hbm (
      .clk_i, .rst_ni,
      .rd_valid_i({link_req_i.memory.rd_valid, own_rd_valid}), .rd_ready_o({far_rsp.rd_ready, own_rd_ready}),
      .rd_addr_i({link_req_i.memory.rd_addr, rd_addr}), .rd_rsp_valid_o({far_rsp.rd_rsp_valid, own_rd_rsp_valid}),
      .rd_rsp_data_o(link_rd_data_o),
      .wr_valid_i({link_req_i.memory.wr_valid, own_wr_valid}), .wr_ready_o({far_rsp.wr_ready, own_wr_ready}),
      .wr_addr_i({link_req_i.memory.wr_addr, wr_addr}), .wr_data_i({link_wr_data_i, wr_data}),
      .wr_mask_i({link_wr_mask_i, wr_mask}),
      // verilator lint_off PINCONNECTEMPTY
      .outstanding_o(), .perf_o(mem_rsp.perf),
      // verilator lint_on PINCONNECTEMPTY
      .ecc_fixed_o(ecc_fixed), .ecc_bad_o(ecc_bad), .ecc_look_o(ecc_look), .ecc_addr_o(ecc_addr), .scrub_i(mem_req.scrub),
      .row_cmd_o(phy_row_cmd_o), .row_bank_o(phy_row_bank_o), .row_addr_o(phy_row_addr_o),
      .col_cmd_o(phy_col_cmd_o), .col_bank_o(phy_col_bank_o), .col_addr_o(phy_col_addr_o),
      .wdata_o(phy_wdata_o), .wmask_o(phy_wmask_o), .rdata_i(phy_rdata_i), .rcheck_i(phy_rcheck_i),
      .rdata_valid_i(phy_rdata_valid_i)
  );
endmodule
