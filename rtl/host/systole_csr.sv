// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Control and status registers (generated from docs/spec/csr.rdl) and performance counters behind AXI4-Lite, and what they do: start,
// soft reset, interrupt. Registers: docs/reference/csr.md. Docs: docs/host.md. Test: tests/rtl/host.

module systole_csr
  import systole_presets_pkg::*;
  import systole_csr_pkg::*;
#(
    parameter int unsigned Preset = 0
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,

    input  logic                         axil_awvalid_i,
    output logic                         axil_awready_o,
    input  logic [11:0]                  axil_awaddr_i,
    input  logic                         axil_wvalid_i,
    output logic                         axil_wready_o,
    input  logic [31:0]                  axil_wdata_i,
    input  logic [3:0]                   axil_wstrb_i,
    output logic                         axil_bvalid_o,
    input  logic                         axil_bready_i,
    output logic [1:0]                   axil_bresp_o,
    input  logic                         axil_arvalid_i,
    output logic                         axil_arready_o,
    input  logic [11:0]                  axil_araddr_i,
    output logic                         axil_rvalid_o,
    input  logic                         axil_rready_i,
    output logic [31:0]                  axil_rdata_o,
    output logic [1:0]                   axil_rresp_o,
    output logic                         irq_o,

    // To the core.
    output logic                         start_o,      // pulse; never while running, frozen or resetting
    output logic                         reset_req_o,  // pulse
    output logic [AddrBits-1:0]          prog_addr_o,
    output logic [31:0]                  prog_len_o,
    output logic [31:0]                  watchdog_o,
    output logic [AddrBits:0]            hbm_limit_o,
    output logic [63:0]                  cycle_o,      // cycles since start

    // From the core.
    input  logic                         running_i,
    input  logic                         done_i,       // pulse: the program reached its halt
    input  logic                         resetting_i,
    input  logic                         fault_i,      // level; the following hold while it is high
    input  logic [3:0]                   fault_cause_i,
    input  logic [2:0]                   fault_queue_i,
    input  logic [31:0]                  fault_pc_i,
    input  logic [AddrBits-1:0]          fault_addr_i,
    input  logic [63:0]                  fault_cycle_i,
    input  logic                         acc_saturated_i,
    input  logic [NumCounters-1:0][CtrIncBits-1:0] ctr_inc_i     // added to each counter this cycle; CtrCycles is counted here
);
  localparam int unsigned IndexBits = $clog2(NumCounters);

  // Status and interrupt. A fault raises its interrupt once; acknowledging it does not clear the fault.
  logic        done_q, fault_q;
  logic [63:0] cycle_q;
  logic        ctr_ack;
  logic [31:0] ctr_data;
  logic        ctr_write_ack_q;

  systole_csr_regs_pkg::systole_csr__in_t hw_in;
  // verilator lint_off UNUSEDSIGNAL
  systole_csr_regs_pkg::systole_csr__out_t hw_out;  // upper bits of addresses; data of writes to counters
  // verilator lint_on UNUSEDSIGNAL

  systole_csr_regs u_regs (
      .clk(clk_i), .rst_n(rst_ni),
      .s_axil_awready(axil_awready_o), .s_axil_awvalid(axil_awvalid_i), .s_axil_awaddr(axil_awaddr_i), .s_axil_awprot('0),
      .s_axil_wready(axil_wready_o), .s_axil_wvalid(axil_wvalid_i), .s_axil_wdata(axil_wdata_i), .s_axil_wstrb(axil_wstrb_i),
      .s_axil_bready(axil_bready_i), .s_axil_bvalid(axil_bvalid_o), .s_axil_bresp(axil_bresp_o),
      .s_axil_arready(axil_arready_o), .s_axil_arvalid(axil_arvalid_i), .s_axil_araddr(axil_araddr_i), .s_axil_arprot('0),
      .s_axil_rready(axil_rready_i), .s_axil_rvalid(axil_rvalid_o), .s_axil_rdata(axil_rdata_o), .s_axil_rresp(axil_rresp_o),
      .hwif_in(hw_in), .hwif_out(hw_out)
  );

  always_comb begin
    hw_in.version.value.next        = systole_isa_pkg::IsaVersion;
    hw_in.preset.value.next         = Preset;
    hw_in.status.running.next       = running_i;
    hw_in.status.done.next          = done_q;
    hw_in.status.fault.next         = fault_i;
    hw_in.status.resetting.next     = resetting_i;
    hw_in.irq.done.hwset            = done_i;
    hw_in.irq.fault.hwset           = fault_i && !fault_q;
    hw_in.fault_cause.value.next    = 32'(fault_cause_i);
    hw_in.fault_queue.value.next    = 32'(fault_queue_i);
    hw_in.fault_pc.value.next       = fault_pc_i;
    hw_in.fault_addr_lo.value.next  = fault_addr_i[31:0];
    hw_in.fault_addr_hi.value.next  = 32'(fault_addr_i[AddrBits-1:32]);
    hw_in.fault_cycle_lo.value.next = fault_cycle_i[31:0];
    hw_in.fault_cycle_hi.value.next = fault_cycle_i[63:32];
    hw_in.acc_saturated.value.next  = 32'(acc_saturated_i);
    hw_in.counters.rd_ack           = ctr_ack;
    hw_in.counters.rd_data          = ctr_data;
    hw_in.counters.wr_ack           = ctr_write_ack_q;
  end

  assign start_o     = hw_out.ctrl.start.value && !running_i && !fault_i && !resetting_i;
  assign reset_req_o = hw_out.ctrl.reset.value && !resetting_i;
  assign irq_o       = (hw_out.irq.done.value && hw_out.irq_enable.value.value[0])
                       || (hw_out.irq.fault.value && hw_out.irq_enable.value.value[1]);

  assign prog_addr_o  = {hw_out.prog_addr_hi.value.value[AddrBits-33:0], hw_out.prog_addr_lo.value.value};
  assign prog_len_o   = hw_out.prog_len.value.value;
  assign watchdog_o   = hw_out.watchdog.value.value;
  assign hbm_limit_o  = {hw_out.hbm_limit_hi.value.value[AddrBits-32:0], hw_out.hbm_limit_lo.value.value};
  assign cycle_o      = cycle_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done_q          <= 1'b0;
      fault_q         <= 1'b0;
      cycle_q         <= '0;
      ctr_write_ack_q <= 1'b0;
    end else begin
      fault_q <= fault_i;
      if (done_i) done_q <= 1'b1;
      else if (start_o || reset_req_o) done_q <= 1'b0;
      if (start_o) cycle_q <= '0;
      else if (running_i) cycle_q <= cycle_q + 64'd1;
      ctr_write_ack_q <= hw_out.counters.req && hw_out.counters.req_is_wr;
    end
  end

  // Counters: cycles are counted here, so that those of faults and those read are the same.
  logic [NumCounters-1:0][CtrIncBits-1:0] inc;
  always_comb begin
    inc            = ctr_inc_i;
    inc[CtrCycles] = CtrIncBits'(1);
  end

  systole_counters u_counters (
      .clk_i, .rst_ni, .clear_i(start_o), .count_i(running_i), .inc_i(inc),
      .req_i(hw_out.counters.req && !hw_out.counters.req_is_wr), .index_i(hw_out.counters.addr[3+:IndexBits]),
      .high_i(hw_out.counters.addr[2]), .ack_o(ctr_ack), .data_o(ctr_data)
  );

  // A program starts only on an idle core; responses hold until they are taken.
  logic       bhold_q, rhold_q;
  logic [1:0] bresp_q, rresp_q;
  logic [31:0] rdata_q;
  always_ff @(posedge clk_i) begin
    bhold_q <= rst_ni && axil_bvalid_o && !axil_bready_i;
    rhold_q <= rst_ni && axil_rvalid_o && !axil_rready_i;
    bresp_q <= axil_bresp_o;
    rresp_q <= axil_rresp_o;
    rdata_q <= axil_rdata_o;
    if (rst_ni) begin
      a_start : assert (!start_o || (!running_i && !fault_i));
      a_bhold : assert (!bhold_q || (axil_bvalid_o && axil_bresp_o == bresp_q));
      a_rhold : assert (!rhold_q || (axil_rvalid_o && axil_rresp_o == rresp_q && axil_rdata_o == rdata_q));
    end
  end
endmodule
