// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/schedule_builder.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_format.h"

namespace systole::compiler {

void TouchMap::Touch(const Access& access, int op, isa::Queue queue,
                     Dependences& deps) {
  const int q = static_cast<int>(queue);
  access.ForEachRun([&](int64_t begin, int64_t end) {
    const int64_t last = (end - 1) / granule_;
    if (last >= static_cast<int64_t>(states_.size()))
      states_.resize(std::max<int64_t>(last + 1, 2 * states_.size()));
    for (int64_t g = begin / granule_; g <= last; ++g) {
      State& s = states_[g];
      if (s.writer >= 0 && s.writer_queue != q)
        deps[s.writer_queue] = std::max(deps[s.writer_queue], s.writer);
      if (!access.write) {
        s.readers[q] = op;
        continue;
      }
      for (int r = 0; r < isa::kNumQueues; ++r) {
        if (r != q) deps[r] = std::max(deps[r], s.readers[r]);
        s.readers[r] = -1;
      }
      s.writer = op;
      s.writer_queue = static_cast<int8_t>(q);
    }
  });
}

ScheduleBuilder::ScheduleBuilder(const Preset& preset)
    : preset_(preset),
      ub_(std::min(preset.word_bytes(), preset.beat_bytes())),
      acc_(1),
      hbm_(preset.beat_bytes()) {}

void ScheduleBuilder::Append(isa::Descriptor descriptor, bool fits) {
  const int op = size();
  if (!fits && status_.ok()) {
    const isa::OpInfo* info =
        isa::FindOp(static_cast<uint8_t>(OpcodeOf(descriptor)));
    status_ = absl::ResourceExhaustedError(
        absl::StrFormat("layer %d: a field of descriptor %d (%s) does not fit "
                        "its width: the layer is too large",
                        tag_, op, std::string(info->name)));
  }
  isa::PutBits(descriptor, 16, 16, tag_);
  AppendEncoded(descriptor);
}

void ScheduleBuilder::Append(const isa::Vrun& run, std::vector<Access> accesses,
                             int64_t cycles) {
  isa::Descriptor descriptor = run.Encode();
  isa::PutBits(descriptor, 16, 16, tag_);
  Cost cost = CostOf(descriptor, preset_);
  cost.issue += cycles;
  Push(descriptor, accesses, cost);
}

void ScheduleBuilder::Push(isa::Descriptor descriptor,
                           const std::vector<Access>& accesses,
                           const Cost& cost) {
  const int op = size();
  Dependences deps = {-1, -1, -1, -1, -1};
  const isa::Queue queue = QueueOf(descriptor);
  const auto touch = [&](const Access& access) {
    TouchMap& map = access.space == Space::kUb    ? ub_
                    : access.space == Space::kAcc ? acc_
                                                  : hbm_;
    map.Touch(access, op, queue, deps);
  };
  for (const Access& access : accesses) touch(access);
  if (after_) touch(*after_);
  descriptors_.push_back(descriptor);
  costs_.push_back(cost);
  deps_.push_back(deps);
}

// The expected start, but for two kinds. Tiles stay right before the matmul
// that takes them (rule 4 of docs/isa.md). Loads come no earlier than they
// must: early ones would fill their queue and hold up the dispatch of
// everything else.
std::vector<int64_t> ScheduleBuilder::DispatchKeys(
    const Timeline& timeline) const {
  constexpr int64_t kLead =
      3000;  // cycles that a load is dispatched before its data are needed
  std::vector<int64_t> key = timeline.start, needed(size(), timeline.total);
  for (int i = 0; i < size(); ++i) {
    for (const int d : deps_[i]) {
      if (d >= 0) needed[d] = std::min(needed[d], timeline.start[i]);
    }
  }
  int64_t next_matmul = timeline.total, next_load = timeline.total;
  for (int i = size() - 1; i >= 0; --i) {
    const isa::Queue queue = QueueOf(descriptors_[i]);
    if (queue == isa::Queue::kMxu) next_matmul = key[i];
    if (queue == isa::Queue::kWeight) key[i] = next_matmul;
    if (queue == isa::Queue::kLoad) {
      const int64_t transfer = timeline.end[i] - timeline.start[i];
      next_load = std::min(next_load, needed[i] - kLead - transfer);
      key[i] = std::max(key[i], next_load);
    }
  }
  // Moving tiles to their matmul moves what comes after them too: what
  // overwrites the bytes of `tiles`.
  for (bool moved = true; moved;) {
    moved = false;
    const auto raise = [&](int i, int64_t to) {
      moved = moved || to > key[i];
      key[i] = std::max(key[i], to);
    };
    std::array<int64_t, isa::kNumQueues> last = {};
    for (int i = 0; i < size(); ++i) {
      int64_t& before = last[static_cast<int>(QueueOf(descriptors_[i]))];
      raise(i, before);
      for (const int d : deps_[i]) raise(i, d < 0 ? 0 : key[d]);
      before = key[i];
    }
    next_matmul = 0;
    for (int i = size() - 1; i >= 0; --i) {
      const isa::Queue queue = QueueOf(descriptors_[i]);
      if (queue == isa::Queue::kMxu) next_matmul = key[i];
      if (queue == isa::Queue::kWeight) raise(i, next_matmul);
    }
  }
  return key;
}

absl::StatusOr<Schedule> ScheduleBuilder::Finish(bool reorder) const {
  if (!status_.ok()) return status_;
  const Timeline timeline = Simulate(descriptors_, costs_, deps_, preset_);
  std::vector<int> order(size());
  std::iota(order.begin(), order.end(), 0);
  if (reorder) {
    const std::vector<int64_t> key = DispatchKeys(timeline);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return key[a] < key[b]; });
  }
  std::vector<int> position(size());
  for (int i = 0; i < size(); ++i) position[order[i]] = i;

  Schedule schedule;
  schedule.estimated_cycles = timeline.total;
  std::vector<Dependences> deps(size());
  for (int i = 0; i < size(); ++i) {
    schedule.descriptors.push_back(descriptors_[order[i]]);
    deps[i] = deps_[order[i]];
    for (int& d : deps[i]) d = d < 0 ? -1 : position[d];
  }
  absl::StatusOr<int> edges = PlanFlags(schedule.descriptors, deps);
  if (!edges.ok()) return edges.status();
  schedule.edges = *edges;
  schedule.descriptors.push_back(isa::Halt{}.Encode());
  return schedule;
}

