// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Conversions between all pairs of types, whose ways differ, against the golden
// model: random bits, and numbers around the ends of each type.
#include <cmath>
#include <limits>
#include <random>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "host/ir/evaluate.h"
#include "host/ir/text.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::ir {
namespace {

constexpr int64_t kCount = 512;
constexpr ElementType kTypes[] = {
    ElementType::kBool,     ElementType::kInt8,    ElementType::kInt16,
    ElementType::kInt32,    ElementType::kInt64,   ElementType::kUint8,
    ElementType::kUint16,   ElementType::kUint32,  ElementType::kUint64,
    ElementType::kBfloat16, ElementType::kFloat16, ElementType::kFloat32};

Literal ValuesOf(ElementType type) {
  std::mt19937_64 random(static_cast<int>(type));
  return WithElement(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> values(kCount);
    for (int64_t i = 0; i < kCount; ++i) {
      const uint64_t bits = random();
      if constexpr (std::is_same_v<T, Bool>) {
        values[i] = Bool(bits % 2 != 0);
      } else if constexpr (std::is_integral_v<T>) {
        // Of each length, next to a power of two.
        values[i] = static_cast<T>(i % 2 == 0 ? bits >> (i / 2 % 64)
                                              : (uint64_t{1} << (i / 8 % 64)) -
                                                    (bits % 3));
      } else if (i % 2 == 0) {
        std::memcpy(&values[i], &bits, sizeof(T));
      } else {
        const double power = std::ldexp(1.0, static_cast<int>(bits % 140) - 70);
        values[i] =
            T(static_cast<float>((bits >> 20) % 2 != 0 ? power : -power));
      }
    }
    return Literal(std::move(values));
  });
}

TEST(Convert, EveryPairOfTypes) {
  for (const ElementType from : kTypes) {
    const Literal values = ValuesOf(from);
    for (const ElementType to : kTypes) {
      const std::string text = absl::StrFormat(
          "module @m {\n  %%x = %s[%d] parameter(), name=\"x\"\n"
          "  %%y = %s[%d] hlo.convert(%%x)\n  return %%y as \"y\"\n}\n",
          ElementTypeName(from), kCount, ElementTypeName(to), kCount);
      SCOPED_TRACE(text);
      const auto module = Parse(text);
      ASSERT_TRUE(module.ok()) << module.status();
      const auto got = EvaluateModule(**module, {values});
      const auto wanted = golden::RunHlo(**module, {values});
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_TRUE(wanted.ok()) << wanted.status();
      EXPECT_EQ((*got)[0].Bytes(), (*wanted)[0].Bytes());
    }
  }
}

}  // namespace
}  // namespace systole::ir
