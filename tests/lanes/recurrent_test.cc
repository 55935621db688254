// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products of recurrent networks (host/compiler/kernels/loop_lowering.h).
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/ir/text.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

// A recurrent cell: lines of x by one matrix, the state by another.
constexpr char kRecurrent[] = R"(module @m {
  %x = f32[7,3,FEATURES] parameter(), name="x"
  %h = f32[3,5] parameter(), name="h"
  %w = f32[FEATURES,5] parameter(), name="w"
  %u = f32[5,5] parameter(), name="u"
  %z = i32[] constant(), data=[0]
  %r = (i32[], f32[3,5]) hlo.while(%z, %h, %x, %w, %u) {
    %i = i32[] parameter()
    %h = f32[3,5] parameter()
    %x = f32[7,3,FEATURES] parameter()
    %w = f32[FEATURES,5] parameter()
    %u = f32[5,5] parameter()
    %m = i32[] constant(), data=[TURNS]
    %p = i1[] hlo.compare(%i, %m), direction=LT
    return %p
  } {
    %i = i32[] parameter()
    %h = f32[3,5] parameter()
    %x = f32[7,3,FEATURES] parameter()
    %w = f32[FEATURES,5] parameter()
    %u = f32[5,5] parameter()
    %o = i32[] constant(), data=[0]
    %one = i32[] constant(), data=[1]
    %six = i32[] constant(), data=[6]
    %j = i32[] hlo.add(%i, %one)
    %n = i32[] hlo.subtract(%six, %i)
    %l = f32[1,3,FEATURES] hlo.dynamic_slice(%x, %n, %o, %o), sizes=[1, 3, FEATURES]
    FORM
    %s = f32[3,5] hlo.dot_general(%h, %u), lhs_contracting=[1], rhs_contracting=[0]
    %v = f32[3,5] hlo.add(%a, %s)
    %t = f32[3,5] hlo.tanh(%v)
    return %j, %t
  }
  return %r#1 as "h"
}
)";

// Products of the body, and values that the loop carries.
std::pair<int, int> Recurrent(const std::string& text, const Preset& preset) {
  const auto module = ir::Parse(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {0, 0};
  LowerModule(**module, preset);
  std::pair<int, int> counts;
  for (const auto& node : (*module)->nodes()) {
    if (node->op != ir::Op::kHloWhile) continue;
    counts.second = node->results();
    for (const auto& inside : node->regions[1]->nodes())
      counts.first += inside->op == ir::Op::kHloMatrixProduct ? 1 : 0;
  }
  return counts;
}

class RecurrentTest : public testing::TestWithParam<const char*> {
 protected:
  RecurrentTest() : check_(GetParam()) {}
  const Preset& preset() const { return *FindPreset(GetParam()); }

  DeviceCheck check_;
};

// The lines' products are one, in front of the loop; the state is carried in
// bf16, too.
TEST_P(RecurrentTest, Products) {
  const std::string dot = ", lhs_contracting=[1], rhs_contracting=[0]\n";
  const std::string reshaped =
      "%lr = f32[3,FEATURES] hlo.reshape(%l)\n"
      "    %a = f32[3,5] hlo.dot_general(%lr, %w)" +
      dot;
  const std::string converted =
      "%lb = bf16[1,3,FEATURES] hlo.convert(%l)\n"
      "    %lc = f32[1,3,FEATURES] hlo.convert(%lb)\n" +
      absl::StrReplaceAll(reshaped, {{"(%l)", "(%lc)"}});
  const std::string direct =
      "%ad = f32[1,3,5] hlo.dot_general(%l, %w), lhs_contracting=[2], "
      "rhs_contracting=[0]\n    %a = f32[3,5] hlo.reshape(%ad)\n";
  uint64_t seed = 0;
  for (const std::string& form : {reshaped, converted, direct}) {
    for (const char* features : {"64", "6"}) {
      const auto text = [&](const char* turns) {
        return absl::StrReplaceAll(
            absl::StrReplaceAll(kRecurrent, {{"FORM", form}}),
            {{"FEATURES", features}, {"TURNS", turns}});
      };
      check_.Check(text("7"), ++seed);
      EXPECT_EQ(Recurrent(text("7"), preset()), std::pair(1, 3));
      // Fewer turns than lines.
      check_.Check(text("3"), ++seed);
      EXPECT_EQ(Recurrent(text("3"), preset()), std::pair(2, 3));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, RecurrentTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
