// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Stages whose rows are lines (host/compiler/kernels/line_graph.h): elementwise
// operations whose results are reduced along lines of whole rows of lanes, and
// duplicates that become one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/access.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/compiler/kernels/transpose_folding.h"
#include "host/ir/duplicates.h"
#include "host/ir/identities.h"
#include "host/ir/text.h"
#include "tests/lanes/device_check.h"
#include "tests/lanes/module_text.h"

namespace systole::lanes {
namespace {

class LinesTest : public testing::TestWithParam<const char*> {
 protected:
  LinesTest() : check_(GetParam()) {}

  int64_t Width() const { return FindPreset(GetParam())->cols; }
  // As many as two groups of rows, and some.
  int64_t Lines() const {
    return 2 * FindPreset(GetParam())->vector_rows() + 5;
  }

  void Check(const std::string& body, int64_t lines, int64_t columns) {
    check_.Check(ModuleText(body, lines, columns), ++seed_);
  }

  DeviceCheck check_;
  uint64_t seed_ = 0;
};

constexpr char kSoftmax[] = R"(  %x = f32[A,B] parameter(), name="x"
  %low = f32[] constant(), data=[-inf]
  %zero = f32[] constant(), data=[0]
  %y = f32[A,B] hlo.add(%x, %x)
  %l = f32[A] hlo.reduce(%y, %low), dimensions=[1] LARGEST
  %ll = f32[A,B] hlo.broadcast_in_dim(%l), dimensions=[0]
  %d = f32[A,B] hlo.subtract(%y, %ll)
  %e = f32[A,B] hlo.exponential(%d)
  %s = f32[A] hlo.reduce(%e, %zero), dimensions=[1] SUM
  %ss = f32[A,B] hlo.broadcast_in_dim(%s), dimensions=[0]
  %r = f32[A,B] hlo.divide(%e, %ss)
  return %r as "r"
)";

TEST_P(LinesTest, Softmax) {
  for (const int64_t chunks : {1, 2, 3, 4, 7, 8})
    Check(kSoftmax, Lines(), chunks * Width());
  Check(kSoftmax, 40 * Lines(), 2 * Width());
  Check(kSoftmax, Lines(), 64 * Width());  // too long
}

// A large one, of whole fours of registers full of lines, in blocks with halves
// at both ends.
TEST(LineBlocksTest, HalvesAtTheEndsAndLinesApart) {
  const std::string text = ModuleText(kSoftmax, 1024, 1024);
  const Preset& preset = *FindPreset("v2");
  auto module = ir::Parse(text);
  ASSERT_TRUE(module.ok()) << module.status();
  LowerModule(**module, preset);
  const DevicePlan plan = PlanFor(**module, preset);
  ASSERT_EQ(plan.steps.size(), 1u);
  std::vector<int64_t> lines[2];  // of blocks that are loaded, stored
  for (const isa::Descriptor& d : plan.steps[0].kernel->descriptors) {
    const isa::Queue queue = compiler::QueueOf(d);
    if (queue != isa::Queue::kLoad && queue != isa::Queue::kStore) continue;
    const isa::Load move = isa::Load::Decode(d);
    if (move.n1 == 1) continue;  // code, elements
    lines[queue == isa::Queue::kStore].push_back(move.n1);
    // A row of lanes apart: that of neighbours is in another bank.
    EXPECT_EQ(move.ub_stride1, 4096u + 512u);
  }
  const std::vector<int64_t> blocks = {128, 256, 256, 256, 128};
  EXPECT_EQ(lines[0], blocks);
  EXPECT_EQ(lines[1], blocks);
  DeviceCheck("v2").Check(text, 1);
}

TEST_P(LinesTest, SeveralReductionsOfAStage) {
  const char kBody[] = R"(  %x = f32[A,B] parameter(), name="x"
  %g = f32[A,B] parameter(), name="g"
  %m = f32[A] parameter(), name="m"
  %zero = f32[] parameter(), name="zero"
  %mm = f32[A,B] hlo.broadcast_in_dim(%m), dimensions=[0]
  %d = f32[A,B] hlo.subtract(%x, %mm)
  %gd = f32[A,B] hlo.multiply(%g, %d)
  %h = f32[A,B] hlo.negate(%g)
  %s = f32[A] hlo.reduce(%gd, %zero), dimensions=[1] SUM
  %t = f32[A] hlo.reduce(%h, %zero), dimensions=[1] SUM
  %u = f32[A] hlo.reduce(%d, %zero), dimensions=[1] LARGEST
  %v = f32[A] hlo.reduce(%gd, %zero), dimensions=[1] LARGEST
  return %s as "s", %t as "t", %u as "u", %v as "v"RETURNS
)";
  for (const char* more :
       {"", ", %gd as \"gd\"", ", %d as \"d\", %h as \"h\""}) {
    for (const int64_t chunks : {1, 4}) {
      Check(absl::StrReplaceAll(kBody, {{"RETURNS", more}}), Lines(),
            chunks * Width());
    }
  }
}

