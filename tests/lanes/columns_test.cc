// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reductions of columns after other stages: of sections, whose first levels the
// stage before combines (host/compiler/kernels/line_graph.h); values that are
// computed again in each kernel (fusion.h); kernels that run along with a
// product (plan_pairs.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "host/compiler/access.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/ir/text.h"
#include "tests/lanes/device_check.h"
#include "tests/lanes/module_text.h"

namespace systole::lanes {
namespace {

class ColumnsTest : public testing::TestWithParam<const char*> {
 protected:
  ColumnsTest() : check_(GetParam()) {}

  void Check(const std::string& body, int64_t rows, int64_t columns) {
    check_.Check(ModuleText(body, rows, columns), ++seed_);
  }
  // As many rows as fill the registers with sections of 128.
  int64_t Rows() const {
    return 128 * (2 * FindPreset(GetParam())->vector_rows() + 3);
  }

  DeviceCheck check_;
  uint64_t seed_ = 0;
};

// The mean and the variance of each column, and the columns with mean 0.
constexpr char kStatistics[] = R"(  %x = f32[A,B] parameter(), name="x"
  %zero = f32[] constant(), data=[0]
  %n = f32[] parameter(), name="n"
  %s = f32[B] hlo.reduce(%x, %zero), dimensions=[0] SUM
  %nn = f32[B] hlo.broadcast_in_dim(%n), dimensions=[]
  %m = f32[B] hlo.divide(%s, %nn)
  %mm = f32[A,B] hlo.broadcast_in_dim(%m), dimensions=[1]
  %d = f32[A,B] hlo.subtract(%x, %mm)
  %dd = f32[A,B] hlo.multiply(%d, %d)
  %v = f32[B] hlo.reduce(%dd, %zero), dimensions=[0] SUM
  %h = f32[A,B] hlo.add(%d, %d)
  return %m as "m", %v as "v", %h as "h"
)";

TEST_P(ColumnsTest, Statistics) {
  for (const int64_t columns : {3, 12, 24, 32, 64, 130}) {
    Check(kStatistics, Rows(), columns);
    Check(kStatistics, 7 * 112, columns);
  }
  Check(kStatistics, 6700, 12);  // sections of 100
  Check(kStatistics, 4096, 1);
  Check(kStatistics, 1021, 5);  // no sections of equal length
}

// Several reductions of a stage, of values that are stored or not; elements of
// several sizes.
TEST_P(ColumnsTest, SeveralReductionsOfAStage) {
  const char kBody[] = R"(  %x = f32[A,B] parameter(), name="x"
  %g = f32[A,B] parameter(), name="g"
  %c = i1[A,B] parameter(), name="c"
  %k = bf16[A,B] parameter(), name="k"
  %b = f32[B] parameter(), name="b"
  %zero = f32[] parameter(), name="zero"
  %none = bf16[] constant(), data=[0]
  %bb = f32[A,B] hlo.broadcast_in_dim(%b), dimensions=[1]
  %zz = f32[A,B] hlo.broadcast_in_dim(%zero), dimensions=[]
  %gg = f32[A,B] hlo.select(%c, %g, %zz)
  %xg = f32[A,B] hlo.multiply(%x, %gg)
  %q = f32[A,B] hlo.divide(%xg, %bb)
  %s = f32[B] hlo.reduce(%gg, %zero), dimensions=[0] SUM
  %t = f32[B] hlo.reduce(%xg, %zero), dimensions=[0] SUM
  %u = f32[B] hlo.reduce(%q, %zero), dimensions=[0] LARGEST
  %v = bf16[B] hlo.reduce(%k, %none), dimensions=[0] HALF
  return %s as "s", %t as "t", %u as "u", %v as "v"RETURNS
)";
  for (const char* more : {"", ", %gg as \"gg\"", ", %q as \"q\""}) {
    const std::string body = absl::StrReplaceAll(
        kBody, {{"RETURNS", more}, {"HALF", Region("bf16", "add")}});
    Check(body, Rows(), 12);
    Check(body, 6 * 128, 40);
  }
}

