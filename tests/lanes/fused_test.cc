// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels of several stages (host/compiler/kernels/fused_kernel.h): elementwise
// operations, reductions, broadcasts and moves between which values stay in the
// unified buffer.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/ir/text.h"
#include "tests/lanes/device_check.h"
#include "tests/lanes/module_text.h"

namespace systole::lanes {
namespace {

class FusedTest : public testing::TestWithParam<const char*> {
 protected:
  FusedTest() : check_(GetParam()) {}

  // Lines of the unit's width, as often.
  int64_t Width() const { return FindPreset(GetParam())->cols; }

  void Check(const std::string& body, int64_t lines, int64_t columns) {
    check_.Check(ModuleText(body, lines, columns), ++seed_);
  }

  DeviceCheck check_;
  uint64_t seed_ = 0;
};

constexpr char kSoftmax[] = R"(  %x = f32[A,B] parameter(), name="x"
  %low = f32[] constant(), data=[-inf]
  %zero = f32[] constant(), data=[0]
  %l = f32[A] hlo.reduce(%x, %low), dimensions=[1] LARGEST
  %ll = f32[A,B] hlo.broadcast_in_dim(%l), dimensions=[0]
  %d = f32[A,B] hlo.subtract(%x, %ll)
  %e = f32[A,B] hlo.exponential(%d)
  %s = f32[A] hlo.reduce(%e, %zero), dimensions=[1] SUM
  %ss = f32[A,B] hlo.broadcast_in_dim(%s), dimensions=[0]
  %r = f32[A,B] hlo.divide(%e, %ss)
  return %r as "r"
)";

TEST_P(FusedTest, Softmax) {
  for (const int64_t columns : {1, 7, 10, 100, 1000}) {
    for (const int64_t lines : {1, 5, 33, 130}) Check(kSoftmax, lines, columns);
  }
  Check(kSoftmax, 9 * Width(), 8 * Width());
  Check(kSoftmax, 4 * Width(), 3 * Width() + 5);
  Check(kSoftmax, 3, 40 * Width());  // several passes, which overwrite
}

TEST_P(FusedTest, SoftmaxIsOneKernel) {
  absl::StatusOr<std::unique_ptr<ir::Module>> module =
      ir::Parse(ModuleText(kSoftmax, 8 * Width(), Width()));
  ASSERT_TRUE(module.ok()) << module.status();
  const Preset& preset = *FindPreset(GetParam());
  LowerModule(**module, preset);
  const DevicePlan plan = PlanFor(**module, preset);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].kernels.size(), 1u);
}

TEST_P(FusedTest, LayerNorm) {
  const char kNorm[] = R"(  %x = f32[A,B] parameter(), name="x"
  %scale = f32[B] parameter(), name="scale"
  %shift = bf16[B] parameter(), name="shift"
  %n = f32[] parameter(), name="n"
  %zero = f32[] constant(), data=[0]
  %tiny = f32[] constant(), data=[0.001]
  %s = f32[A] hlo.reduce(%x, %zero), dimensions=[1] SUM
  %nn = f32[A] hlo.broadcast_in_dim(%n), dimensions=[]
  %m = f32[A] hlo.divide(%s, %nn)
  %mm = f32[A,B] hlo.broadcast_in_dim(%m), dimensions=[0]
  %d = f32[A,B] hlo.subtract(%x, %mm)
  %dd = f32[A,B] hlo.multiply(%d, %d)
  %v = f32[A] hlo.reduce(%dd, %zero), dimensions=[1] SUM
  %t = f32[A] hlo.broadcast_in_dim(%tiny), dimensions=[]
  %vt = f32[A] hlo.add(%v, %t)
  %r = f32[A] hlo.rsqrt(%vt)
  %rr = f32[A,B] hlo.broadcast_in_dim(%r), dimensions=[0]
  %g = f32[A,B] hlo.broadcast_in_dim(%scale), dimensions=[1]
  %c = f32[B] hlo.convert(%shift)
  %h = f32[A,B] hlo.broadcast_in_dim(%c), dimensions=[1]
  %y = f32[A,B] hlo.multiply(%d, %rr)
  %yg = f32[A,B] hlo.multiply(%y, %g)
  %z = f32[A,B] hlo.add(%yg, %h)
  %b = bf16[A,B] hlo.convert(%z)
  %positive = i1[A,B] hlo.compare(%z, %d), direction=GT
  return %z as "z", %b as "b", %positive as "p", %m as "m", %v as "v"
)";
  for (const int64_t columns : {1, 12, 100}) {
    for (const int64_t lines : {1, 40, 131}) Check(kNorm, lines, columns);
  }
  Check(kNorm, 8 * Width(), 4 * Width());
  Check(kNorm, 5 * Width() + 3, 100);
}

