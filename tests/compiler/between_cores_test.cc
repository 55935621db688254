// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Passes over sequences whose steps wait for other cores, or are waited for.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/compiler/passes/scheduling.h"
#include "host/compiler/passes/sync_flags.h"
#include "host/compiler/sequence.h"

namespace systole::compiler {
namespace {

using isa::Queue;

std::string Steps(const std::vector<std::string>& lines) {
  std::string text = "sequence on nano {\n";
  for (size_t i = 0; i < lines.size(); ++i)
    absl::StrAppend(&text, "  %", i, " = ", lines[i], "\n");
  return text + "}\n";
}

Sequence Parsed(const std::string& text) {
  const auto sequence = ParseSequence(text);
  EXPECT_TRUE(sequence.ok()) << sequence.status() << text;
  return sequence.ok() ? *sequence : Sequence(*FindPreset("nano"));
}

std::string Order(const Sequence& sequence) {
  std::string order;
  for (const Step& step : sequence.steps) {
    const auto* op =
        isa::FindOp(static_cast<uint8_t>(OpcodeOf(step.descriptor)));
    absl::StrAppend(&order, order.empty() ? "" : " ", std::string(op->name));
  }
  return order;
}

// In the second layer's place is a store that another core waits for, and the
// first layer waits for another core: that order stays.
TEST(Scheduling, KeepsTheOrderBetweenCores) {
  const auto steps = [](const char* wait, const char* post) {
    return Steps({"load hbm_addr=0x0 ub_addr=0x4000 len=4096 n1=1 n2=1",
                  "weights hbm_addr=0x100000 tiles=16",
                  absl::StrCat("matmul ub_base=16384 pitch=32 lines=128 "
                               "line_bytes=8 n=1 ny=128 nx=1 sy=1 t0=16 t1=1 "
                               "seg_len=8,0,0,0; after %0"),
                  absl::StrCat("requant n=1 ny=128 nx=1 dst=0 dst_pitch=32 "
                               "cols=8 raw",
                               wait, "; after %2"),
                  absl::StrCat("store hbm_addr=0x8000 ub_addr=0x6000 len=128 "
                               "n1=1 n2=1",
                               post)});
  };
  const auto order = [](const std::string& text) {
    Sequence sequence = Parsed(text);
    EXPECT_TRUE(Scheduling().Run(sequence).ok());
    EXPECT_EQ(Verify(sequence), absl::OkStatus());
    return Order(sequence);
  };
  EXPECT_EQ(order(steps("", "")), "load store weights matmul requant");
  EXPECT_EQ(order(steps(" wait=28", "")), "load store weights matmul requant");
  EXPECT_EQ(order(steps(" wait=28", " post=28")),
            "load weights matmul requant store");
}

// Flags between cores are not those of the program's own order.
TEST(SyncFlags, LeaveThoseOfOtherCores) {
  const std::string text =
      (Steps({"load hbm_addr=0x0 len=128 n1=1 n2=1 wait=20",
              absl::StrCat("store hbm_addr=0x1000 len=128 n1=1 n2=1 "
                           "post=28; after %0")}));
  Sequence sequence = Parsed(text);
  ASSERT_TRUE(SyncFlags().Run(sequence).ok());
  EXPECT_EQ(Verify(sequence), absl::OkStatus());
  EXPECT_EQ(SharedWaitsOf(sequence.steps[0].descriptor), 1u << 20);
  EXPECT_EQ(SharedPostsOf(sequence.steps[1].descriptor), 1u << 28);
  const int flag = ChannelFlag(Queue::kLoad, Queue::kStore);
  EXPECT_EQ(isa::GetBits(sequence.steps[0].descriptor, 64, 32), 1u << flag);
  EXPECT_EQ(isa::GetBits(sequence.steps[1].descriptor, 32, 32), 1u << flag);
}

}  // namespace
}  // namespace systole::compiler