// Of each image, and down rows of which lines are reduced too.
TEST_P(ColumnsTest, BesideLines) {
  Check(R"(  %x = f32[A,B] parameter(), name="x"
  %zero = f32[] constant(), data=[0]
  %y = f32[A,B] hlo.add(%x, %x)
  %s = f32[A] hlo.reduce(%y, %zero), dimensions=[1] SUM
  %t = f32[B] hlo.reduce(%y, %zero), dimensions=[0] LARGEST
  return %s as "s", %t as "t"
)",
        Rows(), 32);
  check_.Check(absl::StrReplaceAll(R"(module @m {
  %x = f32[9,16,24,20] parameter(), name="x"
  %zero = f32[] constant(), data=[0]
  %y = f32[9,16,24,20] hlo.multiply(%x, %x)
  %s = f32[9,20] hlo.reduce(%y, %zero), dimensions=[1,2] SUM
  return %s as "s"
}
)",
                                   {{"SUM", Region("f32", "add")}}),
               ++seed_);
}

// What repeats with rows of its own is not the same for all chunks of a
// section.
TEST_P(ColumnsTest, RepeatedPlanes) {
  for (const char* b : {"[16,12], dimensions=[1,2]", "[12], dimensions=[2]",
                        "[97,12], dimensions=[0,2]"}) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(b, absl::MaxSplits(", ", 1));
    check_.Check(absl::StrReplaceAll(
                     R"(module @m {
  %x = f32[97,16,12] parameter(), name="x"
  %b = f32PLANE parameter(), name="b"
  %zero = f32[] constant(), data=[0]
  %bb = f32[97,16,12] hlo.broadcast_in_dim(%b), ALONG
  %y = f32[97,16,12] hlo.add(%x, %bb)
  %s = f32[12] hlo.reduce(%y, %zero), dimensions=[0,1] SUM
  return %s as "s"
}
)",
                     {{"PLANE", parts.first},
                      {"ALONG", parts.second},
                      {"SUM", Region("f32", "add")}}),
                 ++seed_);
  }
}

// A shorter section ends with what changes no element, not even -0.
TEST_P(ColumnsTest, NegativeZeros) {
  Check(R"(  %x = i32[A,B] parameter(), name="x"
  %none = i32[] constant(), data=[0]
  %sign = i32[] constant(), data=[-2147483648]
  %minus = f32[] constant(), data=[-0]
  %nn = i32[A,B] hlo.broadcast_in_dim(%none), dimensions=[]
  %ss = i32[A,B] hlo.broadcast_in_dim(%sign), dimensions=[]
  %a = i32[A,B] hlo.and(%x, %nn)
  %b = i32[A,B] hlo.or(%a, %ss)
  %z = f32[A,B] hlo.bitcast_convert(%b)
  %s = f32[B] hlo.reduce(%z, %minus), dimensions=[0] SUM
  return %s as "s"
)",
        257, 3);
}

constexpr char kProductAndStep[] = R"(module @m {
  %x = bf16[K,K] parameter(), name="x"
  %y = bf16[K,K] parameter(), name="y"
  %w = f32[N] parameter(), name="w"
  %g = f32[N] parameter(), name="g"
  %m = f32[N] parameter(), name="m"
  %b = f32[] parameter(), name="b"
  %z = f32[K,K] hlo.dot_general(%x, %y), lhs_batching=[], rhs_batching=[],
    lhs_contracting=[1], rhs_contracting=[0]
  %bb = f32[N] hlo.broadcast_in_dim(%b), dimensions=[]
  %d = f32[N] hlo.subtract(%g, %m)
  %e = f32[N] hlo.multiply(%d, %bb)
  %mm = f32[N] hlo.add(%m, %e)
  %mb = f32[N] hlo.multiply(%mm, %bb)
  %q = f32[N] hlo.divide(%mb, %g)
  %ww = f32[N] hlo.subtract(%w, %q)
  return %z as "z", %mm as "m", %ww as "w"
}
)";

class PairsTest : public testing::TestWithParam<const char*> {};

// Descriptors of a program by kernel: number in the program, queue.
struct Place {
  int at;
  isa::Queue queue;
};
std::map<int, std::vector<Place>> PlacesOf(const KernelProgram& program) {
  std::map<int, std::vector<Place>> places;
  for (const isa::Descriptor& d : program.descriptors) {
    const auto at = static_cast<int>(&d - program.descriptors.data());
    places[compiler::TagOf(d)].push_back({at, compiler::QueueOf(d)});
  }
  return places;
}

