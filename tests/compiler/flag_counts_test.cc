// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// How far a sync flag may count: by what is posted ahead of its waits, not by
// all that is posted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "host/compiler/passes/sync_flags.h"

namespace systole::compiler {
namespace {

constexpr int kMost = static_cast<int>(isa::kFlagMax);

// `pairs` loads, and after each `ahead` further ones the matmul that comes
// after the load `ahead` before.
Sequence LoadsAhead(int pairs, int ahead) {
  std::string text = "sequence on nano {\n";
  int step = 0;
  const auto append = [&](const std::string& line) {
    absl::StrAppend(&text, "  %", step, " = ", line, "\n");
    return step++;
  };
  std::vector<int> loads;
  const auto multiply = [&](int load) {
    append("weights hbm_addr=0x100000 tiles=1");
    append(
        absl::StrCat("matmul pitch=32 lines=4 line_bytes=8 n=1 ny=4 nx=1 sy=1 "
                     "t0=1 t1=1 seg_len=8,0,0,0; after %",
                     load));
  };
  for (int i = 0; i < pairs; ++i) {
    loads.push_back(append("load hbm_addr=0x0 len=128 n1=1 n2=1"));
    if (i >= ahead) multiply(loads[i - ahead]);
  }
  for (int i = std::max(0, pairs - ahead); i < pairs; ++i) multiply(loads[i]);
  auto sequence = ParseSequence(absl::StrCat(text, "}\n"));
  EXPECT_TRUE(sequence.ok()) << sequence.status();
  return *std::move(sequence);
}

TEST(FlagCounts, AreOfWhatIsAheadOfItsWaits) {
  for (const int ahead : {0, 1, 1000}) {
    Sequence sequence = LoadsAhead(kMost + 5000, ahead);
    const auto ran = SyncFlags().Run(sequence);
    EXPECT_TRUE(ran.ok()) << ran.status();
  }
}

// A queue's last descriptors may wait while what is behind them is fetched.
TEST(FlagCounts, CountWhatAQueueMayHold) {
  const int held = 2 * static_cast<int>(FindPreset("nano")->queue_depth);
  const auto run = [](int ahead) {
    Sequence sequence = LoadsAhead(kMost + 100, ahead);
    return SyncFlags().Run(sequence).status();
  };
  EXPECT_TRUE(run(kMost - held - 1).ok()) << run(kMost - held - 1);
  EXPECT_THAT(
      run(kMost - held + 1).ToString(),
      testing::AllOf(testing::HasSubstr("may be posted more than 65535 times"),
                     testing::HasSubstr("sync flag ")));
}

}  // namespace
}  // namespace systole::compiler
