// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the turns of a loop compute from the same values, in front of the loop
// (host/ir/invariants.h).
#include "host/ir/invariants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_replace.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

// BODY makes %u, [4,4], from %v, which the loop carries, %w and %k, which it
// does not change, and %b, of [4].
constexpr char kLoop[] = R"(module @m {
  %x = f32[4,4] parameter(), name="x"
  %y = f32[4,4] parameter(), name="y"
  %c = f32[4,4] parameter(), name="c"
  %d = f32[4] parameter(), name="d"
  %z = i32[] constant(), data=[0]
  %r = (i32[], f32[4,4], f32[4,4]) hlo.while(%z, %x, %c, %y, %d) {
    %i = i32[] parameter()
    %v = f32[4,4] parameter()
    %k = f32[4,4] parameter()
    %w = f32[4,4] parameter()
    %b = f32[4] parameter()
    %m = i32[] constant(), data=[5]
    %p = i1[] hlo.compare(%i, %m), direction=LT
    return %p
  } {
    %i = i32[] parameter()
    %v = f32[4,4] parameter()
    %k = f32[4,4] parameter()
    %w = f32[4,4] parameter()
    %b = f32[4] parameter()
    %one = i32[] constant(), data=[1]
    %j = i32[] hlo.add(%i, %one)
BODY
    return %j, %u, %k
  }
  return %r#1 as "v", %r#2 as "k"
}
)";

std::unique_ptr<ir::Module> Loop(const std::string& body) {
  auto module = ir::Parse(absl::StrReplaceAll(kLoop, {{"BODY", body}}));
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// Moved nodes; the module stays valid, and the device's results right.
int Hoisted(const std::string& body) {
  const std::unique_ptr<ir::Module> module = Loop(body);
  const int count = ir::HoistInvariants(*module);
  EXPECT_TRUE(ir::Verify(*module).ok()) << ir::Verify(*module);
  for (const char* preset : {"mini", "v2"}) {
    DeviceCheck check(preset);
    check.Check(Loop(body), 3);
    check.Check(module->Clone(), 3);
  }
  return count;
}

TEST(InvariantsTest, OfWhatTheLoopDoesNotChange) {
  EXPECT_EQ(Hoisted("    %n = f32[4,4] hlo.negate(%w)\n"
                    "    %u = f32[4,4] hlo.add(%v, %n)\n"),
            1);
  // Returned as it came; several operations, and two that are read.
  EXPECT_EQ(Hoisted("    %n = f32[4,4] hlo.negate(%k)\n"
                    "    %o = f32[4,4] hlo.multiply(%n, %w)\n"
                    "    %q = f32[4,4] hlo.add(%v, %n)\n"
                    "    %u = f32[4,4] hlo.add(%q, %o)\n"),
            2);
  // With a constant of the loop.
  EXPECT_EQ(Hoisted("    %h = f32[4] constant(), data=[1, 2, 3, 4]\n"
                    "    %s = f32[4] hlo.multiply(%b, %h)\n"
                    "    %t = f32[4,4] hlo.broadcast_in_dim(%s), "
                    "dimensions=[1]\n"
                    "    %u = f32[4,4] hlo.add(%v, %t)\n"),
            1);
}

TEST(InvariantsTest, WhatStays) {
  // Carried values, constants, what is larger than its operands.
  EXPECT_EQ(Hoisted("    %n = f32[4,4] hlo.negate(%v)\n"
                    "    %t = f32[4,4] hlo.broadcast_in_dim(%b), "
                    "dimensions=[0]\n"
                    "    %u = f32[4,4] hlo.add(%n, %t)\n"),
            0);
}

// Out of both loops; a branch keeps its regions.
TEST(InvariantsTest, OfNestedLoops) {
  const std::string inner = R"(
    %e = i32[] constant(), data=[0]
    %q = (i32[], f32[4,4]) hlo.while(%e, %v, %w) {
      %a = i32[] parameter()
      %f = f32[4,4] parameter()
      %g = f32[4,4] parameter()
      %l = i32[] constant(), data=[3]
      %p = i1[] hlo.compare(%a, %l), direction=LT
      return %p
    } {
      %a = i32[] parameter()
      %f = f32[4,4] parameter()
      %g = f32[4,4] parameter()
      %l = i32[] constant(), data=[1]
      %s = i32[] hlo.add(%a, %l)
      %n = f32[4,4] hlo.negate(%g)
      %o = f32[4,4] hlo.add(%f, %n)
      return %s, %o
    }
    %u = f32[4,4] hlo.add(%q#1, %v)
)";
  EXPECT_EQ(Hoisted(inner), 2);  // from the inner one, then from the outer one
  const std::unique_ptr<ir::Module> module = Loop(inner);
  ir::HoistInvariants(*module);
  const auto& nodes = module->nodes();
  EXPECT_TRUE(std::any_of(nodes.begin(), nodes.end(), [](const auto& node) {
    return node->op == ir::Op::kHloNegate;
  }));
}

}  // namespace
}  // namespace systole::lanes
