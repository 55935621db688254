// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_scalar with its bundles as ports, and a processor whose accesses are ports, too (stub/systole_scalar_cpu.sv).

module unit_bench
  import systole_bus_pkg::*;
  import systole_isa_pkg::NumFlags;
(
    input  logic                clk_i,
    input  logic                rst_ni,

    // Host.
    input  logic                host_valid_i,
    input  logic                host_write_i,
    input  logic [2:0]          host_index_i,
    input  logic [31:0]         host_data_i,
    output logic                host_ack_o,
    output logic [31:0]         host_data_o,

    // Core.
    input  logic                running_i,
    input  logic                done_i,
    input  logic                fault_i,
    input  logic [7:0]          fault_code_i,
    input  logic [2:0]          fault_queue_i,
    input  logic [31:0]         fault_pc_i,
    input  logic [35:0]         fault_addr_i,
    input  logic [31:0]         fault_cycle_i,
    input  logic                saturated_i,
    input  logic                resetting_i,
    output logic                owns_o,
    output logic                start_o,
    output logic                reset_o,
    output logic                irq_o,
    output logic                issue_o,
    output logic                isolated_o,
    output logic                item_o,
    input  logic                item_ready_i,
    output logic                patch_field_o,
    output logic                patch_value_o,
    output logic                patch_step_o,
    output logic [35:0]         patch_data_o,

    // Sync flags.
    input  logic                taken_i,
    input  logic [NumFlags-1:0] there_i,
    output logic [NumFlags-1:0] post_o,
    output logic [NumFlags-1:0] want_o,

    // Memory.
    output logic                rd_valid_o,
    input  logic                rd_ready_i,
    input  logic                rd_rsp_valid_i,
    output logic                wr_valid_o,
    input  logic                wr_ready_i,

    // Processor.
    input  logic                fetch_i,
    input  logic [31:0]         fetch_address_i,
    output logic                fetch_valid_o,
    output logic                fetch_error_o,
    output logic [31:0]         fetch_data_o,
    input  logic                request_i,
    input  logic                write_i,
    input  logic [3:0]          bytes_i,
    input  logic [31:0]         address_i,
    input  logic [31:0]         data_i,
    output logic                grant_o,
    output logic                valid_o,
    output logic                error_o,
    output logic [31:0]         data_o,
    output logic                timer_o,
    output logic                doorbell_o,
    output logic [14:0]         fast_o,
    output logic                unit_rst_no
);
  localparam int unsigned D = 32;

  core_status_t status;
  // verilator lint_off UNUSEDSIGNAL
  scalar_ctl_t  ctl;
  issue_req_t   issue;
  // verilator lint_on UNUSEDSIGNAL
  flag_req_t    flags;
  client_req_t  mem;

  always_comb begin
    status               = '0;
    status.running       = running_i;
    status.done          = done_i;
    status.fault         = fault_i;
    status.acc_saturated = saturated_i;
    status.fault_code    = systole_isa_pkg::fault_e'(fault_code_i);
    status.fault_queue   = fault_queue_i;
    status.fault_pc      = fault_pc_i;
    status.fault_addr    = fault_addr_i;
    status.fault_cycle   = {32'hFFFF_FFFF, fault_cycle_i};  // the upper half has no register
  end

  systole_scalar #(.SmemBytes(512), .D(D)) u_dut (
      .clk_i, .rst_ni, .host_reg_i('{valid: host_valid_i, write: host_write_i, index: host_index_i, data: host_data_i}), .ctl_o(ctl),
      .status_i(status), .resetting_i, .issue_req_o(issue), .issue_ready_i(item_ready_i), .flag_req_o(flags),
      .flag_rsp_i('{taken: taken_i, there: there_i}), .mem_req_o(mem),
      // verilator lint_off PINCONNECTEMPTY
      .mem_wr_data_o(), .mem_wr_mask_o(),
      // verilator lint_on PINCONNECTEMPTY
      .mem_rsp_i('{rd_ready: rd_ready_i, rd_rsp_valid: rd_rsp_valid_i, wr_ready: wr_ready_i}), .mem_rd_data_i('0)
  );

  assign {host_ack_o, host_data_o} = {ctl.ack, ctl.data};
  assign {owns_o, start_o, reset_o, irq_o, issue_o, isolated_o} = {ctl.owns, ctl.start, ctl.reset, ctl.irq, ctl.issue, ctl.isolated};
  assign item_o = issue.valid;
  assign {patch_field_o, patch_value_o, patch_step_o, patch_data_o} = {issue.patch.field, issue.patch.value, issue.patch.step, issue.patch.data};
  assign {post_o, want_o} = {flags.post, flags.want};
  assign {rd_valid_o, wr_valid_o} = {mem.rd_valid, mem.wr_valid};

  always @* u_dut.u_cpu.fetch = fetch_i;
  always @* u_dut.u_cpu.fetch_address = fetch_address_i;
  always @* u_dut.u_cpu.request = request_i;
  always @* u_dut.u_cpu.write = write_i;
  always @* u_dut.u_cpu.bytes = bytes_i;
  always @* u_dut.u_cpu.address = address_i;
  always @* u_dut.u_cpu.data = data_i;
  assign fetch_valid_o = u_dut.u_cpu.instr_rvalid_i;
  assign fetch_data_o  = u_dut.u_cpu.instr_rdata_i;
  assign fetch_error_o = u_dut.u_cpu.instr_err_i;
  assign grant_o       = u_dut.u_cpu.data_gnt_i;
  assign valid_o       = u_dut.u_cpu.data_rvalid_i;
  assign error_o       = u_dut.u_cpu.data_err_i;
  assign data_o        = u_dut.u_cpu.data_rdata_i;
  assign timer_o       = u_dut.u_cpu.irq_timer_i;
  assign doorbell_o    = u_dut.u_cpu.irq_external_i;
  assign fast_o        = u_dut.u_cpu.irq_fast_i;
  assign unit_rst_no   = u_dut.u_cpu.rst_ni;
endmodule
