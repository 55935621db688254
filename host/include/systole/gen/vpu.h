// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/vpu.yaml by scripts/generate.py: edit the source.

#ifndef SYSTOLE_GEN_VPU_H_
#define SYSTOLE_GEN_VPU_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace systole::vpu {

inline constexpr int kVectorSteps = 8;  // steps of a vector register, each of as many rows (of Cols lanes of 32 bits) as the core has sublanes
inline constexpr int kVectorRegs = 40;  // vector registers
inline constexpr int kBankRegs = 8;  // vector registers of a bank; a bank has one writer
inline constexpr int kScalarRegs = 16;  // scalar registers of 32 bits; s0 is 0
inline constexpr int kArgs = 12;  // arguments of a vrun, in s1 and up
inline constexpr int kImemWords = 2048;  // instructions that the instruction memory holds
inline constexpr int kInstrBits = 64;  // bits of an instruction

// Banks of vector registers; the destination's bank names the unit that executes.
enum class Bank : uint8_t {
  kLoad0 = 0,  // load unit 0
  kLoad1 = 1,  // load unit 1
  kAlu0 = 2,  // ALU 0
  kAlu1 = 3,  // ALU 1
  kX = 4,  // cross unit: functions, moves between rows and lanes, transposer
};

// Modes of a vector source.
enum class Mode : uint8_t {
  kRow = 0,  // row i of the vector register
  kRow0 = 1,  // row 0 of the vector register, for every row
  kScalar = 2,  // the scalar register, in every lane
};

// Classes of instructions: the high nibble of the opcode.
enum class Class : uint8_t {
  kScalar = 0x0,  // scalar arithmetic, executed at issue
  kControl = 0x1,  // branches and the state of the sequence, executed at issue
  kLoad = 0x2,  // memory to vector register, unit by the destination's bank (0, 1), or to a scalar one
  kStore = 0x3,  // vector register of any bank to unified buffer
  kFloat = 0x4,  // ALU (bank 2, 3): fp32 multiply and add
  kSelect = 0x5,  // ALU: fp32 comparison, minimum, maximum, selection
  kInteger = 0x6,  // ALU: int32 and bits
  kConvert = 0x7,  // ALU: conversions and roundings
  kFunction = 0x8,  // cross unit (bank 4): elementary functions of fp32
  kCross = 0x9,  // cross unit: rows, lanes, transposer
};

