// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Permutations of dimensions as two moves.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/compiler/kernels/permutation_split.h"
#include "host/ir/index.h"
#include "host/ir/text.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

using ir::Ints;

// The places that a walk visits, of a tensor whose elements are `values`.
Ints Visit(const Ints& values, const Walk& walk) {
  Ints visited, index(walk.sizes.size(), 0);
  for (int64_t i = SizeOf(walk.sizes); i-- > 0;
       ir::Advance(walk.sizes, index)) {
    int64_t at = walk.offset;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * walk.strides[d];
    visited.push_back(values[at]);
  }
  return visited;
}

TEST(PermutationsTest, TwoMovesAreTheOne) {
  std::mt19937 rng(1);
  int split = 0, two = 0;
  for (int round = 0; round < 400; ++round) {
    const size_t rank = 3 + rng() % 3;
    const int64_t sizes[] = {1, 2, 3, 9, 16, 33, 64, 100};
    Ints shape;
    for (size_t d = 0; d < rank; ++d) shape.push_back(sizes[rng() % 8]);
    const int64_t elements = SizeOf(shape);
    if (elements > 200000) continue;
    const Ints strides = ir::StridesOf(shape);
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng);
    Walk walk;
    for (const int d : order) walk.Add(shape[d], strides[d]);
    const std::vector<SplitWalk> ways = SplitPermutation(walk, elements);
    if (ways.empty()) continue;
    ++split;
    two += static_cast<int>(ways.size()) - 1;
    Ints values(elements);
    std::iota(values.begin(), values.end(), 0);
    for (const SplitWalk& way : ways) {
      EXPECT_EQ(Visit(Visit(values, way.first), way.second),
                Visit(values, walk))
          << absl::StrJoin(shape, ",") << ": " << absl::StrJoin(order, ",");
    }
  }
  EXPECT_GT(split, 20);
  EXPECT_GT(two, 5);
}

TEST(PermutationsTest, WhatIsNoPermutationStays) {
  const auto split = [](Ints sizes, Ints strides, int64_t offset = 0) {
    return SplitPermutation({sizes, strides, offset}, 64 * 64 * 16).size() > 0;
  };
  EXPECT_TRUE(split({16, 64, 64}, {1, 16, 1024}));
  EXPECT_FALSE(split({64, 64, 16}, {1, 1024, 64}));  // no bijection
  EXPECT_FALSE(split({16, 64, 64}, {1, 16, 1024}, 1));
  EXPECT_TRUE(split({1024, 64}, {1, 1024}));            // of few lines
  EXPECT_FALSE(split({512, 128}, {1, 512}));            // a transpose
  EXPECT_FALSE(split({64, 64, 16}, {16, 1024, 1}));     // lines
  EXPECT_TRUE(split({64, 16, 64}, {1024, 1, 16}));      // of few lines each
  EXPECT_FALSE(split({4, 128, 128}, {16384, 1, 128}));  // transposes
  EXPECT_FALSE(split({32, 64, 64}, {1, 16, 1024}));     // overlaps
}

std::string Transpose(const std::string& type, const std::string& from,
                      const std::string& to, const std::string& permutation) {
  return absl::StrFormat(
      "module @m {\n  %%x = %1$s[%2$s] parameter(), name=\"x\"\n"
      "  %%r = %1$s[%3$s] hlo.transpose(%%x), permutation=[%4$s]\n"
      "  return %%r as \"r\"\n}\n",
      type, from, to, permutation);
}

// The weights of a convolution, as PyTorch has them, and back.
TEST(PermutationsTest, Weights) {
  for (const char* preset : {"mini", "lite", "v2"}) {
    DeviceCheck check(preset);
    for (const char* type : {"f32", "bf16", "i1"}) {
      check.Check(Transpose(type, "96,48,3,3", "3,3,48,96", "2, 3, 1, 0"), 1);
      check.Check(Transpose(type, "3,3,48,96", "96,48,3,3", "3, 2, 0, 1"), 1);
    }
  }
  // Images as the gradient of a kernel takes them: one move, or lines kept
  // whole, would need more than the unified buffer.
  DeviceCheck("lite").Check(
      Transpose("bf16", "100,14,14,24", "24,14,14,100", "3, 1, 2, 0"), 1);
  const auto module =
      ir::Parse(Transpose("bf16", "512,512,3,3", "3,3,512,512", "2, 3, 1, 0"));
  ASSERT_TRUE(module.ok()) << module.status();
  LowerModule(**module, *FindPreset("v2"));
  int moves = 0;
  for (const auto& node : (*module)->nodes())
    moves += node->op == ir::Op::kHloStrided;
  EXPECT_EQ(moves, 2) << ir::Print(**module);
}

}  // namespace
}  // namespace systole::lanes
