// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/vector_fusion.h"

namespace systole::compiler {

namespace {

// A tensor that the layer repeats over its positions must be complete.
bool ReadsByPosition(const Plan& plan, const PlanLayer& layer, int tensor) {
  bool reads = false;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    if (layer.inputs[i] != tensor) continue;
    if (plan.Repeated(layer, i)) return false;
    reads = true;
  }
  return reads;
}

}  // namespace

absl::StatusOr<bool> VectorFusion::Run(Plan& plan) {
  bool changed = false;
  for (size_t l = 1; l < plan.layers.size(); ++l) {
    PlanLayer& layer = plan.layers[l];
    const PlanLayer& before = plan.layers[l - 1];
    if (layer.fused || model::HasWeights(layer.op) ||
        !model::HasWeights(before.op) ||
        !ReadsByPosition(plan, layer, before.output))
      continue;
    layer.fused = changed = true;
  }
  return changed;
}

}  // namespace systole::compiler
