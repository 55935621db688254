// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Shardings as numbers and text; what the partitioner says of a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/partition/partitioner.h"
#include "tests/partition/programs.h"

namespace systole::partition {
namespace {

using testing::HasSubstr;

TEST(PartitionTest, SaysWhatIsWholeOnEveryDevice) {
  GlobalProgram program = ProgramOf(
      "module @m {\n%x = f32[8,8] parameter(), name=\"x\"\n"
      "%y = f32[8,8] hlo.reverse(%x), dimensions=[0]\nreturn %y as \"y\"\n}",
      8);
  program.inputs[0] = Sharding{{{{1, 8}}, {}}, {}};
  auto local = Partition(program);
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_THAT(local->whole,
              testing::ElementsAre(testing::Pair("hlo.reverse", 1)));
  program.inputs[0] = Sharding{{{}, {{1, 8}}}, {}};
  local = Partition(program);
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_TRUE(local->whole.empty());
}

// What is divided within the tiles is not when the whole is, along that axis.
TEST(PartitionTest, NoAxisTwice) {
  GlobalProgram program = ProgramOf(
      "module @m {\n%x = f32[8,8] parameter(), name=\"x\"\n"
      "%t = f32[8,4] hlo.custom_call(%x), target=\"SPMDFullToShardShape\"\n"
      "%n = f32[8,4] hlo.negate(%t)\n"
      "%y = f32[8,8] hlo.custom_call(%n), target=\"SPMDShardToFullShape\"\n"
      "return %y as \"y\"\n}",
      4);
  program.inputs[0] = Sharding{{{{1, 2}}, {{2, 2}}}, {}};
  const std::vector<Sharding> marks = {{{{}, {{2, 2}}}, {}},
                                       {{{}, {{1, 2}}}, {}}};
  for (const auto& node : program.module->nodes()) {
    if (node->op == ir::Op::kHloCustomCall)
      program.marks[node.get()] = marks[program.marks.size()];
  }
  const auto local = Partition(program);
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_EQ(HloText(local->outputs[0], 4),
            "{devices=[1,2,2]<=[4] last_tile_dim_replicate}");
}

// A part of the program with tiles of its own cannot have others.
TEST(PartitionTest, Errors) {
  GlobalProgram program = ProgramOf(
      "module @m {\n%x = f32[6,8] parameter(), name=\"x\"\n"
      "%y = f32[1,8] hlo.custom_call(%x), target=\"SPMDFullToShardShape\"\n"
      "return %y as \"y\"\n}",
      8);
  for (const auto& node : program.module->nodes()) {
    if (node->op == ir::Op::kHloCustomCall)
      program.marks[node.get()] = Sharding{{{{1, 4}}, {}}, {}};
  }
  EXPECT_THAT(
      Partition(program).status().message(),
      HasSubstr("f32[6,8] is not divided evenly by {devices=[4,1,2]<=[8] "
                "last_tile_dim_replicate} into f32[1,8]"));
}

TEST(ShardingTest, TilesOfDevices) {
  // The middle digit of three, then the first one.
  const Sharding sharding{{{{2, 2}, {1, 2}}, {}}, {}};
  EXPECT_EQ(HloText(sharding, 8),
            "{devices=[4,1,2]0,1,4,5,2,3,6,7 last_tile_dim_replicate}");
  EXPECT_EQ(TileStart(sharding, {8, 3}, 6, 8), (std::vector<int64_t>{6, 0}));
  EXPECT_EQ(TileShape(sharding, {8, 3}), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(HloText(Sharding{{{{1, 8}}}, {}}, 8), "{devices=[8]<=[8]}");
  EXPECT_EQ(HloText(Sharding{{{{1, 2}}}, {1, 0}}, 2), "{devices=[2]1,0}");
  EXPECT_EQ(HloText(Sharding::Replicated(2), 8), "{replicated}");
  EXPECT_EQ(HloText(Sharding{{{{1, 2}}}, {}, {{4, 2}}}, 8),
            "{devices=[2,2,2]<=[8] last_tile_dims={replicated, unreduced}}");
  // Neighbouring digits are one.
  const Sharding joined = Normalised({{{{1, 2}, {2, 2}, {4, 1}}}, {}});
  EXPECT_EQ(joined.dims[0], (Parts{{1, 4}}));
  EXPECT_EQ(CommonPrefix({{1, 8}}, {{1, 2}, {4, 2}}), (Parts{{1, 2}}));
  EXPECT_EQ(WithoutPrefix({{1, 8}}, {{1, 2}}), (Parts{{2, 4}}));
  EXPECT_TRUE(Overlap({{1, 4}}, {{2, 2}}));
  EXPECT_FALSE(Overlap({{1, 2}}, {{2, 2}}));
}

}  // namespace
}  // namespace systole::partition
