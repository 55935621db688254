// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Square matrices of N x N elements, written a row a cycle and read a column a cycle. N memories; element (row, column) lies in memory
// (row + column) mod N, so that a row and a column each touch every memory once: a rotation on the way in and one on the way out.
// Column data three cycles after re_i; a row is there for a read from the cycle after we_i on. Docs: docs/cells.md.
// Test: tests/rtl/mxu.

module systole_transpose_ram #(
    parameter int unsigned N = 8,                         // a power of two
    parameter int unsigned Width = 16,
    parameter int unsigned Matrices = 2,                  // a power of two
    localparam int unsigned IndexBits = $clog2(N),
    localparam int unsigned PickBits = Matrices > 1 ? $clog2(Matrices) : 1
) (
    input  logic                 clk_i,

    input  logic                 we_i,
    input  logic [PickBits-1:0]  wmatrix_i,
    input  logic [IndexBits-1:0] wrow_i,
    input  logic [Width-1:0]     wdata_i [N],

    input  logic                 re_i,
    input  logic [PickBits-1:0]  rmatrix_i,
    input  logic [IndexBits-1:0] rcolumn_i,
    output logic [Width-1:0]     rdata_o [N]   // element i: row i of the column
);
  localparam int unsigned Depth = N * Matrices;
  localparam int unsigned AddrBits = $clog2(Depth);
  localparam int unsigned Mask = N - 1;

  // A row of a matrix is a word of each memory.
  function automatic logic [AddrBits-1:0] word(logic [PickBits-1:0] matrix, int unsigned row);
    return AddrBits'((32'(matrix) * N) | (row & Mask));
  endfunction

  logic                 read1_q, read2_q;
  logic [PickBits-1:0]  matrix1_q;
  logic [IndexBits-1:0] column1_q, column2_q;
  logic [Width-1:0]     rdata [N];

  for (genvar m = 0; m < N; m++) begin : gen_memory
    systole_prim_ram_1r1w #(.Width(Width), .Depth(Depth)) u_ram (
        .clk_i,
        .we_i, .waddr_i(word(wmatrix_i, 32'(wrow_i))), .wdata_i(wdata_i[IndexBits'(m-32'(wrow_i))]),
        .re_i(read1_q), .raddr_i(word(matrix1_q, m - 32'(column1_q))), .rdata_o(rdata[m])
    );
  end

  always_ff @(posedge clk_i) begin
    logic [Width-1:0] column [N];
    read1_q <= re_i;
    read2_q <= read1_q;
    if (re_i) begin
      matrix1_q <= rmatrix_i;
      column1_q <= rcolumn_i;
    end
    if (read1_q) column2_q <= column1_q;
    if (read2_q) begin
      for (int unsigned i = 0; i < N; i++) column[i] = rdata[IndexBits'(i+32'(column2_q))];
      rdata_o <= column;
    end
  end
endmodule
