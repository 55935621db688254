// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "systole/loops.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "systole/program.h"

namespace systole {
namespace {

constexpr uint64_t kProgramAlignment = 128;

// Each loop lies in those that are open where it begins.
absl::Status CheckNesting(const Code& code) {
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < code.loops.size(); ++i) {
    const Loop& loop = code.loops[i];
    const auto bad = [&](const auto&... what) {
      return absl::InvalidArgumentError(
          absl::StrCat("loop ", i, " (descriptors ", loop.begin, " to ",
                       int64_t{loop.end} - 1, "): ", what...));
    };
    if (loop.begin >= loop.end) return bad("nothing is in it");
    if (loop.end >= code.descriptors.size())
      return bad("it has the halt in it, or what is behind it");
    if (i > 0 && (loop.begin < code.loops[i - 1].begin ||
                  (loop.begin == code.loops[i - 1].begin &&
                   loop.end > code.loops[i - 1].end)))
      return bad("it stands behind a loop that begins after it");
    while (!open.empty() && code.loops[open.back()].end <= loop.begin)
      open.pop_back();
    if (!open.empty() && code.loops[open.back()].end < loop.end)
      return bad("it ends outside of loop ", open.back(),
                 ", in which it begins");
    open.push_back(i);
    if (open.size() > kMaxLoopDepth)
      return bad("more than ", kMaxLoopDepth, " loops are in each other");
    if (loop.count == 0) return bad("no passes");
    if (!loop.conditional() && loop.word != 0)
      return bad("a condition without a sync flag");
    if (!loop.conditional() && loop.count == Loop::kForever)
      return bad("it never ends");
  }
  return absl::OkStatus();
}

absl::Status CheckConditions(const Code& code, const Preset& preset) {
  const uint32_t flags =
      preset.chip.cores > 1 ? isa::kFirstPeerFlag : isa::kNumFlags;
  for (uint32_t i = 0; i < code.loops.size(); ++i) {
    const Loop& loop = code.loops[i];
    if (!loop.conditional()) continue;
    if (loop.flag >= flags) {
      return absl::InvalidArgumentError(
          absl::StrCat("loop ", i, ": its condition waits for sync flag ",
                       loop.flag, "; it may be 0 to ", flags - 1));
    }
    if (loop.word % 4 != 0 || loop.word > preset.memory_bytes() - 4) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "loop %d: its condition is at 0x%x, which is no word of the memory",
          i, loop.word));
    }
  }
  return absl::OkStatus();
}

bool IsField(const isa::Descriptor& d, uint32_t lsb, uint32_t bits) {
  const isa::OpInfo* op =
      isa::FindOp(static_cast<uint8_t>(isa::GetBits(d, 0, 8)));
  if (op == nullptr) return false;
  for (int i = 0; i < op->num_fields; ++i) {
    const isa::FieldInfo& f = op->fields[i];
    for (int n = 0; n < f.count; ++n) {
      if (lsb == static_cast<uint32_t>(f.lsb + n * f.bits) &&
          bits == static_cast<uint32_t>(f.bits))
        return true;
    }
  }
  return false;
}

absl::Status CheckSteps(const Code& code) {
  for (size_t i = 0; i < code.steps.size(); ++i) {
    const Step& s = code.steps[i];
    const auto bad = [&](const auto&... what) {
      return absl::InvalidArgumentError(
          absl::StrCat("a step of descriptor ", s.descriptor, ": ", what...));
    };
    if (s.loop >= code.loops.size()) return bad("there is no loop ", s.loop);
    const Loop& loop = code.loops[s.loop];
    if (s.descriptor < loop.begin || s.descriptor >= loop.end)
      return bad("it is not in loop ", s.loop);
    if (!IsField(code.descriptors[s.descriptor], s.lsb, s.bits))
      return bad("bits ", s.lsb, " to ", s.lsb + s.bits - 1, " are no field");
    if (s.lsb % 32 + s.bits > 64)
      return bad("bits ", s.lsb, " to ", s.lsb + s.bits - 1,
                 " lie in more than two words");
    if (i > 0) {
      const Step& before = code.steps[i - 1];
      if (std::tie(before.descriptor, before.lsb, before.loop) >=
          std::tie(s.descriptor, s.lsb, s.loop))
        return bad("out of order");
    }
  }
  return absl::OkStatus();
}

// Calls each(index, passes) for every descriptor in the order in which they
// run, until it says false. All loops are counted ones.
template <typename Each>
bool Walk(const Program& p, uint32_t begin, uint32_t end, uint32_t loop,
          std::vector<uint32_t>* passes, const Each& each) {
  uint32_t at = begin;
  while (at < end) {
    if (loop < p.loops.size() && p.loops[loop].begin == at) {
      const Loop& l = p.loops[loop];
      for (uint32_t& pass = (*passes)[loop] = 0; pass < l.count; ++pass) {
        if (!Walk(p, l.begin, l.end, loop + 1, passes, each)) return false;
      }
      (*passes)[loop] = 0;
      at = l.end;
      while (loop < p.loops.size() && p.loops[loop].begin < at) ++loop;
    } else {
      if (!each(at++, *passes)) return false;
    }
  }
  return true;
}

