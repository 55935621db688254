// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the cost model says of kernels, and which ones are reported.
#include "host/runtime/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_format.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/lane_instructions.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/ir/text.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

using testing::HasSubstr;
using testing::Not;

runtime::ModulePlacement PlacedOn(const std::string& preset,
                                  const std::string& text) {
  auto module = ir::Parse(text);
  EXPECT_TRUE(module.ok()) << module.status();
  LowerModule(**module, *FindPreset(preset));
  return runtime::PlacementOf(**module, PlanFor(**module, *FindPreset(preset)),
                              *FindPreset(preset));
}

constexpr char kExp[] = R"(module @m {
  %x = f32[1024,1024] parameter(), name="x"
  %y = f32[1024,1024] hlo.exponential(%x)
  %z = f32[1024,1024] hlo.exponential(%y)
  %r = f32[1024,1024] hlo.divide(%z, %y)
  return %r as "r"
})";
constexpr char kAdd[] = R"(module @m {
  %x = f32[1024,1024] parameter(), name="x"
  %y = f32[1024,1024] parameter(), name="y"
  %r = f32[1024,1024] hlo.add(%x, %y)
  return %r as "r"
})";

TEST(PlacementTest, AKernelHasItsBoundAndWhatLimitsIt) {
  const runtime::ModulePlacement exp = PlacedOn("lite", kExp);
  ASSERT_EQ(exp.all_kernels.size(), 1u);
  const runtime::PlacedKernel& kernel = exp.all_kernels[0];
  EXPECT_EQ(kernel.bound, 2 * 4 * 1024 * 1024 / 128);  // two tensors, beats
  EXPECT_EQ(kernel.limit, "the vector unit");
  EXPECT_GT(kernel.busy, 0.9);
  EXPECT_GT(kernel.cycles, 3 * kernel.bound);

  const runtime::ModulePlacement add = PlacedOn("lite", kAdd);
  ASSERT_EQ(add.all_kernels.size(), 1u);
  EXPECT_EQ(add.all_kernels[0].bound, 3 * 4 * 1024 * 1024 / 128);
  EXPECT_LT(add.all_kernels[0].cycles, 2 * add.all_kernels[0].bound);
}

TEST(PlacementTest, OnlyKernelsFarFromTheirBoundAreReported) {
  const std::string text = runtime::SlowKernelsText(PlacedOn("lite", kExp));
  EXPECT_THAT(text, HasSubstr("1 of 1 kernel, with 100 % of the expected"));
  EXPECT_THAT(text, HasSubstr("\n  r: "));
  EXPECT_THAT(text, HasSubstr("the vector unit is busy in"));
  EXPECT_EQ(runtime::SlowKernelsText(PlacedOn("lite", kAdd)), "");
}

TEST(PlacementTest, SmallKernelsAreCountedTogether) {
  runtime::ModulePlacement placement;
  placement.all_kernels = {{"large", 100000, 1000, "loads", 0.6},
                           {"good", 10000, 9000, "stores", 0.9},
                           {"waits", 9000, 100, "the array", 0.3},
                           {"small", 10, 1, "the array", 0.7},
                           {"tiny", 5, 0, "the array", 0.7}};
  const std::string text = runtime::SlowKernelsText(placement);
  EXPECT_THAT(text, HasSubstr("4 of 5 kernels, with 92 % of"));
  EXPECT_THAT(text, HasSubstr("\n  large: 100000 cycles, 1.0 % of its bound; "
                              "loads are busy in 60 % of them"));
  EXPECT_THAT(text, HasSubstr("\n  waits: 9000 cycles, 1.1 % of its bound; its "
                              "steps wait for each other"));
  EXPECT_THAT(text, HasSubstr("\n  and 2 kernels of less than 1 % each"));
  EXPECT_THAT(text, Not(HasSubstr("good")));
  EXPECT_THAT(text, Not(HasSubstr("tiny")));
}

// More operations in a line than a kernel waits for.
TEST(PlacementTest, LongChainsBecomeAFewKernels) {
  std::string text = "module @m {\n  %v0 = f32[2,3] parameter(), name=\"x\"\n";
  constexpr int kLength = 1000;
  for (int i = 1; i <= kLength; ++i) {
    absl::StrAppendFormat(&text, "  %%v%d = f32[2,3] hlo.%s(%%v%d)\n", i,
                          i % 2 == 0 ? "tanh" : "negate", i - 1);
  }
  absl::StrAppendFormat(&text, "  return %%v%d as \"r\"\n}\n", kLength);
  EXPECT_LE(PlacedOn("lite", text).all_kernels.size(), 12u);
  DeviceCheck("mini").Check(text, 3);
}

}  // namespace
}  // namespace systole::lanes
