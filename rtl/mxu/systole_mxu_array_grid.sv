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
    parameter int unsigned LoadBuses = 1,
    parameter int unsigned Multipliers = Rows * Cols,         // int8: cells with a multiplier block, evenly spread; the others multiply in logic
    localparam int unsigned ElementBits = element_bits(Cell),
    localparam int unsigned Blocks = LoadBuses * LoadBuses,
    localparam int unsigned BlockRows = Rows / LoadBuses,
    localparam int unsigned BlockCols = Cols / LoadBuses
) (
    input  logic                    clk_i,
    input  logic                    enable_i,
    input  logic                    vec_bank_i,
    input  logic [ElementBits-1:0]  vec_i [Rows],
    // verilator lint_off UNUSEDSIGNAL
    input  logic signed [31:0]      sum_i [Cols],
    // verilator lint_on UNUSEDSIGNAL
    input  logic [Blocks-1:0]       wl_valid_i,
    input  logic [Blocks-1:0]       wl_bank_i,
    input  logic [Blocks-1:0]       wl_column_i,
    input  logic [$clog2(BlockRows)-1:0] wl_row_i [Blocks],
    input  logic [ElementBits-1:0]  wl_data_i [Blocks][BlockCols],
    output logic signed [31:0]      sum_o [Cols]
);
  localparam bit          Bf16 = Cell == CellBf16;
  localparam int unsigned RowCycles = row_cycles(Stages);
  localparam int unsigned Ahead = Stages > 1 ? 1 : 0;                   // lead of the multiplier stage, in cycles
  localparam int unsigned WeightBits = Bf16 ? OperandBits : 8;
  localparam int unsigned BottomBits = Bf16 ? 32 : int8_sum_bits(Rows);  // width of the sums that leave the last row

  localparam int unsigned Group = 4;           // columns of a block whose weights are written in the same cycle
  localparam int unsigned Groups = (BlockCols + Group - 1) / Group;

  // act[r][c] and sum[r][c] are the inputs of cell (r, c). A cell's outputs are registered.
  logic [WeightBits:0]   act [Rows][Cols+1];
  logic signed [31:0]    sum [Rows+1][Cols];
  logic [WeightBits-1:0] lane [Blocks][BlockCols];  // weights being written
  logic [BlockRows-1:0]  row_write [Blocks];
  logic [BlockCols-1:0]  column_write [Blocks];
  logic [1:0]            bank_write [Blocks];
  // verilator lint_off UNUSEDSIGNAL
  logic                  unused;
  // verilator lint_on UNUSEDSIGNAL

  assign unused = ^act[0][Cols] ^ (Rows > 1 ? ^act[Rows-1][Cols] : 1'b0);

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
  end

  for (genvar c = 0; c < Cols; c++) begin : gen_edges
    if (Bf16) begin : gen_bf16
      // Column c takes its sum c + Ahead cycles after the vector's entry.
      systole_mxu_delay #(.Width(32), .Cycles(c + Ahead + 1)) u_top (.clk_i, .enable_i, .d_i(sum_i[c]), .q_o(sum[0][c]));
    end else begin : gen_int8
      assign sum[0][c] = '0;
    end
    // Deskew: column c of the bottom row waits Cols - 1 - c cycles for the last column.
    logic signed [BottomBits-1:0] bottom;
    systole_mxu_delay #(.Width(BottomBits), .Cycles(Cols - c)) u_deskew (.clk_i, .enable_i, .d_i(BottomBits'(sum[Rows][c])), .q_o(bottom));
    assign sum_o[c] = 32'(bottom);
  end

  for (genvar b = 0; b < Blocks; b++) begin : gen_writes
    assign bank_write[b] = {wl_bank_i[b], !wl_bank_i[b]};
    for (genvar r = 0; r < BlockRows; r++) begin : gen_block_row
      assign row_write[b][r] = wl_valid_i[b] && !(Bf16 && wl_column_i[b]) && 32'(wl_row_i[b]) == r;
    end
    for (genvar c = 0; c < BlockCols; c++) begin : gen_block_column
      assign column_write[b][c] = wl_valid_i[b] && Bf16 && wl_column_i[b] && 32'(wl_row_i[b]) == c;
      if (Bf16) begin : gen_bf16
        assign lane[b][c] = pack_operand(recode(32'(wl_data_i[b][c]), 8, 7, 8));
      end else begin : gen_int8
        assign lane[b][c] = wl_data_i[b][c];
      end
    end
  end

  // int8: weights of a block are written in groups of columns, each group one cycle after the one to its left. Vectors
  // reach a group no earlier, and the write enable of a row fans out to one group only.
  // verilator lint_off UNUSEDSIGNAL
  logic [1:0]            late_write [Blocks][BlockRows][Groups];
  logic [WeightBits-1:0] late_lane [Blocks][BlockCols];
  // verilator lint_on UNUSEDSIGNAL
  for (genvar b = 0; b < Blocks; b++) begin : gen_late
    for (genvar r = 0; r < BlockRows; r++) begin : gen_block_row
      assign late_write[b][r][0] = row_write[b][r] ? bank_write[b] : '0;
      for (genvar g = 1; g < Groups; g++) begin : gen_group
        systole_mxu_delay #(.Width(2), .Cycles(1)) u_write (
            .clk_i, .enable_i(1'b1), .d_i(late_write[b][r][g-1]), .q_o(late_write[b][r][g])
        );
      end
    end
    for (genvar c = 0; c < BlockCols; c++) begin : gen_block_column
      systole_mxu_delay #(.Width(WeightBits), .Cycles(Bf16 ? 0 : c / Group)) u_lane (
          .clk_i, .enable_i(1'b1), .d_i(lane[b][c]), .q_o(late_lane[b][c])
      );
    end
  end

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    for (genvar c = 0; c < Cols; c++) begin : gen_column
      // The cell is in row R and column C of block B.
      localparam int unsigned B = r / BlockRows * LoadBuses + c / BlockCols;
      localparam int unsigned R = r % BlockRows;
      localparam int unsigned C = c % BlockCols;
      if (Bf16) begin : gen_bf16
        logic [1:0] wl_valid;
        assign wl_valid = row_write[B][R] || column_write[B][C] ? bank_write[B] : '0;
        systole_mxu_cell_bf16 #(.Stages(Stages)) u_cell (
            .clk_i, .enable_i, .act_i(act[r][c]), .sum_i(sum[r][c]), .wl_valid_i(wl_valid),
            .wl_data_i(wl_column_i[B] ? lane[B][R] : lane[B][C]), .act_o(act[r][c+1]), .sum_o(sum[r+1][c])
        );
      end else begin : gen_int8
        localparam longint unsigned Before = longint'(r * Cols + c);  // cells before this one
        localparam bit Logic = Before * Multipliers / (Rows * Cols) == (Before + 1) * Multipliers / (Rows * Cols);
        systole_mxu_cell_int8 #(.Stages(Stages), .SumBits(int8_sum_bits(r + 1)), .Logic(Logic)) u_cell (
            .clk_i, .enable_i, .act_i(act[r][c]), .sum_i(sum[r][c]), .wl_valid_i(late_write[B][R][C/Group]),
            .wl_data_i(late_lane[B][C]), .act_o(act[r][c+1]), .sum_o(sum[r+1][c])
        );
      end
    end
  end

  initial a_shape : assert (!Bf16 || Rows == Cols);
endmodule
