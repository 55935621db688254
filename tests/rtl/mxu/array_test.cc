// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The systolic array alone, each cell with the stages of the presets for
// simulation (array_bench.h; array_stages_test.cc).

#include "VArrayBf16x8s3.h"
#include "VArrayBf16x8s3b2.h"
#include "VArrayInt8x16b4.h"
#include "VArrayInt8x8.h"
#include "tests/rtl/mxu/array_bench.h"
#include "tests/testing/seeds.h"

namespace systole::mxu_test {
namespace {

TEST(ArrayTest, Int8) {
  for (const uint32_t seed :
       systole::testing_options::SeedList<uint32_t>(20, 0)) {
    Stream<VArrayInt8x8>(Int8(1), 8, 1, 30, seed);
    Stream<VArrayInt8x16b4>(Int8(1), 16, 4, 30, seed);
  }
}

TEST(ArrayTest, Bf16) {
  for (const uint32_t seed :
       systole::testing_options::SeedList<uint32_t>(20, 0)) {
    Stream<VArrayBf16x8s3>(Bf16(3), 8, 1, 30, seed);
    Stream<VArrayBf16x8s3b2>(Bf16(3), 8, 2, 30, seed);
  }
}

TEST(ArrayTest, SumsGoOnFromTileToTile) { SumsGoOn<VArrayBf16x8s3>(3); }

}  // namespace
}  // namespace systole::mxu_test