TEST_P(LinesTest, Types) {
  // Words only: halves are rounded as they are stored.
  Check(R"(  %x = i32[A,B] parameter(), name="x"
  %h = bf16[A,B] parameter(), name="h"
  %zero = i32[] constant(), data=[5]
  %none = bf16[] constant(), data=[0]
  %y = i32[A,B] hlo.multiply(%x, %x)
  %s = i32[A] hlo.reduce(%y, %zero), dimensions=[1] COUNT
  %k = bf16[A,B] hlo.add(%h, %h)
  %f = f32[A,B] hlo.convert(%k)
  %first = f32[] hlo.convert(%none)
  %t = f32[A] hlo.reduce(%f, %first), dimensions=[1] SUM
  return %s as "s", %t as "t", %k as "k"
)",
        Lines(), 3 * Width());
}

// A broadcast whose lines are longer or shorter than those that are reduced.
TEST_P(LinesTest, LinesOfOtherLengths) {
  const char kBody[] = R"(module @m {
  %%x = f32[%1$d,%2$d] parameter(), name="x"
  %%m = f32[%3$d] parameter(), name="m"
  %%zero = f32[] constant(), data=[0]
  %%mm = f32[%3$d,%4$d] hlo.broadcast_in_dim(%%m), dimensions=[0]
  %%mx = f32[%1$d,%2$d] hlo.reshape(%%mm)
  %%y = f32[%1$d,%2$d] hlo.multiply(%%x, %%mx)
  %%s = f32[%1$d] hlo.reduce(%%y, %%zero), dimensions=[1] %5$s
  return %%s as "s"
}
)";
  const int64_t lines = 2 * Lines(), row = 4 * Width();
  for (const int64_t of : {row / 4, row / 2, row, 2 * row}) {
    check_.Check(absl::StrFormat(kBody, lines, row, lines * row / of, of,
                                 Region("f32", "add")),
                 ++seed_);
  }
}

// Lines that are the same for all, beside what each line has one of.
TEST_P(LinesTest, RepeatedLines) {
  const char kBody[] = R"(  %x = f32[A,B] parameter(), name="x"
  %scale = f32[B] parameter(), name="scale"
  %shift = bf16[B] parameter(), name="shift"
  %m = f32[A] parameter(), name="m"
  %c = f32[B] hlo.convert(%shift)
  %g = f32[A,B] hlo.broadcast_in_dim(%scale), dimensions=[1]
  %h = f32[A,B] hlo.broadcast_in_dim(%c), dimensions=[1]
  %mm = f32[A,B] hlo.broadcast_in_dim(%m), dimensions=[0]
  %d = f32[A,B] hlo.subtract(%x, %mm)
  %e = f32[A,B] hlo.multiply(%d, %g)
  %y = f32[A,B] hlo.add(%e, %h)
  return %y as "y"
)";
  for (const int64_t chunks : {1, 3, 8}) {
    Check(kBody, Lines(), chunks * Width());
    Check(kBody, 30 * Lines(), chunks * Width());
    Check(kBody, Lines(), chunks * Width() + 1);
  }
}

