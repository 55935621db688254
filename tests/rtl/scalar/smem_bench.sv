// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_smem with its bundles as ports: two clients.

module smem_bench
  import systole_scalar_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i [2],
    input  logic        write_i [2],
    input  logic [3:0]  strobe_i [2],
    input  logic [29:0] word_i [2],
    input  logic [31:0] data_i [2],
    output logic        ready_o [2],
    output logic        valid_o [2],
    output logic        failed_o [2],
    output logic [31:0] data_o [2],
    input  logic [38:0] flip_i,
    output logic        flip_used_o,
    output logic        any_corrected_o,
    output logic        any_failed_o,
    output logic [29:0] word_o
);
  smem_req_t [1:0] req;
  smem_rsp_t [1:0] rsp;

  for (genvar c = 0; c < 2; c++) begin : gen_client
    assign req[c] = '{valid: valid_i[c], write: write_i[c], strobe: strobe_i[c], word: word_i[c], data: data_i[c]};
    assign ready_o[c]  = rsp[c].ready;
    assign valid_o[c]  = rsp[c].valid;
    assign failed_o[c] = rsp[c].failed;
    assign data_o[c]   = rsp[c].data;
  end

  systole_smem #(.Bytes(256), .Clients(2)) u_dut (
      .clk_i, .rst_ni, .req_i(req), .rsp_o(rsp), .flip_i, .flip_used_o, .corrected_o(any_corrected_o), .failed_o(any_failed_o), .word_o
  );
endmodule
