// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A training network as the golden model describes it.
#ifndef HOST_TOOLS_GOLDEN_NETWORK_H_
#define HOST_TOOLS_GOLDEN_NETWORK_H_

#include <vector>

#include "host/training/train_network.h"
#include "verif/golden/training.h"

namespace systole::tools {

inline golden::TrainingPool GoldenPool(const training::Pool& pool) {
  using Kind = golden::TrainingPool::Kind;
  if (pool.kind == training::PoolKind::kNone) return {};
  const training::PoolWindow& w = pool.window;
  return {pool.kind == training::PoolKind::kMax ? Kind::kMax : Kind::kAverage,
          static_cast<int>(w.h),
          static_cast<int>(w.w),
          static_cast<int>(w.stride_y),
          static_cast<int>(w.stride_x),
          w.padding == training::Padding::kSame};
}

inline golden::TrainingNetwork GoldenNetwork(
    const std::vector<training::Layer>& layers) {
  golden::TrainingNetwork network;
  network.height = static_cast<int>(layers[0].h);
  network.width = static_cast<int>(layers[0].w);
  network.channels = static_cast<int>(layers[0].ci);
  for (const training::Layer& l : layers) {
    network.layers.push_back(
        {l.dense ? 0 : static_cast<int>(l.kh), static_cast<int>(l.stride),
         static_cast<int>(l.co), GoldenPool(l.pool), l.from, l.plus});
  }
  return network;
}

}  // namespace systole::tools

#endif  // HOST_TOOLS_GOLDEN_NETWORK_H_
