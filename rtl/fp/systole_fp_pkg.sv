// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fused multiply-add of narrow floating-point operands and a wider sum: one rounding to nearest even, subnormals kept, one NaN.
// Formats are arguments, constants at each call: operands of oe exponent and om mantissa bits, sums of ae and am; see supported().
// All in 32-bit words, selections rather than branches: the form that simulates fastest.
// Docs: docs/numerics.md, docs/mxu.md. Test: tests/rtl/fp.

package systole_fp_pkg;

  // Exponents inside are biased so that the sum of two operands' is one of a product, and 0 is that of the number zero: low enough
  // that a product with it never pushes a sum aside. Infinities and NaNs have `special`, above all sums of finite ones.
  function automatic logic [31:0] bias(int unsigned exp_bits);
    return (32'd1 << (exp_bits - 1)) - 32'd1;
  endfunction

  function automatic logic [31:0] special(int unsigned oe, int unsigned ae);
    return 4 * bias(oe) + 2 * bias(ae) + 2;
  endfunction

  // An inner exponent less this is the biased one of the sum's format.
  function automatic logic [31:0] offset(int unsigned oe, int unsigned ae);
    return 2 * bias(oe) + bias(ae) - 2;
  endfunction

  // Words of 32 bits hold what the formats need: significands, alignment without loss where much may cancel, exponents.
  function automatic bit supported(int unsigned oe, int unsigned om, int unsigned ae, int unsigned am);
    return om <= 7 && 2 * om <= am + 3 && am <= 23 && bias(ae) >= om && special(oe, ae) < 1024
           && (2 * bias(oe) + bias(ae) + 8) >> (32 - am) == 0;
  endfunction

  // An operand as the cells carry it: sign (31), exponent (25:16), significand (7:0) with its leading one at bit om. Subnormals come
  // out normalised; an infinity is a 1 and a NaN a 0 of exponent `special`.
  function automatic logic [31:0] recode(logic [31:0] x, int unsigned oe, int unsigned om, int unsigned ae);
    logic [31:0] e, s, ones;
    ones = (32'd1 << oe) - 1;
    e = (x >> om) & ones;
    s = (x & ((32'd1 << om) - 1)) << (7 - om);
    if (e == ones) begin
      s = s == 0 ? 32'h80 : 32'd0;
      e = special(oe, ae);
    end else if (e != 0) begin
      s = s | 32'h80;
      e = e + bias(ae) - 1;
    end else if (s != 0) begin
      e = bias(ae);
      if (s < 32'h10) begin
        s = s << 4;
        e = e - 4;
      end
      if (s < 32'h40) begin
        s = s << 2;
        e = e - 2;
      end
      if (s < 32'h80) begin
        s = s << 1;
        e = e - 1;
      end
    end
    return ((x >> (oe + om)) << 31) | (e << 16) | (s >> (7 - om));
  endfunction

  // A recoded operand without the bits that are always 0, as it is kept in registers.
  localparam int unsigned OperandBits = 19;

  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [OperandBits-1:0] pack_operand(logic [31:0] x);
    return {x[31], x[25:16], x[7:0]};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  function automatic logic [31:0] unpack_operand(logic [OperandBits-1:0] x);
    return {x[18], 5'd0, x[17:8], 8'd0, x[7:0]};
  endfunction

  // Exact product of two recoded operands: sign (31), exponent (25:16), significand (15:0), of which 2 * om bits are a fraction. A
  // product that is infinite or NaN has exponent `special`, and a NaN the significand 0.
  function automatic logic [31:0] multiply(logic [31:0] a, logic [31:0] b, int unsigned oe, int unsigned ae);
    logic [31:0] e;
    e = ((a + b) >> 16) & 32'h7FF;
    e = e < special(oe, ae) ? e : special(oe, ae);
    return ((a ^ b) & 32'h8000_0000) | (e << 16) | ((a & 32'hFF) * (b & 32'hFF));
  endfunction

  // Puts a product and a sum one above the other, the smaller exponent to the right, with a last bit that is 1 if anything below it is
  // lost. upper: sign (31), magnitude with the leading one at bit am + 5, that of a product there or one above; lower: subtract (31),
  // magnitude; info: NaN (31), exponent (9:0).
  function automatic void align(input logic [31:0] prod, input logic [31:0] sum, output logic [31:0] upper, output logic [31:0] lower,
                                output logic [31:0] info, input int unsigned oe, input int unsigned om, input int unsigned ae,
                                input int unsigned am);
    logic [31:0] infinity, mag, e, s_exp, p_exp, s, p, sub, kept, count, nan;
    logic        p_upper;
    infinity = ((32'd1 << ae) - 1) << am;
    mag   = sum & ((32'd1 << (ae + am)) - 1);
    e     = mag >> am;
    s     = ((mag & ((32'd1 << am) - 1)) | (e != 0 ? 32'd1 << am : 32'd0)) << 5;
    s_exp = mag >= infinity ? special(oe, ae) : (e != 0 ? e : 32'd1) + offset(oe, ae);
    p     = (prod & 32'hFFFF) << (am + 5 - 2 * om);
    p_exp = (prod >> 16) & 32'h3FF;
    sub   = (((sum >> (ae + am)) << 31) ^ prod) & 32'h8000_0000;
    p_upper = p_exp > s_exp;
    upper   = p_upper ? p : s;
    lower   = p_upper ? s : p;
    count   = p_upper ? p_exp - s_exp : s_exp - p_exp;
    count   = count < 31 ? count : 32'd31;
    kept    = lower >> count[4:0];
    lower   = (kept << count[4:0]) != lower ? kept | 32'd1 : kept;
    // NaN: an operand, infinity times zero, or the difference of infinities.
    info = p_upper ? p_exp : s_exp;
    nan  = p_exp >= special(oe, ae) ? 32'h8000_0000 : info;
    info = p == 0 ? nan : info;
    info = (mag ^ sub) == (infinity | 32'h8000_0000) ? nan : info;
    info = mag > infinity ? 32'h8000_0000 : info;
    upper = upper | ((p_upper ? prod : prod ^ sub) & 32'h8000_0000);
    lower = lower | sub;
  endfunction

  // Adds what align() gives; sign (31), magnitude. An exact zero is +0 unless both were negative.
  function automatic logic [31:0] add(logic [31:0] upper, logic [31:0] lower);
    logic [31:0] sum, sign;
    sum  = lower[31] ? (upper & 32'h7FFF_FFFF) - (lower & 32'h7FFF_FFFF) : (upper & 32'h7FFF_FFFF) + lower;
    sign = upper & 32'h8000_0000;
    sign = sum != 0 ? sign ^ (sum & 32'h8000_0000) : sign & ~lower;
    return sign | (sum[31] ? -sum : sum);
  endfunction

  // Shifts the leading one of what add() gives to bit am + 7, or as far as the smallest normal exponent lets it; the exponent becomes
  // the biased one less 1.
  function automatic void normalise(input logic [31:0] value, input logic [31:0] info, output logic [31:0] value_o,
                                    output logic [31:0] info_o, input int unsigned oe, input int unsigned ae, input int unsigned am);
    logic [31:0] m, e, t, n;
    m = value & 32'h7FFF_FFFF;
    e = (info & 32'h3FF) - offset(oe, ae) + 1;
    t = m | ((32'd1 << (am + 7)) >> e);
    n = 0;
    if (am >= 9) begin
      n = t >> (am - 8) == 0 ? 32'd16 : 32'd0;
      t = t >> (am - 8) == 0 ? t << 16 : t;
    end
    n = t >> am == 0 ? n | 8 : n;
    t = t >> am == 0 ? t << 8 : t;
    n = t >> (am + 4) == 0 ? n | 4 : n;
    t = t >> (am + 4) == 0 ? t << 4 : t;
    n = t >> (am + 6) == 0 ? n | 2 : n;
    t = t >> (am + 6) == 0 ? t << 2 : t;
    n = t >> (am + 7) == 0 ? n | 1 : n;
    value_o = (value & 32'h8000_0000) | (m << n[4:0]);
    info_o  = (info & 32'h8000_0000) | ((e - n) & 32'h3FF);
  endfunction

  // Rounds what normalise() gives to nearest even and packs it.
  function automatic logic [31:0] round(logic [31:0] value, logic [31:0] info, int unsigned ae, int unsigned am);
    logic [31:0] infinity, m, r;
    infinity = ((32'd1 << ae) - 1) << am;
    m   = value & 32'h7FFF_FFFF;
    // The leading one adds 1 to the exponent; a carry out of the significand too, up to infinity.
    r = ((m + 32'h3F + ((m >> 7) & 1)) >> 7) + ((info & 32'h3FF) << am);
    r = r < infinity ? r : infinity;
    r = m != 0 ? r : 32'd0;
    r = r | ((value >> 31) << (ae + am));
    return info[31] ? infinity | (32'd1 << (am - 1)) : r;
  endfunction

endpackage
