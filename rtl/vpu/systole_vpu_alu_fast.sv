// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Simulation view of the ALU's lanes: one process for all lanes, in the form that simulates fastest. Stages: multiply
// or select | align and add | normalise | round | delay. Results and latency equal those of systole_vpu_alu_lane.
// Docs: docs/vpu.md, docs/numerics.md. Test: tests/rtl/vpu.

module systole_vpu_alu_fast
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
  import systole_vpu_fp_pkg::*;
#(
    parameter int unsigned Lanes = 8,
    localparam int unsigned Width = Lanes * 32
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             start_i,
    input  vpu_op_e          op_i,
    input  logic [Width-1:0] a_i,        // operands, one cycle after start_i
    input  logic [Width-1:0] b_i,
    input  logic [Width-1:0] c_i,
    output logic [Width-1:0] wdata_o     // six cycles after start_i
);
  localparam int unsigned Stages = 4;
  localparam int unsigned Group = 8;  // lanes per inner loop: short loops are unrolled, so their selects are constant

  // What the stages do with a row.
  typedef enum logic [2:0] {
    Simple,    // stage 1 computes the result
    Low,       // stage 1 computes the product; its low half is the result
    Fused,
    FromInt,
    ToInt
  } kind_e;

  logic    valid_q [1:Stages+1];
  vpu_op_e op_q [1:Stages];
  kind_e   kind_q [1:Stages], kind_d;

  always_comb begin
    unique case (op_i)
      VopFadd, VopFsub, VopFmul, VopFma, VopFnma: kind_d = Fused;
      VopImul: kind_d = Low;
      VopI2f: kind_d = FromInt;
      VopF2i, VopF2iFloor: kind_d = ToInt;
      default: kind_d = Simple;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      op_q[1]    <= op_i;
      kind_q[1]  <= kind_d;
    end
    for (int unsigned s = 2; s <= Stages; s++) begin
      if (valid_q[s-1]) begin
        op_q[s]    <= op_q[s-1];
        kind_q[s]  <= kind_q[s-1];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q[1] <= rst_ni && start_i;
    for (int unsigned s = 2; s <= Stages + 1; s++) valid_q[s] <= rst_ni && valid_q[s-1];
  end

  function automatic logic is_nan(logic [31:0] x);
    return (x & ~Sign) > Inf;
  endfunction

  // Maps floats to signed numbers of the same order, with -0 below +0.
  function automatic logic signed [31:0] ordered(logic [31:0] x);
    return signed'(x[31] ? x ^ ~Sign : x);
  endfunction

  // Minimum; with mirror = Sign, the maximum.
  function automatic logic [31:0] select_float(logic [31:0] a, logic [31:0] b, logic [31:0] mirror);
    logic [31:0] r;
    r = ordered(a ^ mirror) < ordered(b ^ mirror) ? a : b;
    return is_nan(a) || is_nan(b) ? Nan : r;
  endfunction

  function automatic logic [31:0] all(logic condition);
    return condition ? 32'hFFFF_FFFF : 32'd0;
  endfunction

  function automatic logic [31:0] equal(logic [31:0] a, logic [31:0] b);
    return all((a == b || ((a | b) & ~Sign) == 0) && !is_nan(a) && !is_nan(b));
  endfunction

  function automatic logic [31:0] less(logic [31:0] a, logic [31:0] b);
    return all(ordered(a) < ordered(b) && ((a | b) & ~Sign) != 0 && !is_nan(a) && !is_nan(b));
  endfunction

  function automatic logic [31:0] stochastic(logic [31:0] a, logic [31:0] b);
    return is_nan(a) ? Nan : (a + (b & 32'hFFFF)) & 32'hFFFF_0000;  // an infinity stays, because its low half is 0
  endfunction

  // The stages, last one first: each reads what the stage before wrote one cycle ago. Their state is declared in this
  // block so that nothing else can read it, and in arrays because simulators vectorise these loops.
  always_ff @(posedge clk_i) begin : lanes
    logic [31:0]      a [Lanes], b [Lanes], c [Lanes], result [Lanes];
    logic [31:0]      x1_q [Lanes], i1_q [Lanes];  // simple result, source of a conversion, or addend; sign and exponent of the product
    logic [63:0]      p1_q [Lanes];
    logic [31:0]      x2_q [Lanes], i2_q [Lanes];
    logic [63:0]      v2_q [Lanes];
    logic [31:0]      x3_q [Lanes], i3_q [Lanes];
    logic [31:0]      flip_a, keep_b, one, flip_b, from_b, from_c, zero, integers;
    logic [Width-1:0] row, result_q;
    vpu_op_e          op;

    if (valid_q[5]) wdata_o <= result_q;

    if (valid_q[4]) begin
      unique case (kind_q[4])
        Fused, FromInt: for (int unsigned l = 0; l < Lanes; l++) result[l] = round(x3_q[l], i3_q[l]);
        ToInt: for (int unsigned l = 0; l < Lanes; l++) result[l] = pack_int(x3_q[l], i3_q[l]);
        default: result = x3_q;
      endcase
      for (int unsigned g = 0; g < Lanes / Group; g++) begin
        for (int unsigned i = 0; i < Group; i++) row[(g*Group+i)*32+:32] = result[g*Group+i];
      end
      result_q = row;
    end

    if (valid_q[3]) begin
      unique case (kind_q[3])
        Fused, FromInt: for (int unsigned l = 0; l < Lanes; l++) normalise(v2_q[l], i2_q[l], x3_q[l], i3_q[l]);
        ToInt: for (int unsigned l = 0; l < Lanes; l++) round_int(v2_q[l], i2_q[l], op_q[3] == VopF2iFloor, x3_q[l], i3_q[l]);
        default: x3_q = x2_q;
      endcase
    end

    if (valid_q[2]) begin
      unique case (kind_q[2])
        Fused: for (int unsigned l = 0; l < Lanes; l++) add(p1_q[l], i1_q[l], x1_q[l], v2_q[l], i2_q[l]);
        FromInt: for (int unsigned l = 0; l < Lanes; l++) from_int(x1_q[l], v2_q[l], i2_q[l]);
        ToInt: for (int unsigned l = 0; l < Lanes; l++) to_int(x1_q[l], v2_q[l], i2_q[l]);
        Low: for (int unsigned l = 0; l < Lanes; l++) x2_q[l] = p1_q[l][31:0];
        default: x2_q = x1_q;
      endcase
    end

    if (valid_q[1]) begin
      op = op_q[1];
      for (int unsigned g = 0; g < Lanes / Group; g++) begin
        for (int unsigned i = 0; i < Group; i++) a[g*Group+i] = a_i[(g*Group+i)*32+:32];
        for (int unsigned i = 0; i < Group; i++) b[g*Group+i] = b_i[(g*Group+i)*32+:32];
        for (int unsigned i = 0; i < Group; i++) c[g*Group+i] = c_i[(g*Group+i)*32+:32];
      end
      unique case (op)
        VopFmin: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = select_float(a[l], b[l], 32'd0);
        VopFmax: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = select_float(a[l], b[l], Sign);
        VopFeq: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = equal(a[l], b[l]);
        VopFlt: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = less(a[l], b[l]);
        VopFle: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = less(a[l], b[l]) | equal(a[l], b[l]);
        VopSel: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = a[l] != 0 ? b[l] : c[l];
        VopIadd: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = a[l] + b[l];
        VopIsub: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = a[l] - b[l];
        VopIlt: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = all(signed'(a[l]) < signed'(b[l]));
        VopIeq: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = all(a[l] == b[l]);
        VopImin: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = signed'(a[l]) < signed'(b[l]) ? a[l] : b[l];
        VopImax: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = signed'(a[l]) < signed'(b[l]) ? b[l] : a[l];
        VopIand: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = a[l] & b[l];
        VopIor: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = a[l] | b[l];
        VopIxor: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = a[l] ^ b[l];
        VopShl: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = a[l] << b[l][4:0];
        VopShr: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = a[l] >> b[l][4:0];
        VopSar: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = unsigned'(signed'(a[l]) >>> b[l][4:0]);
        VopBf16: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = to_bf16(a[l]);
        VopSr: for (int unsigned l = 0; l < Lanes; l++) x1_q[l] = stochastic(a[l], b[l]);
        VopFadd, VopFsub, VopFmul, VopFma, VopFnma, VopImul: begin
          // Addition multiplies by 1; multiplication adds -0, which changes nothing. Masks instead of conditions, for
          // vectorisation.
          integers = all(op == VopImul);
          flip_a   = op == VopFnma ? Sign : 32'd0;
          keep_b   = ~all(op == VopFadd || op == VopFsub);
          one      = One & ~keep_b;
          flip_b   = op == VopFsub ? Sign : 32'd0;
          from_b   = ~keep_b;
          from_c   = all(op == VopFma || op == VopFnma);
          zero     = op == VopFmul ? Sign : 32'd0;
          for (int unsigned l = 0; l < Lanes; l++) begin
            logic [31:0] x, y, m, n;
            x       = a[l] ^ flip_a;
            y       = (b[l] & keep_b) | one;
            m       = (x & integers) | (significand(x) & ~integers);
            n       = (y & integers) | (significand(y) & ~integers);
            p1_q[l] = 64'(m) * 64'(n);
            i1_q[l] = product_info(x, y);
            x1_q[l] = ((b[l] ^ flip_b) & from_b) | (c[l] & from_c) | zero;
          end
        end
        default: x1_q = a;
      endcase
    end
  end
endmodule
