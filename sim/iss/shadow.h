// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// History of accesses: for each byte (or accumulator row) of a space, the last
// writer and the last reader of each queue since then. It is a map of ranges
// with the same history.
#ifndef SYSTOLE_SIM_ISS_SHADOW_H_
#define SYSTOLE_SIM_ISS_SHADOW_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

#include "absl/container/inlined_vector.h"
#include "sim/iss/footprint.h"
#include "systole/gen/isa.h"

namespace systole::iss {

// An access by a descriptor: the `number`-th of its queue, from 1; 0 means
// none.
struct Access {
  uint16_t queue = 0;  // of the device: RaceChecker::OfDevice
  uint32_t number = 0;
  uint32_t index = 0;  // in the program
  bool operator==(const Access& o) const {
    return number == o.number && queue == o.queue;
  }
};

class Shadow {
 public:
  // readers: queues that read; others only write.
  explicit Shadow(int readers) : readers_(readers) {}

  // Read and Write visit the history of the range, then record the access. A
  // read conflicts with the last writer: conflict(range, writer). fresh(range)
  // is called where nobody has written.
  template <typename Conflict, typename Fresh>
  void Read(const Range& range, const Access& access, Conflict conflict,
            Fresh fresh) {
    Split(range.begin);
    Split(range.end);
    uint64_t at = range.begin;
    auto it = segments_.lower_bound(range.begin);
    while (at < range.end) {
      if (it == segments_.end() || it->first > at) {
        const uint64_t end =
            it == segments_.end() ? range.end : std::min(range.end, it->first);
        fresh(Range{at, end});
        History h(readers_);
        h.readers[access.queue] = access;
        it = segments_.insert(it, {at, Segment{end, h}});
      } else {
        History& h = it->second.history;
        if (h.writer.number != 0) {
          conflict(Range{at, it->second.end}, h.writer);
        } else {
          fresh(Range{at, it->second.end});
        }
        h.readers[access.queue] = access;
      }
      at = it->second.end;
      ++it;
    }
    Join(range);
  }

  // A write conflicts with the last writer and with readers: conflict(range,
  // earlier access, whether that was a write).
  template <typename Conflict>
  void Write(const Range& range, const Access& access, Conflict conflict) {
    Split(range.begin);
    Split(range.end);
    auto it = segments_.lower_bound(range.begin);
    while (it != segments_.end() && it->first < range.end) {
      const Range piece = {it->first, it->second.end};
      if (it->second.history.writer.number != 0)
        conflict(piece, it->second.history.writer, true);
      for (const Access& reader : it->second.history.readers) {
        if (reader.number != 0) conflict(piece, reader, false);
      }
      it = segments_.erase(it);
    }
    History h(readers_);
    h.writer = access;
    segments_.insert(it, {range.begin, Segment{range.end, h}});
  }

 private:
  struct History {
    explicit History(int count) : readers(count) {}
    Access writer;
    absl::InlinedVector<Access, 2 * isa::kNumQueues> readers;
    bool operator==(const History& o) const {
      return writer == o.writer && readers == o.readers;
    }
  };
  struct Segment {
    uint64_t end;
    History history;
  };

  // Splits the segment that contains `at`, so that `at` starts a segment.
  void Split(uint64_t at) {
    auto it = segments_.upper_bound(at);
    if (it == segments_.begin()) return;
    --it;
    if (it->first == at || it->second.end <= at) return;
    const Segment right = it->second;
    it->second.end = at;
    segments_.insert(std::next(it), {at, right});
  }

  // Joins neighbouring segments in and around the range that have become equal.
  void Join(const Range& range) {
    auto it = segments_.lower_bound(range.begin);
    if (it != segments_.begin()) --it;
    while (it != segments_.end() && it->first < range.end) {
      const auto next = std::next(it);
      if (next == segments_.end()) return;
      if (it->second.end == next->first &&
          it->second.history == next->second.history) {
        it->second.end = next->second.end;
        segments_.erase(next);
      } else {
        it = next;
      }
    }
  }

  int readers_;
  std::map<uint64_t, Segment> segments_;  // by first byte
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_SHADOW_H_
