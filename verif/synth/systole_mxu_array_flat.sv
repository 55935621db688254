// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_mxu_array with packed ports, for a netlist that keeps its ports.

module systole_mxu_array_flat #(
    parameter int unsigned Rows = 4,
    parameter int unsigned Cols = 4
) (
    input  logic                    clk_i,
    input  logic                    enable_i,
    input  logic                    vec_bank_i,
    input  logic [8*Rows-1:0]       vec_i,
    input  logic                    wl_valid_i,
    input  logic                    wl_bank_i,
    input  logic [$clog2(Rows)-1:0] wl_row_i,
    input  logic [8*Cols-1:0]       wl_data_i,
    output logic [32*Cols-1:0]      sum_o
);
  logic [7:0]         vec [Rows];
  logic [7:0]         wl_data [Cols];
  logic signed [31:0] sum [Cols];

  always_comb begin
    for (int unsigned r = 0; r < Rows; r++) vec[r] = vec_i[8*r+:8];
    for (int unsigned c = 0; c < Cols; c++) wl_data[c] = wl_data_i[8*c+:8];
    for (int unsigned c = 0; c < Cols; c++) sum_o[32*c+:32] = sum[c];
  end

  systole_mxu_array #(
      .Rows(Rows),
      .Cols(Cols)
  ) u_array (
      .clk_i(clk_i),
      .enable_i(enable_i),
      .vec_bank_i(vec_bank_i),
      .vec_i(vec),
      .sum_i('{default: '0}),
      .wl_valid_i(wl_valid_i),
      .wl_bank_i(wl_bank_i),
      .wl_column_i(1'b0),
      .wl_row_i(wl_row_i),
      .wl_data_i(wl_data),
      .sum_o(sum)
  );
endmodule
