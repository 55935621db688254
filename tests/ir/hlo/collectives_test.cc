// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations of several devices in the golden model: values by hand from
// StableHLO's specification, and the order of sums.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/ir/hlo/process_groups.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::ir {
namespace {

constexpr char kAdd[] =
    "{ %p = f32[] parameter()\n %q = f32[] parameter()\n"
    "%r = f32[] hlo.add(%p, %q)\n return %r }";

std::unique_ptr<Module> ModuleOf(const std::string& statements,
                                 const std::string& results = "%y as \"y\"") {
  const std::string text = absl::StrCat(
      "module @m {\n", absl::StrReplaceAll(statements, {{"ADD", kAdd}}),
      "\nreturn ", results, "\n}\n");
  absl::StatusOr<std::unique_ptr<Module>> module = Parse(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  if (!module.ok()) return nullptr;
  EXPECT_EQ(Verify(**module), absl::OkStatus()) << text;
  return *std::move(module);
}

Literal Floats(std::vector<float> values) { return Literal(std::move(values)); }

// The golden model's outputs, each as floats, process by process.
std::vector<std::vector<float>> Golden(const Module& module, ProcessGrid grid,
                                       const std::vector<Literals>& inputs) {
  const auto outputs =
      golden::RunHlo(module, grid.replicas, grid.partitions, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<std::vector<float>> values;
  if (!outputs.ok()) return values;
  for (const Literals& own : *outputs) values.push_back(own[0].values<float>());
  return values;
}

using Values = std::vector<std::vector<float>>;

TEST(GoldenTest, GroupsOfTheSpecification) {
  const std::vector<Literals> inputs = {
      {Floats({1})}, {Floats({10})}, {Floats({100})}, {Floats({1000})}};
  const auto sums = [&](ProcessGrid grid, const std::string& attributes) {
    const auto module = ModuleOf(
        "%x = f32[1] parameter(), name=\"x\"\n"
        "%y = f32[1] hlo.all_reduce(%x), " +
        attributes + " ADD");
    return Golden(*module, grid, inputs);
  };
  // Processes by replica: {0, 1}, {2, 3}.
  EXPECT_EQ(sums({2, 2}, "replica_groups=[0, 1], group_size=2"),
            (Values{{101}, {1010}, {101}, {1010}}));
  EXPECT_EQ(sums({2, 2}, "replica_groups=[0, 1], group_size=2, channel=1"),
            (Values{{1111}, {1111}, {1111}, {1111}}));
  EXPECT_EQ(sums({2, 2}, "replica_groups=[0, 1], group_size=1, channel=1"),
            (Values{{11}, {11}, {1100}, {1100}}));
  EXPECT_EQ(sums({2, 2},
                 "replica_groups=[0, 3, 2, 1], group_size=2, channel=1, "
                 "use_global_device_ids=true"),
            (Values{{1001}, {110}, {110}, {1001}}));
  // A group of one, padded; no groups: all together.
  EXPECT_EQ(sums({4, 1}, "replica_groups=[0, 1, 2, 3, -1, -1], group_size=3"),
            (Values{{111}, {111}, {111}, {1000}}));
  EXPECT_EQ(sums({4, 1}, "group_size=1"),
            (Values{{1111}, {1111}, {1111}, {1111}}));
}

TEST(GoldenTest, ExchangesOfTheSpecification) {
  const auto run = [&](const std::string& node, ProcessGrid grid = {2, 1}) {
    const auto module =
        ModuleOf("%x = f32[2,4] parameter(), name=\"x\"\n%y = " + node);
    return Golden(*module, grid,
                  {{Floats({1, 2, 3, 4, 5, 6, 7, 8})},
                   {Floats({9, 10, 11, 12, 13, 14, 15, 16})}});
  };
  const std::string both = "replica_groups=[0, 1], group_size=2";
  EXPECT_EQ(
      run("f32[4,2] hlo.all_to_all(%x), dimension=1, concat_dimension=0, " +
          both),
      (Values{{1, 2, 5, 6, 9, 10, 13, 14}, {3, 4, 7, 8, 11, 12, 15, 16}}));
  EXPECT_EQ(
      run("f32[4,2] hlo.all_to_all(%x), dimension=1, concat_dimension=0, "
          "replica_groups=[1, 0], group_size=2"),
      (Values{{11, 12, 15, 16, 3, 4, 7, 8}, {9, 10, 13, 14, 1, 2, 5, 6}}));
  EXPECT_EQ(run("f32[2,8] hlo.all_gather(%x), dimension=1, " + both)[1],
            (std::vector<float>{1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8, 13, 14,
                                15, 16}));
  EXPECT_EQ(
      run("f32[2,2] hlo.reduce_scatter(%x), dimension=1, " + both + " ADD"),
      (Values{{10, 12, 18, 20}, {14, 16, 22, 24}}));
  EXPECT_EQ(run("f32[2,4] hlo.collective_broadcast(%x), "
                "replica_groups=[1, 0], group_size=2")[0][0],
            9);
  EXPECT_EQ(run("f32[2,4] hlo.collective_permute(%x), replica_groups=[0, 1], "
                "group_size=2"),
            (Values{{0, 0, 0, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 5, 6, 7, 8}}));
  EXPECT_EQ(run("f32[2,4] hlo.collective_permute(%x), channel=1, "
                "replica_groups=[0, 1, 1, 0], group_size=2",
                {1, 2})[0][0],
            9);
}

// Sums of 2^24 and ones tell the order: two ones count only if they meet first.
TEST(GoldenTest, TheOrderOfSums) {
  const auto module = ModuleOf(
      "%x = f32[600] parameter(), name=\"x\"\n"
      "%y = f32[600] hlo.all_reduce(%x), group_size=1 ADD");
  const float big = 1 << 24;
  // Elements 0, 511, which are of the first half, and 512.
  const auto sum = [&](std::vector<float> values) {
    std::vector<Literals> inputs;
    for (const float v : values)
      inputs.push_back({Floats(std::vector<float>(600, v))});
    const std::vector<float> all =
        Golden(*module, {static_cast<int>(values.size()), 1}, inputs)[0];
    return std::vector<float>{all[0], all[511], all[512]};
  };
  // Upwards (the first half): ((0 1) (2 3)) ((4 5) (6 7)); the second:
  // ((0 1) (4 5)) ((2 3) (6 7)).
  EXPECT_EQ(sum({big, 0, 1, 0, 0, 0, 1, 0}),
            (std::vector<float>{big, big, big + 2}));
  EXPECT_EQ(sum({0, 0, big, 0, 1, 0, 1, 0}),
            (std::vector<float>{big + 2, big + 2, big}));
  // Of five: ((0 1) (2 3)) 4; ((0 1) 4) (2 3).
  EXPECT_EQ(sum({0, 1, big, 0, 1}), (std::vector<float>{big, big, big + 2}));
  EXPECT_EQ(sum({1, 1, big, 0, 0}),
            (std::vector<float>{big + 2, big + 2, big + 2}));
}

}  // namespace
}  // namespace systole::ir
