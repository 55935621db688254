// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/vpu.yaml by scripts/generate.py: edit the source.

package systole_vpu_pkg;

  localparam int unsigned VpuVectorSteps = 8;  // steps of a vector register, each of as many rows (of Cols lanes of 32 bits) as the core has sublanes
  localparam int unsigned VpuVectorRegs = 40;  // vector registers
  localparam int unsigned VpuBankRegs = 8;  // vector registers of a bank; a bank has one writer
  localparam int unsigned VpuScalarRegs = 16;  // scalar registers of 32 bits; s0 is 0
  localparam int unsigned VpuArgs = 12;  // arguments of a vrun, in s1 and up
  localparam int unsigned VpuImemWords = 2048;  // instructions that the instruction memory holds
  localparam int unsigned VpuInstrBits = 64;  // bits of an instruction

  localparam logic [2:0] BankLoad0 = 3'd0;  // load unit 0
  localparam logic [2:0] BankLoad1 = 3'd1;  // load unit 1
  localparam logic [2:0] BankAlu0 = 3'd2;  // ALU 0
  localparam logic [2:0] BankAlu1 = 3'd3;  // ALU 1
  localparam logic [2:0] BankX = 3'd4;  // cross unit: functions, moves between rows and lanes, transposer
  localparam int unsigned NumBanks = 5;

  localparam logic [1:0] ModeRow = 2'd0;  // row i of the vector register
  localparam logic [1:0] ModeRow0 = 2'd1;  // row 0 of the vector register, for every row
  localparam logic [1:0] ModeScalar = 2'd2;  // the scalar register, in every lane

  typedef enum logic [3:0] {
    ClassScalar = 4'h0,  // scalar arithmetic, executed at issue
    ClassControl = 4'h1,  // branches and the state of the sequence, executed at issue
    ClassLoad = 4'h2,  // memory to vector register, unit by the destination's bank (0, 1), or to a scalar one
    ClassStore = 4'h3,  // vector register of any bank to unified buffer
    ClassFloat = 4'h4,  // ALU (bank 2, 3): fp32 multiply and add
    ClassSelect = 4'h5,  // ALU: fp32 comparison, minimum, maximum, selection
    ClassInteger = 4'h6,  // ALU: int32 and bits
    ClassConvert = 4'h7,  // ALU: conversions and roundings
    ClassFunction = 4'h8,  // cross unit (bank 4): elementary functions of fp32
    ClassCross = 4'h9  // cross unit: rows, lanes, transposer
  } vpu_class_e;

  typedef enum logic [7:0] {
    VopLi = 8'h01,  // d = imm
    VopAdd = 8'h02,  // d = a + b, modulo 2^32
    VopAddi = 8'h03,  // d = a + imm, modulo 2^32
    VopSub = 8'h04,  // d = a - b, modulo 2^32
    VopMul = 8'h05,  // d = low 32 bits of a * b
    VopSlli = 8'h06,  // d = a << imm[4:0]
    VopSrli = 8'h07,  // d = a >> imm[4:0], zeros come in
    VopAnd = 8'h08,  // d = a & b
    VopBeq = 8'h10,  // go to instruction imm if a = b
    VopBne = 8'h11,  // go to instruction imm if a != b
    VopBlt = 8'h12,  // go to instruction imm if a < b, signed
    VopVl = 8'h18,  // rows of the instructions that follow: a, at most imm and what a register has; a <= 0 (signed) faults
    VopLanes = 8'h19,  // lanes that loads and stores move: a; outside 1..Cols (signed) faults
    VopFence = 8'h1A,  // wait until every store has reached the unified buffer
    VopHalt = 8'h1F,  // end: wait until every instruction is complete and every store has reached the unified buffer
    VopLd32 = 8'h20,  // row i = 32-bit elements at byte a + imm + i*b
    VopLd16 = 8'h21,  // row i = bf16 elements at byte a + imm + i*b, as fp32
    VopLd8 = 8'h22,  // row i = int8 elements at byte a + imm + i*b, as int32
    VopLdacc = 8'h23,  // row i = accumulator row a + imm + i*b
    VopLds = 8'h24,  // d = word at byte a + imm
    VopSt32 = 8'h30,  // 32-bit elements at byte a + imm + i*b = row i of d
    VopSt16 = 8'h31,  // bf16 elements at byte a + imm + i*b = row i of d, fp32 rounded to nearest even
    VopSt8 = 8'h32,  // bytes at byte a + imm + i*b = low 8 bits of row i of d
    VopSt16h = 8'h33,  // 16-bit elements at byte a + imm + i*b = upper halves of row i of d, bits
    VopFadd = 8'h40,  // a + b
    VopFsub = 8'h41,  // a - b
    VopFmul = 8'h42,  // a * b
    VopFma = 8'h43,  // a * b + c, rounded once
    VopFnma = 8'h44,  // c - a * b, rounded once
    VopFmin = 8'h50,  // smaller of a and b; -0 < +0; NaN if one is NaN
    VopFmax = 8'h51,  // larger of a and b; -0 < +0; NaN if one is NaN
    VopFeq = 8'h52,  // -1 if a = b, else 0
    VopFlt = 8'h53,  // -1 if a < b, else 0
    VopFle = 8'h54,  // -1 if a <= b, else 0
    VopSel = 8'h58,  // b if any bit of a is set, else c
    VopIadd = 8'h60,  // a + b, modulo 2^32
    VopIsub = 8'h61,  // a - b, modulo 2^32
    VopImul = 8'h62,  // low 32 bits of a * b
    VopIlt = 8'h63,  // -1 if a < b (signed), else 0
    VopIeq = 8'h64,  // -1 if a = b, else 0
    VopImin = 8'h65,  // smaller of a and b, signed
    VopImax = 8'h66,  // larger of a and b, signed
    VopIand = 8'h68,  // a & b
    VopIor = 8'h69,  // a | b
    VopIxor = 8'h6A,  // a ^ b
    VopShl = 8'h6C,  // a << b[4:0]
    VopShr = 8'h6D,  // a >> b[4:0], zeros come in
    VopSar = 8'h6E,  // a >> b[4:0], the sign comes in
    VopF2i = 8'h70,  // fp32 to int32, to nearest even, saturating; NaN gives 0
    VopF2iFloor = 8'h71,  // fp32 to int32, toward minus infinity, saturating; NaN gives 0
    VopI2f = 8'h72,  // int32 to fp32, to nearest even
    VopBf16 = 8'h73,  // fp32 rounded to bf16, to nearest even, kept as fp32
    VopSr = 8'h74,  // fp32 rounded to bf16 stochastically by the low 16 bits of b, kept as fp32
    VopExp2 = 8'h80,  // 2^a
    VopLog2 = 8'h81,  // logarithm of a to base 2
    VopRcp = 8'h82,  // 1 / a
    VopRsqrt = 8'h83,  // 1 / square root of a
    VopTanh = 8'h84,  // hyperbolic tangent of a
    VopMov = 8'h90,  // a
    VopRotl = 8'h91,  // lane l = lane (l + imm + b) mod Cols of a
    VopBcl = 8'h92,  // every lane = lane (imm + b) mod Cols of a
    VopRotrow = 8'h93,  // row i = row (i + imm + b) of a, modulo the rows of a register
    VopIota = 8'h94,  // lane l = l + a
    VopRnd = 8'h95,  // pseudo-random bits: lane l of row i = mix(mix(b + i*Cols + l) ^ mix(a))
    VopTpush = 8'h98,  // append the rows of a to the transposer's matrix; after a tpop, begin a new one
    VopTpop = 8'h99  // rows = the matrix's next columns
  } vpu_op_e;

  // An instruction as it lies in memory; c and its mode share the immediate's place.
  typedef struct packed {
    logic signed [31:0] imm;  // [63:32]; c is [37:32], cm [39:38]
    logic [1:0] unused;  // [31:30]
    logic [1:0] bm;  // [29:28] mode of b
    logic [5:0] b;  // [27:22] second source register
    logic [1:0] am;  // [21:20] mode of a
    logic [5:0] a;  // [19:14] first source register
    logic [5:0] d;  // [13:8] destination register; of a store the source
    logic [7:0] op;  // [7:0] operation
  } vpu_instr_t;

  function automatic logic [5:0] vpu_c(vpu_instr_t x);
    return x.imm[5:0];
  endfunction
  function automatic logic [1:0] vpu_cm(vpu_instr_t x);
    return x.imm[7:6];
  endfunction

  // What a register field of an instruction holds.
  typedef enum logic [2:0] {
    KindNone = 3'd0,  // must be 0
    KindSdst = 3'd1,  // scalar destination
    KindSsrc = 3'd2,  // scalar source
    KindVdst = 3'd3,  // vector destination
    KindVfrom = 3'd4,  // vector source in d (store)
    KindVsrc = 3'd5,  // vector source with a mode
    KindVrow = 3'd6  // vector source, mode 0, not the destination
  } vpu_kind_e;

  typedef struct packed {
    logic known;  // an opcode of the table
    vpu_kind_e d;
    vpu_kind_e a;
    vpu_kind_e b;
    vpu_kind_e c;
    logic imm;  // the immediate is used
  } vpu_use_t;

  // Which fields an opcode uses.
  function automatic vpu_use_t vpu_use(logic [7:0] op);
    case (op)
      VopLi:
        return {1'b1, KindSdst, KindNone, KindNone, KindNone, 1'b1};
      VopAdd, VopSub, VopMul, VopAnd:
        return {1'b1, KindSdst, KindSsrc, KindSsrc, KindNone, 1'b0};
      VopAddi, VopSlli, VopSrli, VopLds:
        return {1'b1, KindSdst, KindSsrc, KindNone, KindNone, 1'b1};
      VopBeq, VopBne, VopBlt:
        return {1'b1, KindNone, KindSsrc, KindSsrc, KindNone, 1'b1};
      VopVl:
        return {1'b1, KindNone, KindSsrc, KindNone, KindNone, 1'b1};
      VopLanes:
        return {1'b1, KindNone, KindSsrc, KindNone, KindNone, 1'b0};
      VopFence, VopHalt:
        return {1'b1, KindNone, KindNone, KindNone, KindNone, 1'b0};
      VopLd32, VopLd16, VopLd8, VopLdacc:
        return {1'b1, KindVdst, KindSsrc, KindSsrc, KindNone, 1'b1};
      VopSt32, VopSt16, VopSt8, VopSt16h:
        return {1'b1, KindVfrom, KindSsrc, KindSsrc, KindNone, 1'b1};
      VopFadd, VopFsub, VopFmul, VopFmin, VopFmax, VopFeq, VopFlt, VopFle, VopIadd, VopIsub, VopImul, VopIlt, VopIeq, VopImin, VopImax, VopIand, VopIor, VopIxor, VopShl, VopShr, VopSar, VopSr:
        return {1'b1, KindVdst, KindVsrc, KindVsrc, KindNone, 1'b0};
      VopFma, VopFnma, VopSel:
        return {1'b1, KindVdst, KindVsrc, KindVsrc, KindVsrc, 1'b0};
      VopF2i, VopF2iFloor, VopI2f, VopBf16, VopExp2, VopLog2, VopRcp, VopRsqrt, VopTanh, VopMov:
        return {1'b1, KindVdst, KindVsrc, KindNone, KindNone, 1'b0};
      VopRotl, VopBcl:
        return {1'b1, KindVdst, KindVsrc, KindSsrc, KindNone, 1'b1};
      VopRotrow:
        return {1'b1, KindVdst, KindVrow, KindSsrc, KindNone, 1'b1};
      VopIota:
        return {1'b1, KindVdst, KindSsrc, KindNone, KindNone, 1'b0};
      VopRnd:
        return {1'b1, KindVdst, KindSsrc, KindSsrc, KindNone, 1'b0};
      VopTpush:
        return {1'b1, KindNone, KindVsrc, KindNone, KindNone, 1'b0};
      VopTpop:
        return {1'b1, KindVdst, KindNone, KindNone, KindNone, 1'b0};
      default: return '0;
    endcase
  endfunction

  // Bank of a vector register: the unit that writes it; 5 and above: no such register.
  function automatic logic [2:0] vpu_bank(logic [5:0] v);
    return v[5:3];
  endfunction

  // High when a source's register number or mode is illegal.
  function automatic logic vpu_bad_source(vpu_kind_e kind, logic [5:0] r, logic [1:0] mode, logic [5:0] d,
                                          logic scalar_class);
    case (kind)
      KindNone: return r != '0 || mode != '0;
      KindSsrc: return r[5:4] != '0 || mode != (scalar_class ? 2'd0 : ModeScalar);
      KindVsrc:
      case (mode)
        ModeRow: return r[5:3] >= 3'(NumBanks);
        ModeRow0: return r[5:3] >= 3'(NumBanks) || r == d;
        ModeScalar: return r[5:4] != '0;
        default: return 1'b1;
      endcase
      KindVrow: return mode != ModeRow || r[5:3] >= 3'(NumBanks) || r == d;
      default: return 1'b1;
    endcase
  endfunction

  // High when an instruction is illegal whatever the registers hold (fault vector_program).
  function automatic logic vpu_illegal(vpu_instr_t x, vpu_use_t u);
    logic [3:0] cls;
    logic scalar_class, bad_d, bad_c;
    logic [5:0] dst;
    cls = x.op[7:4];
    scalar_class = cls == ClassScalar || cls == ClassControl;
    case (u.d)
      KindNone: bad_d = x.d != '0;
      KindSdst: bad_d = x.d[5:4] != '0;
      KindVfrom: bad_d = x.d[5:3] >= 3'(NumBanks);
      KindVdst:
      case (cls)
        ClassLoad: bad_d = x.d[5:3] > BankLoad1;
        ClassFloat, ClassSelect, ClassInteger, ClassConvert: bad_d = x.d[5:3] != BankAlu0 && x.d[5:3] != BankAlu1;
        default: bad_d = x.d[5:3] != BankX;
      endcase
      default: bad_d = 1'b1;
    endcase
    // Without a vector destination nothing can be the destination: number 63 is no register.
    dst = u.d == KindVdst ? x.d : 6'd63;
    if (u.imm) bad_c = 1'b0;
    else bad_c = vpu_bad_source(u.c, vpu_c(x), vpu_cm(x), dst, scalar_class) || x.imm[31:8] != '0;
    return !u.known || x.unused != '0 || bad_d || bad_c || vpu_bad_source(u.a, x.a, x.am, dst, scalar_class) ||
        vpu_bad_source(u.b, x.b, x.bm, dst, scalar_class);
  endfunction

endpackage
