// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Shapes that are neither lines of whole beats nor many lines: groups of
// neighbouring features, odd matrices, few lines, contractions out of order.
// Results against the host, and expected cycles against what the memory and the
// array need.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/ir/text.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

class ShapesTest : public testing::TestWithParam<const char*> {
 protected:
  ShapesTest() : check_(GetParam()) {}

  static const Preset& Core() { return *FindPreset(GetParam()); }
  void Check(const std::string& body) {
    check_.Check("module @m {\n" + body + "}\n", ++seed_);
  }
  // Expected cycles of the kernels.
  static int64_t Cycles(const std::string& body) {
    const auto module = ir::Parse("module @m {\n" + body + "}\n");
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return 0;
    LowerModule(**module, Core());
    int64_t cycles = 0;
    for (const PlanStep& step : PlanFor(**module, Core()).steps) {
      EXPECT_TRUE(step.kernel) << step.node->name;
      if (step.kernel) cycles += step.kernel->expected_cycles;
    }
    return cycles;
  }
  // To move so many bytes.
  static int64_t Beats(int64_t bytes) { return bytes / Core().beat_bytes(); }

  DeviceCheck check_;
  uint64_t seed_ = 0;
};

std::string Reduce(const std::string& type, const std::string& op,
                   const std::string& from, const std::string& to,
                   const std::string& dimensions) {
  return absl::StrFormat(
      "%%x = %1$s[%2$s] parameter(), name=\"x\"\n"
      "%%i = %1$s[] parameter(), name=\"i\"\n"
      "%%r = %1$s[%3$s] hlo.reduce(%%x, %%i), dimensions=[%4$s] {\n"
      "%%a = %1$s[] parameter()\n%%b = %1$s[] parameter()\n"
      "%%c = %1$s[] hlo.%5$s(%%a, %%b)\nreturn %%c\n}\n"
      "return %%r as \"r\"\n",
      type, from, to, dimensions, op);
}

// Sections that lie in the second reduced dimension, that have all of it, that
// do neither; few elements; a count that is no power of two.
TEST_P(ShapesTest, ReductionsOfGroups) {
  const struct {
    const char *from, *to, *dimensions;
  } cases[] = {
      {"2,8,8,4,8", "2,4", "1, 2, 4"}, {"3,5,1024", "5", "0, 2"},
      {"3,5,1000", "5", "0, 2"},       {"2,15,15,4,16", "2,4", "1, 2, 4"},
      {"2,7,7,4,6", "2,4", "1, 2, 4"}, {"9,6,8", "6", "0, 2"},
      {"3,50,5,4", "3,5", "1, 3"},     {"2,3,5,7,4", "3,7", "0, 2, 4"},
      {"10,3,7", "3", "0, 2"},         {"10,64,25", "64", "0, 2"},
      {"1,31,3,32", "3", "0, 1, 3"},   {"40,3,48", "3", "0, 2"}};
  for (const auto& c : cases) {
    Check(Reduce("f32", "add", c.from, c.to, c.dimensions));
    Check(Reduce("bf16", "maximum", c.from, c.to, c.dimensions));
    Check(Reduce("i32", "xor", c.from, c.to, c.dimensions));
  }
}

// Elements are read where they are.
TEST_P(ShapesTest, ReductionsOfGroupsMoveNothing) {
  const int64_t bytes = 4 * 4 * 1024 * 64;
  EXPECT_LT(Cycles(Reduce("f32", "add", "4,32,32,8,8", "4,8", "1, 2, 4")),
            5 * Beats(bytes));
}

std::string Subtract(const std::string& whole, const std::string& part,
                     const std::string& dimensions) {
  return absl::StrFormat(
      "%%x = f32[%1$s] parameter(), name=\"x\"\n"
      "%%m = f32[%2$s] parameter(), name=\"m\"\n"
      "%%b = f32[%1$s] hlo.broadcast_in_dim(%%m), dimensions=[%3$s]\n"
      "%%r = f32[%1$s] hlo.subtract(%%x, %%b)\nreturn %%r as \"r\"\n",
      whole, part, dimensions);
}

