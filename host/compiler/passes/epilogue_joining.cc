// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/epilogue_joining.h"

#include <algorithm>

#include "systole/target.h"

namespace systole::compiler {
namespace {

int64_t Readers(const Plan& plan, int tensor) {
  int64_t readers = 0;
  for (const PlanLayer& layer : plan.layers)
    readers += std::count(layer.inputs.begin(), layer.inputs.end(), tensor);
  return readers;
}

bool CanJoin(const Plan& plan, const PlanLayer& layer,
             const PlanLayer& before) {
  const PlanTensor& between = plan.tensors[before.output];
  if (!model::HasRequant(before.op) || between.output ||
      between.element_bytes != 1 || Readers(plan, before.output) != 1 ||
      std::count(layer.inputs.begin(), layer.inputs.end(), before.output) == 0)
    return false;
  if (layer.op == model::Op::kTable) return true;
  return layer.op == model::Op::kAdd && layer.wide >= 0 &&
         !plan.Repeated(layer, 0) && !plan.Repeated(layer, 1) &&
         Target(*plan.preset).residual_requantise();
}

}  // namespace

absl::StatusOr<bool> EpilogueJoining::Run(Plan& plan) {
  bool changed = false;
  if (plan.keep_intermediates) return changed;
  for (size_t l = 1; l < plan.layers.size(); ++l) {
    PlanLayer& layer = plan.layers[l];
    if (layer.joined || plan.layers[l - 1].joined ||
        !CanJoin(plan, layer, plan.layers[l - 1]))
      continue;
    layer.joined = changed = true;
  }
  return changed;
}

}  // namespace systole::compiler