TEST(DuplicatesTest, BecomeOne) {
  const auto count = [](const std::string& body) {
    auto module = ir::Parse(absl::StrCat("module @m {\n", body, "}\n"));
    EXPECT_TRUE(module.ok()) << module.status();
    return module.ok() ? ir::RemoveDuplicates(**module) : -1;
  };
  const std::string sums = absl::StrFormat(
      R"(  %%x = f32[4,8] parameter(), name="x"
  %%zero = f32[] constant(), data=[0]
  %%null = f32[] constant(), data=[0]
  %%minus = f32[] constant(), data=[-0]
  %%s = f32[4] hlo.reduce(%%x, %%zero), dimensions=[1] %1$s
  %%t = f32[4] hlo.reduce(%%x, %%null), dimensions=[1] %1$s
  %%u = f32[4] hlo.reduce(%%x, %%minus), dimensions=[1] %1$s
  %%v = f32[4] hlo.reduce(%%x, %%zero), dimensions=[1] %2$s
  %%a = f32[4] hlo.add(%%s, %%v)
  %%b = f32[4] hlo.add(%%t, %%v)
  return %%a as "a", %%b as "b", %%u as "u"
)",
      Region("f32", "add"), Region("f32", "maximum"));
  EXPECT_EQ(count(sums), 3);  // %null, %t, %b
  // What is behind barriers stays, for memory's sake.
  EXPECT_EQ(count(R"(  %x = f32[4] parameter(), name="x"
  %a = f32[4] hlo.negate(%x)
  %y = f32[4] hlo.optimization_barrier(%x)
  %b = f32[4] hlo.negate(%y)
  return %a as "a", %b as "b"
)"),
            0);
  EXPECT_EQ(count(R"(  %x = f32[] parameter(), name="x"
  %y = f32[] parameter(), name="y"
  %a = f32[4] hlo.rng(%x, %y), distribution=UNIFORM
  %b = f32[4] hlo.rng(%x, %y), distribution=UNIFORM
  return %a as "a", %b as "b"
)"),
            0);
}

TEST(IdentitiesTest, AreGone) {
  auto module = ir::Parse(R"(module @m {
  %x = f32[4,8] parameter(), name="x"
  %zero = f32[] constant(), data=[0]
  %p = f32[4,8] hlo.pad(%x, %zero), low=[0,0], high=[0,0], interior=[0,0]
  %s = f32[4,8] hlo.slice(%p), start=[0,0], limit=[4,8], strides=[1,1]
  %r = f32[4,8] hlo.reshape(%s)
  %c = f32[4,8] hlo.convert(%r)
  %t = f32[4,8] hlo.transpose(%c), permutation=[0,1]
  %b = f32[4,8] hlo.broadcast_in_dim(%t), dimensions=[0,1]
  %k = f32[4,8] hlo.concatenate(%b), dimension=0
  %v = f32[4,8] hlo.reverse(%k), dimensions=[]
  %shift = f32[4,8] hlo.pad(%v, %zero), low=[1,0], high=[-1,0],
    interior=[0,0]
  %back = f32[4,8] hlo.reverse(%shift), dimensions=[1]
  return %v as "v", %back as "back"
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::RemoveIdentities(**module), 8);
  EXPECT_EQ((*module)->outputs[0].node.node->name, "x");
  EXPECT_EQ((*module)->nodes().size(), 4u);
}

