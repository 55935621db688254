// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "sim/rtl/tracer.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "verif/waves/view.h"

namespace systole {
namespace {

constexpr uint64_t kForever = tb::ObservedCore::kForever;
constexpr size_t kBefore = 4;  // descriptors before the layer, per queue

// Finds the layer by name or by number.
absl::StatusOr<int> FindLayer(const Program& program, const std::string& text) {
  const int layers = static_cast<int>(program.layers.size());
  for (int l = 0; l < layers; ++l) {
    if (program.layers[l].name == text) return l;
  }
  int number = -1;
  if (absl::SimpleAtoi(text, &number) && number >= 0 &&
      (number < layers || layers == 0))
    return number;
  std::string known;
  for (int l = 0; l < layers; ++l)
    absl::StrAppend(&known, l == 0 ? "" : ", ", l, " ", program.layers[l].name);
  return absl::InvalidArgumentError(
      absl::StrFormat("no layer '%s' to trace; the program has: %s", text,
                      known.empty() ? "none with a name" : known));
}

// Whether the descriptor computes or stores results.
bool Works(const isa::Header& header) {
  const isa::OpInfo* op = isa::FindOp(header.opcode);
  return op != nullptr && op->queue != isa::Queue::kNone &&
         op->queue != isa::Queue::kLoad && op->queue != isa::Queue::kWeight;
}

}  // namespace

absl::Status Tracer::Open() {
  if (options_.from >= options_.to) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a waveform of cycles %d to %d: there are none",
                        options_.from, options_.to));
  }
  tb::LayerPlan layer;
  if (!options_.layer.empty()) {
    auto plan = PlanLayer();
    if (!plan.ok()) return plan.status();
    layer = *std::move(plan);
  }
  tb::ObservedCore& chip = core_.core();
  if (absl::Status s = chip.OpenTrace(options_.file, start_); !s.ok()) return s;
  if (layer_ < 0) {
    const bool open_end = options_.to > kForever - start_;
    chip.RecordTrace(start_ + options_.from,
                     open_end ? kForever : start_ + options_.to);
    return absl::OkStatus();
  }
  if (layer.begins.empty()) chip.RecordTrace(start_, kForever);
  return core_.RecordLayer(std::move(layer));
}

// The recording begins at the completion of one of the last kBefore descriptors
// before the layer's first one in the same queue. The first one has not started
// by then, unless more descriptors were in flight. Loads do not count when the
// layer has other work: its weights may be loaded long before its turn.
absl::StatusOr<tb::LayerPlan> Tracer::PlanLayer() {
  const auto layer = FindLayer(program_, options_.layer);
  if (!layer.ok()) return layer.status();
  layer_ = *layer;
  const size_t count = program_.descriptors.size();
  tb::LayerPlan plan;
  plan.wanted.assign(count, false);
  plan.begins.assign(count, false);
  const bool only_loads = absl::c_none_of(
      program_.descriptors, [this](const isa::Descriptor& descriptor) {
        const isa::Header header = isa::Halt::Decode(descriptor).header;
        return header.tag == layer_ && Works(header);
      });
  std::array<std::vector<uint32_t>, isa::kNumQueues> before;
  bool reached = false, from_start = false;
  for (uint32_t i = 0; i < count; ++i) {
    const isa::Header header =
        isa::Halt::Decode(program_.descriptors[i]).header;
    const isa::OpInfo* op = isa::FindOp(header.opcode);
    if (op == nullptr || op->queue == isa::Queue::kNone) continue;
    const size_t queue = static_cast<size_t>(op->queue);
    if (header.tag == layer_) {
      plan.wanted[i] = true;
      if (!only_loads && !Works(header)) continue;
      plan.begins[i] = true;
      const size_t size = before[queue].size();
      if (!reached && size < kBefore) from_start = true;
      for (size_t b = 1; !reached && b <= kBefore && b <= size; ++b)
        plan.begins[before[queue][size - b]] = true;
      reached = true;
    }
    before[queue].push_back(i);
  }
  if (!absl::c_linear_search(plan.wanted, true)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "no descriptor of layer '%s' to trace", options_.layer));
  }
  if (from_start) plan.begins.clear();
  return plan;
}

absl::Status Tracer::Close() {
  absl::Status status = core_.core().CloseTrace();
  if (layer_ >= 0) status.Update(core_.RecordLayer({}));
  if (absl::IsOutOfRange(status)) {
    return absl::OutOfRangeError(absl::StrFormat(
        "%s: nothing to record: the program ended after %d cycles",
        options_.file, core_.core().cycles() - start_));
  }
  if (!status.ok()) return status;
  const auto view = waves::WriteViews(options_.file, program_, layer_,
                                      options_.mark, core_.number());
  if (!view.ok()) return view.status();
  view_ = *view;
  return absl::OkStatus();
}

}  // namespace systole