int ChannelFlag(isa::Queue from, isa::Queue to) {
  const int a = static_cast<int>(from), b = static_cast<int>(to);
  return a * (isa::kNumQueues - 1) + (b < a ? b : b - 1);
}

absl::StatusOr<int> PlanFlags(std::vector<isa::Descriptor>& descriptors,
                              const std::vector<Dependences>& deps) {
  // known[i][q]: how many descriptors of queue q are complete when i starts, by
  // queues and flags alone.
  using Clock = std::array<int, isa::kNumQueues>;
  std::vector<Clock> known(descriptors.size());
  std::vector<int> sequence(descriptors.size());
  Clock count = {}, latest = {-1, -1, -1, -1, -1};
  std::array<int, isa::kNumFlags> posts = {};
  std::vector<uint32_t> wait(descriptors.size()), post(descriptors.size());
  int edges = 0;

  for (size_t i = 0; i < descriptors.size(); ++i) {
    const int q = static_cast<int>(QueueOf(descriptors[i]));
    sequence[i] = count[q]++;
    if (latest[q] >= 0)
      known[i] = known[latest[q]];  // its predecessor started before it
    latest[q] = static_cast<int>(i);

    Dependences need = deps[i];
    std::sort(need.begin(), need.end(),
              [](int a, int b) { return a > b; });  // the latest imply the most
    for (const int d : need) {
      if (d < 0) break;
      if (d >= static_cast<int>(i)) {
        return absl::InternalError(absl::StrFormat(
            "descriptor %d depends on %d, which is not before it", i, d));
      }
      const int from = static_cast<int>(QueueOf(descriptors[d]));
      if (known[i][from] > sequence[d]) continue;
      const int flag = ChannelFlag(static_cast<isa::Queue>(from),
                                   static_cast<isa::Queue>(q));
      if (++posts[flag] > static_cast<int>(isa::kFlagMax)) {
        return absl::ResourceExhaustedError(absl::StrFormat(
            "more than %d posts to sync flag %d", isa::kFlagMax, flag));
      }
      post[d] |= 1u << flag;
      wait[i] |= 1u << flag;
      ++edges;
      for (int k = 0; k < isa::kNumQueues; ++k)
        known[i][k] = std::max(known[i][k], known[d][k]);
      known[i][from] = std::max(known[i][from], sequence[d] + 1);
    }
  }
  for (size_t i = 0; i < descriptors.size(); ++i) {
    isa::PutBits(descriptors[i], 32, 32, wait[i]);
    isa::PutBits(descriptors[i], 64, 32, post[i]);
  }
  return edges;
}

}  // namespace systole::compiler
