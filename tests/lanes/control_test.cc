// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops and branches: values as the host's, and of a loop nothing but
// conditions leaves the device between its turns.
#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "host/compiler/kernels/counted_loop.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/module_lowering.h"
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

runtime::TransferCounts CountsOf(int32_t turns, int64_t& program_bytes) {
  const auto module = ir::Parse(kLoop);
  EXPECT_TRUE(module.ok()) << module.status();
  runtime::CoreOptions options;
  options.preset = "mini";
  options.device.simulation.check_races = true;
  runtime::Core core(options);
  runtime::ArrayProducts products(core, /*host_operators=*/false);
  runtime::KernelExecutor executor(core, products);
  const DevicePlan plan = PlanFor(**module, core.preset());
  const runtime::ModulePlacement placement =
      runtime::PlacementOf(**module, plan, core.preset());
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
  program_bytes = core.TakeWork().program_bytes;
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

TEST(ControlTest, BranchesAloneLeaveTheDevice) {
  int64_t of_few = 0, of_many = 0;  // bytes of programs
  const runtime::TransferCounts few = CountsOf(3, of_few),
                                many = CountsOf(40, of_many);
  EXPECT_EQ(many.uploads, few.uploads);
  EXPECT_EQ(of_many, of_few);
  // A turn reads the branch, a word; how many turns there are shows before.
  EXPECT_EQ(few.downloads, 3);
  EXPECT_EQ(many.downloads, 40);
  EXPECT_EQ(many.download_bytes, 40 * 4);
  EXPECT_GT(many.kernels, few.kernels);
}

// A loop of i32 or u32: `condition` of %i and %n, `next` is added to %i.
std::string LoopText(const std::string& type, const std::string& condition,
                     int next) {
  return absl::StrFormat(R"(module @m {
  %%x = %1$s[] parameter(), name="x"
  %%n = %1$s[] parameter(), name="n"
  %%r = (%1$s[], %1$s[]) hlo.while(%%x, %%x, %%n) {
    %%i = %1$s[] parameter()
    %%v = %1$s[] parameter()
    %%n = %1$s[] parameter()
    %%p = i1[] hlo.compare(%2$s
    return %%p
  } {
    %%i = %1$s[] parameter()
    %%v = %1$s[] parameter()
    %%n = %1$s[] parameter()
    %%c = %1$s[] constant(), data=[%3$d]
    %%j = %1$s[] hlo.add(%%c, %%i)
    %%w = %1$s[] hlo.multiply(%%v, %%j)
    return %%j, %%w
  }
  return %%r as "i", %%r#1 as "v"
}
)",
                         type, condition, next);
}

