// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// sort against the host: every dimension, numbers of elements that are no
// powers of two, equal keys, NaNs and zeros of either sign, several operands,
// parts where not all lines fit the unified buffer.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

class SortTest : public testing::TestWithParam<const char*> {
 protected:
  SortTest() : check_(GetParam()) {}

  // One operand, compared as it is.
  void Keys(const std::string& type, const std::string& shape, int dimension,
            const std::string& direction, const std::string& more = "") {
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = %1$s[%2$s] parameter(), name="x"
  %%r = %1$s[%2$s] hlo.sort(%%x), dimension=%3$d, is_stable=false {
    %%a = %1$s[] parameter()
    %%b = %1$s[] parameter()
    %%c = i1[] hlo.compare(%%a, %%b), direction=%4$s%5$s
    return %%c
  }
  return %%r as "r"
}
)",
                                 type, shape, dimension, direction, more),
                 7);
  }

  DeviceCheck check_;
};

TEST_P(SortTest, Keys) {
  for (const char* type : {"i32", "u32", "i16", "u16", "i8", "u8", "i1"}) {
    for (const char* direction : {"LT", "GT"}) Keys(type, "77", 0, direction);
  }
  for (const char* type : {"f32", "bf16", "f16"}) {
    Keys(type, "150", 0, "LT", ", type=TOTALORDER");
    Keys(type, "150", 0, "GT", ", type=TOTALORDER");
  }
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 65, 500})
    Keys("i32", std::to_string(n), 0, "LT");
  // A comparison that says of equal ones that either comes first.
  Keys("i8", "300", 0, "LE");
}

TEST_P(SortTest, Dimensions) {
  Keys("i32", "9,11", 0, "LT");
  Keys("i32", "9,11", 1, "LT");
  Keys("u8", "5,33,4", 1, "GT");
  Keys("bf16", "5,6,7", 2, "LT", ", type=TOTALORDER");
  Keys("i32", "3,1,40", 1, "LT");
}

// What jax makes of jnp.argsort and lax.top_k: zeros and NaNs of either sign
// are equal, and elements of one key keep their order.
TEST_P(SortTest, KeysWithPositions) {
  for (const char* direction : {"LT", "GT"}) {
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = f32[4,60] parameter(), name="x"
  %%i = i32[4,60] hlo.iota(), dimension=1
  %%r = (f32[4,60], i32[4,60]) hlo.sort(%%x, %%i), dimension=1,
    is_stable=true {
    %%a = f32[] parameter()
    %%b = f32[] parameter()
    %%p = i32[] parameter()
    %%q = i32[] parameter()
    %%z = f32[] constant(), data=[0.0]
    %%n = f32[] constant(), data=[nan]
    %%a0 = i1[] hlo.compare(%%a, %%z), direction=EQ
    %%a1 = f32[] hlo.select(%%a0, %%z, %%a)
    %%a2 = i1[] hlo.compare(%%a, %%a), direction=NE
    %%a3 = f32[] hlo.select(%%a2, %%n, %%a1)
    %%b0 = i1[] hlo.compare(%%b, %%z), direction=EQ
    %%b1 = f32[] hlo.select(%%b0, %%z, %%b)
    %%b2 = i1[] hlo.compare(%%b, %%b), direction=NE
    %%b3 = f32[] hlo.select(%%b2, %%n, %%b1)
    %%c = i1[] hlo.compare(%%a3, %%b3), direction=%1$s, type=TOTALORDER
    return %%c
  }
  return %%r as "keys", %%r#1 as "positions"
}
)",
                                 direction),
                 8);
  }
}

