// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Factors of sums, whose reference is in single precision.
#include <gtest/gtest.h>

#include "host/lower/lowering.h"
#include "tests/lower/mean_case.h"

namespace systole::lower {
namespace {

// Every sum that an image can have, against the reference's formula.
TEST(Sums, All) {
  int refused = 0, sums = 0;
  for (int round = 0; round < 300; ++round) {
    Draw draw(round);
    Case k{draw.Number(1, 12), draw.Number(1, 12), 1, "1, 2"};
    k.op = "sum";
    k.zero = draw.Number(-128, 127);
    const double scale = draw.Number(1, 1 << 20) / 1e6;
    k.from = absl::StrCat(scale);
    k.to = absl::StrCat(scale * std::exp2(draw.Number(-20, 80) / 10.0));
    // A channel a sum.
    const int count = k.count(), low = -128 * count;
    k.c = 255 * count + 1;
    std::vector<int8_t> values;
    for (int p = 0; p < count; ++p) {
      for (int c = 0; c < k.c; ++c)
        values.push_back(
            static_cast<int8_t>(std::clamp(c - 255 * p, 0, 255) - 128));
    }
    ASSERT_EQ(low + k.c - 1, 127 * count);
    const auto module = Parsed(k.Text());
    const Target v1(*FindPreset("v1"));
    const auto lowered = LowerModule(*module, &v1);
    ++sums;
    if (Refused(k, lowered.status())) {
      ++refused;
      continue;
    }
    ASSERT_TRUE(lowered.ok()) << lowered.status() << k.Text();
    ASSERT_EQ(OfNetwork(lowered->networks[0], k, values), Want(*module, values))
        << k.Text();
  }
  std::printf("%d of %d sums have no fixed-point factor\n", refused, sums);
  EXPECT_LE(refused, sums / 5);
}

}  // namespace
}  // namespace systole::lower