uint64_t NextMultiple(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

absl::Status CheckLoops(const Code& code, const Preset& preset) {
  absl::Status status = CheckNesting(code);
  if (status.ok()) status = CheckConditions(code, preset);
  if (status.ok()) status = CheckSteps(code);
  if (!status.ok() || code.loops.empty()) return status;
  for (size_t i = 0; i + 1 < code.descriptors.size(); ++i) {
    if (isa::GetBits(code.descriptors[i], 0, 8) ==
        static_cast<uint64_t>(isa::Opcode::kHalt))
      return absl::InvalidArgumentError(absl::StrCat(
          "descriptor ", i, ": a program with loops has one halt, at its end"));
  }
  return status;
}

Reach ReachOf(const std::vector<Loop>& loops, const std::vector<Step>& steps,
              uint32_t descriptor) {
  constexpr uint32_t kHbmAddr = isa::kLoadFields[0].lsb;
  // Beyond any memory, and sums of it still fit.
  constexpr int64_t kFar = int64_t{1} << 48;
  Reach reach;
  auto step = std::lower_bound(
      steps.begin(), steps.end(), descriptor,
      [](const Step& s, uint32_t index) { return s.descriptor < index; });
  for (; step != steps.end() && step->descriptor == descriptor; ++step) {
    if (step->lsb != kHbmAddr) continue;
    const auto last = static_cast<int64_t>(loops[step->loop].count) - 1;
    const int64_t most = last == 0 ? 0 : kFar / last;
    const int64_t by = std::clamp(step->add, -most, most) * last;
    (by < 0 ? reach.least : reach.most) += by;
  }
  return reach;
}

isa::Descriptor AtPass(const isa::Descriptor& descriptor, uint32_t index,
                       const std::vector<Step>& steps,
                       const std::vector<uint32_t>& passes) {
  isa::Descriptor d = descriptor;
  auto step = std::lower_bound(
      steps.begin(), steps.end(), index,
      [](const Step& s, uint32_t i) { return s.descriptor < i; });
  for (; step != steps.end() && step->descriptor == index; ++step) {
    const int lsb = static_cast<int>(step->lsb);
    const int bits = static_cast<int>(step->bits);
    isa::PutBits(d, lsb, bits,
                 isa::GetBits(d, lsb, bits) +
                     passes[step->loop] * static_cast<uint64_t>(step->add));
  }
  return d;
}

absl::StatusOr<Program> UnrollLoops(const Program& program) {
  if (program.loops.empty()) return program;
  for (const Loop& loop : program.loops) {
    if (loop.conditional())
      return absl::FailedPreconditionError(absl::StrCat(
          "descriptors ", loop.begin, " to ", loop.end - 1,
          " are run or not by what a word of the memory says: only a chip with "
          "a scalar unit can do that"));
  }
  Program flat = program;
  flat.loops.clear();
  flat.steps.clear();
  flat.descriptors.clear();
  flat.relocations.clear();
  std::vector<uint32_t> passes(program.loops.size());
  const auto end = static_cast<uint32_t>(program.descriptors.size());
  const bool complete = Walk(
      program, 0, end, 0, &passes,
      [&](uint32_t index, const std::vector<uint32_t>& at) {
        if (flat.descriptors.size() == kMaxUnrolled) return false;
        const auto moved = std::lower_bound(
            program.relocations.begin(), program.relocations.end(), index,
            [](const Relocation& r, uint32_t i) { return r.descriptor < i; });
        if (moved != program.relocations.end() && moved->descriptor == index) {
          flat.relocations.push_back(
              {static_cast<uint32_t>(flat.descriptors.size()), moved->segment});
        }
        flat.descriptors.push_back(
            AtPass(program.descriptors[index], index, program.steps, at));
        return true;
      });
  if (!complete)
    return absl::ResourceExhaustedError(absl::StrCat(
        "unrolled, the loops are more than ", kMaxUnrolled, " descriptors"));
  const Preset& preset = *FindPreset(program.preset);
  const uint64_t bytes = flat.descriptors.size() * isa::kDescriptorBytes;
  const uint64_t at =
      NextMultiple(program.hbm_bytes,
                   std::max<uint64_t>({kProgramAlignment, kMemoryAlignment,
                                       uint64_t(preset.beat)}));
  if (at + bytes > preset.memory_bytes())
    return absl::ResourceExhaustedError(
        absl::StrFormat("unrolled, the program is %d descriptors, for which "
                        "the memory of %d bytes has no room",
                        flat.descriptors.size(), preset.memory_bytes()));
  for (MemorySegment& part : flat.memory) {
    if (part.hbm_addr <= program.prog_addr &&
        program.prog_addr < part.hbm_addr + part.bytes &&
        part.use == MemoryUse::kCode)
      part = {MemoryUse::kCode, at, bytes};
  }
  flat.prog_addr = at;
  flat.hbm_bytes = NextMultiple(at + bytes, kProgramAlignment);
  return flat;
}

absl::StatusOr<Program> ForChip(Program program) {
  if (program.loops.empty()) return program;
  const Preset& preset = *FindPreset(program.preset);
  std::set<uint32_t> stepped;
  for (const Step& s : program.steps) stepped.insert(s.descriptor);
  if (preset.chip.smem_bytes != 0 && program.loops.size() <= kMaxLoops &&
      program.steps.size() <= kMaxSteps && stepped.size() <= kMaxStepped &&
      isa::kDescriptorBytes % preset.beat_bytes() == 0)
    return program;
  absl::StatusOr<Program> flat = UnrollLoops(program);
  if (flat.ok()) return flat;
  return absl::Status(flat.status().code(),
                      absl::StrCat("preset '", program.preset,
                                   preset.chip.smem_bytes == 0
                                       ? "' has no scalar unit: "
                                       : "': too many loops for its firmware: ",
                                   flat.status().message()));
}

}  // namespace systole
