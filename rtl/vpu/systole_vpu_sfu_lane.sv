// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Lane of the functions, in twelve stages: find the leading one, or shift to fixed point | normalise, select the entry
// | table | t * c2 | slope, partial products of t * slope | poly | partial products of factor * poly | product | whole
// part, magnitude | count zeros | shift left | round. A result that needs no computation bypasses them as `plain`.
// Docs: docs/numerics.md, "Functions". Test: tests/rtl/sfu.

module systole_vpu_sfu_lane
  import systole_sfu_pkg::*;
(
    input  logic                        clk_i,
    input  sfu_op_e                     op1_i,    // of the row in stage 2
    input  sfu_op_e                     op7_i,    // of the row in stage 8
    input  logic [31:0]                 a_i,      // of the row in stage 1
    output logic [10:0]                 entry_o,  // to the table
    input  logic [SfuC0Bits-1:0]        c0_i,     // from the table, one cycle later
    input  logic signed [SfuC1Bits-1:0] c1_i,
    input  logic signed [SfuC2Bits-1:0] c2_i,
    output logic [31:0]                 y_o
);
  localparam logic [31:0] Nan = 32'h7FC0_0000;
  localparam logic [31:0] Inf = 32'h7F80_0000;
  localparam logic [31:0] One = 32'h3F80_0000;
  localparam logic [31:0] Sign = 32'h8000_0000;

  // The result's exponent field, minus 1, for a sum with its leading one at bit 62. It depends on the factor.
  localparam logic [10:0] LogScale = 134;
  localparam logic signed [25:0] PolyFactor = 256;
  localparam logic [10:0] PolyScale = 150;

  // Travels with the stages: results that need no computation.
  typedef struct packed {
    logic        special;  // the result is `plain`
    logic [31:0] plain;    // otherwise its top bit is the sign
  } plain_t;

  // Stage 1: leading zeros of the fraction; the magnitude, below 256, in units of 2^-30.
  logic [31:0] a1_q;
  logic [23:0] digits;
  logic [4:0]  zeros, zeros1_q;
  // verilator lint_off UNUSEDSIGNAL
  logic [5:0]  some;  // the lowest bit is not needed
  // verilator lint_on UNUSEDSIGNAL
  logic [5:0][1:0] first;
  logic [7:0]  down;
  logic [37:0] fixed, fixed1_q;
  logic        zero1_q, max1_q, large1_q, over1_q, small1_q;  // zero; infinity or NaN; at least 256; at least 16; below 2^-12

  always_comb begin
    digits = {a_i[22:0], 1'b1};
    for (int unsigned g = 0; g < 6; g++) begin
      logic [3:0] d;
      d        = digits[4*g+:4];
      some[g]  = d != '0;
      first[g] = d[3] ? 2'd0 : d[2] ? 2'd1 : d[1] ? 2'd2 : 2'd3;
    end
    zeros = some[5] ? {3'd0, first[5]} : some[4] ? {3'd1, first[4]} : some[3] ? {3'd2, first[3]} : some[2] ? {3'd3, first[2]} :
            some[1] ? {3'd4, first[1]} : {3'd5, first[0]};
    down  = 8'd134 - a_i[30:23];
    fixed = {1'b1, a_i[22:0], 14'd0};
    fixed = down[7:6] != '0 ? '0 : fixed >> down[5:0];
  end

  always_ff @(posedge clk_i) begin
    a1_q     <= a_i;
    zeros1_q <= zeros;
    fixed1_q <= fixed;
    zero1_q  <= a_i[30:0] == '0;
    max1_q   <= a_i[30:0] >= Inf[30:0];
    large1_q <= a_i[30:0] >= 31'h4380_0000;
    over1_q  <= a_i[30:0] >= 31'h4180_0000;
    small1_q <= a_i[30:0] < 31'h3980_0000;
  end

  // Stage 2: normalise; select the table entry.
  logic               nan, normal, halve;
  logic [7:0]         e;
  logic [22:0]        f, norm;
  logic [23:0]        m;
  logic signed [10:0] x;
  logic [38:0]        turned;
  logic [29:0]        w;
  logic [10:0]        entry, scale, scale2_q;
  logic signed [25:0] factor, factor2_q;
  logic [22:0]        t, t2_q, t3_q, t4_q;
  plain_t             plain, plain2_q;

  assign e      = a1_q[30:23];
  assign f      = a1_q[22:0];
  assign nan    = max1_q && f != '0;
  assign normal = e != '0;
  assign norm   = normal ? f : 23'({f, 1'b0} << zeros1_q);
  assign m      = {1'b1, norm};
  assign halve  = norm[22];
  assign x      = normal ? signed'(11'(e) - 11'd127) : signed'(-11'd127 - 11'(zeros1_q));
  assign turned = a1_q[31] ? -{1'b0, fixed1_q} : {1'b0, fixed1_q};
  always_comb begin
    unique case (e)
      8'd127, 8'd129: w = {f[22:0], 7'd0} >> 1;
      8'd128: w = {f, 7'd0};
      8'd130: w = {f, 7'd0} >> 3;
      default: w = fixed1_q[29:0];
    endcase
    if (op1_i == SfuExp2) w = turned[29:0];

    plain.special = 1'b0;
    plain.plain   = '0;
    unique case (op1_i)
      SfuExp2: begin
        entry         = SfuExp2Base[10:0] + 11'(w[29:23]);
        t             = w[22:0];
        factor        = PolyFactor;
        scale         = 11'(signed'(turned[38:30])) + PolyScale;
        plain.special = large1_q || scale[10];
        if (nan) plain.plain = Nan;
        else if (large1_q && !a1_q[31]) plain.plain = Inf;
      end
      SfuLog2: begin
        entry         = SfuLog2Base[10:0] + 11'(norm[22:16]);
        t             = {norm[15:0], 7'd0};
        factor        = (halve ? signed'(26'(m)) : signed'(26'({m, 1'b0}))) - signed'(26'h100_0000);
        scale         = unsigned'(x) + 11'(halve);
        plain.special = zero1_q || a1_q[31] || max1_q;
        if (zero1_q) plain.plain = Sign | Inf;
        else if (a1_q[31] || nan) plain.plain = Nan;
        else if (max1_q) plain.plain = Inf;
      end
      SfuRcp: begin
        entry         = SfuRcpBase[10:0] + 11'(norm[22:15]);
        t             = {norm[14:0], 8'd0};
        factor        = PolyFactor;
        scale         = PolyScale - 11'd1 - unsigned'(x);
        plain.special = zero1_q || max1_q;
        plain.plain   = nan ? Nan : {a1_q[31], zero1_q ? Inf[30:0] : 31'd0};
      end
      SfuRsqrt: begin
        entry         = (x[0] ? SfuRsqrt2Base[10:0] : SfuRsqrtBase[10:0]) + 11'(norm[22:16]);
        t             = {norm[15:0], 7'd0};
        factor        = PolyFactor;
        scale         = PolyScale - 11'd1 - unsigned'(x >>> 1);
        plain.special = zero1_q || a1_q[31] || max1_q;
        if (zero1_q) plain.plain = a1_q | Inf;
        else if (a1_q[31] || nan) plain.plain = Nan;
      end
      default: begin
        entry         = (e < 8'd127 ? SfuTanhBase[10:0] : e == 8'd127 ? SfuTanh1Base[10:0] : e == 8'd128 ? SfuTanh2Base[10:0] :
                         e == 8'd129 ? SfuTanh4Base[10:0] : SfuTanh8Base[10:0]) + 11'(w[29:23]);
        t             = w[22:0];
        factor        = e < 8'd127 ? signed'({2'd0, 1'b1, f}) : PolyFactor;
        scale         = e < 8'd127 ? 11'(e) + 11'd8 : PolyScale;
        plain.special = small1_q || over1_q;
        plain.plain   = nan ? Nan : small1_q ? a1_q : {a1_q[31], over1_q ? One[30:0] : 31'd0};
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    entry_o   <= entry;
    t2_q      <= t;
    factor2_q <= factor;
    scale2_q  <= scale;
    plain2_q  <= plain;
  end

  // Stages 3 to 8: values that travel with the arithmetic.
  plain_t             plain_q [3:11];
  logic [10:0]        scale_q [3:8];
  logic signed [25:0] factor_q [3:6];

  always_ff @(posedge clk_i) begin
    plain_q[3]  <= plain2_q;
    scale_q[3]  <= scale2_q;
    factor_q[3] <= factor2_q;
    for (int unsigned s = 4; s <= 8; s++) begin
      plain_q[s] <= plain_q[s-1];
      scale_q[s] <= scale_q[s-1];
    end
    for (int unsigned s = 4; s <= 6; s++) factor_q[s] <= factor_q[s-1];
  end

  // Stages 4 to 6: the polynomial. Products of more than 18 bits are split into two words, the lower one unsigned.
  logic [SfuC0Bits-1:0]        c0_4_q, c0_5_q;
  logic signed [SfuC1Bits-1:0] c1_4_q;
  logic signed [31:0]          bend4_q, slope;
  logic [33:0]                 rise00_q;
  logic signed [31:0]          rise01_q;
  logic [22:0]                 rise10_q;
  logic signed [20:0]          rise11_q;
  logic signed [54:0]          rise;
  logic [31:0]                 poly6_q;

  assign slope = 32'({c1_4_q, 7'd0}) + bend4_q;
  assign rise  = {rise11_q, rise00_q} + {38'(rise01_q) + 38'(rise10_q), 17'd0};

  always_ff @(posedge clk_i) begin
    t3_q     <= t2_q;
    t4_q     <= t3_q;
    c0_4_q   <= c0_i;
    c1_4_q   <= c1_i;
    bend4_q  <= 32'((36'(signed'({1'b0, t3_q[22:6]})) * 36'(c2_i)) >>> 10);
    c0_5_q   <= c0_4_q;
    rise00_q <= t4_q[16:0] * slope[16:0];
    rise01_q <= signed'({1'b0, t4_q[16:0]}) * signed'(slope[31:17]);
    rise10_q <= t4_q[22:17] * slope[16:0];
    rise11_q <= signed'({1'b0, t4_q[22:17]}) * signed'(slope[31:17]);
    poly6_q  <= 32'(c0_5_q) + 32'(rise >>> 30);
  end

  // Stages 7 to 9: factor * poly, the whole part of a logarithm, the magnitude.
  logic [33:0]        product00_q;
  logic signed [31:0] product01_q;
  logic signed [25:0] product10_q;
  logic signed [29:0] product11_q;
  logic signed [63:0] product8_q, sum;
  logic [62:0]        magnitude, magnitude9_q;
  logic [63:0]        digits9;
  logic [15:0]        some4;        // per 4-bit digit: not zero
  logic [8:0]         scale9_q, scale10_q;
  logic               log8_q;

  assign sum = {product8_q[63:54] + (log8_q ? scale_q[8][9:0] : 10'd0), product8_q[53:0]};
  assign magnitude = sum[63] ? 63'(-sum) : 63'(sum);
  assign digits9 = {magnitude, 1'b0};

  always_ff @(posedge clk_i) begin
    log8_q       <= op7_i == SfuLog2;
    product00_q  <= factor_q[6][16:0] * poly6_q[16:0];
    product01_q  <= signed'({1'b0, factor_q[6][16:0]}) * signed'(poly6_q[31:17]);
    product10_q  <= signed'(factor_q[6][25:17]) * signed'({1'b0, poly6_q[16:0]});
    product11_q  <= signed'(factor_q[6][25:17]) * signed'(poly6_q[31:17]);
    product8_q   <= {product11_q, product00_q} + {47'(product01_q) + 47'(product10_q), 17'd0};
    magnitude9_q <= magnitude;
    for (int unsigned g = 0; g < 16; g++) some4[g] <= digits9[4*g+:4] != '0;
    scale9_q     <= log8_q ? LogScale[8:0] : scale_q[8][8:0];
    plain_q[9]   <= plain_q[8];
    if (log8_q && sum[63] && !plain_q[8].special) plain_q[9].plain <= Sign;
    plain_q[10]  <= plain_q[9];
    plain_q[11]  <= plain_q[10];
  end

  // Stage 10: leading zeros, limited so that the exponent stays at or above the smallest one.
  logic [63:0]      number;
  logic [15:0][1:0] count4;
  // verilator lint_off UNUSEDSIGNAL
  logic [3:0]       some16;
  // verilator lint_on UNUSEDSIGNAL
  logic [3:0][3:0]  count16;
  logic [5:0]       clear, left10_q;
  logic [62:0]      magnitude10_q;

  assign number = {magnitude9_q, 1'b1};
  always_comb begin
    for (int unsigned g = 0; g < 16; g++) begin
      count4[g] = number[4*g+3] ? 2'd0 : number[4*g+2] ? 2'd1 : number[4*g+1] ? 2'd2 : 2'd3;
    end
    for (int unsigned g = 0; g < 4; g++) begin
      some16[g]  = some4[4*g+:4] != '0;
      count16[g] = some4[4*g+3] ? {2'd0, count4[4*g+3]} : some4[4*g+2] ? {2'd1, count4[4*g+2]} :
                   some4[4*g+1] ? {2'd2, count4[4*g+1]} : {2'd3, count4[4*g]};
    end
    clear = some16[3] ? {2'd0, count16[3]} : some16[2] ? {2'd1, count16[2]} : some16[1] ? {2'd2, count16[1]} : {2'd3, count16[0]};
  end

  always_ff @(posedge clk_i) begin
    magnitude10_q <= magnitude9_q;
    scale10_q     <= scale9_q;
    left10_q      <= 9'(clear) < scale9_q ? clear : scale9_q[5:0];
  end

  // Stage 11: shift left.
  logic [62:0] shifted;
  logic [24:0] top11_q;       // the significand and the bit below it
  logic [2:0]  rest11_q;
  logic [8:0]  exponent11_q;

  always_comb begin
    shifted = magnitude10_q << {left10_q[5:4], 4'd0};
    shifted = shifted << {left10_q[3:2], 2'd0};
    shifted = shifted << left10_q[1:0];
  end

  always_ff @(posedge clk_i) begin
    top11_q      <= shifted[62:38];
    rest11_q     <= {shifted[37:26] != '0, shifted[25:13] != '0, shifted[12:0] != '0};
    exponent11_q <= scale10_q - 9'(left10_q) + 9'd1;
  end

  // Stage 12: rounds to nearest even. A carry goes into the exponent, up to infinity.
  logic [31:0] rounded;

  assign rounded = {top11_q[24] ? exponent11_q : 9'd0, top11_q[23:1]} + 32'(top11_q[0] && (rest11_q != '0 || top11_q[1]));

  always_ff @(posedge clk_i) begin
    if (plain_q[11].special) y_o <= plain_q[11].plain;
    else y_o <= {plain_q[11].plain[31], rounded[31:23] >= 9'd255 ? Inf[30:0] : rounded[30:0]};
  end
endmodule
