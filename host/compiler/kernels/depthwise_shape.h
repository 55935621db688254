// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A depthwise convolution as its kernel sees it, and how a block of it lies in
// the unified buffer.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_SHAPE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_SHAPE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "host/compiler/kernels/lane_graph.h"
#include "host/ir/hlo/products.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct DepthwiseAxis {
  int64_t size, taps, stride, dilation, low, positions;

  // Elements that the windows of so many positions cover, padding included.
  int64_t Extent(int64_t count) const {
    return (count - 1) * stride + (taps - 1) * dilation + 1;
  }
  // Of those from the window at `first` on, the ones that are no padding.
  struct Range {
    int64_t begin, end;
  };
  Range Inside(int64_t first, int64_t count) const {
    const int64_t low_here = low - first * stride, extent = Extent(count);
    const int64_t begin = std::clamp<int64_t>(low_here, 0, extent);
    return {begin, std::clamp(low_here + size, begin, extent)};
  }
};

struct DepthwiseShape {
  int64_t images = 1, channels = 1;
  std::vector<DepthwiseAxis> axes;  // at least one; the last one is dense
  Storage input, weights, result;
  ir::ProductPasses passes;

  int64_t taps() const;
  // Parts of the input and of the weights.
  int64_t input_parts() const;
  int64_t weight_parts() const;
  // Bytes of an image.
  int64_t image_in() const;
  int64_t image_out() const;
};

// Whether this is a depthwise convolution with channels last, one output for
// each channel, of bf16 or f32, whose sums have one section: input
// [images, axes..., channels], kernel [taps..., 1, channels].
bool IsDepthwise(const ir::Node& node);
DepthwiseShape DepthwiseShapeOf(const ir::Node& node);

// Whether this is the gradient of such a convolution's kernel, of bf16 images
// and gradients: input [images, axes..., channels], kernel [images,
// positions..., channels], result [taps..., 1, channels], in as many batch
// groups as channels.
bool IsDepthwiseGradient(const ir::Node& node);
// The convolution of whose kernel it is the gradient; its results lie as their
// gradients do.
DepthwiseShape ShapeOfGradient(const ir::Node& node);

// A block: some images, some positions along the first axis and, if that is
// another one, along the last axis. Strides in bytes, of axes.
struct DepthwiseBlock {
  int64_t images = 1, lines = 1, columns = 1;
  // Results of images are as far apart as their inputs, so that all lines,
  // those of the padding too, count as those of one image.
  bool stacked = false;
  std::vector<int64_t> in, out;
  int64_t image_in = 0, image_out = 0;
  int64_t in_bytes = 0, out_bytes = 0;  // of the block's buffers
};
// All windows of the block with their padding; lines of whole beats. columns 0:
// all.
DepthwiseBlock DepthwiseBlockOf(const DepthwiseShape& shape, int64_t images,
                                int64_t lines, const Preset& preset,
                                int64_t columns = 0);
// Stacked images of two axes, all positions of each, without stride along the
// first one.
void Stack(const DepthwiseShape& shape, DepthwiseBlock& block);
// Images and lines whose results are computed.
struct DepthwiseWork {
  int64_t images, lines;
};
DepthwiseWork WorkOf(const DepthwiseShape& shape, const DepthwiseBlock& block);
// Positions of a block along an axis.
int64_t PositionsOf(const DepthwiseShape& shape, const DepthwiseBlock& block,
                    size_t axis);

// What a block loads of the input.
struct DepthwiseLoad {
  struct Loop {
    int64_t count, hbm, ub;  // strides in bytes
  };
  int64_t from = 0, to = 0;  // first bytes, in HBM and from the block's first
  int64_t bytes = 0;         // of a run; 0: nothing but padding
  std::vector<Loop> loops;   // the inner one first
  // Of the block's first byte, so that the run begins with a beat.
  int64_t shift = 0;
  bool aligned = false;  // all runs begin with beats on both sides
  // From the first to the last byte in HBM.
  int64_t span() const;
};
DepthwiseLoad DepthwiseLoadOf(const DepthwiseShape& shape,
                              const DepthwiseBlock& block, int64_t image,
                              int64_t line, const Preset& preset,
                              int64_t column = 0);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_SHAPE_H_
