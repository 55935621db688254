// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops and branches: values as the host's, and of a loop nothing but the
// condition leaves the device between its turns.
#include <gtest/gtest.h>

#include "host/compiler/kernels/device_plan.h"
#include "host/ir/evaluate.h"
#include "host/ir/text.h"
#include "host/runtime/array_products.h"
#include "host/runtime/kernel_executor.h"
#include "host/runtime/placement.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

// What the loop carries, what it reads besides, a constant of its own, a
// branch in it.
constexpr char kLoop[] = R"(module @m {
  %n = i32[] parameter(), name="n"
  %x = f32[4] parameter(), name="x"
  %y = f32[4] parameter(), name="y"
  %z = i32[] constant(), data=[0]
  %r = (i32[], f32[4]) hlo.while(%z, %x, %n, %y) {
    %i = i32[] parameter()
    %v = f32[4] parameter()
    %m = i32[] parameter()
    %w = f32[4] parameter()
    %p = i1[] hlo.compare(%i, %m), direction=LT
    return %p
  } {
    %i = i32[] parameter()
    %v = f32[4] parameter()
    %m = i32[] parameter()
    %w = f32[4] parameter()
    %one = i32[] constant(), data=[1]
    %j = i32[] hlo.add(%i, %one)
    %k = f32[4] constant(), data=[0.5, 0.25, -0.5, 1.0]
    %a = f32[4] hlo.multiply(%v, %k)
    %b = f32[4] hlo.add(%a, %w)
    %odd = i32[] hlo.and(%i, %one)
    %c = f32[4] hlo.case(%odd, %b, %k) {
      %s = f32[4] parameter()
      %t = f32[4] parameter()
      %u = f32[4] hlo.subtract(%s, %t)
      return %u
    } {
      %s = f32[4] parameter()
      %t = f32[4] parameter()
      return %s
    }
    return %j, %c
  }
  return %r as "i", %r#1 as "v"
}
)";

runtime::TransferCounts CountsOf(int32_t turns) {
  const auto module = ir::Parse(kLoop);
  EXPECT_TRUE(module.ok()) << module.status();
  runtime::Core core("iss", "mini", /*check_races=*/true);
  runtime::ArrayProducts products(core, /*host_operators=*/false);
  runtime::KernelExecutor executor(core, products);
  const DevicePlan plan = PlanFor(**module, core.preset());
  const runtime::ModulePlacement placement =
      runtime::PlacementOf(**module, plan);
  EXPECT_EQ(placement.control, 2);
  EXPECT_EQ(placement.host.operations, 0);
  const ir::Literals inputs = {
      ir::Literal(std::vector<int32_t>{turns}),
      ir::Literal(std::vector<float>{1, 2, 3, 4}),
      ir::Literal(std::vector<float>{0.1f, -7, 0, 1e-3f})};
  runtime::PlacedValues values, constants;
  for (const ir::Literal& input : inputs)
    values.push_back(runtime::OnHost(input));
  for (const auto& [slot, literal] : plan.constants)
    constants.push_back(runtime::OnHost(literal));
  const auto results = executor.Run(plan, values, constants);
  EXPECT_TRUE(results.ok()) << results.status();
  const runtime::TransferCounts counts = executor.counts();
  const auto expected = ir::EvaluateModule(**module, inputs);
  EXPECT_TRUE(expected.ok()) << expected.status();
  for (size_t i = 0; i < results->size(); ++i) {
    const auto value =
        executor.ToHost(*(*results)[i], (*module)->outputs[i].node.type());
    EXPECT_TRUE(value.ok() && *value == (*expected)[i]) << "result " << i;
  }
  return counts;
}

TEST(ControlTest, ConditionsAloneLeaveTheDevice) {
  const runtime::TransferCounts few = CountsOf(3), many = CountsOf(40);
  EXPECT_EQ(many.uploads, few.uploads);
  EXPECT_EQ(many.codes, few.codes);
  // A turn reads whether it takes place, a byte, and the branch, a word.
  EXPECT_EQ(few.downloads, 3 * 2 + 1);
  EXPECT_EQ(many.downloads, 40 * 2 + 1);
  EXPECT_EQ(many.download_bytes, 40 * 5 + 1);
  EXPECT_GT(many.kernels, few.kernels);
}

}  // namespace
}  // namespace systole::lanes
