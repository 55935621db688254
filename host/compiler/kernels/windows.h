// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What gather, scatter, dynamic_slice and dynamic_update_slice have in common:
// windows of a tensor (the operand), found by numbers that are known when the
// program runs, and the same windows one behind the other in another tensor.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WINDOWS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/buffer_copy.h"
#include "host/ir/module.h"

namespace systole::lanes {

struct Windows {
  // A number that says where each window begins along a dimension of the
  // operand, which is `size` long.
  struct Start {
    int operand = 0;     // of the node
    int64_t offset = 0;  // of the first window's, elements
    ir::Ints strides;    // a dimension of `batch`
    int64_t size = 0, window = 0, stride = 0;
  };
  // Windows are counted along these dimensions, the last one fastest.
  ir::Ints batch;
  std::vector<Start> starts;
  // Elements that a window lies behind its starts, one each; empty: none does.
  std::vector<int64_t> behind;
  // A window's elements: strides in the operand, and in the other tensor.
  std::vector<CopyDimension> inside;
  ir::Ints other_strides;  // of `batch`
  // Outside: left out, not moved inside.
  bool left_out = false;

  int64_t count() const;
  int64_t elements() const;  // of a window
  int64_t span() const;      // from a window's first element to its last
};

// Up to eight rows of lanes of a window, in bytes behind where it begins.
struct WindowPart {
  int64_t from = 0, to = 0;  // in the operand and in the other tensor
  int64_t rows = 1, from_stride = 0, to_stride = 0, lanes = 1;
};

// All parts of a window of elements of `element_bytes`, which move as units of
// `unit` bytes in rows of up to `cols`. Errors: ResourceExhausted.
absl::StatusOr<std::vector<WindowPart>> PartsOf(
    std::vector<CopyDimension> inside, int64_t element_bytes, int64_t unit,
    int64_t cols);

// Of a node of these four operations.
Windows WindowsOf(const ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WINDOWS_H_
