// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Every operation that has a kernel, on tensors of one element, of a row of
// lanes and of more or less, against the host.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

class OperationsTest : public testing::TestWithParam<const char*> {
 protected:
  OperationsTest() : check_(GetParam()) {}

  std::vector<int64_t> Sizes() const {
    const int64_t lanes = FindPreset(GetParam())->cols;
    return {1,         2,         lanes - 1,     lanes,
            lanes + 1, 8 * lanes, 8 * lanes + 3, 40 * lanes + 5};
  }
  // hlo.op of operands of the types, of all sizes.
  void OfTypes(const std::string& op, const std::vector<std::string>& types,
               const std::string& result, const std::string& attributes = "") {
    for (const int64_t size : Sizes()) {
      std::string text = "module @m {\n", operands;
      for (size_t i = 0; i < types.size(); ++i) {
        absl::StrAppendFormat(&text,
                              "  %%x%d = %s[%d] parameter(), name=\"x%d\"\n", i,
                              types[i], size, i);
        absl::StrAppendFormat(&operands, "%s%%x%d", i ? ", " : "", i);
      }
      absl::StrAppendFormat(&text,
                            "  %%r = %s[%d] hlo.%s(%s)%s\n  return %%r as "
                            "\"r\"\n}\n",
                            result, size, op, operands, attributes);
      check_.Check(text, size);
    }
  }

  DeviceCheck check_;
};

const char* const kFloats[] = {"f32", "bf16", "f16"};
const char* const kIntegers[] = {"i32", "u32", "i16", "u16", "i8", "u8"};

TEST_P(OperationsTest, OfOneFloat) {
  for (const char* type : kFloats) {
    for (const char* op :
         {"abs", "negate", "sign", "exponential", "log", "rsqrt", "tanh",
          "sqrt", "floor", "ceil", "round_nearest_even", "logistic",
          "round_nearest_afz", "sine", "cosine", "tan", "log_plus_one",
          "exponential_minus_one", "cbrt"})
      OfTypes(op, {type}, type);
    OfTypes("is_finite", {type}, "i1");
    OfTypes("reduce_precision", {type}, type,
            ", exponent_bits=8, mantissa_bits=7");
    for (const char* bits : {", exponent_bits=5, mantissa_bits=10",
                             ", exponent_bits=4, mantissa_bits=3",
                             ", exponent_bits=8, mantissa_bits=0",
                             ", exponent_bits=1, mantissa_bits=23"})
      OfTypes("reduce_precision", {type}, type, bits);
  }
  OfTypes("reduce_precision", {"f32"}, "f32",
          ", exponent_bits=8, mantissa_bits=23");
}

TEST_P(OperationsTest, OfTwoFloats) {
  for (const char* type : kFloats) {
    for (const char* op : {"add", "subtract", "multiply", "divide", "power",
                           "maximum", "minimum", "remainder", "atan2"})
      OfTypes(op, {type, type}, type);
    OfTypes("clamp", {type, type, type}, type);
  }
  for (const char* type : kFloats) OfTypes("select", {"i1", type, type}, type);
}

TEST_P(OperationsTest, OfIntegers) {
  for (const char* type : kIntegers) {
    for (const char* op :
         {"add", "subtract", "multiply", "maximum", "minimum", "divide",
          "remainder", "and", "or", "xor", "power", "shift_left",
          "shift_right_logical", "shift_right_arithmetic"})
      OfTypes(op, {type, type}, type);
    for (const char* op :
         {"abs", "not", "negate", "sign", "popcnt", "count_leading_zeros"}) {
      if (type[0] == 'u' && (op[0] == 'a' || op[0] == 's')) continue;
      OfTypes(op, {type}, type);
    }
    OfTypes("select", {"i1", type, type}, type);
    OfTypes("clamp", {type, type, type}, type);
  }
}

TEST_P(OperationsTest, OfTruthValues) {
  for (const char* op :
       {"and", "or", "xor", "add", "multiply", "maximum", "minimum"})
    OfTypes(op, {"i1", "i1"}, "i1");
  OfTypes("not", {"i1"}, "i1");
  OfTypes("select", {"i1", "i1", "i1"}, "i1");
}

TEST_P(OperationsTest, Comparisons) {
  for (const char* type :
       {"f32", "bf16", "f16", "i32", "u32", "i16", "u16", "i8", "u8", "i1"}) {
    for (const char* direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
      OfTypes("compare", {type, type}, "i1",
              absl::StrCat(", direction=", direction));
      if (std::string(type).find('f') != std::string::npos) {
        OfTypes("compare", {type, type}, "i1",
                absl::StrCat(", direction=", direction, ", type=TOTALORDER"));
      }
    }
  }
}

TEST_P(OperationsTest, Conversions) {
  const char* const types[] = {"f32", "bf16", "f16", "i32", "u32",
                               "i16", "u16",  "i8",  "u8",  "i1"};
  for (const char* from : types) {
    for (const char* to : types) {
      if (from != to) OfTypes("convert", {from}, to);
    }
  }
}