enum class Op : uint8_t {
  kLi = 0x01,  // d = imm
  kAdd = 0x02,  // d = a + b, modulo 2^32
  kAddi = 0x03,  // d = a + imm, modulo 2^32
  kSub = 0x04,  // d = a - b, modulo 2^32
  kMul = 0x05,  // d = low 32 bits of a * b
  kSlli = 0x06,  // d = a << imm[4:0]
  kSrli = 0x07,  // d = a >> imm[4:0], zeros come in
  kAnd = 0x08,  // d = a & b
  kBeq = 0x10,  // go to instruction imm if a = b
  kBne = 0x11,  // go to instruction imm if a != b
  kBlt = 0x12,  // go to instruction imm if a < b, signed
  kVl = 0x18,  // rows of the instructions that follow: a, at most imm and what a register has; a <= 0 (signed) faults
  kLanes = 0x19,  // lanes that loads and stores move: a; outside 1..Cols (signed) faults
  kFence = 0x1A,  // wait until every store has reached the unified buffer
  kHalt = 0x1F,  // end: wait until every instruction is complete and every store has reached the unified buffer
  kLd32 = 0x20,  // row i = 32-bit elements at byte a + imm + i*b
  kLd16 = 0x21,  // row i = bf16 elements at byte a + imm + i*b, as fp32
  kLd8 = 0x22,  // row i = int8 elements at byte a + imm + i*b, as int32
  kLdacc = 0x23,  // row i = accumulator row a + imm + i*b
  kLds = 0x24,  // d = word at byte a + imm
  kSt32 = 0x30,  // 32-bit elements at byte a + imm + i*b = row i of d
  kSt16 = 0x31,  // bf16 elements at byte a + imm + i*b = row i of d, fp32 rounded to nearest even
  kSt8 = 0x32,  // bytes at byte a + imm + i*b = low 8 bits of row i of d
  kSt16h = 0x33,  // 16-bit elements at byte a + imm + i*b = upper halves of row i of d, bits
  kFadd = 0x40,  // a + b
  kFsub = 0x41,  // a - b
  kFmul = 0x42,  // a * b
  kFma = 0x43,  // a * b + c, rounded once
  kFnma = 0x44,  // c - a * b, rounded once
  kFmin = 0x50,  // smaller of a and b; -0 < +0; NaN if one is NaN
  kFmax = 0x51,  // larger of a and b; -0 < +0; NaN if one is NaN
  kFeq = 0x52,  // -1 if a = b, else 0
  kFlt = 0x53,  // -1 if a < b, else 0
  kFle = 0x54,  // -1 if a <= b, else 0
  kSel = 0x58,  // b if any bit of a is set, else c
  kIadd = 0x60,  // a + b, modulo 2^32
  kIsub = 0x61,  // a - b, modulo 2^32
  kImul = 0x62,  // low 32 bits of a * b
  kIlt = 0x63,  // -1 if a < b (signed), else 0
  kIeq = 0x64,  // -1 if a = b, else 0
  kImin = 0x65,  // smaller of a and b, signed
  kImax = 0x66,  // larger of a and b, signed
  kIand = 0x68,  // a & b
  kIor = 0x69,  // a | b
  kIxor = 0x6A,  // a ^ b
  kShl = 0x6C,  // a << b[4:0]
  kShr = 0x6D,  // a >> b[4:0], zeros come in
  kSar = 0x6E,  // a >> b[4:0], the sign comes in
  kF2i = 0x70,  // fp32 to int32, to nearest even, saturating; NaN gives 0
  kF2iFloor = 0x71,  // fp32 to int32, toward minus infinity, saturating; NaN gives 0
  kI2f = 0x72,  // int32 to fp32, to nearest even
  kBf16 = 0x73,  // fp32 rounded to bf16, to nearest even, kept as fp32
  kSr = 0x74,  // fp32 rounded to bf16 stochastically by the low 16 bits of b, kept as fp32
  kExp2 = 0x80,  // 2^a
  kLog2 = 0x81,  // logarithm of a to base 2
  kRcp = 0x82,  // 1 / a
  kRsqrt = 0x83,  // 1 / square root of a
  kTanh = 0x84,  // hyperbolic tangent of a
  kMov = 0x90,  // a
  kRotl = 0x91,  // lane l = lane (l + imm + b) mod Cols of a
  kBcl = 0x92,  // every lane = lane (imm + b) mod Cols of a
  kRotrow = 0x93,  // row i = row (i + imm + b) of a, modulo the rows of a register
  kIota = 0x94,  // lane l = l + a
  kRnd = 0x95,  // pseudo-random bits: lane l of row i = mix(mix(b + i*Cols + l) ^ mix(a))
  kTpush = 0x98,  // append the rows of a to the transposer's matrix; after a tpop, begin a new one
  kTpop = 0x99,  // rows = the matrix's next columns
};

// What a register field holds.
enum class Kind : uint8_t {
  kNone,  // must be 0
  kSdst,  // scalar destination
  kSsrc,  // scalar source
  kVdst,  // vector destination in a bank that the class writes
  kVfrom,  // vector register that is read (stores)
  kVsrc,  // vector source with a mode; mode 1 must not name the destination
  kVrow,  // vector source, mode 0; must not be the destination
};

enum class ImmKind : uint8_t {
  kNone,  // must be 0
  kValue,  // any value
  kOffset,  // addend of an address or index; 0 if left out
  kShift,  // 0..31
  kTarget,  // instruction index
  kLimit,  // 0..63; 0, no limit, if left out
};

