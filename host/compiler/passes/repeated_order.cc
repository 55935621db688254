// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/repeated_order.h"

#include <algorithm>
#include <array>

namespace systole::compiler {
namespace {

constexpr size_t kLeastPasses = 4;

void DropShort(std::vector<Repeat>& repeats) {
  repeats.erase(
      std::remove_if(repeats.begin(), repeats.end(),
                     [](const Repeat& r) { return r.passes < kLeastPasses; }),
      repeats.end());
  for (Repeat& r : repeats) DropShort(r.inner);
}

}  // namespace

std::vector<Repeat> RepeatsOf(const Sequence& sequence) {
  std::vector<isa::Descriptor> list;
  for (const Step& step : sequence.steps) list.push_back(step.descriptor);
  RepeatLimits limits;
  limits.stepped = limits.steps = limits.loops = list.size() * list.size();
  std::vector<Repeat> repeats =
      FindRepeats(list, std::vector<int>(list.size(), 0), limits);
  DropShort(repeats);
  return repeats;
}

bool JoinDependences(const std::vector<Repeat>& repeats, Sequence& sequence) {
  std::vector<Step>& steps = sequence.steps;
  bool changed = false;
  const auto move = [&](int& dependence, int to) {
    changed = changed || dependence != to;
    dependence = to;
  };
  for (const Repeat& r : repeats) {
    const int begin = static_cast<int>(r.at), end = static_cast<int>(r.end());
    Dependences first = kNoDependences, last = kNoDependences;
    for (int i = begin; i < end; ++i) {
      const int q = static_cast<int>(steps[i].queue());
      if (first[q] < 0) first[q] = i;
      last[q] = i;
      for (int k = 0; k < isa::kNumQueues; ++k) {
        const int d = steps[i].after[k];
        if (d >= begin || d < 0) continue;
        int& joined = steps[first[q]].after[k];
        move(joined, std::max(joined, d));
      }
    }
    for (int i = end; i < sequence.size(); ++i) {
      for (int k = 0; k < isa::kNumQueues; ++k) {
        int& d = steps[i].after[k];
        if (d >= begin && d < end) move(d, last[k]);
      }
    }
  }
  return changed;
}

void RepeatKeys(const std::vector<Repeat>& repeats, size_t from,
                std::vector<int64_t>& keys) {
  for (const Repeat& r : repeats) {
    const size_t begin = from + r.at;
    const size_t middle = begin + r.passes / 2 * r.period;
    // The first and the last passes differ from the others.
    const size_t one = begin + r.period,
                 other = begin + (r.passes - 2) * r.period;
    int64_t sum = 0;
    for (size_t i = 0; i < r.period; ++i)
      sum += keys[other + i] - keys[one + i];
    const auto each = static_cast<int64_t>((r.passes - 3) * r.period);
    const int64_t apart = (sum + each - 1) / each;
    RepeatKeys(r.inner, middle - r.at, keys);
    for (size_t p = 0; p < r.passes; ++p) {
      const int64_t by =
          (static_cast<int64_t>(p) - static_cast<int64_t>(r.passes / 2)) *
          apart;
      const size_t at = begin + p * r.period;
      if (at == middle) continue;
      for (size_t i = 0; i < r.period; ++i)
        keys[at + i] = keys[middle + i] + by;
    }
  }
}

}  // namespace systole::compiler
