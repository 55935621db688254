// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "host/program/header_bits.h"
#include "host/program/vpu_asm.h"
#include "systole/program.h"

namespace systole {
namespace {

// Fields that are easier to read in hexadecimal.
bool IsAddress(std::string_view field) {
  for (std::string_view name : {"hbm_addr", "ub_addr", "ub_base", "src", "src0",
                                "src1", "dst", "params"}) {
    if (field == name) return true;
  }
  return false;
}

void AppendMask(std::string* line, const char* name, uint64_t mask) {
  std::vector<int> flags;
  for (int f = 0; f < isa::kNumFlags; ++f) {
    if (mask >> f & 1) flags.push_back(f);
  }
  if (!flags.empty())
    absl::StrAppend(line, " ", name, "=", absl::StrJoin(flags, ","));
}

// What the loops around a descriptor, the innermost first, add to its fields.
using Steps = std::vector<std::vector<Step>>;

// "+64", "+0+8"; nothing for a field that stays.
std::string StepsOf(const Steps& steps, int lsb) {
  std::string text, zeros;
  for (const std::vector<Step>& of_loop : steps) {
    const auto step = std::find_if(
        of_loop.begin(), of_loop.end(),
        [&](const Step& s) { return static_cast<int>(s.lsb) == lsb; });
    if (step == of_loop.end()) {
      zeros += "+0";
    } else {
      absl::StrAppend(&text, zeros, step->add < 0 ? "" : "+", step->add);
      zeros.clear();
    }
  }
  return text;
}

void AppendField(std::string* line, const isa::FieldInfo& field,
                 const isa::Descriptor& d, const Steps& steps) {
  std::vector<std::string> values;
  bool zero = true;
  for (int i = 0; i < field.count; ++i) {
    const int lsb = field.lsb + i * field.bits;
    const uint64_t bits = isa::GetBits(d, lsb, field.bits);
    zero = zero && bits == 0;
    if (field.is_signed) {
      values.push_back(absl::StrCat(isa::GetSignedBits(d, lsb, field.bits)));
    } else if (IsAddress(field.name)) {
      values.push_back(absl::StrFormat("0x%x", bits));
    } else {
      values.push_back(absl::StrCat(bits));
    }
    const std::string text = StepsOf(steps, lsb);
    zero = zero && text.empty();
    values.back() += text;
  }
  if (!zero)
    absl::StrAppendFormat(line, " %s=%s", field.name,
                          absl::StrJoin(values, ","));
}

std::string Raw(const isa::Descriptor& d) {
  std::string line = "raw";
  for (uint64_t word : d) absl::StrAppendFormat(&line, " 0x%016x", word);
  return line;
}

// Names come from files: control characters must not end the comment.
std::string OneLine(std::string name) {
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  return name;
}

// A segment's instructions, if it is vector code, as comments.
void AppendCode(std::string* text, const DataSegment& s) {
  if (s.name.compare(0, vpu::kSegmentPrefix.size(), vpu::kSegmentPrefix) != 0)
    return;
  const std::string code = vpu::DisassembleCode(vpu::WordsOf(s));
  for (absl::string_view line : absl::StrSplit(code, '\n', absl::SkipEmpty()))
    absl::StrAppend(text, "# ", line, "\n");
}

// Bits that no field of the operation has.
bool HasUnusedBits(const isa::OpInfo& op, const isa::Descriptor& d) {
  uint64_t flags = isa::GetBits(d, kFlagsLsb, 8);
  for (int i = 0; i < op.num_flags; ++i)
    flags &= ~(uint64_t{1} << op.flags[i].bit);
  if (flags != 0) return true;
  for (int bit = op.width; bit < isa::kDescriptorBits; ++bit) {
    if (isa::GetBits(d, bit, 1) != 0) return true;
  }
  return false;
}

std::string DisassembleLine(const isa::Descriptor& d, const Steps& steps) {
  const isa::OpInfo* op =
      isa::FindOp(static_cast<uint8_t>(isa::GetBits(d, 0, kOpcodeBits)));
  if (op == nullptr || HasUnusedBits(*op, d)) return Raw(d);
  std::string line(op->name);
  for (int i = 0; i < op->num_fields; ++i)
    AppendField(&line, op->fields[i], d, steps);
  AppendMask(&line, "wait", isa::GetBits(d, kWaitLsb, isa::kNumFlags));
  AppendMask(&line, "post", isa::GetBits(d, kPostLsb, isa::kNumFlags));
  for (int i = 0; i < op->num_flags; ++i) {
    if (isa::GetBits(d, kFlagsLsb + op->flags[i].bit, 1) != 0)
      absl::StrAppendFormat(&line, " %s", op->flags[i].name);
  }
  const uint64_t tag = isa::GetBits(d, kTagLsb, kTagBits);
  if (tag != 0) absl::StrAppend(&line, " tag=", tag);
  return line;
}

std::string LoopLine(const Loop& loop) {
  if (!loop.conditional()) return absl::StrCat("loop ", loop.count);
  std::string line =
      absl::StrFormat("%s word=0x%x flag=%d", loop.count == 1 ? "if" : "while",
                      loop.word, loop.flag);
  if (loop.count != 1 && loop.count != Loop::kForever)
    absl::StrAppend(&line, " most=", loop.count);
  return line;
}

// The steps of descriptor i in these loops.
Steps StepsAround(const Program& p, size_t i,
                  const std::vector<uint32_t>& open) {
  Steps steps;
  for (auto loop = open.rbegin(); loop != open.rend(); ++loop) {
    steps.emplace_back();
    for (const Step& s : p.steps) {
      if (s.descriptor == i && s.loop == *loop) steps.back().push_back(s);
    }
  }
  return steps;
}

}  // namespace

std::string Disassemble(const isa::Descriptor& d) {
  return DisassembleLine(d, {});
}

std::string DisassembleProgram(const Program& p) {
  std::string text =
      absl::StrFormat("# preset %s, %d descriptors at 0x%x, %d bytes of HBM\n",
                      p.preset, p.descriptors.size(), p.prog_addr, p.hbm_bytes);
  for (const MemorySegment& m : p.memory) {
    absl::StrAppendFormat(&text, "# memory 0x%08x %9d bytes  %s\n", m.hbm_addr,
                          m.bytes, MemoryUseName(m.use));
  }
  for (const DataSegment& s : p.segments) {
    absl::StrAppendFormat(&text, "# data 0x%08x %9d bytes  %s\n", s.hbm_addr,
                          s.data.size(), OneLine(s.name));
    AppendCode(&text, s);
  }
  for (const TensorInfo& t : p.tensors) {
    absl::StrAppendFormat(
        &text,
        "# %-6s 0x%08x %s %s %dx%dx%dx%d, pitch %d, image pitch %d, scale %g, "
        "zero point %d\n",
        t.is_input ? "input" : (t.is_output ? "output" : "tensor"), t.hbm_addr,
        OneLine(t.name), std::string(ElementTypeName(t.type)), t.n, t.h, t.w,
        t.channels, t.pitch, t.img_pitch, t.scale, t.zero_point);
  }
  int64_t tag = -1;
  std::vector<uint32_t> open;
  uint32_t next = 0;
  for (size_t i = 0; i < p.descriptors.size(); ++i) {
    for (; !open.empty() && p.loops[open.back()].end == i; open.pop_back())
      absl::StrAppend(&text, std::string(2 * open.size() - 2, ' '), "end\n");
    for (; next < p.loops.size() && p.loops[next].begin == i; ++next) {
      absl::StrAppend(&text, std::string(2 * open.size(), ' '),
                      LoopLine(p.loops[next]), "\n");
      open.push_back(next);
    }
    const int64_t new_tag =
        static_cast<int64_t>(isa::GetBits(p.descriptors[i], kTagLsb, kTagBits));
    if (new_tag != tag && new_tag < static_cast<int64_t>(p.layers.size())) {
      const LayerInfo& l = p.layers[new_tag];
      absl::StrAppend(&text, "# layer ", new_tag, ": ",
                      OneLine(absl::StrCat(l.name, ", ", l.op, ", ", l.shape)),
                      "\n");
    }
    tag = new_tag;
    absl::StrAppendFormat(
        &text, "%s%s  # %d\n", std::string(2 * open.size(), ' '),
        DisassembleLine(p.descriptors[i], StepsAround(p, i, open)), i);
  }
  return text;
}

}  // namespace systole
