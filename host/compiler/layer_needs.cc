// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/layer_needs.h"

#include <algorithm>

#include "host/compiler/pass_plan.h"
#include "host/compiler/pool_split.h"

namespace systole::compiler {
namespace {

// The operand of a joined addition that is not the result of the layer before.
int OperandOf(const PlanLayer& joined, int before) {
  return joined.inputs[0] == before ? 1 : 0;
}

// Line pitch in the unified buffer that suits the first layer that walks over
// the tensor.
int64_t PitchFor(const Plan& plan, int tensor) {
  const PlanTensor& t = plan.tensors[tensor];
  for (const PlanLayer& layer : plan.layers) {
    if (model::HasWeights(layer.op) && layer.inputs[0] == tensor)
      return ChoosePitch(layer.g, t.w * t.c, *plan.preset);
  }
  return RoundUp(t.w * t.c, plan.preset->beat_bytes());
}

// Vector cycles of a pool that should run between the blocks of layer l.
int64_t BetweenOf(const Plan& plan, int l, const std::vector<bool>& wished) {
  const size_t next = static_cast<size_t>(l) + 1;
  if (next >= plan.layers.size() || !wished[next]) return 0;
  const PlanLayer& pool = plan.layers[next];
  if (model::IsElementwise(pool.op) || pool.joined) return 0;
  return PoolCycles(SplitOf(pool.op, pool.g, *plan.preset), pool.g,
                    *plan.preset, pool.g.n * pool.g.oh, pool.g.ow);
}

}  // namespace

LayerNeeds NeedsOf(const Plan& plan, int l, bool out_resident,
                   const std::vector<int>& resident_buffers,
                   const std::vector<bool>& wished) {
  const PlanLayer& layer = plan.layers[l];
  LayerNeeds needs;
  needs.g = layer.g;
  needs.matmul = model::HasWeights(layer.op);
  needs.raw = needs.g.element_bytes == 4;
  needs.table = layer.op == model::Op::kTable;
  needs.parts = layer.op == model::Op::kConcat;
  needs.loops = plan.loops;
  needs.split = SplitOf(layer.op, layer.g, *plan.preset);
  for (const int input : layer.inputs)
    needs.resident.push_back(resident_buffers[input] != kNowhere);
  const int result = plan.ResultOf(l);
  if (const PlanLayer* joined = plan.EpilogueOf(l);
      joined != nullptr && joined->op == model::Op::kAdd) {
    const int operand = OperandOf(*joined, layer.output);
    needs.operand_loaded =
        resident_buffers[joined->inputs[operand]] == kNowhere;
  }
  needs.between = BetweenOf(plan, l, wished);
  needs.fused = wished[l] && !needs.matmul;
  needs.out_resident = out_resident;
  needs.out_stored =
      !out_resident || plan.keep_intermediates || plan.tensors[result].output;
  needs.out_pitch = PitchFor(plan, result);
  needs.in_pitch =
      needs.matmul ? ChoosePitch(needs.g, needs.g.line_bytes(), *plan.preset)
                   : RoundUp(needs.g.line_bytes(), plan.preset->beat_bytes());
  return needs;
}

int64_t PlacePart(const Plan& plan, const PlanLayer& layer, size_t input,
                  const LayerFit& fit, InputPlacement& in) {
  const int64_t beat = plan.preset->beat_bytes();
  if (!fit.in_slots) {
    in.pitch = RoundUp(plan.tensors[layer.inputs[input]].line_bytes(), beat);
    in.img_pitch = plan.tensors[layer.inputs[input]].h * in.pitch;
    return plan.batch * in.img_pitch;
  }
  in.pitch = in.slot_bytes = 0;
  // All inputs use the same slots if a block has lines of one or another.
  const bool stacked = plan.Stacked(layer);
  const size_t first = stacked ? 0 : input,
               last = stacked ? layer.inputs.size() : input + 1;
  const auto for_each = [&](const auto& body) {
    for (size_t i = first; i < last; ++i) {
      for (const Block& b : fit.blocks) body(plan.RegionOf(layer, i, b));
    }
  };
  for_each([&](const Region& r) {
    in.pitch = std::max(in.pitch, RoundUp(r.nb, beat));
  });
  for_each([&](const Region& r) {
    in.slot_bytes = std::max(in.slot_bytes, r.ni * r.nl * in.pitch);
  });
  return in.slot_bytes * kSlotCount;
}

}  // namespace systole::compiler
