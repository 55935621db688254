// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Moves and reductions that have kernels, against the host.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

class MovesTest : public testing::TestWithParam<const char*> {
 protected:
  MovesTest() : check_(GetParam()) {}

  // result = hlo.op(x, rest), for elements of every size.
  void Move(const std::string& from, const std::string& to,
            const std::string& operation, const std::string& more = "") {
    for (const char* type : {"f32", "i1", "f16", "u64"}) {
      std::string text = absl::StrFormat(
          "module @m {\n  %%x = %1$s[%2$s] parameter(), name=\"x\"\n", type,
          from);
      if (!more.empty()) {
        absl::StrAppendFormat(&text, "  %%y = %s[%s] parameter(), name=\"y\"\n",
                              type, more == "scalar" ? "" : more);
      }
      absl::StrAppendFormat(&text,
                            "  %%r = %s[%s] hlo.%s\n  return %%r as \"r\"\n}\n",
                            type, to, operation);
      check_.Check(text, 5);
    }
  }

  void Reduce(const std::string& type, const std::string& op,
              const std::string& from, const std::string& to,
              const std::string& dimensions) {
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = %1$s[%2$s] parameter(), name="x"
  %%i = %1$s[] parameter(), name="i"
  %%r = %1$s[%3$s] hlo.reduce(%%x, %%i), dimensions=[%4$s] {
    %%a = %1$s[] parameter()
    %%b = %1$s[] parameter()
    %%c = %1$s[] hlo.%5$s(%%a, %%b)
    return %%c
  }
  return %%r as "r"
}
)",
                                 type, from, to, dimensions, op),
                 3);
  }

  DeviceCheck check_;
};

TEST_P(MovesTest, Broadcasts) {
  Move("5", "3,5", "broadcast_in_dim(%x), dimensions=[1]");
  Move("5", "5,3", "broadcast_in_dim(%x), dimensions=[0]");
  Move("12", "40,12", "broadcast_in_dim(%x), dimensions=[1]");
  Move("2,7", "2,3,7,4", "broadcast_in_dim(%x), dimensions=[0,2]");
  Move("3,1", "3,141", "broadcast_in_dim(%x), dimensions=[0,1]");
  Move("129", "2,129", "broadcast_in_dim(%x), dimensions=[1]");
  Move("3", "700,3", "broadcast_in_dim(%x), dimensions=[1]");
  Move("5,3", "5,111,3", "broadcast_in_dim(%x), dimensions=[0,2]");
  Move("4,5", "5,4", "broadcast_in_dim(%x), dimensions=[1,0]");
  Move("4,1", "7,4", "broadcast_in_dim(%x), dimensions=[1,0]");
  Move("1,40", "40,9", "broadcast_in_dim(%x), dimensions=[1,0]");
  Move("4,5", "5,2,4", "broadcast_in_dim(%x), dimensions=[2,0]");
  Move("3,3,3", "3,3,3", "broadcast_in_dim(%x), dimensions=[1,2,0]");
  Move("2,5,3", "2,40,5,3", "broadcast_in_dim(%x), dimensions=[0,2,3]");
}

TEST_P(MovesTest, Transposes) {
  Move("3,5", "5,3", "transpose(%x), permutation=[1,0]");
  Move("9,17", "17,9", "transpose(%x), permutation=[1,0]");
  Move("130,9", "9,130", "transpose(%x), permutation=[1,0]");
  Move("2,3,5,4", "3,2,5,4", "transpose(%x), permutation=[1,0,2,3]");
  Move("2,3,5,4", "4,5,3,2", "transpose(%x), permutation=[3,2,1,0]");
}

TEST_P(MovesTest, Parts) {
  Move("7,9", "3,4", "slice(%x), start=[2,1], limit=[5,9], strides=[1,2]");
  Move("200", "131", "slice(%x), start=[3], limit=[134], strides=[1]");
  Move("7,9", "7,9", "reverse(%x), dimensions=[0]");
  Move("7,9", "7,9", "reverse(%x), dimensions=[1,0]");
  Move("3,4", "3,9", "concatenate(%x, %y), dimension=1", "3,5");
  Move("3,4", "5,4", "concatenate(%x, %y), dimension=0", "2,4");
  Move("3,4", "8,6", "pad(%x, %y), low=[1,0], high=[2,2], interior=[1,0]",
       "scalar");
}

