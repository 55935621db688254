// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Regions of several operations on tensors: map, windows of several operands,
// of many taps, with negative padding; reductions of many elements.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/kernels/associative_region.h"
#include "host/ir/text.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

// The larger number and its index, the first of equal ones; as jax's argmax.
constexpr char kLargest[] = R"({
    %a = $T[] parameter()
    %i = i32[] parameter()
    %b = $T[] parameter()
    %j = i32[] parameter()
    %more = i1[] hlo.compare(%a, %b), direction=GT
    %nan = i1[] hlo.compare(%a, %a), direction=NE
    %first = i1[] hlo.or(%more, %nan)
    %same = i1[] hlo.compare(%a, %b), direction=EQ
    %before = i1[] hlo.compare(%i, %j), direction=LT
    %earlier = i1[] hlo.and(%same, %before)
    %keep = i1[] hlo.or(%first, %earlier)
    %v = $T[] hlo.select(%first, %a, %b)
    %k = i32[] hlo.select(%keep, %i, %j)
    return %v, %k
  })";

// log(exp(a) + exp(b)), by the larger one.
constexpr char kLogSum[] = R"({
    %a = $T[] parameter()
    %b = $T[] parameter()
    %most = $T[] hlo.maximum(%a, %b)
    %less = $T[] hlo.subtract(%a, %b)
    %size = $T[] hlo.abs(%less)
    %minus = $T[] hlo.negate(%size)
    %power = $T[] hlo.exponential(%minus)
    %log = $T[] hlo.log_plus_one(%power)
    %sum = $T[] hlo.add(%most, %log)
    return %sum
  })";

class RegionsTest : public testing::TestWithParam<const char*> {
 protected:
  RegionsTest() : check_(GetParam()) {}

  void Pairs(const std::string& op, const std::string& type,
             const std::string& from, const std::string& to,
             const std::string& attributes) {
    const std::string region = absl::StrReplaceAll(kLargest, {{"$T", type}});
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = %1$s[%3$s] parameter(), name="x"
  %%y = i32[%3$s] parameter(), name="y"
  %%a = %1$s[] parameter(), name="a"
  %%b = i32[] parameter(), name="b"
  %%r = (%1$s[%4$s], i32[%4$s]) hlo.%2$s(%%x, %%y, %%a, %%b), %5$s %6$s
  return %%r#0 as "v", %%r#1 as "k"
}
)",
                                 type, op, from, to, attributes, region),
                 7);
  }

  void One(const std::string& op, const std::string& type,
           const std::string& from, const std::string& to,
           const std::string& attributes) {
    const std::string region = absl::StrReplaceAll(kLogSum, {{"$T", type}});
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = %1$s[%3$s] parameter(), name="x"
  %%a = %1$s[] parameter(), name="a"
  %%r = %1$s[%4$s] hlo.%2$s(%%x, %%a), %5$s %6$s
  return %%r as "r"
}
)",
                                 type, op, from, to, attributes, region),
                 8);
  }

  DeviceCheck check_;
};

constexpr char kPool[] =
    "window=[1,3,2,1], stride=[1,2,1,1], base_dilation=[1,1,1,1], "
    "window_dilation=[1,1,2,1], low=[0,1,0,0], high=[0,1,2,0]";

TEST_P(RegionsTest, WindowsOfSeveralOperands) {
  for (const char* type : {"f32", "bf16", "f16", "i32"})
    Pairs("reduce_window", type, "2,7,9,5", "2,4,9,5", kPool);
}

TEST_P(RegionsTest, WindowsBySeveralOperations) {
  // Running sums: few taps, and a loop over many.
  for (const int size : {2, 31, 32, 33, 100}) {
    One("reduce_window", "f32", absl::StrCat(size), absl::StrCat(size),
        absl::StrFormat("window=[%d], stride=[1], base_dilation=[1], "
                        "window_dilation=[1], low=[%d], high=[0]",
                        size, size - 1));
  }
  One("reduce_window", "bf16", "3,60", "3,60",
      "window=[1,60], stride=[1,1], base_dilation=[1,1], "
      "window_dilation=[1,1], low=[0,0], high=[0,59]");
  // Strides, dilation of either side and taps along two dimensions.
  One("reduce_window", "f32", "20,9", "6,10",
      "window=[7,6], stride=[4,1], base_dilation=[2,2], "
      "window_dilation=[3,2], low=[0,2], high=[0,1]");
}

