// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a program begins and ends with, and its vector instructions.

#include "tests/vpu/random_program.h"

#include <cstring>

#include "tests/testing/choices.h"
#include "tests/vpu/generator.h"

namespace systole::vpu {

RandomProgram Generator::Make() {
  Layout();
  Arguments();
  Prologue();
  const size_t length = options_.fault
                            ? Below(std::max(1, options_.instructions))
                            : options_.instructions;
  const size_t goal = std::min(p_.words.size() + length, kMostWords);
  while (testing_options::More(p_.words.size() < goal)) Item();
  if (options_.fault) Faulting();
  Dump();
  EmitOp(Op::kHalt);
  PlaceCode();
  return std::move(p_);
}

uint32_t Generator::Value() {
  switch (Below(8)) {
    case 0:
      return Pick<uint32_t>({0,          0x80000000, 0x7F800000, 0xFF800000,
                             0x7FC00000, 0xFFC01234, 0x7F800001, 1,
                             0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF,
                             0x3F800000, 0xBF800000, 0x7F7F8000, 0xFFFFFFFF,
                             0x7FFFFFFF, 0x4F000000, 0xCF000000, 0x3F000000});
    case 1:
      return Bits();
    case 2:
      return static_cast<uint32_t>(Below(64) - 32);
    case 3:
      return Bits() & 0x807FFFFF;  // subnormal
    default:                       // of the size of 2^-8 .. 2^8
      return (Bits() & 0x807FFFFF) | static_cast<uint32_t>(Between(119, 135))
                                         << 23;
  }
}

void Generator::EmitOp(Op op) {
  Instr x;
  x.op = op;
  Emit(x);
}

void Generator::Li(int s, uint32_t value) {
  Instr x;
  x.op = Op::kLi, x.d = s, x.imm = static_cast<int32_t>(value);
  Emit(x);
  scalar_[s] = value;
}

void Generator::SetVl(int rows) {
  // A limit by the register's rows, or by the immediate.
  const bool limited = rows == rows_max_ || Chance(20);
  const auto least = static_cast<uint32_t>(rows);
  Li(kScratch,
     limited ? Pick<uint32_t>({least, least + 1, 1000, 0x7FFFFFFF}) : least);
  Instr x;
  x.op = Op::kVl, x.a = kScratch;
  if (limited && rows < rows_max_) x.imm = rows;
  if (rows == rows_max_) x.imm = Pick({0, 0, rows, rows + 1, 1 << 20, -1});
  Emit(x);
  vl_ = rows;
}

void Generator::SetLanes(int lanes) {
  Li(kScratch, lanes);
  Instr x;
  x.op = Op::kLanes, x.a = kScratch;
  Emit(x);
  lanes_ = lanes;
}

void Generator::Layout() {
  const uint32_t row = static_cast<uint32_t>(4 * preset_.cols);
  read_size_ = (40 + rows_max_) * row + 64;
  write_size_ = (56 + rows_max_) * row + 64;
  code_size_ = 16384;
  write_at_ = code_size_;
  dump_at_ = write_at_ + write_size_;
  dump_at_ = (dump_at_ + row - 1) / row * row;
  const uint32_t dump_size = kVectorRegs * rows_max_ * row;
  read_at_ = static_cast<uint32_t>(preset_.ub_bytes) - read_size_;
  p_.ub.push_back({0, std::vector<uint8_t>(code_size_)});
  p_.ub.push_back({write_at_, RandomBytes(dump_at_ + dump_size - write_at_)});
  p_.ub.push_back({read_at_, RandomBytes(read_size_)});
  dirty_.assign(write_size_, false);
  const uint64_t rows = static_cast<uint64_t>(preset_.acc_rows);
  const auto part = static_cast<uint64_t>(2 * rows_max_);
  for (uint64_t first : {uint64_t{0}, rows / 2 - part, rows - part}) {
    RandomProgram::Rows r{first, std::vector<uint32_t>(part * preset_.cols)};
    for (uint32_t& v : r.data) v = Value();
    p_.acc.push_back(std::move(r));
  }
}

std::vector<uint8_t> Generator::RandomBytes(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i + 4 <= size; i += 4) {
    const uint32_t v = Value();
    std::memcpy(&bytes[i], &v, 4);
  }
  return bytes;
}

void Generator::Arguments() {
  const uint32_t row = static_cast<uint32_t>(4 * preset_.cols);
  scalar_.fill(0);
  for (int i = 0; i < kArgRegs; ++i) p_.vrun.args[i] = Value();
  // Some that are strides.
  for (int i = 0; i < 6; ++i) {
    p_.vrun.args[i] = Pick<uint32_t>(
        {row, row / 2, row / 4, 0, -row, -row / 2, row + 4,
         static_cast<uint32_t>(Between(-40, 40)), 1, uint32_t(-1), 2});
  }
  for (int i = 0; i < kArgRegs; ++i) scalar_[i + 1] = p_.vrun.args[i];
  p_.vrun.pc = static_cast<uint32_t>(Below(200));
  p_.vload.addr = p_.vrun.pc;
}

void Generator::Prologue() {
  for (int v : {0, 1, 8, 9}) Load(v);
  for (int bank : {4, 2, 3}) {
    for (int k = 0; k < 3; ++k) VectorOp(8 * bank + k);
  }
}

void Generator::Item() {
  const int kind = Below(100);
  if (kind < 20) {
    Load(Below(16));
  } else if (kind < 36) {
    Store();
  } else if (kind < 62) {
    VectorOp(16 + Below(16));
  } else if (kind < 76) {
    VectorOp(32 + Below(8));
  } else if (kind < 80) {
    Scalar();
  } else if (kind < 82) {
    LoadWord();
  } else if (kind < 86) {
    SetVl(Chance(40) ? rows_max_ : Between(1, rows_max_));
  } else if (kind < 89) {
    SetLanes(Chance(40) ? lanes_max_ : Between(1, lanes_max_));
  } else if (kind < 92) {
    Fence();
  } else if (kind < 95) {
    Transposer();
  } else if (kind < 97) {
    Skip();
  } else if (!in_loop_) {
    Loop();
  }
}

