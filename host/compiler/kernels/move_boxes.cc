// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/move_boxes.h"

#include <algorithm>

namespace systole::lanes {
namespace {

constexpr int64_t kMostRuns = 1 << 16;  // of a repetition

// Those with several elements of the operand, the densest first.
std::vector<CopyDimension*> ByStride(std::vector<CopyDimension>& dimensions) {
  std::vector<CopyDimension*> order;
  for (CopyDimension& d : dimensions) {
    if (d.size > 1 && d.from > 0) order.push_back(&d);
  }
  std::sort(order.begin(), order.end(),
            [](const CopyDimension* a, const CopyDimension* b) {
              return a->from < b->from;
            });
  return order;
}

}  // namespace

std::optional<BoxRuns> RunsOf(const Piece& piece, int64_t element_bytes,
                              int64_t beat) {
  std::vector<CopyDimension> dimensions = piece.dimensions;
  for (const CopyDimension& d : dimensions) {
    if (d.from < 0) return std::nullopt;
  }
  const std::vector<CopyDimension*> order = ByStride(dimensions);
  int64_t dense = 1;
  size_t i = 0;
  for (; i < order.size() && order[i]->from == dense; ++i)
    dense *= order[i]->size;
  BoxRuns runs;
  runs.run = dense * element_bytes;
  if (runs.run % beat != 0 || piece.from * element_bytes % beat != 0)
    return std::nullopt;
  runs.bytes = runs.run;
  for (; i < order.size(); ++i) {
    const int64_t stride = order[i]->from * element_bytes;
    if (stride % beat != 0) return std::nullopt;
    if (!runs.repeats.empty() &&
        runs.repeats.back().hbm * runs.repeats.back().count == stride) {
      runs.repeats.back().count *= order[i]->size;
    } else {
      runs.repeats.push_back({order[i]->size, stride, runs.bytes});
    }
    runs.bytes *= order[i]->size;
  }
  if (runs.repeats.size() > 2) return std::nullopt;
  for (const KernelBuilder::Repeat& repeat : runs.repeats) {
    if (repeat.count >= kMostRuns) return std::nullopt;
  }
  return runs;
}

std::vector<CopyDimension> Packed(std::vector<CopyDimension> dimensions) {
  int64_t stride = 1;
  for (CopyDimension* d : ByStride(dimensions)) {
    d->from = stride;
    stride *= d->size;
  }
  return dimensions;
}

}  // namespace systole::lanes