// Blocks of the transposer: whole ones, parts in both directions, neighbours
// in a word; lines of no whole beats.
TEST_P(MovesTest, TransposesOfManyElements) {
  Move("128,128", "128,128", "transpose(%x), permutation=[1,0]");
  Move("200,129", "129,200", "transpose(%x), permutation=[1,0]");
  Move("517,3", "3,517", "transpose(%x), permutation=[1,0]");
  Move("2,258,2", "2,2,258", "transpose(%x), permutation=[0,2,1]");
  Move("3,40,5,9", "9,5,3,40", "transpose(%x), permutation=[3,2,0,1]");
  Move("512,256", "256,512", "transpose(%x), permutation=[1,0]");
  Move("8,9,5,40", "40,9,5,8", "transpose(%x), permutation=[3,1,2,0]");
  Move("3,50,40", "40,50,3", "transpose(%x), permutation=[2,1,0]");
  Move("20,3,130", "130,3,20", "transpose(%x), permutation=[2,1,0]");
  Move("2,3,2,3,2,3,5", "5,2,3,2,3,2,3",
       "transpose(%x), permutation=[6,2,1,4,3,0,5]");
}

// A line that is not dense on one side goes through the transposer twice.
TEST_P(MovesTest, LinesWithStrides) {
  Move("40,70", "40,70", "reverse(%x), dimensions=[1]");
  Move("3,9,130", "3,9,130", "reverse(%x), dimensions=[0,2]");
  Move("700", "700", "reverse(%x), dimensions=[0]");
  Move("901", "300", "slice(%x), start=[1], limit=[901], strides=[3]");
  Move("50,61", "50,30",
       "slice(%x), start=[0,1], limit=[50,61], strides=[1,2]");
  Move("2,20,31", "2,20,11",
       "slice(%x), start=[0,0,0], limit=[2,20,31], strides=[1,1,3]");
}

TEST_P(MovesTest, Borders) {
  Move("5,6,7", "8,9,12",
       "pad(%x, %y), low=[1,2,0], high=[2,1,5], interior=[0,0,0]", "scalar");
  Move("5,6,7", "4,9,6",
       "pad(%x, %y), low=[-1,2,0], high=[0,1,-1], interior=[0,0,0]", "scalar");
  Move("5,6", "3,9", "pad(%x, %y), low=[-4,0], high=[2,3], interior=[0,0]",
       "scalar");
  Move("5,6", "3,9", "pad(%x, %y), low=[4,0], high=[-6,3], interior=[0,0]",
       "scalar");
  Move("30,9", "32,17", "pad(%x, %y), low=[1,0], high=[1,0], interior=[0,1]",
       "scalar");
  Move("9", "2003", "pad(%x, %y), low=[901], high=[1093], interior=[0]",
       "scalar");
  Move("4,30,30,8", "4,32,33,8",
       "pad(%x, %y), low=[0,1,1,0], high=[0,1,2,0], interior=[0,0,0,0]",
       "scalar");
}

