// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Blocks of the input of a depthwise convolution: how they come into the
// unified buffer, between their padding.
//
//   DepthwiseInput input(shape, preset, builder);
//   DepthwiseInput::Block block = *input.BlockOf(layout, image, line);
//   DepthwiseInput::Buffers at = input.Place(layout);
//   input.AddCode(words);  // when all blocks are known
//   input.Clear(block, at, /*first=*/true);
//   input.Load(operand, block, at);
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_INPUT_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_INPUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/copy_code.h"
#include "host/compiler/kernels/depthwise_shape.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/zero_code.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

class DepthwiseInput {
 public:
  using Bytes = KernelBuilder::Bytes;

  DepthwiseInput(const DepthwiseShape& shape, const Preset& preset,
                 KernelBuilder& builder)
      : shape_(shape), preset_(preset), builder_(builder), copies_(preset) {}

  struct Block {
    int64_t image = 0, line = 0, column = 0;  // the first ones
    DepthwiseBlock shape;
    DepthwiseLoad load;
    // Where it is loaded to another place first.
    std::vector<CopyStep> copy;
  };
  struct Buffers {
    Bytes in, loaded;
  };

  // ResourceExhausted: the instruction memory is too small.
  absl::StatusOr<Block> BlockOf(const DepthwiseBlock& shape, int64_t image,
                                int64_t line, int64_t column = 0);
  // Steps of a copy of `size`-byte elements.
  absl::StatusOr<std::vector<CopyStep>> CopyOf(
      int64_t size, const std::vector<CopyDimension>& dimensions);
  // Buffers for blocks of up to this size, all of which are known.
  Buffers Place(const DepthwiseBlock& most);
  void AddCode(std::vector<uint64_t>& words);

  // Where the block's first element lies.
  static int64_t PlaceOf(const Block& block, const Buffers& at) {
    return at.in.at + block.load.shift;
  }
  // +0 in the padding, which no load writes. Bands of lines have another one
  // along the first axis, each; the rest is there after the `first` block of
  // the buffers. Bands of columns have another one along all axes.
  void Clear(const Block& block, const Buffers& at, bool first) const;
  // Loads what lies inside the padding.
  void Load(int operand, const Block& block, const Buffers& at);
  void Copy(const std::vector<CopyStep>& steps, const Bytes& source,
            int64_t from, const Bytes& target, int64_t to);

 private:
  void ClearAlong(const Block& block, const Buffers& at, size_t axis) const;

  const DepthwiseShape& shape_;
  const Preset& preset_;
  KernelBuilder& builder_;
  CopyCode copies_;
  ZeroCode zero_;
  int copy_pc_ = 0;
  int64_t staged_ = 0;  // bytes of what is loaded to another place first
  Bytes between_ = {};
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_INPUT_H_
