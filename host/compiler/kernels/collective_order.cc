// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/collective_order.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace systole::lanes {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int kNone = -1;

class Turns {
 public:
  Turns(const std::vector<int64_t>& cycles,
        const std::vector<OrderedCollective>& collectives)
      : cycles_(cycles), collectives_(collectives) {
    order_.kernels.resize(cycles.size());
    order_.starts.assign(collectives.size(), kNever);
  }

  CollectiveOrder Run() {
    int64_t now = 0;
    for (size_t k = 0; k < cycles_.size(); ++k) {
      done_kernels_ = static_cast<int>(k);
      if (k > 0 && cycles_[k] == 0) {
        order_.kernels[k] = order_.kernels[k - 1];
        ends_.push_back(now);
        continue;
      }
      const int next = NextAfter(k);
      Fill(now, HasTime(k) && IsAwaited(next, now) ? next : kNone);
      for (size_t c = 0; c < collectives_.size(); ++c) {
        if (collectives_[c].before > next) continue;
        now = std::max(now, Take(c));
      }
      order_.kernels[k] = now;
      now += cycles_[k];
      ends_.push_back(now);
    }
    done_kernels_ = static_cast<int>(cycles_.size());
    Fill(kNever, kNone);
    return std::move(order_);
  }

 private:
  // The last kernel that starts with kernel k.
  int NextAfter(size_t k) const {
    while (k + 1 < cycles_.size() && cycles_[k + 1] == 0) ++k;
    return static_cast<int>(k);
  }
  bool IsDone(size_t c) const { return order_.starts[c] != kNever; }
  // kNever: not yet known.
  int64_t ReadyAt(size_t c) const {
    const OrderedCollective& collective = collectives_[c];
    if (collective.after >= done_kernels_) return kNever;
    int64_t at = collective.after < 0 ? 0 : ends_[collective.after];
    for (const int needed : collective.needs) {
      if (!IsDone(needed)) return kNever;
      at = std::max(at, order_.starts[needed] + collectives_[needed].cycles);
    }
    return at;
  }
  // Whether a kernel needs one that is ready no sooner.
  bool IsAwaited(int kernel, int64_t now) const {
    for (size_t c = 0; c < collectives_.size(); ++c) {
      if (!IsDone(c) && collectives_[c].before <= kernel && ReadyAt(c) == now)
        return true;
    }
    return false;
  }
  // Whether the links may pause: the kernels that are left take longer than the
  // collectives.
  bool HasTime(size_t kernel) const {
    int64_t left = 0;
    for (size_t k = kernel; k < cycles_.size(); ++k) left += cycles_[k];
    for (size_t c = 0; c < collectives_.size(); ++c)
      left -= IsDone(c) ? 0 : collectives_[c].cycles;
    return left >= 0;
  }
  // Those that a kernel needs now, and what they need. Returns the end.
  int64_t Take(size_t c) {
    if (IsDone(c)) return order_.starts[c] + collectives_[c].cycles;
    for (const int needed : collectives_[c].needs) Take(needed);
    const int64_t ready = ReadyAt(c);
    Start(c, std::max(free_, ready == kNever ? free_ : ready));
    return free_;
  }
  void Start(size_t c, int64_t at) {
    order_.starts[c] = at;
    order_.order.push_back(static_cast<int>(c));
    free_ = at + collectives_[c].cycles;
  }
  // Those that can start until then, and also end, but for those that the
  // kernel `awaited` needs.
  void Fill(int64_t until, int awaited) {
    while (true) {
      using Key = std::tuple<int64_t, int, size_t>;
      Key best{kNever, 0, 0};
      for (size_t c = 0; c < collectives_.size(); ++c) {
        if (IsDone(c)) continue;
        const int64_t ready = ReadyAt(c);
        if (ready == kNever) continue;
        if (awaited != kNone && collectives_[c].before > awaited &&
            std::max(ready, free_) + collectives_[c].cycles > until)
          continue;
        best = std::min(best,
                        Key{std::max(ready, free_), collectives_[c].before, c});
      }
      const int64_t start = std::get<0>(best);
      if (start == kNever || start >= until) return;
      Start(std::get<2>(best), start);
    }
  }

  const std::vector<int64_t>& cycles_;
  const std::vector<OrderedCollective>& collectives_;
  CollectiveOrder order_;
  std::vector<int64_t> ends_;  // of kernels
  int done_kernels_ = 0;
  int64_t free_ = 0;  // when the links are
};

}  // namespace

CollectiveOrder OrderCollectives(
    const std::vector<int64_t>& cycles,
    const std::vector<OrderedCollective>& collectives) {
  return Turns(cycles, collectives).Run();
}

std::vector<std::vector<int>> TurnsOf(const CollectiveOrder& order,
                                      const std::vector<int>& of) {
  std::vector<std::vector<int>> turns;
  for (const int next : order.order) {
    if (turns.empty() || of[turns.back().back()] != of[next])
      turns.emplace_back();
    turns.back().push_back(next);
  }
  return turns;
}

}  // namespace systole::lanes
