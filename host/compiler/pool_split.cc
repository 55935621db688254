// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/pool_split.h"

#include <algorithm>

namespace systole::compiler {
namespace {

// 1/kShare of the unified buffer holds the lines between the steps.
constexpr int64_t kShare = 16;
// Start of a descriptor; it waits for all results of the one before.
constexpr int64_t kStart = 30;

}  // namespace

int64_t PoolCycles(const PoolSplit& split, const Geometry& g,
                   const Preset& preset, int64_t lines, int64_t positions) {
  const int64_t tiles = CeilDiv(g.oc, preset.cols);
  const int64_t row = positions * tiles;
  if (split.lines == 0) return lines * row * g.kh * g.kw;
  const int64_t columns =
      std::min(g.w, (positions - 1) * g.sw + (g.kw - 1) * g.dw + 1);
  return lines * (CeilDiv(columns * g.c, preset.cols) * g.kh + row * g.kw) +
         CeilDiv(lines, split.lines) * (1 + tiles) * kStart;
}

PoolSplit SplitOf(model::Op op, const Geometry& g, const Preset& preset) {
  PoolSplit split;
  if (op != model::Op::kMaxPool || g.kh == 1 || g.kw == 1) return {};
  split.pitch = RoundUp(g.line_bytes(), preset.word_bytes());
  const int64_t room = preset.ub_bytes / kShare / split.pitch;
  split.lines = std::min(room, g.n * g.oh);
  if (split.lines == 0) return {};
  const int64_t lines = g.n * g.oh;
  const bool faster = 10 * PoolCycles(split, g, preset, lines, g.ow) <
                      9 * PoolCycles({}, g, preset, lines, g.ow);
  return faster ? split : PoolSplit();
}

}  // namespace systole::compiler
