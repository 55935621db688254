// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Simulation view of the functions' lanes: one process for all lanes, in the form that simulates fastest. Stages:
// decode | table | t * c2 | slope | t * slope | poly | product | sum | round | delay. Results and latency equal those
// of systole_vpu_sfu_lane.
// Docs: docs/numerics.md, "Functions". Test: tests/rtl/sfu.

module systole_vpu_sfu_fast
  import systole_sfu_pkg::*;
#(
    parameter int unsigned Lanes = 8
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  sfu_op_e     op_i,
    input  logic [31:0] a_i [Lanes],
    output logic [31:0] y_o [Lanes]
);
  localparam logic [31:0] Nan = 32'h7FC0_0000;
  localparam logic [31:0] Inf = 32'h7F80_0000;
  localparam logic [31:0] One = 32'h3F80_0000;
  localparam logic [31:0] Sign = 32'h8000_0000;
  localparam logic [31:0] Fraction = 32'h007F_FFFF;
  localparam logic [31:0] Fixed = 32'h3FFF_FFFF;

  // `scale` is Special: the result is `plain`, and nothing is computed.
  localparam logic [31:0] Special = 32'h8000_0000;
  // Otherwise the low half of `scale` is the result's exponent field, minus 1, for a sum (stage 8) whose leading one is
  // at bit 62; it belongs to `factor`. For log2 the low half is the whole part of the result, and that exponent is
  // LogScale. `plain` has the sign.
  localparam logic [31:0] LogScale = 134;  // sum in units of 2^-54
  localparam logic [31:0] PolyFactor = 256;
  localparam logic [31:0] PolyScale = 150;  // 2^8 * poly, poly in units of 2^-30

  // Bit s belongs to the data that stage s wrote.
  logic [SfuLatency-1:1] valid_q;
  logic [7:1]          log2_q;

  // Tables: each lane makes one read.
  (* ram_style = "auto" *) logic        [SfuC0Bits-1:0] c0_rom [SfuEntries];
  (* ram_style = "auto" *) logic signed [SfuC1Bits-1:0] c1_rom [SfuEntries];
  (* ram_style = "auto" *) logic signed [SfuC2Bits-1:0] c2_rom [SfuEntries];
  initial begin
    c0_rom = SfuC0;
    c1_rom = SfuC1;
    c2_rom = SfuC2;
  end

  // Argument functions.

  // Significand with its leading one at bit 23; above it, the number of places that it was shifted left.
  function automatic logic [31:0] normalised(logic [31:0] magnitude);
    logic [31:0] m, n;
    m = (magnitude & Fraction) | (magnitude > Fraction ? 32'h0080_0000 : 32'd0);
    n = m < 32'h0000_0100 ? 32'd16 : 32'd0;
    m = m < 32'h0000_0100 ? m << 16 : m;
    n = m < 32'h0001_0000 ? n + 8 : n;
    m = m < 32'h0001_0000 ? m << 8 : m;
    n = m < 32'h0010_0000 ? n + 4 : n;
    m = m < 32'h0010_0000 ? m << 4 : m;
    n = m < 32'h0040_0000 ? n + 2 : n;
    m = m < 32'h0040_0000 ? m << 2 : m;
    n = m < 32'h0080_0000 ? n + 1 : n;
    m = m < 32'h0080_0000 ? m << 1 : m;
    return (n << 24) | m;
  endfunction

  // Exponent of a magnitude, as a signed number, from the magnitude and its normalised significand.
  function automatic logic [31:0] exponent(logic [31:0] magnitude, logic [31:0] norm);
    return (magnitude > Fraction ? magnitude >> 23 : 32'd1) - 32'd127 - (norm >> 24);
  endfunction

  // Fraction and whole part of a magnitude below 256; the fraction is in units of 2^-30. Subnormals give 0.
  function automatic logic [31:0] fixed_fraction(logic [31:0] magnitude);
    logic [31:0] m, left, right;
    m     = (magnitude & Fraction) | 32'h0080_0000;
    left  = (magnitude >> 23) - 32'd120;
    right = left[31] ? -left : 32'd0;
    right = right < 32'd31 ? right : 32'd31;
    return (left[31] ? m >> right[4:0] : m << left[4:0]) & Fixed;
  endfunction

  function automatic logic [31:0] fixed_whole(logic [31:0] magnitude);
    logic [31:0] right;
    right = 32'd150 - (magnitude >> 23);
    right = right < 32'd31 ? right : 32'd31;
    return ((magnitude & Fraction) | 32'h0080_0000) >> right[4:0];
  endfunction

  // Result functions.

  // Normalises, but keeps the exponent at or above the smallest normal one, and rounds to nearest even. The leading one
  // adds 1 to the exponent; a carry out of the significand does too, up to infinity.
  function automatic logic [31:0] rounded(logic [63:0] sum, logic [31:0] scale);
    logic [31:0] e, n, r;
    logic [63:0] t;
    e = scale & 32'h0000_FFFF;
    n = e < 32'd63 ? e : 32'd63;
    t = sum | (64'h4000_0000_0000_0000 >> n[5:0]);
    n = t < 64'h0000_0000_8000_0000 ? 32'd32 : 32'd0;
    t = t < 64'h0000_0000_8000_0000 ? t << 32 : t;
    n = t < 64'h0000_8000_0000_0000 ? n + 16 : n;
    t = t < 64'h0000_8000_0000_0000 ? t << 16 : t;
    n = t < 64'h0080_0000_0000_0000 ? n + 8 : n;
    t = t < 64'h0080_0000_0000_0000 ? t << 8 : t;
    n = t < 64'h0800_0000_0000_0000 ? n + 4 : n;
    t = t < 64'h0800_0000_0000_0000 ? t << 4 : t;
    n = t < 64'h2000_0000_0000_0000 ? n + 2 : n;
    t = t < 64'h2000_0000_0000_0000 ? t << 2 : t;
    n = t < 64'h4000_0000_0000_0000 ? n + 1 : n;
    t = sum << n[5:0];
    t = t + 64'h0000_003F_FFFF_FFFF + 64'((t >> 39) & 64'd1);
    r = 32'(t >> 39) + ((e - n) << 23);
    r = r < Inf ? r : Inf;
    return sum != 0 ? r : 32'd0;
  endfunction

  // The stages, last one first: each reads what the stage before wrote one cycle ago. Their state is declared in this
  // block so that nothing else can read it, and in arrays because simulators vectorise these loops.
  always_ff @(posedge clk_i) begin : lanes
    logic        [31:0] entry1_q [Lanes];
    logic        [31:0] t1_q [Lanes], t2_q [Lanes], t3_q [Lanes], t4_q [Lanes];
    logic signed [31:0] factor1_q [Lanes], factor2_q [Lanes], factor3_q [Lanes], factor4_q [Lanes], factor5_q [Lanes], factor6_q [Lanes];
    logic        [31:0] scale1_q [Lanes], scale2_q [Lanes], scale3_q [Lanes], scale4_q [Lanes];
    logic        [31:0] scale5_q [Lanes], scale6_q [Lanes], scale7_q [Lanes], scale8_q [Lanes];
    logic        [31:0] plain1_q [Lanes], plain2_q [Lanes], plain3_q [Lanes], plain4_q [Lanes];
    logic        [31:0] plain5_q [Lanes], plain6_q [Lanes], plain7_q [Lanes], plain8_q [Lanes];
    logic        [31:0] c0_2_q [Lanes], c0_3_q [Lanes], c0_4_q [Lanes], c0_5_q [Lanes];
    logic signed [31:0] c1_2_q [Lanes], c1_3_q [Lanes];
    logic signed [31:0] c2_2_q [Lanes];
    logic signed [31:0] bend3_q [Lanes], slope4_q [Lanes], rise5_q [Lanes];
    logic        [31:0] poly6_q [Lanes];
    logic signed [63:0] product7_q [Lanes];
    logic        [63:0] sum8_q [Lanes];
    logic        [31:0] y [Lanes], y9_q [Lanes], y10_q [Lanes], y11_q [Lanes];

    if (valid_q[11]) y_o <= y11_q;
    if (valid_q[10]) y11_q = y10_q;
    if (valid_q[9]) y10_q = y9_q;

    if (valid_q[8]) begin
      for (int unsigned l = 0; l < Lanes; l++) y[l] = scale8_q[l][31] ? plain8_q[l] : plain8_q[l] | rounded(sum8_q[l], scale8_q[l]);
      y9_q = y;
    end

    // Sum. log2 adds the whole part and splits off the sign.
    if (valid_q[7]) begin
      if (log2_q[7]) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          logic signed [63:0] sum;
          sum         = product7_q[l] + (64'($signed(scale7_q[l][15:0])) <<< 54);
          sum8_q[l]   = sum < 0 ? -sum : sum;
          scale8_q[l] = (scale7_q[l] & Special) | LogScale;
          plain8_q[l] = sum < 0 && !scale7_q[l][31] ? Sign : plain7_q[l];
        end
      end else begin
        for (int unsigned l = 0; l < Lanes; l++) sum8_q[l] = product7_q[l];
        scale8_q = scale7_q;
        plain8_q = plain7_q;
      end
    end

    // Product.
    if (valid_q[6]) begin
      for (int unsigned l = 0; l < Lanes; l++) product7_q[l] = 64'(factor6_q[l]) * 64'($signed(poly6_q[l]));
      scale7_q = scale6_q;
      plain7_q = plain6_q;
    end

    // Polynomial.
    if (valid_q[5]) begin
      for (int unsigned l = 0; l < Lanes; l++) poly6_q[l] = c0_5_q[l] + 32'(rise5_q[l]);
      factor6_q = factor5_q;
      scale6_q  = scale5_q;
      plain6_q  = plain5_q;
    end

    // t * slope.
    if (valid_q[4]) begin
      for (int unsigned l = 0; l < Lanes; l++) rise5_q[l] = 32'((64'($signed(t4_q[l])) * 64'(slope4_q[l])) >>> 30);
      c0_5_q    = c0_4_q;
      factor5_q = factor4_q;
      scale5_q  = scale4_q;
      plain5_q  = plain4_q;
    end

    // Slope.
    if (valid_q[3]) begin
      for (int unsigned l = 0; l < Lanes; l++) slope4_q[l] = (c1_3_q[l] <<< 7) + bend3_q[l];
      c0_4_q    = c0_3_q;
      t4_q      = t3_q;
      factor4_q = factor3_q;
      scale4_q  = scale3_q;
      plain4_q  = plain3_q;
    end

    // t * c2.
    if (valid_q[2]) begin
      for (int unsigned l = 0; l < Lanes; l++) bend3_q[l] = 32'((64'($signed(t2_q[l] >> 6)) * 64'(c2_2_q[l])) >>> 10);
      c0_3_q    = c0_2_q;
      c1_3_q    = c1_2_q;
      t3_q      = t2_q;
      factor3_q = factor2_q;
      scale3_q  = scale2_q;
      plain3_q  = plain2_q;
    end

    // Table.
    if (valid_q[1]) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        c0_2_q[l] = 32'(c0_rom[entry1_q[l][10:0]]);
        c1_2_q[l] = 32'(c1_rom[entry1_q[l][10:0]]);
        c2_2_q[l] = 32'(c2_rom[entry1_q[l][10:0]]);
      end
      t2_q      = t1_q;
      factor2_q = factor1_q;
      scale2_q  = scale1_q;
      plain2_q  = plain1_q;
    end

    // Decode.
    if (valid_i) begin
      unique case (op_i)
        SfuExp2: for (int unsigned l = 0; l < Lanes; l++) begin
          logic [31:0] mag, w, whole;
          mag          = a_i[l] & ~Sign;
          w            = fixed_fraction(mag);
          whole        = fixed_whole(mag);
          whole        = a_i[l][31] ? -(whole + (w != 0 ? 32'd1 : 32'd0)) : whole;
          w            = a_i[l][31] ? -w & Fixed : w;
          whole        = whole + PolyScale;
          entry1_q[l]  = SfuExp2Base + (w >> 23);
          t1_q[l]      = w & Fraction;
          factor1_q[l] = PolyFactor;
          scale1_q[l]  = mag >= 32'h4380_0000 ? Special : whole;  // below 2^-150 it is negative, which sets Special too
          plain1_q[l]  = mag > Inf ? Nan : a_i[l][31] || mag < 32'h4380_0000 ? 32'd0 : Inf;
        end
        SfuLog2: for (int unsigned l = 0; l < Lanes; l++) begin
          logic [31:0] norm, m;
          logic        halve;
          norm         = normalised(a_i[l] & ~Sign);
          m            = norm & 32'h00FF_FFFF;
          halve        = m >= 32'h00C0_0000;
          entry1_q[l]  = SfuLog2Base + ((m & Fraction) >> 16);
          t1_q[l]      = (m << 7) & Fraction;
          factor1_q[l] = (halve ? m : m << 1) - 32'h0100_0000;
          scale1_q[l]  = a_i[l] == 0 || a_i[l] >= Inf ? Special : (exponent(a_i[l] & ~Sign, norm) + (halve ? 32'd1 : 32'd0)) & 32'h0000_FFFF;
          plain1_q[l]  = (a_i[l] & ~Sign) == 0 ? Sign | Inf : a_i[l] == Inf ? Inf : a_i[l] > Inf ? Nan : 32'd0;
        end
        SfuRcp: for (int unsigned l = 0; l < Lanes; l++) begin
          logic [31:0] mag, norm;
          mag          = a_i[l] & ~Sign;
          norm         = normalised(mag);
          entry1_q[l]  = SfuRcpBase + ((norm & Fraction) >> 15);
          t1_q[l]      = (norm << 8) & Fraction;
          factor1_q[l] = PolyFactor;
          scale1_q[l]  = mag == 0 || mag >= Inf ? Special : PolyScale - 32'd1 - exponent(mag, norm);
          plain1_q[l]  = mag > Inf ? Nan : (a_i[l] & Sign) | (mag == 0 ? Inf : 32'd0);
        end
        SfuRsqrt: for (int unsigned l = 0; l < Lanes; l++) begin
          logic [31:0] mag, norm, x;
          mag          = a_i[l] & ~Sign;
          norm         = normalised(mag);
          x            = exponent(mag, norm);
          entry1_q[l]  = (x[0] ? SfuRsqrt2Base : SfuRsqrtBase) + ((norm & Fraction) >> 16);
          t1_q[l]      = (norm << 7) & Fraction;
          factor1_q[l] = PolyFactor;
          scale1_q[l]  = mag == 0 || a_i[l] >= Inf ? Special : PolyScale - 32'd1 - 32'($signed(x) >>> 1);
          plain1_q[l]  = mag == 0 ? a_i[l] | Inf : a_i[l] > Inf ? Nan : 32'd0;
        end
        default: for (int unsigned l = 0; l < Lanes; l++) begin
          logic [31:0] mag, e, f, w, base;
          mag          = a_i[l] & ~Sign;
          e            = mag >> 23;
          f            = mag & Fraction;
          // From 1 on: one octave each, with segments selected by the top 6, 7, 6, 4 bits of the fraction.
          w            = e < 127 ? fixed_fraction(mag) : e == 128 ? f << 7 : e < 130 ? f << 6 : f << 4;
          base         = e == 127 ? SfuTanh1Base : e == 128 ? SfuTanh2Base : e == 129 ? SfuTanh4Base : SfuTanh8Base;
          base         = e < 127 ? SfuTanhBase : base;
          entry1_q[l]  = base + (w >> 23);
          t1_q[l]      = w & Fraction;
          factor1_q[l] = e < 127 ? f | 32'h0080_0000 : PolyFactor;
          scale1_q[l]  = mag < 32'h3980_0000 || mag >= 32'h4180_0000 ? Special : e < 127 ? e + 32'd8 : PolyScale;
          plain1_q[l]  = mag > Inf ? Nan : mag < 32'h3980_0000 ? a_i[l] : (a_i[l] & Sign) | (mag >= 32'h4180_0000 ? One : 32'd0);
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    log2_q <= {log2_q[6:1], op_i == SfuLog2};
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[SfuLatency-2:1], valid_i};
  end
endmodule
