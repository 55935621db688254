// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// In the place of the scalar unit's processor: a bench makes its data accesses, by the hierarchical names of what is driven here.

module systole_scalar_cpu (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [31:0] boot_addr_i,

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
  logic        fetch, request, write;
  logic [3:0]  bytes;
  logic [31:0] fetch_address, address, data;
  assign instr_req_o  = fetch;
  assign instr_addr_o = fetch_address;
  assign data_req_o   = request;
  assign data_we_o    = write;
  assign data_be_o    = bytes;
  assign data_addr_o  = address;
  assign data_wdata_o = data;
endmodule