// While the array is at work, the vector unit computes the step.
TEST_P(PairsTest, AlongWithAProduct) {
  const Preset& preset = *FindPreset(GetParam());
  const int64_t k = preset.rows == 8 ? 256 : 8 * preset.rows;
  const std::string text = absl::StrReplaceAll(
      kProductAndStep,
      {{"[K,K]", absl::StrCat("[", k, ",", k, "]")},
       {"[N]", absl::StrCat("[", preset.rows == 8 ? 20001 : 512 * k, "]")}});
  DeviceCheck check(GetParam());
  check.Check(text, 1);
  check.Check(text, 2);

  auto module = ir::Parse(text);
  ASSERT_TRUE(module.ok()) << module.status();
  LowerModule(**module, preset);
  const DevicePlan plan = PlanFor(**module, preset);
  ASSERT_EQ(plan.steps.size(), 1);
  // The step takes longer than the product. Most of what can lies between the
  // first and the last of its passes.
  int first = INT_MAX, last = 0, between = 0, runs = 0;
  const auto places = PlacesOf(*plan.steps[0].kernel);
  for (const auto& [tag, all] : places) {
    for (const Place& place : all) {
      if (place.queue != isa::Queue::kMxu) continue;
      first = std::min(first, place.at);
      last = std::max(last, place.at);
    }
  }
  for (const auto& [tag, all] : places) {
    if (std::any_of(all.begin(), all.end(), [](const Place& place) {
          return place.queue == isa::Queue::kMxu;
        }))
      continue;
    for (const Place& place : all) {
      if (place.queue != isa::Queue::kVector) continue;
      ++runs;
      between += place.at > first && place.at < last;
    }
  }
  EXPECT_GE(5 * between, 2 * runs) << between << " of " << runs;
}

// One after the other, of which one needs what the one before makes.
TEST_P(PairsTest, SeveralAlongWithAProduct) {
  const Preset& preset = *FindPreset(GetParam());
  const int64_t k = preset.rows == 8 ? 256 : 16 * preset.rows;
  const int64_t n = preset.rows == 8 ? 96 : 256;
  const std::string text = absl::StrReplaceAll(
      R"(module @m {
  %x = bf16[K,K] parameter(), name="x"
  %y = bf16[K,K] parameter(), name="y"
  %u = f32[N,N] parameter(), name="u"
  %w = f32[N,N] parameter(), name="w"
  %z = f32[K,K] hlo.dot_general(%x, %y), lhs_batching=[], rhs_batching=[],
    lhs_contracting=[1], rhs_contracting=[0]
  %t = f32[N,N] hlo.transpose(%u), permutation=[1,0]
  %q = f32[N,N] hlo.divide(%t, %w)
  %v = f32[N,N] hlo.transpose(%q), permutation=[1,0]
  return %z as "z", %v as "v", %q as "q"
}
)",
      {{"[K,K]", absl::StrCat("[", k, ",", k, "]")},
       {"[N,N]", absl::StrCat("[", n, ",", n, "]")}});
  DeviceCheck(GetParam()).Check(text, 1);
  auto module = ir::Parse(text);
  ASSERT_TRUE(module.ok()) << module.status();
  LowerModule(**module, preset);
  const DevicePlan plan = PlanFor(**module, preset);
  ASSERT_EQ(plan.steps.size(), 1);
  const auto places = PlacesOf(*plan.steps[0].kernel);
  std::vector<int> passes;
  for (const auto& [tag, all] : places)
    for (const Place& place : all)
      if (place.queue == isa::Queue::kMxu) passes.push_back(place.at);
  const auto [first, last] = std::minmax_element(passes.begin(), passes.end());
  int between = 0;  // kernels whose work lies between passes
  for (const auto& [tag, all] : places) {
    const auto is_mxu = [](const Place& p) {
      return p.queue == isa::Queue::kMxu;
    };
    if (std::none_of(all.begin(), all.end(), is_mxu))
      between += all.back().at > *first && all.back().at < *last;
  }
  EXPECT_EQ(between, 3);
}

// Not with a product that needs it, nor with one that it needs.
TEST_P(PairsTest, InOrder) {
  const int64_t k = FindPreset(GetParam())->rows == 8 ? 96 : 256;
  DeviceCheck check(GetParam());
  check.Check(
      absl::StrReplaceAll(R"(module @m {
  %x = f32[K,K] parameter(), name="x"
  %y = bf16[K,K] parameter(), name="y"
  %a = f32[K,K] hlo.divide(%x, %x)
  %b = f32[K,K] hlo.subtract(%a, %x)
  %c = bf16[K,K] hlo.convert(%b)
  %z = f32[K,K] hlo.dot_general(%c, %y), lhs_batching=[], rhs_batching=[],
    lhs_contracting=[1], rhs_contracting=[0]
  %t = f32[K,K] hlo.transpose(%z), permutation=[1,0]
  %d = f32[K,K] hlo.divide(%t, %x)
  %e = bf16[K,K] hlo.convert(%d)
  %w = f32[K,K] hlo.dot_general(%y, %e), lhs_batching=[], rhs_batching=[],
    lhs_contracting=[1], rhs_contracting=[0]
  return %w as "w", %d as "d"
}
)",
                          {{"[K,K]", absl::StrCat("[", k, ",", k, "]")}}),
      1);
}

