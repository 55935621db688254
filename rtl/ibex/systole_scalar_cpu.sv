// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The processor of the scalar unit: Ibex (RV32IMC, machine and user mode, PMP of 8 regions, two stages) with its register file, and
// nothing of Ibex' own top: no clock gate, cache, lockstep or debug. Buses as Ibex has them: request until granted, one answer a grant,
// in order. Docs: docs/scalar.md. Test: tests/rtl/scalar (co-simulation).

module systole_scalar_cpu
  import ibex_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [31:0] boot_addr_i,  // reset vector less 128

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

    input  logic        irq_timer_i,
    input  logic        irq_external_i,
    input  logic [14:0] irq_fast_i
);
  localparam int unsigned PmpRegions = 8;

  logic [4:0]                 raddr_a, raddr_b, waddr;
  logic [31:0]                rdata_a, rdata_b, wdata;
  logic                       we;
  logic [IC_TAG_SIZE-1:0]     no_tags [IC_NUM_WAYS];
  logic [IC_LINE_SIZE-1:0]    no_lines [IC_NUM_WAYS];
  assign no_tags  = '{default: '0};
  assign no_lines = '{default: '0};

  // verilator lint_off PINCONNECTEMPTY
  // verilator lint_off PINMISSING
  ibex_core #(
      .PMPEnable(1'b1), .PMPNumRegions(PmpRegions), .RV32E(1'b0), .RV32M(RV32MFast), .RV32B(RV32BNone)
  ) u_ibex_core (
      .clk_i, .rst_ni, .hart_id_i('0), .boot_addr_i,
      .instr_req_o, .instr_gnt_i, .instr_rvalid_i, .instr_addr_o, .instr_rdata_i, .instr_err_i,
      .data_req_o, .data_gnt_i, .data_rvalid_i, .data_we_o, .data_be_o, .data_addr_o, .data_wdata_o, .data_rdata_i, .data_err_i,
      .dummy_instr_id_o(), .dummy_instr_wb_o(),
      .rf_raddr_a_o(raddr_a), .rf_raddr_b_o(raddr_b), .rf_waddr_wb_o(waddr), .rf_we_wb_o(we), .rf_wdata_wb_ecc_o(wdata),
      .rf_rdata_a_ecc_i(rdata_a), .rf_rdata_b_ecc_i(rdata_b),
      .ic_tag_req_o(), .ic_tag_write_o(), .ic_tag_addr_o(), .ic_tag_wdata_o(), .ic_tag_rdata_i(no_tags),
      .ic_data_req_o(), .ic_data_write_o(), .ic_data_addr_o(), .ic_data_wdata_o(), .ic_data_rdata_i(no_lines),
      .ic_scr_key_valid_i(1'b1), .ic_scr_key_req_o(),
      .irq_software_i(1'b0), .irq_timer_i, .irq_external_i, .irq_fast_i, .irq_nm_i(1'b0), .irq_pending_o(),
      .debug_req_i(1'b0), .crash_dump_o(), .double_fault_seen_o(),
      .fetch_enable_i(IbexMuBiOn), .alert_minor_o(), .alert_major_internal_o(), .alert_major_bus_o(), .core_busy_o()
  );

  ibex_register_file_fpga u_registers (
      .clk_i, .rst_ni, .test_en_i(1'b0), .dummy_instr_id_i(1'b0), .dummy_instr_wb_i(1'b0),
      .raddr_a_i(raddr_a), .rdata_a_o(rdata_a), .raddr_b_i(raddr_b), .rdata_b_o(rdata_b),
      .waddr_a_i(waddr), .wdata_a_i(wdata), .we_a_i(we), .err_o()
  );
  // verilator lint_on PINMISSING
  // verilator lint_on PINCONNECTEMPTY
endmodule
