// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/vector_fusion.h"

#include <algorithm>

namespace systole::compiler {

absl::StatusOr<bool> VectorFusion::Run(Plan& plan) {
  bool changed = false;
  for (size_t l = 1; l < plan.layers.size(); ++l) {
    PlanLayer& layer = plan.layers[l];
    const PlanLayer& before = plan.layers[l - 1];
    if (layer.fused || model::HasWeights(layer.op) ||
        !model::HasWeights(before.op) ||
        std::count(layer.inputs.begin(), layer.inputs.end(), before.output) ==
            0)
      continue;
    layer.fused = changed = true;
  }
  return changed;
}

}  // namespace systole::compiler
