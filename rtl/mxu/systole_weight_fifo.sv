// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Weight FIFO: beats of D bytes in, rows of Cols elements out. Beats are never stalled, because the loader holds
// credits. Tiles leave whole, one row per cycle: tile_o says that a complete tile is there, and read_i must then be
// high for Rows cycles. Latency: a row follows read_i by two cycles.
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_weight_fifo
  import systole_presets_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano),
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned ElementBits = 8 * element_bytes(Cfg)
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        flush_i,  // discard all contents (start of a program)

    input  logic                        wf_valid_i,
    input  logic [D*8-1:0]              wf_data_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic                        wf_transpose_i,  // the rows of the tile are columns of the array
    // verilator lint_on UNUSEDSIGNAL
    output logic [15:0]                 wf_free_o,  // free space in beats

    output logic                        tile_o,   // at least one complete tile is held
    input  logic                        read_i,   // read the next row
    output logic                        row_valid_o,
    output logic                        row_transpose_o,
    output logic [ElementBits-1:0]      row_o [Cfg.Cols]
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned RowBytes = Cols * element_bytes(Cfg);
  localparam int unsigned WordBytes = D > RowBytes ? D : RowBytes;
  localparam int unsigned BeatsPerWord = WordBytes / D;
  localparam int unsigned RowsPerWord = WordBytes / RowBytes;
  localparam int unsigned WordsPerTile = tile_bytes(Cfg) / WordBytes;
  localparam int unsigned Depth = Cfg.WfifoTiles * WordsPerTile;
  localparam int unsigned PtrBits = $clog2(Depth);
  localparam int unsigned CountBits = $clog2(Depth + 1);
  localparam int unsigned SubBits = RowsPerWord > 1 ? $clog2(RowsPerWord) : 1;

  logic [PtrBits-1:0]     wr_ptr_q, rd_ptr_q;
  logic [CountBits-1:0]   words_q;     // complete words held
  logic [15:0]            free_q;      // free space in beats
  logic                   push, pop;   // push, pop of a word
  logic [WordBytes*8-1:0] wdata, rdata;
  logic [SubBits-1:0]     sub_q, sub1_q;
  logic                   read1_q;

  if (BeatsPerWord > 1) begin : gen_assemble
    localparam int unsigned BeatBits = $clog2(BeatsPerWord);
    logic [BeatBits-1:0]          beat_q;
    logic [WordBytes*8-D*8-1:0]   held_q;  // earlier beats of the word
    assign push  = wf_valid_i && beat_q == BeatBits'(BeatsPerWord - 1);
    assign wdata = {wf_data_i, held_q};
    always_ff @(posedge clk_i) begin
      if (!rst_ni || flush_i) beat_q <= '0;
      else if (wf_valid_i) beat_q <= beat_q + 1'b1;
      for (int unsigned i = 0; i < BeatsPerWord - 1; i++) begin
        if (wf_valid_i && beat_q == BeatBits'(i)) held_q[i*D*8+:D*8] <= wf_data_i;
      end
    end
  end else begin : gen_direct
    assign push  = wf_valid_i;
    assign wdata = wf_data_i;
  end

  // A word is read with its first row.
  assign pop       = read_i && sub_q == '0;
  assign tile_o    = 32'(words_q) >= WordsPerTile;
  assign wf_free_o = free_q;

  systole_prim_ram_1r1w #(.Width(WordBytes * 8), .Depth(Depth), .AnyOnCollision(1'b1), .Style("block")) u_ram (
      .clk_i, .we_i(push), .waddr_i(wr_ptr_q), .wdata_i(wdata), .re_i(pop), .raddr_i(rd_ptr_q), .rdata_o(rdata)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush_i) begin
      wr_ptr_q    <= '0;
      rd_ptr_q    <= '0;
      words_q     <= '0;
      free_q      <= 16'(Depth * BeatsPerWord);
      sub_q       <= '0;
      read1_q     <= 1'b0;
      row_valid_o <= 1'b0;
    end else begin
      if (push) wr_ptr_q <= 32'(wr_ptr_q) == Depth - 1 ? '0 : wr_ptr_q + 1'b1;
      if (pop) rd_ptr_q <= 32'(rd_ptr_q) == Depth - 1 ? '0 : rd_ptr_q + 1'b1;
      words_q     <= words_q + CountBits'(push) - CountBits'(pop);
      free_q      <= free_q - 16'(wf_valid_i) + (pop ? 16'(BeatsPerWord) : 16'd0);
      if (read_i) sub_q <= 32'(sub_q) == RowsPerWord - 1 ? '0 : sub_q + 1'b1;
      read1_q     <= read_i;
      row_valid_o <= read1_q;
    end
  end

  // One bit per tile, read with the tile's first word, because the next tile may overwrite the entry after that.
  if (Cfg.Cell == CellBf16) begin : gen_transpose
    logic transpose_q [Cfg.WfifoTiles];
    logic transpose1_q;
    always_ff @(posedge clk_i) begin
      if (push) transpose_q[32'(wr_ptr_q)/WordsPerTile] <= wf_transpose_i;
      if (pop && 32'(rd_ptr_q) % WordsPerTile == 0) transpose1_q <= transpose_q[32'(rd_ptr_q)/WordsPerTile];
      if (read1_q) row_transpose_o <= transpose1_q;
    end
  end else begin : gen_rows
    assign row_transpose_o = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    logic [ElementBits-1:0] row [Cols];
    sub1_q <= sub_q;
    if (read1_q) begin
      for (int unsigned c = 0; c < Cols; c++) row[c] = rdata[(32'(sub1_q)*Cols+c)*ElementBits+:ElementBits];
      row_o <= row;
    end
  end

  // Checks: the loader never overflows the FIFO; the array reads only words that are held.
  always_ff @(posedge clk_i) begin
    if (rst_ni && !flush_i) begin
      a_room : assert (!wf_valid_i || free_q != '0);
      a_words : assert (!pop || words_q != '0);
    end
  end
endmodule
