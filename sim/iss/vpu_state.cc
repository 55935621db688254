// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/iss/vpu_state.h"

#include "absl/strings/str_format.h"
#include "sim/iss/sparse_memory.h"

namespace systole::iss {

VpuState::VpuState(const Preset& preset)
    : cols(preset.cols), rows(preset.vector_rows()) {
  if (preset.cell != Cell::kBf16) return;
  imem.resize(vpu::kImemWords);
  for (Slot& slot : imem) slot.illegal = "no vload has written it";
  regs.resize(static_cast<size_t>(vpu::kVectorRegs) * rows * cols);
}

void VpuState::Forget(uint64_t seed) {
  if (undefined_.empty() || seed != undefined_seed_) {
    undefined_.resize(regs.size());
    undefined_seed_ = seed;
    for (size_t i = 0; i < regs.size(); ++i)
      undefined_[i] = static_cast<uint32_t>(Pattern(seed ^ 0x565055, i));
  }
  regs = undefined_;
  written.fill(0);
}

void VrunLog::Load(uint32_t pc, const Range& bytes) {
  unfenced_.Visit(
      bytes,
      [&](const Range& r) {
        if (!seen_.insert({pc, 'r'}).second) return;
        problems.push_back(
            {pc, absl::StrFormat("vector race: instruction %d loads unified "
                                 "buffer bytes 0x%x..0x%x, stored since the "
                                 "last fence",
                                 pc, r.begin, r.end - 1)});
      },
      [](const Range&) {});
  writes.Visit(
      bytes, [](const Range&) {}, [&](const Range& r) { reads.Add(r); });
}

void VrunLog::Unwritten(uint32_t pc, int v, int r) {
  if (!seen_.insert({pc, 'u'}).second) return;
  problems.push_back(
      {pc, absl::StrFormat("instruction %d reads row %d of v%d, which the "
                           "program has not written",
                           pc, r, v)});
}

}  // namespace systole::iss
