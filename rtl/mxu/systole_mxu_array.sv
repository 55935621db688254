// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Weight-stationary systolic array of the cell type Cell. Latency: a vector that enters in cycle t leaves in cycle t +
// array_latency(Rows, Cols, Stages), all columns aligned. Throughput: one vector per cycle; the array never stalls.
// Registers hold while enable_i is low (nothing in flight).
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_mxu_array
  import systole_presets_pkg::*;
  import systole_mxu_pkg::*;
#(
    parameter int unsigned Rows = 8,
    parameter int unsigned Cols = 8,
    parameter int unsigned Cell = CellInt8,
    parameter int unsigned Stages = 1,                        // pipeline stages of a cell
    parameter int unsigned LoadBuses = 1,                     // blocks of weights along a row and along a column, each with a bus of its own
    parameter int unsigned FastView = 0,                      // 0: the grid of cells; 1: the simulation view, one process for the whole array
    parameter int unsigned Multipliers = Rows * Cols,         // int8 grid: cells with a multiplier block; the others multiply in logic
    localparam int unsigned ElementBits = element_bits(Cell),
    localparam int unsigned Blocks = LoadBuses * LoadBuses,
    localparam int unsigned BlockRows = Rows / LoadBuses,
    localparam int unsigned BlockCols = Cols / LoadBuses
) (
    input  logic                    clk_i,
    input  logic                    enable_i,         // high from a vector's entry until it has left

    // A vector and the sums that it starts from (bf16). int8 sums start from 0, and the accumulators add.
    input  logic                    vec_bank_i,       // weight bank of the vector
    input  logic [ElementBits-1:0]  vec_i [Rows],
    // verilator lint_off UNUSEDSIGNAL
    input  logic signed [31:0]      sum_i [Cols],
    // verilator lint_on UNUSEDSIGNAL

    // Writes of each block b of a tile: its row wl_row_i into weight bank wl_bank_i. A vector that enters in cycle t
    // reaches the block in cycle t + block_offset(b). Counted from there, row r of the block must be written at most r *
    // row_cycles(Stages) cycles after the first vector of the tile, and at least BlockCols + r * row_cycles(Stages)
    // cycles after the last vector of the bank's previous tile. With wl_column_i (bf16, Rows = Cols) column wl_row_i of
    // the block is written instead: column c at most c cycles after that first vector, and at least 1 + (BlockRows - 1)
    // * row_cycles(Stages) + c cycles after that last vector.
    input  logic [Blocks-1:0]       wl_valid_i,
    input  logic [Blocks-1:0]       wl_bank_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [Blocks-1:0]       wl_column_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [$clog2(BlockRows)-1:0] wl_row_i [Blocks],
    input  logic [ElementBits-1:0]  wl_data_i [Blocks][BlockCols],

    output logic signed [31:0]      sum_o [Cols]
);
  if (!(Cell == CellInt8 && Stages >= 1 && Stages <= 2) && !(Cell == CellBf16 && Stages >= 1 && Stages <= 5)) begin : gen_none
    $error("systole_mxu_array: no cell %0d of %0d stages", Cell, Stages);
  end else if (FastView == 0) begin : gen_grid
    systole_mxu_array_grid #(.Rows(Rows), .Cols(Cols), .Cell(Cell), .Stages(Stages), .LoadBuses(LoadBuses), .Multipliers(Multipliers)) u_array (
        .clk_i, .enable_i, .vec_bank_i, .vec_i, .sum_i, .wl_valid_i, .wl_bank_i, .wl_column_i, .wl_row_i, .wl_data_i, .sum_o
    );
  end else if (Cell == CellInt8) begin : gen_int8
    systole_mxu_array_int8_fast #(.Rows(Rows), .Cols(Cols), .Stages(Stages), .LoadBuses(LoadBuses)) u_array (
        .clk_i, .enable_i, .vec_bank_i, .vec_i, .wl_valid_i, .wl_bank_i, .wl_row_i, .wl_data_i, .sum_o
    );
  end else begin : gen_bf16
    systole_mxu_array_bf16_fast #(.Rows(Rows), .Cols(Cols), .Stages(Stages), .LoadBuses(LoadBuses)) u_array (
        .clk_i, .enable_i, .vec_bank_i, .vec_i, .sum_i, .wl_valid_i, .wl_bank_i, .wl_column_i, .wl_row_i, .wl_data_i, .sum_o
    );
  end
endmodule
