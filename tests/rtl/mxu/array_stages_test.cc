// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The systolic array alone, each cell with every other number of stages.

#include "VArrayBf16x8s1.h"
#include "VArrayBf16x8s2.h"
#include "VArrayBf16x8s4.h"
#include "VArrayBf16x8s5.h"
#include "VArrayBf16x8s5b2.h"
#include "VArrayInt8x8s2.h"
#include "VArrayInt8x8s2b2.h"
#include "tests/rtl/mxu/array_bench.h"
#include "tests/testing/seeds.h"

namespace systole::mxu_test {
namespace {

TEST(ArrayTest, Int8) {
  for (const uint32_t seed :
       systole::testing_options::SeedList<uint32_t>(20, 0)) {
    Stream<VArrayInt8x8s2>(Int8(2), 8, 1, 30, seed);
    Stream<VArrayInt8x8s2b2>(Int8(2), 8, 2, 30, seed);
  }
}

TEST(ArrayTest, Bf16) {
  for (const uint32_t seed :
       systole::testing_options::SeedList<uint32_t>(20, 0)) {
    Stream<VArrayBf16x8s1>(Bf16(1), 8, 1, 30, seed);
    Stream<VArrayBf16x8s2>(Bf16(2), 8, 1, 30, seed);
    Stream<VArrayBf16x8s4>(Bf16(4), 8, 1, 30, seed);
    Stream<VArrayBf16x8s5>(Bf16(5), 8, 1, 30, seed);
    Stream<VArrayBf16x8s5b2>(Bf16(5), 8, 2, 30, seed);
  }
}

TEST(ArrayTest, SumsGoOnFromTileToTile) {
  SumsGoOn<VArrayBf16x8s1>(1);
  SumsGoOn<VArrayBf16x8s5>(5);
}

}  // namespace
}  // namespace systole::mxu_test
