// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Updates in place: of what loops carry, of values that programs make; what is
// needed afterwards keeps its elements.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/ir/text.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

// A scan: each turn writes a line of what the loop carries. WIDTH: of a line.
constexpr char kScan[] = R"(module @m {
  %x = f32[9,WIDTH] parameter(), name="x"
  %y = f32[9,WIDTH] parameter(), name="y"
  %z = i32[] constant(), data=[0]
  %r = (i32[], f32[9,WIDTH]) hlo.while(%z, %y, %x) {
    %i = i32[] parameter()
    %v = f32[9,WIDTH] parameter()
    %w = f32[9,WIDTH] parameter()
    %m = i32[] constant(), data=[9]
    %p = i1[] hlo.compare(%i, %m), direction=LT
    return %p
  } {
    %i = i32[] parameter()
    %v = f32[9,WIDTH] parameter()
    %w = f32[9,WIDTH] parameter()
    %o = i32[] constant(), data=[0]
    %one = i32[] constant(), data=[1]
    %j = i32[] hlo.add(%i, %one)
    %l = f32[1,WIDTH] hlo.dynamic_slice(%w, %i, %o), sizes=[1, WIDTH]
    %t = f32[1,WIDTH] hlo.multiply(%l, %l)
    %u = f32[9,WIDTH] hlo.dynamic_update_slice(%v, %t, %i, %o)
    return %j, %u
  }
  return %r#1 as "v"OUTPUT
}
)";

std::string Scan(int width, const std::string& output = "") {
  return absl::StrReplaceAll(
      kScan, {{"WIDTH", absl::StrFormat("%d", width)}, {"OUTPUT", output}});
}

class UpdatesTest : public testing::TestWithParam<const char*> {
 protected:
  UpdatesTest() : check_(GetParam()) {}
  const Preset& preset() const { return *FindPreset(GetParam()); }

  // Kernels of the module and its loops that change an input.
  int Updates(const std::string& text) const {
    const auto module = ir::Parse(text);
    EXPECT_TRUE(module.ok()) << module.status();
    return Count(PlanFor(**module, preset()));
  }
  static int Count(const DevicePlan& plan) {
    int count = 0;
    for (const PlanStep& step : plan.steps)
      count += static_cast<int>(step.updates.size());
    for (const auto& [region, inner] : plan.regions) count += Count(*inner);
    return count;
  }

  DeviceCheck check_;
};

TEST_P(UpdatesTest, OfLoops) {
  // Lines of whole beats, and of parts of beats.
  for (const int width : {256, 100}) {
    EXPECT_EQ(Updates(Scan(width)), 1) << width;
    check_.Check(Scan(width), 3);
    // The first value is needed afterwards.
    check_.Check(Scan(width, ", %y as \"y\""), 4);
  }
}

// What the body reads in another way as well keeps its elements.
TEST_P(UpdatesTest, OfValuesThatAreRead) {
  const std::string text = absl::StrReplaceAll(
      Scan(256), {{"hlo.dynamic_slice(%w,", "hlo.dynamic_slice(%v,"}});
  EXPECT_EQ(Updates(text), 0);
  check_.Check(text, 5);
}

// One after the other, in one program; a parameter is not changed.
TEST_P(UpdatesTest, OfValuesThatProgramsMake) {
  const std::string text = R"(module @m {
  %x = f32[40,256] parameter(), name="x"
  %u = f32[1,256] parameter(), name="u"
  %n = i32[] parameter(), name="n"
  %k = i32[] constant(), data=[45]
  %i = i32[] hlo.remainder(%n, %k)
  %o = i32[] constant(), data=[0]
  %a = f32[40,256] hlo.dynamic_update_slice(%x, %u, %i, %o)
  %b = f32[40,256] hlo.add(%a, %x)
  %c = f32[40,256] hlo.dynamic_update_slice(%b, %u, %o, %i)
  %d = f32[40,256] hlo.dynamic_update_slice(%c, %u, %i, %o)
  %e = f32[40,256] hlo.multiply(%d, %d)
  return %e as "e"KEPT
}
)";
  for (const std::string kept : {"", ", %d as \"d\"", ", %a as \"a\"",
                                 ", %b as \"b\"", ", %c as \"c\""}) {
    SCOPED_TRACE(kept);
    for (const uint64_t seed : {1, 2, 3})
      check_.Check(absl::StrReplaceAll(text, {{"KEPT", kept}}), seed);
  }
  const auto module = ir::Parse(absl::StrReplaceAll(text, {{"KEPT", ""}}));
  ASSERT_TRUE(module.ok()) << module.status();
  const DevicePlan plan = PlanFor(**module, preset());
  ASSERT_EQ(plan.steps.size(), 1u);
  // What the program makes has one place.
  EXPECT_LT(plan.steps[0].outputs.size(), plan.steps[0].kernels.size());
  EXPECT_TRUE(plan.steps[0].updates.empty());
}

INSTANTIATE_TEST_SUITE_P(Presets, UpdatesTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
