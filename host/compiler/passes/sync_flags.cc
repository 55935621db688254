// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/sync_flags.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <vector>

#include "absl/strings/str_format.h"

namespace systole::compiler {

int ChannelFlag(isa::Queue from, isa::Queue to) {
  // Rows: from load, weight, mxu, vector, store, send; columns: to them.
  static constexpr int kFlags[isa::kNumQueues][isa::kNumQueues] = {
      {-1, 0, 1, 2, 3, 5},      {4, -1, -1, 6, 7, -1},
      {8, -1, -1, 10, -1, -1},  {12, 13, 14, -1, 15, 9},
      {16, 17, -1, 19, -1, -1}, {11, -1, -1, 18, -1, -1},
  };
  return kFlags[static_cast<int>(from)][static_cast<int>(to)];
}

namespace {

void ForEachFlag(uint32_t mask, const std::function<void(int)>& body) {
  for (int flag = 0; flag < isa::kNumFlags; ++flag)
    if (mask >> flag & 1) body(flag);
}

// Checks that no flag exceeds its maximum. Descriptors are fetched in order,
// and a queue holds a limited number: when one more enters, the first one has
// started and its waits have been taken. Everything that was fetched may have
// posted. Twice the depth leaves room for registers at the ends of a queue.
absl::Status CheckCounts(const Sequence& sequence,
                         const std::vector<uint32_t>& wait,
                         const std::vector<uint32_t>& post) {
  const size_t held = 2 * sequence.preset->queue_depth;
  std::array<std::deque<uint32_t>, isa::kNumQueues> waiting;
  std::array<uint32_t, isa::kNumFlags> count = {};
  for (int i = 0; i < sequence.size(); ++i) {
    auto& queue = waiting[static_cast<int>(sequence.steps[i].queue())];
    queue.push_back(wait[i]);
    if (queue.size() > held) {
      ForEachFlag(queue.front(), [&](int flag) { --count[flag]; });
      queue.pop_front();
    }
    int full = -1;
    ForEachFlag(post[i], [&](int flag) {
      if (++count[flag] > isa::kFlagMax) full = flag;
    });
    if (full < 0) continue;
    return absl::ResourceExhaustedError(absl::StrFormat(
        "step %d: sync flag %d may be posted more than %d times ahead of its "
        "waits",
        i, full, isa::kFlagMax));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> SyncFlags::Run(Sequence& sequence) {
  // known[i][q]: number of steps of queue q that are complete when step i
  // starts, as enforced by queues and flags alone.
  using Clock = std::array<int, isa::kNumQueues>;
  const int size = sequence.size();
  std::vector<Step>& steps = sequence.steps;
  std::vector<Clock> known(size);
  std::vector<int> number(size);
  Clock count = {}, latest;
  latest.fill(-1);
  std::vector<uint32_t> wait(size), post(size);

  for (int i = 0; i < size; ++i) {
    const int q = static_cast<int>(steps[i].queue());
    number[i] = count[q]++;
    if (latest[q] >= 0)
      known[i] = known[latest[q]];  // its predecessor started before it
    latest[q] = i;

    Dependences after = steps[i].after;
    std::sort(after.begin(), after.end(),
              [](int a, int b) { return a > b; });  // the latest imply the most
    for (const int d : after) {
      if (d < 0) break;
      const int from = static_cast<int>(steps[d].queue());
      if (known[i][from] > number[d]) continue;
      const int flag = ChannelFlag(steps[d].queue(), steps[i].queue());
      if (flag < 0) {
        return absl::InternalError(absl::StrFormat(
            "step %d depends on step %d, but their queues have no channel", i,
            d));
      }
      post[d] |= 1u << flag;
      wait[i] |= 1u << flag;
      for (int k = 0; k < isa::kNumQueues; ++k)
        known[i][k] = std::max(known[i][k], known[d][k]);
      known[i][from] = std::max(known[i][from], number[d] + 1);
    }
  }
  for (int i = 0; i < size; ++i) {
    isa::PutBits(steps[i].descriptor, 32, isa::kFirstLinkFlag, wait[i]);
    isa::PutBits(steps[i].descriptor, 64, isa::kFirstLinkFlag, post[i]);
  }
  if (absl::Status s = CheckCounts(sequence, wait, post); !s.ok()) return s;
  sequence.flagged = true;
  return true;
}

}  // namespace systole::compiler
