// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Legality, disassembly and loading of vector code.

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/program/vpu_asm.h"

namespace systole::vpu {
namespace {

int BankOf(int v) { return v / kBankRegs; }

bool WritesBank(Class cls, int bank) {
  switch (cls) {
    case Class::kLoad:
      return bank == static_cast<int>(Bank::kLoad0) ||
             bank == static_cast<int>(Bank::kLoad1);
    case Class::kFloat:
    case Class::kSelect:
    case Class::kInteger:
    case Class::kConvert:
      return bank == static_cast<int>(Bank::kAlu0) ||
             bank == static_cast<int>(Bank::kAlu1);
    default:
      return bank == static_cast<int>(Bank::kX);
  }
}

std::string CheckVector(int v) {
  if (v < kVectorRegs) return "";
  return absl::StrCat("there is no v", v);
}
std::string CheckScalar(int s) {
  if (s < kScalarRegs) return "";
  return absl::StrCat("there is no s", s);
}

std::string CheckDestination(const OpInfo& op, const Instr& x) {
  switch (op.d) {
    case Kind::kSdst:
      return CheckScalar(x.d);
    case Kind::kVfrom:
      return CheckVector(x.d);
    case Kind::kVdst:
      if (x.d >= kVectorRegs) return CheckVector(x.d);
      if (!WritesBank(op.cls, BankOf(x.d)))
        return absl::StrCat(std::string(op.name), " cannot write v", x.d);
      return "";
    default:
      return "";
  }
}

std::string CheckSource(const OpInfo& op, const Instr& x, Kind kind, char field,
                        int r, int mode) {
  const auto m = static_cast<Mode>(mode);
  const bool scalar_class =
      op.cls == Class::kScalar || op.cls == Class::kControl;
  const bool is_destination = op.d == Kind::kVdst && r == x.d;
  std::string error;
  switch (kind) {
    case Kind::kSsrc:
      if (m != (scalar_class ? Mode::kRow : Mode::kScalar)) break;
      return CheckScalar(r);
    case Kind::kVsrc:
      if (mode > static_cast<int>(Mode::kScalar)) break;
      if (m == Mode::kScalar) return CheckScalar(r);
      error = CheckVector(r);
      if (error.empty() && m == Mode::kRow0 && is_destination)
        error = absl::StrCat("row 0 of v", r, ", which is the destination");
      return error;
    case Kind::kVrow:
      if (m != Mode::kRow) break;
      error = CheckVector(r);
      if (error.empty() && is_destination)
        error = absl::StrCat("source v", r, " is the destination");
      return error;
    default:
      return "";
  }
  return absl::StrFormat("operand %c has mode %d", field, mode);
}

// Operand in a source field, as text.
std::string SourceText(const OpInfo& op, Kind kind, int r, int mode) {
  if (kind == Kind::kSsrc || op.cls <= Class::kControl ||
      mode == static_cast<int>(Mode::kScalar)) {
    return absl::StrCat("s", r);
  }
  return absl::StrCat("v", r,
                      mode == static_cast<int>(Mode::kRow0) ? ".0" : "");
}

// The immediate can be written as text.
bool HasText(const OpInfo& op, const Instr& x) {
  if (op.imm == ImmKind::kShift) return x.imm >= 0 && x.imm < 32;
  if (op.imm == ImmKind::kTarget) return x.imm >= 0 && x.imm < kImemWords;
  if (op.imm == ImmKind::kLimit) return x.imm >= 0 && x.imm < 64;
  return true;
}

// `target`: text of a branch's target.
std::string Text(const OpInfo& op, const Instr& x, const std::string& target) {
  std::string line(op.name);
  const char* separator = " ";
  for (int i = 0; i < op.num_operands; ++i) {
    const Operand& o = op.operands[i];
    std::string text;
    switch (o.field) {
      case 'd':
        text = absl::StrCat(o.kind == Kind::kSdst ? "s" : "v", x.d);
        break;
      case 'a':
        text = SourceText(op, o.kind, x.a, x.am);
        break;
      case 'b':
        text = SourceText(op, o.kind, x.b, x.bm);
        break;
      case 'c':
        text = SourceText(op, o.kind, x.c, x.cm);
        break;
      default:
        if (IsOptional(op.imm) && x.imm == 0) continue;
        text = op.imm == ImmKind::kTarget ? target : absl::StrCat(x.imm);
        break;
    }
    absl::StrAppend(&line, separator, text);
    separator = ", ";
  }
  return line;
}

std::string Word(uint64_t word) {
  return absl::StrFormat(".word 0x%016x", word);
}

}  // namespace

std::string WhyIllegal(uint64_t word) {
  const Instr x = Instr::Decode(word);
  const OpInfo* op = FindOp(static_cast<uint8_t>(x.op));
  if (op == nullptr)
    return absl::StrFormat("unknown opcode 0x%02x", static_cast<int>(x.op));
  if ((word & op->unused) != 0) return "a bit that is not used is set";
  std::string error = CheckDestination(*op, x);
  if (error.empty()) error = CheckSource(*op, x, op->a, 'a', x.a, x.am);
  if (error.empty()) error = CheckSource(*op, x, op->b, 'b', x.b, x.bm);
  if (error.empty()) error = CheckSource(*op, x, op->c, 'c', x.c, x.cm);
  return error;
}

std::string Disassemble(uint64_t word) {
  const Instr x = Instr::Decode(word);
  const OpInfo* op = FindOp(static_cast<uint8_t>(x.op));
  if (!WhyIllegal(word).empty() || !HasText(*op, x)) return Word(word);
  return Text(*op, x, absl::StrCat(x.imm));
}

std::string DisassembleCode(absl::Span<const uint64_t> words, int base) {
  const int end = base + static_cast<int>(words.size());
  const auto target_of = [&](uint64_t word) {
    const Instr x = Instr::Decode(word);
    const OpInfo* op = FindOp(static_cast<uint8_t>(x.op));
    const bool is_branch = WhyIllegal(word).empty() &&
                           op->imm == ImmKind::kTarget && x.imm >= base &&
                           x.imm < end;
    return is_branch ? x.imm : -1;
  };
  std::set<int> targets;
  for (uint64_t word : words) targets.insert(target_of(word));
  std::string text;
  for (int i = base; i < end; ++i) {
    const uint64_t word = words[i - base];
    const int target = target_of(word);
    const Instr x = Instr::Decode(word);
    const std::string label = targets.count(i) ? absl::StrCat("l", i, ":") : "";
    absl::StrAppendFormat(&text, "%-8s%s\n", label,
                          target < 0 ? Disassemble(word)
                                     : Text(*FindOp(static_cast<uint8_t>(x.op)),
                                            x, absl::StrCat("l", target)));
  }
  return text;
}

DataSegment Segment(const std::string& name, uint64_t hbm_addr,
                    absl::Span<const uint64_t> words) {
  DataSegment s{absl::StrCat(std::string(kSegmentPrefix), name), hbm_addr, {}};
  s.data.reserve(words.size() * 8);
  for (uint64_t word : words) {
    for (int i = 0; i < 8; ++i)
      s.data.push_back(static_cast<uint8_t>(word >> (8 * i)));
  }
  return s;
}

std::vector<uint64_t> WordsOf(const DataSegment& segment) {
  std::vector<uint64_t> words(segment.data.size() / 8);
  for (size_t i = 0; i < words.size() * 8; ++i)
    words[i / 8] |= uint64_t{segment.data[i]} << (i % 8 * 8);
  return words;
}

CodeLoad LoadCode(uint64_t hbm_addr, uint64_t ub_addr, int64_t count,
                  int addr) {
  CodeLoad r;
  r.load.hbm_addr = hbm_addr;
  r.load.ub_addr = static_cast<uint32_t>(ub_addr);
  r.load.len = static_cast<uint32_t>(8 * count);
  r.load.n1 = r.load.n2 = 1;
  r.vload.ub_addr = static_cast<uint32_t>(ub_addr);
  r.vload.addr = static_cast<uint32_t>(addr);
  r.vload.count = static_cast<uint32_t>(count);
  return r;
}

}  // namespace systole::vpu
