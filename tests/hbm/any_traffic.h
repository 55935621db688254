// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Traffic of a client of the HBM controller, drawn.

#ifndef SYSTOLE_TESTS_HBM_ANY_TRAFFIC_H_
#define SYSTOLE_TESTS_HBM_ANY_TRAFFIC_H_

#include <cstdint>
#include <random>

#include "tests/hbm/bandwidth.h"

namespace systole::hbm {

// A client's traffic. Beats of few rows of few banks are common, so that
// clients meet at rows, banks and beats.
inline Traffic AnyTraffic(std::mt19937_64* random, int64_t count) {
  const auto below = [&](uint64_t n) { return (*random)() % n; };
  const uint32_t all = 1u << kBeatBits;
  const auto first = static_cast<uint32_t>(
      below(3) == 0 ? below(all) : below(8) << (10 + below(3)));
  Traffic traffic;
  switch (below(5)) {
    case 0:
      traffic = Linear(first, count);
      break;
    case 1:
      traffic = Linear(first, count, 1u << below(12));
      break;
    case 2:
      traffic =
          Random((*random)(), first & ~4095u, 1u << (2 + below(11)), count);
      break;
    case 3:
      traffic = Random((*random)(), 0, all, count);
      break;
    default: {  // few banks, many rows
      const uint64_t seed = (*random)();
      const auto bank = static_cast<uint32_t>(below(kBanks));
      traffic.beat = [=](int64_t i) {
        std::mt19937 r(static_cast<uint32_t>(seed + i));
        const auto draw = [&r](uint32_t n) {
          return static_cast<uint32_t>(r()) % n;
        };
        return BeatAt({draw(2), (bank + draw(2)) % kBanks, draw(6), draw(32)});
      };
      traffic.count = count;
    }
  }
  traffic.rate = below(3) == 0 ? 0.02 + 0.01 * below(40) : 1.0;
  traffic.window = 1 << below(8);
  traffic.partial = below(3) == 0 ? 0.5 : 0;
  return traffic;
}

}  // namespace systole::hbm

#endif  // SYSTOLE_TESTS_HBM_ANY_TRAFFIC_H_
