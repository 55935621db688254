// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/passes/pad_folding.h"

namespace systole::ir {
namespace {

// Whether a convolution can do the pad: with the zero point, in height and
// width.
bool Foldable(const Node& pad) {
  if (pad.op != Op::kPad || pad.type.rank() != 4) return false;
  const PadAttributes& a = pad.attr<PadAttributes>();
  for (int axis : {0, 3}) {
    if (a.low[axis] != 0 || a.high[axis] != 0) return false;
  }
  return a.value == pad.quantization().zero_point &&
         pad.type.quantization == pad.operands[0]->type.quantization;
}

}  // namespace

absl::StatusOr<bool> PadFolding::Run(Module& module) {
  bool changed = false;
  for (const auto& node : module.nodes()) {
    if (node->op != Op::kConv2D && node->op != Op::kDepthwiseConv2D) continue;
    while (Foldable(*node->operands[0])) {
      const Node& pad = *node->operands[0];
      const PadAttributes& a = pad.attr<PadAttributes>();
      Ints& padding = node->attr<ConvAttributes>().padding;
      for (int i = 0; i < 2; ++i) {
        padding[i] += a.low[1 + i];
        padding[i + 2] += a.high[1 + i];
      }
      node->operands[0] = pad.operands[0];
      changed = true;
    }
  }
  if (changed) module.RemoveUnused();
  return changed;
}

}  // namespace systole::ir
