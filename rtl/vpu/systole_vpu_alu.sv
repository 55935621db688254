// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// ALU over all lanes, one row a cycle, never stalls: operands stand in the cycle after start_i, then multiply or select | align and
// add | normalise | round; the row is written Stages + 1 cycles after start_i. One 32 x 32 multiplier a lane.
// Docs: docs/vpu.md, docs/numerics.md. Test: tests/rtl/vpu.

module systole_vpu_alu
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
  import systole_vpu_fp_pkg::*;
#(
    parameter int unsigned Cols = 8,
    localparam int unsigned Width = Cols * 32
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             start_i,
    input  vpu_op_e          op_i,
    input  logic [2:0]       number_i,
    input  row_t             row_i,
    input  logic [Width-1:0] a_i,        // operands, a cycle after start_i
    input  logic [Width-1:0] b_i,
    input  logic [Width-1:0] c_i,
    output write_t           write_o,
    output logic [Width-1:0] wdata_o
);
  localparam int unsigned Stages = 4;
  localparam int unsigned Group = 8;  // lanes that an inner loop takes: loops this short are unrolled, so that their selects are constant

  // What the stages do to a row.
  typedef enum logic [2:0] {
    Simple,    // stage 1 yields the result
    Low,       // stage 1 yields the product, whose low half is the result
    Fused,
    FromInt,
    ToInt
  } kind_e;

  logic    valid_q [1:Stages];
  vpu_op_e op_q [1:Stages];
  kind_e   kind_q [1:Stages], kind_d;
  write_t  write_q [1:Stages];

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
      write_q[1] <= '{valid: 1'b1, number: number_i, row: row_i};
    end
    for (int unsigned s = 2; s <= Stages; s++) begin
      if (valid_q[s-1]) begin
        op_q[s]    <= op_q[s-1];
        kind_q[s]  <= kind_q[s-1];
        write_q[s] <= write_q[s-1];
      end
    end
    write_o       <= write_q[Stages];
    write_o.valid <= rst_ni && valid_q[Stages];
  end

  always_ff @(posedge clk_i) begin
    valid_q[1] <= rst_ni && start_i;
    for (int unsigned s = 2; s <= Stages; s++) valid_q[s] <= rst_ni && valid_q[s-1];
  end

  // Data of the stages. Private to the one process below, which assigns them at once, last stage first: each stage reads what the
  // stage before it wrote one cycle ago. Written so because simulators turn these loops into vector code.
  // verilator lint_off BLKSEQ
  logic [31:0]      a_v [Cols], b_v [Cols], c_v [Cols];  // operands as lanes
  logic [31:0]      x1_q [Cols], i1_q [Cols];            // simple result, conversion's source or addend; product's sign and exponent
  logic [63:0]      p1_q [Cols];
  logic [31:0]      x2_q [Cols], i2_q [Cols];
  logic [63:0]      v2_q [Cols];
  logic [31:0]      x3_q [Cols], i3_q [Cols];
  logic [31:0]      y_v [Cols];
  logic [Width-1:0] row_v;

  task automatic unpack(logic third);
    for (int unsigned g = 0; g < Cols / Group; g++) begin
      for (int unsigned i = 0; i < Group; i++) a_v[g*Group+i] = a_i[(g*Group+i)*32+:32];
      for (int unsigned i = 0; i < Group; i++) b_v[g*Group+i] = b_i[(g*Group+i)*32+:32];
    end
    if (third) begin
      for (int unsigned g = 0; g < Cols / Group; g++) begin
        for (int unsigned i = 0; i < Group; i++) c_v[g*Group+i] = c_i[(g*Group+i)*32+:32];
      end
    end
  endtask

  task automatic pack();
    for (int unsigned g = 0; g < Cols / Group; g++) begin
      for (int unsigned i = 0; i < Group; i++) row_v[(g*Group+i)*32+:32] = y_v[g*Group+i];
    end
  endtask

  function automatic logic is_nan(logic [31:0] x);
    return (x & ~Sign) > Inf;
  endfunction

  // Orders floats as signed numbers, -0 below +0.
  function automatic logic signed [31:0] ordered(logic [31:0] x);
    return signed'(x[31] ? x ^ ~Sign : x);
  endfunction

  // The smaller of two, or of their mirror images.
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
    return is_nan(a) ? Nan : (a + (b & 32'hFFFF)) & 32'hFFFF_0000;  // the low half of an infinity is 0: it stays
  endfunction

  // Addition multiplies by 1; multiplication adds -0, which changes nothing. Masks rather than conditions, for vector code.
  task automatic stage1_multiply(vpu_op_e op);
    logic [31:0] flip_a, keep_b, one, flip_b, from_b, from_c, zero, integers;
    integers = all(op == VopImul);
    flip_a   = op == VopFnma ? Sign : 32'd0;
    keep_b   = ~all(op == VopFadd || op == VopFsub);
    one      = One & ~keep_b;
    flip_b   = op == VopFsub ? Sign : 32'd0;
    from_b   = ~keep_b;
    from_c   = all(op == VopFma || op == VopFnma);
    zero     = op == VopFmul ? Sign : 32'd0;
    for (int unsigned c = 0; c < Cols; c++) begin
      logic [31:0] x, y, m, n;
      x       = a_v[c] ^ flip_a;
      y       = (b_v[c] & keep_b) | one;
      m       = (x & integers) | (significand(x) & ~integers);
      n       = (y & integers) | (significand(y) & ~integers);
      p1_q[c] = 64'(m) * 64'(n);
      i1_q[c] = product_info(x, y);
      x1_q[c] = ((b_v[c] ^ flip_b) & from_b) | (c_v[c] & from_c) | zero;
    end
  endtask

  task automatic stage1_select(vpu_op_e op);
    unique case (op)
      VopFmin: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = select_float(a_v[c], b_v[c], 32'd0);
      VopFmax: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = select_float(a_v[c], b_v[c], Sign);
      VopFeq: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = equal(a_v[c], b_v[c]);
      VopFlt: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = less(a_v[c], b_v[c]);
      VopFle: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = less(a_v[c], b_v[c]) | equal(a_v[c], b_v[c]);
      default: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = a_v[c] != 0 ? b_v[c] : c_v[c];
    endcase
  endtask

  task automatic stage1_integer(vpu_op_e op);
    unique case (op)
      VopIadd: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = a_v[c] + b_v[c];
      VopIsub: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = a_v[c] - b_v[c];
      VopIlt: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = all(signed'(a_v[c]) < signed'(b_v[c]));
      VopIeq: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = all(a_v[c] == b_v[c]);
      VopImin: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = signed'(a_v[c]) < signed'(b_v[c]) ? a_v[c] : b_v[c];
      VopImax: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = signed'(a_v[c]) < signed'(b_v[c]) ? b_v[c] : a_v[c];
      VopIand: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = a_v[c] & b_v[c];
      VopIor: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = a_v[c] | b_v[c];
      VopIxor: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = a_v[c] ^ b_v[c];
      VopShl: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = a_v[c] << b_v[c][4:0];
      VopShr: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = a_v[c] >> b_v[c][4:0];
      default: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = unsigned'(signed'(a_v[c]) >>> b_v[c][4:0]);
    endcase
  endtask

  task automatic stage1_convert(vpu_op_e op);
    unique case (op)
      VopBf16: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = to_bf16(a_v[c]);
      VopSr: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = stochastic(a_v[c], b_v[c]);
      default: for (int unsigned c = 0; c < Cols; c++) x1_q[c] = a_v[c];
    endcase
  endtask

  task automatic stage2(kind_e kind);
    unique case (kind)
      Fused: for (int unsigned c = 0; c < Cols; c++) add(p1_q[c], i1_q[c], x1_q[c], v2_q[c], i2_q[c]);
      FromInt: for (int unsigned c = 0; c < Cols; c++) from_int(x1_q[c], v2_q[c], i2_q[c]);
      ToInt: for (int unsigned c = 0; c < Cols; c++) to_int(x1_q[c], v2_q[c], i2_q[c]);
      Low: for (int unsigned c = 0; c < Cols; c++) x2_q[c] = p1_q[c][31:0];
      default: for (int unsigned c = 0; c < Cols; c++) x2_q[c] = x1_q[c];
    endcase
  endtask

  task automatic stage3(kind_e kind, logic floor);
    unique case (kind)
      Fused, FromInt: for (int unsigned c = 0; c < Cols; c++) normalise(v2_q[c], i2_q[c], x3_q[c], i3_q[c]);
      ToInt: for (int unsigned c = 0; c < Cols; c++) round_int(v2_q[c], i2_q[c], floor, x3_q[c], i3_q[c]);
      default: for (int unsigned c = 0; c < Cols; c++) x3_q[c] = x2_q[c];
    endcase
  endtask

  task automatic stage4(kind_e kind);
    unique case (kind)
      Fused, FromInt: for (int unsigned c = 0; c < Cols; c++) y_v[c] = round(x3_q[c], i3_q[c]);
      ToInt: for (int unsigned c = 0; c < Cols; c++) y_v[c] = pack_int(x3_q[c], i3_q[c]);
      default: for (int unsigned c = 0; c < Cols; c++) y_v[c] = x3_q[c];
    endcase
  endtask

  always_ff @(posedge clk_i) begin : lanes
    if (valid_q[4]) begin
      stage4(kind_q[4]);
      pack();
      wdata_o <= row_v;
    end
    if (valid_q[3]) stage3(kind_q[3], op_q[3] == VopF2iFloor);
    if (valid_q[2]) stage2(kind_q[2]);
    if (valid_q[1]) begin
      unpack(op_q[1] inside {VopFma, VopFnma, VopSel});
      unique case (class_of(op_q[1]))
        ClassFloat: stage1_multiply(op_q[1]);
        ClassSelect: stage1_select(op_q[1]);
        ClassInteger: if (op_q[1] == VopImul) stage1_multiply(op_q[1]); else stage1_integer(op_q[1]);
        default: stage1_convert(op_q[1]);
      endcase
    end
  end
  // verilator lint_on BLKSEQ

  // Only operations of the ALU come.
  always_ff @(posedge clk_i) begin
    if (rst_ni && start_i) begin
      a_class : assert (class_of(op_i) inside {ClassFloat, ClassSelect, ClassInteger, ClassConvert});
    end
  end
endmodule
