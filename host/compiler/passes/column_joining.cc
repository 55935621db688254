// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/column_joining.h"

#include <algorithm>

#include "host/compiler/layer_work.h"
#include "host/compiler/pass_plan.h"

namespace systole::compiler {
namespace {

// Whether the taps of a kernel row are adjacent, so that a wider window has
// them all.
bool CanJoin(const Geometry& g) { return g.dw == 1 || g.kw == 1; }

// Cycles of the array or of the vector unit, whichever is busier, plus a small
// cost for the vector unit's work.
double CostOf(const Geometry& g, const Preset& preset) {
  const int64_t positions = g.n * g.oh * g.ow;
  const int64_t passes = MakePassPlan(g, {0, g.kh, 0, g.kw}, preset).passes();
  const int64_t blocks = CeilDiv(positions, preset.acc_bank_rows());
  const int64_t shortest = std::max(preset.rows, preset.cols + 2);
  const int64_t busier =
      std::max(passes * std::max(positions, blocks * shortest), positions);
  return static_cast<double>(CeilDiv(g.oc, preset.cols)) *
         (static_cast<double>(busier) + 0.125 * static_cast<double>(positions));
}

}  // namespace

absl::StatusOr<bool> ColumnJoining::Run(Plan& plan) {
  bool changed = false;
  for (PlanLayer& layer : plan.layers) {
    const Geometry& shape = layer.shape;
    if (!model::HasRequant(layer.op) || !CanJoin(shape)) continue;
    int64_t columns = 1;
    double best = CostOf(shape, *plan.preset);
    for (int64_t p = 2; p * shape.oc <= plan.preset->cols && p <= shape.ow;
         ++p) {
      if (shape.ow % p != 0) continue;
      const double cost = CostOf(JoinedGeometry(shape, p), *plan.preset);
      if (cost < best) {
        best = cost;
        columns = p;
      }
    }
    changed = changed || columns != layer.g.columns;
    layer.g = JoinedGeometry(shape, columns);
  }
  return changed;
}

}  // namespace systole::compiler
