// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/tiling.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/compiler/buffer_placer.h"
#include "host/compiler/layer_fit.h"
#include "host/compiler/layer_needs.h"
#include "host/compiler/pass_plan.h"

namespace systole::compiler {
namespace {

class Planner {
 public:
  explicit Planner(Plan& plan)
      : plan_(plan),
        spilled_(plan.tensors.size(), !plan.allow_resident),
        wished_(plan.layers.size()),
        joins_(plan.layers.size()),
        scores_(plan.layers.size()),
        firsts_(plan.tensors.size()) {
    for (size_t l = 0; l < plan.layers.size(); ++l) {
      wished_[l] = plan.layers[l].fused;
      joins_[l] = plan.layers[l].joined;
    }
  }

  absl::Status Run() {
    if (absl::Status s = Settle(); !s.ok()) return s;
    // A resident tensor may leave later layers with blocks that cost more than
    // sending the tensor through HBM.
    std::set<int> tried;
    for (;;) {
      const int tensor = InTheWay(tried);
      if (tensor < 0) return absl::OkStatus();
      tried.insert(tensor);
      const double cost = Cost();
      const std::vector<bool> before = spilled_;
      spilled_[tensor] = true;
      if (Settle().ok() && Cost() < cost) continue;
      spilled_ = before;
      if (absl::Status s = Settle(); !s.ok()) return s;
    }
  }

 private:
  // If a layer does not fit, the largest tensor in its way goes through HBM,
  // and tiling starts over.
  absl::Status Settle() {
    for (;;) {
      const int failed = Attempt();
      if (failed < 0) return absl::OkStatus();
      int largest = -1;
      int64_t size = 0;
      for (int t = 0; t < static_cast<int>(spilled_.size()); ++t) {
        const int64_t bytes =
            resident_[t] != kNowhere ? plan_.tensors[t].size() : 0;
        if (bytes > size && plan_.LastUse(t) >= failed) {
          largest = t;
          size = bytes;
        }
      }
      if (largest < 0) return TooLarge(failed);
      spilled_[largest] = true;
    }
  }

  double Cost() const {
    return std::accumulate(scores_.begin(), scores_.end(), 0.0);
  }

  // The largest resident tensor that spans a layer which takes 1.5 times as
  // many cycles as it would without it; -1 if there is none outside `tried`.
  int InTheWay(const std::set<int>& tried) const {
    constexpr double kTimes = 1.5, kWorth = 2000;
    int found = -1;
    double most = kWorth;
    for (int l = 0; l < static_cast<int>(plan_.layers.size()); ++l) {
      const std::vector<int>& inputs = plan_.layers[l].inputs;
      if (plan_.layers[l].joined || scores_[l] < most) continue;
      int64_t bytes = 0, size = 0, largest = -1;
      for (int t = 0; t < static_cast<int>(resident_.size()); ++t) {
        if (resident_[t] == kNowhere || plan_.LastUse(t) < l ||
            firsts_[t] >= l || std::count(inputs.begin(), inputs.end(), t) > 0)
          continue;
        bytes += plan_.tensors[t].size();
        if (tried.count(t) > 0 || plan_.tensors[t].size() <= size) continue;
        largest = t;
        size = plan_.tensors[t].size();
      }
      if (largest < 0 || bytes < plan_.ub_bytes / 4) continue;
      const double free = BestScore(l);
      if (scores_[l] < kTimes * free || scores_[l] - free <= most) continue;
      most = scores_[l] - free;
      found = static_cast<int>(largest);
    }
    return found;
  }

  // Score of a layer that is alone in the unified buffer with its inputs.
  double BestScore(int l) const {
    int64_t available = plan_.ub_bytes;
    for (const int input : plan_.layers[l].inputs)
      if (resident_[input] != kNowhere)
        available -= plan_.tensors[input].size();
    std::vector<LayerCandidate> candidates;
    AddCandidates(Needs(l, false), preset(), available,
                  plan_.GroupOf(plan_.layers[l]), candidates);
    double best = scores_[l];
    for (const LayerCandidate& c : candidates)
      best = std::min(best, c.second.score);
    return best;
  }