std::unique_ptr<ir::Module> Parsed(const std::string& text) {
  auto module = ir::Parse(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  return module.ok() ? *std::move(module) : nullptr;
}

const ir::Node& LoopOf(const ir::Module& module) {
  return *module.outputs[0].node.node;
}

TEST(ControlTest, LoopsThatCount) {
  const struct {
    const char *condition, *type;
    int next;
    int64_t first, end, turns;  // -1: it is not known
  } kLoops[] = {
      {"%i, %n), direction=LT", "i32", 1, 0, 7, 7},
      {"%n, %i), direction=GT", "i32", 1, -3, 7, 10},
      {"%i, %n), direction=LE", "i32", 3, 0, 9, 4},
      {"%i, %n), direction=LT", "i32", 3, 0, 9, 3},
      {"%i, %n), direction=LT", "i32", 1, 8, 7, 0},
      {"%i, %n), direction=GT", "i32", -2, 9, 0, 5},
      {"%i, %n), direction=GE", "i32", -1, 9, 0, 10},
      {"%i, %n), direction=LT", "u32", 1, 0, 4000000000, 4000000000},
      // Beyond the type's ends, or away from the bound.
      {"%i, %n), direction=LE", "i32", 1, 0, 2147483647, -1},
      {"%i, %n), direction=LT", "i32", 4, 1, 2147483647, -1},
      {"%i, %n), direction=GE", "u32", 1, 5, 0, -1},
      {"%i, %n), direction=LT", "i32", -1, 0, 7, -1},
      {"%i, %n), direction=LT", "i32", 0, 0, 7, -1},
  };
  for (const auto& c : kLoops) {
    const auto module = Parsed(LoopText(c.type, c.condition, c.next));
    const auto loop = CountedLoopOf(LoopOf(*module));
    ASSERT_TRUE(loop) << c.condition;
    EXPECT_EQ(loop->counter, 0);
    EXPECT_EQ(loop->bound, 2);
    const ir::ElementType type = LoopOf(*module).type.element;
    EXPECT_EQ(loop->Turns(c.first, c.end, type).value_or(-1), c.turns)
        << c.condition << " by " << c.next;
  }
}

// A bound that changes, another condition, another counter.
TEST(ControlTest, LoopsThatDoNotCount) {
  for (const char* condition :
       {"%i, %n), direction=NE", "%i, %v), direction=LT",
        "%v, %n), direction=LT", "%n, %n), direction=LT"}) {
    const auto module = Parsed(LoopText("i32", condition, 1));
    EXPECT_FALSE(CountedLoopOf(LoopOf(*module))) << condition;
  }
}

TEST(ControlTest, LoopsGiveTheHostsValues) {
  DeviceCheck check("mini");
  for (const char* type : {"i32", "u32"}) {
    for (const char* condition :
         {"%i, %c), direction=LT", "%i, %c), direction=LE",
          "%c, %v), direction=NE", "%c, %i), direction=GT"}) {
      check.Check(absl::StrFormat(R"(module @m {
  %%n = %1$s[] parameter(), name="n"
  %%seven = %1$s[] constant(), data=[7]
  %%m = %1$s[] hlo.and(%%n, %%seven)
  %%r = (%1$s[], %1$s[]) hlo.while(%%m, %%m, %%seven) {
    %%i = %1$s[] parameter()
    %%v = %1$s[] parameter()
    %%c = %1$s[] parameter()
    %%p = i1[] hlo.compare(%2$s
    return %%p
  } {
    %%i = %1$s[] parameter()
    %%v = %1$s[] parameter()
    %%c = %1$s[] parameter()
    %%one = %1$s[] constant(), data=[1]
    %%j = %1$s[] hlo.add(%%i, %%one)
    %%w = %1$s[] hlo.maximum(%%j, %%c)
    return %%j, %%w
  }
  return %%r as "i", %%r#1 as "v"
}
)",
                                  type, condition),
                  4);
    }
  }
}

// Branches of a few operations are all computed, and nothing is steered, but
// for those whose values a selection would change.
TEST(ControlTest, CheapBranchesAreSelections) {
  DeviceCheck check("mini");
  const auto text = [](const std::string& type, const std::string& op) {
    return absl::StrFormat(R"(module @m {
  %%p = i1[] parameter(), name="p"
  %%k = i32[] parameter(), name="k"
  %%x = %1$s[33] parameter(), name="x"
  %%a = (%1$s[33], %1$s[33]) hlo.if(%%p, %%x) {
    %%x = %1$s[33] parameter()
    %%y = %1$s[33] hlo.%2$s(%%x)
    return %%y, %%x
  } {
    %%x = %1$s[33] parameter()
    %%y = %1$s[33] hlo.negate(%%x)
    return %%x, %%y
  }
  %%b = %1$s[33] hlo.case(%%k, %%a, %%a#1) {
    %%x = %1$s[33] parameter()
    %%y = %1$s[33] parameter()
    return %%x
  } {
    %%x = %1$s[33] parameter()
    %%y = %1$s[33] parameter()
    %%z = %1$s[33] hlo.add(%%x, %%y)
    return %%z
  } {
    %%x = %1$s[33] parameter()
    %%y = %1$s[33] parameter()
    return %%y
  }
  return %%a as "a", %%a#1 as "b", %%b as "c"
}
)",
                           type, op);
  };
  const auto steered = [&](const std::string& source) {
    const auto module = Parsed(source);
    const Preset& preset = *FindPreset("mini");
    LowerModule(*module, preset);
    return runtime::PlacementOf(*module, PlanFor(*module, preset), preset)
        .control;
  };
  for (const char* type : {"f32", "i32", "i16"}) {
    EXPECT_EQ(steered(text(type, "abs")), 0);
    for (uint64_t seed = 0; seed < 8; ++seed)
      check.Check(text(type, "abs"), seed);
  }
  EXPECT_EQ(steered(text("f16", "abs")), 2);
  check.Check(text("f16", "abs"), 1);
}

}  // namespace
}  // namespace systole::lanes
