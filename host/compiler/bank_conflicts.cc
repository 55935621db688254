// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/bank_conflicts.h"

#include <algorithm>

#include "host/compiler/geometry.h"

namespace systole::compiler {

int64_t StallsOf(const isa::Matmul& op, const Preset& preset) {
  constexpr int64_t kPositions = 16;
  std::vector<WindowRead> reads;
  for (int s = 0; s < 4; ++s) {
    if (op.seg_len[s] > 0)
      reads.push_back(
          {op.ub_base + op.seg_dy[s] * int64_t{op.pitch} + op.seg_dx[s],
           op.seg_len[s]});
  }
  if (reads.size() < 2) return 0;
  const int64_t positions = std::min<int64_t>(op.nx, kPositions);
  int64_t stalls = 0;
  for (int64_t x = 0; x < positions; ++x) {
    stalls += WindowCycles(reads, preset) - 1;
    for (WindowRead& read : reads) read.address += op.sx;
  }
  return int64_t{op.n} * op.ny * op.nx * stalls / positions;
}

double DeniesOf(const isa::Matmul& op, const Preset& preset) {
  int64_t banks = 0;
  for (int s = 0; s < 4; ++s) {
    if (op.seg_len[s] > 0) banks += CeilDiv(op.seg_len[s], preset.word_bytes());
  }
  const double at_it = std::min(
      1.0, static_cast<double>(banks) / static_cast<double>(preset.ub_banks));
  const int64_t step = std::max<int64_t>(op.nx > 1 ? op.sx : op.pitch, 1);
  const int64_t stay = std::max<int64_t>(1, preset.word_bytes() / step);
  return at_it * static_cast<double>(stay + 1) / 2;
}

int64_t WindowCycles(const std::vector<WindowRead>& reads,
                     const Preset& preset) {
  std::vector<int64_t> use(preset.ub_banks, 0);
  int64_t most = 1;
  const auto word_of = [&](int64_t address) {
    return address >= 0 ? address / preset.word_bytes()
                        : -CeilDiv(-address, preset.word_bytes());
  };
  for (const WindowRead& read : reads) {
    for (int64_t w = word_of(read.address);
         w <= word_of(read.address + read.len - 1); ++w) {
      const int64_t bank =
          (w % preset.ub_banks + preset.ub_banks) % preset.ub_banks;
      most = std::max(most, ++use[bank]);
    }
  }
  return most;
}

}  // namespace systole::compiler
