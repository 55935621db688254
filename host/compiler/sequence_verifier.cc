// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "host/compiler/cost_model.h"
#include "host/compiler/sequence.h"

namespace systole::compiler {
namespace {

class SequenceVerifier {
 public:
  explicit SequenceVerifier(const Sequence& sequence) : sequence_(sequence) {}

  absl::Status Run() {
    int64_t tiles = 0;  // tiles pushed and not taken
    for (int i = 0; i < sequence_.size(); ++i) {
      if (absl::Status s = Dependences(i); !s.ok()) return s;
      if (absl::Status s = Tiles(i, tiles); !s.ok()) return s;
    }
    if (tiles != 0)
      return absl::InternalError(
          absl::StrCat(tiles, " tiles are left in the FIFO at the end"));
    return sequence_.flagged ? Flags() : absl::OkStatus();
  }

 private:
  const Step& step(int i) const { return sequence_.steps[i]; }

  template <class... Args>
  absl::Status Bad(int i, const Args&... args) const {
    const isa::OpInfo* op =
        isa::FindOp(static_cast<uint8_t>(OpcodeOf(step(i).descriptor)));
    return absl::InternalError(
        absl::StrCat("step %", i, " (", std::string(op->name), "): ", args...));
  }

  absl::Status Dependences(int i) const {
    for (int q = 0; q < isa::kNumQueues; ++q) {
      const int d = step(i).after[q];
      if (d < 0) continue;
      if (d >= i) return Bad(i, "comes after %", d, ", which is not before it");
      if (static_cast<int>(step(d).queue()) != q)
        return Bad(i, "%", d, " is not of the queue that it stands for");
      if (step(d).queue() == step(i).queue())
        return Bad(i, "comes after %", d, " of its own queue");
    }
    return absl::OkStatus();
  }

  absl::Status Tiles(int i, int64_t& tiles) const {
    const int64_t moved = CostOf(step(i).descriptor, *sequence_.preset).tiles;
    if (step(i).queue() != isa::Queue::kMxu) {
      if (moved > 0 && tiles > 0)
        return Bad(i, "pushes tiles while ", tiles, " are not taken");
      tiles += moved;
    } else if (moved > tiles) {
      return Bad(i, "takes ", moved, " tiles, ", tiles, " are there");
    } else {
      tiles -= moved;
    }
    return absl::OkStatus();
  }

  // Checks that queues and flags alone enforce every dependence. `known` has,
  // for each step, how many steps of each queue are known to be complete when
  // it starts.
  absl::Status Flags() const {
    using Clock = std::array<int, isa::kNumQueues>;
    std::vector<Clock> known(sequence_.size());
    std::vector<int> number(sequence_.size());  // position in its queue
    std::array<int, isa::kNumQueues> latest = kNoDependences;
    // Other cores post and take the flags from kFirstLinkFlag on.
    std::array<std::vector<int>, isa::kFirstLinkFlag> posts;
    std::array<size_t, isa::kFirstLinkFlag> waits = {};
    const auto meet = [](Clock& a, const Clock& b) {
      for (int q = 0; q < isa::kNumQueues; ++q) a[q] = std::max(a[q], b[q]);
    };
    for (int i = 0; i < sequence_.size(); ++i) {
      const int q = static_cast<int>(step(i).queue());
      known[i].fill(0);
      if (latest[q] >= 0) {
        known[i] = known[latest[q]];
        number[i] = number[latest[q]] + 1;
      }
      latest[q] = i;
      for (int flag = 0; flag < isa::kFirstLinkFlag; ++flag) {
        if (isa::GetBits(step(i).descriptor, 32 + flag, 1) != 0) {
          if (waits[flag] >= posts[flag].size())
            return Bad(i, "waits for flag ", flag,
                       ", which nothing before it posts");
          const int from = posts[flag][waits[flag]++];
          meet(known[i], known[from]);
          int& complete = known[i][static_cast<int>(step(from).queue())];
          complete = std::max(complete, number[from] + 1);
        }
        if (isa::GetBits(step(i).descriptor, 64 + flag, 1) != 0)
          posts[flag].push_back(i);
      }
      for (int k = 0; k < isa::kNumQueues; ++k) {
        const int d = step(i).after[k];
        if (d >= 0 && known[i][k] <= number[d])
          return Bad(i, "no flag makes it wait for %", d);
      }
    }
    for (int flag = 0; flag < isa::kFirstLinkFlag; ++flag) {
      if (waits[flag] != posts[flag].size())
        return absl::InternalError(
            absl::StrCat("flag ", flag, " is posted ", posts[flag].size(),
                         " times, and waited for ", waits[flag], " times"));
    }
    return absl::OkStatus();
  }

  const Sequence& sequence_;
};

}  // namespace

absl::Status Verify(const Sequence& sequence) {
  return SequenceVerifier(sequence).Run();
}

}  // namespace systole::compiler
