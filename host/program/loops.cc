// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "systole/loops.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "systole/program.h"

namespace systole {
namespace {

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

}  // namespace systole
