// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/memory_plan.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "absl/strings/str_format.h"
#include "host/compiler/allocator.h"
#include "host/compiler/layer_fit.h"
#include "host/compiler/pass_plan.h"

namespace systole::compiler {
namespace {

class Planner {
 public:
  Planner(const model::Network& network, const std::vector<LayerWork>& works,
          const Preset& preset, const PlanOptions& options)
      : network_(network),
        works_(works),
        preset_(preset),
        options_(options),
        spilled_(network.tensors.size(), !options.allow_resident) {}

  absl::StatusOr<MemoryPlan> Plan() {
    // A layer that does not fit sends the largest tensor that is in its way
    // through HBM; then all starts over.
    for (;;) {
      int failed = -1;
      std::optional<MemoryPlan> plan = Attempt(failed);
      if (plan) return *std::move(plan);
      int largest = -1;
      int64_t size = 0;
      for (size_t t = 0; t < spilled_.size(); ++t) {
        const int64_t bytes =
            state_.tensors[t].resident ? network_.tensors[t].size() : 0;
        if (bytes > size && state_.tensors[t].last_use >= failed) {
          largest = static_cast<int>(t);
          size = bytes;
        }
      }
      if (largest < 0) return TooLarge(failed);
      spilled_[largest] = true;
    }
  }

 private:
  int64_t UbBytes() const {
    return options_.ub_bytes > 0 ? options_.ub_bytes : preset_.ub_bytes;
  }

  absl::Status TooLarge(int l) const {
    const LayerNeeds needs = NeedsOf(l, false);
    return absl::ResourceExhaustedError(absl::StrFormat(
        "layer %s (%s): its smallest tiles need %d bytes of unified buffer, %s "
        "has %d",
        network_.layers[l].name, needs.g.ToString(),
        SmallestBytes(needs, preset_), std::string(preset_.name), UbBytes()));
  }

  const std::string& NameOf(int tensor) const {
    return network_.tensors[tensor].name;
  }

  // Line pitch of a tensor in the unified buffer, for the first layer that
  // walks over it.
  int64_t PitchFor(int tensor) const {
    const int64_t line = int64_t{network_.tensors[tensor].width} *
                         network_.tensors[tensor].channels;
    for (const LayerWork& work : works_) {
      if (model::HasWeights(work.layer.op) && work.layer.inputs[0] == tensor) {
        return ChoosePitch(work.g, line, preset_);
      }
    }
    return RoundUp(line, preset_.beat_bytes());
  }

  LayerNeeds NeedsOf(int l, bool out_resident) const {
    const model::Layer& layer = network_.layers[l];
    LayerNeeds needs;
    needs.g = works_[l].g;
    needs.matmul = model::HasWeights(layer.op);
    needs.raw = options_.raw_output && network_.IsOutput(layer.output);
    if (needs.raw) needs.g.element_bytes = 4;
    for (const int input : layer.inputs)
      needs.resident.push_back(state_.tensors[input].resident);
    needs.out_resident = out_resident;
    needs.out_stored = Stored(layer.output, out_resident);
    needs.out_pitch = PitchFor(layer.output);
    needs.in_pitch = needs.matmul
                         ? ChoosePitch(needs.g, needs.g.line_bytes(), preset_)
                         : RoundUp(needs.g.line_bytes(), preset_.beat_bytes());
    return needs;
  }

  bool Stored(int tensor, bool resident) const {
    return !resident || options_.keep_intermediates ||
           network_.IsOutput(tensor);
  }

  std::optional<MemoryPlan> Attempt(int& failed) {
    state_ = MemoryPlan();
    state_.tensors.resize(network_.tensors.size());
    state_.layers.resize(network_.layers.size());
    for (size_t l = 0; l < network_.layers.size(); ++l) {
      for (const int input : network_.layers[l].inputs)
        state_.tensors[input].last_use = static_cast<int>(l);
    }
    UbAllocator allocator(UbBytes(),
                          std::lcm(preset_.word_bytes(), preset_.beat_bytes()));
    for (size_t l = 0; l < network_.layers.size(); ++l) {
      if (!PlaceLayer(static_cast<int>(l), allocator)) {
        failed = static_cast<int>(l);
        return std::nullopt;
      }
    }
    state_.buffers = allocator.Buffers();
    return state_;
  }

  bool PlaceLayer(int l, UbAllocator& allocator) {
    const model::Layer& layer = network_.layers[l];
    const int64_t available = UbBytes() - allocator.Used(l, l);
    std::vector<std::pair<LayerNeeds, LayerFit>> candidates;
    for (const bool out_resident : {true, false}) {
      if (out_resident &&
          (spilled_[layer.output] || state_.tensors[layer.output].last_use < 0))
        continue;
      const LayerNeeds needs = NeedsOf(l, out_resident);
      const bool loads =
          std::count(needs.resident.begin(), needs.resident.end(), false) > 0;
      for (const double budget : {0.9, 0.6, 0.4, 0.25, 0.15, 0.08, 0.03}) {
        for (const double in_share : {0.0, 0.9, 0.75, 0.5, 0.25}) {
          if (!loads && in_share > 0) continue;
          for (const bool ends : {true, false}) {
            std::optional<LayerFit> fit = FitLayer(
                needs, preset_,
                static_cast<int64_t>(budget * static_cast<double>(available)),
                in_share, ends);
            if (fit) candidates.emplace_back(needs, *std::move(fit));
          }
        }
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const auto& a, const auto& b) {
                       return a.second.score < b.second.score;
                     });
    for (const auto& [needs, fit] : candidates) {
      const size_t mark = allocator.Mark();
      // An addition between the blocks of the layer before it writes its result
      // while that layer still reads and writes.
      for (const bool follow : {true, false}) {
        if (follow && !CanFollow(l, needs)) continue;
        if (TryPlace(l, needs, fit, follow, allocator)) return true;
        allocator.Release(mark);
      }
    }
    return false;
  }