TEST_P(RegionsTest, WindowsWithoutKernel) {
  const auto sum = [&](const std::string& from, const std::string& to,
                       const std::string& attributes) {
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = f32[%s] parameter(), name="x"
  %%i = f32[] parameter(), name="i"
  %%r = f32[%s] hlo.reduce_window(%%x, %%i), %s {
    %%a = f32[] parameter()
    %%b = f32[] parameter()
    %%c = f32[] hlo.add(%%a, %%b)
    return %%c
  }
  return %%r as "r"
}
)",
                                 from, to, attributes),
                 9);
  };
  // Negative padding; more taps than a kernel takes.
  sum("30", "12",
      "window=[2], stride=[2], base_dilation=[1], window_dilation=[1], "
      "low=[-3], high=[-2]");
  sum("1100", "1",
      "window=[1100], stride=[1], base_dilation=[1], window_dilation=[1], "
      "low=[0], high=[0]");
}

TEST_P(RegionsTest, Maps) {
  check_.Check(R"(module @m {
  %x = f32[5,40] parameter(), name="x"
  %y = f32[5,40] parameter(), name="y"
  %r = f32[5,40] hlo.map(%x, %y), dimensions=[0,1] {
    %a = f32[] parameter()
    %b = f32[] parameter()
    %two = f32[] constant(), data=[2.0]
    %p = f32[] hlo.multiply(%a, %two)
    %c = f32[] hlo.subtract(%p, %b)
    return %c
  }
  return %r as "r"
}
)",
               10);
}

TEST_P(RegionsTest, ReductionsOfManyElements) {
  for (const char* sizes : {"511", "512", "513", "1024", "2000"}) {
    Pairs("reduce", "f32", sizes, "", "dimensions=[0]");
    One("reduce", "f32", sizes, "", "dimensions=[0]");
  }
  for (const char* sizes : {"33", "100", "1025", "5000"})
    Pairs("reduce", "f32", sizes, "", "dimensions=[0]");
  Pairs("reduce", "f32", "130,65", "130", "dimensions=[1]");
  Pairs("reduce", "f16", "17,40", "40", "dimensions=[0]");
  Pairs("reduce", "bf16", "3,1300", "3", "dimensions=[1]");
  Pairs("reduce", "i32", "700,5", "5", "dimensions=[0]");
  Pairs("reduce", "f32", "4,30,6,31", "4,6", "dimensions=[1,3]");
}

TEST(AssociativeRegionTest, TriesAllOrders) {
  const auto associative = [](const std::string& region) {
    const absl::StatusOr<std::unique_ptr<ir::Module>> module =
        ir::Parse(absl::StrCat(R"(module @m {
  %x = f32[9] parameter(), name="x"
  %y = i32[9] parameter(), name="y"
  %i = f32[] parameter(), name="i"
  %j = i32[] parameter(), name="j"
  %m = (f32[], i32[]) hlo.reduce(%x, %y, %i, %j), dimensions=[0] )",
                               absl::StrReplaceAll(region, {{"$T", "f32"}}),
                               R"(
  return %m as "v", %m#1 as "k"
}
)"));
    EXPECT_TRUE(module.ok()) << module.status();
    return module.ok() && IsAssociative(*(*module)->nodes().back()->regions[0]);
  };
  const auto with = [](const char* text, const char* other) {
    return absl::StrReplaceAll(kLargest, {{text, other}});
  };
  EXPECT_TRUE(associative(kLargest));
  // Without the NaN, 1 or 0 is left of 1, NaN, 0.
  EXPECT_FALSE(associative(with("direction=NE", "direction=GT")));
  EXPECT_FALSE(
      associative(with("hlo.and(%same, %before)", "hlo.xor(%same, %before)")));
  // Arithmetic rounds.
  EXPECT_FALSE(
      associative(with("hlo.select(%first, %a, %b)", "hlo.add(%a, %b)")));
}

// More than the unified buffer of the smallest preset holds at a time.
TEST_P(RegionsTest, ReductionsInParts) {
  Pairs("reduce", "f32", "90,300", "90", "dimensions=[1]");
  Pairs("reduce", "bf16", "70,100", "70", "dimensions=[1]");
  Pairs("reduce", "f32", "3,9000", "3", "dimensions=[1]");
}

INSTANTIATE_TEST_SUITE_P(Presets, RegionsTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