// Left out in text where it is 0.
constexpr bool IsOptional(ImmKind kind) {
  return kind == ImmKind::kOffset || kind == ImmKind::kLimit;
}

// An instruction, unpacked. c and imm share bits: a word is decoded into both.
struct Instr {
  Op op = static_cast<Op>(0);
  uint8_t d = 0;  // destination register; of a store the source
  uint8_t a = 0;  // first source register
  uint8_t am = 0;  // mode of a
  uint8_t b = 0;  // second source register
  uint8_t bm = 0;  // mode of b
  uint8_t c = 0;  // third source register
  uint8_t cm = 0;  // mode of c
  int32_t imm = 0;  // immediate

  constexpr uint64_t Encode() const {
    uint64_t w = static_cast<uint64_t>(op);
    w |= (uint64_t{d} & 0x3F) << 8;
    w |= (uint64_t{a} & 0x3F) << 14;
    w |= (uint64_t{am} & 0x3) << 20;
    w |= (uint64_t{b} & 0x3F) << 22;
    w |= (uint64_t{bm} & 0x3) << 28;
    w |= (uint64_t{c} & 0x3F) << 32;
    w |= (uint64_t{cm} & 0x3) << 38;
    return w | uint64_t{static_cast<uint32_t>(imm)} << 32;
  }
  // Fields of the immediate's place: all of imm, and c and cm from its low bits.
  static constexpr Instr Decode(uint64_t w) {
    Instr r;
    r.op = static_cast<Op>(w & 0xFF);
    r.d = static_cast<uint8_t>((w >> 8) & 0x3F);
    r.a = static_cast<uint8_t>((w >> 14) & 0x3F);
    r.am = static_cast<uint8_t>((w >> 20) & 0x3);
    r.b = static_cast<uint8_t>((w >> 22) & 0x3F);
    r.bm = static_cast<uint8_t>((w >> 28) & 0x3);
    r.c = static_cast<uint8_t>((w >> 32) & 0x3F);
    r.cm = static_cast<uint8_t>((w >> 38) & 0x3);
    r.imm = static_cast<int32_t>(w >> 32);
    return r;
  }
};

// One operand in the assembler's order: the field ('d', 'a', 'b', 'c' or 'i' for the immediate).
struct Operand {
  char field;
  Kind kind;
};
struct OpInfo {
  std::string_view name;
  Op op;
  Class cls;
  Kind d, a, b, c;
  ImmKind imm;
  int num_operands;
  std::array<Operand, 4> operands;
  uint64_t unused;  // bits that must be 0
  std::string_view doc;
};