// The larger of -infinity and the largest element is that; the larger of
// -infinity and anything else may be another NaN, and of 0 another number.
TEST(IdentitiesTest, NothingIsBelowTheLargest) {
  const std::string body = R"(  %x = f32[A,B] parameter(), name="x"
  %y = f32[A] parameter(), name="y"
  %low = f32[] constant(), data=[-inf]
  %zero = f32[] constant(), data=[0]
  %lows = f32[A] hlo.broadcast_in_dim(%low), dimensions=[]
  %zeros = f32[A] hlo.broadcast_in_dim(%zero), dimensions=[]
  %l = f32[A] hlo.reduce(%x, %low), dimensions=[1] LARGEST
  %s = f32[A] hlo.reduce(%x, %zero), dimensions=[1] SUM
  %a = f32[A] hlo.maximum(%lows, %l)
  %b = f32[A] hlo.maximum(%l, %lows)
  %c = f32[A] hlo.maximum(%l, %zeros)
  %d = f32[A] hlo.maximum(%lows, %y)
  %e = f32[A] hlo.maximum(%s, %lows)
  return %a as "a", %b as "b", %c as "c", %d as "d", %e as "e"
)";
  auto module = ir::Parse(ModuleText(body, 6, 24));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::RemoveIdentities(**module), 2);
  const std::vector<ir::Output>& outputs = (*module)->outputs;
  EXPECT_EQ(outputs[0].node.node->op, ir::Op::kHloReduce);
  EXPECT_EQ(outputs[1].node.node, outputs[0].node.node);
  for (int i = 2; i < 5; ++i)
    EXPECT_EQ(outputs[i].node.node->op, ir::Op::kHloMaximum) << i;
  DeviceCheck("mini").Check(ModuleText(body, 6, 24), 1);
  // Without elements, the largest one is the initial value, any NaN.
  module = ir::Parse(ModuleText(body, 6, 0));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::RemoveIdentities(**module), 0);
}

// Between equal shapes, too, what exchanges dimensions moves.
TEST(IdentitiesTest, StayWhereDimensionsAreExchanged) {
  DeviceCheck("mini").Check(R"(module @m {
  %x = f32[6,6] parameter(), name="x"
  %b = f32[6,6] hlo.broadcast_in_dim(%x), dimensions=[1,0]
  %t = f32[6,6] hlo.transpose(%x), permutation=[1,0]
  %n = f32[6,6] hlo.negate(%x)
  %c = f32[6,6] hlo.broadcast_in_dim(%n), dimensions=[1,0]
  %s = f32[6,6] hlo.add(%c, %n)
  %o = f32[1,6] hlo.slice(%n), start=[2,0], limit=[3,6], strides=[1,1]
  %d = f32[6,1] hlo.broadcast_in_dim(%o), dimensions=[1,0]
  %e = f32[6,6] hlo.broadcast_in_dim(%d), dimensions=[1,0]
  %u = f32[6,6] hlo.add(%e, %s)
  return %b as "b", %t as "t", %s as "s", %u as "u"
}
)",
                            3);
}

// Transposes in front of products, also two after each other; not those that
// would change the order of the result's dimensions.
TEST(TransposesTest, AreFolded) {
  DeviceCheck check("mini");
  const auto transposes = [&](const std::string& body) {
    const std::string text = absl::StrCat("module @m {\n", body, "}\n");
    check.Check(text, 3);
    auto module = ir::Parse(text);
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return -1;
    FoldTransposes(**module, *FindPreset("mini"));
    int count = 0;
    for (const auto& node : (*module)->nodes())
      count += node->op == ir::Op::kHloTranspose;
    return count;
  };
  EXPECT_EQ(transposes(R"(  %x = f32[5,7] parameter(), name="x"
  %y = f32[9,5] parameter(), name="y"
  %a = f32[7,5] hlo.transpose(%x), permutation=[1,0]
  %b = f32[5,7] hlo.transpose(%a), permutation=[1,0]
  %c = f32[7,5] hlo.transpose(%b), permutation=[1,0]
  %d = f32[5,9] hlo.transpose(%y), permutation=[1,0]
  %r = f32[7,9] hlo.dot_general(%c, %d), lhs_batching=[], rhs_batching=[],
    lhs_contracting=[1], rhs_contracting=[0], precision=DEFAULT
  return %r as "r"
)"),
            0);
  EXPECT_EQ(transposes(R"(  %x = f32[2,3,4,5] parameter(), name="x"
  %y = f32[2,5,6] parameter(), name="y"
  %a = f32[4,2,3,5] hlo.transpose(%x), permutation=[2,0,1,3]
  %b = f32[5,6,2] hlo.transpose(%y), permutation=[1,2,0]
  %r = f32[2,4,3,6] hlo.dot_general(%a, %b), lhs_batching=[1],
    rhs_batching=[2], lhs_contracting=[3], rhs_contracting=[0],
    precision=DEFAULT
  return %r as "r"
)"),
            1);
}