TEST_P(MovesTest, ReducesInTheTreesOrder) {
  for (const char* op : {"add", "multiply", "maximum", "minimum"}) {
    Reduce("f32", op, "37", "", "0");
    Reduce("f32", op, "300,3", "3", "0");
  }
  Reduce("f32", "add", "1", "", "0");
  Reduce("f32", "add", "2,1", "2", "1");
  Reduce("f32", "add", "5000", "", "0");
  Reduce("f32", "add", "10,7", "10", "1");
  Reduce("f32", "add", "3,700", "3", "1");
  Reduce("f32", "add", "300,10", "300", "1");
  Reduce("f32", "add", "4,5,6,12", "12", "0,1,2");
  Reduce("f32", "add", "4,5,6,12", "4,12", "1,2");
  Reduce("f32", "add", "4,5,6,12", "5,12", "0,2");
  Reduce("f32", "add", "4,5,6,12", "5", "0,2,3");
  Reduce("f32", "add", "2,50,130", "2,130", "1");
  // In blocks: of bands, of lines; several levels in a pass, in lanes.
  Reduce("f32", "add", "64,256", "256", "0");
  Reduce("f32", "add", "100,1024", "1024", "0");
  Reduce("bf16", "add", "37,2048", "2048", "0");
  Reduce("f32", "add", "1024,256", "1024", "1");
  Reduce("f32", "minimum", "130,200", "130", "1");
  Reduce("f32", "add", "65,1000", "65", "1");
  Reduce("bf16", "add", "70,333", "70", "1");
  Reduce("i16", "add", "300,65", "300", "1");
  Reduce("i8", "add", "33,2049", "33", "1");
  Reduce("f32", "add", "3,4100", "3", "1");
  Reduce("f32", "add", "40,33,40", "40,40", "1");
  Reduce("f32", "add", "6,40,6,40", "6,40", "1,2");
  Reduce("f32", "add", "16,8,8,64", "64", "0,1,2");
  Reduce("f32", "add", "4,16,8,8", "16", "0,2,3");
  Reduce("bf16", "add", "50,7", "7", "0");
  Reduce("bf16", "maximum", "50,7", "50", "1");
  Reduce("f16", "add", "50,7", "7", "0");
  Reduce("f16", "minimum", "50,7", "50", "1");
  Reduce("i16", "add", "50,7", "50", "1");
  Reduce("u16", "maximum", "51,7", "7", "0");
  Reduce("i32", "add", "50,7", "7", "0");
  Reduce("u32", "maximum", "50,7", "50", "1");
  Reduce("i8", "add", "50,7", "50", "1");
  Reduce("i1", "or", "50,7", "50", "1");
  Reduce("i1", "and", "900", "", "0");
}

// More than 128 elements: sections of a divisor, of several levels, and, where
// there is no divisor, with a last one that is shorter. mini: more than the
// unified buffer holds.
TEST_P(MovesTest, ReducesColumnsInSections) {
  const bool v2 = GetParam() == std::string("v2");
  for (const int64_t count : {4096, 3136, 6272, 5000, 8191}) {
    const int64_t many = v2 ? 4 * count : count;
    Reduce("f32", "add", absl::StrCat(many, ",12"), "12", "0");
    Reduce("bf16", "add", absl::StrCat(many, ",5"), "5", "0");
  }
  Reduce("f32", "maximum", v2 ? "64,28,28,12" : "8,28,28,12", "12", "0,1,2");
  Reduce("i8", "add", v2 ? "60000,7" : "9000,7", "7", "0");
  Reduce("f32", "add", "3,150,129,5", "3,5", "1,2");
  Reduce("f32", "add", "20,6,20,9", "6,9", "0,2");
  Reduce("f32", "add", "160,1,3,1", "1,3,1", "0");
  Reduce("f32", "add", "160,1", "1", "0");
  for (const char* type : {"f32", "bf16", "f16", "i32", "u16", "i8"}) {
    for (const char* op : {"add", "multiply", "maximum", "minimum"})
      Reduce(type, op, "257,3", "3", "0");
  }
  for (const char* type : {"u32", "i1"}) {
    for (const char* op : {"and", "or", "xor"})
      Reduce(type, op, "2,131,3", "2,3", "1");
  }
}

// The largest value and its place, the first one of equals.
TEST_P(MovesTest, ReducesByRegions) {
  for (const auto& [from, to, dimensions] :
       {std::tuple("64,10", "64", "1"), std::tuple("7,33", "33", "0"),
        std::tuple("4,5,100", "5", "0,2"), std::tuple("9", "", "0")}) {
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = f32[%1$s] parameter(), name="x"
  %%y = i32[%1$s] parameter(), name="y"
  %%i = f32[] constant(), data=[-inf]
  %%j = i32[] parameter(), name="j"
  %%m = (f32[%2$s], i32[%2$s]) hlo.reduce(%%x, %%y, %%i, %%j), dimensions=[%3$s] {
    %%a = f32[] parameter()
    %%b = i32[] parameter()
    %%c = f32[] parameter()
    %%d = i32[] parameter()
    %%more = i1[] hlo.compare(%%a, %%c), direction=GT
    %%same = i1[] hlo.compare(%%a, %%c), direction=EQ
    %%first = i1[] hlo.compare(%%b, %%d), direction=LT
    %%tie = i1[] hlo.and(%%same, %%first)
    %%keep = i1[] hlo.or(%%more, %%tie)
    %%e = f32[] hlo.select(%%more, %%a, %%c)
    %%f = i32[] hlo.select(%%keep, %%b, %%d)
    return %%e, %%f
  }
  return %%m as "r", %%m#1 as "s"
}
)",
                                 from, to, dimensions),
                 7);
  }
}