TEST_P(ShapesTest, BroadcastsToGroups) {
  Check(Subtract("2,6,6,8,8", "2,8", "0, 3"));
  Check(Subtract("2,6,6,8,4", "2,1,1,8,1", "0, 1, 2, 3, 4"));
  Check(Subtract("5,3,2,4", "3,1", "1, 3"));
  Check(Subtract("7,3,5", "3", "1"));
  Check(Subtract("7,3,500", "3", "1"));
  Check(Subtract("6,4,3,1", "4", "1"));
  EXPECT_LT(Cycles(Subtract("4,32,32,8,8", "4,8", "0, 3")),
            5 * Beats(2 * 4 * 4 * 1024 * 64));
}

std::string Transpose(const std::string& type, const std::string& from,
                      const std::string& to, const std::string& permutation) {
  return absl::StrFormat(
      "%%x = %1$s[%2$s] parameter(), name=\"x\"\n"
      "%%r = %1$s[%3$s] hlo.transpose(%%x), permutation=[%4$s]\n"
      "return %%r as \"r\"\n",
      type, from, to, permutation);
}

// Rows that are no whole beats, whatever fits the unified buffer.
TEST_P(ShapesTest, TransposesOfOddMatrices) {
  Check(Transpose("f32", "64,1000", "1000,64", "1, 0"));
  Check(Transpose("bf16", "128,1001", "1001,128", "1, 0"));
  Check(Transpose("i1", "256,333", "333,256", "1, 0"));
  Check(Transpose("f32", "333,256", "256,333", "1, 0"));
  if (Core().cols < 32) return;  // too small for these
  for (const int64_t rows : {256, 512, 4096}) {
    const auto sizes = absl::StrFormat("%d,1000", rows);
    EXPECT_LT(Cycles(Transpose("f32", sizes, absl::StrFormat("1000,%d", rows),
                               "1, 0")),
              4 * Beats(2 * 4 * rows * 1000))
        << rows;
  }
}

TEST_P(ShapesTest, TransposesOfFewLines) {
  for (const char* type : {"f32", "bf16", "i1", "u64"}) {
    Check(Transpose(type, "3,16384", "16384,3", "1, 0"));
    Check(Transpose(type, "2,3,64,128", "2,64,128,3", "0, 2, 3, 1"));
    Check(Transpose(type, "6,10000", "10000,6", "1, 0"));
    Check(Transpose(type, "5,801", "801,5", "1, 0"));
  }
  const int64_t bytes = 2 * 4 * 3 * 32768;
  EXPECT_LT(Cycles(Transpose("f32", "3,32768", "32768,3", "1, 0")),
            5 * Beats(bytes));
}

// Heads and features in the order of the weights, not of the operand.
TEST_P(ShapesTest, ContractionsOutOfOrder) {
  const auto product = [](int64_t b, int64_t h, int64_t l, int64_t e,
                          int64_t d) {
    return absl::StrFormat(
        "%%x = f32[%d,%d,%d,%d] parameter(), name=\"x\"\n"
        "%%w = f32[%d,%d,%d] parameter(), name=\"w\"\n"
        "%%r = f32[%d,%d,%d] hlo.dot_general(%%x, %%w), "
        "lhs_contracting=[3, 1], rhs_contracting=[1, 0]\n"
        "return %%r as \"r\"\n",
        b, h, l, e, h, e, d, b, l, d);
  };
  Check(product(2, 4, 9, 8, 20));
  Check(product(1, 8, 16, 32, 64));
  const int64_t macs = int64_t{4} * 128 * 8 * 32 * 256;
  const int64_t bytes = 4 * (4 * 8 * 128 * 32 + 8 * 32 * 256 + 4 * 128 * 256);
  EXPECT_LT(Cycles(product(4, 8, 128, 32, 256)),
            6 * (macs / (Core().rows * Core().cols) + Beats(bytes)));
}

INSTANTIATE_TEST_SUITE_P(Presets, ShapesTest,
                         testing::Values("mini", "lite", "v2"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace systole::lanes
