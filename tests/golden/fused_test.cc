// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The two models of the fused multiply-add against each other and against
// values worked out by hand from docs/numerics.md.

#include "verif/golden/fused.h"

#include "gtest/gtest.h"
#include "tests/rtl/fp/triples.h"

namespace systole::golden {
namespace {

TEST(FusedTest, WorkedValues) {
  const struct {
    uint16_t a, b;
    uint32_t sum, want;
  } cases[] = {
      {0x3F80, 0x4000, 0x3F800000, 0x40400000},  // 1 * 2 + 1 = 3
      // 1 + 2^-24: a tie, to even; with a little more: up.
      {0x3380, 0x3F80, 0x3F800000, 0x3F800000},
      {0x3381, 0x3F80, 0x3F800000, 0x3F800001},
      {0x3380, 0x3F80, 0x3F800001, 0x3F800002},  // tie, to even: up
      // (1 + 2^-7)^2 - (1 + 2^-6) = 2^-14: no rounding of the product.
      {0x3F81, 0x3F81, 0xBF820000, 0x38800000},
      {0x0001, 0x3F80, 0x00000000, 0x00010000},  // 2^-133
      {0x0001, 0x3F80, 0x80010000, 0x00000000},  // x - x = +0
      {0x0001, 0x8001, 0x00000000, 0x80000000},  // -2^-266 -> -0
      {0x0001, 0x8001, 0x00000001, 0x00000001},
      {0x8000, 0x3F80, 0x00000000, 0x00000000},  // -0 + +0 = +0
      {0x8000, 0x3F80, 0x80000000, 0x80000000},  // -0 + -0 = -0
      {0x8000, 0x0000, 0x80000000, 0x80000000},  // an idle row
      {0x8000, 0x0000, 0x00000000, 0x00000000},
      {0x7F7F, 0x7F7F, 0x00000000, 0x7F800000},  // overflow
      // 2^128 - 2^103: a tie between the largest number and infinity.
      {0x7F7F, 0x3F80, 0x7B7FFF7F, 0x7F7FFFFF},
      {0x7F7F, 0x3F80, 0x7B7FFF80, 0x7F800000},
      {0x7F80, 0x0000, 0x00000000, 0x7FC00000},  // infinity * 0
      {0x7F80, 0xBF80, 0x7F800000, 0x7FC00000},  // infinity - infinity
      {0x7F80, 0xBF80, 0x7F7FFFFF, 0xFF800000},
      {0x7F7F, 0x7F7F, 0xFF800000, 0xFF800000},
      {0xFFC1, 0x3F80, 0x00000000, 0x7FC00000},  // one NaN
      {0x3F80, 0x3F80, 0xFF800001, 0x7FC00000},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(::testing::Message()
                 << std::hex << c.a << " * " << c.b << " + " << c.sum);
    EXPECT_EQ(FusedMultiplyAdd(c.a, c.b, c.sum), c.want);
    EXPECT_EQ(ExactFusedMultiplyAdd(kBf16, kFp32, c.a, c.b, c.sum), c.want);
  }
}

TEST(FusedTest, ModelsAgree) {
  fp_test::TripleSource source(4);
  for (int i = 0; i < 1000000; ++i) {
    const fp_test::Triple t = source.Next();
    ASSERT_EQ(FusedMultiplyAdd(t.a, t.b, t.sum),
              ExactFusedMultiplyAdd(kBf16, kFp32, t.a, t.b, t.sum))
        << std::hex << t.a << " * " << t.b << " + " << t.sum;
  }
}

}  // namespace
}  // namespace systole::golden
