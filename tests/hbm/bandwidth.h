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

// Beats a cycle when each beat needs a row: ACT takes the row bus of a channel
// for two cycles and PRE for one, and both groups have a beat in six of them.
// tRRD_S and tFAW would allow one ACT in four cycles.
inline double RowLimit() { return 2.0 / 6; }

struct BandwidthCase {
  const char* name;
  std::array<Traffic, kReaders> reads;
  std::array<Traffic, kWriters> writes;
  double limit;     // of peak, what the table allows
  double at_least;  // of the limit, what the test asks for
};

inline std::vector<BandwidthCase> BandwidthCases() {
  const uint32_t all = 1u << kBeatBits;
  const double rows = RowLimit();
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
       rows,
       0.8},
      {"random reader (a row each)",
       {Random(3, 0, all, 10000)},
       {},
       rows,
       0.75},
      {"two random readers (a row each)",
       {Random(3, 0, all, 5000), Random(5, 0, all, 5000)},
       {},
       rows,
       0.75},
      {"random reader and random writer",
       {Random(3, 0, all, 5000)},
       {Random(4, 0, all, 5000)},
       rows,
       0.6},
  };
}

// Traffic for every limit of the table: locality, conflicts, both directions.
template <typename Model>
void Mixture(Bench<Model>* bench, uint64_t seed) {
  std::array<Traffic, kReaders> reads = {
      Linear(0, 6000), Random(seed, 0, 1u << kBeatBits, 600),
      Random(seed + 1, 0, 4096, 2000), Linear(1, 1500, 64)};
  std::array<Traffic, kWriters> writes = {
      Linear(1 << 20, 5000), Random(seed + 2, 0, 1u << kBeatBits, 800)};
  reads[1].rate = 0.05;
  reads[3].rate = 0.3;
  writes[1].rate = 0.1;
  bench->Run(reads, writes, 0.05, 200000);
}

}  // namespace systole::hbm

#endif  // SYSTOLE_TESTS_HBM_BANDWIDTH_H_
