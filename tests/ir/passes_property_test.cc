// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random modules compute the same, to the bit, before and after each pass, by
// the golden interpreter.
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "host/ir/pass.h"
#include "host/ir/passes/clamp_fusion.h"
#include "host/ir/passes/constant_folding.h"
#include "host/ir/passes/maximum_expansion.h"
#include "host/ir/passes/pad_folding.h"
#include "host/ir/passes/residual_ordering.h"
#include "host/ir/passes/simplification.h"
#include "host/ir/passes/zero_point_folding.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "tests/ir/random_module.h"
#include "verif/golden/interpreter.h"

namespace systole::ir {
namespace {

constexpr int kModules = 1500;

std::vector<Literal> Outputs(const Module& module, uint64_t seed) {
  auto outputs = golden::RunModule(module, RandomInputs(module, seed));
  EXPECT_TRUE(outputs.ok()) << outputs.status() << "\n" << Print(module);
  return outputs.ok() ? *std::move(outputs) : std::vector<Literal>();
}

TEST(PassesPropertyTest, EachPassKeepsTheResults) {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<ConstantFolding>());
  passes.push_back(std::make_unique<Simplification>());
  passes.push_back(std::make_unique<ClampFusion>());
  passes.push_back(std::make_unique<MaximumExpansion>());
  passes.push_back(std::make_unique<PadFolding>());
  passes.push_back(std::make_unique<ZeroPointFolding>());
  std::map<std::string, int> changes;
  for (uint64_t seed = 0; seed < kModules; ++seed) {
    SCOPED_TRACE(seed);
    const auto module = RandomModule(seed);
    ASSERT_EQ(Verify(*module), absl::OkStatus());
    const std::vector<Literal> expected = Outputs(*module, seed);
    for (const auto& pass : passes) {
      const auto copy = module->Clone();
      const absl::StatusOr<bool> changed = pass->Run(*copy);
      ASSERT_TRUE(changed.ok()) << changed.status();
      ASSERT_EQ(*changed, !Equal(*module, *copy)) << pass->name();
      ASSERT_EQ(Verify(*copy), absl::OkStatus()) << pass->name();
      EXPECT_EQ(Outputs(*copy, seed), expected) << pass->name() << "\n"
                                                << Print(*module) << "becomes\n"
                                                << Print(*copy);
      changes[pass->name()] += *changed;
    }
  }
  for (const auto& pass : passes) {
    EXPECT_GE(changes[pass->name()], 10)
        << pass->name() << " has hardly been used";
  }
}

// Random modules hardly ever add two convolutions.
TEST(PassesPropertyTest, ResidualOrderingKeepsTheResults) {
  int changed = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const int heavy = 1 + static_cast<int>(seed % 4), light = 1 + seed / 4 % 4;
    std::string text =
        "module @m {\n  %x = i8[1,5,5,3]{scale=0.5, zero=7} parameter()\n";
    for (const auto& [name, kernel] :
         {std::pair{"a", heavy}, std::pair{"b", light}}) {
      absl::StrAppend(&text, "  %w", name, " = i8[4,", kernel, ",", kernel,
                      ",3]{scale=0.1} constant(), data=x\"");
      for (int i = 0; i < 12 * kernel * kernel; ++i) {
        absl::StrAppend(&text,
                        absl::Hex((i * 37 + seed) & 0xFF, absl::kZeroPad2));
      }
      absl::StrAppend(
          &text, "\"\n  %", name, " = i8[1,5,5,4]{scale=2} conv2d(%x, %w", name,
          "), padding=[", kernel - 1, ", ", kernel - 1, ", 0, 0]\n");
    }
    absl::StrAppend(&text, "  %y = i8[1,5,5,4]{scale=3} add(",
                    seed % 2 ? "%a, %b" : "%b, %a",
                    ")\n  return %y as \"y\"\n}\n");
    const auto module = Parse(text);
    ASSERT_TRUE(module.ok()) << module.status() << text;
    ASSERT_EQ(Verify(**module), absl::OkStatus());
    const std::vector<Literal> expected = Outputs(**module, seed);
    const absl::StatusOr<bool> moved = ResidualOrdering().Run(**module);
    ASSERT_TRUE(moved.ok());
    EXPECT_EQ(*moved, light < heavy);
    changed += *moved;
    ASSERT_EQ(Verify(**module), absl::OkStatus());
    EXPECT_EQ(Outputs(**module, seed), expected);
  }
  EXPECT_GE(changed, 10);
}

TEST(PassesPropertyTest, StandardPassesKeepTheResultsAndSettle) {
  for (uint64_t seed = 0; seed < kModules; ++seed) {
    SCOPED_TRACE(seed);
    const auto module = RandomModule(seed);
    const std::vector<Literal> expected = Outputs(*module, seed);
    ASSERT_EQ(StandardPasses().Run(*module), absl::OkStatus());
    EXPECT_EQ(Outputs(*module, seed), expected) << Print(*module);
    const auto once = module->Clone();
    ASSERT_EQ(StandardPasses().Run(*module), absl::OkStatus());
    EXPECT_TRUE(Equal(*once, *module)) << Print(*once) << Print(*module);
  }
}

TEST(RandomModuleTest, TextReadsBackAndEveryOperatorOccurs) {
  std::map<Op, int> seen;
  for (uint64_t seed = 0; seed < kModules; ++seed) {
    const auto module = RandomModule(seed);
    for (const auto& node : module->nodes()) ++seen[node->op];
    const auto parsed = Parse(Print(*module));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_TRUE(Equal(*module, **parsed));
  }
  for (const OpInfo& info : AllOps()) {
    if (!DrawsOp(info.op)) continue;
    EXPECT_GE(seen[info.op], 20) << info.name;
  }
}

// The comparison above sees a change of one attribute.
TEST(RandomModuleTest, AWrongPassWouldBeSeen) {
  int different = 0, tried = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto module = RandomModule(seed);
    const std::vector<Literal> expected = Outputs(*module, seed);
    for (const auto& node : module->nodes()) {
      if (node->op != Op::kConv2D) continue;
      node->attr<ConvAttributes>().clamp = {0, 1};
      ++tried;
      different += Outputs(*module, seed) != expected;
      break;
    }
  }
  EXPECT_GT(tried, 30);
  EXPECT_GT(different, tried / 2);
}

}  // namespace
}  // namespace systole::ir