  const Preset& preset() const { return *plan_.preset; }

  absl::Status TooLarge(int l) const {
    LayerNeeds needs = Needs(l, false);
    needs.in_channels = plan_.GroupOf(plan_.layers[l]);
    return absl::ResourceExhaustedError(absl::StrFormat(
        "layer %s (%s): its smallest tiles need %d bytes of unified buffer, %s "
        "has %d",
        plan_.layers[l].name, needs.g.ToString(),
        SmallestBytes(needs, preset()), std::string(preset().name),
        plan_.ub_bytes));
  }

  LayerNeeds Needs(int l, bool out_resident) const {
    return NeedsOf(plan_, l, out_resident, resident_, wished_);
  }

  // Returns the first layer that could not be placed; -1 if there is none.
  int Attempt() {
    resident_.assign(plan_.tensors.size(), kNowhere);
    for (PlanTensor& tensor : plan_.tensors) tensor.in_hbm = tensor.input;
    for (PlanLayer& layer : plan_.layers) layer.joined = false;
    BufferPlacer placer(plan_.ub_bytes, plan_.align());
    for (int l = 0; l < static_cast<int>(plan_.layers.size()); ++l) {
      if (!PlaceLayer(l, placer)) return l;
    }
    plan_.buffers = placer.buffers();
    for (PlanBuffer& buffer : plan_.buffers) buffer.at = kNowhere;
    return -1;
  }

  // Places the layer, together with the layer after it if possible.
  bool PlaceLayer(int l, BufferPlacer& placer) {
    scores_[l] = 0;
    if (plan_.layers[l].joined) return true;
    const size_t next = static_cast<size_t>(l) + 1;
    if (next < joins_.size() && joins_[next]) {
      plan_.layers[next].joined = true;
      if (Place(l, placer)) return true;
      plan_.layers[next].joined = false;
    }
    return Place(l, placer);
  }

  bool Place(int l, BufferPlacer& placer) {
    const int result = plan_.ResultOf(l);
    const int64_t available = plan_.ub_bytes - placer.Used(l, l);
    std::vector<LayerCandidate> candidates;
    for (const bool out_resident : {true, false}) {
      if (out_resident && (spilled_[result] || plan_.LastUse(result) < 0))
        continue;
      const LayerNeeds needs = Needs(l, out_resident);
      AddCandidates(needs, preset(), available, plan_.GroupOf(plan_.layers[l]),
                    candidates);
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const auto& a, const auto& b) {
                       return a.second.score < b.second.score;
                     });
    for (const bool anywhere : {false, true}) {
      placer.Anywhere(anywhere);
      for (const auto& [needs, fit] : candidates) {
        const size_t mark = placer.Mark();
        // A layer between the blocks of the layer before writes its result
        // while that layer still reads and writes.
        for (const bool fused : {true, false}) {
          if (fused && !CanFuse(l, needs)) continue;
          if (TryPlace(l, needs, fit, fused, placer)) return true;
          placer.Release(mark);
        }
      }
    }
    return false;
  }

  // Only if the tensors are whole in the unified buffer.
  bool CanFuse(int l, const LayerNeeds& needs) const {
    return wished_[l] && needs.out_resident &&
           std::count(needs.resident.begin(), needs.resident.end(), false) == 0;
  }

