// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Synthesisable view of systole_mxu_array: a grid of cells with shift registers for skew and deskew. Activations move
// right, one column per cycle; sums move down, one row per row_cycles. Contract and latency: systole_mxu_array.
// Docs: docs/mxu.md. Test: tests/rtl/mxu, verif/formal.

module systole_mxu_array_grid
  import systole_presets_pkg::*;
  import systole_fp_pkg::*;
  import systole_mxu_pkg::*;
#(
    parameter int unsigned Rows = 8,
    parameter int unsigned Cols = 8,
    parameter int unsigned Cell = CellInt8,
    parameter int unsigned Stages = 1,
    parameter int unsigned Multipliers = Rows * Cols,         // int8: cells with a multiplier block, evenly spread; the others multiply in logic
    localparam int unsigned ElementBits = element_bits(Cell)
) (
    input  logic                    clk_i,
    input  logic                    enable_i,
    input  logic                    vec_bank_i,
    input  logic [ElementBits-1:0]  vec_i [Rows],
    // verilator lint_off UNUSEDSIGNAL
    input  logic signed [31:0]      sum_i [Cols],
    // verilator lint_on UNUSEDSIGNAL
    input  logic                    wl_valid_i,
    input  logic                    wl_bank_i,
    input  logic                    wl_column_i,
    input  logic [$clog2(Rows)-1:0] wl_row_i,
    input  logic [ElementBits-1:0]  wl_data_i [Cols],
    output logic signed [31:0]      sum_o [Cols]
);
  localparam bit          Bf16 = Cell == CellBf16;
  localparam int unsigned RowCycles = row_cycles(Stages);
  localparam int unsigned Ahead = Stages > 1 ? 1 : 0;                   // lead of the multiplier stage, in cycles
  localparam int unsigned WeightBits = Bf16 ? OperandBits : 8;
  localparam int unsigned BottomBits = Bf16 ? 32 : int8_sum_bits(Rows);  // width of the sums that leave the last row

  localparam int unsigned Group = 4;           // columns whose weights are written in the same cycle
  localparam int unsigned Groups = (Cols + Group - 1) / Group;

  // act[r][c] and sum[r][c] are the inputs of cell (r, c). A cell's outputs are registered.
  logic [WeightBits:0]   act [Rows][Cols+1];
  logic signed [31:0]    sum [Rows+1][Cols];
  logic [WeightBits-1:0] lane [Cols];       // weights being written
  logic [Rows-1:0]       row_write;
  logic [Cols-1:0]       column_write;
  logic [1:0]            bank_write;
  // verilator lint_off UNUSEDSIGNAL
  logic                  unused;
  // verilator lint_on UNUSEDSIGNAL

  assign bank_write = {wl_bank_i, !wl_bank_i};
  assign unused     = ^act[0][Cols] ^ (Rows > 1 ? ^act[Rows-1][Cols] : 1'b0);

  for (genvar r = 0; r < Rows; r++) begin : gen_skew
    logic [WeightBits-1:0] element;
    if (Bf16) begin : gen_bf16
      assign element = pack_operand(recode(32'(vec_i[r]), 8, 7, 8));
    end else begin : gen_int8
      assign element = vec_i[r];
    end
    // Skew: row r takes its element r * RowCycles cycles after the vector's entry, into the input register of its first
    // cell.
    systole_mxu_delay #(.Width(WeightBits + 1), .Cycles(r * RowCycles)) u_skew (
        .clk_i, .enable_i, .d_i({vec_bank_i, element}), .q_o(act[r][0])
    );
    assign row_write[r] = wl_valid_i && !(Bf16 && wl_column_i) && 32'(wl_row_i) == r;
  end

  for (genvar c = 0; c < Cols; c++) begin : gen_edges
    if (Bf16) begin : gen_bf16
      assign lane[c] = pack_operand(recode(32'(wl_data_i[c]), 8, 7, 8));
      // Column c takes its sum c + Ahead cycles after the vector's entry.
      systole_mxu_delay #(.Width(32), .Cycles(c + Ahead + 1)) u_top (.clk_i, .enable_i, .d_i(sum_i[c]), .q_o(sum[0][c]));
    end else begin : gen_int8
      assign lane[c]   = wl_data_i[c];
      assign sum[0][c] = '0;
    end
    assign column_write[c] = wl_valid_i && Bf16 && wl_column_i && 32'(wl_row_i) == c;
    // Deskew: column c of the bottom row waits Cols - 1 - c cycles for the last column.
    logic signed [BottomBits-1:0] bottom;
    systole_mxu_delay #(.Width(BottomBits), .Cycles(Cols - c)) u_deskew (.clk_i, .enable_i, .d_i(BottomBits'(sum[Rows][c])), .q_o(bottom));
    assign sum_o[c] = 32'(bottom);
  end

  // int8: weights are written in groups of columns, each group one cycle after the one to its left. Vectors reach a
  // group no earlier, and the write enable of a row fans out to one group only.
  // verilator lint_off UNUSEDSIGNAL
  logic [1:0]            late_write [Rows][Groups];
  logic [WeightBits-1:0] late_lane [Cols];
  // verilator lint_on UNUSEDSIGNAL
  for (genvar r = 0; r < Rows; r++) begin : gen_late_row
    assign late_write[r][0] = row_write[r] ? bank_write : '0;
    for (genvar g = 1; g < Groups; g++) begin : gen_group
      systole_mxu_delay #(.Width(2), .Cycles(1)) u_write (.clk_i, .enable_i(1'b1), .d_i(late_write[r][g-1]), .q_o(late_write[r][g]));
    end
  end
  for (genvar c = 0; c < Cols; c++) begin : gen_late_column
    systole_mxu_delay #(.Width(WeightBits), .Cycles(Bf16 ? 0 : c / Group)) u_lane (
        .clk_i, .enable_i(1'b1), .d_i(lane[c]), .q_o(late_lane[c])
    );
  end

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    for (genvar c = 0; c < Cols; c++) begin : gen_column
      if (Bf16) begin : gen_bf16
        logic [1:0] wl_valid;
        assign wl_valid = row_write[r] || column_write[c] ? bank_write : '0;
        systole_mxu_cell_bf16 #(.Stages(Stages)) u_cell (
            .clk_i, .enable_i, .act_i(act[r][c]), .sum_i(sum[r][c]), .wl_valid_i(wl_valid),
            .wl_data_i(wl_column_i ? lane[r] : lane[c]), .act_o(act[r][c+1]), .sum_o(sum[r+1][c])
        );
      end else begin : gen_int8
        localparam longint unsigned Before = longint'(r * Cols + c);  // cells before this one
        localparam bit Logic = Before * Multipliers / (Rows * Cols) == (Before + 1) * Multipliers / (Rows * Cols);
        systole_mxu_cell_int8 #(.Stages(Stages), .SumBits(int8_sum_bits(r + 1)), .Logic(Logic)) u_cell (
            .clk_i, .enable_i, .act_i(act[r][c]), .sum_i(sum[r][c]), .wl_valid_i(late_write[r][c/Group]),
            .wl_data_i(late_lane[c]), .act_o(act[r][c+1]), .sum_o(sum[r+1][c])
        );
      end
    end
  end

  initial a_shape : assert (!Bf16 || Rows == Cols);
endmodule
