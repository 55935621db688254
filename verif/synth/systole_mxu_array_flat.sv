// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The grid view of systole_mxu_array with packed ports, so that a netlist keeps its ports.

module systole_mxu_array_flat #(
    parameter int unsigned Rows = 4,
    parameter int unsigned Cols = 4,
    parameter int unsigned Cell = 0,
    parameter int unsigned Stages = 1,
    parameter int unsigned LoadBuses = 1,
    parameter int unsigned Multipliers = Rows * Cols,
    localparam int unsigned Bits = systole_mxu_pkg::element_bits(Cell),
    localparam int unsigned Blocks = LoadBuses * LoadBuses,
    localparam int unsigned RowBits = $clog2(Rows / LoadBuses),
    localparam int unsigned BlockCols = Cols / LoadBuses
) (
    input  logic                    clk_i,
    input  logic                    enable_i,
    input  logic                    vec_bank_i,
    input  logic [Bits*Rows-1:0]    vec_i,
    input  logic [32*Cols-1:0]      sum_i,
    input  logic [Blocks-1:0]       wl_valid_i,
    input  logic [Blocks-1:0]       wl_bank_i,
    input  logic [Blocks-1:0]       wl_column_i,
    input  logic [RowBits*Blocks-1:0] wl_row_i,
    input  logic [Bits*BlockCols*Blocks-1:0] wl_data_i,
    output logic [32*Cols-1:0]      sum_o
);
  logic [Bits-1:0]    vec [Rows];
  logic [RowBits-1:0] wl_row [Blocks];
  logic [Bits-1:0]    wl_data [Blocks][BlockCols];
  logic signed [31:0] first [Cols];
  logic signed [31:0] sum [Cols];

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    assign vec[r] = vec_i[Bits*r+:Bits];
  end
  for (genvar c = 0; c < Cols; c++) begin : gen_column
    assign first[c] = sum_i[32*c+:32];
    assign sum_o[32*c+:32] = sum[c];
  end

  for (genvar b = 0; b < Blocks; b++) begin : gen_block
    assign wl_row[b] = wl_row_i[RowBits*b+:RowBits];
    for (genvar c = 0; c < BlockCols; c++) begin : gen_column
      assign wl_data[b][c] = wl_data_i[Bits*(BlockCols*b+c)+:Bits];
    end
  end

  systole_mxu_array #(.Rows(Rows), .Cols(Cols), .Cell(Cell), .Stages(Stages), .LoadBuses(LoadBuses), .Multipliers(Multipliers)) u_array (
      .clk_i, .enable_i, .vec_bank_i, .vec_i(vec), .sum_i(first), .wl_valid_i, .wl_bank_i, .wl_column_i, .wl_row_i(wl_row), .wl_data_i(wl_data),
      .sum_o(sum)
  );
endmodule
