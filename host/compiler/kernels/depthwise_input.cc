// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/depthwise_input.h"

#include <algorithm>
#include <utility>

#include "host/ir/index.h"

namespace systole::lanes {

absl::StatusOr<DepthwiseInput::Block> DepthwiseInput::BlockOf(
    const DepthwiseBlock& shape, int64_t image, int64_t line, int64_t column) {
  Block block{image,
              line,
              column,
              shape,
              DepthwiseLoadOf(shape_, shape, image, line, preset_, column),
              {}};
  const DepthwiseLoad& load = block.load;
  if (load.bytes == 0 || load.aligned) return block;
  staged_ = std::max(staged_, load.span());
  const int64_t element = StorageBytes(shape_.input);
  std::vector<CopyDimension> dimensions = {{load.bytes / element, 1, 1}};
  for (const DepthwiseLoad::Loop& loop : load.loops)
    dimensions.insert(dimensions.begin(),
                      {loop.count, loop.hbm / element, loop.ub / element});
  absl::StatusOr<std::vector<CopyStep>> copy = CopyOf(element, dimensions);
  if (!copy.ok()) return copy.status();
  block.copy = *std::move(copy);
  return block;
}

absl::StatusOr<std::vector<CopyStep>> DepthwiseInput::CopyOf(
    int64_t size, const std::vector<CopyDimension>& dimensions) {
  absl::StatusOr<CopySteps> steps = copies_.Add(size, dimensions);
  if (!steps.ok()) return steps.status();
  between_.count = std::max(between_.count, steps->between);
  return std::move(steps->steps);
}

DepthwiseInput::Buffers DepthwiseInput::Place(const DepthwiseBlock& most) {
  if (between_.count > 0 && between_.at == 0)
    between_ = builder_.Place("between", between_.count);
  Buffers buffers;
  buffers.in = builder_.Place("input", most.in_bytes);
  if (staged_ > 0)
    buffers.loaded =
        builder_.Place("loaded", staged_ + 2 * preset_.beat_bytes());
  return buffers;
}

void DepthwiseInput::AddCode(std::vector<uint64_t>& words) {
  copy_pc_ = static_cast<int>(words.size());
  std::vector<uint64_t> more = copies_.words();
  MoveCode(absl::MakeSpan(more), copy_pc_);
  words.insert(words.end(), more.begin(), more.end());
  zero_ = ZeroCode(preset_, static_cast<int>(words.size()));
  words.insert(words.end(), zero_.words().begin(), zero_.words().end());
}

void DepthwiseInput::Clear(const Block& block, const Buffers& at,
                           bool first) const {
  const bool lines = block.shape.lines < shape_.axes[0].positions,
             all = first || block.shape.columns < shape_.axes.back().positions;
  if (all || lines) ClearAlong(block, at, 0);
  for (size_t axis = 1; all && axis < shape_.axes.size(); ++axis)
    ClearAlong(block, at, axis);
}

// Before and behind what lies inside along the axis, all of the others.
void DepthwiseInput::ClearAlong(const Block& block, const Buffers& at,
                                size_t axis) const {
  const int64_t element = StorageBytes(shape_.input);
  const auto positions = [&](size_t d) {
    return PositionsOf(shape_, block.shape, d);
  };
  const bool last = axis > 0 && axis + 1 == shape_.axes.size();
  const int64_t extent = shape_.axes[axis].Extent(positions(axis));
  const DepthwiseAxis::Range inside =
      shape_.axes[axis].Inside(axis == 0 ? block.line
                               : last    ? block.column
                                         : 0,
                               positions(axis));
  for (const auto& [begin, end] :
       {std::pair(int64_t{0}, inside.begin), std::pair(inside.end, extent)}) {
    if (begin == end) continue;
    ZeroBox box{PlaceOf(block, at) + begin * block.shape.in[axis], element, {}};
    box.dimensions.push_back({block.shape.images, block.shape.image_in});
    for (size_t d = 0; d < shape_.axes.size(); ++d) {
      const int64_t size =
          d == axis ? end - begin : shape_.axes[d].Extent(positions(d));
      box.dimensions.push_back({size, block.shape.in[d]});
    }
    box.dimensions.push_back({shape_.channels, element});
    zero_.Clear(builder_, box);
  }
}

void DepthwiseInput::Load(int operand, const Block& block, const Buffers& at) {
  const DepthwiseLoad& load = block.load;
  if (load.bytes == 0) return;
  const int64_t to = PlaceOf(block, at) + load.to;
  if (!load.aligned) {
    const int64_t lead = load.from % preset_.beat_bytes();
    builder_.Load(operand, load.from - lead, at.loaded.at, lead + load.span());
    Copy(block.copy, at.loaded, at.loaded.at + lead, at.in, to);
    return;
  }
  // A descriptor has two loops.
  std::vector<KernelBuilder::Repeat> repeats;
  ir::Ints sizes;
  int64_t descriptors = 1;
  for (const DepthwiseLoad::Loop& loop : load.loops) {
    if (repeats.size() < 2) {
      repeats.push_back({loop.count, loop.hbm, loop.ub});
    } else {
      sizes.push_back(loop.count);
      descriptors *= loop.count;
    }
  }
  ir::Ints index(sizes.size(), 0);
  for (int64_t i = 0; i < descriptors; ++i, ir::Advance(sizes, index)) {
    int64_t from = load.from, ub = to;
    for (size_t d = 0; d < sizes.size(); ++d) {
      from += index[d] * load.loops[2 + d].hbm;
      ub += index[d] * load.loops[2 + d].ub;
    }
    builder_.LoadRuns(operand, from, ub, load.bytes, repeats);
  }
}

void DepthwiseInput::Copy(const std::vector<CopyStep>& steps,
                          const Bytes& source, int64_t from,
                          const Bytes& target, int64_t to) {
  for (const CopyStep& step : steps) {
    const bool in = step.target == CopyStep::Place::kBetween,
               out = step.source == CopyStep::Place::kBetween;
    builder_.Run(copy_pc_ + step.pc,
                 {(out ? between_.at : from) + step.from,
                  (in ? between_.at : to) + step.to},
                 {out ? between_ : source}, {in ? between_ : target},
                 step.cycles);
  }
}

}  // namespace systole::lanes
