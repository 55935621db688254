// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Simulation view of systole_mxu_array for int8 cells. A vector waits in a ring until all weights of a block are
// written and none is overwritten yet, is multiplied by them at once, and its sums wait until the cycle in which they
// would leave the grid (block_offset and group_age in systole_mxu_pkg). All variables but sum_o are private to the process. Contract and
// latency: systole_mxu_array.
// Docs: docs/mxu.md. Test: tests/rtl/mxu, verif/formal.

module systole_mxu_array_int8_fast
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
    input  logic [7:0]              vec_i [Rows],

    input  logic [Blocks-1:0]       wl_valid_i,
    input  logic [Blocks-1:0]       wl_bank_i,
    input  logic [$clog2(BlockRows)-1:0] wl_row_i [Blocks],
    input  logic [7:0]              wl_data_i [Blocks][BlockCols],
    output logic signed [31:0]      sum_o [Cols]
);
  localparam int unsigned Age = array_latency(Rows, Cols, Stages) - 1;     // age of a vector whose sums leave, in cycles
  localparam int unsigned Slots = 1 << $clog2(Age + 1);
  localparam int unsigned Step = BlockRows % 8 == 0 && BlockCols % 8 == 0 ? 8 : 1;  // rows per pass over the sums

  // Rings, indexed by the slot of a vector; ptr_q is the slot of the entering vector.
  logic               bank_q [Slots];
  logic [7:0]         vec_q [Slots][Rows];
  logic signed [31:0] sum_q [Slots][Cols];
  logic signed [15:0] weight_q [2][Rows][Cols];  // [bank]; 16 bits: in the C++ that Verilator emits, bytes may alias any variable
  logic signed [31:0] sum_v [Cols];              // scratch: the sums of a block's columns, or of all
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0]        slot;                      // slot of the vector that is multiplied
  // verilator lint_on UNUSEDSIGNAL
  logic [31:0]        ptr_q = 0;                 // any start value works, except an unknown one

  // verilator lint_off BLKSEQ
  // Adds the products of Step rows, from row r on, with the columns of a block, from the given one on, to sum_v, in the
  // order of the grid.
  task automatic rows(int unsigned r, int unsigned column);
    logic               bank;
    logic signed [15:0] act [Step];
    bank = bank_q[slot];
    for (int unsigned i = 0; i < Step; i++) act[i] = 16'($signed(vec_q[slot][r+i]));
    for (int unsigned c = 0; c < BlockCols; c++) begin
      for (int unsigned i = 0; i < Step; i++) sum_v[c] = sum_v[c] + 32'(product(act[i], weight_q[bank][r+i][column+c]));
    end
  endtask

  function automatic logic signed [15:0] product(logic signed [15:0] act, logic signed [15:0] weight);
    return act * weight;
  endfunction

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      for (int unsigned c = 0; c < Cols; c++) sum_v[c] = sum_q[(ptr_q-Age)&(Slots-1)][c];
      sum_o <= sum_v;
      for (int unsigned b = 0; b < Blocks; b++) begin
        for (int unsigned first = 0; first < BlockRows; first = next_group(BlockRows, BlockCols, Stages, first)) begin
          slot = (ptr_q - block_offset(Rows, Cols, Stages, LoadBuses, b) - group_age(BlockRows, BlockCols, Stages, first)) & (Slots - 1);
          for (int unsigned c = 0; c < BlockCols; c++)
            sum_v[c] = b < LoadBuses && first == 0 ? '0 : sum_q[slot][b%LoadBuses*BlockCols+c];
          for (int unsigned r = first; r < next_group(BlockRows, BlockCols, Stages, first); r += Step)
            rows(b / LoadBuses * BlockRows + r, b % LoadBuses * BlockCols);
          for (int unsigned c = 0; c < BlockCols; c++) sum_q[slot][b%LoadBuses*BlockCols+c] = sum_v[c];
        end
      end
      bank_q[ptr_q&(Slots-1)] = vec_bank_i;
      for (int unsigned r = 0; r < Rows; r++) vec_q[ptr_q&(Slots-1)][r] = vec_i[r];
      ptr_q = ptr_q + 1;
    end
    for (int unsigned b = 0; b < Blocks; b++) begin
      if (wl_valid_i[b]) begin
        for (int unsigned c = 0; c < BlockCols; c++)
          weight_q[wl_bank_i[b]][b/LoadBuses*BlockRows+32'(wl_row_i[b])][b%LoadBuses*BlockCols+c] = 16'($signed(wl_data_i[b][c]));
      end
    end
  end
  // verilator lint_on BLKSEQ

endmodule
