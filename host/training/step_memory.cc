// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Where everything lies, in a plan (host/compiler/plan.h).
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/geometry.h"
#include "host/training/step_builder.h"
#include "systole/gen/vpu.h"

namespace systole::training {

using compiler::CeilDiv;
using compiler::kNowhere;
using compiler::PlanTensor;

uint64_t StepBuilder::PlaceTensor(const std::string& name, int64_t lines,
                                  int64_t elements, int64_t element_bytes) {
  PlanTensor& tensor = plan_.tensors.emplace_back();
  tensor.name = name;
  tensor.h = lines;
  tensor.c = elements;
  tensor.element_bytes = element_bytes;
  tensor.input = tensor.in_hbm = true;
  const int index = static_cast<int>(plan_.tensors.size()) - 1;
  const uint64_t at = hbm_.Allocate(plan_.HbmBytes(index));
  tensor.hbm = static_cast<int64_t>(at);
  return at;
}

void StepBuilder::PlanHbm() {
  const int64_t beat = preset_.beat_bytes();
  hbm_.Begin(MemoryUse::kArguments);
  size_t layer = 0;
  const auto named = [&](const char* what) {
    return absl::StrCat("layer", layer, ".", what);
  };
  const auto tensor = [&](const char* what, int64_t elements) {
    ImageTensor t;
    t.bytes = 2 * elements;
    t.pitch = CeilDiv(t.bytes, beat) * beat;
    t.hbm = PlaceTensor(named(what), options_.batch, elements, 2);
    return t;
  };
  layout_.layers.resize(layers_.size());
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& l = layers_[i];
    LayerLayout& p = layout_.layers[i];
    p.slab = Slab(l.contraction(), l.co, preset_);
    layer = i;
    const int64_t elements = p.slab.elements();
    p.master = PlaceTensor(named("master"), 1, elements, 4);
    p.first = PlaceTensor(named("first"), 1, elements, 4);
    p.second = PlaceTensor(named("second"), 1, elements, 4);
    p.gradient = PlaceTensor(named("gradient"), 1, elements, 4);
    p.working = PlaceTensor(named("working"), 1, elements, 2);
    if (!l.dense && i > 0) {
      int64_t transposed = 0;
      for (int64_t phase = 0; phase < l.stride * l.stride; ++phase) {
        const int64_t ky0 = (phase / l.stride + l.pad_top) % l.stride;
        const int64_t kx0 = (phase % l.stride + l.pad_left) % l.stride;
        const int64_t taps =
            CeilDiv(l.kh - ky0, l.stride) * CeilDiv(l.kw - kx0, l.stride);
        p.phases.emplace_back(taps * l.co, l.ci, preset_);
        transposed += 2 * p.phases.back().elements();
      }
      p.transposed = hbm_.Add("transposed weights of " + l.name,
                              std::vector<uint8_t>(transposed));
    }
    p.param_block = layout_.param_blocks;
    layout_.param_blocks += p.slab.tiles;
    p.in = tensor("in", l.h * l.w * l.ci);
    if (l.normed) {
      p.z = tensor("z", l.positions() * l.co);
      p.da = tensor("da", l.positions() * l.co);
    }
    p.dz = tensor("dz", l.positions() * l.co);
    if (l.pooled()) {
      p.a = tensor("a", l.positions() * l.co);
      p.pooled_da = tensor("pooled_da", l.outputs());
    }
  }
  const int64_t params = layout_.param_blocks * kParamRows * L();
  layout_.params = PlaceTensor("parameters", 1, params, 4);
  if (options_.replicas > 1)
    layout_.shared = PlaceTensor("shared", 1, params, 4);
  layout_.powers = PlaceTensor("powers", 1, kPowerRows * L(), 4);
  layout_.label_pitch = CeilDiv(2 * L(), beat) * beat;
  layout_.labels = PlaceTensor("labels", options_.batch, L(), 2);
}

void StepBuilder::PlanUb() {
  struct Held {  // for the whole step, one behind the other
    const char* name;
    int64_t bytes;
    int64_t* at;
  };
  int64_t kernels = 0;
  const Held all[] = {
      {"kernels", 8 * vpu::kImemWords, &kernels},
      {"parameters", layout_.param_blocks * kParamRows * row_bytes(),
       &params_ub_},
      {"powers", kPowerRows * row_bytes(), &powers_ub_},
      {"sums", WideBytes(), &wide_ub_}};
  work_base_ = 0;
  for (const Held& held : all) work_base_ += Up(held.bytes);
  work_half_ = (preset_.ub_bytes - work_base_) / 2 / Up(1) * Up(1);
  if (work_half_ <= 0) {
    Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%d parameter blocks and the sums of batch norm need %d bytes, the "
        "unified buffer of preset '%s' has %d",
        layout_.param_blocks, work_base_, preset_.name, preset_.ub_bytes)));
    return;
  }
  constexpr int kLast = std::numeric_limits<int>::max();
  for (const Held& held : all) {
    const auto placed =
        placer_.Place({held.name, held.bytes, 0, kLast, {}, kNowhere});
    *held.at = placer_.buffers()[placed.value()].at;
  }
}

void StepBuilder::BeginOp(int i, Phase phase) {
  half_ ^= 1;
  work_at_ = work_base_ + half_ * work_half_;
  work_left_ = work_half_;
  op_layer_ = i;
  op_name_ = absl::StrCat(layers_[i].name, " ", PhaseName(phase));
  ++op_;
  builder_.set_tag(TagOf(i, phase));
}

int64_t StepBuilder::Allocate(int64_t bytes) {
  work_left_ -= Up(bytes);
  const auto placed =
      placer_.PlaceIn(work_at_, work_at_ + work_half_,
                      {op_name_, bytes, op_, op_, {}, kNowhere});
  if (placed) return placer_.buffers()[*placed].at;
  Fail(absl::ResourceExhaustedError(absl::StrFormat(
      "%s: blocks of %d bytes do not fit the unified buffer of preset '%s'",
      layers_[op_layer_].name, bytes, preset_.name)));
  return work_at_;
}

}  // namespace systole::training
