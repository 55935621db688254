// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Simulation view of systole_mxu_array for bf16 cells. A vector waits in a ring until all weights of a group of rows
// of a block are written and none is overwritten yet, is multiplied by the whole group at once, and its sums wait until
// the cycle in which they would leave the grid. block_offset, group_age and next_group (systole_mxu_pkg) give the times. All variables but
// sum_o are private to the process. Contract and latency: systole_mxu_array.
// Docs: docs/mxu.md. Test: tests/rtl/mxu, verif/formal.

module systole_mxu_array_bf16_fast
  import systole_fp_pkg::*;
  import systole_mxu_pkg::*;
#(
    parameter int unsigned Rows = 8,
    parameter int unsigned Cols = 8,
    parameter int unsigned Stages = 1,
    parameter int unsigned LoadBuses = 1,
    localparam int unsigned Blocks = LoadBuses * LoadBuses,
    localparam int unsigned BlockRows = Rows / LoadBuses,
    localparam int unsigned BlockCols = Cols / LoadBuses
) (
    input  logic                    clk_i,
    input  logic                    enable_i,
    input  logic                    vec_bank_i,
    input  logic [15:0]             vec_i [Rows],
    input  logic signed [31:0]      sum_i [Cols],
    input  logic [Blocks-1:0]       wl_valid_i,
    input  logic [Blocks-1:0]       wl_bank_i,
    input  logic [Blocks-1:0]       wl_column_i,
    input  logic [$clog2(BlockRows)-1:0] wl_row_i [Blocks],
    input  logic [15:0]             wl_data_i [Blocks][BlockCols],
    output logic signed [31:0]      sum_o [Cols]
);
  localparam int unsigned Age = array_latency(Rows, Cols, Stages) - 1;  // age of a vector whose sums leave, in cycles
  localparam int unsigned Slots = 1 << $clog2(Age + 1);

  // Rings, indexed by the slot of a vector; ptr_q is the slot of the entering vector. Operands are recoded at the entry
  // (systole_fp_pkg).
  logic               bank_q [Slots];
  logic [31:0]        vec_q [Slots][Rows];
  logic signed [31:0] sum_q [Slots][Cols];
  logic [31:0]        weight_q [2][Rows][Cols];  // [bank]
  logic signed [31:0] sum_v [Cols];              // scratch: the sums of a block's columns, or of all
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0]        slot;                      // slot of the vector that is multiplied
  // verilator lint_on UNUSEDSIGNAL
  logic [31:0]        ptr_q = 0;                 // any start value works, except an unknown one

  // verilator lint_off BLKSEQ
  function automatic logic [31:0] recoded(logic [15:0] x);
    return recode(32'(x), 8, 7, 8);
  endfunction

  // All stages of a cell in sequence.
  function automatic logic [31:0] mac(logic [31:0] sum, logic [31:0] act, logic [31:0] weight);
    logic [31:0] upper, lower, align_info, norm, norm_info;
    align(multiply(act, weight, 8, 8), sum, upper, lower, align_info, 8, 7, 8, 23);
    normalise(add(upper, lower), align_info, norm, norm_info, 8, 8, 23);
    return round(norm, norm_info, 8, 23);
  endfunction

  // verilator lint_off UNUSEDSIGNAL
  // Adds the products of row r with the columns of a block, from the given one on, to sum_v.
  task automatic row(int unsigned r, int unsigned column);
    logic        bank;
    logic [31:0] act;
    bank = bank_q[slot];
    act  = vec_q[slot][r];
    for (int unsigned c = 0; c < BlockCols; c++) sum_v[c] = mac(sum_v[c], act, weight_q[bank][r][column+c]);
  endtask
  // verilator lint_on UNUSEDSIGNAL

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      for (int unsigned c = 0; c < Cols; c++) sum_v[c] = sum_q[(ptr_q-Age)&(Slots-1)][c];
      sum_o <= sum_v;
      for (int unsigned b = 0; b < Blocks; b++) begin
        for (int unsigned first = 0; first < BlockRows; first = next_group(BlockRows, BlockCols, Stages, first)) begin
          slot = (ptr_q - block_offset(Rows, Cols, Stages, LoadBuses, b) - group_age(BlockRows, BlockCols, Stages, first)) & (Slots - 1);
          for (int unsigned c = 0; c < BlockCols; c++) sum_v[c] = sum_q[slot][b%LoadBuses*BlockCols+c];
          for (int unsigned r = first; r < next_group(BlockRows, BlockCols, Stages, first); r++)
            row(b / LoadBuses * BlockRows + r, b % LoadBuses * BlockCols);
          for (int unsigned c = 0; c < BlockCols; c++) sum_q[slot][b%LoadBuses*BlockCols+c] = sum_v[c];
        end
      end
      bank_q[ptr_q&(Slots-1)] = vec_bank_i;
      for (int unsigned r = 0; r < Rows; r++) vec_q[ptr_q&(Slots-1)][r] = recoded(vec_i[r]);
      for (int unsigned c = 0; c < Cols; c++) sum_q[ptr_q&(Slots-1)][c] = sum_i[c];
      ptr_q = ptr_q + 1;
    end
    for (int unsigned b = 0; b < Blocks; b++) begin
      if (wl_valid_i[b] && wl_column_i[b]) begin
        for (int unsigned r = 0; r < BlockRows; r++)
          weight_q[wl_bank_i[b]][b/LoadBuses*BlockRows+r][b%LoadBuses*BlockCols+32'(wl_row_i[b])] = recoded(wl_data_i[b][r]);
      end else if (wl_valid_i[b]) begin
        for (int unsigned c = 0; c < BlockCols; c++)
          weight_q[wl_bank_i[b]][b/LoadBuses*BlockRows+32'(wl_row_i[b])][b%LoadBuses*BlockCols+c] = recoded(wl_data_i[b][c]);
      end
    end
  end
  // verilator lint_on BLKSEQ
endmodule
