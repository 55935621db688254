// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/scheduling.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "host/compiler/cost_model.h"
#include "host/compiler/passes/repeated_order.h"

namespace systole::compiler {
namespace {

// Cycles between a load's dispatch and the use of its data.
constexpr int64_t kLead = 3000;

// Keys are the expected starts, with two exceptions. Tiles stay right before
// the matmul that takes them (rule 4 of docs/isa.md). Loads are delayed as far
// as possible: early ones would fill their queue and block the dispatch of
// everything else.
std::vector<int64_t> DispatchKeys(const Sequence& sequence,
                                  const Timeline& timeline) {
  const int size = sequence.size();
  const std::vector<Step>& steps = sequence.steps;
  std::vector<int64_t> key = timeline.start, needed(size, timeline.total);
  for (int i = 0; i < size; ++i) {
    for (const int d : steps[i].after) {
      if (d >= 0) needed[d] = std::min(needed[d], timeline.start[i]);
    }
  }
  int64_t next_load = timeline.total;
  for (int i = size - 1; i >= 0; --i) {
    if (steps[i].queue() != isa::Queue::kLoad) continue;
    const int64_t transfer = timeline.end[i] - timeline.start[i];
    next_load = std::min(next_load, needed[i] - kLead - transfer);
    key[i] = std::max(key[i], next_load);
  }
  return key;
}

// Whether other cores wait for the step, or it for them.
bool IsShared(const isa::Descriptor& d) {
  return (SharedWaitsOf(d) | SharedPostsOf(d)) != 0;
}

// Moving loads, and tiles to their matmul, also moves what depends on them.
// Steps between cores stay in one order, which all of these cores have: none
// then waits for a step that waits for itself.
void Settle(const Sequence& sequence, std::vector<int64_t>& key) {
  const int size = sequence.size();
  const std::vector<Step>& steps = sequence.steps;
  for (bool moved = true; moved;) {
    moved = false;
    const auto raise = [&](int i, int64_t to) {
      moved = moved || to > key[i];
      key[i] = std::max(key[i], to);
    };
    std::array<int64_t, isa::kNumQueues> last = {};
    int64_t last_shared = 0;
    for (int i = 0; i < size; ++i) {
      int64_t& before = last[static_cast<int>(steps[i].queue())];
      raise(i, before);
      for (const int d : steps[i].after) raise(i, d < 0 ? 0 : key[d]);
      if (IsShared(steps[i].descriptor)) {
        raise(i, last_shared);
        last_shared = key[i];
      }
      if (steps[i].queue() == isa::Queue::kMxu)
        raise(i, last[static_cast<int>(isa::Queue::kWeight)]);
      before = key[i];
    }
    int64_t next_matmul = 0;
    for (int i = size - 1; i >= 0; --i) {
      const isa::Queue queue = steps[i].queue();
      if (queue == isa::Queue::kMxu) next_matmul = key[i];
      if (queue == isa::Queue::kWeight) raise(i, next_matmul);
    }
  }
}

}  // namespace

absl::StatusOr<bool> Scheduling::Run(Sequence& sequence) {
  std::vector<Repeat> repeats;
  bool changed = false;
  if (loops_) {
    repeats = RepeatsOf(sequence);
    changed = JoinDependences(repeats, sequence);
  }
  std::vector<int64_t> key = DispatchKeys(sequence, Simulate(sequence));
  Settle(sequence, key);
  if (!repeats.empty()) {
    RepeatKeys(repeats, 0, key);
    Settle(sequence, key);
  }
  std::vector<int> order(sequence.size()), position(sequence.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return key[a] < key[b]; });
  for (int i = 0; i < sequence.size(); ++i) position[order[i]] = i;

  std::vector<Step> steps;
  for (const int from : order) {
    Step& step = steps.emplace_back(std::move(sequence.steps[from]));
    for (int& d : step.after) d = d < 0 ? -1 : position[d];
  }
  sequence.steps = std::move(steps);
  return changed || !std::is_sorted(order.begin(), order.end());
}

}  // namespace systole::compiler
