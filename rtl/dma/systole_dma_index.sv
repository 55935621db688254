// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The rows of an indexed load or store: reads the descriptor's table from the unified buffer, beat by beat and up to two beats ahead,
// and adds each entry to the descriptor's address. Throughput: a row a cycle. Latency: six cycles from the start to the first row
// where the unified buffer does not refuse.
// Docs: docs/dma.md. Test: tests/rtl/dma.

module systole_dma_index
  import systole_presets_pkg::AddrBits;
  import systole_presets_pkg::UbAddrBits;
#(
    parameter int unsigned D = 64,  // bytes of a beat
    localparam int unsigned Shift = $clog2(D),
    localparam int unsigned RowBits = 34  // no sum of an address and an entry wraps
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        freeze_i,   // ask for nothing more

    input  logic                        start_i,    // all rows of the table before have been taken
    input  logic [UbAddrBits-Shift-1:0] table_i,    // in beats, as all that follows
    input  logic [15:0]                 entries_i,  // at least 1
    input  logic [AddrBits-Shift-1:0]   base_i,     // holds from the start to the last row

    output logic                        row_valid_o,
    input  logic                        row_ready_i,
    output logic [RowBits-1:0]          row_o,

    // Unified buffer.
    output logic                        ub_valid_o,
    input  logic                        ub_ready_i,
    output logic [UbAddrBits-1:0]       ub_addr_o,
    input  logic                        ub_rsp_valid_i,
    input  logic [D*8-1:0]              ub_data_i
);
  localparam int unsigned Words = D / 4;  // entries of a beat
  localparam int unsigned WordBits = $clog2(Words);
  localparam int unsigned Ahead = 2;      // beats

  // Requests, while there is room for the answers.
  logic                        ask, credit, all_back, pop, ub_valid_q;
  logic [UbAddrBits-Shift-1:0] next_q, ub_addr_q;
  logic [16-WordBits:0]        beats_q;  // left to ask for
  logic [1:0]                  credits;
  assign ask        = beats_q != '0 && credit && (!ub_valid_q || ub_ready_i) && !freeze_i;
  assign ub_valid_o = ub_valid_q;
  assign ub_addr_o  = {ub_addr_q, {Shift{1'b0}}};

  always_ff @(posedge clk_i) begin
    if (ask) ub_addr_q <= next_q;
    if (start_i) next_q <= table_i;
    else if (ask) next_q <= next_q + 1'b1;
  end

  systole_credit #(.Credits(Ahead)) u_credit (
      .clk_i, .rst_ni, .take_i(ask), .give_i(pop), .avail_o(credit), .idle_o(all_back), .count_o(credits)
  );

  logic           beat_valid, room;
  logic [D*8-1:0] beat;
  logic [1:0]     beats;
  systole_fifo #(.Width(D * 8), .Depth(Ahead)) u_beats (
      .clk_i, .rst_ni, .valid_i(ub_rsp_valid_i), .ready_o(room), .data_i(ub_data_i),
      .valid_o(beat_valid), .ready_i(pop), .data_o(beat), .count_o(beats)
  );

  // Entries, one after the other, and the sums.
  logic                take, add, entry_valid_q, row_valid_q;
  logic [WordBits-1:0] word_q;
  logic [15:0]         left_q;  // entries of the beats that are still to come
  logic [31:0]         entry_q;
  logic [RowBits-1:0]  row_q;
  assign add         = entry_valid_q && (!row_valid_q || row_ready_i);
  assign take        = beat_valid && (!entry_valid_q || add);
  assign pop         = take && (word_q == WordBits'(Words - 1) || left_q == 16'd1);
  assign row_valid_o = row_valid_q;
  assign row_o       = row_q;

  always_ff @(posedge clk_i) begin
    if (take) entry_q <= beat[32*32'(word_q)+:32];
    if (add) row_q <= RowBits'(base_i) + RowBits'(entry_q);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beats_q       <= '0;
      ub_valid_q    <= 1'b0;
      word_q        <= '0;
      left_q        <= '0;
      entry_valid_q <= 1'b0;
      row_valid_q   <= 1'b0;
    end else begin
      if (start_i) beats_q <= (17 - WordBits)'((17'(entries_i) + 17'(Words - 1)) >> WordBits);
      else if (ask) beats_q <= beats_q - 1'b1;
      if (ask) ub_valid_q <= 1'b1;
      else if (ub_ready_i) ub_valid_q <= 1'b0;
      if (start_i) word_q <= '0;
      else if (take) word_q <= word_q + 1'b1;
      if (start_i) left_q <= entries_i;
      else if (take) left_q <= left_q - 1'b1;
      if (take) entry_valid_q <= 1'b1;
      else if (add) entry_valid_q <= 1'b0;
      if (add) row_valid_q <= 1'b1;
      else if (row_ready_i) row_valid_q <= 1'b0;
    end
  end

  // Checks: a table begins when the one before is over; each answer has room and belongs to a request; requests hold.
  logic                  held_q;
  logic [UbAddrBits-1:0] last_q;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && ub_valid_o && !ub_ready_i;
    last_q <= ub_addr_o;
    if (rst_ni) begin
      a_start : assert (!start_i || (left_q == '0 && beats_q == '0 && all_back && !entry_valid_q && !row_valid_q && entries_i != '0));
      a_room : assert (!ub_rsp_valid_i || (room && !all_back));
      a_beats : assert (32'(beats) + 32'(credits) <= Ahead);
      a_left : assert (!take || left_q != '0);
      a_holds : assert (!held_q || (ub_valid_o && ub_addr_o == last_q));
    end
  end
endmodule
