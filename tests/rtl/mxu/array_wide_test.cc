// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The arrays that take long to build (array_bench.h): a grid of 1,024 cells,
// and the simulation view of 16,384.

#include "VArrayBf16x128.h"
#include "VArrayInt8x32.h"
#include "tests/rtl/mxu/array_bench.h"
#include "tests/testing/seeds.h"

namespace systole::mxu_test {
namespace {

TEST(ArrayTest, Int8At32) {
  for (const uint32_t seed :
       systole::testing_options::SeedList<uint32_t>(4, 0)) {
    Stream<VArrayInt8x32>(Int8(1), 32, 2, 8, seed);
  }
}

TEST(ArrayTest, Bf16At128) {
  Stream<VArrayBf16x128>(Bf16(3), 128, 2, 3, 7);
  Stream<VArrayBf16x128>(Bf16(3), 128, 2, 3, 8);
}

}  // namespace
}  // namespace systole::mxu_test
