// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Selects what the lanes scale, in two stages: the sum, the tap or the byte | x, multiplier and shift. It contains the channel
// parameters (two banks), the pool registers and the memory of sums.
// Docs: docs/vector.md, docs/numerics.md. Test: tests/rtl/vector/.

module systole_vector_source
  import systole_vector_pkg::*;
#(
    parameter systole_presets_pkg::core_cfg_t Cfg = systole_presets_pkg::core_preset(systole_presets_pkg::PresetNano),
    localparam int unsigned Lanes = Cfg.VectorLanes,
    localparam int unsigned Beats = Cfg.Cols / Lanes,
    localparam int unsigned BeatBits = Beats > 1 ? $clog2(Beats) : 1,
    localparam int unsigned SumDepth = SumPairs * Beats,
    localparam int unsigned SumBits = $clog2(SumDepth),
    localparam int unsigned Slots = Lanes < 4 ? 4 : Lanes                  // bytes in whole words
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,

    // Write of word param_word_i of the parameter block.
    input  logic                  param_valid_i,
    input  logic                  param_bank_i,
    input  logic [3:0]            param_word_i,
    input  logic [Cfg.Cols*8-1:0] param_i,

    // A beat of a micro-op with its data.
    input  logic                  valid_i,
    input  logic [BeatBits-1:0]   beat_i,
    input  uop_t                  uop_i,
    input  scalars_t              scalars_i,      // constants of the micro-op's bank
    input  logic [24:0]           recip_i,        // reciprocal of uop_i.taps (systole_vector_recip)
    input  logic signed [31:0]    acc_i [Lanes],
    input  logic [Slots*8-1:0]    bytes_i,        // bytes of the window, or of the accumulators in a raw requant

    // A beat of a sum.
    input  logic                  sum_we_i,
    input  logic [SumBits-1:0]    sum_addr_i,
    input  logic [Lanes*32-1:0]   sum_data_i,

    output logic signed [31:0]    x_o [Lanes],    // two cycles after the beat
    output logic signed [31:0]    m_o [Lanes],
    output logic signed [7:0]     s_o [Lanes],
    output logic                  saturated_o     // pulse: a bias addition saturated in a channel that is written
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned Quarter = Cols / 4;                              // channels of a parameter word
  localparam int unsigned Columns = Lanes > Quarter ? Lanes / Quarter : 1; // words that a beat reads in parallel
  localparam int unsigned Parts = Lanes < Quarter ? Quarter / Lanes : 1;   // beats that share a word
  localparam int unsigned Depth = 8 / Columns;                             // rows of a memory: 4 words for each bank, Columns words a row
  localparam int unsigned DepthBits = $clog2(Depth);
  localparam logic signed [31:0] Max = 32'sh7fff_ffff;
  localparam logic signed [31:0] Min = 32'sh8000_0000;

  // Control that travels with the data of stage 1.
  logic                  valid1_q, average1_q;
  logic [BeatBits-1:0]   beat1_q;
  // verilator lint_off UNUSEDSIGNAL
  uop_t                  uop1_q;
  scalars_t              scalars1_q;  // some fields are used in stage 1 only
  // verilator lint_on UNUSEDSIGNAL
  logic [24:0]           recip1_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid1_q <= 1'b0;
    else valid1_q <= valid_i;
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      uop1_q     <= uop_i;
      beat1_q    <= beat_i;
      scalars1_q <= scalars_i;
      recip1_q   <= recip_i;
      average1_q <= scalars_i.average;
    end
  end

  // Channel parameters. Each word of the block is stored when it comes. Biases are read in stage 1, multipliers and shifts in
  // stage 2.
  logic [Columns*Quarter*32-1:0] bias_row, mult_row;
  logic [Lanes*32-1:0]           bias, mult;
  logic [Slots*8-1:0]            shift;

  function automatic logic [DepthBits-1:0] word_of(logic bank, logic [BeatBits-1:0] beat);
    return DepthBits'({31'd0, bank} * (Depth / 2)) + DepthBits'(32'(beat) / Parts % (Depth / 2));
  endfunction

  for (genvar i = 0; i < Columns; i++) begin : gen_column
    logic                 mine;
    logic [DepthBits-1:0] row;
    assign mine = param_valid_i && !param_word_i[3] && 32'(param_word_i[1:0]) % Columns == i;
    assign row  = DepthBits'({31'd0, param_bank_i} * (Depth / 2)) + DepthBits'(32'(param_word_i[1:0]) / Columns);
    systole_prim_ram_async #(.Width(Quarter * 32), .Depth(Depth)) u_bias (
        .clk_i, .we_i(mine && !param_word_i[2]), .waddr_i(row), .wdata_i(param_i),
        .raddr_i(word_of(uop_i.bank, beat_i)), .rdata_o(bias_row[i*Quarter*32+:Quarter*32])
    );
    systole_prim_ram_async #(.Width(Quarter * 32), .Depth(Depth)) u_mult (
        .clk_i, .we_i(mine && param_word_i[2]), .waddr_i(row), .wdata_i(param_i),
        .raddr_i(word_of(uop1_q.bank, beat1_q)), .rdata_o(mult_row[i*Quarter*32+:Quarter*32])
    );
  end

  logic [Cols*8-1:0] shift_row;

  systole_prim_ram_async #(.Width(Cols * 8), .Depth(2)) u_shift (
      .clk_i, .we_i(param_valid_i && param_word_i[3]), .waddr_i(param_bank_i), .wdata_i(param_i),
      .raddr_i(uop1_q.bank), .rdata_o(shift_row)
  );

  // The beat's part of each row.
  if (Beats == 1) begin : gen_whole
    assign bias  = bias_row;
    assign mult  = mult_row;
    assign shift = shift_row;
  end else begin : gen_beats
    assign bias  = bias_row[32'(beat_i)%Parts*Lanes*32+:Lanes*32];
    assign mult  = mult_row[32'(beat1_q)%Parts*Lanes*32+:Lanes*32];
    assign shift = (Slots * 8)'(shift_row[32'(beat1_q)*Lanes*8+:Lanes*8]);
  end

  // Stage 1: the accumulator plus the bias, or a small value: a byte, the taps so far, an operand minus its zero point. Bytes
  // are offset by 128 to 0..255. So a tap without data counts as 0 in a maximum and in an average.
  logic signed [31:0] sum1_q [Lanes];
  logic [7:0]         over1_q [Lanes];   // bit 0: the sum overflows; bit 1: it is negative
  logic [TapBits-1:0] small1_q [Lanes];
  logic [TapBits-1:0] pool_q [Beats][Lanes];
  logic signed [15:0] factor_q [Beats][Lanes];  // first operands of products
  logic signed [15:0] factor1_q [Lanes];        // the first operand of this beat

  always_ff @(posedge clk_i) begin : add_bias
    logic signed [31:0] sum_v [Lanes];
    logic [7:0]         over_v [Lanes];
    if (valid_i && uop_i.src == SrcAcc) begin
      for (int unsigned c = 0; c < Lanes; c++) begin
        logic signed [31:0] a, b, s;
        a         = acc_i[c];
        b         = bias[c*32+:32];
        s         = a + b;
        sum_v[c]  = s;
        over_v[c] = {6'd0, a < 0, ((a ^ s) & (b ^ s)) < 0};
      end
      sum1_q  <= sum_v;
      over1_q <= over_v;
    end
  end

  always_ff @(posedge clk_i) begin : bytes
    logic [7:0]         byte_v [Slots];
    logic [TapBits-1:0] small_v [Lanes];
    logic signed [15:0] factor_v [Lanes];
    logic signed [7:0]  zp;
    zp = uop_i.src inside {SrcAdd0, SrcMul0} ? scalars_i.zp0 : scalars_i.zp1;
    if (valid_i && uop_i.src != SrcAcc && uop_i.src != SrcSum) begin
      for (int unsigned w = 0; w < Slots / 4; w++) begin
        logic [31:0] word;
        word          = bytes_i[w*32+:32] ^ 32'h8080_8080;
        byte_v[4*w]   = word[7:0];
        byte_v[4*w+1] = word[15:8];
        byte_v[4*w+2] = word[23:16];
        byte_v[4*w+3] = word[31:24];
      end
      if (uop_i.src == SrcTap) begin
        for (int unsigned c = 0; c < Lanes; c++) begin
          logic [TapBits-1:0] old, tap;
          old        = uop_i.first ? '0 : pool_q[beat_i][c];
          tap        = uop_i.hit ? TapBits'(byte_v[c]) : '0;
          small_v[c] = scalars_i.average || scalars_i.sum ? old + tap : tap > old ? tap : old;
        end
        pool_q[beat_i] <= small_v;
      end else if (uop_i.src == SrcRaw) begin
        for (int unsigned c = 0; c < Lanes; c++) small_v[c] = TapBits'(byte_v[c]);
      end else begin
        for (int unsigned c = 0; c < Lanes; c++) small_v[c] = TapBits'(byte_v[c]) - TapBits'(128) - TapBits'(zp);
      end
      if (uop_i.src == SrcMul0) begin
        for (int unsigned c = 0; c < Lanes; c++) factor_v[c] = 16'(small_v[c]);
        factor_q[beat_i] <= factor_v;
      end
      if (uop_i.src == SrcMul1) factor1_q <= factor_q[beat_i];
      small1_q <= small_v;
    end
  end

  // Memory of sums: a FIFO whose oldest entry is read.
  logic [SumBits-1:0]  sum_rd_q;
  logic [Lanes*32-1:0] old_sum;

  systole_prim_ram_async #(.Width(Lanes * 32), .Depth(SumDepth)) u_sums (
      .clk_i, .we_i(sum_we_i), .waddr_i(sum_addr_i), .wdata_i(sum_data_i), .raddr_i(sum_rd_q), .rdata_o(old_sum)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) sum_rd_q <= '0;
    else if (valid1_q && uop1_q.src == SrcSum) sum_rd_q <= sum_rd_q + 1'b1;
  end

  // Stage 2. An average rounds ties away from 0. Because bytes are offset by 128, a sum of n taps below 128 n stands for a
  // negative sum. For 0 taps, half is chosen so that the average is 0.
  logic [15:0]        half, middle;
  logic               even;
  logic signed [31:0] mult_u;
  logic signed [7:0]  shift_u;

  assign even   = average1_q && !uop1_q.taps[0];
  assign half   = !average1_q ? 16'd0 : uop1_q.taps == '0 ? 16'd127 : 16'(uop1_q.taps[8:1]) - 16'(even);
  assign middle = {uop1_q.taps, 7'd0};

  always_comb begin
    mult_u  = 32'(recip1_q);
    shift_u = 8'sd7;
    unique case (uop1_q.src)
      SrcAdd0: begin
        mult_u  = scalars1_q.mult0;
        shift_u = 8'(scalars1_q.shift0);
      end
      SrcAdd1: begin
        mult_u  = scalars1_q.mult1;
        shift_u = 8'(scalars1_q.shift1);
      end
      SrcSum, SrcMul1: begin
        mult_u  = scalars1_q.mult;
        shift_u = 8'(scalars1_q.shift);
      end
      default:
      if (scalars1_q.sum) begin
        mult_u  = scalars1_q.mult;
        shift_u = 8'(scalars1_q.shift);
      end
    endcase
  end

  always_ff @(posedge clk_i) begin : choose
    logic signed [31:0] x_v [Lanes], m_v [Lanes];
    logic signed [7:0]  s_v [Lanes], shift_v [Slots];
    if (valid1_q) begin
      unique case (uop1_q.src)
        SrcAcc: for (int unsigned c = 0; c < Lanes; c++) x_v[c] = !over1_q[c][0] ? sum1_q[c] : over1_q[c][1] ? Min : Max;
        SrcSum: for (int unsigned c = 0; c < Lanes; c++) x_v[c] = old_sum[c*32+:32];
        SrcAdd0, SrcAdd1: for (int unsigned c = 0; c < Lanes; c++) x_v[c] = 32'(signed'(small1_q[c])) <<< 20;
        SrcMul1: for (int unsigned c = 0; c < Lanes; c++) x_v[c] = 32'(factor1_q[c]) * 32'(signed'(small1_q[c][15:0]));
        default:
        if (scalars1_q.sum) begin
          for (int unsigned c = 0; c < Lanes; c++) x_v[c] = 32'(small1_q[c]) - 32'(uop1_q.offset);
        end else begin
          for (int unsigned c = 0; c < Lanes; c++) begin
            x_v[c] = 32'(small1_q[c]) + 32'(half) + 32'(even && small1_q[c] >= TapBits'(middle));
          end
        end
      endcase
      if (uop1_q.src == SrcAcc) begin
        for (int unsigned w = 0; w < Slots / 4; w++) begin
          logic [31:0] word;
          word           = shift[w*32+:32];
          shift_v[4*w]   = word[7:0];
          shift_v[4*w+1] = word[15:8];
          shift_v[4*w+2] = word[23:16];
          shift_v[4*w+3] = word[31:24];
        end
        for (int unsigned c = 0; c < Lanes; c++) begin
          m_v[c] = mult[c*32+:32];
          s_v[c] = shift_v[c];
        end
      end else begin
        for (int unsigned c = 0; c < Lanes; c++) begin
          m_v[c] = mult_u;
          s_v[c] = shift_u;
        end
      end
      x_o <= x_v;
      m_o <= m_v;
      s_o <= s_v;
    end
  end

  // Reports a saturated bias addition in a channel that is written.
  always_ff @(posedge clk_i) begin : saturation
    logic any;
    any = 1'b0;
    for (int unsigned c = 0; c < Lanes; c++) any = any || (over1_q[c][0] && 32'(beat1_q) * Lanes + c < 32'(uop1_q.len));
    saturated_o <= rst_ni && valid1_q && uop1_q.src == SrcAcc && any;
  end

  // Checks: the configuration is legal; no bias or multiplier of a bank is loaded while a micro-op reads a bias of that bank.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_config : assert (Cfg.Rows == Cfg.Cols && Cols % 8 == 0 && Lanes * Beats == Cols);
      a_bias_acc : assert (!(valid_i && uop_i.src == SrcAcc) || !(param_valid_i && param_bank_i == uop_i.bank &&
                                                                 !param_word_i[3]));
    end
  end
endmodule
