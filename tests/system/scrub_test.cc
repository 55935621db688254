// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The scrubber of a whole chip, by its registers.

#include <gtest/gtest.h>

#include "systole/gen/csr.h"
#include "verif/tb/core_port.h"

namespace systole {
namespace {

TEST(ScrubTest, RepairsAndCountsWithoutAFault) {
  auto sim = tb::Simulation::Create({"mini", /*checked=*/true});
  ASSERT_TRUE(sim.ok()) << sim.status();
  tb::CorePort port(std::move(*sim));
  const auto get = [&port](uint32_t offset) {
    return port.ReadRegister(offset).value_or(0xDEADBEEF);
  };
  constexpr int kBeats = 40, kPeriod = 60;
  for (uint64_t beat = 0; beat < kBeats; ++beat) {
    ASSERT_TRUE(
        port.Flip(beat * 32 + beat % 4 * 8, static_cast<int>(beat) % 72).ok());
  }
  constexpr uint64_t kBad = (kBeats + 1) * 32 + 16;  // nobody reads it
  ASSERT_TRUE(port.Flip(kBad, 7).ok());
  ASSERT_TRUE(port.Flip(kBad, 68).ok());
  EXPECT_EQ(get(csr::kEccCorrected), 0u);
  ASSERT_TRUE(port.WriteRegister(csr::kScrubPeriod, kPeriod).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      port.WaitInterrupt((kBeats + 3) * kPeriod + 1000)));
  EXPECT_EQ(get(csr::kEccCorrected), static_cast<uint32_t>(kBeats));
  EXPECT_EQ(get(csr::kEccFirstLo), 0u);
  EXPECT_EQ(get(csr::kEccLastLo), (kBeats - 1) * 32u + (kBeats - 1) % 4 * 8);
  EXPECT_EQ(get(csr::kEccUncorrected), 1u);
  EXPECT_EQ(get(csr::kEccBadLo), kBad);
  EXPECT_EQ(get(csr::kStatus) & csr::kStatusFault, 0u);
  // They are right now: nothing is found when the host reads them.
  ASSERT_TRUE(port.WriteRegister(csr::kEccCtrl, csr::kEccCtrlClear).ok());
  std::vector<uint8_t> bytes(kBeats * 32);
  ASSERT_TRUE(port.ReadMemory(0, absl::MakeSpan(bytes)).ok());
  EXPECT_EQ(get(csr::kEccCorrected), 0u);
  EXPECT_TRUE(port.CheckMemory().ok());
}

}  // namespace
}  // namespace systole
