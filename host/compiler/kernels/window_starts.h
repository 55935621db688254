// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Addresses of windows whose starts are numbers in memory: one buffer of the
// unified buffer for each start, with the numbers of all windows in their
// order, and code that makes the addresses.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_STARTS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_STARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"
#include "host/compiler/kernels/windows.h"
#include "host/ir/module.h"

namespace systole::lanes {

// The code that makes the addresses, a window a lane: bytes from the operand's
// first one to the window's; -1: it is left out. Adds the operands of the code
// to `places`, and no store. offsets: words to add, one a window.
Lane WindowAddress(LaneGraph& graph, LanePlaces& places, const ir::Node& node,
                   const Windows& windows,
                   const std::vector<KernelBuilder::Bytes>& starts,
                   std::optional<int64_t> offsets);

// The walk of that code for numbers of so many bytes.
inline int NumberWalk(int64_t bytes) {
  return bytes == 4 ? 0 : bytes == 2 ? 1 : 2;
}

// Fills a start's buffer from the node's operand at `from`. sizes, strides: of
// the windows, and in the operand.
absl::Status CopyStarts(const BufferCopier& copier, KernelBuilder& builder,
                        const ir::Node& node, const Windows::Start& start,
                        const KernelBuilder::Bytes& from,
                        const KernelBuilder::Bytes& to, const ir::Ints& sizes,
                        const ir::Ints& strides);

// The rows of lanes of `count` numbers that follow each other: run(rows), with
// their walks, lanes and number.
template <typename Run>
void RunOverNumbers(int64_t count, int64_t cols, const Run& run) {
  const auto part = [&](int64_t first, int64_t rows, int64_t lanes) {
    RowsRun all;
    for (const int64_t bytes : {4, 2, 1}) {
      all.place[NumberWalk(bytes)] = bytes * first;
      all.stride[NumberWalk(bytes)] = bytes * cols;
    }
    all.rows = rows;
    all.lanes = lanes;
    if (rows * lanes > 0) run(all);
  };
  part(0, count / cols, cols);
  part(count / cols * cols, 1, count % cols);
}

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_STARTS_H_
