// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_mxu_array of bf16 cells as its simulation view: a vector waits until the weights of a group of its rows are there and of none
// gone, is multiplied by them at once, and its sums wait until they would have left the grid. Which groups, and when: group_age and
// next_group in systole_mxu_pkg. Everything but sum_o is private to the process. Contract and latency: systole_mxu_array.
// Docs: docs/mxu.md. Test: tests/rtl/mxu, verif/formal.

module systole_mxu_array_bf16_fast
  import systole_fp_pkg::*;
  import systole_mxu_pkg::*;
#(
    parameter int unsigned Rows = 8,
    parameter int unsigned Cols = 8,
    parameter int unsigned Stages = 1
) (
    input  logic                    clk_i,
    input  logic                    enable_i,
    input  logic                    vec_bank_i,
    input  logic [15:0]             vec_i [Rows],
    input  logic signed [31:0]      sum_i [Cols],
    input  logic                    wl_valid_i,
    input  logic                    wl_bank_i,
    input  logic                    wl_column_i,
    input  logic [$clog2(Rows)-1:0] wl_row_i,
    input  logic [15:0]             wl_data_i [Cols],
    output logic signed [31:0]      sum_o [Cols]
);
  localparam int unsigned Age = array_latency(Rows, Cols, Stages) - 1;  // of a vector whose sums leave
  localparam int unsigned Slots = 1 << $clog2(Age + 1);

  // Rings: [slot of a vector]. ptr_q is the slot of the one that enters. Operands are recoded where they enter (systole_fp_pkg).
  logic               bank_q [Slots];
  logic [31:0]        vec_q [Slots][Rows];
  logic signed [31:0] sum_q [Slots][Cols];
  logic [31:0]        weight_q [2][Rows][Cols];  // [bank]
  logic signed [31:0] sum_v [Cols];              // scratch
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0]        slot;                      // of the vector that is multiplied
  // verilator lint_on UNUSEDSIGNAL
  logic [31:0]        ptr_q = 0;                 // any value does, but not an unknown one

  // verilator lint_off BLKSEQ
  function automatic logic [31:0] recoded(logic [15:0] x);
    return recode(32'(x), 8, 7, 8);
  endfunction

  // What a cell's stages do, one after the other.
  function automatic logic [31:0] mac(logic [31:0] sum, logic [31:0] act, logic [31:0] weight);
    logic [31:0] upper, lower, align_info, norm, norm_info;
    align(multiply(act, weight, 8, 8), sum, upper, lower, align_info, 8, 7, 8, 23);
    normalise(add(upper, lower), align_info, norm, norm_info, 8, 8, 23);
    return round(norm, norm_info, 8, 23);
  endfunction

  // verilator lint_off UNUSEDSIGNAL
  // Adds a row's products to sum_v.
  task automatic row(int unsigned r);
    logic        bank;
    logic [31:0] act;
    bank = bank_q[slot];
    act  = vec_q[slot][r];
    for (int unsigned c = 0; c < Cols; c++) sum_v[c] = mac(sum_v[c], act, weight_q[bank][r][c]);
  endtask
  // verilator lint_on UNUSEDSIGNAL

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      for (int unsigned c = 0; c < Cols; c++) sum_v[c] = sum_q[(ptr_q-Age)&(Slots-1)][c];
      sum_o <= sum_v;
      for (int unsigned first = 0; first < Rows; first = next_group(Rows, Cols, Stages, first)) begin
        slot = (ptr_q - group_age(Rows, Cols, Stages, first)) & (Slots - 1);
        for (int unsigned c = 0; c < Cols; c++) sum_v[c] = sum_q[slot][c];
        for (int unsigned r = first; r < next_group(Rows, Cols, Stages, first); r++) row(r);
        for (int unsigned c = 0; c < Cols; c++) sum_q[slot][c] = sum_v[c];
      end
      bank_q[ptr_q&(Slots-1)] = vec_bank_i;
      for (int unsigned r = 0; r < Rows; r++) vec_q[ptr_q&(Slots-1)][r] = recoded(vec_i[r]);
      for (int unsigned c = 0; c < Cols; c++) sum_q[ptr_q&(Slots-1)][c] = sum_i[c];
      ptr_q = ptr_q + 1;
    end
    if (wl_valid_i && wl_column_i) begin
      for (int unsigned r = 0; r < Rows; r++) weight_q[wl_bank_i][r][wl_row_i] = recoded(wl_data_i[r]);
    end else if (wl_valid_i) begin
      for (int unsigned c = 0; c < Cols; c++) weight_q[wl_bank_i][wl_row_i][c] = recoded(wl_data_i[c]);
    end
  end
  // verilator lint_on BLKSEQ
endmodule
