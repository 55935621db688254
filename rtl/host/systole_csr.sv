// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Control and status registers (generated from docs/spec/csr.rdl) and performance counters behind AXI4-Lite, and what the
// registers control: start, soft reset, interrupt. Registers: docs/reference/csr.md.
// Docs: docs/host.md. Test: tests/rtl/host.

module systole_csr
  import systole_presets_pkg::*;
  import systole_csr_pkg::*;
#(
    parameter int unsigned Preset = 0,
    parameter bit          Links = 1'b0,  // 1: the chip has links; their registers are accessed through here
    parameter bit          Gate = 1'b1  // 1: the registers' clock may be gated
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,

    input  systole_bus_pkg::axil_req_t    axil_req_i,
    output systole_bus_pkg::axil_rsp_t    axil_rsp_o,
    output logic                          irq_o,

    output logic                          start_o,      // pulse; never while running, frozen or resetting
    output systole_bus_pkg::core_ctl_t    ctl_o,
    output logic                          reset_req_o,  // pulse
    output logic [AddrBits:0]             hbm_limit_o,

    // Scalar unit; 0 in chips without one.
    input  systole_bus_pkg::scalar_ctl_t  scalar_i,
    output systole_bus_pkg::host_reg_req_t host_reg_o,

    // Links (systole_network); unused and 0 in chips without links.
    output systole_bus_pkg::host_reg_req_t link_req_o,
    input  logic                          link_ack_i,
    input  logic [31:0]                   link_data_i,

    // ECC of the memory; unused and 0 in chips without it.
    input  systole_bus_pkg::ecc_event_t   ecc_i,
    output logic [31:0]                   scrub_o,

    input  systole_bus_pkg::core_status_t status_i,
    input  logic                          resetting_i,
    input  logic [NumCounters-1:0][CtrIncBits-1:0] ctr_inc_i     // increment of each counter in this cycle of a program
);
  localparam int unsigned IndexBits = $clog2(NumCounters);
  localparam chip_cfg_t   Chip = preset(Preset);
  localparam bit          HasScalar = Chip.SmemBytes != 0;

  // Status and interrupt. A fault raises its interrupt once. Acknowledging the interrupt does not clear the fault.
  logic        done_q, fault_q;
  logic [63:0] cycle_q;
  logic        ctr_ack;
  logic [31:0] ctr_data;
  logic        ctr_write_ack_q, host_reg_q, scalar_write_q, link_reg_q, link_write_q;
  logic [31:0] ecc_corrected, ecc_uncorrected;
  logic [AddrBits-1:0] ecc_first, ecc_last, ecc_bad;

  systole_csr_regs_pkg::systole_csr__in_t hw_in;
  // verilator lint_off UNUSEDSIGNAL
  systole_csr_regs_pkg::systole_csr__out_t hw_out;  // unused: upper bits of addresses, data of writes to counters
  // verilator lint_on UNUSEDSIGNAL

  // The registers change only on a request, a pending response, or an event that raises an interrupt. Otherwise their clock is
  // gated.
  logic clk, asked, answered, raised;
  assign asked    = axil_req_i.awvalid || axil_req_i.wvalid || axil_req_i.arvalid;
  assign answered = axil_rsp_o.bvalid || axil_rsp_o.rvalid || hw_in.counters.rd_ack || hw_in.counters.wr_ack || hw_in.scalar.rd_ack
                    || hw_in.scalar.wr_ack || hw_in.links.rd_ack || hw_in.links.wr_ack;
  assign raised   = hw_in.irq.done.hwset || hw_in.irq.fault.hwset || hw_in.irq.scalar.hwset;
  systole_idle_clock #(.Gate(Gate)) u_clock (
      .clk_i, .rst_ni, .work_i(asked || answered || raised),
      .rest_i(!hw_out.counters.req && !hw_out.scalar.req && !hw_out.links.req && !hw_out.ctrl.start.value), .clk_o(clk)
  );

  systole_csr_regs u_regs (
      .clk, .rst_n(rst_ni),
      .s_axil_awready(axil_rsp_o.awready), .s_axil_awvalid(axil_req_i.awvalid), .s_axil_awaddr(axil_req_i.awaddr[11:0]), .s_axil_awprot('0),
      .s_axil_wready(axil_rsp_o.wready), .s_axil_wvalid(axil_req_i.wvalid), .s_axil_wdata(axil_req_i.wdata), .s_axil_wstrb(axil_req_i.wstrb),
      .s_axil_bready(axil_req_i.bready), .s_axil_bvalid(axil_rsp_o.bvalid), .s_axil_bresp(axil_rsp_o.bresp),
      .s_axil_arready(axil_rsp_o.arready), .s_axil_arvalid(axil_req_i.arvalid), .s_axil_araddr(axil_req_i.araddr[11:0]), .s_axil_arprot('0),
      .s_axil_rready(axil_req_i.rready), .s_axil_rvalid(axil_rsp_o.rvalid), .s_axil_rdata(axil_rsp_o.rdata), .s_axil_rresp(axil_rsp_o.rresp),
      .hwif_in(hw_in), .hwif_out(hw_out)
  );

  always_comb begin
    hw_in.version.value.next        = systole_isa_pkg::IsaVersion;
    hw_in.preset.value.next         = Preset;
    hw_in.status.running.next       = status_i.running;
    hw_in.status.done.next          = done_q;
    hw_in.status.fault.next         = status_i.fault;
    hw_in.status.resetting.next     = resetting_i;
    hw_in.irq.done.hwset            = status_i.done;
    hw_in.irq.fault.hwset           = status_i.fault && !fault_q;
    hw_in.irq.scalar.hwset          = scalar_i.irq;
    hw_in.fault_cause.value.next    = 32'(status_i.fault_code);
    hw_in.fault_queue.value.next    = 32'(status_i.fault_queue);
    hw_in.fault_pc.value.next       = status_i.fault_pc;
    hw_in.fault_addr_lo.value.next  = status_i.fault_addr[31:0];
    hw_in.fault_addr_hi.value.next  = 32'(status_i.fault_addr[AddrBits-1:32]);
    hw_in.fault_cycle_lo.value.next = status_i.fault_cycle[31:0];
    hw_in.fault_cycle_hi.value.next = status_i.fault_cycle[63:32];
    hw_in.acc_saturated.value.next  = 32'(status_i.acc_saturated);
    hw_in.ecc_corrected.value.next   = ecc_corrected;
    hw_in.ecc_uncorrected.value.next = ecc_uncorrected;
    hw_in.ecc_first_lo.value.next    = ecc_first[31:0];
    hw_in.ecc_first_hi.value.next    = 32'(ecc_first[AddrBits-1:32]);
    hw_in.ecc_last_lo.value.next     = ecc_last[31:0];
    hw_in.ecc_last_hi.value.next     = 32'(ecc_last[AddrBits-1:32]);
    hw_in.ecc_bad_lo.value.next      = ecc_bad[31:0];
    hw_in.ecc_bad_hi.value.next      = 32'(ecc_bad[AddrBits-1:32]);
    hw_in.counters.rd_ack           = ctr_ack;
    hw_in.counters.rd_data          = ctr_data;
    hw_in.counters.wr_ack           = ctr_write_ack_q;
    hw_in.scalar.rd_ack             = HasScalar ? scalar_i.ack && !scalar_write_q : host_reg_q && !scalar_write_q;
    hw_in.scalar.wr_ack             = HasScalar ? scalar_i.ack && scalar_write_q : host_reg_q && scalar_write_q;
    hw_in.scalar.rd_data            = HasScalar ? scalar_i.data : '0;
    hw_in.links.rd_ack              = (Links ? link_ack_i : link_reg_q) && !link_write_q;
    hw_in.links.wr_ack              = (Links ? link_ack_i : link_reg_q) && link_write_q;
    hw_in.links.rd_data             = Links ? link_data_i : '0;
  end

  // Registers of the scalar unit. In a chip without one, accesses to them are answered here.
  assign host_reg_o = '{
      valid: hw_out.scalar.req, write: hw_out.scalar.req_is_wr, index: hw_out.scalar.addr[4:2], data: hw_out.scalar.wr_data};
  always_ff @(posedge clk_i) begin
    host_reg_q <= rst_ni && hw_out.scalar.req;
    if (hw_out.scalar.req) scalar_write_q <= hw_out.scalar.req_is_wr;
  end

  // Registers of the links, likewise. A request passes a pipeline register on its way to the network.
  always_ff @(posedge clk_i) begin
    link_reg_q <= rst_ni && hw_out.links.req;
    if (hw_out.links.req) link_write_q <= hw_out.links.req_is_wr;
    if (!rst_ni) begin
      link_req_o <= '0;
    end else begin
      link_req_o <= '{valid: Links && hw_out.links.req, write: hw_out.links.req_is_wr, index: hw_out.links.addr[4:2],
                      data: hw_out.links.wr_data};
    end
  end

  if (Chip.Ecc != 0) begin : gen_ecc
    systole_ecc_log u_ecc_log (
        .clk_i, .rst_ni, .event_i(ecc_i), .clear_i(hw_out.ecc_ctrl.clear.value),
        .corrected_o(ecc_corrected), .uncorrected_o(ecc_uncorrected), .first_o(ecc_first), .last_o(ecc_last), .bad_o(ecc_bad)
    );
    assign scrub_o = hw_out.scrub_period.value.value;
  end else begin : gen_no_ecc
    assign {ecc_corrected, ecc_uncorrected, ecc_first, ecc_last, ecc_bad, scrub_o} = '0;
    logic unused;
    assign unused = &{1'b0, ecc_i};
  end

  // What a program may touch holds until it has ended or was reset: a scalar unit that the host stops loses its registers at once.
  logic [AddrBits-1:0] base_q;
  logic [AddrBits:0]   limit_q;
  logic                isolated_q;
  always_ff @(posedge clk_i) begin
    if (!status_i.running && !status_i.fault && !resetting_i) begin
      base_q     <= scalar_i.owns ? scalar_i.base : '0;
      isolated_q <= scalar_i.owns && scalar_i.isolated && Chip.Cores > 1;
      limit_q    <= scalar_i.owns ? scalar_i.limit : {hw_out.hbm_limit_hi.value.value[AddrBits-32:0], hw_out.hbm_limit_lo.value.value};
    end
  end

  assign start_o     = (scalar_i.owns ? scalar_i.start : hw_out.ctrl.start.value)
                       && !status_i.running && !status_i.fault && !resetting_i;
  assign reset_req_o = (hw_out.ctrl.reset.value || scalar_i.reset) && !resetting_i;
  assign irq_o       = (hw_out.irq.done.value && hw_out.irq_enable.value.value[0])
                       || (hw_out.irq.fault.value && hw_out.irq_enable.value.value[1])
                       || (HasScalar && hw_out.irq.scalar.value && hw_out.irq_enable.value.value[2]);

  // The owner of the core, the scalar unit or the host, selects what the core runs.
  assign ctl_o.issue     = scalar_i.owns && scalar_i.issue;
  assign ctl_o.base      = base_q;
  assign ctl_o.isolated  = isolated_q;
  assign ctl_o.prog_addr = scalar_i.owns ? scalar_i.prog_addr : {hw_out.prog_addr_hi.value.value[AddrBits-33:0], hw_out.prog_addr_lo.value.value};
  assign ctl_o.prog_len  = scalar_i.owns ? scalar_i.prog_len : hw_out.prog_len.value.value;
  assign ctl_o.watchdog  = scalar_i.owns ? scalar_i.watchdog : hw_out.watchdog.value.value;
  assign hbm_limit_o     = limit_q;
  assign ctl_o.cycle     = cycle_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done_q          <= 1'b0;
      fault_q         <= 1'b0;
      cycle_q         <= '0;
      ctr_write_ack_q <= 1'b0;
    end else begin
      fault_q <= status_i.fault;
      if (status_i.done) done_q <= 1'b1;
      else if (start_o || reset_req_o) done_q <= 1'b0;
      if (start_o) cycle_q <= '0;
      else if (status_i.running) cycle_q <= cycle_q + 64'd1;
      ctr_write_ack_q <= hw_out.counters.req && hw_out.counters.req_is_wr;
    end
  end

  // Increments are registered before they are counted, so ctr_inc_i may settle late in the cycle.
  logic [NumCounters-1:0][CtrIncBits-1:0] inc_q;
  logic                                   clear_q, count_q;
  always_ff @(posedge clk_i) begin
    clear_q <= rst_ni && start_o;
    count_q <= rst_ni && status_i.running;
    if (status_i.running) inc_q <= ctr_inc_i;
  end

  systole_counters u_counters (
      .clk_i, .rst_ni, .clear_i(clear_q), .count_i(count_q), .inc_i(inc_q),
      .req_i(hw_out.counters.req && !hw_out.counters.req_is_wr), .index_i(hw_out.counters.addr[3+:IndexBits]),
      .high_i(hw_out.counters.addr[2]), .ack_o(ctr_ack), .data_o(ctr_data)
  );

  // Checks: a program starts only on an idle core; responses hold until they are taken.
  logic       bhold_q, rhold_q;
  logic [1:0] bresp_q, rresp_q;
  logic [31:0] rdata_q;
  always_ff @(posedge clk_i) begin
    bhold_q <= rst_ni && axil_rsp_o.bvalid && !axil_req_i.bready;
    rhold_q <= rst_ni && axil_rsp_o.rvalid && !axil_req_i.rready;
    bresp_q <= axil_rsp_o.bresp;
    rresp_q <= axil_rsp_o.rresp;
    rdata_q <= axil_rsp_o.rdata;
    if (rst_ni) begin
      a_start : assert (!start_o || (!status_i.running && !status_i.fault));
      a_bhold : assert (!bhold_q || (axil_rsp_o.bvalid && axil_rsp_o.bresp == bresp_q));
      a_rhold : assert (!rhold_q || (axil_rsp_o.rvalid && axil_rsp_o.rresp == rresp_q && axil_rsp_o.rdata == rdata_q));
    end
  end
endmodule
