// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/waves/timeline.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace systole::waves {

std::map<int, LayerSpans> ReadTimeline(FstFile& waveform,
                                       const Program& program) {
  std::vector<const Signal*> signals;
  constexpr std::array kQueues = {"load", "weights", "mxu", "vector", "store"};
  for (const char* queue : kQueues) {
    const Signal* signal =
        waveform.Find(absl::StrCat("u_waves.", queue, "_runs"));
    if (signal != nullptr) signals.push_back(signal);
  }
  std::map<int, LayerSpans> layers;
  if (signals.size() != kQueues.size()) return layers;

  struct Running {
    uint64_t index = ~uint64_t{0}, since = 0;
  };
  std::array<Running, isa::kNumQueues> running;
  const auto end = [&](size_t queue, uint64_t time) {
    const Running& r = running[queue];
    if (r.index >= program.descriptors.size()) return;
    const int layer =
        isa::Halt::Decode(program.descriptors[r.index]).header.tag;
    layers[layer].all.Add(r.since, time);
    layers[layer].queues[queue].Add(r.since, time);
  };
  waveform.ForEachValue(signals,
                        [&](uint64_t time, size_t queue, uint64_t index) {
                          end(queue, time);
                          running[queue] = {index, time};
                        });
  for (size_t queue = 0; queue < running.size(); ++queue)
    end(queue, waveform.end());
  return layers;
}

}  // namespace systole::waves
