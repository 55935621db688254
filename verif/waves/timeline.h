// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Activity of a program's layers over time, read from its waveform.

#ifndef SYSTOLE_VERIF_WAVES_TIMELINE_H_
#define SYSTOLE_VERIF_WAVES_TIMELINE_H_

#include <array>
#include <cstdint>
#include <map>

#include "systole/program.h"
#include "verif/waves/fst_file.h"

namespace systole::waves {

// An interval of times of the waveform; from > to: empty.
struct Span {
  uint64_t from = ~uint64_t{0}, to = 0;
  void Add(uint64_t a, uint64_t b) {
    from = a < from ? a : from;
    to = b > to ? b : to;
  }
};

struct LayerSpans {
  Span all;
  std::array<Span, isa::kNumQueues> queues;
};

// The layers that were active, by number. A descriptor is active from the time
// it is the oldest one in flight of its queue until it completes.
std::map<int, LayerSpans> ReadTimeline(FstFile& waveform,
                                       const Program& program);

}  // namespace systole::waves

#endif  // SYSTOLE_VERIF_WAVES_TIMELINE_H_
