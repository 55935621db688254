// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/zero_code.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/lane_instructions.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

using vpu::Op;

// The registers of a run: arguments are address, rows and their stride, lanes,
// repetitions and their stride. Then the row that is next, the rows that are
// left, what a register of rows takes.
struct ZeroRegisters {
  static constexpr int kAt = 1, kRows = 2, kStride = 3, kLanes = 4, kTimes = 5,
                       kDistance = 6, kNext = 7, kLeft = 8, kStep = 9;
  static constexpr int kZeros = 32;  // of the cross unit
};

int LogOfRows(int64_t v) {
  int log = 0;
  while (v > int64_t{1} << log) ++log;
  return log;
}

}  // namespace

ZeroCode::ZeroCode(const Preset& preset, int base) : lanes_(preset.cols) {
  const auto put = [this](const vpu::Instr& x) {
    words_.push_back(x.Encode());
  };
  const auto next = [&] { return base + static_cast<int>(words_.size()); };
  const auto rows = static_cast<int32_t>(preset.vector_rows());
  for (const bool halves : {false, true}) {
    (halves ? halves_pc_ : words_pc_) = next();
    put(Make(Op::kLanes, 0, ZeroRegisters::kLanes));
    put(Make(Op::kSlli, ZeroRegisters::kStep, ZeroRegisters::kStride, 0,
             LogOfRows(rows)));
    put(Make(Op::kVl, 0, ZeroRegisters::kRows));
    vpu::Instr zeros = Make(Op::kMov, ZeroRegisters::kZeros);
    zeros.am = static_cast<uint8_t>(vpu::Mode::kScalar);
    put(zeros);
    const int repetition = next();
    put(Make(Op::kAddi, ZeroRegisters::kNext, ZeroRegisters::kAt));
    put(Make(Op::kAddi, ZeroRegisters::kLeft, ZeroRegisters::kRows));
    const int group = next();
    put(Make(Op::kVl, 0, ZeroRegisters::kLeft));
    put(Make(halves ? Op::kSt16h : Op::kSt32, ZeroRegisters::kZeros,
             ZeroRegisters::kNext, ZeroRegisters::kStride));
    put(Make(Op::kAdd, ZeroRegisters::kNext, ZeroRegisters::kNext,
             ZeroRegisters::kStep));
    put(Make(Op::kAddi, ZeroRegisters::kLeft, ZeroRegisters::kLeft, 0, -rows));
    put(Make(Op::kBlt, 0, 0, ZeroRegisters::kLeft, group));
    put(Make(Op::kAdd, ZeroRegisters::kAt, ZeroRegisters::kAt,
             ZeroRegisters::kDistance));
    put(Make(Op::kAddi, ZeroRegisters::kTimes, ZeroRegisters::kTimes, 0, -1));
    put(Make(Op::kBlt, 0, 0, ZeroRegisters::kTimes, repetition));
    put(Make(Op::kHalt, 0));
  }
}

void ZeroCode::Clear(KernelBuilder& builder, const ZeroBox& box) const {
  using Dimension = ZeroBox::Dimension;
  // Neighbours that lie dense become one.
  std::vector<Dimension> dimensions;
  for (const Dimension& d : box.dimensions) {
    if (d.size == 1) continue;
    if (!dimensions.empty() && dimensions.back().stride == d.size * d.stride) {
      dimensions.back() = {dimensions.back().size * d.size, d.stride};
    } else {
      dimensions.push_back(d);
    }
  }
  int64_t line = 1;  // elements side by side
  if (!dimensions.empty() && dimensions.back().stride == box.element_bytes) {
    line = dimensions.back().size;
    dimensions.pop_back();
  }
  // Two halves are a word.
  const bool words = line * box.element_bytes % 4 == 0;
  const int64_t unit = words ? 4 : box.element_bytes;
  line = line * box.element_bytes / unit;
  const auto fill = [&](int64_t at, int64_t lanes,
                        std::vector<Dimension> loops) {
    std::stable_sort(
        loops.begin(), loops.end(),
        [](const Dimension& a, const Dimension& b) { return a.size < b.size; });
    Dimension inner{1, 0}, outer{1, 0};
    for (Dimension* loop : {&inner, &outer}) {
      if (loops.empty()) break;
      *loop = loops.back();
      loops.pop_back();
    }
    std::vector<int64_t> starts = {at};
    for (const Dimension& loop : loops) {
      std::vector<int64_t> next;
      for (const int64_t start : starts)
        for (int64_t i = 0; i < loop.size; ++i)
          next.push_back(start + i * loop.stride);
      starts = std::move(next);
    }
    for (const int64_t start : starts) {
      const int64_t bytes = (inner.size - 1) * inner.stride +
                            (outer.size - 1) * outer.stride + lanes * unit;
      builder.Run(
          words ? words_pc_ : halves_pc_,
          {start, inner.size, inner.stride, lanes, outer.size, outer.stride},
          {}, {{start, bytes}}, 24 + outer.size * (inner.size + 8));
    }
  };
  const int64_t whole = line / lanes_, rest = line % lanes_;
  if (whole > 0) {
    std::vector<Dimension> loops = dimensions;
    if (whole > 1) loops.push_back({whole, lanes_ * unit});
    fill(box.at, lanes_, std::move(loops));
  }
  if (rest > 0) fill(box.at + whole * lanes_ * unit, rest, dimensions);
}

}  // namespace systole::lanes
