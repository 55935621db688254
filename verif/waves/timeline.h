// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// When the layers of a program were at work, read from its waveform.

#ifndef SYSTOLE_VERIF_WAVES_TIMELINE_H_
#define SYSTOLE_VERIF_WAVES_TIMELINE_H_

#include <array>
#include <cstdint>
#include <map>

#include "systole/program.h"
#include "verif/waves/fst_file.h"

namespace systole::waves {

// Times of the waveform; from > to: never.
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

// By layer number, those that were at work. A descriptor counts from when it is
// the oldest of its queue in flight until it is complete.
std::map<int, LayerSpans> ReadTimeline(FstFile& waveform,
                                       const Program& program);

}  // namespace systole::waves

#endif  // SYSTOLE_VERIF_WAVES_TIMELINE_H_
