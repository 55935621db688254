// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// fp32 arithmetic of a lane, divided into the steps of the ALU's stages: fused multiply-add (one rounding to nearest
// even, with subnormals, one NaN) and conversions from and to int32. The method is that of systole_fp_pkg, whose 32-bit
// words cannot hold a 48-bit product. Selections instead of branches, because they simulate fastest.
// Docs: docs/numerics.md, docs/vpu.md. Test: tests/rtl/vpu.

package systole_vpu_fp_pkg;

  // verilator lint_off UNUSEDPARAM
  // (no module uses all of them)
  localparam logic [31:0] Nan = 32'h7FC0_0000;
  localparam logic [31:0] Inf = 32'h7F80_0000;
  localparam logic [31:0] Sign = 32'h8000_0000;
  localparam logic [31:0] One = 32'h3F80_0000;
  // verilator lint_on UNUSEDPARAM

  // Internal exponents. The exponent of a product is the sum of its operands' exponents. The number zero has 0, so low
  // that a product with it never shifts the addend. Infinities and NaNs have Special, above all others. Significands
  // stay as stored, also for subnormals, because 64 bits hold more places than the rounding can see.
  localparam logic [31:0] Special = 32'd850;
  localparam logic [31:0] SumOffset = 32'd380;  // internal exponent of a sum minus its biased exponent

  // 24-bit significand; 1.0 for an infinity, 0 for a NaN.
  function automatic logic [31:0] significand(logic [31:0] x);
    logic [31:0] e, f;
    e = (x >> 23) & 32'hFF;
    f = x & 32'h7F_FFFF;
    f = e == 32'hFF ? (f == 0 ? 32'd0 : 32'h80_0000) : f;  // the leading one is toggled below
    return e == 0 ? f : f ^ 32'h80_0000;
  endfunction

  function automatic logic [31:0] exponent(logic [31:0] x);
    logic [31:0] e;
    e = (x >> 23) & 32'hFF;
    e = e == 32'hFF ? Special : (e == 0 ? 32'd1 : e) + 32'd127;
    return (x << 1) == 0 ? 32'd0 : e;
  endfunction

  // Stage 1, parallel to the product of the significands: sign (31) and exponent (9:0) of the product.
  function automatic logic [31:0] product_info(logic [31:0] a, logic [31:0] b);
    logic [31:0] e;
    e = exponent(a) + exponent(b);
    return ((a ^ b) & Sign) | (e < Special ? e : Special);
  endfunction

  // Stage 2: adds exactly, except for a sticky last bit that is 1 if anything below it is lost. value: sign (63),
  // magnitude. info: NaN (31), exponent (9:0) of bit 61.
  function automatic void add(input logic [63:0] prod, input logic [31:0] prod_info, input logic [31:0] sum,
                              output logic [63:0] value, output logic [31:0] info);
    logic [63:0] p, s, upper, lower, lost;
    logic [31:0] mag, sig, e, p_exp, s_exp, count, sub, sign, none;
    logic        p_upper;
    mag   = sum & ~Sign;
    e     = mag >> 23;
    sig   = (mag & 32'h7F_FFFF) | (e != 0 ? 32'h80_0000 : 32'd0);
    s     = {32'd0, sig} << 38;
    s_exp = mag >= Inf ? Special : (e != 0 ? e : 32'd1) + SumOffset;
    p     = prod << 14;
    p_exp = prod_info & 32'h3FF;
    sub   = (sum ^ prod_info) & Sign;
    // The operand with the smaller exponent is shifted right.
    p_upper = p_exp > s_exp;
    upper   = p_upper ? p : s;
    lower   = p_upper ? s : p;
    count   = p_upper ? p_exp - s_exp : s_exp - p_exp;
    count   = count < 63 ? count : 32'd63;
    lost    = lower & ~(64'hFFFF_FFFF_FFFF_FFFF << count[5:0]);
    lower   = (lower >> count[5:0]) | (lost != 0 ? 64'd1 : 64'd0);
    // Sign and magnitude. An exact zero is +0 unless both operands are negative.
    value = sub != 0 ? upper - lower : upper + lower;
    sign  = p_upper ? prod_info & Sign : sum & Sign;
    sign  = value != 0 ? (value[63] ? sign ^ Sign : sign) : (sub != 0 ? 32'd0 : sum & Sign);
    value = value[63] ? -value : value;
    value = (value & 64'h7FFF_FFFF_FFFF_FFFF) | {sign & Sign, 32'd0};
    // NaN: a NaN operand, infinity times zero, or the difference of two infinities.
    info = p_upper ? p_exp : s_exp;
    none = p_exp == Special ? Sign : info;
    info = p == 0 ? none : info;
    info = (mag ^ sub) == (Inf | Sign) ? none : info;
    info = mag > Inf ? Sign : info;
  endfunction

  // Stage 2 of a conversion from int32.
  function automatic void from_int(input logic [31:0] x, output logic [63:0] value, output logic [31:0] info);
    logic [31:0] mag;
    mag   = x[31] ? -x : x;
    value = ({32'd0, mag} << 30) | {x & Sign, 32'd0};
    info  = SumOffset + 32'd158;
  endfunction

  // Stage 2 of a conversion to int32: magnitude in units of 2^-31, with a sticky last bit. info: NaN (31), too large
  // (0).
  function automatic void to_int(input logic [31:0] x, output logic [63:0] value, output logic [31:0] info);
    logic [63:0] s, lost;
    logic [31:0] mag, sig, e, count;
    mag   = x & ~Sign;
    e     = mag >> 23;
    sig   = (mag & 32'h7F_FFFF) | (e != 0 ? 32'h80_0000 : 32'd0);
    s     = {32'd0, sig} << 39;
    count = 32'd158 - e;
    count = count < 63 ? count : 32'd63;  // a number that is too large gives an arbitrary value, which is not used
    lost  = s & ~(64'hFFFF_FFFF_FFFF_FFFF << count[5:0]);
    value = (s >> count[5:0]) | (lost != 0 ? 64'd1 : 64'd0) | {x & Sign, 32'd0};
    info  = (mag > Inf ? Sign : 32'd0) | (e >= 158 ? 32'd1 : 32'd0);
  endfunction

  // Stage 3: moves the leading one to bit 30, but keeps the exponent at or above the smallest normal one. m: sign (31),
  // magnitude with 7 bits below the last place. info: NaN (31), biased exponent minus 1 (9:0).
  function automatic void normalise(input logic [63:0] value, input logic [31:0] info, output logic [31:0] m, output logic [31:0] m_info);
    logic [63:0] v, t;
    logic [31:0] e, n;
    v = value & 64'h7FFF_FFFF_FFFF_FFFF;
    e = (info & 32'h3FF) - SumOffset;
    t = v | (e < 63 ? 64'h4000_0000_0000_0000 >> e[5:0] : 64'd0);
    n = t < 64'h8000_0000 ? 32'd32 : 32'd0;
    t = t < 64'h8000_0000 ? t << 32 : t;
    n = t < 64'h8000_0000_0000 ? n + 16 : n;
    t = t < 64'h8000_0000_0000 ? t << 16 : t;
    n = t < 64'h80_0000_0000_0000 ? n + 8 : n;
    t = t < 64'h80_0000_0000_0000 ? t << 8 : t;
    n = t < 64'h800_0000_0000_0000 ? n + 4 : n;
    t = t < 64'h800_0000_0000_0000 ? t << 4 : t;
    n = t < 64'h2000_0000_0000_0000 ? n + 2 : n;
    t = t < 64'h2000_0000_0000_0000 ? t << 2 : t;
    n = t < 64'h4000_0000_0000_0000 ? n + 1 : n;
    v = v << n[5:0];
    m = v[63:32] | (v[31:0] != 0 ? 32'd1 : 32'd0) | (value[63] ? Sign : 32'd0);
    m_info = (info & Sign) | (e - n);
  endfunction

  // Stage 4: rounds to nearest even and packs. The leading one adds 1 to the exponent; a carry does too, up to
  // infinity.
  function automatic logic [31:0] round(logic [31:0] m, logic [31:0] info);
    logic [31:0] mag, r;
    mag = m & ~Sign;
    r = ((mag + 32'h3F + ((mag >> 7) & 32'd1)) >> 7) + ((info & 32'h3FF) << 23);
    r = r < Inf ? r : Inf;
    r = (mag != 0 ? r : 32'd0) | (m & Sign);
    return info[31] ? Nan : r;
  endfunction

  // Stage 3 of a conversion to int32: rounds the magnitude to an integer, to nearest even or towards minus infinity.
  // info: NaN (31), sign (1), too large (0).
  function automatic void round_int(input logic [63:0] value, input logic [31:0] info, input logic floor, output logic [31:0] m,
                                    output logic [31:0] m_info);
    logic [31:0] whole, part, more;
    whole  = value[62:31];
    part   = value[31:0] & 32'h7FFF_FFFF;
    more   = floor ? (value[63] && part != 0 ? 32'd1 : 32'd0) : (part + {31'd0, whole[0]} > 32'h4000_0000 ? 32'd1 : 32'd0);
    m      = whole + more;
    m_info = info | (value[63] ? 32'd2 : 32'd0);
  endfunction

  // Stage 4 of a conversion to int32: limits and packs.
  function automatic logic [31:0] pack_int(logic [31:0] m, logic [31:0] info);
    logic [31:0] r;
    r = info[1] ? ((info & 32'd1) != 0 || m > Sign ? Sign : -m) : ((info & 32'd1) != 0 || m >= Sign ? ~Sign : m);
    return info[31] ? 32'd0 : r;
  endfunction

endpackage
