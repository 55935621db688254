// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A block of the weight FIFO: the words of one block of each tile, in a memory of their own, and what reads them. A
// word holds RowsPerWord rows of the block. Once started, the block of the oldest tile leaves, one row per cycle, for
// BlockRows cycles. Latency: the first row follows start_i by two cycles.
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_weight_block #(
    parameter int unsigned BlockRows = 8,
    parameter int unsigned BlockCols = 8,
    parameter int unsigned ElementBits = 8,
    parameter int unsigned RowsPerWord = 1,
    parameter int unsigned Depth = 64,        // words
    localparam int unsigned WordBits = RowsPerWord * BlockCols * ElementBits
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         clear_i,      // start of a program: no words, bank 0 is next

    input  logic                         we_i,
    input  logic [WordBits-1:0]          wdata_i,

    input  logic                         start_i,
    input  logic                         transpose_i,  // with start_i: the rows are columns of the array
    output logic                         pop_o,        // a word is read
    output logic                         row_valid_o,
    output logic                         row_bank_o,
    output logic                         row_transpose_o,
    output logic [$clog2(BlockRows)-1:0] row_index_o,
    output logic [ElementBits-1:0]       row_o [BlockCols]
);
  localparam int unsigned PtrBits = $clog2(Depth);
  localparam int unsigned IndexBits = $clog2(BlockRows);
  localparam int unsigned SubBits = RowsPerWord > 1 ? $clog2(RowsPerWord) : 1;

  logic [PtrBits-1:0]   wr_ptr_q, rd_ptr_q;
  logic [IndexBits-1:0] index_q, index1_q;
  logic                 read, busy_q, read1_q, bank_q, bank1_q, transpose_q, transpose1_q;
  logic [SubBits-1:0]   sub, sub1_q;
  logic [WordBits-1:0]  rdata;

  assign read  = start_i || busy_q;
  assign sub   = RowsPerWord > 1 ? SubBits'(index_q) : '0;
  assign pop_o = read && sub == '0;

  systole_prim_ram_1r1w #(.Width(WordBits), .Depth(Depth), .AnyOnCollision(1'b1), .Style("block")) u_ram (
      .clk_i, .we_i, .waddr_i(wr_ptr_q), .wdata_i, .re_i(pop_o), .raddr_i(rd_ptr_q), .rdata_o(rdata)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      wr_ptr_q    <= '0;
      rd_ptr_q    <= '0;
      index_q     <= '0;
      busy_q      <= 1'b0;
      bank_q      <= 1'b0;
      read1_q     <= 1'b0;
      row_valid_o <= 1'b0;
    end else begin
      if (we_i) wr_ptr_q <= 32'(wr_ptr_q) == Depth - 1 ? '0 : wr_ptr_q + 1'b1;
      if (pop_o) rd_ptr_q <= 32'(rd_ptr_q) == Depth - 1 ? '0 : rd_ptr_q + 1'b1;
      if (read) begin
        index_q <= index_q + 1'b1;
        busy_q  <= 32'(index_q) != BlockRows - 1;
        if (32'(index_q) == BlockRows - 1) bank_q <= !bank_q;
      end
      read1_q     <= read;
      row_valid_o <= read1_q;
    end
  end

  always_ff @(posedge clk_i) begin
    logic [ElementBits-1:0] row [BlockCols];
    if (start_i) transpose_q <= transpose_i;
    index1_q     <= index_q;
    sub1_q       <= sub;
    bank1_q      <= bank_q;
    transpose1_q <= start_i ? transpose_i : transpose_q;
    if (read1_q) begin
      for (int unsigned c = 0; c < BlockCols; c++) row[c] = rdata[(32'(sub1_q)*BlockCols+c)*ElementBits+:ElementBits];
      row_o           <= row;
      row_index_o     <= index1_q;
      row_bank_o      <= bank1_q;
      row_transpose_o <= transpose1_q;
    end
  end

  // Check: a block is started when the one before has left.
  always_ff @(posedge clk_i) if (rst_ni && !clear_i) a_start : assert (!start_i || !busy_q);
endmodule