// A broadcast that several kernels need, of what another one makes.
TEST_P(FusedTest, BroadcastsOfSeveralKernels) {
  const char kBody[] = R"(  %x = f32[A,B] parameter(), name="x"
  %w = f32[B] parameter(), name="w"
  %k = f32[B,B] parameter(), name="k"
  %u = f32[B] hlo.tanh(%w)
  %bias = f32[A,B] hlo.broadcast_in_dim(%u), dimensions=[1]
  %y = f32[A,B] hlo.add(%x, %bias)
  %z = f32[A,B] hlo.dot_general(%y, %k), lhs_batching=[], rhs_batching=[], lhs_contracting=[1], rhs_contracting=[0], precision=DEFAULT
  %r = f32[A,B] hlo.multiply(%z, %bias)
  %c = f32[A,B] hlo.concatenate(%bias), dimension=0
  return %r as "r", %y as "y", %c as "c"
)";
  for (const int64_t columns : {3, 12, 64}) {
    for (const int64_t lines : {1, 17, 300}) {
      std::string body = absl::StrReplaceAll(
          kBody, {{"[B,B]", absl::StrFormat("[%d,%d]", columns, columns)}});
      Check(body, lines, columns);
    }
  }
}

// The first block repeats a line for all blocks, of which none is longer.
TEST_P(FusedTest, ALineForAllBlocks) {
  const char kBody[] = R"(  %x = f32[A,B] parameter(), name="x"
  %w = f32[B] parameter(), name="w"
  %zero = f32[] constant(), data=[0]
  %b = f32[A,B] hlo.broadcast_in_dim(%w), dimensions=[1]
  %p = f32[A,B] hlo.multiply(%x, %b)
  %s = f32[B] hlo.reduce(%p, %zero), dimensions=[0] SUM
  return %s as "s"
)";
  for (const int64_t columns : {6, 8, 32, 96, 128}) {
    for (const int64_t lines : {512, 1024, 4096}) Check(kBody, lines, columns);
  }
}

TEST_P(FusedTest, OperandsWithoutElements) {
  Check(R"(  %x = f32[A,B] parameter(), name="x"
  %e = f32[0,7] hlo.slice(%x), start=[2,0], limit=[2,7], strides=[1,1]
  %c = f32[A,B] hlo.concatenate(%e, %x), dimension=0
  %p = f32[A,B] hlo.concatenate(%x, %e), dimension=0
  %s = f32[A,B] hlo.add(%c, %p)
  return %s as "s"
)",
        5, 7);
}