  bool TryPlace(int l, const LayerNeeds& needs, const LayerFit& fit,
                bool follow, UbAllocator& allocator) {
    const model::Layer& layer = network_.layers[l];
    const int last_use = state_.tensors[layer.output].last_use;
    LayerPlan plan;
    plan.g = needs.g;
    plan.blocks = fit.blocks;
    plan.out.resident = needs.out_resident;
    plan.out.stored = needs.out_stored;
    plan.out.group_channels = fit.group_channels;
    std::optional<int64_t> at = allocator.Allocate(
        fit.out_bytes * (needs.out_resident ? 1 : kSlotCount),
        follow ? l - 1 : l, needs.out_resident ? last_use : l,
        needs.out_resident ? NameOf(layer.output)
                           : NameOf(layer.output) + " (output slots)");
    if (!at) return false;
    if (needs.out_resident) {
      plan.out.tensor = {*at, needs.out_pitch, needs.g.oh * needs.out_pitch};
    } else {
      plan.out.slot_base = *at;
      plan.out.slot_bytes = fit.out_bytes;
    }
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      InputPlacement in;
      if (needs.resident[i]) {
        in.tensor = state_.tensors[layer.inputs[i]].ub;
      } else {
        at = allocator.Allocate(
            fit.in_bytes[i] * (fit.in_slots ? kSlotCount : 1), l, l,
            NameOf(layer.inputs[i]) +
                (fit.in_slots ? " (input slots)" : " (loaded)"));
        if (!at) return false;
        in.mode = fit.in_slots ? InputPlacement::Mode::kSlots
                               : InputPlacement::Mode::kWhole;
        in.tensor = {*at, fit.in_slots ? fit.in_slot_pitch : needs.in_pitch,
                     needs.g.h * needs.in_pitch};
        in.slot_base = *at;
        in.slot_bytes = fit.in_bytes[i];
      }
      plan.in.push_back(in);
    }
    if (fit.param_bytes > 0) {
      at = allocator.Allocate(fit.param_bytes, l, l,
                              layer.name + " (parameters)");
      if (!at) return false;
      plan.params = {*at, fit.params_whole, 8};
    }
    if (follow) FollowBlocks(l, plan);
    TensorPlan& out = state_.tensors[layer.output];
    out.resident = needs.out_resident;
    out.in_hbm = needs.out_stored;
    out.ub = plan.out.tensor;
    state_.layers[l] = std::move(plan);
    return true;
  }

  // Whether an addition can be cut as the layer with weights before it, because
  // everything that it touches is whole in the unified buffer.
  bool CanFollow(int l, const LayerNeeds& needs) const {
    const model::Layer& layer = network_.layers[l];
    if (layer.op != model::Op::kAdd || l == 0 || !options_.fuse_additions ||
        !needs.out_resident ||
        std::count(needs.resident.begin(), needs.resident.end(), false) > 0)
      return false;
    const model::Layer& before = network_.layers[l - 1];
    return model::HasWeights(before.op) &&
           std::count(layer.inputs.begin(), layer.inputs.end(), before.output) >
               0;
  }

  void FollowBlocks(int l, LayerPlan& plan) const {
    const LayerPlan& producer = state_.layers[l - 1];
    plan.blocks = producer.blocks;
    for (Block& block : plan.blocks) {
      block.x0 *= producer.g.columns;
      block.nx *= producer.g.columns;
    }
    plan.follows_blocks = true;
  }

  const model::Network& network_;
  const std::vector<LayerWork>& works_;
  const Preset& preset_;
  const PlanOptions& options_;
  std::vector<bool> spilled_;
  MemoryPlan state_;
};

}  // namespace

absl::StatusOr<MemoryPlan> PlanMemory(const model::Network& network,
                                      const std::vector<LayerWork>& works,
                                      const Preset& preset,
                                      const PlanOptions& options,
                                      HbmImage& hbm) {
  absl::StatusOr<MemoryPlan> plan =
      Planner(network, works, preset, options).Plan();
  if (!plan.ok()) return plan;
  for (const int input : network.inputs) plan->tensors[input].in_hbm = true;
  for (size_t t = 0; t < network.tensors.size(); ++t) {
    const model::Tensor& tensor = network.tensors[t];
    TensorPlan& p = plan->tensors[t];
    if (!p.in_hbm) continue;
    TensorInfo& info = p.hbm;
    info.name = tensor.name;
    info.n = options.batch;
    info.h = tensor.height;
    info.w = tensor.width;
    info.channels = tensor.channels;
    info.scale = tensor.scale;
    info.zero_point = tensor.zero_point;
    info.is_input = network.IsInput(static_cast<int>(t));
    info.is_output = network.IsOutput(static_cast<int>(t));
    if (info.is_output && options.raw_output) info.type = ElementType::kInt32;
    info.pitch = RoundUp(info.line_bytes(), preset.beat_bytes());
    info.img_pitch = info.h * info.pitch;
    info.hbm_addr = hbm.Allocate(info.n * info.img_pitch);
  }
  return plan;
}

}  // namespace systole::compiler
