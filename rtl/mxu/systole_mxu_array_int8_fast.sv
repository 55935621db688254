// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_mxu_array of int8 cells as its simulation view: one process over the whole array, rows from the bottom up, the form that
// simulates fastest. Everything but sum_o is private to the process. Contract and latency: systole_mxu_array.
// Docs: docs/mxu.md. Test: tests/rtl/mxu, verif/formal.

module systole_mxu_array_int8_fast #(
    parameter int unsigned Rows = 8,
    parameter int unsigned Cols = 8,
    parameter int unsigned Stages = 1
) (
    input  logic                    clk_i,
    input  logic                    enable_i,
    input  logic                    vec_bank_i,
    input  logic [7:0]              vec_i [Rows],

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
  // verilator lint_off UNUSEDSIGNAL
  logic signed [15:0] prod_q [Rows][Cols];    // two stages
  // verilator lint_on UNUSEDSIGNAL
  logic signed [31:0] psum_q [Rows][Cols];
  logic [15:0]        skew_q [Rows][Rows];    // ring: [slot][row]
  logic signed [31:0] deskew_q [Cols][Cols];  // ring: [slot][column]
  logic [15:0]        line [Cols];            // scratch of shift(): two plain copies vectorise, one overlapping does not
  logic signed [31:0] sum_v [Cols];           // what sum_o becomes
  logic [31:0]        ptr_q = 0;              // of the rings: any value does, but not an unknown one

  // verilator lint_off UNUSEDSIGNAL
  // int8 cell: product of the activation with the weight of its bank.
  function automatic logic signed [15:0] product(logic [15:0] act, logic [15:0] weight);
    logic signed [15:0] a, w;
    a = 16'($signed(act[7:0]));
    w = 16'($signed(act[8] ? weight[15:8] : weight[7:0]));
    return a * w;
  endfunction

  // verilator lint_off BLKSEQ
  task automatic first_row();
    for (int unsigned c = 0; c < Cols; c++) begin
      psum_q[0][c] = Stages > 1 ? 32'(prod_q[0][c]) : 32'(product(act_q[0][c], weight_q[0][c]));
      if (Stages > 1) prod_q[0][c] = product(act_q[0][c], weight_q[0][c]);
    end
  endtask

  task automatic row(int unsigned r);
    for (int unsigned c = 0; c < Cols; c++) begin
      psum_q[r][c] = psum_q[r-1][c] + (Stages > 1 ? 32'(prod_q[r][c]) : 32'(product(act_q[r][c], weight_q[r][c])));
      if (Stages > 1) prod_q[r][c] = product(act_q[r][c], weight_q[r][c]);
    end
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
      for (int unsigned c = 0; c < Cols; c++) sum_v[c] = deskew_q[(ptr_q+c+1)&DeskewMask][c];
      sum_o <= sum_v;
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
