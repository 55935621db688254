// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The descriptor source with its bundles as plain ports, in a program of the issue port.

module source_bench
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned D = 32
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                start_i,
    input  logic [2:0]          write_i,    // step, value, field
    input  logic [7:0]          entry_i,
    input  logic [AddrBits-1:0] data_i,
    input  logic                valid_i,
    input  logic                stream_i,
    input  logic [AddrBits-1:0] addr_i,
    input  logic [31:0]         len_i,
    input  logic [7:0]          first_i,
    input  logic [8:0]          patches_i,
    input  desc_t               desc_i,
    output logic                ready_o,
    output logic                rd_valid_o,
    input  logic                rd_ready_i,
    output logic [AddrBits-1:0] rd_addr_o,
    input  logic                rd_rsp_valid_i,
    input  logic [D*8-1:0]      rd_rsp_data_i,
    output logic                desc_valid_o,
    input  logic                desc_ready_i,
    output desc_t               desc_o,
    output logic                out_of_range_o
);
  localparam logic [AddrBits:0] End = (AddrBits + 1)'(37'h10000);
  issue_req_t req;
  patch_req_t patch;
  stream_t    list;
  assign patch = '{field: write_i[0], value: write_i[1], step: write_i[2], entry: entry_i, data: data_i};
  assign list  = '{unused: '0, patches: patches_i, first: first_i, len: len_i, addr: addr_i};
  assign req   = '{patch: patch, valid: valid_i, stream: stream_i, desc: stream_i ? desc_t'(list) : desc_i};

  systole_descriptor_source #(.D(D)) u_source (
      .clk_i, .rst_ni, .start_i, .issue_mode_i(1'b1), .freeze_i(1'b0), .prog_addr_i('0), .prog_len_i('0), .hbm_base_i('0),
      .hbm_end_i(End), .issue_req_i(req), .issue_ready_o(ready_o), .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i,
      .rd_rsp_data_i, .desc_valid_o, .desc_ready_i, .desc_o, .out_of_range_o,
      // verilator lint_off PINCONNECTEMPTY
      .misaligned_o(), .misaligned_addr_o(), .list_addr_o(), .idle_o()
      // verilator lint_on PINCONNECTEMPTY
  );
endmodule