  // Buffers of inputs that an elementwise layer may overwrite: it is their last
  // reader, and nothing else reads or stores them at the same time.
  std::vector<int> Overwritable(int l, const LayerNeeds& needs, bool early,
                                int64_t img_pitch) const {
    std::vector<int> over;
    const PlanLayer& layer = plan_.layers[l];
    if (!model::IsElementwise(layer.op) || !needs.out_resident) return over;
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const int input = layer.inputs[i];
      if (plan_.Repeated(layer, i)) continue;
      const int buffer = resident_[input];
      if (buffer == kNowhere || plan_.LastUse(input) != l ||
          plan_.tensors[input].in_hbm)
        continue;
      if (early) {  // it writes while the layer before still reads
        const std::vector<int>& before = plan_.layers[l - 1].inputs;
        if (std::count(before.begin(), before.end(), input) > 0) continue;
      }
      const auto [pitch, images] = pitches_.at(buffer);
      if (pitch == needs.out_pitch && images == img_pitch)
        over.push_back(buffer);
    }
    return over;
  }

  bool TryPlace(int l, const LayerNeeds& needs, const LayerFit& fit, bool fused,
                BufferPlacer& placer) {
    PlanLayer& layer = plan_.layers[l];
    const int result = plan_.ResultOf(l);
    const int last = l + (plan_.EpilogueOf(l) != nullptr ? 1 : 0);
    const std::string& output = plan_.tensors[result].name;
    const auto place = [&](std::string name, int64_t bytes, int first, int last,
                           std::vector<int> over = {}) {
      return placer.Place(
          {std::move(name), bytes, first, last, std::move(over), kNowhere});
    };

    OutputPlacement out;
    out.resident = needs.out_resident;
    out.stored = needs.out_stored;
    out.channels = fit.group_channels;
    std::optional<int> buffer;
    if (out.resident) {
      out.pitch = needs.out_pitch;
      out.img_pitch = needs.g.oh * needs.out_pitch;
      buffer =
          place(output, fit.out_bytes, fused ? l - 1 : l, plan_.LastUse(result),
                Overwritable(last, needs, fused || last > l, out.img_pitch));
    } else {
      out.slot_bytes = fit.out_bytes;
      buffer = place(output + " (output slots)", fit.out_bytes * kSlotCount, l,
                     last);
    }
    if (!buffer) return false;
    out.buffer = *buffer;

    std::vector<InputPlacement> ins;
    int shared = -1;  // the slots of all inputs
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      InputPlacement in;
      const int tensor = layer.inputs[i];
      if (needs.resident[i]) {
        in.buffer = resident_[tensor];
        std::tie(in.pitch, in.img_pitch) = pitches_.at(in.buffer);
      } else {
        in.mode = fit.in_slots ? InputPlacement::Mode::kSlots
                               : InputPlacement::Mode::kWhole;
        in.pitch = fit.in_slots ? fit.in_slot_pitch : needs.in_pitch;
        in.img_pitch = fit.in_slots ? 0 : needs.g.h * needs.in_pitch;
        in.slot_bytes = fit.in_slots ? fit.in_bytes[i] : 0;
        if (fit.in_slots) in.channels = needs.in_channels;
        int64_t bytes = fit.in_bytes[i] * (fit.in_slots ? kSlotCount : 1);
        if (plan_.Repeated(layer, i)) {  // small: always loaded whole
          in = InputPlacement();
          in.mode = InputPlacement::Mode::kWhole;
          in.pitch = in.img_pitch =
              RoundUp(plan_.tensors[tensor].c, preset().beat_bytes());
          bytes = plan_.batch * in.img_pitch;
        }
        if (needs.parts) bytes = PlacePart(plan_, layer, i, fit, in);
        if (shared < 0) {
          const bool slots = in.mode == InputPlacement::Mode::kSlots;
          const char* use = slots ? " (input slots)" : " (loaded)";
          buffer = place(plan_.tensors[tensor].name + use, bytes, l, l);
          if (!buffer) return false;
          // Lines of one input or another use the same slots.
          if (fit.in_slots && plan_.Stacked(layer)) shared = *buffer;
        }
        in.buffer = shared < 0 ? *buffer : shared;
      }
      ins.push_back(in);
    }

