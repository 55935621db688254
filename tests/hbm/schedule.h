// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How long drawn traffic takes, against cycles that are recorded here: what
// reads and writes give way to each other changes no data, and shows in nothing
// else. Who changes the schedule on purpose records what the test prints.

#ifndef SYSTOLE_TESTS_HBM_SCHEDULE_H_
#define SYSTOLE_TESTS_HBM_SCHEDULE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tests/hbm/any_traffic.h"
#include "tests/hbm/bandwidth.h"

namespace systole::hbm {

// Cycles of each round, by pseudo-channels and ECC.
inline const std::map<std::pair<int, bool>, std::vector<int64_t>>
    kRecordedCycles = {
        {{2, false},
         {15842, 18835, 15182, 9022, 17630, 12498, 14119, 13111, 9531, 22598,
          12826, 15855}},
        {{4, false},
         {15443, 18835, 15182, 9022, 17630, 12498, 14119, 13111, 9531, 22598,
          12826, 15855}},
        {{8, false},
         {14837, 18835, 15182, 9022, 17630, 12498, 14119, 13111, 9531, 22598,
          12826, 15855}},
        {{4, true},
         {20771, 18835, 15182, 15746, 19938, 12498, 21715, 15199, 12707, 28578,
          15314, 18107}},
};

template <typename Model>
void CheckSchedule(int pcs, bool ecc) {
  std::vector<int64_t> cycles;
  for (uint64_t round = 0; round < 12; ++round) {
    Bench<Model> bench(pcs, round + 1, {}, kRefreshPostpone, ecc);
    std::mt19937_64 random(round);
    std::array<Traffic, kReaders> reads;
    std::array<Traffic, kWriters> writes;
    for (Traffic& write : writes) {
      write = AnyTraffic(&random, 300);
      if (round % 3 == 0) write.partial = 1;
      if (round % 4 != 0) write.rate = 1;
    }
    for (int i = 0; i < kReaders; ++i) {
      reads[i] = AnyTraffic(&random, 300);
      if (i < 2) reads[i].beat = writes[i].beat;  // they meet
      if (round % 4 != 0) reads[i].rate = 1;
    }
    cycles.push_back(bench.Run(reads, writes, 0, 400000).cycles);
    EXPECT_TRUE(bench.Clean()) << bench.Report();
  }
  EXPECT_THAT(cycles, testing::ElementsAreArray(kRecordedCycles.at({pcs, ecc})))
      << "of " << pcs << " pseudo-channels" << (ecc ? " with ECC" : "");
}

}  // namespace systole::hbm

#endif  // SYSTOLE_TESTS_HBM_SCHEDULE_H_
