// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/depthwise_shape.h"

#include "host/compiler/geometry.h"
#include "host/ir/hlo/window.h"

namespace systole::lanes {

using ir::ElementType;
using ir::Ints;
using ir::Node;

namespace {

bool IsProductType(ElementType type) {
  return type == ElementType::kBfloat16 || type == ElementType::kFloat32;
}

bool InOrder(const Ints& dimensions, int64_t first) {
  for (const int64_t d : dimensions)
    if (d != first++) return false;
  return true;
}

bool AllAre(const Ints& values, int64_t value) {
  return std::all_of(values.begin(), values.end(),
                     [&](int64_t v) { return v == value; });
}

}  // namespace

int64_t DepthwiseShape::taps() const {
  int64_t taps = 1;
  for (const DepthwiseAxis& axis : axes) taps *= axis.taps;
  return taps;
}
int64_t DepthwiseShape::input_parts() const {
  int64_t parts = 1;
  for (const auto& pass : passes)
    parts = std::max<int64_t>(parts, pass.first + 1);
  return parts;
}
int64_t DepthwiseShape::weight_parts() const {
  int64_t parts = 1;
  for (const auto& pass : passes)
    parts = std::max<int64_t>(parts, pass.second + 1);
  return parts;
}
int64_t DepthwiseShape::image_in() const {
  int64_t bytes = channels * StorageBytes(input);
  for (const DepthwiseAxis& axis : axes) bytes *= axis.size;
  return bytes;
}
int64_t DepthwiseShape::image_out() const {
  int64_t bytes = channels * StorageBytes(result);
  for (const DepthwiseAxis& axis : axes) bytes *= axis.positions;
  return bytes;
}

bool IsDepthwise(const Node& node) {
  if (node.op != ir::Op::kHloConvolution || node.type.elements() == 0)
    return false;
  const ir::Type &input = node.operands[0].type(),
                 &kernel = node.operands[1].type();
  if (!IsProductType(input.element) || !IsProductType(kernel.element) ||
      !IsProductType(node.type.element) || input.elements() == 0 ||
      kernel.elements() == 0)
    return false;
  const auto& a = node.attr<ir::HloConvolutionAttributes>();
  const int64_t last = input.rank() - 1;
  const bool in_order =
      a.input_batch == 0 && a.input_feature == last && a.output_batch == 0 &&
      a.output_feature == last && a.kernel_output_feature == last &&
      a.kernel_input_feature == last - 1 && InOrder(a.input_spatial, 1) &&
      InOrder(a.output_spatial, 1) && InOrder(a.kernel_spatial, 0);
  if (!in_order || !AllAre(a.lhs_dilation, 1) || !AllAre(a.reversal, 0) ||
      a.batch_group_count != 1 || a.feature_group_count != input.shape.back() ||
      kernel.shape.back() != input.shape.back())
    return false;
  const auto passes = static_cast<int64_t>(
      ir::PassesOf(input.element, kernel.element, a.precision).size());
  return kernel.elements() / kernel.shape.back() * passes <= ir::kSectionTerms;
}

DepthwiseShape DepthwiseShapeOf(const Node& node) {
  const auto& a = node.attr<ir::HloConvolutionAttributes>();
  const ir::Type &input = node.operands[0].type(),
                 &kernel = node.operands[1].type();
  DepthwiseShape shape;
  shape.images = input.shape[0];
  shape.channels = input.shape.back();
  shape.input = StorageOf(input.element);
  shape.weights = StorageOf(kernel.element);
  shape.result = StorageOf(node.type.element);
  shape.passes = ir::PassesOf(input.element, kernel.element, a.precision);
  for (size_t i = 0; i < a.stride.size(); ++i) {
    const DepthwiseAxis axis = {input.shape[i + 1], kernel.shape[i],
                                a.stride[i],        a.rhs_dilation[i],
                                a.low[i],           node.type.shape[i + 1]};
    const bool trivial = axis.size == 1 && axis.taps == 1 && axis.low == 0 &&
                         axis.positions == 1;
    if (!trivial) shape.axes.push_back(axis);
  }
  if (shape.axes.empty()) shape.axes.push_back({1, 1, 1, 1, 0, 1});
  return shape;
}

bool IsDepthwiseGradient(const Node& node) {
  if (node.op != ir::Op::kHloConvolution || node.type.elements() == 0)
    return false;
  const ir::Type &input = node.operands[0].type(),
                 &kernel = node.operands[1].type();
  if (input.element != ElementType::kBfloat16 ||
      kernel.element != ElementType::kBfloat16 ||
      !IsProductType(node.type.element) || input.elements() == 0 ||
      kernel.elements() == 0)
    return false;
  const auto& a = node.attr<ir::HloConvolutionAttributes>();
  const int64_t last = input.rank() - 1;
  const bool in_order =
      a.input_feature == 0 && a.input_batch == last &&
      a.kernel_input_feature == 0 && a.kernel_output_feature == last &&
      a.output_batch == last - 1 && a.output_feature == last &&
      InOrder(a.input_spatial, 1) && InOrder(a.kernel_spatial, 1) &&
      InOrder(a.output_spatial, 0);
  return in_order && AllAre(a.lhs_dilation, 1) && AllAre(a.reversal, 0) &&
         a.batch_group_count == input.shape.back() &&
         kernel.shape.back() == input.shape.back();
}

DepthwiseShape ShapeOfGradient(const Node& node) {
  const auto& a = node.attr<ir::HloConvolutionAttributes>();
  const ir::Type &input = node.operands[0].type(),
                 &kernel = node.operands[1].type();
  DepthwiseShape shape;
  shape.images = input.shape[0];
  shape.channels = input.shape.back();
  shape.input = shape.weights = shape.result = Storage::kHalf;
  shape.passes = {{0, 0}};
  for (size_t i = 0; i < a.stride.size(); ++i) {
    shape.axes.push_back({input.shape[i + 1], node.type.shape[i],
                          a.rhs_dilation[i], a.stride[i], a.low[i],
                          kernel.shape[i + 1]});
  }
  return shape;
}

DepthwiseBlock DepthwiseBlockOf(const DepthwiseShape& shape, int64_t images,
                                int64_t lines, const Preset& preset,
                                int64_t columns) {
  const int64_t beat = preset.beat_bytes();
  DepthwiseBlock block;
  block.images = images;
  block.lines = lines;
  block.columns = columns > 0 ? columns : shape.axes.back().positions;
  const size_t rank = shape.axes.size();
  block.in.resize(rank);
  block.out.resize(rank);
  int64_t in = shape.channels * StorageBytes(shape.input),
          out = shape.channels * StorageBytes(shape.result);
  for (size_t i = rank; i-- > 0;) {
    block.in[i] = in;
    block.out[i] = out;
    const int64_t positions = PositionsOf(shape, block, i);
    const int64_t dense = in * shape.axes[i].size;
    in = compiler::RoundUp(in * shape.axes[i].Extent(positions), beat);
    // Lines that follow each other begin in other banks.
    const int64_t word = preset.word_bytes();
    const bool line = i > 0 && i + 1 == rank && dense % beat == 0;
    if (line && word % beat == 0 && in / word % 2 == 0) in += word;
    out *= positions;
  }
  block.image_in = in;
  block.image_out = out;
  block.in_bytes = images * in + beat;  // it may begin inside a beat
  block.out_bytes = images * out;
  return block;
}

void Stack(const DepthwiseShape& shape, DepthwiseBlock& block) {
  block.stacked = true;
  block.image_out = block.out[0] * shape.axes[0].Extent(block.lines);
  block.out_bytes = block.images * block.image_out;
}

DepthwiseWork WorkOf(const DepthwiseShape& shape, const DepthwiseBlock& block) {
  if (!block.stacked) return {block.images, block.lines};
  return {1,
          (block.images - 1) * shape.axes[0].Extent(block.lines) + block.lines};
}

int64_t PositionsOf(const DepthwiseShape& shape, const DepthwiseBlock& block,
                    size_t axis) {
  if (axis == 0) return block.lines;
  return axis + 1 == shape.axes.size() ? block.columns
                                       : shape.axes[axis].positions;
}

int64_t DepthwiseLoad::span() const {
  int64_t span = bytes;
  for (const Loop& loop : loops) span += (loop.count - 1) * loop.hbm;
  return span;
}

DepthwiseLoad DepthwiseLoadOf(const DepthwiseShape& shape,
                              const DepthwiseBlock& block, int64_t image,
                              int64_t line, const Preset& preset,
                              int64_t column) {
  const int64_t beat = preset.beat_bytes();
  DepthwiseLoad load;
  load.from = image * shape.image_in();
  load.bytes = shape.channels * StorageBytes(shape.input);
  int64_t hbm = load.bytes;
  const auto add = [&](int64_t count, int64_t from, int64_t to) {
    DepthwiseLoad::Loop* inner =
        load.loops.empty() ? nullptr : &load.loops.back();
    if (inner == nullptr && load.bytes == from && from == to) {
      load.bytes *= count;
    } else if (inner != nullptr && inner->count * inner->hbm == from &&
               inner->count * inner->ub == to) {
      inner->count *= count;
    } else if (count > 1) {
      load.loops.push_back({count, from, to});
    }
  };
  bool empty = false;
  for (size_t i = shape.axes.size(); i-- > 0;) {
    const DepthwiseAxis& axis = shape.axes[i];
    const bool last = i > 0 && i + 1 == shape.axes.size();
    const int64_t first = i == 0 ? line
                          : last ? column
                                 : 0,
                  count = PositionsOf(shape, block, i);
    const DepthwiseAxis::Range inside = axis.Inside(first, count);
    load.from += (inside.begin + first * axis.stride - axis.low) * hbm;
    load.to += inside.begin * block.in[i];
    empty = empty || inside.begin == inside.end;
    add(inside.end - inside.begin, hbm, block.in[i]);
    hbm *= axis.size;
  }
  add(block.images, hbm, block.image_in);
  load.shift = compiler::RoundUp(load.to, beat) - load.to;
  load.aligned = load.from % beat == 0;
  for (const DepthwiseLoad::Loop& loop : load.loops) {
    load.aligned = load.aligned && loop.hbm % beat == 0 && loop.ub % beat == 0;
  }
  if (empty) load.bytes = 0;
  return load;
}

}  // namespace systole::lanes
