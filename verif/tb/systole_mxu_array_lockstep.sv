// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bound to an array that is a grid. It runs the fast view in parallel with the same inputs. Once a vector with known
// weights has entered, both outputs must be equal in every cycle, even between valid vectors. Vectors whose weights are
// written while they are in flight are exempt, because they violate the array's contract.

module systole_mxu_array_lockstep
  import systole_presets_pkg::*;
  import systole_mxu_pkg::*;
#(
    parameter int unsigned Rows = 8,
    parameter int unsigned Cols = 8,
    parameter int unsigned Cell = CellInt8,
    parameter int unsigned Stages = 1,
    parameter int unsigned LoadBuses = 1,
    localparam int unsigned ElementBits = element_bits(Cell),
    localparam int unsigned Blocks = LoadBuses * LoadBuses,
    localparam int unsigned BlockRows = Rows / LoadBuses,
    localparam int unsigned BlockCols = Cols / LoadBuses
) (
    input logic                    clk_i,
    input logic                    enable_i,
    input logic                    vec_bank_i,
    input logic [ElementBits-1:0]  vec_i [Rows],
    input logic signed [31:0]      sum_i [Cols],
    input logic [Blocks-1:0]       wl_valid_i,
    input logic [Blocks-1:0]       wl_bank_i,
    input logic [Blocks-1:0]       wl_column_i,
    input logic [$clog2(BlockRows)-1:0] wl_row_i [Blocks],
    input logic [ElementBits-1:0]  wl_data_i [Blocks][BlockCols],
    input logic signed [31:0]      sum_o [Cols]
);
  localparam int unsigned Latency = array_latency(Rows, Cols, Stages);

  logic signed [31:0] sum_fast [Cols];
  logic               reset_q = 1'b0; // set by the first edge: inputs are unknown before
  logic [1:0]         loaded_q = '0;  // a tile of the bank, or the first row of its block 0, is written
  logic [1:0]         loads;
  logic [Latency-1:0] known_q = '0;   // vectors in flight whose weights are known, the newest in bit 0
  logic [Latency-1:0] bank_q = '0;    // their banks
  logic [Latency-1:0] known;
  int unsigned        from, to;       // range of the vectors in flight that a written weight affects
  logic               equal;

  if (Cell == CellInt8) begin : gen_int8
    systole_mxu_array_int8_fast #(.Rows(Rows), .Cols(Cols), .Stages(Stages), .LoadBuses(LoadBuses)) u_fast (
        .clk_i, .enable_i, .vec_bank_i, .vec_i, .wl_valid_i, .wl_bank_i, .wl_row_i, .wl_data_i, .sum_o(sum_fast)
    );
  end else begin : gen_bf16
    systole_mxu_array_bf16_fast #(.Rows(Rows), .Cols(Cols), .Stages(Stages), .LoadBuses(LoadBuses)) u_fast (
        .clk_i, .enable_i, .vec_bank_i, .vec_i, .sum_i, .wl_valid_i, .wl_bank_i, .wl_column_i, .wl_row_i, .wl_data_i, .sum_o(sum_fast)
    );
  end

  assign loads = loaded_q | (reset_q && wl_valid_i[0] && wl_row_i[0] == '0 ? {wl_bank_i[0], !wl_bank_i[0]} : '0);

  always_ff @(posedge clk_i) begin
    reset_q  <= 1'b1;
    loaded_q <= loads;
    known_q  <= enable_i ? {known[Latency-2:0], loads[vec_bank_i]} : known;
    if (enable_i) bank_q <= {bank_q[Latency-2:0], vec_bank_i};
  end

  always_comb begin
    // Activations wait for their row, then reach one column after the other.
    known = known_q;
    for (int unsigned b = 0; b < Blocks; b++) begin
      if (Cell == CellBf16 && wl_column_i[b]) begin
        from = 32'(wl_row_i[b]);
        to   = 32'(wl_row_i[b]) + (BlockRows - 1) * row_cycles(Stages) + 1;
      end else begin
        from = 32'(wl_row_i[b]) * row_cycles(Stages);
        to   = 32'(wl_row_i[b]) * row_cycles(Stages) + BlockCols;
      end
      from += block_offset(Rows, Cols, Stages, LoadBuses, b);
      to   += block_offset(Rows, Cols, Stages, LoadBuses, b);
      for (int unsigned i = 0; i < Latency; i++) begin
        // With enable_i, the vector advances to i + 1 cycles after its entry; otherwise it stays at i.
        if (wl_valid_i[b] && bank_q[i] == wl_bank_i[b] && i + 32'(enable_i) > from && i + 32'(enable_i) < to) known[i] = 1'b0;
      end
    end
  end

  always_comb begin
    equal = 1'b1;
    for (int unsigned c = 0; c < Cols; c++) equal = equal && sum_o[c] == sum_fast[c];
  end

  always_ff @(posedge clk_i) begin
    a_views : assert (!known_q[Latency-1] || equal);
  end
endmodule

bind systole_mxu_array systole_mxu_array_lockstep #(
    .Rows(Rows), .Cols(Cols), .Cell(Cell), .Stages(Stages), .LoadBuses(LoadBuses)
) u_lockstep (
    .clk_i, .enable_i, .vec_bank_i, .vec_i, .sum_i, .wl_valid_i, .wl_bank_i, .wl_column_i, .wl_row_i, .wl_data_i, .sum_o
);
