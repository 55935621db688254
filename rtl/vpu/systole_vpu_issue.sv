// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Issue: executes scalar instructions (arithmetic, branches, vl, lanes) on the scalar registers, and reads the scalar
// operands of vector instructions, which it passes to the dispatch. Throughput: one instruction per cycle; a
// multiplication and a taken branch take three. The load of a word into a scalar register goes through the dispatch and
// load unit 0 like a row; later instructions wait.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_issue
  import systole_presets_pkg::*;
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetMini)
) (
    input  logic              clk_i,
    input  logic              rst_ni,

    input  logic              start_i,
    input  logic [11:0][31:0] args_i,
    input  logic              stop_i,     // squash everything
    input  logic              word_valid_i,  // the requested word arrives
    input  logic [31:0]       word_i,

    input  logic              valid_i,
    output logic              ready_o,
    input  decoded_t          decoded_i,
    input  logic              ahead_valid_i,  // ahead_i is decoded_i in the next cycle
    // verilator lint_off UNUSEDSIGNAL
    input  vpu_instr_t        ahead_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic              redirect_o,
    output logic [10:0]       target_o,

    // To the dispatch: all instructions except legal scalar instructions and branches. The addresses of loads and
    // stores must not exceed limit_o.
    output logic              valid_o,
    input  logic              ready_i,
    output logic              bad_o,      // illegal: fault vector_program
    output logic [10:0]       pc_o,
    output uop_t              uop_o,
    output logic [31:0]       span_o,     // address of the last row minus address of the first
    output logic [31:0]       limit_o
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned LaneBits = $clog2(Cols);
  localparam int unsigned Rows = vector_rows(Cfg);
  localparam int unsigned RowBits = $clog2(Rows);

  logic [31:0] s_q [VpuScalarRegs];
  count_t      vl_q, most;    // most: rows that a vl may set
  logic [RowBits-1:0] last;   // the last of the rows
  logic [LaneBits:0] lanes_q;

  vpu_instr_t  in;
  vpu_class_e  cls;
  vpu_op_e     op;
  logic [31:0] a, b, c, imm, index, result;  // a, b, c: registers, read with the instruction one cycle ago
  logic        is_scalar, is_branch, is_vl, is_lanes, local_op, is_mul, is_lds, taken, far, bad, go, send;
  logic [31:0] mul_a_q, mul_b_q, product_q;
  logic [1:0]  mul_q;  // cycles that the multiplication in this stage has taken
  logic        asked_q;  // the word load in this stage was passed on

  assign in    = decoded_i.instr;
  assign op    = vpu_op_e'(in.op);
  assign cls   = class_of(op);
  assign imm   = in.imm;
  assign index = imm + b;

  // A scalar register after the current instruction.
  function automatic logic [31:0] scalar(logic [3:0] number, logic [31:0] regs [VpuScalarRegs], logic changes, logic [3:0] d,
                                         logic [31:0] value);
    return changes && d == number ? value : regs[number];
  endfunction

  logic written;
  assign written = valid_i && (is_scalar || is_lds) && !decoded_i.illegal && in.d != '0;

  always_ff @(posedge clk_i) begin
    if (ahead_valid_i) begin
      a <= scalar(ahead_i.a[3:0], s_q, written, in.d[3:0], result);
      b <= scalar(ahead_i.b[3:0], s_q, written, in.d[3:0], result);
      c <= scalar(ahead_i.imm[3:0], s_q, written, in.d[3:0], result);
    end
  end

  assign is_scalar = cls == ClassScalar;
  assign is_branch = op inside {VopBeq, VopBne, VopBlt};
  assign is_vl     = op == VopVl;
  assign is_lanes  = op == VopLanes;
  assign is_mul    = op == VopMul && !decoded_i.illegal;
  assign is_lds    = op == VopLds && !decoded_i.illegal;
  assign taken     = (op == VopBeq && a == b) || (op == VopBne && a != b) || (op == VopBlt && signed'(a) < signed'(b));
  assign last      = RowBits'(vl_q - 1'b1);
  assign far       = imm >= VpuImemWords;
  assign most      = imm == '0 || imm > Rows ? count_t'(Rows) : count_t'(imm);

  assign bad = decoded_i.illegal || (is_branch && taken && far) || (is_vl && signed'(a) <= 0) ||
               (is_lanes && (a == '0 || a > Cols));
  assign local_op = !bad && (is_scalar || is_branch || is_vl || is_lanes);

  assign ready_o    = local_op ? !is_mul || mul_q == 2'd2 : is_lds ? asked_q && word_valid_i : !valid_o || ready_i;
  assign send       = valid_i && !local_op && !asked_q && (!valid_o || ready_i);
  assign go         = valid_i && ready_o;
  assign redirect_o = go && is_branch && taken && !bad;
  assign target_o   = imm[10:0];

  always_comb begin
    unique case (op)
      VopLi: result = imm;
      VopAdd: result = a + b;
      VopAddi: result = a + imm;
      VopSub: result = a - b;
      VopMul: result = product_q;
      VopSlli: result = a << imm[4:0];
      VopSrli: result = a >> imm[4:0];
      VopLds: result = word_i;
      default: result = a & b;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && is_mul) begin
      mul_a_q   <= a;
      mul_b_q   <= b;
      product_q <= mul_a_q * mul_b_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !(valid_i && is_mul) || go) mul_q <= '0;
    else mul_q <= mul_q + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (go && (local_op || is_lds)) begin
      if ((is_scalar || is_lds) && in.d != '0) s_q[in.d[3:0]] <= result;
      if (is_vl) vl_q <= a > 32'(most) ? most : count_t'(a);
      if (is_lanes) lanes_q <= a[LaneBits:0];
    end
    if (start_i) begin
      vl_q    <= count_t'(VpuVectorSteps);
      lanes_q <= (LaneBits + 1)'(Cols);
      s_q[0]  <= '0;
      for (int unsigned i = 1; i <= VpuArgs; i++) s_q[i] <= args_i[i-1];
      for (int unsigned i = VpuArgs + 1; i < VpuScalarRegs; i++) s_q[i] <= '0;
    end
  end

  // Operands of vector instructions.
  // verilator lint_off UNUSEDSIGNAL
  vpu_use_t    fields;
  // verilator lint_on UNUSEDSIGNAL
  uop_t        uop;
  logic        memory;
  logic [31:0] size;  // bytes per access

  function automatic source_t source(vpu_kind_e kind, logic [5:0] number, logic [1:0] mode, logic has_d, logic [5:0] d);
    source_t s;
    s.used   = kind == KindVsrc || kind == KindVrow;
    s.from_reg = mode != ModeScalar;
    s.row0   = mode == ModeRow0;
    s.own    = has_d && number == d;
    s.number = number;
    return s;
  endfunction

  always_comb begin
    fields = vpu_use(in.op);
    memory = cls == ClassLoad || cls == ClassStore;
    unique case (op)
      VopLd32, VopSt32: size = 32'(lanes_q) << 2;
      VopLd16, VopSt16, VopSt16h: size = 32'(lanes_q) << 1;
      VopLds: size = 32'd4;
      default: size = 32'(lanes_q);
    endcase

    uop           = '0;
    uop.op        = op;
    uop.d         = in.d;
    uop.rows      = vl_q;
    uop.turn      = op == VopRotrow ? row_t'(index[RowBits-1:0]) : '0;
    uop.source[0] = source(fields.a, in.a, in.am, fields.d == KindVdst, in.d);
    uop.source[1] = source(fields.b, in.b, in.bm, fields.d == KindVdst, in.d);
    uop.source[2] = source(fields.c, vpu_c(in), vpu_cm(in), fields.d == KindVdst, in.d);
    if (cls == ClassStore) uop.source[0] = '{used: 1'b1, from_reg: 1'b1, row0: 1'b0, own: 1'b0, number: in.d};
    if (fields.imm) uop.source[2].used = 1'b0;
    if (op == VopLds) begin
      uop.d    = '0;
      uop.rows = count_t'(1);
    end
    uop.scalar[0] = memory ? a + imm : a;
    uop.scalar[1] = op == VopRotl || op == VopBcl ? index : b;
    uop.scalar[2] = memory ? size : c;
  end

  always_ff @(posedge clk_i) begin
    if (send) begin
      uop_o   <= uop;
      pc_o    <= decoded_i.pc;
      bad_o   <= bad;
      span_o  <= b * 32'(last);
      limit_o <= op == VopLdacc ? Cfg.AccRows - 1 : Cfg.UbBytes - size;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || stop_i) valid_o <= 1'b0;
    else if (send) valid_o <= 1'b1;
    else if (ready_i) valid_o <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || stop_i || go) asked_q <= 1'b0;
    else if (send) asked_q <= is_lds;
  end

  // Checks: vl, lanes and s0 of a running program are legal; a word arrives only for a pending load.
  always_ff @(posedge clk_i) begin
    if (rst_ni && valid_i) begin
      a_vl : assert (vl_q != '0 && 32'(vl_q) <= Rows);
      a_lanes : assert (lanes_q != '0 && 32'(lanes_q) <= Cols);
      a_zero : assert (s_q[0] == '0);
    end
    if (rst_ni && word_valid_i) a_word : assert (valid_i && is_lds && asked_q);
  end
endmodule
