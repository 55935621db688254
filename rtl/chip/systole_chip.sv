// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip without its memory: host interface and core; in a chip with two cores, one of the two. The top modules connect it to
// the memory that its configuration names. Docs: docs/design.md, docs/chip.md, docs/host.md. Test: tests/system.

module systole_chip
  import systole_presets_pkg::*;
  import systole_bus_pkg::*;
  import systole_isa_pkg::*;
#(
    parameter int unsigned Preset = PresetEdge,
    parameter int unsigned FastArray = 0,  // 1: the array's simulation view (systole_mxu_array)
    parameter bit          Window = 1'b1,  // 1: the memory window is in this chip
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
    output logic                       running_o,  // a program runs
    output logic                       fault_o,    // a fault froze the core

    // Clients of the memory.
    output mem_req_t                   mem_req_o,
    output logic [NumWr-1:0][D*8-1:0]  mem_wr_data_o,
    output logic [NumWr-1:0][D-1:0]    mem_wr_mask_o,
    input  mem_rsp_t                   mem_rsp_i,
    input  logic [Chip.Cores-1:0][D*8-1:0] mem_rd_data_i,  // from the core's own memory, from the other core's

    // Posts between cores; 0 in chips of one core.
    input  peer_req_t                  peer_req_i,
    output peer_rsp_t                  peer_rsp_o,

    // The scalar unit's clients of the memory; 0 in chips without one.
    output client_req_t                scalar_mem_req_o,
    output logic [D*8-1:0]             scalar_wr_data_o,
    output logic [D-1:0]               scalar_wr_mask_o,
    input  client_rsp_t                scalar_mem_rsp_i,

    // Trace: a descriptor of queue q has completed.
    output logic [4:0]                 retire_valid_o,
    output logic [4:0][31:0]           retire_index_o
);
  localparam logic [AddrBits:0] HbmBytes = memory_bytes(Chip);
  localparam logic [AddrBits:0] ReachBytes = HbmBytes << (Chip.Cores - 1);  // the other core's memory follows its own
  localparam bit HasScalar = Chip.SmemBytes != 0;

  if (!is_preset(Preset)) begin : gen_no_preset
    $fatal(1, "no such preset");
  end
  systole_cfg_check #(.Cfg(Chip)) u_check ();

  // Scalar unit, if the chip has one. It may own the core; otherwise the host's registers control the core.
  scalar_ctl_t   scalar_ctl;
  host_reg_req_t host_reg;
  issue_req_t    issue_req;
  flag_req_t     flag_req;
  // verilator lint_off UNUSEDSIGNAL
  flag_rsp_t     flag_rsp;
  logic          issue_ready;
  // verilator lint_on UNUSEDSIGNAL

  // Registers and soft reset.
  core_ctl_t           ctl;
  core_status_t        status, csr_status;
  logic                csr_running, csr_done;
  logic                start, reset_req, resetting, freeze, core_rst_n;
  logic [AddrBits:0]   hbm_limit, hbm_end;
  logic [systole_csr_pkg::NumCounters-1:0][systole_csr_pkg::CtrIncBits-1:0] ctr_inc;

  systole_csr #(.Preset(Preset)) u_csr (
      .clk_i, .rst_ni, .axil_req_i, .axil_rsp_o, .irq_o, .start_o(start), .ctl_o(ctl), .reset_req_o(reset_req),
      .hbm_limit_o(hbm_limit), .scalar_i(scalar_ctl), .host_reg_o(host_reg), .ecc_i(mem_rsp_i.ecc), .scrub_o(mem_req_o.scrub),
      .status_i(csr_status), .resetting_i(resetting), .ctr_inc_i(ctr_inc)
  );
  always_ff @(posedge clk_i) hbm_end <= hbm_limit < ReachBytes ? hbm_limit : ReachBytes;  // settles long before a start
  assign running_o = csr_status.running;
  assign fault_o   = csr_status.fault;

  // A request that the core still offers counts as in flight, because it is not withdrawn.
  systole_soft_reset u_soft_reset (
      .clk_i, .rst_ni, .request_i(reset_req),
      .outstanding_i(mem_rsp_i.outstanding || mem_req_o.rd_valid[RdHost-1:0] != '0 || mem_req_o.wr_valid[WrStore]),
      .busy_o(resetting), .freeze_o(freeze), .core_rst_no(core_rst_n)
  );

  systole_core #(.Cfg(Cfg), .FastArray(FastArray), .Issue(HasScalar), .Cores(Chip.Cores)) u_core (
      .clk_i, .rst_ni(rst_ni && core_rst_n), .freeze_i(freeze), .start_i(start),
      .ctl_i(ctl), .hbm_end_i(hbm_end), .status_o(status), .ctr_inc_o(ctr_inc), .hbm_perf_i(mem_rsp_i.perf),
      .mem_error_i(mem_rsp_i.error),
      .issue_req_i(issue_req), .issue_ready_o(issue_ready), .flag_req_i(flag_req), .flag_rsp_o(flag_rsp), .peer_req_i, .peer_rsp_o,
      .rd_valid_o(mem_req_o.rd_valid[RdHost-1:0]), .rd_ready_i(mem_rsp_i.rd_ready[RdHost-1:0]),
      .rd_addr_o(mem_req_o.rd_addr[RdHost-1:0]),
      .rd_rsp_valid_i(mem_rsp_i.rd_rsp_valid[RdHost-1:0]), .rd_rsp_far_i(mem_rsp_i.rd_rsp_far[RdHost-1:0]),
      .rd_rsp_data_i(mem_rd_data_i),
      .wr_valid_o(mem_req_o.wr_valid[WrStore]), .wr_ready_i(mem_rsp_i.wr_ready[WrStore]), .wr_addr_o(mem_req_o.wr_addr[WrStore]),
      .wr_data_o(mem_wr_data_o[WrStore]), .wr_mask_o(mem_wr_mask_o[WrStore]),
      .retire_valid_o, .retire_index_o
  );

  if (HasScalar) begin : gen_scalar
    systole_scalar #(.SmemBytes(Chip.SmemBytes), .D(D), .HbmBytes(HbmBytes)) u_scalar (
        .clk_i, .rst_ni, .host_reg_i(host_reg), .ctl_o(scalar_ctl), .status_i(csr_status), .resetting_i(resetting),
        .issue_req_o(issue_req), .issue_ready_i(issue_ready), .flag_req_o(flag_req), .flag_rsp_i(flag_rsp),
        .mem_req_o(scalar_mem_req_o), .mem_wr_data_o(scalar_wr_data_o), .mem_wr_mask_o(scalar_wr_mask_o),
        .mem_rsp_i(scalar_mem_rsp_i), .mem_rd_data_i(scalar_mem_rsp_i.rd_rsp_far ? mem_rd_data_i[Chip.Cores-1] : mem_rd_data_i[0])
    );
  end else begin : gen_no_scalar
    assign scalar_ctl       = '0;
    assign issue_req        = '0;
    assign flag_req         = '0;
    assign scalar_mem_req_o = '0;
    assign scalar_wr_data_o = '0;
    assign scalar_wr_mask_o = '0;
    logic unused;
    assign unused = &{1'b0, host_reg, scalar_mem_rsp_i};
  end

  // With a memory that answers writes, a program is done only after its last write was answered and caused no fault.
  always_comb begin
    csr_status         = status;
    csr_status.running = csr_running;
    csr_status.done    = csr_done;
  end
  if (Chip.Memory == MemoryAxi) begin : gen_answers
    localparam int unsigned QuietCycles = 8;  // an error becomes a fault within this many cycles
    logic                           closing_q;
    logic [$clog2(QuietCycles)-1:0] quiet_q;
    always_ff @(posedge clk_i) begin
      quiet_q <= closing_q && !mem_rsp_i.outstanding ? quiet_q + 1'b1 : '0;
      if (!rst_ni || !core_rst_n) closing_q <= 1'b0;
      else if (status.done) closing_q <= 1'b1;
      else if (status.fault || csr_done) closing_q <= 1'b0;
    end
    assign csr_running = status.running || closing_q;
    assign csr_done    = closing_q && !status.fault && quiet_q == '1;
  end else begin : gen_no_answers
    assign csr_running = status.running;
    assign csr_done    = status.done;
  end

  if (Window) begin : gen_window
    systole_axi_hbm #(.D(D), .H(H), .HbmBytes(ReachBytes)) u_axi_hbm (
        .clk_i, .rst_ni, .axi_req_i, .axi_wdata_i, .axi_wstrb_i, .axi_rsp_o, .axi_rdata_o,
        .rd_valid_o(mem_req_o.rd_valid[RdHost]), .rd_ready_i(mem_rsp_i.rd_ready[RdHost]),
        .rd_addr_o(mem_req_o.rd_addr[RdHost]), .rd_rsp_valid_i(mem_rsp_i.rd_rsp_valid[RdHost]),
        .rd_rsp_data_i(mem_rsp_i.rd_rsp_far[RdHost] ? mem_rd_data_i[Chip.Cores-1] : mem_rd_data_i[0]),
        .wr_valid_o(mem_req_o.wr_valid[WrHost]), .wr_ready_i(mem_rsp_i.wr_ready[WrHost]),
        .wr_addr_o(mem_req_o.wr_addr[WrHost]), .wr_data_o(mem_wr_data_o[WrHost]), .wr_mask_o(mem_wr_mask_o[WrHost])
    );
  end else begin : gen_no_window
    assign axi_rsp_o                  = '0;
    assign axi_rdata_o                = '0;
    assign mem_req_o.rd_valid[RdHost] = 1'b0;
    assign mem_req_o.rd_addr[RdHost]  = '0;
    assign mem_req_o.wr_valid[WrHost] = 1'b0;
    assign mem_req_o.wr_addr[WrHost]  = '0;
    assign mem_wr_data_o[WrHost]      = '0;
    assign mem_wr_mask_o[WrHost]      = '0;
    logic unused;
    assign unused = &{1'b0, axi_req_i, axi_wdata_i, axi_wstrb_i, mem_rsp_i.rd_ready[RdHost], mem_rsp_i.wr_ready[WrHost]};
  end
endmodule