std::optional<int> Generator::Written(int rows, int but) {
  for (int tries = 0; tries < 60; ++tries) {
    const int v = Below(kVectorRegs);
    if (v != but && rows_[v] >= rows) return v;
  }
  return std::nullopt;
}

void Generator::Source(int d, uint8_t* number, uint8_t* mode) {
  const int kind = Below(10);
  std::optional<int> v;
  if (kind < 7) v = Written(vl_);
  if (kind == 7) v = Written(1, d);
  if (v) {
    *number = static_cast<uint8_t>(*v);
    *mode = static_cast<uint8_t>(kind == 7 ? Mode::kRow0 : Mode::kRow);
  } else {
    *number = static_cast<uint8_t>(Below(kScalarRegs));
    *mode = static_cast<uint8_t>(Mode::kScalar);
  }
}

void Generator::VectorOp(int d) {
  static const std::vector<Op> alu =
      OpsOf({Class::kFloat, Class::kSelect, Class::kInteger, Class::kConvert});
  static const std::vector<Op> x_ops = OpsOf({Class::kFunction, Class::kCross});
  const bool is_x = d / kBankRegs == static_cast<int>(Bank::kX);
  const std::vector<Op>& ops = is_x ? x_ops : alu;
  const OpInfo* op;
  do {
    op = FindOp(static_cast<uint8_t>(ops[Below(ops.size())]));
  } while (op->op == Op::kTpush || op->op == Op::kTpop ||
           (op->cls == Class::kFunction && !options_.functions));
  Instr x;
  x.op = op->op, x.d = static_cast<uint8_t>(d);
  if (op->a == Kind::kVsrc) Source(d, &x.a, &x.am);
  if (op->b == Kind::kVsrc) Source(d, &x.b, &x.bm);
  if (op->c == Kind::kVsrc) {
    Source(d, &x.c, &x.cm);
    x.imm = x.c | x.cm << 6;
  }
  if (op->a == Kind::kVrow) {
    const std::optional<int> v = Written(rows_max_, d);
    if (!v) return;
    x.a = static_cast<uint8_t>(*v);
  }
  if (op->a == Kind::kSsrc) ScalarSource(&x.a, &x.am);
  if (op->b == Kind::kSsrc) ScalarSource(&x.b, &x.bm);
  if (op->imm == ImmKind::kOffset)
    x.imm = Chance(80) ? Between(-2 * lanes_max_, 2 * lanes_max_)
                       : static_cast<int32_t>(Bits());
  Emit(x);
  Wrote(d);
}

std::vector<Op> Generator::OpsOf(std::initializer_list<Class> classes) {
  std::vector<Op> ops;
  for (const OpInfo& op : kOps) {
    if (std::find(classes.begin(), classes.end(), op.cls) != classes.end())
      ops.push_back(op.op);
  }
  return ops;
}

void Generator::ScalarSource(uint8_t* number, uint8_t* mode) {
  *number = static_cast<uint8_t>(Below(kScalarRegs));
  *mode = static_cast<uint8_t>(Mode::kScalar);
}

void Generator::Dump() {
  Fence();
  SetLanes(lanes_max_);
  const uint32_t row = static_cast<uint32_t>(4 * preset_.cols);
  Li(kCount, row);
  for (int rows = rows_max_; rows > 0; --rows) {
    bool set = false;
    for (int v = 0; v < kVectorRegs; ++v) {
      if (rows_[v] != rows) continue;
      if (!set) SetVl(rows);
      set = true;
      Instr x;
      x.op = Op::kSt32, x.d = static_cast<uint8_t>(v);
      x.am = x.bm = static_cast<uint8_t>(Mode::kScalar), x.b = kCount;
      x.imm = static_cast<int32_t>(dump_at_ + v * rows_max_ * row);
      Emit(x);
    }
  }
}

void Generator::PlaceCode() {
  p_.vload.ub_addr = static_cast<uint32_t>(
      preset_.word_bytes() *
      Below(static_cast<int>((code_size_ - 8 * p_.words.size()) /
                             preset_.word_bytes())));
  p_.vload.count = static_cast<uint32_t>(p_.words.size());
  for (size_t i = 0; i < p_.words.size(); ++i)
    std::memcpy(&p_.ub[0].data[p_.vload.ub_addr + 8 * i], &p_.words[i], 8);
}

std::string RandomProgram::Text() const {
  return absl::StrCat(name, ", pc ", vrun.pc, "\n",
                      DisassembleCode(words, static_cast<int>(vload.addr)));
}

RandomProgram MakeRandomProgram(const Preset& preset, uint64_t seed,
                                const RandomOptions& options) {
  return Generator(preset, seed, options).Make();
}

iss::Result RunOnIss(const RandomProgram& program, iss::State* state,
                     uint64_t undefined) {
  for (const RandomProgram::Bytes& s : program.ub)
    std::copy(s.data.begin(), s.data.end(), state->ub.begin() + s.address);
  for (const RandomProgram::Rows& r : program.acc) {
    std::memcpy(state->acc_row(static_cast<int64_t>(r.first)).data(),
                r.data.data(), 4 * r.data.size());
  }
  state->vpu.Forget(undefined);
  state->vrun_log.enabled = true;
  if (iss::Result r = iss::Execute(program.vload, state)) return r;
  return iss::Execute(program.vrun, state);
}

}  // namespace systole::vpu
