// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Unified buffer: NB banks of W-byte words (word w in bank w mod NB). Windows read or write W bytes from any byte address; DMA
// moves aligned beats of D bytes. Grants are combinational; read data come two cycles after the transfer.
// Docs: docs/unified_buffer.md. Test: tests/rtl/unified_buffer.

module systole_unified_buffer
  import systole_presets_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano),
    localparam int unsigned W = word_bytes(Cfg),        // bytes of a word and of a window
    localparam int unsigned D = beat_bytes(Cfg),        // bytes of a beat
    localparam int unsigned NumWin = num_windows(Cfg)
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,

    // Window reads: 0..Segments-1 data setup, Segments vector unit; bf16: Segments + 1 too, Segments + 2 weight loader.
    input  logic [NumWin-1:0]                 win_rd_valid_i,
    input  logic [NumWin-1:0][UbAddrBits-1:0] win_rd_addr_i,
    input  logic [NumWin-1:0][1:0]            win_rd_need_i,  // bytes of the {second, first} word are needed
    output logic [NumWin-1:0]                 win_rd_ready_o,
    output logic [NumWin-1:0]                 win_rd_rsp_valid_o,
    output logic [NumWin-1:0][W*8-1:0]        win_rd_data_o,  // bytes of words not needed or beyond the end are 0

    // Window write of the vector unit.
    input  logic                              vec_wr_valid_i,
    output logic                              vec_wr_ready_o,
    input  logic [UbAddrBits-1:0]             vec_wr_addr_i,
    input  logic [W*8-1:0]                    vec_wr_data_i,
    input  logic [W-1:0]                      vec_wr_mask_i,

    // Beats.
    input  logic                              dma_wr_valid_i,
    output logic                              dma_wr_ready_o,
    input  logic [UbAddrBits-1:0]             dma_wr_addr_i,
    input  logic [D*8-1:0]                    dma_wr_data_i,
    input  logic [D-1:0]                      dma_wr_mask_i,
    input  logic                              dma_rd_valid_i,
    output logic                              dma_rd_ready_o,
    input  logic [UbAddrBits-1:0]             dma_rd_addr_i,
    output logic                              dma_rd_rsp_valid_o,
    output logic [D*8-1:0]                    dma_rd_data_o
);
  localparam int unsigned NB = Cfg.UbBanks;
  localparam int unsigned Depth = Cfg.UbBytes / (NB * W);
  localparam int unsigned OffBits = $clog2(W);
  localparam int unsigned BankBits = $clog2(NB);
  localparam int unsigned RowBits = $clog2(Depth);
  localparam int unsigned WordBits = UbAddrBits - OffBits;
  localparam int unsigned BeatWords = D > W ? D / W : 1;  // words that a beat touches
  localparam int unsigned BeatShift = $clog2(D);
  localparam int unsigned StarveCycles = 16;
  localparam int unsigned StarveBits = $clog2(StarveCycles + 1);
  localparam int unsigned NumRd = NumWin + 1;  // windows, then the DMA read

  typedef logic [WordBits-1:0] word_t;

  // verilator lint_off UNUSEDSIGNAL
  function automatic logic in_range(word_t w);
    return 32'(w) < NB * Depth;
  endfunction
  function automatic logic [NB-1:0] bank_of(word_t w);
    return NB'(1) << w[BankBits-1:0];
  endfunction
  function automatic logic [RowBits-1:0] row_of(word_t w);
    return w[BankBits+:RowBits];
  endfunction
  // Banks of an aligned beat.
  function automatic logic [NB-1:0] beat_banks(word_t w);
    logic [NB-1:0] banks;
    banks = '0;
    for (int unsigned i = 0; i < BeatWords; i++) banks |= NB'(1) << (w[BankBits-1:0] + BankBits'(i));
    return banks;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Requests as sets of banks.
  word_t         rd_word0 [NumRd];
  word_t         rd_word1 [NumRd];
  logic [NB-1:0] rd_banks [NumRd];
  logic [NumRd-1:0] rd_valid, rd_gnt, rd_starved;
  logic [NumWin-1:0][1:0] rd_use;  // words of a window that are read: needed and inside the memory

  // Held: windows, vector write, DMA write, DMA read.
  logic [NumWin+2:0] hold;
  systole_prim_hold #(.Streams(NumWin + 3)) u_hold (.clk_i, .hold_o(hold));

  for (genvar p = 0; p < NumWin; p++) begin : gen_window_request
    assign rd_word0[p] = win_rd_addr_i[p][UbAddrBits-1:OffBits];
    assign rd_word1[p] = rd_word0[p] + word_t'(1);
    assign rd_use[p] = {win_rd_need_i[p][1] && in_range(rd_word1[p]), win_rd_need_i[p][0] && in_range(rd_word0[p])};
    assign rd_banks[p] = (rd_use[p][0] ? bank_of(rd_word0[p]) : '0) | (rd_use[p][1] ? bank_of(rd_word1[p]) : '0);
    assign rd_valid[p] = win_rd_valid_i[p] && !hold[p];
    assign win_rd_ready_o[p] = rd_gnt[p];
  end
  assign rd_word0[NumWin] = dma_rd_addr_i[UbAddrBits-1:OffBits];
  assign rd_word1[NumWin] = '0;
  assign rd_banks[NumWin] = beat_banks(rd_word0[NumWin]);
  assign rd_valid[NumWin] = dma_rd_valid_i && !hold[NumWin+2];
  assign dma_rd_ready_o   = rd_gnt[NumWin];

  // Read grants: starved ports first, then by number.
  always_comb begin
    logic [NB-1:0] used;
    used   = '0;
    rd_gnt = '0;
    for (int unsigned p = 0; p < NumRd; p++) begin
      if (rd_valid[p] && rd_starved[p] && (used & rd_banks[p]) == '0) begin
        rd_gnt[p] = 1'b1;
        used |= rd_banks[p];
      end
    end
    for (int unsigned p = 0; p < NumRd; p++) begin
      if (rd_valid[p] && !rd_starved[p] && (used & rd_banks[p]) == '0) begin
        rd_gnt[p] = 1'b1;
        used |= rd_banks[p];
      end
    end
  end

  for (genvar p = 0; p < NumRd; p++) begin : gen_starve
    logic [StarveBits-1:0] denied_q;
    assign rd_starved[p] = denied_q == StarveBits'(StarveCycles);
    always_ff @(posedge clk_i) begin
      if (!rst_ni || rd_gnt[p] || !rd_valid[p]) denied_q <= '0;
      else if (!rd_starved[p]) denied_q <= denied_q + 1'b1;
    end
  end

  // Write grants: the vector unit first, unless the DMA starves.
  word_t         vec_word0, vec_word1, dma_word;
  logic [NB-1:0] vec_banks, dma_banks;
  logic [1:0]    vec_use;
  logic          vec_want, dma_want, clash, dma_starved;
  logic [OffBits-1:0]    vec_off;
  logic [2*W-1:0]        vec_mask;
  logic [2*W*8-1:0]      vec_data;
  logic [StarveBits-1:0] dma_denied_q;

  assign vec_off   = vec_wr_addr_i[OffBits-1:0];
  assign vec_mask  = {W'(0), vec_wr_mask_i} << vec_off;
  assign vec_word0 = vec_wr_addr_i[UbAddrBits-1:OffBits];
  assign vec_word1 = vec_word0 + word_t'(1);
  assign vec_use   = {|vec_mask[2*W-1:W], |vec_mask[W-1:0]};
  assign vec_banks = (vec_use[0] ? bank_of(vec_word0) : '0) | (vec_use[1] ? bank_of(vec_word1) : '0);
  assign dma_word  = dma_wr_addr_i[UbAddrBits-1:OffBits];
  assign dma_banks = beat_banks(dma_word);
  assign vec_want  = vec_wr_valid_i && !hold[NumWin];
  assign dma_want  = dma_wr_valid_i && !hold[NumWin+1];
  assign clash     = vec_want && dma_want && (vec_banks & dma_banks) != '0;
  assign dma_starved    = dma_denied_q == StarveBits'(StarveCycles);
  assign vec_wr_ready_o = vec_want && !(clash && dma_starved);
  assign dma_wr_ready_o = dma_want && !(clash && !dma_starved);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || dma_wr_ready_o || !dma_want) dma_denied_q <= '0;
    else if (!dma_starved) dma_denied_q <= dma_denied_q + 1'b1;
  end

  always_comb begin
    vec_data = '0;
    if (vec_wr_ready_o) vec_data = {{W*8{1'b0}}, vec_wr_data_i} << {vec_off, 3'b000};
  end

  // Banks.
  logic [W*8-1:0] rdata [NB];

  for (genvar b = 0; b < NB; b++) begin : gen_bank
    logic               re;
    logic [RowBits-1:0] raddr, waddr;
    logic [W-1:0]       we, dma_mask;
    logic [W*8-1:0]     wdata, dma_part;
    logic               from_dma, from_vec1, from_vec;

    always_comb begin
      re    = 1'b0;
      raddr = '0;
      for (int unsigned p = 0; p < NumRd; p++) begin
        if (rd_gnt[p] && rd_banks[p][b]) begin
          re    = 1'b1;
          raddr = (rd_word0[p][BankBits-1:0] == BankBits'(b) || p == NumRd - 1) ? row_of(rd_word0[p])
                                                                                : row_of(rd_word1[p]);
        end
      end
    end

    if (D >= W) begin : gen_beat_words
      // Word i of the beat lies in bank (first bank + i); the first bank is a multiple of BeatWords.
      localparam int unsigned Part = b % BeatWords;
      assign dma_mask = dma_wr_mask_i[Part*W+:W];
      assign dma_part = dma_wr_data_i[Part*W*8+:W*8];
    end else begin : gen_beat_part
      localparam int unsigned Parts = W / D;
      logic [$clog2(Parts)-1:0] part;
      assign part = dma_wr_addr_i[OffBits-1:BeatShift];
      for (genvar i = 0; i < Parts; i++) begin : gen_part
        assign dma_mask[i*D+:D] = part == $clog2(Parts)'(i) ? dma_wr_mask_i : '0;
        assign dma_part[i*D*8+:D*8] = dma_wr_data_i;
      end
    end

    assign from_dma  = dma_wr_ready_o && dma_banks[b];
    assign from_vec  = vec_wr_ready_o && vec_banks[b];
    assign from_vec1 = vec_word0[BankBits-1:0] != BankBits'(b);
    always_comb begin
      we    = '0;
      wdata = dma_part;
      waddr = row_of(dma_word);
      if (from_dma) begin
        we = dma_mask;
      end else if (from_vec) begin
        we    = from_vec1 ? vec_mask[2*W-1:W] : vec_mask[W-1:0];
        wdata = from_vec1 ? vec_data[2*W*8-1:W*8] : vec_data[W*8-1:0];
        waddr = from_vec1 ? row_of(vec_word1) : row_of(vec_word0);
      end
    end

    systole_ub_bank #(.WordBytes(W), .Depth(Depth)) u_bank (
        .clk_i, .we_i(we), .waddr_i(waddr), .wdata_i(wdata), .re_i(re), .raddr_i(raddr), .rdata_o(rdata[b])
    );
  end

  // Windows: rotate the two words a cycle after the grant, answer in the next.
  for (genvar p = 0; p < NumWin; p++) begin : gen_window
    logic                pending_q, answered_q;
    logic [1:0]          use_q;
    logic [BankBits-1:0] bank_q;
    logic [OffBits-1:0]  off_q;
    logic [W*8-1:0]      low, high, data_q;

    assign low  = use_q[0] ? rdata[bank_q] : '0;
    assign high = use_q[1] ? rdata[BankBits'(bank_q + 1'b1)] : '0;
    assign win_rd_rsp_valid_o[p] = answered_q;
    assign win_rd_data_o[p] = data_q;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        pending_q  <= 1'b0;
        answered_q <= 1'b0;
      end else begin
        pending_q  <= rd_gnt[p];
        answered_q <= pending_q;
      end
    end
    always_ff @(posedge clk_i) begin
      if (rd_gnt[p]) begin
        use_q  <= rd_use[p];
        bank_q <= rd_word0[p][BankBits-1:0];
        off_q  <= win_rd_addr_i[p][OffBits-1:0];
      end
      if (pending_q) data_q <= (W*8)'({high, low} >> {off_q, 3'b000});
    end
  end

  // DMA read: the beat's words side by side, or the part of a word.
  logic                dma_pending_q, dma_answered_q;
  logic [D*8-1:0]      dma_data_q, dma_data;

  if (D >= W) begin : gen_dma_words
    logic [BankBits-1:0] dma_bank_q;
    always_ff @(posedge clk_i) if (rd_gnt[NumWin]) dma_bank_q <= rd_word0[NumWin][BankBits-1:0];
    for (genvar i = 0; i < BeatWords; i++) begin : gen_word
      assign dma_data[i*W*8+:W*8] = rdata[BankBits'(dma_bank_q + BankBits'(i))];
    end
  end else begin : gen_dma_part
    localparam int unsigned Parts = W / D;
    logic [BankBits-1:0]      dma_bank_q;
    logic [$clog2(Parts)-1:0] part_q;
    logic [W*8-1:0]           word;
    always_ff @(posedge clk_i) begin
      if (rd_gnt[NumWin]) begin
        dma_bank_q <= rd_word0[NumWin][BankBits-1:0];
        part_q     <= dma_rd_addr_i[OffBits-1:BeatShift];
      end
    end
    assign word = rdata[dma_bank_q];
    always_comb begin
      dma_data = word[D*8-1:0];
      for (int unsigned i = 1; i < Parts; i++) begin
        if (part_q == $clog2(Parts)'(i)) dma_data = word[i*D*8+:D*8];
      end
    end
  end

  assign dma_rd_rsp_valid_o = dma_answered_q;
  assign dma_rd_data_o      = dma_data_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      dma_pending_q  <= 1'b0;
      dma_answered_q <= 1'b0;
    end else begin
      dma_pending_q  <= rd_gnt[NumWin];
      dma_answered_q <= dma_pending_q;
    end
  end
  always_ff @(posedge clk_i) if (dma_pending_q) dma_data_q <= dma_data;

  // Writes stay inside the memory; beats are aligned; no bank is granted twice.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_vec_range : assert (!vec_wr_ready_o || ((!vec_use[0] || in_range(vec_word0)) && (!vec_use[1] || in_range(vec_word1))));
      a_dma_wr_range : assert (!dma_wr_ready_o || in_range(dma_word));
      a_dma_rd_range : assert (!rd_gnt[NumWin] || in_range(rd_word0[NumWin]));
      a_dma_wr_align : assert (!dma_wr_valid_i || dma_wr_addr_i[BeatShift-1:0] == '0);
      a_dma_rd_align : assert (!dma_rd_valid_i || dma_rd_addr_i[BeatShift-1:0] == '0);
    end
  end
endmodule
