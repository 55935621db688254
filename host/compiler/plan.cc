// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "host/compiler/pass_plan.h"
#include "host/compiler/weights.h"

namespace systole::compiler {
namespace {

// Whether every window is inside the image.
bool Inside(const Geometry& g) {
  return g.pad_top == 0 && g.pad_left == 0 &&
         (g.oh - 1) * g.sh + (g.kh - 1) * g.dh < g.h &&
         (g.ow - 1) * g.sw + (g.kw - 1) * g.dw < g.w;
}

// Whether the array takes each tile of the layer once, whatever its blocks are.
bool TakesTilesOnce(const PlanLayer& layer, const PassPlan& passes) {
  const Taps& taps = passes.taps;
  for (const Block& block : layer.blocks) {
    const Taps own = ValidTaps(layer.g, layer.WalkOf(block));
    if (own < taps || taps < own) return false;
  }
  return layer.stationary || layer.blocks.size() == 1 || passes.passes() == 1;
}

}  // namespace

const char* ModeName(InputPlacement::Mode mode) {
  switch (mode) {
    case InputPlacement::Mode::kResident:
      return "resident";
    case InputPlacement::Mode::kWhole:
      return "whole";
    case InputPlacement::Mode::kSlots:
      return "slots";
  }
  return "";
}

const PlanLayer* Plan::EpilogueOf(int l) const {
  const size_t next = static_cast<size_t>(l) + 1;
  return next < layers.size() && layers[next].joined ? &layers[next] : nullptr;
}

int Plan::SharerOf(int l) const {
  for (size_t next = static_cast<size_t>(l) + 1; next < layers.size(); ++next) {
    if (model::HasWeights(layers[next].op))
      return layers[next].tile_row > 0 ? static_cast<int>(next) : -1;
  }
  return -1;
}

int64_t Plan::FreeRowsBefore(int l) const {
  // Limit on the bytes of a line: the padding segment before the layer's own
  // segments starts at the line's end.
  constexpr int64_t kLineBytes = 1 << 18;
  const Geometry& g = layers[l].g;
  int before = l - 1;
  while (before >= 0 && !model::HasWeights(layers[before].op)) --before;
  if (!model::HasWeights(layers[l].op) || before < 0 ||
      layers[before].tile_row > 0 || layers[l].planes > 1 ||
      layers[before].planes > 1 || !Inside(g) || g.element_bytes != 1 ||
      g.oc > preset->cols || g.line_bytes() >= kLineBytes)
    return 0;
  const PassPlan own = MakePassPlan(g, {0, g.kh, 0, g.kw}, *preset);
  if (own.passes() != 1 ||
      static_cast<int64_t>(own.groups[0].segments.size()) >= preset->segments)
    return 0;
  const PlanLayer& host = layers[before];
  if (host.g.oc > preset->cols || host.g.element_bytes != 1) return 0;
  const PassPlan passes = MakePassPlan(
      host.g, ValidTaps(host.g, host.WalkOf(host.blocks[0])), *preset, true);
  const int64_t row = RowsOf(passes.groups.back().segments);
  const bool room = row + RowsOf(own.groups[0].segments) <= preset->rows;
  return room && TakesTilesOnce(host, passes) ? row : 0;
}

int Plan::ResultOf(int l) const {
  const PlanLayer* epilogue = EpilogueOf(l);
  return epilogue != nullptr ? epilogue->output : layers[l].output;
}

bool Plan::Repeated(const PlanLayer& layer, size_t input) const {
  const PlanTensor& t = tensors[layer.inputs[input]];
  return model::IsElementwise(layer.op) && t.h == 1 && t.w == 1 &&
         layer.g.h * layer.g.w > 1;
}

bool Plan::Stacked(const PlanLayer& layer) const {
  return layer.op == model::Op::kConcat &&
         tensors[layer.inputs[0]].h != layer.g.h;
}

Region Plan::RegionOf(const PlanLayer& layer, size_t input,
                      const Block& block) const {
  if (Repeated(layer, input))
    return {block.i0, block.ni, 0, 1, 0, tensors[layer.inputs[input]].c};
  if (layer.op != model::Op::kConcat)
    return InputRegion(layer.g, block, preset->beat_bytes());
  Geometry own = layer.g;  // with this input
  own.c = tensors[layer.inputs[input]].line_bytes() / own.w;
  Region region = InputRegion(own, block, preset->beat_bytes());
  if (!Stacked(layer)) return region;
  int64_t first = 0;  // line of the output where the input begins
  for (size_t i = 0; i < input; ++i) first += tensors[layer.inputs[i]].h;
  const int64_t last = first + tensors[layer.inputs[input]].h;
  const int64_t from = std::clamp(region.l0, first, last),
                to = std::clamp(region.l0 + region.nl, first, last);
  region.l0 = from - first;
  region.nl = to - from;
  return region;
}

int64_t Plan::GroupOf(const PlanLayer& layer) const {
  const int64_t beat = preset->beat_bytes();
  const int64_t group = RoundUp(preset->cols, beat);
  const Geometry& g = layer.g;
  // A column tile of a depthwise convolution reads the channels of one group.
  const bool apart = g.multiplier > 0 && g.group == 0 && g.columns == 1 &&
                     preset->cols % g.multiplier == 0 && layer.tile_row == 0;
  const bool grouped =
      (model::IsPool(layer.op) || apart) && g.c % beat == 0 && g.c > group;
  return grouped ? group : 0;
}

int Plan::LastUse(int tensor) const {
  int last = -1;
  for (size_t l = 0; l < layers.size(); ++l) {
    const std::vector<int>& inputs = layers[l].inputs;
    if (std::find(inputs.begin(), inputs.end(), tensor) != inputs.end())
      last = static_cast<int>(l);
  }
  return last;
}

std::pair<int, int> Plan::HbmLife(int tensor) const {
  const PlanTensor& t = tensors[tensor];
  const int end = static_cast<int>(layers.size());
  int first = -1;
  for (int l = 0; l < end; ++l) {
    // A fused or joined layer runs with the blocks of the layer before.
    const bool early = layers[l].fused || layers[l].joined;
    if (layers[l].output == tensor) first = l - (early ? 1 : 0);
  }
  const bool kept = t.input || t.output || keep_intermediates;
  return {first, kept ? end : LastUse(tensor)};
}

int64_t Plan::HbmPitch(int tensor) const {
  return RoundUp(tensors[tensor].line_bytes(), preset->beat_bytes());
}

int64_t Plan::HbmBytes(int tensor) const {
  return batch * tensors[tensor].h * HbmPitch(tensor);
}

int64_t Plan::align() const {
  return std::lcm(preset->word_bytes(), preset->beat_bytes());
}

Plan MakePlan(const model::Network& network, const Preset& preset,
              int64_t batch, bool raw) {
  Plan plan;
  plan.name = network.name;
  plan.preset = &preset;
  plan.batch = batch;
  plan.ub_bytes = preset.ub_bytes;
  for (size_t t = 0; t < network.tensors.size(); ++t) {
    const model::Tensor& from = network.tensors[t];
    PlanTensor tensor;
    tensor.name = from.name;
    tensor.h = from.height;
    tensor.w = from.width;
    tensor.c = from.channels;
    tensor.input = network.IsInput(static_cast<int>(t));
    tensor.output = network.IsOutput(static_cast<int>(t));
    if (raw && tensor.output) tensor.element_bytes = 4;
    plan.tensors.push_back(std::move(tensor));
  }
  for (const model::Layer& from : network.layers) {
    PlanLayer layer;
    layer.name = from.name;
    layer.op = from.op;
    layer.inputs = from.inputs;
    layer.output = from.output;
    for (int i = 0; i < 2 && from.op == model::Op::kAdd; ++i) {
      if (from.add[i].multiplier == 1 << 30 && from.add[i].shift == 0)
        layer.wide = i;
    }
    layer.shape = GeometryOf(network, from, batch);
    layer.shape.groups = GroupsOf(from, layer.shape, preset.rows, preset.cols);
    if (raw) layer.shape.element_bytes = 4;
    layer.planes = PlanesOf(from);
    layer.g = layer.shape;
    plan.layers.push_back(std::move(layer));
  }
  return plan;
}

}  // namespace systole::compiler