// What jnp.argmax makes of elements that are no words.
TEST_P(MovesTest, ReducesByRegionsOfSeveralTypes) {
  for (const auto& [type, least] :
       {std::pair("u8", "0"), std::pair("i8", "-128"),
        std::pair("bf16", "-1e30"), std::pair("f16", "-6e4"),
        std::pair("i16", "-32768"), std::pair("u16", "0"),
        std::pair("i1", "0")}) {
    for (const char* dimension : {"0", "1"}) {
      check_.Check(absl::StrFormat(R"(module @m {
  %%x = %1$s[9,9] parameter(), name="x"
  %%y = i32[9,9] hlo.iota(), dimension=%3$s
  %%i = %1$s[] constant(), data=[%2$s]
  %%j = i32[] constant(), data=[0]
  %%m = (%1$s[9], i32[9]) hlo.reduce(%%x, %%y, %%i, %%j), dimensions=[%3$s] {
    %%a = %1$s[] parameter()
    %%b = i32[] parameter()
    %%c = %1$s[] parameter()
    %%d = i32[] parameter()
    %%more = i1[] hlo.compare(%%a, %%c), direction=GE
    %%e = %1$s[] hlo.select(%%more, %%a, %%c)
    %%f = i32[] hlo.select(%%more, %%b, %%d)
    return %%e, %%f
  }
  return %%m as "r", %%m#1 as "s"
}
)",
                                   type, least, dimension),
                   8);
    }
  }
}

TEST_P(MovesTest, PadsThatCut) {
  Move("7,9", "5,12", "pad(%x, %y), low=[-1,2], high=[-1,1], interior=[0,0]",
       "scalar");
  Move("7,9", "9,14", "pad(%x, %y), low=[-1,-2], high=[-3,-1], interior=[1,1]",
       "scalar");
  Move("7,9", "2,5", "pad(%x, %y), low=[3,-5], high=[-8,1], interior=[0,0]",
       "scalar");
  Move("7,9", "3,5", "pad(%x, %y), low=[-8,-5], high=[4,1], interior=[0,0]",
       "scalar");
}

// More than the unified buffer of mini, 128 KiB, holds.
TEST_P(MovesTest, InParts) {
  if (std::string(GetParam()) != "mini") return;
  Move("3,3,30,64", "3,3,30,64", "reverse(%x), dimensions=[0,1]");
  Move("1,9,33,64", "1,9,33,64", "reverse(%x), dimensions=[1,2]");
  Move("64", "700,64", "broadcast_in_dim(%x), dimensions=[1]");
  Move("700", "700,64", "broadcast_in_dim(%x), dimensions=[0]");
  Move("40,700", "40,690",
       "slice(%x), start=[0,5], limit=[40,695], strides=[1,1]");
  Move("300,64", "500,64", "concatenate(%x, %y), dimension=0", "200,64");
  Move("300,64", "300,128", "concatenate(%x, %y), dimension=1", "300,64");
  Move("300,64", "605,66", "pad(%x, %y), low=[2,1], high=[4,1], interior=[1,0]",
       "scalar");
  // The dimension that makes boxes of whole beats is not the result's first.
  Move("32,14,8,16", "16,14,8,32", "transpose(%x), permutation=[3,1,2,0]");
  Move("16,3,40,5,8", "8,3,40,5,16", "transpose(%x), permutation=[4,1,2,3,0]");
}

class LargeTest : public MovesTest {};

// Numbers that are not kept for a program come from the host.
TEST_P(LargeTest, Iota) {
  check_.Check(R"(module @m {
  %x = i32[100] parameter(), name="x"
  %i = i32[17000000] hlo.iota(), dimension=0
  %s = i32[100] hlo.slice(%i), start=[16999000], limit=[16999100], strides=[1]
  %r = i32[100] hlo.add(%s, %x)
  return %r as "r"
}
)",
               1, /*host_operations=*/1);
}

INSTANTIATE_TEST_SUITE_P(Presets, MovesTest,
                         testing::Values("mini", "lite", "v2"));
INSTANTIATE_TEST_SUITE_P(Presets, LargeTest, testing::Values("lite"));

}  // namespace
}  // namespace systole::lanes
