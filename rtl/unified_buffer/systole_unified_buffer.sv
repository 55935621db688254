// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Unified buffer: NB banks of W-byte words; word w is in bank w mod NB. Windows read or write W bytes at any byte address; DMA
// moves aligned beats of D bytes. Grants are combinational. Read data come two cycles after the grant. A read sees every write
// that was granted at least two cycles before it.
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

    // Window reads. Ports 0 to Segments - 1 belong to the data setup, port Segments to the vector unit. With bf16, port
    // Segments + 1 is a second port of the vector unit, and the ports from Segments + 2 on belong to the weight loader.
    input  logic [NumWin-1:0]                 win_rd_valid_i,
    input  logic [NumWin-1:0][UbAddrBits-1:0] win_rd_addr_i,
    input  logic [NumWin-1:0][1:0]            win_rd_need_i,  // the window uses bytes of the {second, first} word
    output logic [NumWin-1:0]                 win_rd_ready_o,
    output logic [NumWin-1:0]                 win_rd_rsp_valid_o,
    output logic [NumWin-1:0][W*8-1:0]        win_rd_data_o,  // bytes of unused words and of words beyond the end are 0

    // Window write of the vector unit.
    input  logic                              vec_wr_valid_i,
    output logic                              vec_wr_ready_o,
    input  logic [UbAddrBits-1:0]             vec_wr_addr_i,
    input  logic [W*8-1:0]                    vec_wr_data_i,
    input  logic [W-1:0]                      vec_wr_mask_i,

    // DMA beats.
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
  localparam int unsigned S = Cfg.Segments;

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
  // Number of the bank group of a word. An aligned beat takes one group of BeatWords banks.
  function automatic int unsigned group_of(word_t w);
    return 32'(w[BankBits-1:0]) / BeatWords;
  endfunction
  // Banks of an aligned beat.
  function automatic logic [NB-1:0] beat_banks(word_t w);
    logic [NB-1:0] banks;
    banks = '0;
    for (int unsigned i = 0; i < BeatWords; i++) banks |= NB'(1) << (w[BankBits-1:0] + BankBits'(i));
    return banks;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Read requests as sets of banks. Both words of a window are in the same row, unless the second word wraps around to bank 0:
  // then it is in the next row.
  word_t              rd_word [NumRd];
  logic [RowBits-1:0] rd_row [NumRd], rd_row0 [NumRd];
  logic [NB-1:0]      rd_banks [NumRd];
  logic [NB-1:0]      rd_claims [NumRd];
  logic [NumRd-1:0]   rd_valid, rd_gnt;
  logic [NB-1:0]      urgent_banks;  // banks of the urgent port
  logic               urgent_any_q;

  // Test hook: a stall bit per stream, in the order windows, vector write, DMA write, DMA read.
  logic [NumWin+2:0] hold;
  systole_prim_hold #(.Streams(NumWin + 3)) u_hold (.clk_i, .hold_o(hold));

  for (genvar p = 0; p < NumWin; p++) begin : gen_window_request
    logic [NB-1:0] first;
    assign rd_word[p]  = win_rd_addr_i[p][UbAddrBits-1:OffBits];
    assign first       = bank_of(rd_word[p]);
    assign rd_banks[p] = (win_rd_need_i[p][0] ? first : '0) | (win_rd_need_i[p][1] ? {first[NB-2:0], first[NB-1]} : '0);
    assign rd_row0[p]  = rd_word[p][BankBits-1:0] == '0 ? rd_row[p] : rd_row[p] + 1'b1;
    assign rd_valid[p] = win_rd_valid_i[p] && !hold[p];
    assign win_rd_ready_o[p] = p < S ? !hold[p] && !urgent_any_q : rd_gnt[p];
  end
  assign rd_word[NumWin]  = dma_rd_addr_i[UbAddrBits-1:OffBits];
  assign rd_banks[NumWin] = beat_banks(rd_word[NumWin]);
  assign rd_row0[NumWin]  = rd_row[NumWin];
  assign rd_valid[NumWin] = dma_rd_valid_i && !hold[NumWin+2];
  assign dma_rd_ready_o   = rd_gnt[NumWin];
  for (genvar p = 0; p < NumRd; p++) begin : gen_claim
    assign rd_row[p]    = row_of(rd_word[p]);
    assign rd_claims[p] = rd_valid[p] ? rd_banks[p] : '0;
  end

  // Read grants. Port 0 has the highest priority. A request is granted when no port of higher priority requests one of its
  // banks, whether or not that port is granted itself. So grants do not ripple from port to port. Windows that the data setup
  // requests in one cycle never share a bank, and only an urgent port has priority over them. While a port is urgent, the data
  // setup's ready is low; it comes from a register and does not depend on the requests. If a port is granted in the cycle in
  // which it becomes urgent, it is no longer starved in the next one, and its banks stay idle for that cycle.
  logic [NumRd-1:0] urgent_q;         // one-hot: the urgent port. It was denied for StarveCycles cycles and has the highest priority
  logic [NB-1:0]    urgent_banks_q;   // the banks that it requests; 0 if no port is urgent
  logic [NumRd-1:0] starved, urgent_d;
  logic [NB-1:0]    urgent_banks_d;
  assign urgent_banks = urgent_banks_q;

  always_comb begin
    logic [NB-1:0] ahead;
    ahead = urgent_banks;
    for (int unsigned p = 0; p < NumRd; p++) begin
      rd_gnt[p] = rd_valid[p] && (p < S ? !urgent_any_q : (urgent_q[p] && starved[p]) || (rd_claims[p] & ahead) == '0);
      ahead |= rd_claims[p];
    end
  end

  // The ports from S on count the cycles in which they are denied. One starved port at a time becomes urgent.
  assign starved[S-1:0] = '0;
  for (genvar p = S; p < NumRd; p++) begin : gen_starve
    logic [StarveBits-1:0] denied_q;
    assign starved[p] = denied_q[StarveBits-1];
    always_ff @(posedge clk_i) begin
      if (!rst_ni || rd_gnt[p] || !rd_valid[p]) denied_q <= '0;
      else denied_q <= denied_q + 1'b1;
      // The port becomes urgent and is served long before the count wraps.
      if (rst_ni) a_denied : assert (denied_q != '1);
    end
  end
  always_comb begin
    urgent_d       = '0;
    urgent_banks_d = '0;
    for (int unsigned p = NumRd - 1; p >= S; p--) begin
      if (starved[p] && rd_valid[p] && !urgent_q[p]) begin
        urgent_d       = NumRd'(1) << p;
        urgent_banks_d = rd_banks[p];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    urgent_any_q   <= rst_ni && urgent_d != '0;
    urgent_q       <= urgent_d;  // no reset: it has no effect while no port is starved
    urgent_banks_q <= rst_ni ? urgent_banks_d : '0;
  end

  // Write grants: the vector unit has priority unless the DMA write is starved.
  word_t         vec_word0, dma_word;
  logic [NB-1:0] vec_first;
  logic [RowBits-1:0] vec_row0;  // row of the word in bank 0, which may be the second word
  logic [NB-1:0] vec_second;
  logic          vec_want, dma_want, clash, dma_starved;
  logic [OffBits-1:0]    vec_off;
  logic [2*W-1:0]        vec_mask;
  logic [W*8-1:0]        vec_data;  // rotated: byte i goes to byte i of the first or of the second word
  logic [StarveBits-1:0] dma_denied_q;

  assign vec_off   = vec_wr_addr_i[OffBits-1:0];
  assign vec_mask  = {W'(0), vec_wr_mask_i} << vec_off;
  assign vec_data  = (W*8)'(({vec_wr_data_i, vec_wr_data_i} << {vec_off, 3'b000}) >> (W * 8));
  assign vec_word0 = vec_wr_addr_i[UbAddrBits-1:OffBits];
  assign vec_first = bank_of(vec_word0);
  assign vec_second = vec_off != '0 ? {vec_first[NB-2:0], vec_first[NB-1]} : '0;
  assign vec_row0  = vec_first[0] ? row_of(vec_word0) : row_of(vec_word0) + 1'b1;
  assign dma_word  = dma_wr_addr_i[UbAddrBits-1:OffBits];
  assign vec_want  = vec_wr_valid_i && !hold[NumWin];
  assign dma_want  = dma_wr_valid_i && !hold[NumWin+1];
  assign clash     = vec_want && dma_want
                     && (group_of(vec_word0) == group_of(dma_word) || (vec_off != '0 && group_of(vec_word0 + 1'b1) == group_of(dma_word)));
  assign dma_starved    = dma_denied_q[StarveBits-1];
  assign vec_wr_ready_o = vec_want && !(clash && dma_starved);
  assign dma_wr_ready_o = dma_want && !(clash && !dma_starved);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || dma_wr_ready_o || !dma_want) dma_denied_q <= '0;
    else if (!dma_starved) dma_denied_q <= dma_denied_q + 1'b1;
  end

  // Granted writes, registered: one cycle after the grant, each bank takes its part from these registers.
  logic               vec_we_q, dma_we_q;
  logic [NB-1:0]      vec_first_q, vec_second_q, dma_banks_q;
  logic [RowBits-1:0] vec_row_q, vec_row0_q, dma_wr_row_q;
  logic [2*W-1:0]     vec_mask_q;
  logic [W*8-1:0]     vec_data_q;
  logic [D-1:0]       dma_wr_mask_q;
  logic [D*8-1:0]     dma_wr_data_q;
  // verilator lint_off UNUSEDSIGNAL
  logic [OffBits-1:0] dma_wr_off_q;  // offset of the beat in its word if a beat is shorter than a word
  // verilator lint_on UNUSEDSIGNAL

  always_ff @(posedge clk_i) begin
    vec_we_q <= rst_ni && vec_wr_ready_o;
    dma_we_q <= rst_ni && dma_wr_ready_o;
    if (vec_want) begin
      vec_first_q  <= vec_first;
      vec_second_q <= vec_second;
      vec_row_q    <= row_of(vec_word0);
      vec_row0_q   <= vec_row0;
      vec_mask_q   <= vec_mask;
      vec_data_q   <= vec_data;
    end
    if (dma_want) begin
      dma_banks_q <= beat_banks(dma_word);
      dma_wr_row_q   <= row_of(dma_word);
      dma_wr_off_q   <= dma_wr_addr_i[OffBits-1:0];
      dma_wr_mask_q  <= dma_wr_mask_i;
      dma_wr_data_q  <= dma_wr_data_i;
    end
  end

  // Banks.
  logic [W*8-1:0] rdata [NB];

  for (genvar b = 0; b < NB; b++) begin : gen_bank
    logic               re;
    logic [RowBits-1:0] raddr, waddr;
    logic [W-1:0]       we, dma_mask;
    logic [W*8-1:0]     wdata, dma_part;
    logic               vec_here;  // the vector unit writes this bank

    // The requesting port of the highest priority drives the bank's address, even if its other bank is taken and it is not granted.
    // At most one window of the data setup uses the bank. Its row and that of the other ports are selected in parallel.
    logic               windows;
    logic [RowBits-1:0] window_row, other_row;
    always_comb begin
      re         = 1'b0;
      windows    = 1'b0;
      window_row = '0;
      other_row  = b == 0 ? rd_row0[NumWin] : rd_row[NumWin];
      for (int unsigned p = 0; p < NumRd; p++) re |= rd_claims[p][b];
      for (int unsigned p = 0; p < S; p++) begin
        windows    |= rd_claims[p][b];
        window_row |= rd_claims[p][b] ? (b == 0 ? rd_row0[p] : rd_row[p]) : '0;
      end
      for (int unsigned p = NumWin - 1; p >= S; p--) begin
        if (urgent_banks[b] ? urgent_q[p] : rd_claims[p][b]) other_row = b == 0 ? rd_row0[p] : rd_row[p];
      end
      raddr = windows && !urgent_banks[b] ? window_row : other_row;
    end

    if (D >= W) begin : gen_beat_words
      // Word i of the beat lies in bank (first bank + i); the first bank is a multiple of BeatWords.
      localparam int unsigned Part = b % BeatWords;
      assign dma_mask = dma_wr_mask_q[Part*W+:W];
      assign dma_part = dma_wr_data_q[Part*W*8+:W*8];
    end else begin : gen_beat_part
      localparam int unsigned Parts = W / D;
      logic [$clog2(Parts)-1:0] part;
      assign part = dma_wr_off_q[OffBits-1:BeatShift];
      for (genvar i = 0; i < Parts; i++) begin : gen_part
        assign dma_mask[i*D+:D] = part == $clog2(Parts)'(i) ? dma_wr_mask_q : '0;
        assign dma_part[i*D*8+:D*8] = dma_wr_data_q;
      end
    end

    assign vec_here = vec_we_q && (vec_first_q[b] || vec_second_q[b]);
    always_comb begin
      we    = dma_we_q && dma_banks_q[b] ? dma_mask : '0;
      wdata = dma_part;
      waddr = dma_wr_row_q;
      if (vec_here) begin
        we    = vec_first_q[b] ? vec_mask_q[W-1:0] : vec_mask_q[2*W-1:W];
        wdata = vec_data_q;
        waddr = b == 0 ? vec_row0_q : vec_row_q;
      end
    end

    systole_ub_bank #(.WordBytes(W), .Depth(Depth)) u_bank (
        .clk_i, .we_i(we), .waddr_i(waddr), .wdata_i(wdata), .re_i(re), .raddr_i(raddr), .rdata_o(rdata[b])
    );
  end

  // Windows: of the two words, one is in an even bank and the other in an odd bank. One cycle after the grant, the bytes of
  // both are merged into one word, each at its position; one cycle later the word is rotated.
  for (genvar p = 0; p < NumWin; p++) begin : gen_window
    logic                pending_q, answered_q, odd_q;  // odd: the first word is in an odd bank
    logic [1:0]          use_q;    // words that are used: needed and inside the memory
    logic [BankBits-2:0] even_bank_q, odd_bank_q;
    logic [OffBits-1:0]  off_q, shift_q;
    logic [W*8-1:0]      below, even, odd, bytes_q;  // masks: bytes of the second word, of the even bank, of the odd bank

    assign below = ~({W*8{1'b1}} << {off_q, 3'b000});
    assign even  = odd_q ? (use_q[1] ? below : '0) : (use_q[0] ? ~below : '0);
    assign odd   = odd_q ? (use_q[0] ? ~below : '0) : (use_q[1] ? below : '0);
    assign win_rd_rsp_valid_o[p] = answered_q;
    // A vector unit with fewer lanes than columns takes the data in several cycles, so they hold until the next response.
    always_comb begin
      win_rd_data_o[p] = '0;
      if (answered_q || Cfg.VectorLanes != Cfg.Cols) win_rd_data_o[p] = (W*8)'({bytes_q, bytes_q} >> {shift_q, 3'b000});
    end

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
      use_q       <= {win_rd_need_i[p][1] && in_range(rd_word[p] + word_t'(1)), win_rd_need_i[p][0] && in_range(rd_word[p])};
      odd_q       <= rd_word[p][0];
      even_bank_q <= rd_word[p][BankBits-1:1] + (BankBits - 1)'(rd_word[p][0]);
      odd_bank_q  <= rd_word[p][BankBits-1:1];
      off_q       <= win_rd_addr_i[p][OffBits-1:0];
      if (pending_q) begin
        bytes_q <= (rdata[{even_bank_q, 1'b0}] & even) | (rdata[{odd_bank_q, 1'b1}] & odd);
        shift_q <= off_q;
      end
    end
  end

  // DMA read data: all words of the beat, or the beat's part of one word.
  logic                dma_pending_q, dma_answered_q;
  logic [D*8-1:0]      dma_data_q, dma_data;

  if (D >= W) begin : gen_dma_words
    // Word i is in bank (first bank + i); the first bank is a multiple of BeatWords.
    logic [BankBits-1:0] dma_bank_q;
    always_ff @(posedge clk_i) dma_bank_q <= rd_word[NumWin][BankBits-1:0];
    for (genvar i = 0; i < BeatWords; i++) begin : gen_word
      assign dma_data[i*W*8+:W*8] = rdata[(dma_bank_q & ~BankBits'(BeatWords - 1)) | BankBits'(i)];
    end
  end else begin : gen_dma_part
    localparam int unsigned Parts = W / D;
    logic [BankBits-1:0]      dma_bank_q;
    logic [$clog2(Parts)-1:0] part_q;
    logic [W*8-1:0]           word;
    always_ff @(posedge clk_i) begin
      dma_bank_q <= rd_word[NumWin][BankBits-1:0];
      part_q     <= dma_rd_addr_i[OffBits-1:BeatShift];
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
  always_ff @(posedge clk_i) dma_data_q <= dma_data;

  // Checks: writes and DMA reads stay inside the memory; beats are aligned; no bank is granted twice; windows of the data setup
  // share no bank; an urgent port does not change its request.
  always_ff @(posedge clk_i) begin
    logic [NB-1:0] claimed, claimed_twice, granted, granted_twice;  // banks claimed by the data setup's windows, granted to any port
    if (rst_ni) begin
      {claimed, claimed_twice, granted, granted_twice} = '0;
      for (int unsigned p = 0; p < S; p++) begin
        claimed_twice |= claimed & rd_claims[p];
        claimed       |= rd_claims[p];
      end
      for (int unsigned p = 0; p < NumRd; p++) begin
        granted_twice |= rd_gnt[p] ? granted & rd_claims[p] : '0;
        granted       |= rd_gnt[p] ? rd_claims[p] : '0;
      end
      a_together : assert (claimed_twice == '0);
      a_bank : assert (granted_twice == '0);
      for (int unsigned p = 0; p < NumRd; p++) begin
        a_urgent : assert (!urgent_q[p] || !starved[p] || !rd_valid[p] || rd_banks[p] == urgent_banks_q);
      end
      a_one_writer : assert (!(vec_we_q && dma_we_q) || ((vec_first_q | vec_second_q) & dma_banks_q) == '0);
      a_vec_range : assert (!vec_wr_ready_o || ((vec_mask[W-1:0] == '0 || in_range(vec_word0))
                                                && (vec_mask[2*W-1:W] == '0 || in_range(vec_word0 + word_t'(1)))));
      a_dma_wr_range : assert (!dma_wr_ready_o || in_range(dma_word));
      a_dma_rd_range : assert (!rd_gnt[NumWin] || in_range(rd_word[NumWin]));
      a_dma_wr_align : assert (!dma_wr_valid_i || dma_wr_addr_i[BeatShift-1:0] == '0);
      a_dma_rd_align : assert (!dma_rd_valid_i || dma_rd_addr_i[BeatShift-1:0] == '0);
    end
  end
endmodule
