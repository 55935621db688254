// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The chip: host interface, core and HBM controller of one preset.
// Docs: docs/design.md, docs/host.md. Test: tests/system.

module systole_top
  import systole_presets_pkg::*;
  import systole_hbm_pkg::*;
  import systole_isa_pkg::*;
#(
    parameter int unsigned Preset = PresetEdge,
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

    // PHY of the HBM: a pseudo-channel each.
    output row_cmd_e [Chip.HbmPcs-1:0]              phy_row_cmd_o,
    output logic [Chip.HbmPcs-1:0][BankBits-1:0]    phy_row_bank_o,
    output logic [Chip.HbmPcs-1:0][RowBits-1:0]     phy_row_addr_o,
    output col_cmd_e [Chip.HbmPcs-1:0]              phy_col_cmd_o,
    output logic [Chip.HbmPcs-1:0][BankBits-1:0]    phy_col_bank_o,
    output logic [Chip.HbmPcs-1:0][ColBits-1:0]     phy_col_addr_o,
    output logic [Chip.HbmPcs-1:0][PhyBytes*8-1:0]  phy_wdata_o,
    output logic [Chip.HbmPcs-1:0][PhyBytes-1:0]    phy_wmask_o,
    input  logic [Chip.HbmPcs-1:0][PhyBytes*8-1:0]  phy_rdata_i,
    input  logic [Chip.HbmPcs-1:0]                  phy_rdata_valid_i,

    // Trace: a descriptor of queue q is complete.
    output logic [4:0]                             retire_valid_o,
    output logic [4:0][31:0]                       retire_index_o
);
  localparam int unsigned NumRd = 4;  // HBM read clients: fetch, weight, load, host
  localparam int unsigned NumWr = 2;  // HBM write clients: store, host
  localparam int unsigned RdHost = 3;
  localparam int unsigned WrStore = 0;
  localparam int unsigned WrHost = 1;
  localparam logic [AddrBits:0] HbmBytes = memory_bytes(Chip);

  if (!is_preset(Preset)) $fatal(1, "no such preset");
  systole_cfg_check #(.Cfg(Chip)) u_check ();
  if (Chip.Memory != MemoryHbm) $fatal(1, "this top is for chips with HBM");

  // Random stalls, a bit a stream.
  localparam int unsigned NumWin = num_windows(Cfg);
  localparam int unsigned CoreStalls = NumWin + 3 + NumQueues + 4;
  localparam int unsigned HbmStalls = NumRd + NumWr;
  logic [CoreStalls-1:0] stall_core;
  logic [HbmStalls-1:0]  stall_hbm;
  logic [7:0]            stall_rate;
  logic [15:0]           stall_seed;

  systole_stall #(.Streams(CoreStalls + HbmStalls)) u_stall (
      .clk_i, .rst_ni, .rate_i(stall_rate), .seed_i(stall_seed), .stall_o({stall_core, stall_hbm})
  );

  // Registers and soft reset.
  logic                              start, reset_req, resetting, freeze, core_rst_n, hbm_outstanding;
  logic [AddrBits-1:0]               prog_addr;
  logic [31:0]                       prog_len, watchdog;
  logic [AddrBits:0]                 hbm_limit, hbm_end;
  logic [63:0]                       cycle, fault_cycle;
  logic                              running, done, fault, acc_saturated;
  fault_e                            fault_code;
  logic [2:0]                        fault_queue;
  logic [PcBits-1:0]                 fault_pc;
  logic [AddrBits-1:0]               fault_addr;
  logic [systole_csr_pkg::NumCounters-1:0][systole_csr_pkg::CtrIncBits-1:0] ctr_inc;

  systole_csr #(.Preset(Preset)) u_csr (
      .clk_i, .rst_ni,
      .axil_awvalid_i, .axil_awready_o, .axil_awaddr_i, .axil_wvalid_i, .axil_wready_o, .axil_wdata_i, .axil_wstrb_i,
      .axil_bvalid_o, .axil_bready_i, .axil_bresp_o, .axil_arvalid_i, .axil_arready_o, .axil_araddr_i, .axil_rvalid_o,
      .axil_rready_i, .axil_rdata_o, .axil_rresp_o, .irq_o,
      .start_o(start), .reset_req_o(reset_req), .prog_addr_o(prog_addr), .prog_len_o(prog_len), .watchdog_o(watchdog),
      .hbm_limit_o(hbm_limit), .stall_rate_o(stall_rate), .stall_seed_o(stall_seed), .cycle_o(cycle),
      .running_i(running), .done_i(done), .resetting_i(resetting), .fault_i(fault), .fault_cause_i(fault_code),
      .fault_queue_i(fault_queue), .fault_pc_i(fault_pc), .fault_addr_i(fault_addr), .fault_cycle_i(fault_cycle),
      .acc_saturated_i(acc_saturated), .ctr_inc_i(ctr_inc)
  );
  assign hbm_end = hbm_limit < HbmBytes ? hbm_limit : HbmBytes;

  // HBM clients.
  logic [NumRd-1:0]               rd_valid, rd_ready, rd_rsp_valid;
  logic [NumRd-1:0][AddrBits-1:0] rd_addr;
  logic [D*8-1:0]                 rd_rsp_data;
  logic [NumWr-1:0]               wr_valid, wr_ready;
  logic [NumWr-1:0][AddrBits-1:0] wr_addr;
  logic [NumWr-1:0][D*8-1:0]      wr_data;
  logic [NumWr-1:0][D-1:0]        wr_mask;
  perf_t                          hbm_perf;

  // A request that the core still offers counts as in flight: it is not withdrawn.
  systole_soft_reset u_soft_reset (
      .clk_i, .rst_ni, .request_i(reset_req),
      .outstanding_i(hbm_outstanding || rd_valid[RdHost-1:0] != '0 || wr_valid[WrStore]),
      .busy_o(resetting), .freeze_o(freeze), .core_rst_no(core_rst_n)
  );

  systole_core #(.Cfg(Cfg)) u_core (
      .clk_i, .rst_ni(rst_ni && core_rst_n), .freeze_i(freeze), .stall_i(stall_core),
      .start_i(start), .prog_addr_i(prog_addr), .prog_len_i(prog_len), .watchdog_i(watchdog), .hbm_end_i(hbm_end),
      .cycle_i(cycle), .running_o(running), .done_o(done), .fault_o(fault), .fault_code_o(fault_code),
      .fault_queue_o(fault_queue), .fault_pc_o(fault_pc), .fault_addr_o(fault_addr), .fault_cycle_o(fault_cycle),
      .acc_saturated_o(acc_saturated), .ctr_inc_o(ctr_inc), .hbm_perf_i(hbm_perf),
      .rd_valid_o(rd_valid[RdHost-1:0]), .rd_ready_i(rd_ready[RdHost-1:0]), .rd_addr_o(rd_addr[RdHost-1:0]),
      .rd_rsp_valid_i(rd_rsp_valid[RdHost-1:0]), .rd_rsp_data_i(rd_rsp_data),
      .wr_valid_o(wr_valid[WrStore]), .wr_ready_i(wr_ready[WrStore]), .wr_addr_o(wr_addr[WrStore]),
      .wr_data_o(wr_data[WrStore]), .wr_mask_o(wr_mask[WrStore]),
      .retire_valid_o, .retire_index_o
  );

  systole_axi_hbm #(.D(D), .H(H), .HbmBytes(HbmBytes)) u_axi_hbm (
      .clk_i, .rst_ni,
      .axi_awvalid_i, .axi_awready_o, .axi_awaddr_i, .axi_awlen_i, .axi_awsize_i, .axi_awburst_i, .axi_awid_i,
      .axi_wvalid_i, .axi_wready_o, .axi_wdata_i, .axi_wstrb_i, .axi_wlast_i,
      .axi_bvalid_o, .axi_bready_i, .axi_bresp_o, .axi_bid_o,
      .axi_arvalid_i, .axi_arready_o, .axi_araddr_i, .axi_arlen_i, .axi_arsize_i, .axi_arburst_i, .axi_arid_i,
      .axi_rvalid_o, .axi_rready_i, .axi_rdata_o, .axi_rresp_o, .axi_rlast_o, .axi_rid_o,
      .rd_valid_o(rd_valid[RdHost]), .rd_ready_i(rd_ready[RdHost]), .rd_addr_o(rd_addr[RdHost]),
      .rd_rsp_valid_i(rd_rsp_valid[RdHost]), .rd_rsp_data_i(rd_rsp_data),
      .wr_valid_o(wr_valid[WrHost]), .wr_ready_i(wr_ready[WrHost]), .wr_addr_o(wr_addr[WrHost]),
      .wr_data_o(wr_data[WrHost]), .wr_mask_o(wr_mask[WrHost])
  );

  systole_hbm #(.HbmPcs(Chip.HbmPcs), .NumRd(NumRd), .NumWr(NumWr), .AddrBits(AddrBits)) u_hbm (
      .clk_i, .rst_ni,
      .rd_valid_i(rd_valid), .rd_ready_o(rd_ready), .rd_addr_i(rd_addr), .rd_rsp_valid_o(rd_rsp_valid),
      .rd_rsp_data_o(rd_rsp_data),
      .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_addr_i(wr_addr), .wr_data_i(wr_data), .wr_mask_i(wr_mask),
      .stall_i(stall_hbm), .outstanding_o(hbm_outstanding), .perf_o(hbm_perf),
      .row_cmd_o(phy_row_cmd_o), .row_bank_o(phy_row_bank_o), .row_addr_o(phy_row_addr_o),
      .col_cmd_o(phy_col_cmd_o), .col_bank_o(phy_col_bank_o), .col_addr_o(phy_col_addr_o),
      .wdata_o(phy_wdata_o), .wmask_o(phy_wmask_o), .rdata_i(phy_rdata_i), .rdata_valid_i(phy_rdata_valid_i)
  );
endmodule
