// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The bf16 array of 32 x 32 cells, both views in lockstep (array_bench.h).

#include "VArrayBf16x32.h"
#include "tests/rtl/mxu/array_bench.h"

namespace systole::mxu_test {
namespace {

TEST(ArrayTest, Bf16At32) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    Stream<VArrayBf16x32>(Bf16(3), 32, 3, seed);
  }
}

}  // namespace
}  // namespace systole::mxu_test
