// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The traffic whose bandwidth docs/hbm.md lists, for the test and for the
// command that prints it.

#ifndef SYSTOLE_TESTS_HBM_BANDWIDTH_H_
#define SYSTOLE_TESTS_HBM_BANDWIDTH_H_

#include <vector>

#include "tests/hbm/bench.h"

namespace systole::hbm {

inline Traffic Linear(uint32_t first, int64_t count, uint32_t stride = 1) {
  return {[=](int64_t i) {
            return (first + static_cast<uint32_t>(i) * stride) &
                   ((1u << kBeatBits) - 1);
          },
          count};
}

inline Traffic Random(uint64_t seed, uint32_t first, uint32_t range,
                      int64_t count) {
  return {[=](int64_t i) {
            std::mt19937_64 random(seed * 1000003 + static_cast<uint64_t>(i));
            return first + static_cast<uint32_t>(random() % range);
          },
          count};
}

inline Traffic Window(Traffic traffic, int beats) {
  traffic.window = beats;
  return traffic;
}

// Beats a cycle that tFAW allows when each beat needs an ACT: four of each
// group in each window.
inline double FawLimit() { return 2.0 * 4 / Timing().tFAW; }

struct BandwidthCase {
  const char* name;
  std::array<Traffic, kReaders> reads;
  std::array<Traffic, kWriters> writes;
  double limit;     // of peak, what the table allows
  double at_least;  // of the limit, what the test asks for
};

inline std::vector<BandwidthCase> BandwidthCases() {
  const uint32_t all = 1u << kBeatBits;
  const double faw = FawLimit();
  return {
      {"one linear reader", {Linear(12345, 30000)}, {}, 1, 0.98},
      {"one linear reader, 96 beats in flight",
       {Window(Linear(99, 20000), 96)},
       {},
       1,
       0.97},
      {"one linear reader, 64 beats in flight",
       {Window(Linear(99, 20000), 64)},
       {},
       1,
       0.95},
      {"one linear reader, 48 beats in flight",
       {Window(Linear(99, 20000), 48)},
       {},
       1,
       0.9},
      {"one linear reader, 32 beats in flight",
       {Window(Linear(99, 20000), 32)},
       {},
       1,
       0.8},
      {"one linear writer", {}, {Linear(777, 20000)}, 1, 0.97},
      {"two linear readers",
       {Linear(0, 8000), Linear(70000, 8000)},
       {},
       1,
       0.9},
      {"four linear readers",
       {Linear(0, 5000), Linear(70000, 5000), Linear(140000, 5000),
        Linear(210001, 5000)},
       {},
       1,
       0.9},
      {"two linear readers and a linear writer",
       {Linear(0, 8000), Linear(70000, 8000)},
       {Linear(300000, 4000)},
       1,
       0.88},
      {"one linear reader, one linear writer",
       {Linear(0, 15000)},
       {Linear(300000, 15000)},
       1,
       0.85},
      {"four linear readers, two linear writers",
       {Linear(0, 4000), Linear(100000, 4000), Linear(200000, 4000),
        Linear(300000, 4000)},
       {Linear(500000, 4000), Linear(600000, 4000)},
       1,
       0.8},
      {"one reader, stride 2", {Linear(5, 10000, 2)}, {}, 1, 0.9},
      {"one reader, stride 4", {Linear(5, 10000, 4)}, {}, 1, 0.8},
      {"one reader, stride 8", {Linear(5, 10000, 8)}, {}, 1, 0.8},
      {"one reader, stride 16", {Linear(5, 10000, 16)}, {}, 1, 0.7},
      {"one reader, stride 64", {Linear(5, 10000, 64)}, {}, 1, 0.4},
      {"one reader, stride 1024 (a row each)",
       {Linear(5, 10000, 1024)},
       {},
       faw,
       0.8},
      {"random reader (a row each)", {Random(3, 0, all, 10000)}, {}, faw, 0.9},
      {"two random readers (a row each)",
       {Random(3, 0, all, 5000), Random(5, 0, all, 5000)},
       {},
       faw,
       0.9},
      {"random reader and random writer",
       {Random(3, 0, all, 5000)},
       {Random(4, 0, all, 5000)},
       faw,
       0.6},
  };
}

}  // namespace systole::hbm

#endif  // SYSTOLE_TESTS_HBM_BANDWIDTH_H_
