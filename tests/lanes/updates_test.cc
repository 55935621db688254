// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Updates in place: of what loops carry, of values that programs make; what is
// needed afterwards keeps its elements.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/row_gather.h"
#include "host/compiler/kernels/row_update.h"
#include "host/ir/text.h"
#include "systole/device.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

// A scan whose turns the host starts, for their number is not known before:
// each turn writes a line of what the loop carries. WIDTH: of a line.
constexpr char kScan[] = R"(module @m {
  %x = f32[9,WIDTH] parameter(), name="x"
  %q = f32[9,WIDTH] parameter(), name="q"
  %y = f32[9,WIDTH] hlo.add(%q, %x)
  %k = i32[] parameter(), name="k"
  %none = i32[] constant(), data=[0]
  %z = i32[] hlo.and(%k, %none)
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
  // What the program makes has one place; parameters stay as they are.
  EXPECT_LT(plan.steps[0].outputs.size(), plan.steps[0].kernels.size());
  EXPECT_TRUE(plan.steps[0].updates.empty());
}

TEST_P(UpdatesTest, NotOfParameters) {
  const std::string text = R"(module @m {
  %x = f32[40,256] parameter(), name="x"
  %u = f32[1,256] parameter(), name="u"
  %i = i32[] parameter(), name="i"
  %a = f32[40,256] hlo.dynamic_update_slice(%x, %u, %i, %i)
  return %a as "a"
}
)";
  EXPECT_EQ(Updates(text), 0);
  check_.Check(text, 1);
}

// Rows and beats at the end of a tensor that is the last in memory.
TEST_P(UpdatesTest, AtTheEndOfTheMemory) {
  for (const bool update : {false, true}) {
    const std::string text = absl::StrFormat(
        R"(module @m {
  %%x = f32[4000,20] parameter(), name="x"
  %%u = f32[1,20] parameter(), name="u"
  %%i = i32[] parameter(), name="i"
  %%j = i32[] parameter(), name="j"
  %%r = f32[%1$d,20] hlo.dynamic_%2$s
  return %%r as "r"
}
)",
        update ? 4000 : 1,
        update ? "update_slice(%x, %u, %i, %j)"
               : "slice(%x, %i, %j), sizes=[1, 20]");
    const auto module = ir::Parse(text);
    ASSERT_TRUE(module.ok()) << module.status();
    const ir::Node& node = *(*module)->outputs[0].node.node;
    const auto kernel = update ? CompileRowUpdate(node, preset(), 0, true)
                               : CompileRowGather(node, preset(), 0);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    auto device = Device::Open("iss", {.preset = std::string(preset().name)});
    ASSERT_TRUE(device.ok()) << device.status();
    const auto write = [&](uint64_t at, const std::vector<float>& values) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
      EXPECT_TRUE((*device)->Write(at, {bytes, 4 * values.size()}).ok());
    };
    std::vector<float> x(80000), u(20);
    std::iota(x.begin(), x.end(), 1.0f);
    std::iota(u.begin(), u.end(), -30.0f);
    const uint64_t beat = preset().beat_bytes(), end = preset().memory_bytes();
    const uint64_t last = end - (4 * x.size() + beat - 1) / beat * beat;
    // The program, its code, small operands, then the large one.
    std::vector<uint64_t> places = {last, 0x100000, 0x110000, 0x120000};
    places.push_back(update ? last : 0x130000);
    if (!update) places.erase(places.begin() + 1);
    write(last, x);
    write(0x100000, u);
    for (const uint64_t at : {0x110000, 0x120000}) {
      const int32_t number = 5000;
      const auto* bytes = reinterpret_cast<const uint8_t*>(&number);
      EXPECT_TRUE((*device)->Write(at, {bytes, 4}).ok());
    }
    std::vector<uint8_t> code(8 * kernel->words.size());
    std::memcpy(code.data(), kernel->words.data(), code.size());
    ASSERT_TRUE((*device)->Write(0x40000, code).ok());
    Program program;
    program.preset = std::string(preset().name);
    program.hbm_bytes = end;
    program.descriptors = kernel->Placed(places, 0x40000);
    ASSERT_TRUE((*device)->Load(program).ok());
    ASSERT_TRUE((*device)->Start(program).ok());
    const auto stats = (*device)->Wait();
    ASSERT_TRUE(stats.ok()) << stats.status();
    std::vector<float> seen(20);
    const uint64_t at = update ? last + 4 * 79980 : 0x130000;
    ASSERT_TRUE((*device)
                    ->Read(at, {reinterpret_cast<uint8_t*>(seen.data()), 80})
                    .ok());
    EXPECT_EQ(seen, update ? u : std::vector<float>(x.end() - 20, x.end()));
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, UpdatesTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
