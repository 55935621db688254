// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/plan_pairs.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "host/compiler/kernels/kernel_link.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

// Cycles for which it is worth a try, and the part of a kernel's cycles that it
// has to save.
constexpr int64_t kLeastCycles = 4096, kLeastGain = 4;
constexpr int kTries = 2;  // products for a kernel
// Of the unified buffer, one for the other kernel.
constexpr int64_t kParts = 4;

int64_t BusyOf(const PlanStep& step, isa::Queue queue) {
  return step.kernel->costs[0].busy[static_cast<size_t>(queue)];
}

class Pairs {
 public:
  Pairs(std::vector<PlanStep>& steps,
        const std::map<size_t, CompileAgain>& again, const Preset& preset)
      : steps_(steps), again_(again), preset_(preset) {
    for (size_t i = 0; i < steps.size(); ++i) {
      places_.push_back(i);
      for (const int slot : steps[i].outputs) maker_[slot] = i;
      for (const int slot : steps[i].inputs) readers_[slot].push_back(i);
    }
  }

  void Run() {
    std::vector<size_t> others;
    for (const auto& [i, compile] : again_) {
      const int64_t array = BusyOf(steps_[i], isa::Queue::kMxu);
      if (array >= kLeastCycles) products_.push_back(i);
      if (array == 0 && CyclesOf(i) >= kLeastCycles) others.push_back(i);
    }
    std::stable_sort(others.begin(), others.end(), [&](size_t a, size_t b) {
      return CyclesOf(a) > CyclesOf(b);
    });
    for (const size_t other : others) Pair(other);
    Move();
  }

 private:
  struct Both {
    KernelProgram other;  // beside the product
    int64_t cycles;
  };

  int64_t CyclesOf(size_t step) const {
    return steps_[step].kernel->expected_cycles;
  }

  // The most that the two can save.
  int64_t TimeFor(size_t other, size_t product) const {
    return std::min(
        CyclesOf(product) - BusyOf(steps_[product], isa::Queue::kVector),
        CyclesOf(other));
  }

  // Products between what the step needs and what needs it, those first in
  // which the vector unit has most time for it.
  std::vector<size_t> ProductsFor(size_t other) const {
    size_t first = 0, end = steps_.size();
    for (const int slot : steps_[other].inputs) {
      const auto maker = maker_.find(slot);
      if (maker != maker_.end())
        first = std::max(first, places_[maker->second] + 1);
    }
    for (const int slot : steps_[other].outputs) {
      const auto readers = readers_.find(slot);
      if (readers == readers_.end()) continue;
      for (const size_t reader : readers->second)
        end = std::min(end, places_[reader]);
    }
    std::vector<size_t> products;
    for (const size_t i : products_) {
      if (i >= first && i < end && partner_.count(i) == 0)
        products.push_back(i);
    }
    std::stable_sort(products.begin(), products.end(), [&](size_t a, size_t b) {
      return TimeFor(other, a) > TimeFor(other, b);
    });
    if (products.size() > kTries) products.resize(kTries);
    return products;
  }

  void Pair(size_t other) {
    std::optional<Both> best;
    size_t with = 0;
    int64_t most = CyclesOf(other) / kLeastGain;
    for (const size_t product : ProductsFor(other)) {
      if (TimeFor(other, product) <= most) break;
      std::optional<Both> both = Compiled(product, other);
      if (!both) continue;
      const int64_t gain = CyclesOf(product) + CyclesOf(other) - both->cycles;
      if (gain <= most) continue;
      most = gain;
      best = std::move(both);
      with = product;
    }
    if (!best) return;
    partner_[with] = other;
    places_[other] = with;
    steps_[with].kernel =
        std::make_shared<KernelProgram>(*std::move(in_part_.at(with)));
    steps_[other].kernel =
        std::make_shared<KernelProgram>(std::move(best->other));
    steps_[other].beside = true;
  }

  // The product in most of the unified buffer, the other kernel in the rest.
  std::optional<Both> Compiled(size_t product, size_t other) {
    const KernelProgram* const a = InPart(product);
    if (a == nullptr) return std::nullopt;
    absl::StatusOr<KernelProgram> b = again_.at(other)(preset_, a->ub_end);
    if (!b.ok() || a->words.size() + b->words.size() > vpu::kImemWords)
      return std::nullopt;
    MoveCode(*b, static_cast<int64_t>(a->words.size()));
    std::vector<LinkedKernel> kernels = {{a, {}, false}, {&*b, {}, true}};
    std::vector<int64_t> bytes;
    for (LinkedKernel& linked : kernels) {
      for (const int64_t size : linked.kernel->bytes) {
        linked.operands.push_back(static_cast<int>(bytes.size()));
        bytes.push_back(size);
      }
    }
    const absl::StatusOr<KernelProgram> both = Link(kernels, bytes, preset_);
    if (!both.ok()) return std::nullopt;
    return Both{*std::move(b), both->expected_cycles};
  }

  // The product's kernel in a part of the unified buffer; null if that is much
  // slower.
  const KernelProgram* InPart(size_t product) {
    const auto [place, added] = in_part_.try_emplace(product);
    if (added) {
      Preset part = preset_;
      part.ub_bytes = preset_.ub_bytes / kParts * (kParts - 1);
      absl::StatusOr<KernelProgram> kernel = again_.at(product)(part, 0);
      if (kernel.ok() && kernel->expected_cycles <= CyclesOf(product) * 9 / 8)
        place->second = *std::move(kernel);
    }
    return place->second ? &*place->second : nullptr;
  }

  void Move() {
    if (partner_.empty()) return;
    std::vector<PlanStep> moved;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].beside) moved.push_back(std::move(steps_[i]));
      const auto partner = partner_.find(i);
      if (partner != partner_.end())
        moved.push_back(std::move(steps_[partner->second]));
    }
    steps_ = std::move(moved);
  }

  std::vector<PlanStep>& steps_;
  const std::map<size_t, CompileAgain>& again_;
  const Preset& preset_;
  std::vector<size_t> products_;           // steps
  std::vector<size_t> places_;             // by step, where it runs
  std::unordered_map<int, size_t> maker_;  // by slot
  std::unordered_map<int, std::vector<size_t>> readers_;    // by slot
  std::map<size_t, size_t> partner_;                        // of a product
  std::map<size_t, std::optional<KernelProgram>> in_part_;  // products
};

}  // namespace

void PairSteps(std::vector<PlanStep>& steps,
               const std::map<size_t, CompileAgain>& again,
               const Preset& preset) {
  Pairs(steps, again, preset).Run();
}

}  // namespace systole::lanes
