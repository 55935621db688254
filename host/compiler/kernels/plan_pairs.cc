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
    // What comes to a product may let what needs it, or what it needs, follow.
    for (size_t before = 0; others.size() != before;) {
      before = others.size();
      others.erase(std::remove_if(others.begin(), others.end(),
                                  [&](size_t other) { return Try(other); }),
                   others.end());
    }
    Move();
  }

 private:
  struct Both {
    KernelProgram other;  // beside the product
    int64_t cycles;       // of the product and all that is beside it
  };
  // What is beside a product.
  struct Group {
    std::vector<size_t> others;  // in the order of the steps
    int64_t words = 0;           // of their code
    int64_t taken = 0;           // cycles of each alone
    int64_t cycles = 0;          // of the product and all of them together
  };

  int64_t CyclesOf(size_t step) const {
    return steps_[step].kernel->expected_cycles;
  }

  // The most that it can save.
  int64_t TimeFor(size_t other, size_t product) const {
    return std::min(CyclesOf(product) -
                        BusyOf(steps_[product], isa::Queue::kVector) -
                        GroupOf(product).taken,
                    CyclesOf(other));
  }
  Group GroupOf(size_t product) const {
    const auto group = groups_.find(product);
    return group == groups_.end() ? Group{{}, 0, 0, CyclesOf(product)}
                                  : group->second;
  }

  // Products between what the step needs and what needs it, those first in
  // which the vector unit has most time for it.
  std::vector<size_t> ProductsFor(size_t other) const {
    size_t first = 0, end = steps_.size();
    for (const int slot : steps_[other].inputs) {
      const auto maker = maker_.find(slot);
      if (maker == maker_.end()) continue;
      // They follow each other beside a product.
      const size_t own = steps_[maker->second].beside ? 0 : 1;
      first = std::max(first, places_[maker->second] + own);
    }
    for (const int slot : steps_[other].outputs) {
      const auto readers = readers_.find(slot);
      if (readers == readers_.end()) continue;
      for (const size_t reader : readers->second)
        end = std::min(end, places_[reader] + (steps_[reader].beside ? 1 : 0));
    }
    std::vector<size_t> products;
    for (const size_t i : products_) {
      if (i >= first && i < end) products.push_back(i);
    }
    std::stable_sort(products.begin(), products.end(), [&](size_t a, size_t b) {
      return TimeFor(other, a) > TimeFor(other, b);
    });
    if (products.size() > kTries) products.resize(kTries);
    return products;
  }

  // False: there is no product for it.
  bool Try(size_t other) {
    const std::vector<size_t> products = ProductsFor(other);
    if (!products.empty()) Pair(other, products);
    return !products.empty();
  }

  void Pair(size_t other, const std::vector<size_t>& products) {
    std::optional<Both> best;
    size_t with = 0;
    int64_t most = CyclesOf(other) / kLeastGain;
    for (const size_t product : products) {
      if (TimeFor(other, product) <= most) break;
      std::optional<Both> both = Compiled(product, other);
      if (!both) continue;
      const int64_t gain =
          GroupOf(product).cycles + CyclesOf(other) - both->cycles;
      if (gain <= most) continue;
      most = gain;
      best = std::move(both);
      with = product;
    }
    if (!best) return;
    steps_[with].kernel = in_part_.at(with);
    Group& group = groups_[with];
    group.others = With(group.others, other);
    group.words += static_cast<int64_t>(best->other.words.size());
    group.taken += CyclesOf(other);
    group.cycles = best->cycles;
    places_[other] = with;
    steps_[other].kernel =
        std::make_shared<KernelProgram>(std::move(best->other));
    steps_[other].beside = true;
  }

  static std::vector<size_t> With(std::vector<size_t> others, size_t other) {
    others.insert(std::upper_bound(others.begin(), others.end(), other), other);
    return others;
  }

  // The product in most of the unified buffer, the other kernel in the rest,
  // with those that are there.
  std::optional<Both> Compiled(size_t product, size_t other) {
    const KernelProgram* const a = InPart(product);
    if (a == nullptr) return std::nullopt;
    absl::StatusOr<KernelProgram> b = again_.at(other)(preset_, a->ub_end);
    const Group group = GroupOf(product);
    const int64_t words = static_cast<int64_t>(a->words.size()) + group.words;
    if (!b.ok() ||
        words + static_cast<int64_t>(b->words.size()) > vpu::kImemWords)
      return std::nullopt;
    MoveCode(*b, words);
    std::vector<LinkedKernel> kernels = {{a, {}, false}};
    for (const size_t step : With(group.others, other)) {
      kernels.push_back(
          {step == other ? &*b : steps_[step].kernel.get(), {}, true});
    }
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
        place->second = std::make_shared<KernelProgram>(*std::move(kernel));
    }
    return place->second.get();
  }

  void Move() {
    if (groups_.empty()) return;
    std::vector<PlanStep> moved;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].beside) moved.push_back(std::move(steps_[i]));
      const auto group = groups_.find(i);
      if (group == groups_.end()) continue;
      for (const size_t other : group->second.others)
        moved.push_back(std::move(steps_[other]));
    }
    steps_ = std::move(moved);
  }

  std::vector<PlanStep>& steps_;
  const std::map<size_t, CompileAgain>& again_;
  const Preset& preset_;
  std::vector<size_t> products_;           // steps
  std::vector<size_t> places_;             // by step, where it runs
  std::unordered_map<int, size_t> maker_;  // by slot
  std::unordered_map<int, std::vector<size_t>> readers_;      // by slot
  std::map<size_t, Group> groups_;                            // by product
  std::map<size_t, std::shared_ptr<KernelProgram>> in_part_;  // products
};

}  // namespace

void PairSteps(std::vector<PlanStep>& steps,
               const std::map<size_t, CompileAgain>& again,
               const Preset& preset) {
  Pairs(steps, again, preset).Run();
}

}  // namespace systole::lanes
