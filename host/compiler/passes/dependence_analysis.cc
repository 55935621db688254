// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/dependence_analysis.h"

#include <algorithm>
#include <vector>

namespace systole::compiler {
namespace {

// Last writer and last readers of every granule of a memory. Granules of a
// group share one state until an access touches a part of them.
class TouchMap {
 public:
  explicit TouchMap(int64_t granule) : granule_(granule) {}

  // Adds the steps that step `at` of `queue` depends on, and records its
  // access.
  void Touch(const Access& access, int at, isa::Queue queue,
             Dependences& after) {
    const Toucher touch = {access.write, at, static_cast<int>(queue), after};
    access.ForEachRun([&](int64_t begin, int64_t end) {
      const int64_t last = (end - 1) / granule_;
      for (int64_t g = begin / granule_; g <= last;) {
        Group& group = GroupOf(g / kGroup);
        const int64_t first = g % kGroup,
                      count = std::min(kGroup - first, last - g + 1);
        group.Touch(touch, first, count);
        g += count;
      }
    });
  }

 private:
  struct State {
    int writer = -1;
    int8_t writer_queue = -1;
    Dependences readers = kNoDependences;
  };

  struct Toucher {
    const bool write;
    const int at, queue;
    Dependences& after;

    void operator()(State& s) const {
      if (s.writer >= 0 && s.writer_queue != queue)
        after[s.writer_queue] = std::max(after[s.writer_queue], s.writer);
      if (!write) {
        s.readers[queue] = at;
        return;
      }
      for (int r = 0; r < isa::kNumQueues; ++r) {
        if (r != queue) after[r] = std::max(after[r], s.readers[r]);
        s.readers[r] = -1;
      }
      s.writer = at;
      s.writer_queue = static_cast<int8_t>(queue);
    }
  };

  static constexpr int64_t kGroup = 32;  // granules
  struct Group {
    State all;
    std::vector<State> each;  // if they differ

    void Touch(const Toucher& touch, int64_t first, int64_t count) {
      if (count < kGroup && each.empty()) each.assign(kGroup, all);
      if (each.empty()) return touch(all);
      for (int64_t i = first; i < first + count; ++i) touch(each[i]);
      if (count < kGroup || !touch.write) return;
      all = each[0];
      each.clear();
    }
  };

  // Of addresses that are far apart, only what is between is not stored: the
  // other core's memory, for one.
  static constexpr int64_t kPage = 128;  // groups
  Group& GroupOf(int64_t group) {
    const auto page = static_cast<size_t>(group / kPage);
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page].empty()) pages_[page].resize(kPage);
    return pages_[page][group % kPage];
  }

  int64_t granule_;
  std::vector<std::vector<Group>> pages_;
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
