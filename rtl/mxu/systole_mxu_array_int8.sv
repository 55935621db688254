// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Systolic array of int8 x int8 + int32 cells with skew and deskew, one stage a cell. A vector that enters in cycle t leaves, all columns
// aligned, in cycle t + Rows + Cols + 1; one vector a cycle; never stalls. Holds its registers while enable_i is low (nothing in flight).
// Written as one process over the whole array, rows from the bottom up: the form that simulates fastest (docs/mxu.md).
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_mxu_array_int8 #(
    parameter int unsigned Rows = 8,
    parameter int unsigned Cols = 8
) (
    input  logic                    clk_i,
    input  logic                    enable_i,         // high from a vector's entry until it has left

    input  logic                    vec_bank_i,       // weights that the vector uses
    input  logic [7:0]              vec_i [Rows],

    // Row wl_row_i of a tile into weight bank wl_bank_i. Row r must be written at most r cycles after the bank's first vector
    // enters, and at least Cols + r cycles after the last vector of the tile that was there before.
    input  logic                    wl_valid_i,
    input  logic                    wl_bank_i,
    input  logic [$clog2(Rows)-1:0] wl_row_i,
    input  logic [7:0]              wl_data_i [Cols],

    output logic signed [31:0]      sum_o [Cols]
);
  localparam int unsigned SkewMask = Rows - 1;
  localparam int unsigned DeskewMask = Cols - 1;

  // An activation on its way carries the weight bank in bit 8. A cell holds the weights of both banks.
  logic [15:0]        act_q [Rows][Cols];
  logic [15:0]        weight_q [Rows][Cols];  // {bank 1, bank 0}
  logic signed [31:0] psum_q [Rows][Cols];
  logic [15:0]        skew_q [Rows][Rows];    // ring: [slot][row]
  logic signed [31:0] deskew_q [Cols][Cols];  // ring: [slot][column]
  logic [15:0]        line [Cols];            // scratch of shift(): two plain copies vectorise, one overlapping does not
  logic [31:0]        ptr_q;

  // verilator lint_off UNUSEDSIGNAL
  // int8 cell: product of the activation with the weight of its bank.
  function automatic logic signed [31:0] mac(logic signed [31:0] sum, logic [15:0] act, logic [15:0] weight);
    logic signed [15:0] a, w;
    a = 16'($signed(act[7:0]));
    w = 16'($signed(act[8] ? weight[15:8] : weight[7:0]));
    return sum + 32'(a * w);
  endfunction

  // verilator lint_off BLKSEQ
  task automatic first_row();
    for (int unsigned c = 0; c < Cols; c++) psum_q[0][c] = mac(32'sd0, act_q[0][c], weight_q[0][c]);
  endtask

  task automatic row(int unsigned r);
    for (int unsigned c = 0; c < Cols; c++) psum_q[r][c] = mac(psum_q[r-1][c], act_q[r][c], weight_q[r][c]);
  endtask

  task automatic shift(int unsigned r);
    for (int unsigned c = 0; c < Cols; c++) line[c] = act_q[r][c];
    for (int unsigned c = 0; c < Cols - 1; c++) act_q[r][c+1] = line[c];
  endtask

  // verilator lint_on UNUSEDSIGNAL

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      // Deskew: column c of the bottom row waits Cols - 1 - c cycles.
      for (int unsigned c = 0; c < Cols; c++) deskew_q[ptr_q&DeskewMask][c] = psum_q[Rows-1][c];
      for (int unsigned c = 0; c < Cols; c++) sum_o[c] = deskew_q[(ptr_q+c+1)&DeskewMask][c];
      // Multiply and add, from the bottom row up, so that each row reads the old sums above it.
      for (int unsigned r = Rows - 1; r > 0; r--) begin
        row(r);
        shift(r);
      end
      first_row();
      shift(0);
      // Skew: row r takes its element r cycles after the vector's entry.
      for (int unsigned r = 0; r < Rows; r++) skew_q[ptr_q&SkewMask][r] = {7'd0, vec_bank_i, vec_i[r]};
      for (int unsigned r = 0; r < Rows; r++) act_q[r][0] = skew_q[(ptr_q-r)&SkewMask][r];
      ptr_q = ptr_q + 1;
    end
    if (wl_valid_i) begin
      for (int unsigned c = 0; c < Cols; c++) begin
        weight_q[wl_row_i][c] = wl_bank_i ? {wl_data_i[c], weight_q[wl_row_i][c][7:0]}
                                          : {weight_q[wl_row_i][c][15:8], wl_data_i[c]};
      end
    end
  end
  // verilator lint_on BLKSEQ
endmodule
