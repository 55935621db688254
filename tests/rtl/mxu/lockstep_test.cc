// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The checker that runs the fast view beside the grid stops at a view that is
// not the grid's: here its rows of weights lie the other way round; and at a
// grid whose groups of columns take the weights of another row.

#include <unistd.h>

#include "VArrayBf16x8s1Wrong.h"
#include "VArrayInt8x8Wrong.h"
#include "VArrayInt8x8WrongGroups.h"
#include "tests/rtl/mxu/array_bench.h"

namespace systole::mxu_test {
namespace {

template <typename Model>
void RunAgainstWrongView(const Cell& cell) {
  ::dup2(2, 1);  // the simulator reports on the standard output
  Stream<Model>(cell, 8, 1, 30, 1);
}

TEST(LockstepDeathTest, AWrongViewIsSeen) {
  ::testing::FLAGS_gtest_death_test_style = "fast";
  EXPECT_DEATH(RunAgainstWrongView<VArrayInt8x8Wrong>(Int8(1)), "a_views");
  EXPECT_DEATH(RunAgainstWrongView<VArrayBf16x8s1Wrong>(Bf16(1)), "a_views");
}

TEST(LockstepDeathTest, WrongGroupsOfColumnsAreSeen) {
  ::testing::FLAGS_gtest_death_test_style = "fast";
  EXPECT_DEATH(RunAgainstWrongView<VArrayInt8x8WrongGroups>(Int8(1)),
               "a_views");
}

}  // namespace
}  // namespace systole::mxu_test
