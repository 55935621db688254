// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip with two cores: each with its registers and HBM controllers, and the crossings to the other's memory. One host interface: a
// block of registers a core, 4096 bytes each, and a window on both memories, core 0's first. Docs: docs/chip.md. Test: tests/system.

module systole_top_pair
  import systole_presets_pkg::*;
  import systole_hbm_pkg::*;
  import systole_bus_pkg::*;
  import systole_isa_pkg::PeerFlags;
  import systole_isa_pkg::FaultEccError;
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
  if (Chip.Memory != MemoryHbm) $fatal(1, "the memory of this preset is no HBM: systole_top_axi is its top");
  if (Chip.Cores != 2) $fatal(1, "this preset has one core: systole_top is its top");

  localparam bit          HasScalar = Chip.SmemBytes != 0;
  localparam int unsigned Rds = NumRd + 32'(HasScalar);  // a core's clients of the memory
  localparam int unsigned Wrs = NumWr + 32'(HasScalar);
  localparam logic [Rds-1:0][7:0] Reads = (Rds * 8)'({HostBurst, RdBurst});  // the scalar unit's turns are as short as the host's
  localparam logic [Wrs-1:0][7:0] Writes = (Wrs * 8)'({HostBurst, WrBurst});
  localparam int unsigned MemBits = $clog2(memory_bytes(Chip));

  axil_req_t axil_req, axil_core_req[2];
  axil_rsp_t axil_rsp, axil_core_rsp[2];
  axi_req_t  axi_req;
  axi_rsp_t  axi_rsp;

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

  // Registers. An access to core 1's goes behind what the host has written to its memory.
  logic crossing[2];
  systole_axil_split u_axil_split (
      .clk_i, .rst_ni, .req_i(axil_req), .aw_second_i(axil_awaddr_i[12]), .ar_second_i(axil_araddr_i[12]), .rsp_o(axil_rsp),
      .hold_second_i(crossing[0]), .req_o(axil_core_req), .rsp_i(axil_core_rsp)
  );

  // From a core's crossing to the other memory, and its posts to the other core.
  client_req_t          far_req[2];
  client_rsp_t          far_rsp[2];
  logic [D*8-1:0]       far_wr_data[2], memory_data[2];
  logic [D-1:0]         far_wr_mask[2];
  logic [PeerFlags-1:0] post[2];

  // What ECC cannot correct: of a core's own memory for itself, and for the other core.
  logic [1:0]           own_bad, far_bad;
  logic [AddrBits-1:0]  ecc_addr[2];

  for (genvar c = 0; c < 2; c++) begin : gen_core
    localparam int unsigned Other = 1 - c;

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
    axi_rsp_t                  window_rsp;
    logic [H*8-1:0]            window_data;
    // verilator lint_on UNUSEDSIGNAL

    systole_chip #(.Preset(Preset), .FastArray(FastArray), .Window(c == 0)) u_chip (
        .clk_i, .rst_ni, .axil_req_i(axil_core_req[c]), .axil_rsp_o(axil_core_rsp[c]),
        .axi_req_i(c == 0 ? axi_req : '0), .axi_wdata_i(c == 0 ? axi_wdata_i : '0), .axi_wstrb_i(c == 0 ? axi_wstrb_i : '0),
        .axi_rsp_o(window_rsp), .axi_rdata_o(window_data), .irq_o(irq_o[c]),
        // verilator lint_off PINCONNECTEMPTY
        .running_o(), .fault_o(),
        // verilator lint_on PINCONNECTEMPTY
        .mem_req_o(mem_req), .mem_wr_data_o(mem_wr_data), .mem_wr_mask_o(mem_wr_mask), .mem_rsp_i(mem_rsp),
        .mem_rd_data_i(rd_data), .peer_req_i(peer_req), .peer_rsp_o(peer_rsp),
        .scalar_mem_req_o(scalar_req), .scalar_wr_data_o(scalar_wr_data), .scalar_wr_mask_o(scalar_wr_mask),
        .scalar_mem_rsp_i(scalar_rsp), .retire_valid_o(retire_valid_o[c]), .retire_index_o(retire_index_o[c])
    );
    if (c == 0) begin : gen_window
      assign axi_rsp     = window_rsp;
      assign axi_rdata_o = window_data;
    end

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

    logic [Rds-1:0] own_rd_valid, own_rd_ready, own_rd_rsp_valid;
    logic [Wrs-1:0] own_wr_valid, own_wr_ready;
    assign rd_data[0] = memory_data[c];
    assign peer_req.post = post[Other];

    systole_crossing #(.D(D), .MemBits(MemBits), .Rds(Rds), .Wrs(Wrs), .Reads(Reads), .Writes(Writes)) u_crossing (
        .clk_i, .rst_ni,
        .rd_valid_i(rd_valid), .rd_ready_o(rd_ready), .rd_addr_i(rd_addr), .rd_rsp_valid_o(rd_rsp_valid),
        .rd_rsp_far_o(rd_rsp_far), .far_rd_data_o(rd_data[1]),
        .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_addr_i(wr_addr), .wr_data_i(wr_data), .wr_mask_i(wr_mask),
        .outstanding_o(mem_rsp.outstanding), .crossing_o(crossing[c]),
        .own_rd_valid_o(own_rd_valid), .own_rd_ready_i(own_rd_ready), .own_rd_rsp_valid_i(own_rd_rsp_valid),
        .own_wr_valid_o(own_wr_valid), .own_wr_ready_i(own_wr_ready),
        .far_req_o(far_req[c]), .far_wr_data_o(far_wr_data[c]), .far_wr_mask_o(far_wr_mask[c]), .far_rsp_i(far_rsp[c]),
        .far_rd_data_i(memory_data[Other]),
        .posted_i(peer_rsp.posted), .post_take_o(peer_req.take), .post_o(post[c])
    );

    // What cannot be corrected faults the core that read it; what only the scrubber read is counted.
    logic [Rds+1:0] ecc_fixed, ecc_bad;
    logic           ecc_look;
    assign own_bad[c]    = (ecc_bad & ~((Rds + 2)'(1) << Rds)) != '0 && !ecc_look;
    assign far_bad[c]    = ecc_bad[Rds];
    assign mem_rsp.ecc   = '{fixed: ecc_fixed != '0, bad: ecc_bad != '0, addr: ecc_addr[c]};
    assign mem_rsp.error = '{
        valid: own_bad[c] || far_bad[Other], code: FaultEccError,
        addr: own_bad[c] ? ecc_addr[c] : ecc_addr[Other] | (AddrBits'(1) << MemBits)};

    // The memory: the core's clients and, last, the other core.
    assign far_rsp[Other].rd_rsp_far = 1'b0;
    systole_hbm #(
        .HbmPcs(HbmPcs), .NumRd(Rds + 1), .NumWr(Wrs + 1), .AddrBits(AddrBits), .RdBurst({StreamBurst, Reads}),
        .WrBurst({StreamBurst, Writes}), .Ecc(Chip.Ecc != 0)
    ) u_hbm (
        .clk_i, .rst_ni,
        .rd_valid_i({far_req[Other].rd_valid, own_rd_valid}), .rd_ready_o({far_rsp[Other].rd_ready, own_rd_ready}),
        .rd_addr_i({far_req[Other].rd_addr, rd_addr}), .rd_rsp_valid_o({far_rsp[Other].rd_rsp_valid, own_rd_rsp_valid}),
        .rd_rsp_data_o(memory_data[c]),
        .wr_valid_i({far_req[Other].wr_valid, own_wr_valid}), .wr_ready_o({far_rsp[Other].wr_ready, own_wr_ready}),
        .wr_addr_i({far_req[Other].wr_addr, wr_addr}), .wr_data_i({far_wr_data[Other], wr_data}),
        .wr_mask_i({far_wr_mask[Other], wr_mask}),
        // verilator lint_off PINCONNECTEMPTY
        .outstanding_o(), .perf_o(mem_rsp.perf),
        // verilator lint_on PINCONNECTEMPTY
        .ecc_fixed_o(ecc_fixed), .ecc_bad_o(ecc_bad), .ecc_look_o(ecc_look), .ecc_addr_o(ecc_addr[c]), .scrub_i(mem_req.scrub),
        .row_cmd_o(phy_row_cmd_o[c]), .row_bank_o(phy_row_bank_o[c]), .row_addr_o(phy_row_addr_o[c]),
        .col_cmd_o(phy_col_cmd_o[c]), .col_bank_o(phy_col_bank_o[c]), .col_addr_o(phy_col_addr_o[c]),
        .wdata_o(phy_wdata_o[c]), .wmask_o(phy_wmask_o[c]), .rdata_i(phy_rdata_i[c]), .rcheck_i(phy_rcheck_i[c]),
        .rdata_valid_i(phy_rdata_valid_i[c])
    );
  end
endmodule
