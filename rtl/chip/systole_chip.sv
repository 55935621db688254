// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip but for its memory: host interface and core. The tops join it to the memory that its configuration names.
// Docs: docs/design.md, docs/host.md. Test: tests/system.

module systole_chip
  import systole_presets_pkg::*;
  import systole_bus_pkg::*;
  import systole_isa_pkg::*;
#(
    parameter int unsigned Preset = PresetEdge,
    parameter int unsigned FastArray = 0,  // 1: the array's simulation view (systole_mxu_array)
    localparam chip_cfg_t Chip = preset(Preset),
    localparam core_cfg_t Cfg = Chip.Core,
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned H = axi_bytes(Cfg)
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,

    // AXI4-Lite: registers (docs/reference/csr.md).
    input  axil_req_t                  axil_req_i,
    output axil_rsp_t                  axil_rsp_o,

    // AXI4: the memory window. INCR bursts of whole aligned beats of H bytes.
    input  axi_req_t                   axi_req_i,
    input  logic [H*8-1:0]             axi_wdata_i,
    input  logic [H-1:0]               axi_wstrb_i,
    output axi_rsp_t                   axi_rsp_o,
    output logic [H*8-1:0]             axi_rdata_o,

    output logic                       irq_o,

    // Clients of the memory.
    output mem_req_t                   mem_req_o,
    output logic [NumWr-1:0][D*8-1:0]  mem_wr_data_o,
    output logic [NumWr-1:0][D-1:0]    mem_wr_mask_o,
    input  mem_rsp_t                   mem_rsp_i,
    input  logic [D*8-1:0]             mem_rd_data_i,

    // Trace: a descriptor of queue q is complete.
    output logic [4:0]                 retire_valid_o,
    output logic [4:0][31:0]           retire_index_o
);
  localparam logic [AddrBits:0] HbmBytes = memory_bytes(Chip);

  if (!is_preset(Preset)) $fatal(1, "no such preset");
  systole_cfg_check #(.Cfg(Chip)) u_check ();

  // Registers and soft reset.
  logic                              start, reset_req, resetting, freeze, core_rst_n;
  logic [AddrBits-1:0]               prog_addr;
  logic [31:0]                       prog_len, watchdog;
  logic [AddrBits:0]                 hbm_limit, hbm_end;
  logic [63:0]                       cycle, fault_cycle;
  logic                              running, done, fault, acc_saturated, csr_running, csr_done;
  fault_e                            fault_code;
  logic [2:0]                        fault_queue;
  logic [PcBits-1:0]                 fault_pc;
  logic [AddrBits-1:0]               fault_addr;
  logic [systole_csr_pkg::NumCounters-1:0][systole_csr_pkg::CtrIncBits-1:0] ctr_inc;

  systole_csr #(.Preset(Preset)) u_csr (
      .clk_i, .rst_ni,
      .axil_awvalid_i(axil_req_i.awvalid), .axil_awready_o(axil_rsp_o.awready), .axil_awaddr_i(axil_req_i.awaddr),
      .axil_wvalid_i(axil_req_i.wvalid), .axil_wready_o(axil_rsp_o.wready), .axil_wdata_i(axil_req_i.wdata),
      .axil_wstrb_i(axil_req_i.wstrb), .axil_bvalid_o(axil_rsp_o.bvalid), .axil_bready_i(axil_req_i.bready),
      .axil_bresp_o(axil_rsp_o.bresp), .axil_arvalid_i(axil_req_i.arvalid), .axil_arready_o(axil_rsp_o.arready),
      .axil_araddr_i(axil_req_i.araddr), .axil_rvalid_o(axil_rsp_o.rvalid), .axil_rready_i(axil_req_i.rready),
      .axil_rdata_o(axil_rsp_o.rdata), .axil_rresp_o(axil_rsp_o.rresp), .irq_o,
      .start_o(start), .reset_req_o(reset_req), .prog_addr_o(prog_addr), .prog_len_o(prog_len), .watchdog_o(watchdog),
      .hbm_limit_o(hbm_limit), .cycle_o(cycle),
      .running_i(csr_running), .done_i(csr_done), .resetting_i(resetting), .fault_i(fault), .fault_cause_i(fault_code),
      .fault_queue_i(fault_queue), .fault_pc_i(fault_pc), .fault_addr_i(fault_addr), .fault_cycle_i(fault_cycle),
      .acc_saturated_i(acc_saturated), .ctr_inc_i(ctr_inc)
  );
  assign hbm_end = hbm_limit < HbmBytes ? hbm_limit : HbmBytes;

  // A request that the core still offers counts as in flight: it is not withdrawn.
  systole_soft_reset u_soft_reset (
      .clk_i, .rst_ni, .request_i(reset_req),
      .outstanding_i(mem_rsp_i.outstanding || mem_req_o.rd_valid[RdHost-1:0] != '0 || mem_req_o.wr_valid[WrStore]),
      .busy_o(resetting), .freeze_o(freeze), .core_rst_no(core_rst_n)
  );

  systole_core #(.Cfg(Cfg), .FastArray(FastArray)) u_core (
      .clk_i, .rst_ni(rst_ni && core_rst_n), .freeze_i(freeze),
      .start_i(start), .prog_addr_i(prog_addr), .prog_len_i(prog_len), .watchdog_i(watchdog), .hbm_end_i(hbm_end),
      .cycle_i(cycle), .running_o(running), .done_o(done), .fault_o(fault), .fault_code_o(fault_code),
      .fault_queue_o(fault_queue), .fault_pc_o(fault_pc), .fault_addr_o(fault_addr), .fault_cycle_o(fault_cycle),
      .acc_saturated_o(acc_saturated), .ctr_inc_o(ctr_inc), .hbm_perf_i(mem_rsp_i.perf),
      .mem_error_i(mem_rsp_i.error), .mem_error_addr_i(mem_rsp_i.error_addr),
      .rd_valid_o(mem_req_o.rd_valid[RdHost-1:0]), .rd_ready_i(mem_rsp_i.rd_ready[RdHost-1:0]), .rd_addr_o(mem_req_o.rd_addr[RdHost-1:0]),
      .rd_rsp_valid_i(mem_rsp_i.rd_rsp_valid[RdHost-1:0]), .rd_rsp_data_i(mem_rd_data_i),
      .wr_valid_o(mem_req_o.wr_valid[WrStore]), .wr_ready_i(mem_rsp_i.wr_ready[WrStore]), .wr_addr_o(mem_req_o.wr_addr[WrStore]),
      .wr_data_o(mem_wr_data_o[WrStore]), .wr_mask_o(mem_wr_mask_o[WrStore]),
      .retire_valid_o, .retire_index_o
  );

  // Where writes are answered, a program is done when its last one is, and no fault came of it.
  if (Chip.Memory == MemoryAxi) begin : gen_answers
    localparam int unsigned QuietCycles = 8;  // an error becomes a fault within these
    logic                           closing_q;
    logic [$clog2(QuietCycles)-1:0] quiet_q;
    always_ff @(posedge clk_i) begin
      quiet_q <= closing_q && !mem_rsp_i.outstanding ? quiet_q + 1'b1 : '0;
      if (!rst_ni || !core_rst_n) closing_q <= 1'b0;
      else if (done) closing_q <= 1'b1;
      else if (fault || csr_done) closing_q <= 1'b0;
    end
    assign csr_running = running || closing_q;
    assign csr_done    = closing_q && !fault && quiet_q == '1;
  end else begin : gen_no_answers
    assign csr_running = running;
    assign csr_done    = done;
  end

  systole_axi_hbm #(.D(D), .H(H), .HbmBytes(HbmBytes)) u_axi_hbm (
      .clk_i, .rst_ni,
      .axi_awvalid_i(axi_req_i.awvalid), .axi_awready_o(axi_rsp_o.awready), .axi_awaddr_i(axi_req_i.aw.addr),
      .axi_awlen_i(axi_req_i.aw.len), .axi_awsize_i(axi_req_i.aw.size), .axi_awburst_i(axi_req_i.aw.burst),
      .axi_awid_i(axi_req_i.aw.id), .axi_wvalid_i(axi_req_i.wvalid), .axi_wready_o(axi_rsp_o.wready),
      .axi_wdata_i, .axi_wstrb_i, .axi_wlast_i(axi_req_i.wlast), .axi_bvalid_o(axi_rsp_o.bvalid),
      .axi_bready_i(axi_req_i.bready), .axi_bresp_o(axi_rsp_o.bresp), .axi_bid_o(axi_rsp_o.bid),
      .axi_arvalid_i(axi_req_i.arvalid), .axi_arready_o(axi_rsp_o.arready), .axi_araddr_i(axi_req_i.ar.addr),
      .axi_arlen_i(axi_req_i.ar.len), .axi_arsize_i(axi_req_i.ar.size), .axi_arburst_i(axi_req_i.ar.burst),
      .axi_arid_i(axi_req_i.ar.id), .axi_rvalid_o(axi_rsp_o.rvalid), .axi_rready_i(axi_req_i.rready),
      .axi_rdata_o, .axi_rresp_o(axi_rsp_o.rresp), .axi_rlast_o(axi_rsp_o.rlast), .axi_rid_o(axi_rsp_o.rid),
      .rd_valid_o(mem_req_o.rd_valid[RdHost]), .rd_ready_i(mem_rsp_i.rd_ready[RdHost]),
      .rd_addr_o(mem_req_o.rd_addr[RdHost]), .rd_rsp_valid_i(mem_rsp_i.rd_rsp_valid[RdHost]),
      .rd_rsp_data_i(mem_rd_data_i),
      .wr_valid_o(mem_req_o.wr_valid[WrHost]), .wr_ready_i(mem_rsp_i.wr_ready[WrHost]),
      .wr_addr_o(mem_req_o.wr_addr[WrHost]), .wr_data_o(mem_wr_data_o[WrHost]), .wr_mask_o(mem_wr_mask_o[WrHost])
  );
endmodule
