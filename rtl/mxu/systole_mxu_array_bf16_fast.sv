// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_mxu_array of bf16 cells as its simulation view: one process over the whole array, rows from the bottom up, the form that
// simulates fastest. Everything but sum_o is private to the process. Contract and latency: systole_mxu_array.
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
  localparam int unsigned RowCycles = row_cycles(Stages);
  localparam int unsigned Ahead = Stages > 1 ? 1 : 0;  // of the multiplier
  localparam int unsigned SkewSlots = 1 << $clog2(Rows * RowCycles);
  localparam int unsigned TopSlots = Cols << Ahead;
  localparam int unsigned BankBit = 30;                // of an activation on its way

  // Operands are recoded where they enter (systole_fp_pkg).
  logic [31:0] act_q [Rows][Cols];
  logic [31:0] weight0_q [Rows][Cols], weight1_q [Rows][Cols];  // banks
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] prod_q [Rows][Cols];                                                          // 2 stages or more
  logic [31:0] value_q [Rows][Cols], info_q [Rows][Cols];                                    // 3 stages or more
  logic [31:0] upper_q [Rows][Cols], lower_q [Rows][Cols], align_info_q [Rows][Cols];        // 4 stages or more
  logic [31:0] norm_q [Rows][Cols], norm_info_q [Rows][Cols];                                // 5 stages
  // verilator lint_on UNUSEDSIGNAL
  logic [31:0] psum_q [Rows][Cols];                             // what row r starts from
  logic [31:0] bottom_q [Cols];                                 // what the last row made
  logic [31:0] skew_q [SkewSlots][Rows];                        // ring: [slot][row]
  logic [31:0] top_q [TopSlots][Cols];                          // ring: [slot][column]
  logic [31:0] deskew_q [Cols][Cols];                           // ring: [slot][column]
  logic [31:0] line [Cols];                                     // scratch of shift(): two plain copies vectorise, one overlapping does not
  logic signed [31:0] sum_v [Cols];                             // what sum_o becomes
  logic [31:0] ptr_q = 0;                                       // of the rings: any value does, but not an unknown one

  // verilator lint_off BLKSEQ
  function automatic logic [31:0] recoded(logic [15:0] x);
    return recode(32'(x), 8, 7, 8);
  endfunction

  function automatic logic [31:0] product(logic [31:0] act, logic [31:0] weight0, logic [31:0] weight1);
    return multiply(act & 32'hBFFF_FFFF, act[BankBit] ? weight1 : weight0, 8, 8);
  endfunction

  // verilator lint_off UNUSEDSIGNAL
  // Each stage of a cell reads what the stage before it left in the last cycle.
  task automatic cell_step(input int unsigned r, input int unsigned c, output logic [31:0] sum);
    logic [31:0] prod, upper, lower, align_info, value, info, norm, norm_info;
    prod = product(act_q[r][c], weight0_q[r][c], weight1_q[r][c]);
    align(Stages > 1 ? prod_q[r][c] : prod, psum_q[r][c], upper, lower, align_info, 8, 7, 8, 23);
    value = Stages > 3 ? add(upper_q[r][c], lower_q[r][c]) : add(upper, lower);
    info  = Stages > 3 ? align_info_q[r][c] : align_info;
    normalise(Stages > 2 ? value_q[r][c] : value, Stages > 2 ? info_q[r][c] : info, norm, norm_info, 8, 8, 23);
    sum = Stages > 4 ? round(norm_q[r][c], norm_info_q[r][c], 8, 23) : round(norm, norm_info, 8, 23);
    if (Stages > 1) prod_q[r][c] = prod;
    if (Stages > 2) begin
      value_q[r][c] = value;
      info_q[r][c]  = info;
    end
    if (Stages > 3) begin
      upper_q[r][c] = upper;
      lower_q[r][c] = lower;
      align_info_q[r][c] = align_info;
    end
    if (Stages > 4) begin
      norm_q[r][c] = norm;
      norm_info_q[r][c] = norm_info;
    end
  endtask

  task automatic row(int unsigned r);
    for (int unsigned c = 0; c < Cols; c++) cell_step(r, c, psum_q[r+1][c]);
  endtask

  task automatic last_row();
    for (int unsigned c = 0; c < Cols; c++) cell_step(Rows - 1, c, bottom_q[c]);
  endtask

  task automatic shift(int unsigned r);
    for (int unsigned c = 0; c < Cols; c++) line[c] = act_q[r][c];
    for (int unsigned c = 0; c < Cols - 1; c++) act_q[r][c+1] = line[c];
  endtask
  // verilator lint_on UNUSEDSIGNAL

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      // Deskew: column c of the bottom row waits Cols - 1 - c cycles.
      for (int unsigned c = 0; c < Cols; c++) deskew_q[ptr_q&(Cols-1)][c] = bottom_q[c];
      for (int unsigned c = 0; c < Cols; c++) sum_v[c] = deskew_q[(ptr_q+c+1)&(Cols-1)][c];
      sum_o <= sum_v;
      // From the bottom row up, so that each row reads the old sums above it.
      last_row();
      shift(Rows - 1);
      for (int unsigned r = Rows - 1; r > 0; r--) begin
        row(r - 1);
        shift(r - 1);
      end
      // Skew: row r takes its element r * RowCycles cycles after the vector's entry, column c its sum c + Ahead cycles after it.
      for (int unsigned r = 0; r < Rows; r++) skew_q[ptr_q&(SkewSlots-1)][r] = recoded(vec_i[r]) | (vec_bank_i ? 32'd1 << BankBit : 32'd0);
      for (int unsigned r = 0; r < Rows; r++) act_q[r][0] = skew_q[(ptr_q-r*RowCycles)&(SkewSlots-1)][r];
      for (int unsigned c = 0; c < Cols; c++) top_q[ptr_q&(TopSlots-1)][c] = sum_i[c];
      for (int unsigned c = 0; c < Cols; c++) psum_q[0][c] = top_q[(ptr_q-c-Ahead)&(TopSlots-1)][c];
      ptr_q = ptr_q + 1;
    end
    if (wl_valid_i && wl_column_i) begin
      for (int unsigned r = 0; r < Rows; r++) begin
        if (wl_bank_i) weight1_q[r][wl_row_i] = recoded(wl_data_i[r]);
        else weight0_q[r][wl_row_i] = recoded(wl_data_i[r]);
      end
    end else if (wl_valid_i) begin
      for (int unsigned c = 0; c < Cols; c++) begin
        if (wl_bank_i) weight1_q[wl_row_i][c] = recoded(wl_data_i[c]);
        else weight0_q[wl_row_i][c] = recoded(wl_data_i[c]);
      end
    end
  end
  // verilator lint_on BLKSEQ
endmodule