// The kernel of the convolution repeats the bias, whose sum another kernel
// needs as well: so the convolution's result leaves its kernel.
TEST_P(ColumnsTest, RepeatedBehindAProduct) {
  check_.Check(R"(module @m {
  %x = f32[4,32,32,64] parameter(), name="x"
  %w = f32[3,3,64,64] parameter(), name="w"
  %bias = f32[64] parameter(), name="bias"
  %zero = f32[] constant(), data=[0]
  %n = f32[] constant(), data=[1024]
  %c = f32[4,16,16,64] hlo.convolution(%x, %w), stride=[2,2], low=[0,0],
    high=[1,1], lhs_dilation=[1,1], rhs_dilation=[1,1], reversal=[0,0],
    input_batch=0, input_feature=3, input_spatial=[1,2],
    kernel_input_feature=2, kernel_output_feature=3, kernel_spatial=[0,1],
    output_batch=0, output_feature=3, output_spatial=[1,2],
    feature_group_count=1, batch_group_count=1, precision=DEFAULT
  %b = f32[4,16,16,64] hlo.broadcast_in_dim(%bias), dimensions=[3]
  %z = f32[4,16,16,64] hlo.add(%c, %b)
  %s = f32[64] hlo.reduce(%z, %zero), dimensions=[0,1,2] {
    %p = f32[] parameter()
    %q = f32[] parameter()
    %r = f32[] hlo.add(%p, %q)
    return %r
  }
  %zz = f32[4,16,16,64] hlo.multiply(%z, %z)
  %t = f32[64] hlo.reduce(%zz, %zero), dimensions=[0,1,2] {
    %p = f32[] parameter()
    %q = f32[] parameter()
    %r = f32[] hlo.add(%p, %q)
    return %r
  }
  %ns = f32[64] hlo.broadcast_in_dim(%n), dimensions=[]
  %m = f32[64] hlo.divide(%s, %ns)
  %e = f32[64] hlo.divide(%t, %ns)
  %mm = f32[64] hlo.multiply(%m, %m)
  %v = f32[64] hlo.subtract(%e, %mm)
  %ms = f32[4,16,16,64] hlo.broadcast_in_dim(%m), dimensions=[3]
  %vs = f32[4,16,16,64] hlo.broadcast_in_dim(%v), dimensions=[3]
  %d = f32[4,16,16,64] hlo.subtract(%z, %ms)
  %y = f32[4,16,16,64] hlo.multiply(%d, %vs)
  return %y as "y"
}
)",
               ++seed_);
}

// Lines that the unified buffer does not hold, or hardly.
TEST_P(ColumnsTest, CutLines) {
  const int64_t words =
      static_cast<int64_t>(FindPreset(GetParam())->ub_bytes) / 4;
  const auto reduce = [&](const char* type, const char* op, int64_t lines,
                          int64_t count) {
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = %1$s[%3$d,%4$d] parameter(), name="x"
  %%i = %1$s[] parameter(), name="i"
  %%r = %1$s[%3$d] hlo.reduce(%%x, %%i), dimensions=[1] %2$s
  return %%r as "r"
}
)",
                                 type, Region(type, op), lines, count),
                 ++seed_);
  };
  reduce("f32", "add", 1, words);
  reduce("f32", "add", 1, words + 37);
  reduce("f32", "multiply", 1, words / 2 - 1);
  if (GetParam() == std::string("v2")) return;
  reduce("f32", "maximum", 2, 3 * words - 5);
  reduce("bf16", "add", 3, 4 * words + 1);
  reduce("f16", "minimum", 1, 2 * words + 64);
  reduce("i32", "minimum", 1, words + 1);
  reduce("i16", "xor", 1, 2 * words + 2);
  reduce("u8", "maximum", 1, 4 * words + 3);
}

INSTANTIATE_TEST_SUITE_P(Presets, ColumnsTest,
                         testing::Values("mini", "lite", "v2"));
INSTANTIATE_TEST_SUITE_P(Presets, PairsTest, testing::Values("mini", "lite"));

}  // namespace
}  // namespace systole::lanes
