// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Emitters turn a layer into descriptors of the array or of the vector unit;
// the lists in emitters.cc select them by operation and element type.
#ifndef HOST_COMPILER_EMITTERS_H_
#define HOST_COMPILER_EMITTERS_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "host/compiler/lower.h"

namespace systole::compiler {

using ArrayEmitter = absl::Status (*)(LoweringContext& context, int layer,
                                      const AfterBlock& after);
using VectorEmitter = absl::StatusOr<std::unique_ptr<VectorLowering>> (*)(
    LoweringContext& context, int layer);

// Convolutions of both kinds, dense layers and sums, including a joined layer.
absl::Status EmitConv(LoweringContext& context, int layer,
                      const AfterBlock& after);

// kUnimplemented if the vector unit does not support the window.
absl::StatusOr<std::unique_ptr<VectorLowering>> EmitPool(
    LoweringContext& context, int layer);
absl::StatusOr<std::unique_ptr<VectorLowering>> EmitTable(
    LoweringContext& context, int layer);
absl::StatusOr<std::unique_ptr<VectorLowering>> EmitMul(
    LoweringContext& context, int layer);
absl::StatusOr<std::unique_ptr<VectorLowering>> EmitAdd(
    LoweringContext& context, int layer);
absl::StatusOr<std::unique_ptr<VectorLowering>> EmitConcat(
    LoweringContext& context, int layer);
absl::StatusOr<std::unique_ptr<VectorLowering>> EmitSlice(
    LoweringContext& context, int layer);

// Covers the contiguous bytes of an elementwise layer, `bytes` of each line,
// with runs of positions of Cols bytes and one shorter run at the end.
template <class F>  // f(first byte of a line, positions, bytes of each)
void ForEachRun(int64_t bytes, int64_t cols, F f) {
  // Limits of the fields nx and line_bytes.
  const int64_t most = std::min<int64_t>((1 << 14) - 1, ((1 << 20) - 1) / cols);
  int64_t at = 0;
  while (bytes - at >= cols) {
    const int64_t positions = std::min((bytes - at) / cols, most);
    f(at, positions, cols);
    at += positions * cols;
  }
  if (at < bytes) f(at, 1, bytes - at);
}

// Covers the channels of positions that are not contiguous, `cols` at a time.
// Of one image, a descriptor takes as many groups of channels as there are, as
// if they were images `cols` bytes apart.
template <class F>  // f(first channel, groups, channels of each)
void ForEachGroup(int64_t channels, int64_t cols, int64_t images, F f) {
  const int64_t most = images > 1 ? 1 : (1 << 10) - 1;  // field n
  int64_t at = 0;
  while (channels - at >= cols) {
    const int64_t groups = std::min((channels - at) / cols, most);
    f(at, groups, cols);
    at += groups * cols;
  }
  if (at < channels) f(at, 1, channels - at);
}

}  // namespace systole::compiler

#endif  // HOST_COMPILER_EMITTERS_H_
