// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_csr with its bundles as ports; beside it one whose clock never stands still, which is the same in all that is seen.

module csr_bench
  import systole_presets_pkg::*;
  import systole_csr_pkg::*;
#(
    parameter int unsigned Preset = 0,
    parameter bit          Links = 1'b0
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
    input  logic                         ecc_fixed_i,  // pulse
    input  logic                         ecc_bad_i,    // pulse
    input  logic [AddrBits-1:0]          ecc_addr_i,
    output logic [31:0]                  scrub_o,

    // Scalar unit.
    output logic                         has_scalar_o,
    input  logic                         scalar_owns_i,
    input  logic                         scalar_start_i,  // pulses
    input  logic                         scalar_reset_i,
    input  logic                         scalar_irq_i,
    input  logic [AddrBits-1:0]          scalar_prog_addr_i,
    input  logic [31:0]                  scalar_prog_len_i,
    input  logic [31:0]                  scalar_watchdog_i,
    input  logic [AddrBits:0]            scalar_limit_i,
    input  logic                         scalar_issue_i,
    input  logic [AddrBits-1:0]          scalar_base_i,
    input  logic                         scalar_isolated_i,
    input  logic                         scalar_ack_i,    // pulse
    input  logic [31:0]                  scalar_data_i,
    output logic                         host_valid_o,    // pulse
    output logic                         host_write_o,
    output logic [2:0]                   host_index_o,
    output logic [31:0]                  host_data_o,

    // Links.
    output logic                         has_links_o,
    input  logic                         link_ack_i,      // pulse
    input  logic [31:0]                  link_data_i,
    output logic                         link_valid_o,    // pulse
    output logic                         link_write_o,
    output logic [2:0]                   link_index_o,
    output logic [31:0]                  link_data_o,

    output logic                         issue_o,
    output logic [AddrBits-1:0]          base_o,
    output logic                         isolated_o,

    input  logic [NumCounters-1:0][CtrIncBits-1:0] ctr_inc_i     // added to each counter in this cycle of a program
);
  localparam chip_cfg_t Chip = preset(Preset);
  systole_bus_pkg::axil_req_t    req;
  systole_bus_pkg::axil_rsp_t    rsp;
  systole_bus_pkg::core_ctl_t    ctl;
  systole_bus_pkg::core_status_t status;
  systole_bus_pkg::host_reg_req_t host_reg, link_req;
  systole_bus_pkg::scalar_ctl_t   scalar;

  systole_csr #(.Preset(Preset), .Links(Links)) u_dut (
      .clk_i, .rst_ni, .axil_req_i(req), .axil_rsp_o(rsp), .irq_o, .start_o, .ctl_o(ctl), .reset_req_o,
      .hbm_limit_o, .scalar_i(scalar), .host_reg_o(host_reg), .link_req_o(link_req), .link_ack_i, .link_data_i,
      .ecc_i('{fixed: ecc_fixed_i, bad: ecc_bad_i, addr: ecc_addr_i}), .scrub_o, .status_i(status), .resetting_i, .ctr_inc_i
  );

  assign req.awvalid = axil_awvalid_i;
  assign req.awaddr = systole_bus_pkg::AxilBits'(axil_awaddr_i);
  assign req.wvalid = axil_wvalid_i;
  assign req.wdata = axil_wdata_i;
  assign req.wstrb = axil_wstrb_i;
  assign req.bready = axil_bready_i;
  assign req.arvalid = axil_arvalid_i;
  assign req.araddr = systole_bus_pkg::AxilBits'(axil_araddr_i);
  assign req.rready = axil_rready_i;
  assign axil_awready_o = rsp.awready;
  assign axil_wready_o = rsp.wready;
  assign axil_bvalid_o = rsp.bvalid;
  assign axil_bresp_o = rsp.bresp;
  assign axil_arready_o = rsp.arready;
  assign axil_rvalid_o = rsp.rvalid;
  assign axil_rdata_o = rsp.rdata;
  assign axil_rresp_o = rsp.rresp;
  assign status.running = running_i;
  assign status.done = done_i;
  assign status.fault = fault_i;
  assign status.fault_queue = fault_queue_i;
  assign status.fault_pc = fault_pc_i;
  assign status.fault_addr = fault_addr_i;
  assign status.fault_cycle = fault_cycle_i;
  assign status.acc_saturated = acc_saturated_i;
  assign status.fault_code = systole_isa_pkg::fault_e'(fault_cause_i);
  assign prog_addr_o = ctl.prog_addr;
  assign prog_len_o = ctl.prog_len;
  assign watchdog_o = ctl.watchdog;
  assign cycle_o = ctl.cycle;
  assign issue_o = ctl.issue;
  assign base_o = ctl.base;
  assign isolated_o = ctl.isolated;
  assign has_scalar_o = Chip.SmemBytes != 0;
  assign scalar = '{
      owns: scalar_owns_i, start: scalar_start_i, reset: scalar_reset_i, irq: scalar_irq_i, prog_addr: scalar_prog_addr_i,
      prog_len: scalar_prog_len_i, watchdog: scalar_watchdog_i, limit: scalar_limit_i, issue: scalar_issue_i, base: scalar_base_i,
      isolated: scalar_isolated_i, ack: scalar_ack_i, data: scalar_data_i};
  assign host_valid_o = host_reg.valid;
  assign host_write_o = host_reg.write;
  assign host_index_o = host_reg.index;
  assign host_data_o = host_reg.data;
  assign has_links_o = Links;
  assign link_valid_o = link_req.valid;
  assign link_write_o = link_req.write;
  assign link_index_o = link_req.index;
  assign link_data_o = link_req.data;

  systole_bus_pkg::axil_rsp_t     rsp2;
  systole_bus_pkg::core_ctl_t     ctl2;
  systole_bus_pkg::host_reg_req_t host_reg2, link_req2;
  logic                           irq, start, reset_req, reset_q, equal;
  logic [AddrBits:0]              hbm_limit;
  logic [31:0]                    scrub;
  systole_csr #(.Preset(Preset), .Links(Links), .Gate(1'b0)) u_second (
      .clk_i, .rst_ni, .axil_req_i(req), .axil_rsp_o(rsp2), .irq_o(irq), .start_o(start), .ctl_o(ctl2), .reset_req_o(reset_req),
      .hbm_limit_o(hbm_limit), .scalar_i(scalar), .host_reg_o(host_reg2), .link_req_o(link_req2), .link_ack_i, .link_data_i,
      .ecc_i('{fixed: ecc_fixed_i, bad: ecc_bad_i, addr: ecc_addr_i}), .scrub_o(scrub), .status_i(status), .resetting_i, .ctr_inc_i
  );
  always_comb begin
    equal = {rsp2.awready, rsp2.wready, rsp2.arready, rsp2.bvalid, rsp2.rvalid, irq, start, ctl2, reset_req, hbm_limit, scrub,
             host_reg2.valid, link_req2.valid} ==
            {rsp.awready, rsp.wready, rsp.arready, rsp.bvalid, rsp.rvalid, irq_o, start_o, ctl, reset_req_o, hbm_limit_o, scrub_o,
             host_reg.valid, link_req.valid};
    if (rsp.bvalid) equal &= rsp2.bresp == rsp.bresp;
    if (rsp.rvalid) equal &= {rsp2.rresp, rsp2.rdata} == {rsp.rresp, rsp.rdata};
    if (host_reg.valid) equal &= host_reg2 == host_reg;
    if (link_req.valid) equal &= link_req2 == link_req;
  end
  always_ff @(posedge clk_i) begin
    reset_q <= !rst_ni;
    if (rst_ni && !reset_q) a_equal : assert (equal);
  end
endmodule
