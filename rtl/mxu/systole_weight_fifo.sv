// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Weight FIFO: beats of D bytes in, tiles out, each in LoadBuses x LoadBuses blocks. Beats are never stalled, because
// the loader holds credits. tile_o says that a complete tile is there; load_i lets it leave. Block b begins
// block_offset(b) cycles after block 0, as vectors reach it, and takes BlockRows cycles, a row each, so a tile may
// follow BlockRows cycles after the one before. Latency: the first row of block 0 follows load_i by two cycles.
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_weight_fifo
  import systole_presets_pkg::*;
  import systole_mxu_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano),
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned ElementBits = 8 * element_bytes(Cfg),
    localparam int unsigned Blocks = Cfg.LoadBuses * Cfg.LoadBuses,
    localparam int unsigned BlockRows = Cfg.Rows / Cfg.LoadBuses,
    localparam int unsigned BlockCols = Cfg.Cols / Cfg.LoadBuses
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

    output logic                        tile_o,   // at least one complete tile is held that has not begun to leave
    input  logic                        load_i,   // a tile begins to leave
    output logic [Blocks-1:0]           row_valid_o,
    output logic [Blocks-1:0]           row_bank_o,       // tiles go to bank 0 and 1 in turns, from bank 0 on
    output logic [Blocks-1:0]           row_transpose_o,
    output logic [$clog2(BlockRows)-1:0] row_index_o [Blocks],
    output logic [ElementBits-1:0]      row_o [Blocks][BlockCols]
);
  localparam int unsigned RowBytes = Cfg.Cols * element_bytes(Cfg);
  localparam int unsigned WordBytes = D > RowBytes ? D : RowBytes;
  localparam int unsigned BeatsPerWord = WordBytes / D;
  localparam int unsigned RowsPerWord = WordBytes / RowBytes;
  localparam int unsigned WordsPerTile = tile_bytes(Cfg) / WordBytes;
  localparam int unsigned WordsPerBlock = WordsPerTile / Cfg.LoadBuses;  // of a block's memory
  localparam int unsigned PartBits = WordBytes * 8 / Cfg.LoadBuses;
  localparam int unsigned WordBits = WordsPerTile > 1 ? $clog2(WordsPerTile) : 1;
  localparam int unsigned TileBits = $clog2(Cfg.WfifoTiles);
  localparam int unsigned LastOffset = block_offset(Cfg.Rows, Cfg.Cols, Cfg.CellStages, Cfg.LoadBuses, Blocks - 1);
  localparam int unsigned Loads = LastOffset / BlockRows + 1;            // tiles of which a block has not begun to leave
  localparam int unsigned AgeBits = $clog2(LastOffset + 2);

  logic                   push;       // of a word
  logic [WordBytes*8-1:0] wdata;
  logic [WordBits-1:0]    word_q;     // of the tile
  logic [TileBits:0]      tiles_q;    // complete tiles that have not begun to leave
  logic                   tile_in;    // a tile is complete
  logic [15:0]            free_q;     // free space in beats
  logic                   wr_transpose, rd_transpose;
  logic [Blocks-1:0]      start, start_transpose, pop;

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

  assign tile_in   = push && 32'(word_q) == WordsPerTile - 1;
  assign tile_o    = tiles_q != '0;
  assign wf_free_o = free_q;

  // The last block is the last to leave, so its words make room for those of all blocks.
  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush_i) begin
      word_q  <= '0;
      tiles_q <= '0;
      free_q  <= 16'(Cfg.WfifoTiles * WordsPerTile * BeatsPerWord);
    end else begin
      if (push) word_q <= tile_in ? '0 : word_q + 1'b1;
      tiles_q <= tiles_q + (TileBits + 1)'(tile_in) - (TileBits + 1)'(load_i);
      free_q  <= free_q - 16'(wf_valid_i) + (pop[Blocks-1] ? 16'(BeatsPerWord * Cfg.LoadBuses) : 16'd0);
    end
  end

  // One bit per tile. It is read with the tile's start; the next tile may overwrite the entry after that.
  if (Cfg.Cell == CellBf16) begin : gen_transpose
    logic transpose_q [Cfg.WfifoTiles];
    logic [TileBits-1:0] wr_tile_q, rd_tile_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || flush_i) begin
        wr_tile_q <= '0;
        rd_tile_q <= '0;
      end else begin
        if (tile_in) wr_tile_q <= wr_tile_q + 1'b1;
        if (load_i) rd_tile_q <= rd_tile_q + 1'b1;
      end
    end
    always_ff @(posedge clk_i) if (tile_in) transpose_q[wr_tile_q] <= wf_transpose_i;
    assign wr_transpose = wf_transpose_i;
    assign rd_transpose = transpose_q[rd_tile_q];
  end else begin : gen_rows
    assign wr_transpose = 1'b0;
    assign rd_transpose = 1'b0;
  end

  // Starts of the blocks. Of each tile that leaves, the time since its start.
  if (Blocks == 1) begin : gen_one
    assign start           = load_i;
    assign start_transpose = rd_transpose;
  end else begin : gen_many
    localparam int unsigned LoadBits = $clog2(Loads);
    logic [Loads-1:0]    leaves_q, transpose_q;
    logic [AgeBits-1:0]  age_q [Loads];
    logic [LoadBits-1:0] load_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || flush_i) begin
        leaves_q <= '0;
        load_q   <= '0;
      end else begin
        for (int unsigned i = 0; i < Loads; i++) if (32'(age_q[i]) == LastOffset) leaves_q[i] <= 1'b0;
        if (load_i) begin
          leaves_q[load_q] <= 1'b1;
          load_q           <= 32'(load_q) == Loads - 1 ? '0 : load_q + 1'b1;
        end
      end
      for (int unsigned i = 0; i < Loads; i++) age_q[i] <= load_i && 32'(load_q) == i ? AgeBits'(1) : age_q[i] + 1'b1;
      if (load_i) transpose_q[load_q] <= rd_transpose;
    end
    for (genvar b = 0; b < Blocks; b++) begin : gen_block
      localparam int unsigned Offset = block_offset(Cfg.Rows, Cfg.Cols, Cfg.CellStages, Cfg.LoadBuses, b);
      if (Offset == 0) begin : gen_first
        assign start[b]           = load_i;
        assign start_transpose[b] = rd_transpose;
      end else begin : gen_later
        always_comb begin
          start[b]           = 1'b0;
          start_transpose[b] = 1'b0;
          for (int unsigned i = 0; i < Loads; i++) begin
            if (leaves_q[i] && 32'(age_q[i]) == Offset) begin
              start[b]           = 1'b1;
              start_transpose[b] = transpose_q[i];
            end
          end
        end
      end
    end
    always_ff @(posedge clk_i) if (rst_ni && !flush_i) a_load : assert (!load_i || !leaves_q[load_q] || 32'(age_q[load_q]) == LastOffset);
  end

  // A word holds rows of one block row of the tile as it lies in memory, and a part for each block column; where the
  // tile is transposed, it is the other way round in the array.
  for (genvar b = 0; b < Blocks; b++) begin : gen_memory
    localparam int unsigned R = b / Cfg.LoadBuses;
    localparam int unsigned C = b % Cfg.LoadBuses;
    logic [PartBits-1:0] part [2];  // by row, by column
    logic [1:0]          here;
    for (genvar t = 0; t < 2; t++) begin : gen_kind
      for (genvar i = 0; i < RowsPerWord; i++) begin : gen_row
        assign part[t][i*PartBits/RowsPerWord+:PartBits/RowsPerWord] =
            wdata[i*RowBytes*8+(t==1?R : C)*PartBits/RowsPerWord+:PartBits/RowsPerWord];
      end
      assign here[t] = 32'(word_q) / WordsPerBlock == (t == 1 ? C : R);
    end
    systole_weight_block #(
        .BlockRows(BlockRows), .BlockCols(BlockCols), .ElementBits(ElementBits), .RowsPerWord(RowsPerWord),
        .Depth(Cfg.WfifoTiles * WordsPerBlock)
    ) u_block (
        .clk_i, .rst_ni, .clear_i(flush_i), .we_i(push && here[wr_transpose]), .wdata_i(part[wr_transpose]),
        .start_i(start[b]), .transpose_i(start_transpose[b]), .pop_o(pop[b]),
        .row_valid_o(row_valid_o[b]), .row_bank_o(row_bank_o[b]), .row_transpose_o(row_transpose_o[b]),
        .row_index_o(row_index_o[b]), .row_o(row_o[b])
    );
  end

  // Checks: the loader never overflows the FIFO; only complete tiles leave.
  always_ff @(posedge clk_i) begin
    if (rst_ni && !flush_i) begin
      a_room : assert (!wf_valid_i || free_q != '0);
      a_tiles : assert (!load_i || tiles_q != '0);
    end
  end
endmodule