    ParameterPlacement params;
    if (fit.param_bytes > 0) {
      buffer = place(layer.name + " (parameters)", fit.param_bytes,
                     fused ? l - 1 : l, l);
      if (!buffer) return false;
      params = {*buffer, fit.params_whole, kParameterSlots};
    }

    if (last > l && !PlaceJoined(last, fit, out, placer)) return false;
    scores_[l] = fit.score;
    layer.blocks = fit.blocks;
    layer.stationary = needs.stationary;
    layer.in = std::move(ins);
    layer.out = out;
    layer.params = params;
    layer.fused = fused;
    if (fused && model::IsElementwise(layer.op)) FollowBlocks(l);
    if (last > l) FollowBlocks(last);
    plan_.tensors[result].in_hbm = out.stored;
    if (out.resident) {
      resident_[result] = out.buffer;
      firsts_[result] = l;
      pitches_[out.buffer] = {out.pitch, out.img_pitch};
    }
    return true;
  }

  // A joined layer takes the result of the layer before, and places what else
  // it needs: a table, or the second operand of a sum.
  bool PlaceJoined(int l, const LayerFit& fit, const OutputPlacement& out,
                   BufferPlacer& placer) {
    PlanLayer& layer = plan_.layers[l];
    const int before = plan_.layers[l - 1].output;
    layer.fused = false;
    layer.out = out;
    layer.in.assign(layer.inputs.size(), InputPlacement());
    layer.params = ParameterPlacement();
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      InputPlacement& in = layer.in[i];
      const int tensor = layer.inputs[i];
      if (tensor == before) {
        in.buffer = out.buffer;
      } else if (resident_[tensor] != kNowhere) {
        in.buffer = resident_[tensor];
        std::tie(in.pitch, in.img_pitch) = pitches_.at(in.buffer);
      } else {
        in.mode = InputPlacement::Mode::kSlots;
        in.slot_bytes = fit.operand_bytes;
        for (const Block& b : fit.blocks)
          in.pitch = std::max(in.pitch, OperandBytes(plan_.layers[l - 1].g,
                                                     {0, 1, 0, 1, b.x0, b.nx},
                                                     preset().beat_bytes()));
        // Every line gets the length of the longest one.
        for (const Block& b : fit.blocks)
          in.slot_bytes = std::max(in.slot_bytes, b.ni * b.ny * in.pitch);
        const std::optional<int> buffer =
            placer.Place({plan_.tensors[tensor].name + " (input slots)",
                          in.slot_bytes * kSlotCount,
                          l - 1,
                          l,
                          {},
                          kNowhere});
        if (!buffer) return false;
        in.buffer = *buffer;
      }
    }
    if (layer.op == model::Op::kTable) {
      const std::optional<int> buffer = placer.Place(
          {layer.name + " (parameters)", kTableBytes, l - 1, l, {}, kNowhere});
      if (!buffer) return false;
      layer.params.buffer = *buffer;
    }
    return true;
  }

  // A fused elementwise layer has the blocks of the layer before.
  void FollowBlocks(int l) {
    const PlanLayer& producer = plan_.layers[l - 1];
    std::vector<Block>& blocks = plan_.layers[l].blocks;
    blocks = producer.blocks;
    for (Block& block : blocks) {
      block.x0 *= producer.g.columns;
      block.nx *= producer.g.columns;
    }
  }

  Plan& plan_;
  std::vector<bool> spilled_;         // per tensor
  std::vector<bool> wished_, joins_;  // per layer: fused, joined
  std::vector<double> scores_;        // per layer: estimated cycles
  std::vector<int> resident_;         // buffer of each tensor, or kNowhere
  std::vector<int> firsts_;           // layer that produces a resident tensor
  std::map<int, std::pair<int64_t, int64_t>> pitches_;  // of these buffers
};

}  // namespace

absl::StatusOr<bool> Tiling::Run(Plan& plan) {
  if (absl::Status s = Planner(plan).Run(); !s.ok()) return s;
  return true;
}

}  // namespace systole::compiler