// Other types of the same bits, of a result that a kernel stores, of an operand
// and of a constant.
TEST_P(OperationsTest, BitsAsOtherTypes) {
  const std::vector<std::vector<const char*>> kSame = {
      {"i8", "u8"}, {"i16", "u16", "f16", "bf16"}, {"i32", "u32", "f32"}};
  for (const auto& types : kSame) {
    for (const char* from : types) {
      for (const char* to : types) {
        for (const int64_t size : Sizes()) {
          check_.Check(absl::StrFormat(R"(module @m {
  %%x = %1$s[%3$d] parameter(), name="x"
  %%y = %2$s[%3$d] parameter(), name="y"
  %%a = %1$s[%3$d] hlo.add(%%x, %%x)
  %%b = %2$s[%3$d] hlo.bitcast_convert(%%a)
  %%c = %2$s[%3$d] hlo.add(%%b, %%y)
  %%d = %2$s[%3$d] hlo.bitcast_convert(%%x)
  %%e = %2$s[%3$d] hlo.maximum(%%d, %%y)
  return %%b as "b", %%c as "c", %%d as "d", %%e as "e"
}
)",
                                       from, to, size),
                       size);
        }
      }
    }
  }
}

// Of states of 128 and of 192 bits, from counters that carry over.
TEST_P(OperationsTest, RandomBits) {
  const struct {
    const char* algorithm;
    int words;
    std::vector<const char*> types;
  } kCases[] = {
      {"PHILOX", 2, {"u32[70]", "u64[5,3]"}},
      {"PHILOX", 3, {"u32[70]", "u64[5,3]", "u8[9,4,3]"}},
      {"THREE_FRY",
       2,
       {"u32[70]", "u32[3,5]", "u32[]", "u64[5,3]", "u16[7]", "i32[3,8]"}},
      {"DEFAULT", 3, {"i32[3]"}}};
  for (const auto& c : kCases) {
    const std::string numbers =
        c.words == 2 ? "[1, 2, 4294967293, 4294967295]"
                     : "[1, 2, 4294967293, 4294967295, 4294967295, 5]";
    for (const char* type : c.types) {
      check_.Check(
          absl::StrFormat(R"(module @m {
  %%p = u32[%1$d,2] parameter(), name="p"
  %%zeros = u32[%1$d,2] constant(), data=[%5$s]
  %%n = u32[%1$d,2] constant(), data=%4$s
  %%z = u32[%1$d,2] hlo.and(%%p, %%zeros)
  %%w = u32[%1$d,2] hlo.or(%%z, %%n)
  %%q = u64[%1$d] hlo.bitcast_convert(%%w)
  %%r = (u64[%1$d], %2$s) hlo.rng_bit_generator(%%q), algorithm=%3$s
  return %%r as "r", %%r#1 as "s"
}
)",
                          c.words, type, c.algorithm, numbers,
                          c.words == 2 ? "0, 7, 0, 0" : "0, 7, 0, 0, 0, 0"),
          9);
    }
  }
}

// Two calls: the second one's numbers are others.
TEST_P(OperationsTest, RandomNumbers) {
  for (const char* type : {"f32", "bf16", "f16", "i32", "u32", "i16", "u8"}) {
    for (const char* distribution : {"UNIFORM", "NORMAL"}) {
      const bool integers = type[0] == 'i' || type[0] == 'u';
      if (integers && distribution[0] == 'N') continue;
      check_.Check(absl::StrFormat(R"(module @m {
  %%a = %1$s[] parameter(), name="a"
  %%b = %1$s[] parameter(), name="b"
  %%n = i64[2] constant(), data=[7, 9]
  %%r = %1$s[7,9] hlo.rng(%%a, %%b, %%n), distribution=%2$s
  %%s = %1$s[7,9] hlo.rng(%%b, %%a, %%n), distribution=%2$s
  return %%r as "r", %%s as "s"
}
)",
                                   type, distribution),
                   11);
    }
  }
}

// A scalar that is an operand, one that is computed, constants, several
// results, a value that is used twice.
TEST_P(OperationsTest, FusedWithScalarsAndConstants) {
  for (const int64_t size : Sizes()) {
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = f32[%1$d] parameter(), name="x"
  %%s = f32[] parameter(), name="s"
  %%t = f32[] hlo.multiply(%%s, %%s)
  %%a = f32[%1$d] hlo.broadcast_in_dim(%%s), dimensions=[]
  %%b = f32[%1$d] hlo.broadcast_in_dim(%%t), dimensions=[]
  %%c = f32[%1$d] hlo.add(%%x, %%a)
  %%d = f32[%1$d] hlo.divide(%%c, %%b)
  %%e = f32[%1$d] hlo.exponential(%%c)
  %%f = f32[1,%1$d] hlo.reshape(%%e)
  %%g = f32[1,%1$d] hlo.maximum(%%f, %%f)
  return %%d as "d", %%g as "g", %%t as "t", %%a as "a"
}
)",
                                 size),
                 size);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, OperationsTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
