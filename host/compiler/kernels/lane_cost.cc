// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_cost.h"

#include "host/compiler/kernels/lane_timing.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {

double IterationCycles(const std::vector<uint64_t>& words, int64_t rows,
                       const Preset& preset, int before, int measured) {
  LaneTiming timing(preset, static_cast<int>(rows));
  int64_t start = 0;
  for (int i = 0; i < before + measured; ++i) {
    if (i == before) start = timing.now();
    for (const uint64_t word : words) timing.Run(vpu::Instr::Decode(word));
    timing.Branch();
  }
  return static_cast<double>(timing.now() - start) / measured;
}

double RowCycles(const std::vector<uint64_t>& words, size_t first, int groups,
                 const Preset& preset) {
  const auto begin = words.begin() + static_cast<int64_t>(first);
  const int64_t rows = preset.vector_rows();
  return IterationCycles({begin, words.end()}, rows, preset) /
         static_cast<double>(groups * rows);
}

}  // namespace systole::lanes
