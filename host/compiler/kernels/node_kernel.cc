// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/node_kernel.h"

#include <algorithm>

#include "host/compiler/kernels/depthwise_kernel.h"
#include "host/compiler/kernels/depthwise_shape.h"
#include "host/compiler/kernels/elimination_kernel.h"
#include "host/compiler/kernels/gradient_kernel.h"
#include "host/compiler/kernels/indexed_kernel.h"
#include "host/compiler/kernels/move_kernel.h"
#include "host/compiler/kernels/move_pieces.h"
#include "host/compiler/kernels/product_kernel.h"
#include "host/compiler/kernels/reduction_kernel.h"
#include "host/compiler/kernels/region_kernel.h"
#include "host/compiler/kernels/row_gather.h"
#include "host/compiler/kernels/row_update.h"
#include "host/compiler/kernels/scatter_kernel.h"
#include "host/compiler/kernels/sort_kernel.h"
#include "host/compiler/kernels/window_kernel.h"

namespace systole::lanes {

using ir::Node;
using ir::Op;

namespace {

// A small operand is loaded as a whole.
constexpr int64_t kSmallOperand = 1 << 14;

// Slices, updates and gathers are whichever is faster: with the operand in the
// unified buffer, or the pieces of the windows alone.
absl::StatusOr<KernelProgram> CompileIndexedNode(const Node& node,
                                                 const Preset& preset,
                                                 int64_t origin) {
  const bool reads =
      node.op == Op::kHloGather || node.op == Op::kHloDynamicSlice;
  absl::StatusOr<KernelProgram> whole =
      reads ? CompileIndexed(node, preset)
            : CompileScatter(node, preset, origin);
  if (node.op == Op::kHloScatter ||
      (whole.ok() && node.operands[0].type().bytes() < kSmallOperand))
    return whole;
  absl::StatusOr<KernelProgram> rows =
      reads ? CompileRowGather(node, preset, origin)
            : CompileRowUpdate(node, preset, origin, /*in_place=*/false);
  if (!rows.ok() ||
      (whole.ok() && whole->expected_cycles <= rows->expected_cycles))
    return whole;
  return rows;
}

// Whether it is one window of the operand, whose indices ascend.
bool ReadsForwards(const Node& node) {
  if (node.op == Op::kHloSlice) return true;
  if (node.op != Op::kHloStrided) return false;
  const ir::Ints& strides = node.attr<ir::HloStridedAttributes>().strides;
  return std::all_of(strides.begin(), strides.end(),
                     [](int64_t stride) { return stride > 0; });
}

}  // namespace

bool HasKernel(const Node& node) {
  if (IsRegionReduction(node) || IsSort(node)) return true;
  if (node.results() != 1 || node.type.elements() == 0) return false;
  return IsMove(node) || node.op == Op::kHloMatrixProduct || IsIndexed(node) ||
         IsReduction(node) || IsWindowed(node) || IsElimination(node) ||
         IsDepthwise(node) || IsDepthwiseGradient(node);
}

absl::StatusOr<KernelProgram> CompileNode(const Node& node,
                                          const Preset& preset,
                                          int64_t origin) {
  if (IsMove(node)) {
    absl::StatusOr<KernelProgram> move = CompileMove(node, preset, origin);
    if (!move.ok() && ReadsForwards(node))
      return CompileRowGather(node, preset, origin);
    return move;
  }
  if (node.op == Op::kHloMatrixProduct)
    return CompileProduct(node, preset, origin);
  if (IsDepthwise(node)) return CompileDepthwise(node, preset, origin);
  if (IsDepthwiseGradient(node))
    return CompileDepthwiseGradient(node, preset, origin);
  if (IsIndexed(node)) return CompileIndexedNode(node, preset, origin);
  if (IsWindowed(node)) return CompileWindowed(node, preset);
  if (IsSort(node)) return CompileSort(node, preset);
  if (IsElimination(node)) return CompileElimination(node, preset);
  return IsReduction(node) ? CompileReduction(node, preset, origin)
                           : CompileRegionReduction(node, preset);
}

}  // namespace systole::lanes
