// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/dependence_analysis.h"

#include <algorithm>
#include <vector>

namespace systole::compiler {
namespace {

// Last writer and last readers of every granule of a memory.
class TouchMap {
 public:
  explicit TouchMap(int64_t granule) : granule_(granule) {}

  // Adds the steps that step `at` of `queue` depends on, and records its
  // access.
  void Touch(const Access& access, int at, isa::Queue queue,
             Dependences& after) {
    const int q = static_cast<int>(queue);
    access.ForEachRun([&](int64_t begin, int64_t end) {
      const int64_t last = (end - 1) / granule_;
      for (int64_t g = begin / granule_; g <= last; ++g) {
        State& s = StateOf(g);
        if (s.writer >= 0 && s.writer_queue != q)
          after[s.writer_queue] = std::max(after[s.writer_queue], s.writer);
        if (!access.write) {
          s.readers[q] = at;
          continue;
        }
        for (int r = 0; r < isa::kNumQueues; ++r) {
          if (r != q) after[r] = std::max(after[r], s.readers[r]);
          s.readers[r] = -1;
        }
        s.writer = at;
        s.writer_queue = static_cast<int8_t>(q);
      }
    });
  }

 private:
  struct State {
    int writer = -1;
    int8_t writer_queue = -1;
    Dependences readers = kNoDependences;
  };
  // Of addresses that are far apart, only what is between is not stored: the
  // other core's memory, for one.
  static constexpr int64_t kPage = 4096;
  State& StateOf(int64_t granule) {
    const auto page = static_cast<size_t>(granule / kPage);
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page].empty()) pages_[page].resize(kPage);
    return pages_[page][granule % kPage];
  }

  int64_t granule_;
  std::vector<std::vector<State>> pages_;
};

}  // namespace

bool FindDependences(Sequence& sequence) {
  const Preset& preset = *sequence.preset;
  TouchMap ub(std::min(preset.word_bytes(), preset.beat_bytes())), acc(1),
      hbm(preset.beat_bytes());
  bool changed = false;
  for (int i = 0; i < sequence.size(); ++i) {
    Step& step = sequence.steps[i];
    Dependences after = kNoDependences;
    const auto touch = [&](const Access& access) {
      TouchMap& map = access.space == Space::kUb    ? ub
                      : access.space == Space::kAcc ? acc
                                                    : hbm;
      map.Touch(access, i, step.queue(), after);
    };
    for (const Access& access : AccessesOf(step.descriptor, preset))
      touch(access);
    for (const Access& access : step.touches) touch(access);
    changed = changed || after != step.after;
    step.after = after;
  }
  return changed;
}

}  // namespace systole::compiler