// So many values at a time that some move to other registers: steps of an
// optimizer for four small tensors.
TEST_P(FusedTest, SmallTensorsTogether) {
  std::string body = R"(  %t = f32[] parameter(), name="t"
  %one = f32[] constant(), data=[1]
  %c = f32[] constant(), data=[0.9]
  %d = f32[] constant(), data=[0.999]
  %e = f32[] constant(), data=[1e-8]
  %ct = f32[] hlo.power(%c, %t)
  %dt = f32[] hlo.power(%d, %t)
  %cs = f32[] hlo.subtract(%one, %ct)
  %ds = f32[] hlo.subtract(%one, %dt)
  %cb = f32[48] hlo.broadcast_in_dim(%cs), dimensions=[]
  %db = f32[48] hlo.broadcast_in_dim(%ds), dimensions=[]
  %eb = f32[48] hlo.broadcast_in_dim(%e), dimensions=[]
)";
  std::vector<std::string> results;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(
        &body, absl::StrReplaceAll(R"(  %p# = f32[48] parameter(), name="p#"
  %m# = f32[48] parameter(), name="m#"
  %v# = f32[48] parameter(), name="v#"
  %a# = f32[48] hlo.divide(%m#, %cb)
  %q# = f32[48] hlo.divide(%v#, %db)
  %s# = f32[48] hlo.sqrt(%q#)
  %b# = f32[48] hlo.add(%s#, %eb)
  %d# = f32[48] hlo.divide(%a#, %b#)
  %r# = f32[48] hlo.subtract(%p#, %d#)
)",
                                   {{"#", absl::StrCat(i)}}));
    results.push_back(absl::StrFormat("%%r%d as \"r%d\"", i, i));
  }
  body += "  return " + absl::StrJoin(results, ", ") + "\n";
  for (int i = 0; i < 4; ++i) Check(body, 1, 1);
}

// Chains of random stages over three dimensions.
TEST_P(FusedTest, RandomChains) {
  std::mt19937_64 random(11);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % n);
  };
  for (int i = 0; i < 60; ++i) {
    const int64_t a = 1 + below(9), b = 1 + below(20);
    const int64_t c = 1 + below(below(2) == 0 ? 20 : 4 * Width());
    const std::string all = absl::StrFormat("f32[%d,%d,%d]", a, b, c);
    const std::vector<std::string> shapes = {
        absl::StrFormat("f32[%d,%d]", a, b), absl::StrFormat("f32[%d]", a),
        absl::StrFormat("f32[%d]", c), absl::StrFormat("f32[%d,%d]", b, c)};
    const std::vector<std::string> dimensions = {"0,1", "0", "2", "1,2"};
    const std::vector<std::string> reduced = {"2", "1,2", "0,1", "0"};
    std::string body = absl::StrCat("  %x0 = ", all,
                                    " parameter(), name=\"x\"\n  %zero = f32[] "
                                    "constant(), data=[0]\n");
    for (size_t s = 0; s < shapes.size(); ++s)
      absl::StrAppend(&body, "  %p", s, " = ", shapes[s],
                      " parameter(), name=\"p", s, "\"\n");
    const int64_t stages = 2 + below(6);
    for (int64_t s = 0; s < stages; ++s) {
      const auto which = static_cast<size_t>(below(4));
      std::string small = absl::StrCat("%p", which);
      if (below(2) == 0) {
        absl::StrAppend(&body, "  %s", s, " = ", shapes[which],
                        " hlo.reduce(%x", s, ", %zero), dimensions=[",
                        reduced[which], "] ",
                        Region("f32", below(2) == 0 ? "add" : "maximum"), "\n");
        small = absl::StrCat("%s", s);
      }
      if (below(2) == 0) {
        absl::StrAppend(&body, "  %t", s, " = ", shapes[which], " hlo.",
                        below(2) == 0 ? "tanh" : "abs", "(", small, ")\n");
        small = absl::StrCat("%t", s);
      }
      absl::StrAppend(&body, "  %b", s, " = ", all, " hlo.broadcast_in_dim(",
                      small, "), dimensions=[", dimensions[which], "]\n");
      const char* const ops[] = {"add", "multiply", "divide", "maximum"};
      absl::StrAppend(&body, "  %x", s + 1, " = ", all, " hlo.", ops[below(4)],
                      "(%x", s, ", %b", s, ")\n");
    }
    absl::StrAppend(&body, "  return %x", stages, " as \"r\"");
    if (below(2) == 0) absl::StrAppend(&body, ", %x1 as \"first\"");
    Check(body + "\n", 1, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, FusedTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
