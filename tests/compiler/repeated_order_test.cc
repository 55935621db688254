// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What repeats itself in a sequence still does in the program.
#include "host/compiler/passes/repeated_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/compiler/passes/dependence_analysis.h"
#include "host/compiler/schedule_builder.h"

namespace systole::compiler {
namespace {

using isa::Queue;

// Two layers of blocks: what the second loads, the first has stored, in blocks
// of another size; both take two buffers in turns.
std::vector<std::string> TwoLayers() {
  std::vector<std::string> lines;
  const auto layer = [&](int tag, int blocks, int beats, int from, int to) {
    for (int b = 0; b < blocks; ++b) {
      const int bytes = 32 * beats, at = 0x1000 * (2 * tag + b % 2);
      const auto move = [&](const char* op, int hbm) {
        lines.push_back(absl::StrCat("%", lines.size(), " = ", op, " tag=", tag,
                                     " hbm_addr=", hbm + b * bytes, " ub_addr=",
                                     at, " len=", bytes, " n1=1 n2=1"));
      };
      move("load", from);
      move("store", to);
    }
  };
  layer(0, 30, 2, 0x10000, 0x20000);
  layer(1, 20, 3, 0x20000, 0x30000);
  return lines;
}

TEST(RepeatedOrder, LayersOfBlocksAreALoopEach) {
  std::string text = "sequence on nano {\n";
  for (const std::string& line : TwoLayers())
    absl::StrAppend(&text, "  ", line, "\n");
  auto parsed = ParseSequence(text + "}\n");
  ASSERT_TRUE(parsed.ok()) << parsed.status() << text;
  Sequence& sequence = *parsed;
  FindDependences(sequence);
  const std::vector<Repeat> repeats = RepeatsOf(sequence);
  ASSERT_EQ(repeats.size(), 2u);
  EXPECT_EQ(repeats[0].period, 4u);
  EXPECT_EQ(repeats[0].passes, 15u);
  EXPECT_EQ(repeats[1].at, 60u);
  EXPECT_EQ(repeats[1].passes, 10u);
  // A load of the second layer waits for stores of the first that were not the
  // last: a flag in some of their passes and not in others.
  EXPECT_EQ(sequence.steps[60].after[static_cast<int>(Queue::kStore)], 3);
  EXPECT_TRUE(JoinDependences(repeats, sequence));
  EXPECT_EQ(sequence.steps[60].after[static_cast<int>(Queue::kStore)], 59);
  EXPECT_FALSE(JoinDependences(repeats, sequence));

  const auto length = [&](bool loops) {
    ScheduleBuilder builder(*FindPreset("nano"));
    for (const Step& step : sequence.steps)
      builder.AppendEncoded(step.descriptor);
    const auto schedule = builder.Finish(true, nullptr, loops);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    std::vector<isa::Descriptor> list = schedule->descriptors;
    size_t left = list.size();
    const std::vector<int> groups(list.size(), 0);
    for (const Repeat& r : FindRepeats(list, groups, {1000, 1000, 1000, 0}))
      left -= r.period * (r.passes - 1);
    return left;
  };
  std::printf("%d descriptors left, of 101 %d without\n",
              static_cast<int>(length(true)), static_cast<int>(length(false)));
  EXPECT_LE(length(true), 30u);
}

TEST(RepeatedOrder, PassesHaveTheKeysOfTheMiddleOne) {
  Repeat inner;
  inner.at = 3;
  inner.period = 1;
  inner.passes = 4;
  Repeat outer;
  outer.at = 2;
  outer.period = 6;
  outer.passes = 5;
  outer.inner = {inner};
  std::vector<int64_t> keys(33);
  for (int i = 0; i < 33; ++i) keys[i] = 100 * i + i * 37 % 11;
  RepeatKeys({outer}, 0, keys);
  EXPECT_EQ(keys[1], 100 + 4);
  EXPECT_EQ(keys[32], 3200 + 7);
  for (int p = 0; p < 4; ++p) {
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(keys[2 + 6 * (p + 1) + i] - keys[2 + 6 * p + i],
                keys[8] - keys[2]);
    const int at = 3 + 6 * p;
    EXPECT_EQ(keys[at + 1] - keys[at], keys[at + 3] - keys[at + 2]);
  }
}

}  // namespace
}  // namespace systole::compiler
