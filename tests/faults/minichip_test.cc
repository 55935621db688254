// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A sample of the fault campaign on minichip: the chip with a scalar unit, ECC
// and a crossing (docs/faults.md).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "verif/faults/campaign.h"

namespace systole::faults {
namespace {

std::array<int, 4> Turn(int flips, const char* structure) {
  const auto results = RunCampaign(
      {.preset = "minichip", .seed = 4, .flips = flips, .only = structure});
  EXPECT_TRUE(results.ok()) << results.status();
  std::array<int, 4> counts{};
  if (!results.ok()) return counts;
  for (const Flip& flip : results->flips)
    ++counts[static_cast<size_t>(flip.outcome)];
  std::printf(
      "[ figure   ] %s: %d flips, %d masked, %d corrected, %d reported, %d "
      "silent\n",
      *structure == 0 ? "all structures" : structure, flips, counts[0],
      counts[1], counts[2], counts[3]);
  return counts;
}

constexpr auto kCorrected = static_cast<size_t>(Outcome::kCorrected);
constexpr auto kReported = static_cast<size_t>(Outcome::kReported);
constexpr auto kSilent = static_cast<size_t>(Outcome::kSilent);

TEST(MinichipFaults, ASampleOfAllStructures) {
  const auto counts = Turn(132, "");
  EXPECT_GT(counts[kReported], 0);
  EXPECT_LT(counts[kSilent], 13);
}

// What has a code is corrected; nothing of it is ever silent.
TEST(MinichipFaults, MemoriesAreCorrected) {
  const auto hbm = Turn(60, "HBM");
  EXPECT_GT(hbm[kCorrected], 0);
  EXPECT_EQ(hbm[kSilent], 0);
  EXPECT_EQ(Turn(60, "SMEM")[kSilent], 0);
}

TEST(MinichipFaults, QueuesAndFlagsAreReported) {
  for (const char* structure : {"unit queues: heads", "sync flags"}) {
    const auto counts = Turn(40, structure);
    EXPECT_GT(counts[kReported], 0) << structure;
    EXPECT_EQ(counts[kSilent], 0) << structure;
  }
}

}  // namespace
}  // namespace systole::faults
