// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/sync_flags.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace systole::compiler {

int ChannelFlag(isa::Queue from, isa::Queue to) {
  const int a = static_cast<int>(from), b = static_cast<int>(to);
  return a * (isa::kNumQueues - 1) + (b < a ? b : b - 1);
}

absl::StatusOr<bool> SyncFlags::Run(Sequence& sequence) {
  // known[i][q]: how many steps of queue q are complete when i starts, by
  // queues and flags alone.
  using Clock = std::array<int, isa::kNumQueues>;
  const int size = sequence.size();
  std::vector<Step>& steps = sequence.steps;
  std::vector<Clock> known(size);
  std::vector<int> number(size);
  Clock count = {}, latest = {-1, -1, -1, -1, -1};
  std::array<int, isa::kNumFlags> posts = {};
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
      if (++posts[flag] > static_cast<int>(isa::kFlagMax)) {
        return absl::ResourceExhaustedError(absl::StrFormat(
            "more than %d posts to sync flag %d", isa::kFlagMax, flag));
      }
      post[d] |= 1u << flag;
      wait[i] |= 1u << flag;
      for (int k = 0; k < isa::kNumQueues; ++k)
        known[i][k] = std::max(known[i][k], known[d][k]);
      known[i][from] = std::max(known[i][from], number[d] + 1);
    }
  }
  for (int i = 0; i < size; ++i) {
    isa::PutBits(steps[i].descriptor, 32, 32, wait[i]);
    isa::PutBits(steps[i].descriptor, 64, 32, post[i]);
  }
  sequence.flagged = true;
  return true;
}

}  // namespace systole::compiler
