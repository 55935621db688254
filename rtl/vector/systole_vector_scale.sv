// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Scaling of the lanes: r = x * m * 2^(s - 31), rounded and saturated, for -31 <= s <= 30. Truncation uses s = 7:
// r = (x * m) >> 24. Six stages that never stall: saturate | partial products | product | shift by 16s and 8s | shift by 4s, 2s
// and 1s | round.
// Docs: docs/vector.md, docs/numerics.md. Test: tests/rtl/vector/.

module systole_vector_scale
  import systole_vector_pkg::*;
#(
    parameter int unsigned Lanes = 8
) (
    input  logic               clk_i,
    input  logic               rst_ni,

    input  logic               valid_i,
    input  round_t             round_i,
    input  logic signed [31:0] x_i [Lanes],
    input  logic signed [31:0] m_i [Lanes],
    input  logic signed [7:0]  s_i [Lanes],

    output logic signed [31:0] r_o [Lanes]
);
  localparam logic signed [31:0] Max = 32'sh7fff_ffff;
  localparam logic signed [31:0] Min = 32'sh8000_0000;

  // *N_q is written by stage N.
  logic [5:1]         valid_q;
  round_t             round_q [1:4];
  logic signed [31:0] x1_q [Lanes], m1_q [Lanes];
  logic signed [7:0]  s1_q [Lanes], s2_q [Lanes], s3_q [Lanes];
  logic signed [31:0] hh2_q [Lanes], hl2_q [Lanes], lh2_q [Lanes];
  logic [31:0]        ll2_q [Lanes];
  logic signed [63:0] p3_q [Lanes];
  logic signed [39:0] w4_q [Lanes];
  logic [7:0]         f4_q [Lanes], f5_q [Lanes];  // flags, defined below
  logic [31:0]        v5_q [Lanes];

  // A lane's flags between the stages.
  localparam int unsigned Over = 0;    // the result does not fit
  localparam int unsigned Neg = 1;     // sign of the product
  localparam int unsigned Rest = 2;    // sticky bit: a bit below the half that was shifted out is 1
  localparam int unsigned Down = 3;    // a tie of a negative number is rounded down, away from zero
  localparam int unsigned Amount = 4;  // after stage 4: the remaining 3 bits of the shift amount
  localparam int unsigned Up = 4;      // after stage 5: add 1

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[4:1], valid_i};
  end

  always_ff @(posedge clk_i) begin
    round_q[1] <= round_i;
    for (int unsigned i = 2; i <= 4; i++) round_q[i] <= round_q[i-1];
  end

  // Stage 1. With double rounding, a left shift x << s saturates. If it does not, the shift may come after the product.
  always_ff @(posedge clk_i) begin : stage1
    logic signed [31:0] x_v [Lanes];
    logic signed [7:0]  s_v [Lanes];
    if (valid_i) begin
      for (int unsigned c = 0; c < Lanes; c++) begin
        logic signed [31:0] x, sign;  // declared separately: an unsigned term in the expression would make the shift logical
        logic signed [7:0]  s;
        logic [4:0]         n;
        logic               wide;
        x      = x_i[c];
        s      = s_i[c];
        sign   = x >>> 31;
        n      = s < 0 ? 5'd0 : s[4:0];
        wide   = round_i.twice && ((x ^ sign) & ~(32'h7fff_ffff >> n)) != 0;
        x_v[c] = wide ? (x < 0 ? Min : Max) : x;
        s_v[c] = wide ? 8'sd0 : s;
      end
      x1_q <= x_v;
      s1_q <= s_v;
      m1_q <= m_i;
    end
  end

  // Stage 2. Partial products of 17 x 17 bits fit a multiplier block.
  always_ff @(posedge clk_i) begin : stage2
    logic signed [31:0] hh_v [Lanes], hl_v [Lanes], lh_v [Lanes];
    logic [31:0]        ll_v [Lanes];
    if (valid_q[1]) begin
      for (int unsigned c = 0; c < Lanes; c++) begin
        logic signed [16:0] xh, xl, mh, ml;
        xh      = 17'(signed'(x1_q[c][31:16]));
        mh      = 17'(signed'(m1_q[c][31:16]));
        xl      = signed'({1'b0, x1_q[c][15:0]});
        ml      = signed'({1'b0, m1_q[c][15:0]});
        hh_v[c] = 32'(xh) * 32'(mh);
        hl_v[c] = 32'(xh) * 32'(ml);
        lh_v[c] = 32'(xl) * 32'(mh);
        ll_v[c] = 32'(xl) * 32'(ml);
      end
      hh2_q <= hh_v;
      hl2_q <= hl_v;
      lh2_q <= lh_v;
      ll2_q <= ll_v;
      s2_q  <= s1_q;
    end
  end

  // Stage 3. For double rounding, the first rounding constant is added here.
  always_ff @(posedge clk_i) begin : stage3
    logic signed [63:0] p_v [Lanes];
    if (valid_q[2]) begin
      for (int unsigned c = 0; c < Lanes; c++) begin
        logic signed [63:0] outer, inner;
        outer  = signed'({hh2_q[c], ll2_q[c]}) + (round_q[2].twice && s2_q[c] < 0 ? 64'sh4000_0000 : 64'sh0);
        inner  = 64'(hl2_q[c]) + 64'(lh2_q[c]);
        p_v[c] = outer + (inner <<< 16);
      end
      p3_q <= p_v;
      s3_q <= s2_q;
    end
  end

  // Stages 4 and 5 compute p >> (30 - s). Its bits 32..1 are the result before rounding, and bit 0 is the half. A right shift
  // (s < 0) starts from p >> 31; the bits below do not affect the result.
  always_ff @(posedge clk_i) begin : stage4
    logic signed [39:0] w_v [Lanes];
    logic [7:0]         f_v [Lanes];
    if (valid_q[3]) begin
      for (int unsigned c = 0; c < Lanes; c++) begin
        logic signed [63:0] p, w;
        logic signed [47:0] u;
        logic [4:0]         a;
        logic               right, over, rest;
        p      = p3_q[c];
        right  = s3_q[c] < 0;
        a      = right ? ~s3_q[c][4:0] : 5'd30 - s3_q[c][4:0];
        w      = right ? p >>> 31 : p;
        u      = 48'(a[4] ? w >>> 16 : w);
        w_v[c] = 40'(a[3] ? u >>> 8 : u);
        over   = (!a[4] && w >>> 47 != (w < 0 ? -64'sd1 : 64'sd0)) || (!a[3] && u >>> 39 != (u < 0 ? -48'sd1 : 48'sd0));
        rest   = (a[4] && w[15:0] != '0) || (a[3] && u[7:0] != '0);
        f_v[c] = {1'b0, a[2:0], right && round_q[3].twice, rest, p < 0, over};
      end
      w4_q <= w_v;
      f4_q <= f_v;
    end
  end

  always_ff @(posedge clk_i) begin : stage5
    logic [31:0] v_v [Lanes];
    logic [7:0]  f_v [Lanes];
    if (valid_q[4]) begin
      for (int unsigned c = 0; c < Lanes; c++) begin
        logic signed [39:0] w;
        logic signed [35:0] t;
        logic signed [33:0] u;
        logic signed [32:0] v;
        logic [2:0]         a;
        logic               over, rest, up;
        w      = w4_q[c];
        a      = f4_q[c][Amount+:3];
        t      = 36'(a[2] ? w >>> 4 : w);
        u      = 34'(a[1] ? t >>> 2 : t);
        v      = 33'(a[0] ? u >>> 1 : u);
        over   = f4_q[c][Over] || (!a[2] && w >>> 35 != (w < 0 ? -40'sd1 : 40'sd0)) ||
                 (!a[1] && t >>> 33 != (t < 0 ? -36'sd1 : 36'sd0)) || (!a[0] && u[33] != u[32]);
        rest   = f4_q[c][Rest] || (a[2] && w[3:0] != '0) || (a[1] && t[1:0] != '0) || (a[0] && u[0]);
        up     = v[0] && !round_q[4].trunc && !(f4_q[c][Down] && f4_q[c][Neg] && !rest);
        v_v[c] = v[32:1];
        f_v[c] = {3'b000, up, 2'b00, f4_q[c][Neg], over};
      end
      v5_q <= v_v;
      f5_q <= f_v;
    end
  end

  // Stage 6.
  always_ff @(posedge clk_i) begin : stage6
    logic signed [31:0] r_v [Lanes];
    if (valid_q[5]) begin
      for (int unsigned c = 0; c < Lanes; c++) begin
        logic [31:0] r;
        r      = v5_q[c] + 32'(f5_q[c][Up]);
        r_v[c] = f5_q[c][Over] || (!f5_q[c][Neg] && r[31]) ? (f5_q[c][Neg] ? Min : Max) : signed'(r);
      end
      r_o <= r_v;
    end
  end

  // Check: truncation is only used with its fixed shift.
  always_ff @(posedge clk_i) begin
    if (rst_ni && valid_i) begin
      a_trunc : assert (!round_i.trunc || (!round_i.twice && s_i[0] == 8'sd7));
    end
  end
endmodule
