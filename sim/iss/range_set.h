// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A set of numbers, stored as disjoint ranges.
#ifndef SYSTOLE_SIM_ISS_RANGE_SET_H_
#define SYSTOLE_SIM_ISS_RANGE_SET_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

#include "sim/iss/footprint.h"

namespace systole::iss {

class RangeSet {
 public:
  void Clear() { ranges_.clear(); }

  void Add(Range r) {
    if (r.begin >= r.end) return;
    auto it = ranges_.upper_bound(r.begin);
    if (it != ranges_.begin() && std::prev(it)->second >= r.begin) --it;
    while (it != ranges_.end() && it->first <= r.end) {
      r.begin = std::min(r.begin, it->first);
      r.end = std::max(r.end, it->second);
      it = ranges_.erase(it);
    }
    ranges_.emplace_hint(it, r.begin, r.end);
  }

  // Calls hit(range) for each part of `r` that is in the set and miss(range)
  // for each part that is not, in ascending order.
  template <typename Hit, typename Miss>
  void Visit(const Range& r, Hit hit, Miss miss) const {
    uint64_t at = r.begin;
    auto it = ranges_.upper_bound(r.begin);
    if (it != ranges_.begin() && std::prev(it)->second > r.begin) --it;
    for (; at < r.end && it != ranges_.end() && it->first < r.end; ++it) {
      if (it->first > at) miss(Range{at, it->first});
      const uint64_t begin = std::max(at, it->first);
      at = std::min(r.end, it->second);
      hit(Range{begin, at});
    }
    if (at < r.end) miss(Range{at, r.end});
  }

  Ranges All() const {
    Ranges all;
    for (const auto& [begin, end] : ranges_) all.push_back({begin, end});
    return all;
  }

 private:
  std::map<uint64_t, uint64_t> ranges_;  // end by begin; never adjacent
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_RANGE_SET_H_
