// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_scalar_cpu with the retired instructions of Ibex' formal interface (RVFI) as ports.

module cpu_bench (
    input  logic        clk_i,
    input  logic        rst_ni,

    output logic        instr_req_o,
    input  logic        instr_gnt_i,
    output logic [31:0] instr_addr_o,
    input  logic        instr_rvalid_i,
    input  logic [31:0] instr_rdata_i,
    input  logic        instr_err_i,

    output logic        data_req_o,
    input  logic        data_gnt_i,
    output logic        data_we_o,
    output logic [3:0]  data_be_o,
    output logic [31:0] data_addr_o,
    output logic [31:0] data_wdata_o,
    input  logic        data_rvalid_i,
    input  logic [31:0] data_rdata_i,
    input  logic        data_err_i,

    input  logic [15:0] irq_i,  // timer, external, fast interrupts 0 to 13

    output logic        valid_o,
    output logic        trap_o,
    output logic        interrupt_o,  // the first instruction of its handler
    output logic [31:0] pc_o,
    output logic [31:0] next_pc_o,
    output logic [31:0] instruction_o,
    output logic [4:0]  rd_o,
    output logic [31:0] value_o
);
  systole_scalar_cpu u_cpu (
      .clk_i, .rst_ni, .boot_addr_i(32'h0000_1000),
      .instr_req_o, .instr_gnt_i, .instr_addr_o, .instr_rvalid_i, .instr_rdata_i, .instr_err_i,
      .data_req_o, .data_gnt_i, .data_we_o, .data_be_o, .data_addr_o, .data_wdata_o, .data_rvalid_i, .data_rdata_i, .data_err_i,
      .irq_timer_i(irq_i[0]), .irq_external_i(irq_i[1]), .irq_fast_i({1'b0, irq_i[15:2]})
  );

  assign valid_o       = u_cpu.u_ibex_core.rvfi_valid;
  assign trap_o        = u_cpu.u_ibex_core.rvfi_trap;
  assign interrupt_o   = u_cpu.u_ibex_core.rvfi_intr;
  assign pc_o          = u_cpu.u_ibex_core.rvfi_pc_rdata;
  assign next_pc_o     = u_cpu.u_ibex_core.rvfi_pc_wdata;
  assign instruction_o = u_cpu.u_ibex_core.rvfi_insn;
  assign rd_o          = u_cpu.u_ibex_core.rvfi_rd_addr;
  assign value_o       = u_cpu.u_ibex_core.rvfi_rd_wdata;
endmodule
