// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Lane of the ALU: six stages of one datapath for all operations. A word enters at the top of a 78-bit window; it is
// the addend of a multiply-add, the argument of a conversion, or the finished result of a simple operation. Stages:
// partial products, exponents and simple results | product, shift right | add | count zeros | shift left | round and
// pack.
// Docs: docs/vpu.md, docs/numerics.md. Test: tests/rtl/vpu.

module systole_vpu_alu_lane
  import systole_vpu_types_pkg::*;
(
    input  logic        clk_i,
    // verilator lint_off UNUSEDSIGNAL
    // (each stage uses some of the fields)
    input  alu_ctl_t    ctl1_i,  // control of the row whose operands are at the inputs
    input  alu_ctl_t    ctl2_i,  // control of the row in stage 2, 4, 6
    input  alu_ctl_t    ctl4_i,
    input  alu_ctl_t    ctl6_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    input  logic [31:0] c_i,
    output logic [31:0] y_o      // combinational output of stage 6, five cycles after the operands
);
  // The window: the top bit of the word is bit 77, bit 0 of a product is bit 4, and bit 0 is sticky: 1 if a bit below
  // was lost. When the word is at the top, two bits separate its 24-bit significand from the product.
  localparam int unsigned W = 78;
  localparam int unsigned ProductAt = 4;
  localparam logic [6:0] IntegerProduct = 7'(W - 32 - ProductAt);  // shift that brings the low half of a product to the top

  typedef struct packed {
    logic sign;
    logic low;    // the exponent is zero
    logic zero;
    logic infinite;
    logic nan;
  } flags_t;

  function automatic flags_t flags(logic [31:0] v);
    logic high, plain;
    high  = v[30:23] == '1;
    plain = v[22:0] == '0;
    return '{sign: v[31], low: v[30:23] == '0, zero: v[30:0] == '0, infinite: high && plain, nan: high && !plain};
  endfunction

  function automatic logic [7:0] exponent(logic [7:0] e, logic low);
    return e | 8'(low);
  endfunction

  function automatic logic [31:0] reversed(logic [31:0] v);
    logic [31:0] r;
    for (int unsigned i = 0; i < 32; i++) r[i] = v[31-i];
    return r;
  endfunction

  // Stage 1.
  flags_t      fa, fb, fc, fa1_q, fb1_q, fc1_q;
  logic [31:0] m, n, adder_a, adder_b, sum, logical, pick, word, word1_q;
  logic        below, same, unordered, zeros, less, condition, carry;
  logic [7:0]  xe, ye, ze, ze1_q;
  logic [9:0]  xy, right1_q;
  logic [8:0]  xy1_q;
  logic [4:0]  by1_q;
  logic        still1_q;  // the word stays at the top: the product is zero, or there is none
  logic [35:0] p00_q;
  logic [29:0] p01_q, p10_q;  // only the bits needed for a product of significands or the low half of an integer product
  logic [11:0] p11_q;
  logic        plus;

  assign fa = flags(a_i);
  assign fb = flags(b_i);
  assign fc = flags(c_i);

  // Factors: significands or integers. Additions multiply by 1.
  always_comb begin
    m = ctl1_i.imul ? a_i : {8'd0, !fa.low, a_i[22:0]};
    n = ctl1_i.imul ? b_i : ctl1_i.by_one ? 32'h80_0000 : {8'd0, !fb.low, b_i[22:0]};
  end

  // Exponent of the product, and the distance of the addend below the product. A conversion to int32 uses 158 as the
  // product's exponent.
  always_comb begin
    xe = ctl1_i.to_int ? 8'd3 : exponent(a_i[30:23], fa.low);
    ye = ctl1_i.to_int ? 8'd255 : ctl1_i.by_one ? 8'd127 : exponent(b_i[30:23], fb.low);
    ze = ctl1_i.to_int ? exponent(a_i[30:23], fa.low) : ctl1_i.add_b ? exponent(b_i[30:23], fb.low) :
         ctl1_i.add_c ? exponent(c_i[30:23], fc.low) : 8'd1;
    xy = 10'(xe) + 10'(ye) - 10'd100;
  end

  // One adder for sums, comparisons, the magnitude of an integer, and rounding to bf16.
  always_comb begin
    adder_a = ctl1_i.from_int && a_i[31] ? ~a_i : a_i;
    adder_b = ctl1_i.minus ? ~b_i : ctl1_i.from_int ? 32'd0 : ctl1_i.to_bf16 ? 32'h7FFF : ctl1_i.stochastic ? b_i & 32'hFFFF : b_i;
    plus    = ctl1_i.minus || (ctl1_i.from_int && a_i[31]) || (ctl1_i.to_bf16 && a_i[16]);
    {carry, sum} = 33'(adder_a) + 33'(adder_b) + 33'(plus);
  end

  assign below     = !carry;  // a < b as unsigned numbers
  assign same      = a_i == b_i;
  assign unordered = ctl1_i.float_compare && (fa.nan || fb.nan);
  assign zeros     = fa.zero && fb.zero;
  assign less      = a_i[31] != b_i[31] ? a_i[31] : (ctl1_i.float_compare && a_i[31] ? !below && !same : below);
  assign condition = !unordered && ((ctl1_i.want_equal && (same || (ctl1_i.float_compare && zeros))) ||
                                    (ctl1_i.want_less && less && !(ctl1_i.float_compare && zeros)));

  always_comb begin
    logical = ctl1_i.bit_and ? a_i & b_i : ctl1_i.bit_or ? a_i | b_i : a_i ^ b_i;
    if (ctl1_i.select) pick = a_i != '0 ? b_i : c_i;
    else pick = (less ^ ctl1_i.larger) ? a_i : b_i;
    unique case (ctl1_i.word)
      WordAddend: word = ctl1_i.add_b ? {!fb.low, b_i[22:0], 8'd0} : ctl1_i.add_c ? {!fc.low, c_i[22:0], 8'd0} : '0;
      WordArgument: word = {!fa.low, a_i[22:0], 8'd0};
      WordSum: word = sum;
      WordRounded: word = fa.nan ? 32'h7FC0_0000 : sum & 32'hFFFF_0000;
      WordCondition: word = {32{condition}};
      WordPick: word = unordered ? 32'h7FC0_0000 : pick;
      WordShift: word = ctl1_i.left ? reversed(a_i) : a_i ^ {32{ctl1_i.arithmetic && a_i[31]}};
      default: word = logical;
    endcase
  end

  always_ff @(posedge clk_i) begin
    p00_q    <= m[17:0] * n[17:0];
    p10_q    <= m[31:18] * n[17:0];
    p01_q    <= m[17:0] * n[31:18];
    p11_q    <= m[23:18] * n[23:18];
    word1_q  <= ctl1_i.imul ? '0 : word;
    by1_q    <= ctl1_i.word == WordShift ? b_i[4:0] : '0;
    xy1_q    <= xy[8:0];
    ze1_q    <= ze;
    right1_q <= xy - 10'(ze);
    still1_q <= !ctl1_i.placed || fa.zero || (fb.zero && !ctl1_i.by_one && !ctl1_i.to_int);
    fa1_q    <= fa;
    fb1_q    <= fb;
    fc1_q    <= fc;
  end

  // Stage 2. The word is shifted right to its place, unless it is above the product already. A zero product causes no
  // shift.
  // verilator lint_off UNUSEDSIGNAL
  flags_t       x, y, z;  // some bits are unused
  // verilator lint_on UNUSEDSIGNAL
  logic         p_sign, z_sign, stay, far, opposed;
  logic [6:0]   by;
  logic [29:0]  middle;
  logic [127:0] spread;
  logic [8:0]   top;

  logic [47:0]  product2_q;
  logic [77:1]  word2_q;
  logic [1:0]   lost2_q;
  logic [8:0]   top2_q;
  special_e     special, special2_q, special3_q, special4_q, special5_q;
  logic         p_sign2_q, z_sign2_q, opposed2_q;

  always_comb begin
    x       = fa1_q;
    y       = ctl2_i.by_one ? '0 : fb1_q;
    z       = ctl2_i.add_b ? fb1_q : ctl2_i.add_c ? fc1_q : '{sign: 1'b1, low: 1'b1, zero: 1'b1, infinite: 1'b0, nan: 1'b0};
    p_sign  = x.sign ^ y.sign ^ ctl2_i.flip_product;
    z_sign  = ctl2_i.fused ? z.sign ^ ctl2_i.flip_addend : x.sign;
    opposed = ctl2_i.fused && p_sign != z_sign;

    special = SpecialNone;
    if (ctl2_i.fused) begin
      if (x.nan || y.nan || z.nan || (x.infinite && y.zero) || (x.zero && y.infinite) ||
          ((x.infinite || y.infinite) && z.infinite && opposed)) begin
        special = SpecialNan;
      end else if (x.infinite || y.infinite || z.infinite) begin
        special = (z.infinite ? z_sign : p_sign) ? SpecialMinus : SpecialPlus;
      end
    end else if (ctl2_i.to_int) begin
      if (x.nan) special = SpecialNan;
      else if (right1_q[9] || right1_q == '0) special = x.sign ? SpecialMinus : SpecialPlus;
    end

    stay = right1_q[9] || still1_q;
    far  = !stay && (right1_q[8:7] != '0 || right1_q[6:0] > 7'd77);
    for (int unsigned i = 0; i < 7; i++) by[i] = (right1_q[i] && !stay) || (i < 5 && by1_q[i%5]);
    top = ctl2_i.from_int ? 9'd158 : stay ? 9'(ze1_q) : xy1_q;
  end

  // Small shifts first: the word has 32 bits at the start and grows with each step.
  always_comb begin
    spread = 128'({word1_q, 96'd0});
    spread = spread >> by[1:0];
    spread = spread >> {by[3:2], 2'd0};
    spread = spread >> {by[6:4], 4'd0};
  end

  assign middle = p01_q + p10_q;

  always_ff @(posedge clk_i) begin
    product2_q <= ctl2_i.fused || ctl2_i.imul ? {p11_q, p00_q} + {middle, 18'd0} : '0;
    word2_q    <= far ? '0 : spread[127:51];
    lost2_q    <= far ? {1'b0, word1_q != '0} : {spread[50:35] != '0, spread[34:19] != '0};
    top2_q     <= top;
    special2_q <= special;
    p_sign2_q  <= p_sign;
    z_sign2_q  <= z_sign;
    opposed2_q <= opposed;
  end

  // Stage 3: the sum, or the magnitude of the difference. If the product exceeds the word, the difference fits the
  // product's bits.
  logic [W-1:0] moved;
  logic [W:0]  word_first;
  logic [51:0] product_first;
  logic [W-1:0] product;
  logic         turned;

  logic [W-1:0]  value;
  logic [79:0]   digits, digits3_q;
  logic [19:0]   some3_q;   // per 4-bit digit: not zero
  logic [8:0]   top3_q;
  logic         sign3_q, opposed3_q;

  assign product       = W'({product2_q, 4'd0});
  assign moved         = {word2_q, lost2_q != '0};
  assign word_first    = {1'b0, moved} + (opposed2_q ? ~{1'b0, product} : {1'b0, product}) + (W + 1)'(opposed2_q);
  assign product_first = product[51:0] - moved[51:0];
  assign turned        = opposed2_q && word_first[W];
  assign digits        = {value, 2'b00};
  assign value         = turned ? W'(product_first) : word_first[W-1:0];

  always_ff @(posedge clk_i) begin
    digits3_q  <= digits;
    for (int unsigned g = 0; g < 20; g++) some3_q[g] <= digits[4*g+:4] != '0;
    top3_q     <= top2_q;
    sign3_q    <= turned ? p_sign2_q : z_sign2_q;
    opposed3_q <= opposed2_q;
    special3_q <= special2_q;
  end

  // Stage 4: leading zeros, limited so that the exponent stays at 1 or above.
  logic [19:0][1:0] count4;
  // verilator lint_off UNUSEDSIGNAL
  logic [4:0]       some16;  // the lowest bit is not needed
  // verilator lint_on UNUSEDSIGNAL
  logic [4:0][3:0]  count16;
  logic [6:0]       zeros_count, most;
  logic             most_large;
  logic [8:0]       room;

  logic [W-1:0] value4_q;
  logic [8:0]   top4_q;
  logic [6:0]   left4_q;
  logic         sign4_q;

  always_comb begin
    for (int unsigned g = 0; g < 20; g++) begin
      count4[g] = digits3_q[4*g+3] ? 2'd0 : digits3_q[4*g+2] ? 2'd1 : digits3_q[4*g+1] ? 2'd2 : 2'd3;
    end
    for (int unsigned g = 0; g < 5; g++) begin
      some16[g]  = some3_q[4*g+:4] != '0;
      count16[g] = some3_q[4*g+3] ? {2'd0, count4[4*g+3]} : some3_q[4*g+2] ? {2'd1, count4[4*g+2]} :
                   some3_q[4*g+1] ? {2'd2, count4[4*g+1]} : {2'd3, count4[4*g]};
    end
    zeros_count = some16[4] ? {3'd0, count16[4]} : some16[3] ? {3'd1, count16[3]} : some16[2] ? {3'd2, count16[2]} :
                  some16[1] ? {3'd3, count16[1]} : {3'd4, count16[0]};
    room        = top3_q - 9'd1;
    most        = room[6:0];
    most_large  = room[8:7] != '0;
  end

  always_ff @(posedge clk_i) begin
    value4_q   <= digits3_q[79:2];
    top4_q     <= top3_q;
    sign4_q    <= sign3_q && !(opposed3_q && some3_q == '0);
    special4_q <= special3_q;
    if (!ctl4_i.float_out) left4_q <= ctl4_i.imul ? IntegerProduct : '0;
    else left4_q <= most_large || zeros_count < most ? zeros_count : most;
  end

  // Stage 5: shift left.
  logic [W-1:0] shifted;
  logic [31:0]  top5_q;
  logic [8:0]   exponent5_q;
  logic         half5_q, sign5_q;
  logic [2:0]   rest5_q;

  always_comb begin
    shifted = value4_q << {left4_q[6:4], 4'd0};
    shifted = shifted << {left4_q[3:2], 2'd0};
    shifted = shifted << left4_q[1:0];
  end

  always_ff @(posedge clk_i) begin
    top5_q      <= shifted[77:46];
    half5_q     <= shifted[45];
    rest5_q     <= {shifted[44:30] != '0, shifted[29:15] != '0, shifted[14:0] != '0};
    exponent5_q <= top4_q - 9'(left4_q);
    sign5_q     <= sign4_q;
    special5_q  <= special4_q;
  end

  // Stage 6: rounds to nearest even, or towards minus infinity. A carry goes into the exponent, up to infinity.
  logic        more, negative;
  logic [31:0] rounded;
  logic [31:0] number;

  always_comb begin
    negative = !ctl6_i.float_out && sign5_q && ctl6_i.negate;
    if (ctl6_i.float_out) more = top5_q[7] && (top5_q[6:0] != '0 || half5_q || rest5_q != '0 || top5_q[8]);
    else if (ctl6_i.floor) more = sign5_q && (half5_q || rest5_q != '0);
    else more = half5_q && (rest5_q != '0 || top5_q[0]);
    if (!ctl6_i.float_out && !ctl6_i.to_int) more = 1'b0;
    // ~x = -x - 1: a complemented number is rounded the other way.
    if (ctl6_i.to_int && negative) more = !more;
    if (ctl6_i.float_out) number = {top5_q[31] ? exponent5_q : 9'd0, top5_q[30:8]};
    else number = top5_q ^ {32{negative}};
    rounded = number + 32'(more);

    if (ctl6_i.float_out) begin
      y_o = {sign5_q, rounded[31:23] >= 9'd255 ? 31'h7F80_0000 : rounded[30:0]};
    end else begin
      y_o = ctl6_i.left ? reversed(rounded) : rounded;
    end
    unique case (special5_q)
      SpecialNan: y_o = ctl6_i.to_int ? 32'd0 : 32'h7FC0_0000;
      SpecialPlus: y_o = ctl6_i.to_int ? 32'h7FFF_FFFF : 32'h7F80_0000;
      SpecialMinus: y_o = ctl6_i.to_int ? 32'h8000_0000 : 32'hFF80_0000;
      default: ;
    endcase
  end
endmodule