// What jax makes of lax.top_k: NaNs and zeros of either sign have an order.
TEST_P(SortTest, FirstOnes) {
  const struct {
    const char *type, *shape;
    int64_t lines, elements, values, places;
  } kCases[] = {{"f32", "4,60", 4, 60, 5, 5},
                {"f32", "3,1000", 3, 1000, 7, 2},
                {"f32", "700", 1, 700, 1, 33},
                {"i32", "20,100", 20, 100, 4, 12},
                {"f32", "2,64", 2, 64, 64, 64}};
  for (const auto& c : kCases) {
    const std::string front = c.lines == 1 ? "" : absl::StrCat(c.lines, ",");
    const auto slice = [&](const char* of, const char* type, int64_t count) {
      const std::string zero = c.lines == 1 ? "" : "0,";
      const std::string one = c.lines == 1 ? "" : "1,";
      return absl::StrFormat(
          "%s[%s%d] hlo.slice(%s), start=[%s0], limit=[%s%d], strides=[%s1]",
          type, front, count, of, zero, front, count, one);
    };
    check_.Check(
        absl::StrFormat(R"(module @m {
  %%x = %1$s[%2$s] parameter(), name="x"
  %%i = i32[%2$s] hlo.iota(), dimension=%3$d
  %%r = (%1$s[%2$s], i32[%2$s]) hlo.sort(%%x, %%i), dimension=%3$d,
    is_stable=true {
    %%a = %1$s[] parameter()
    %%b = %1$s[] parameter()
    %%p = i32[] parameter()
    %%q = i32[] parameter()
    %%c = i1[] hlo.compare(%%a, %%b), direction=GT%4$s
    return %%c
  }
  %%v = %5$s
  %%k = %6$s
  return %%v as "values", %%k as "places"
}
)",
                        c.type, c.shape, c.lines == 1 ? 0 : 1,
                        c.type == std::string("f32") ? ", type=TOTALORDER" : "",
                        slice("%r", c.type, c.values),
                        slice("%r#1", "i32", c.places)),
        3);
  }
}

// Two keys and a payload, all of few values.
TEST_P(SortTest, SeveralKeys) {
  check_.Check(R"(module @m {
  %x = i1[130] parameter(), name="x"
  %y = i8[130] parameter(), name="y"
  %z = bf16[130] parameter(), name="z"
  %r = (i1[130], i8[130], bf16[130]) hlo.sort(%x, %y, %z), dimension=0,
    is_stable=true {
    %a = i1[] parameter()
    %b = i1[] parameter()
    %p = i8[] parameter()
    %q = i8[] parameter()
    %u = bf16[] parameter()
    %v = bf16[] parameter()
    %c = i1[] hlo.compare(%a, %b), direction=LT
    %d = i1[] hlo.compare(%a, %b), direction=EQ
    %e = i1[] hlo.compare(%p, %q), direction=GT
    %f = i1[] hlo.and(%d, %e)
    %g = i1[] hlo.or(%c, %f)
    return %g
  }
  return %r as "x", %r#1 as "y", %r#2 as "z"
}
)",
               9);
}

TEST_P(SortTest, InParts) {
  if (std::string(GetParam()) != "mini")
    GTEST_SKIP() << "the unified buffer holds them all";
  Keys("i32", "150,64", 1, "LT");
  Keys("i8", "7,60,96", 1, "GT");
}

// Seven operands are what registers hold; more run on the host.
TEST_P(SortTest, ManyOperands) {
  for (const int count : {7, 8}) {
    std::string operands, types, parameters, results;
    std::string text = "module @m {\n";
    for (int i = 0; i < count; ++i) {
      const char* comma = i > 0 ? ", " : "";
      absl::StrAppendFormat(
          &text, "  %%x%d = i32[20] parameter(), name=\"x%d\"\n", i, i);
      absl::StrAppendFormat(&operands, "%s%%x%d", comma, i);
      absl::StrAppendFormat(&types, "%si32[20]", comma);
      absl::StrAppendFormat(
          &parameters,
          "    %%a%d = i32[] parameter()\n    %%b%d = i32[] parameter()\n", i,
          i);
      absl::StrAppendFormat(&results, "%s%%r%s as \"r%d\"", comma,
                            i > 0 ? absl::StrCat("#", i) : "", i);
    }
    absl::StrAppendFormat(
        &text,
        "  %%r = (%s) hlo.sort(%s), dimension=0, is_stable=true {\n%s"
        "    %%c = i1[] hlo.compare(%%a0, %%b0), direction=LT\n    return "
        "%%c\n  }\n  return %s\n}\n",
        types, operands, parameters, results);
    check_.Check(text, 10, count == 7 ? 0 : 9);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, SortTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
