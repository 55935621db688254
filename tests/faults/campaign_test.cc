// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A sample of the fault campaign (docs/faults.md) on nano, and the campaign
// itself: what it turns has an effect, what it says is so.

#include "verif/faults/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "verif/faults/state.h"

namespace systole::faults {
namespace {

using ::testing::HasSubstr;

// By outcome.
std::array<int, 4> Count(const Results& results) {
  std::array<int, 4> counts{};
  for (const Flip& flip : results.flips)
    ++counts[static_cast<size_t>(flip.outcome)];
  return counts;
}

int Of(const std::array<int, 4>& counts, Outcome outcome) {
  return counts[static_cast<size_t>(outcome)];
}

TEST(FaultsTest, ASampleOfAllStructures) {
  const auto results = RunCampaign({.preset = "nano", .seed = 1, .flips = 150});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->flips.size(), 150u);
  EXPECT_GT(results->cycles, 500u);
  const auto counts = Count(*results);
  std::printf("[ figure   ] 150 flips: %d masked, %d reported, %d silent\n",
              Of(counts, Outcome::kMasked), Of(counts, Outcome::kReported),
              Of(counts, Outcome::kSilent));
  EXPECT_GT(Of(counts, Outcome::kMasked), 0);
  EXPECT_GT(Of(counts, Outcome::kReported), 0);
  EXPECT_GT(Of(counts, Outcome::kSilent), 0);
  EXPECT_EQ(Of(counts, Outcome::kCorrected), 0) << "nano has no ECC";
  // The same seed gives the same.
  const auto again = RunCampaign({.preset = "nano", .seed = 1, .flips = 20});
  ASSERT_TRUE(again.ok()) << again.status();
  const auto twice = RunCampaign({.preset = "nano", .seed = 1, .flips = 20});
  ASSERT_TRUE(twice.ok()) << twice.status();
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(again->flips[i].bit, twice->flips[i].bit);
    EXPECT_EQ(again->flips[i].outcome, twice->flips[i].outcome);
  }
}

// What a copy with many bits says is what copies with one bit each say.
TEST(FaultsTest, GroupsSayWhatSingleBitsSay) {
  const auto single =
      RunCampaign({.preset = "nano", .seed = 11, .flips = 200, .group = 1});
  ASSERT_TRUE(single.ok()) << single.status();
  const auto grouped =
      RunCampaign({.preset = "nano", .seed = 11, .flips = 200, .group = 12});
  ASSERT_TRUE(grouped.ok()) << grouped.status();
  ASSERT_EQ(single->flips.size(), grouped->flips.size());
  for (size_t i = 0; i < single->flips.size(); ++i) {
    EXPECT_EQ(single->flips[i].bit, grouped->flips[i].bit);
    EXPECT_EQ(single->flips[i].outcome, grouped->flips[i].outcome)
        << single->flips[i].structure << ": " << single->flips[i].bit
        << ", cycle " << single->flips[i].cycle;
    EXPECT_EQ(single->flips[i].detail, grouped->flips[i].detail);
  }
  EXPECT_EQ(single->copies, 200u);
  EXPECT_LT(grouped->copies, 150u);
  EXPECT_GT(grouped->early, 20u);
  std::printf("[ figure   ] 200 flips: %d runs, %d of them ended early\n",
              static_cast<int>(grouped->copies),
              static_cast<int>(grouped->early));
}

// What has parity is never silently wrong, and says so.
TEST(FaultsTest, ParityReports) {
  int parity = 0;
  for (const char* structure :
       {"unit queues: heads", "unit queues: descriptors",
        "unit queues: posts in flight", "sync flags"}) {
    const auto results = RunCampaign(
        {.preset = "nano", .seed = 3, .flips = 40, .only = structure});
    ASSERT_TRUE(results.ok()) << results.status();
    for (const Flip& flip : results->flips) {
      parity += flip.detail == "parity";
      EXPECT_EQ(flip.structure, structure);
    }
    EXPECT_LE(Of(Count(*results), Outcome::kSilent), 1) << structure;
  }
  EXPECT_GT(parity, 10);
}

// A wrong bit in the memory of a chip without ECC is wrong in the results.
TEST(FaultsTest, MemoryWithoutEccIsSilent) {
  const auto results =
      RunCampaign({.preset = "nano", .seed = 2, .flips = 30, .only = "HBM"});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_GT(Of(Count(*results), Outcome::kSilent), 0);
}

TEST(FaultsTest, RefusesWhatItDoesNotKnow) {
  auto results = RunCampaign({.preset = "edge"});
  EXPECT_TRUE(absl::IsInvalidArgument(results.status())) << results.status();
  results = RunCampaign({.preset = "nano", .only = "flux capacitor"});
  EXPECT_TRUE(absl::IsInvalidArgument(results.status())) << results.status();
  EXPECT_THAT(results.status().message(), HasSubstr("sync flags"));
}

}  // namespace
}  // namespace systole::faults
