// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/node_kernel.h"

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
#include "host/compiler/kernels/sort_kernel.h"
#include "host/compiler/kernels/window_kernel.h"

namespace systole::lanes {

using ir::Node;
using ir::Op;

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
  if (IsMove(node)) return CompileMove(node, preset, origin);
  if (node.op == Op::kHloMatrixProduct)
    return CompileProduct(node, preset, origin);
  if (IsDepthwise(node)) return CompileDepthwise(node, preset, origin);
  if (IsDepthwiseGradient(node))
    return CompileDepthwiseGradient(node, preset, origin);
  if (IsIndexed(node)) return CompileIndexed(node, preset);
  if (IsWindowed(node)) return CompileWindowed(node, preset);
  if (IsSort(node)) return CompileSort(node, preset);
  if (IsElimination(node)) return CompileElimination(node, preset);
  return IsReduction(node) ? CompileReduction(node, preset, origin)
                           : CompileRegionReduction(node, preset);
}

}  // namespace systole::lanes