// Transposes behind products that exchange the free dimensions; not if others
// read the product, or if the passes would come in another order.
TEST(TransposesTest, OfResultsAreFolded) {
  DeviceCheck check("mini");
  const auto transposes = [&](const std::string& precision, const char* others,
                              const char* permutation) {
    const std::string text = absl::StrCat(
        R"(module @m {
  %x = f32[2,9,5,3] parameter(), name="x"
  %y = f32[2,5,7] parameter(), name="y"
  %p = f32[2,9,3,7] hlo.dot_general(%x, %y), lhs_batching=[0],
    rhs_batching=[0], lhs_contracting=[2], rhs_contracting=[1], precision=)",
        precision, "\n  %t = f32[2,", permutation,
        "\n  %n = f32[2,9,3,7] hlo.negate(%p)\n  return %t as \"t\"", others,
        "\n}\n");
    check.Check(text, 3);
    auto module = ir::Parse(text);
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return -1;
    (*module)->RemoveUnused();
    FoldTransposes(**module, *FindPreset("mini"));
    int count = 0;
    for (const auto& node : (*module)->nodes())
      count += node->op == ir::Op::kHloTranspose;
    return count;
  };
  constexpr char kExchanged[] =
      "7,9,3] hlo.transpose(%p), permutation=[0,3,1,2]";
  EXPECT_EQ(transposes("DEFAULT", "", kExchanged), 0);
  EXPECT_EQ(transposes("DEFAULT", ", %n as \"n\"", kExchanged), 1);
  EXPECT_EQ(transposes("HIGH", "", kExchanged), 1);
  EXPECT_EQ(transposes("DEFAULT", "",
                       "7,3,9] hlo.transpose(%p), permutation=[0,3,2,1]"),
            1);
}

// Results so wide that they are computed in bands of columns.
TEST_P(LinesTest, WideProducts) {
  const Preset& preset = *FindPreset(GetParam());
  const int64_t n = static_cast<int64_t>(preset.ub_bytes) / 32;
  const auto product = [&](int64_t batch, int64_t m, int64_t k, int64_t n) {
    check_.Check(absl::StrFormat(R"(module @m {
  %%a = bf16[%1$d,%2$d,%3$d] parameter(), name="a"
  %%b = bf16[%1$d,%3$d,%4$d] parameter(), name="b"
  %%t = bf16[%1$d,%4$d,%3$d] parameter(), name="t"
  %%r = f32[%1$d,%2$d,%4$d] hlo.dot_general(%%a, %%b), lhs_batching=[0],
    rhs_batching=[0], lhs_contracting=[2], rhs_contracting=[1],
    precision=DEFAULT
  %%u = f32[%1$d,%2$d,%4$d] hlo.dot_general(%%a, %%t), lhs_batching=[0],
    rhs_batching=[0], lhs_contracting=[2], rhs_contracting=[2],
    precision=DEFAULT
  return %%r as "r", %%u as "u"
}
)",
                                 batch, m, k, n),
                 7);
  };
  if (GetParam() == std::string("v2")) return product(1, 3, 512, 8192);
  product(1, 7, 160, n);
  product(2, 11, 96, n / 2 + 64);
  product(1, 5, 96, n / 2 + 160);  // rows that begin within a beat
}

INSTANTIATE_TEST_SUITE_P(Presets, LinesTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