inline constexpr std::array<OpInfo, 66> kOps = {{
    {"li", Op::kLi, Class::kScalar, Kind::kSdst, Kind::kNone, Kind::kNone, Kind::kNone,
     ImmKind::kValue, 2, {{{'d', Kind::kSdst}, {'i', Kind::kNone}}},
     0x00000000FFFFC000, "d = imm"},
    {"add", Op::kAdd, Class::kScalar, Kind::kSdst, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kSdst}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}}},
     0xFFFFFFFFC0000000, "d = a + b, modulo 2^32"},
    {"addi", Op::kAddi, Class::kScalar, Kind::kSdst, Kind::kSsrc, Kind::kNone, Kind::kNone,
     ImmKind::kValue, 3, {{{'d', Kind::kSdst}, {'a', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000FFC00000, "d = a + imm, modulo 2^32"},
    {"sub", Op::kSub, Class::kScalar, Kind::kSdst, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kSdst}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}}},
     0xFFFFFFFFC0000000, "d = a - b, modulo 2^32"},
    {"mul", Op::kMul, Class::kScalar, Kind::kSdst, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kSdst}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}}},
     0xFFFFFFFFC0000000, "d = low 32 bits of a * b"},
    {"slli", Op::kSlli, Class::kScalar, Kind::kSdst, Kind::kSsrc, Kind::kNone, Kind::kNone,
     ImmKind::kShift, 3, {{{'d', Kind::kSdst}, {'a', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000FFC00000, "d = a << imm[4:0]"},
    {"srli", Op::kSrli, Class::kScalar, Kind::kSdst, Kind::kSsrc, Kind::kNone, Kind::kNone,
     ImmKind::kShift, 3, {{{'d', Kind::kSdst}, {'a', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000FFC00000, "d = a >> imm[4:0], zeros come in"},
    {"and", Op::kAnd, Class::kScalar, Kind::kSdst, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kSdst}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}}},
     0xFFFFFFFFC0000000, "d = a & b"},
    {"beq", Op::kBeq, Class::kControl, Kind::kNone, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kTarget, 3, {{{'a', Kind::kSsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0003F00, "go to instruction imm if a = b"},
    {"bne", Op::kBne, Class::kControl, Kind::kNone, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kTarget, 3, {{{'a', Kind::kSsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0003F00, "go to instruction imm if a != b"},
    {"blt", Op::kBlt, Class::kControl, Kind::kNone, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kTarget, 3, {{{'a', Kind::kSsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0003F00, "go to instruction imm if a < b, signed"},
    {"vl", Op::kVl, Class::kControl, Kind::kNone, Kind::kSsrc, Kind::kNone, Kind::kNone,
     ImmKind::kLimit, 2, {{{'a', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000FFC03F00, "rows of the instructions that follow: a, at most imm and what a register has; a <= 0 (signed) faults"},
    {"lanes", Op::kLanes, Class::kControl, Kind::kNone, Kind::kSsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 1, {{{'a', Kind::kSsrc}}},
     0xFFFFFFFFFFC03F00, "lanes that loads and stores move: a; outside 1..Cols (signed) faults"},
    {"fence", Op::kFence, Class::kControl, Kind::kNone, Kind::kNone, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 0, {{}},
     0xFFFFFFFFFFFFFF00, "wait until every store has reached the unified buffer"},
    {"halt", Op::kHalt, Class::kControl, Kind::kNone, Kind::kNone, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 0, {{}},
     0xFFFFFFFFFFFFFF00, "end: wait until every instruction is complete and every store has reached the unified buffer"},
    {"ld32", Op::kLd32, Class::kLoad, Kind::kVdst, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kOffset, 4, {{{'d', Kind::kVdst}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0000000, "row i = 32-bit elements at byte a + imm + i*b"},
    {"ld16", Op::kLd16, Class::kLoad, Kind::kVdst, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kOffset, 4, {{{'d', Kind::kVdst}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0000000, "row i = bf16 elements at byte a + imm + i*b, as fp32"},
    {"ld8", Op::kLd8, Class::kLoad, Kind::kVdst, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kOffset, 4, {{{'d', Kind::kVdst}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0000000, "row i = int8 elements at byte a + imm + i*b, as int32"},
    {"ldacc", Op::kLdacc, Class::kLoad, Kind::kVdst, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kOffset, 4, {{{'d', Kind::kVdst}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0000000, "row i = accumulator row a + imm + i*b"},
    {"lds", Op::kLds, Class::kLoad, Kind::kSdst, Kind::kSsrc, Kind::kNone, Kind::kNone,
     ImmKind::kOffset, 3, {{{'d', Kind::kSdst}, {'a', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000FFC00000, "d = word at byte a + imm"},
    {"st32", Op::kSt32, Class::kStore, Kind::kVfrom, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kOffset, 4, {{{'d', Kind::kVfrom}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0000000, "32-bit elements at byte a + imm + i*b = row i of d"},
    {"st16", Op::kSt16, Class::kStore, Kind::kVfrom, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kOffset, 4, {{{'d', Kind::kVfrom}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0000000, "bf16 elements at byte a + imm + i*b = row i of d, fp32 rounded to nearest even"},
    {"st8", Op::kSt8, Class::kStore, Kind::kVfrom, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kOffset, 4, {{{'d', Kind::kVfrom}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0000000, "bytes at byte a + imm + i*b = low 8 bits of row i of d"},
    {"st16h", Op::kSt16h, Class::kStore, Kind::kVfrom, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kOffset, 4, {{{'d', Kind::kVfrom}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0000000, "16-bit elements at byte a + imm + i*b = upper halves of row i of d, bits"},
    {"fadd", Op::kFadd, Class::kFloat, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "a + b"},
    {"fsub", Op::kFsub, Class::kFloat, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "a - b"},
    {"fmul", Op::kFmul, Class::kFloat, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "a * b"},
    {"fma", Op::kFma, Class::kFloat, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kVsrc,
     ImmKind::kNone, 4, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}, {'c', Kind::kVsrc}}},
     0xFFFFFF00C0000000, "a * b + c, rounded once"},
    {"fnma", Op::kFnma, Class::kFloat, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kVsrc,
     ImmKind::kNone, 4, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}, {'c', Kind::kVsrc}}},
     0xFFFFFF00C0000000, "c - a * b, rounded once"},
    {"fmin", Op::kFmin, Class::kSelect, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "smaller of a and b; -0 < +0; NaN if one is NaN"},
    {"fmax", Op::kFmax, Class::kSelect, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "larger of a and b; -0 < +0; NaN if one is NaN"},
    {"feq", Op::kFeq, Class::kSelect, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "-1 if a = b, else 0"},
    {"flt", Op::kFlt, Class::kSelect, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "-1 if a < b, else 0"},
    {"fle", Op::kFle, Class::kSelect, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "-1 if a <= b, else 0"},
    {"sel", Op::kSel, Class::kSelect, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kVsrc,
     ImmKind::kNone, 4, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}, {'c', Kind::kVsrc}}},
     0xFFFFFF00C0000000, "b if any bit of a is set, else c"},
    {"iadd", Op::kIadd, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "a + b, modulo 2^32"},
    {"isub", Op::kIsub, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "a - b, modulo 2^32"},
    {"imul", Op::kImul, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "low 32 bits of a * b"},
    {"ilt", Op::kIlt, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "-1 if a < b (signed), else 0"},
    {"ieq", Op::kIeq, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "-1 if a = b, else 0"},
    {"imin", Op::kImin, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "smaller of a and b, signed"},
    {"imax", Op::kImax, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "larger of a and b, signed"},
    {"iand", Op::kIand, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "a & b"},
    {"ior", Op::kIor, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "a | b"},
    {"ixor", Op::kIxor, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "a ^ b"},
    {"shl", Op::kShl, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "a << b[4:0]"},
    {"shr", Op::kShr, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "a >> b[4:0], zeros come in"},
    {"sar", Op::kSar, Class::kInteger, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "a >> b[4:0], the sign comes in"},
    {"f2i", Op::kF2i, Class::kConvert, Kind::kVdst, Kind::kVsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 2, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}}},
     0xFFFFFFFFFFC00000, "fp32 to int32, to nearest even, saturating; NaN gives 0"},
    {"f2i_floor", Op::kF2iFloor, Class::kConvert, Kind::kVdst, Kind::kVsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 2, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}}},
     0xFFFFFFFFFFC00000, "fp32 to int32, toward minus infinity, saturating; NaN gives 0"},
    {"i2f", Op::kI2f, Class::kConvert, Kind::kVdst, Kind::kVsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 2, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}}},
     0xFFFFFFFFFFC00000, "int32 to fp32, to nearest even"},
    {"bf16", Op::kBf16, Class::kConvert, Kind::kVdst, Kind::kVsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 2, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}}},
     0xFFFFFFFFFFC00000, "fp32 rounded to bf16, to nearest even, kept as fp32"},
    {"sr", Op::kSr, Class::kConvert, Kind::kVdst, Kind::kVsrc, Kind::kVsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kVsrc}}},
     0xFFFFFFFFC0000000, "fp32 rounded to bf16 stochastically by the low 16 bits of b, kept as fp32"},
    {"exp2", Op::kExp2, Class::kFunction, Kind::kVdst, Kind::kVsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 2, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}}},
     0xFFFFFFFFFFC00000, "2^a"},
    {"log2", Op::kLog2, Class::kFunction, Kind::kVdst, Kind::kVsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 2, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}}},
     0xFFFFFFFFFFC00000, "logarithm of a to base 2"},
    {"rcp", Op::kRcp, Class::kFunction, Kind::kVdst, Kind::kVsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 2, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}}},
     0xFFFFFFFFFFC00000, "1 / a"},
    {"rsqrt", Op::kRsqrt, Class::kFunction, Kind::kVdst, Kind::kVsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 2, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}}},
     0xFFFFFFFFFFC00000, "1 / square root of a"},
    {"tanh", Op::kTanh, Class::kFunction, Kind::kVdst, Kind::kVsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 2, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}}},
     0xFFFFFFFFFFC00000, "hyperbolic tangent of a"},
    {"mov", Op::kMov, Class::kCross, Kind::kVdst, Kind::kVsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 2, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}}},
     0xFFFFFFFFFFC00000, "a"},
    {"rotl", Op::kRotl, Class::kCross, Kind::kVdst, Kind::kVsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kOffset, 4, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0000000, "lane l = lane (l + imm + b) mod Cols of a"},
    {"bcl", Op::kBcl, Class::kCross, Kind::kVdst, Kind::kVsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kOffset, 4, {{{'d', Kind::kVdst}, {'a', Kind::kVsrc}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0000000, "every lane = lane (imm + b) mod Cols of a"},
    {"rotrow", Op::kRotrow, Class::kCross, Kind::kVdst, Kind::kVrow, Kind::kSsrc, Kind::kNone,
     ImmKind::kOffset, 4, {{{'d', Kind::kVdst}, {'a', Kind::kVrow}, {'b', Kind::kSsrc}, {'i', Kind::kNone}}},
     0x00000000C0000000, "row i = row (i + imm + b) of a, modulo the rows of a register"},
    {"iota", Op::kIota, Class::kCross, Kind::kVdst, Kind::kSsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 2, {{{'d', Kind::kVdst}, {'a', Kind::kSsrc}}},
     0xFFFFFFFFFFC00000, "lane l = l + a"},
    {"rnd", Op::kRnd, Class::kCross, Kind::kVdst, Kind::kSsrc, Kind::kSsrc, Kind::kNone,
     ImmKind::kNone, 3, {{{'d', Kind::kVdst}, {'a', Kind::kSsrc}, {'b', Kind::kSsrc}}},
     0xFFFFFFFFC0000000, "pseudo-random bits: lane l of row i = mix(mix(b + i*Cols + l) ^ mix(a))"},
    {"tpush", Op::kTpush, Class::kCross, Kind::kNone, Kind::kVsrc, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 1, {{{'a', Kind::kVsrc}}},
     0xFFFFFFFFFFC03F00, "append the rows of a to the transposer's matrix; after a tpop, begin a new one"},
    {"tpop", Op::kTpop, Class::kCross, Kind::kVdst, Kind::kNone, Kind::kNone, Kind::kNone,
     ImmKind::kNone, 1, {{{'d', Kind::kVdst}}},
     0xFFFFFFFFFFFFC000, "rows = the matrix's next columns"},
}};

// The instruction of that opcode or name, or nullptr.
constexpr const OpInfo* FindOp(uint8_t op) {
  for (const OpInfo& info : kOps) {
    if (static_cast<uint8_t>(info.op) == op) return &info;
  }
  return nullptr;
}
constexpr const OpInfo* FindOp(std::string_view name) {
  for (const OpInfo& info : kOps) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace systole::vpu

#endif  // SYSTOLE_GEN_VPU_H_
