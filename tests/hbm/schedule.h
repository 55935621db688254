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
         {14793, 17787, 14222, 8639, 16597, 12199, 13603, 13694, 8991, 21169,
          12051, 15329}},
        {{4, false},
         {14676, 17787, 14222, 8639, 16597, 12199, 13603, 13694, 8991, 21169,
          12051, 15329}},
        {{8, false},
         {14199, 17787, 14222, 8639, 16597, 12199, 13603, 13694, 8991, 21169,
          12051, 15329}},
        {{4, true},
         {19528, 17787, 14222, 15202, 18965, 12199, 20179, 15167, 12222, 27664,
          14468, 18119}},
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
