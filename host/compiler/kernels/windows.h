// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Common part of gather, scatter, dynamic_slice and dynamic_update_slice:
// windows of a tensor (the operand) whose positions are numbers that are only
// known when the program runs, and the same windows, contiguous, in another
// tensor.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WINDOWS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/buffer_copy.h"
#include "host/ir/module.h"

namespace systole::lanes {

// What windows are cut into.
enum class CutInto : uint8_t { kWindows, kPieces, kElements };

struct Windows {
  // A number that gives the start of each window along a dimension of the
  // operand, which has `size` elements.
  struct Start {
    int operand = 0;     // operand of the node
    int64_t offset = 0;  // of the first window, in elements
    ir::Ints strides;    // one per dimension of `batch`
    int64_t size = 0, window = 0, stride = 0;
  };
  // Dimensions along which windows are counted, the last one fastest.
  ir::Ints batch;
  std::vector<Start> starts;
  int64_t first = 0;  // elements from the operand's start to all windows
  // Elements that an index of each dimension of `batch` adds to the window's
  // start.
  ir::Ints behind;
  // The elements of a window: strides in the operand and in the other tensor.
  std::vector<CopyDimension> inside;
  ir::Ints other_strides;  // per dimension of `batch`
  // A window outside is skipped, not moved inside.
  bool left_out = false;

  // The elements that `behind` adds to each window; empty: none.
  std::vector<int64_t> Offsets() const;
  int64_t count() const;
  int64_t elements() const;  // per window
  // All elements: strides in the other tensor, and where one window follows the
  // other.
  std::vector<CopyDimension> InOrder() const;
  // The same elements in windows of their own, in the order of the windows.
  Windows Cut(CutInto cut) const;
  // Elements of an operand of this shape that no window crosses: the dimensions
  // inside of those along which a window has one index.
  int64_t Unit(const ir::Ints& shape) const;
};

// The windows' elements as contiguous pieces, in the order in which they follow
// each other in the other tensor.
struct WindowPieces {
  // The last one fastest.
  struct Dimension {
    int64_t size = 0, from = 0;  // elements in the operand
    ir::Ints starts;  // elements in the operand of each of the window's starts
  };
  std::vector<Dimension> dimensions;
  int64_t elements = 1;  // per piece
  size_t starts = 0;     // of a window

  explicit WindowPieces(const Windows& windows);
  // Cuts each piece into `parts` equal ones.
  void Cut(int64_t parts);
  int64_t count() const;
  // Elements from the address that the starts give to each piece; empty: 0.
  std::vector<int64_t> Offsets() const;
};

// Up to eight rows of lanes of a window, in bytes from the window's start.
struct WindowPart {
  int64_t from = 0, to = 0;  // in the operand and in the other tensor
  int64_t rows = 1, from_stride = 0, to_stride = 0, lanes = 1;
};

// All parts of a window of elements of `element_bytes`, moved in units of
// `unit` bytes and in rows of up to `cols` units. Errors: ResourceExhausted.
absl::StatusOr<std::vector<WindowPart>> PartsOf(
    std::vector<CopyDimension> inside, int64_t element_bytes, int64_t unit,
    int64_t cols);

// The windows of a node with one of these four operations, or the one window of
// a slice or of a strided move.
Windows WindowsOf(const ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WINDOWS_H_
