// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/channel_grouping.h"

#include <algorithm>

#include "host/compiler/layer_work.h"
#include "host/compiler/pass_plan.h"

namespace systole::compiler {
namespace {

// A slot must hold whole lines of input and output.
constexpr int64_t kLineShare = 8;

// Cycles of the array or of the vector unit, whichever is busier. A pass takes
// at least the time to load a tile, and waits for bank conflicts.
int64_t CyclesOf(const Geometry& g, const Preset& preset) {
  const int64_t positions = g.n * g.oh * g.ow;
  const int64_t passes = MakePassPlan(g, {0, g.kh, 0, g.kw}, preset).passes();
  const int64_t blocks = CeilDiv(positions, preset.acc_bank_rows());
  const int64_t shortest =
      std::max({preset.rows, preset.cols + 2,
                preset.tile_bytes() / preset.beat_bytes()});
  int64_t stalls = 0;  // per line
  ChoosePitch(g, g.line_bytes(), preset, &stalls);
  return CeilDiv(g.oc, preset.cols) *
         (std::max(passes * std::max(positions, blocks * shortest), positions) +
          g.n * g.oh * stalls);
}

// The only reader of the result, if it can read groups of channels.
PlanLayer* ReaderOf(Plan& plan, const PlanLayer& layer) {
  PlanLayer* reader = nullptr;
  for (PlanLayer& other : plan.layers) {
    if (std::count(other.inputs.begin(), other.inputs.end(), layer.output) == 0)
      continue;
    if (reader != nullptr) return nullptr;
    reader = &other;
  }
  const bool fits = reader != nullptr && reader->op == model::Op::kConv2D &&
                    reader->shape.taps() == 1;
  return fits ? reader : nullptr;
}

}  // namespace

absl::StatusOr<bool> ChannelGrouping::Run(Plan& plan) {
  const Preset& preset = *plan.preset;
  bool changed = false;
  for (PlanLayer& layer : plan.layers) {
    const Geometry& shape = layer.shape;
    if (layer.op != model::Op::kDepthwise || shape.multiplier != 1 ||
        shape.dw != 1 || plan.tensors[layer.output].output ||
        kLineShare * kSlotCount *
                (shape.kh * shape.line_bytes() + shape.out_line_bytes()) >
            plan.ub_bytes)
      continue;
    PlanLayer* reader = ReaderOf(plan, layer);
    if (reader == nullptr) continue;
    int64_t best = CyclesOf(layer.g, preset) + CyclesOf(reader->g, preset),
            columns = 1;
    const auto grouped = [&](int64_t p) {
      return JoinedGeometry(shape, p, preset.cols / p);
    };
    const auto reading = [&](int64_t p) {
      Geometry g = reader->shape;
      g.in_group = preset.cols / p;
      return g;
    };
    for (int64_t p = 2; p < preset.cols && p < shape.ow; p *= 2) {
      if (shape.ow % p != 0 || shape.c % (preset.cols / p) != 0) continue;
      const int64_t cycles =
          CyclesOf(grouped(p), preset) + CyclesOf(reading(p), preset);
      if (cycles < best) {
        best = cycles;
        columns = p;
      }
    }
    if (columns == 1) continue;
    layer.g = grouped(columns);
    reader->g = reading(columns);
    plan.tensors[layer.output].group = preset.cols / columns;
    changed = true;
  }
  return changed;
}

}  // namespace systole::compiler
