// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/reduction_passes.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_cost.h"
#include "host/compiler/kernels/lane_groups.h"
#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/hlo/tree.h"

namespace systole::lanes {
namespace {

constexpr int kMostLevels = 4;       // of a pass
constexpr int64_t kMostChunks = 32;  // rows of a line
constexpr int64_t kManyRows = 32;

}  // namespace

ReductionPasses::ReductionPasses(const ir::Node& node, int64_t lines,
                                 int64_t count, int64_t inner,
                                 const Preset& preset, int64_t left,
                                 int64_t multiple, int64_t gap)
    : preset_(preset),
      combiner_(*ir::CombinerOf(*node.regions[0])),
      element_(node.type.element),
      size_(ir::ElementBytes(element_)),
      lines_(lines),
      count_(count),
      inner_(inner),
      left_(left > 0 ? left : count),
      multiple_(multiple),
      pitch_(count * inner * size_ + gap) {}

absl::Status ReductionPasses::AddCode(Bytes first, Bytes row,
                                      std::vector<uint64_t>& words) {
  first_ = first;
  row_ = row;
  int64_t count = left_;
  const auto add = [&](Pass pass) -> absl::Status {
    pass.count = count;
    return Emit(pass, words);
  };
  while (true) {
    Pass pass;
    if (FitsLanes(count)) {
      pass.lanes = pass.last = true;
      return add(pass);
    }
    const int64_t half = ir::FirstHalf(count);
    if (half > 0 && 2 * half > count) {  // pairs of some elements
      pass.levels = 1;
      if (absl::Status s = add(pass); !s.ok()) return s;
      count = half;
      continue;
    }
    while (pass.levels < kMostLevels && count >> pass.levels > 1 &&
           !(inner_ == 1 && count >> pass.levels <= kMostChunks * preset_.cols))
      ++pass.levels;
    pass.last = count >> pass.levels == 1;
    if (absl::Status s = add(pass); !s.ok()) return s;
    if (pass.last) return absl::OkStatus();
    count >>= pass.levels;
  }
}

bool ReductionPasses::FitsLanes(int64_t count) const {
  return inner_ == 1 && count > 1 && count <= kMostChunks * preset_.cols;
}

bool ReductionPasses::Overwrites() const {
  if (FitsLanes(left_) || left_ == 1) return false;
  return 2 * ir::FirstHalf(left_) > left_ || left_ >> kMostLevels > 1;
}

// Elements between those that a pass combines.
int64_t ReductionPasses::Step(const Pass& pass) const {
  const int64_t half = ir::FirstHalf(pass.count);
  return 2 * half > pass.count ? half : pass.count >> pass.levels;
}

absl::Status ReductionPasses::Emit(Pass pass, std::vector<uint64_t>& words) {
  LaneGraph graph;
  LanePlaces places;
  const int64_t cols = preset_.cols;
  const int64_t distance = pass.lanes ? cols : Step(pass) * inner_;
  const auto load = [&](int64_t i) {
    const int operand = static_cast<int>(places.operands.size());
    places.operands.push_back({{i * distance * size_, 0}, 0, 0});
    return FromMemory(
        graph, element_,
        graph.Load({operand, StorageOf(element_), Pattern::kStream}));
  };
  const auto combine = [&](Lane left, Lane right) {
    return Combine(graph, combiner_, element_, left, right);
  };
  Lane lane = pass.lanes ? OfLanes(graph, pass.count, load, combine)
                         : OfLevels(1 << pass.levels, load, combine);
  if (pass.last) {
    const int operand = static_cast<int>(places.operands.size());
    places.operands.push_back({{0, 0}, first_.at, row_.at});
    const LaneLoad splat = {operand, StorageOf(element_), Pattern::kSplat};
    lane = combine(lane, FromMemory(graph, element_, graph.Load(splat)));
  }
  LaneStore store = ToMemory(graph, element_, lane);
  store.first_lane = pass.lanes;
  places.stores = {{0, 1}};
  if (!AlongLines(pass)) {
    places.strides[0] = pitch_;
    places.strides[1] = pass.last ? inner_ * size_ : pitch_;
  }
  places.rows = Rows(pass);
  const absl::StatusOr<LaneCode> code = lanes::Emit(
      graph, {store}, places, preset_, static_cast<int>(words.size()),
      Loop::kRows, RowsOfRuns(pass));
  if (!code.ok()) return code.status();
  pass.pc = code->main;
  pass.cycles = code->row_cycles;
  if (code->spread >= 0) spread_ = code->spread;
  words.insert(words.end(), code->words.begin(), code->words.end());
  // As a run of as many lines begins and ends.
  const int64_t rows = Rows(pass);
  const int64_t run =
      RunCycles(words, pass.pc,
                {0, 0, 0, rows, places.strides[0], places.strides[1], 0, cols},
                preset_, StridesOf(places));
  pass.ends = std::max<int64_t>(0, run - CyclesOf(pass.cycles, rows));
  passes_.push_back(pass);
  return absl::OkStatus();
}

Lane ReductionPasses::OfLevels(int64_t count, const LoadElement& load,
                               const CombineLanes& combine) {
  const std::function<Lane(int64_t, int64_t)> sum = [&](int64_t first,
                                                        int64_t step) {
    return step == count
               ? load(first)
               : combine(sum(first, 2 * step), sum(first + step, 2 * step));
  };
  return sum(0, 1);
}

// Of up to kMostChunks rows of a line; the result is in lane 0.
Lane ReductionPasses::OfLanes(LaneGraph& graph, int64_t count,
                              const LoadElement& load,
                              const CombineLanes& combine) const {
  const int64_t cols = preset_.cols;
  std::vector<Lane> rows;
  for (int64_t i = 0; i < (count + cols - 1) / cols; ++i)
    rows.push_back(load(i));
  return ReduceRows(graph, std::move(rows), count, cols, combine);
}

// Elements of a line that a pass keeps, next to each other.
int64_t ReductionPasses::Width(const Pass& pass) const {
  if (pass.lanes) return std::min(pass.count, preset_.cols);
  const int64_t half = ir::FirstHalf(pass.count);
  const bool some = 2 * half > pass.count;
  return (some ? pass.count - half : Step(pass)) * inner_;
}
// Rows are parts of a line, or lines, whichever needs fewer runs.
bool ReductionPasses::AlongLines(const Pass& pass) const {
  return !pass.lanes &&
         2 * lines_ < (Width(pass) + preset_.cols - 1) / preset_.cols;
}
int64_t ReductionPasses::Rows(const Pass& pass) const {
  return AlongLines(pass) ? Width(pass) / preset_.cols : lines_;
}

RunRows ReductionPasses::RowsOfRuns(const Pass& pass) const {
  const int64_t pair = 2 * preset_.vector_rows();
  if (Rows(pass) < std::max<int64_t>(kManyRows, pair)) return RunRows::kFew;
  if (AlongLines(pass) || multiple_ == 0 || multiple_ % pair != 0)
    return RunRows::kMany;
  return multiple_ % (2 * pair) == 0 ? RunRows::kFours : RunRows::kPairs;
}

void ReductionPasses::Spread(KernelBuilder& builder) const {
  builder.Run(spread_, {}, {first_}, {row_}, 20);
}

void ReductionPasses::Run(KernelBuilder& builder, Bytes values, int64_t lines,
                          Bytes result, int64_t to) const {
  for (const Pass& pass : passes_) {
    Run(builder, pass, values, pass.last ? result : values,
        pass.last ? to : values.at, lines);
  }
}

void ReductionPasses::Run(KernelBuilder& builder, const Pass& pass,
                          Bytes values, Bytes into, int64_t to,
                          int64_t lines) const {
  const int64_t cols = preset_.cols, width = Width(pass);
  const int64_t to_pitch = pass.last ? inner_ * size_ : pitch_;
  // row, to_row: bytes from a row to the next.
  const auto start = [&](int64_t line, int64_t element, int64_t rows,
                         int64_t lanes, int64_t row, int64_t to_row) {
    RowsRun run;
    run.place[0] = values.at + line * pitch_ + element * size_;
    run.stride[0] = row;
    run.place[1] = to + line * to_pitch + element * size_;
    run.stride[1] = to_row;
    run.rows = rows;
    run.lanes = lanes;
    builder.Run(pass.pc, ArgumentsOf(run), {values, row_}, {into},
                CyclesOf(pass.cycles, rows) + pass.ends);
  };
  if (!AlongLines(pass)) {
    for (int64_t at = 0; at < width; at += cols)
      start(0, at, lines, std::min(cols, width - at), pitch_, to_pitch);
    return;
  }
  const int64_t rows = width / cols, rest = width % cols;
  for (int64_t line = 0; line < lines; ++line) {
    if (rows > 0) start(line, 0, rows, cols, cols * size_, cols * size_);
    if (rest > 0) start(line, rows * cols, 1, rest, 0, 0);
  }
}

}  // namespace systole::lanes
