// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// cholesky and triangular_solve against the host: every form, batches, lines
// longer than a row of lanes, numbers of which there are no roots.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

class EliminationTest : public testing::TestWithParam<const char*> {
 protected:
  EliminationTest() : check_(GetParam()) {}

  DeviceCheck check_;
};

TEST_P(EliminationTest, TriangularSolve) {
  for (int form = 0; form < 16; ++form) {
    const auto is = [&](int bit) {
      return (form >> bit & 1) ? "true" : "false";
    };
    const bool left = (form & 1) != 0;
    check_.Check(
        absl::StrFormat(R"(module @m {
  %%a = f32[3,9,9] parameter(), name="a"
  %%b = f32[3,%1$s] parameter(), name="b"
  %%x = f32[3,%1$s] hlo.triangular_solve(%%a, %%b), left_side=%2$s, lower=%3$s,
    unit_diagonal=%4$s, transpose_a=%5$s
  return %%x as "x"
}
)",
                        left ? "9,21" : "21,9", is(0), is(1), is(2), is(3)),
        form);
  }
}

// Of a matrix that has factors, and of any.
TEST_P(EliminationTest, Cholesky) {
  for (const char* lower : {"true", "false"}) {
    for (const char* shape : {"2,12,12", "1,1", "19,19"}) {
      const auto rank =
          static_cast<int>(std::count(shape, shape + std::strlen(shape), ',')) +
          1;
      check_.Check(absl::StrFormat(R"(module @m {
  %%a = f32[%1$s] parameter(), name="a"
  %%s = f32[%1$s] hlo.sine(%%a)
  %%i = i32[%1$s] hlo.iota(), dimension=%3$d
  %%j = i32[%1$s] hlo.iota(), dimension=%4$d
  %%d = i1[%1$s] hlo.compare(%%i, %%j), direction=EQ
  %%k = f32[] constant(), data=[40.0]
  %%l = f32[%1$s] hlo.broadcast_in_dim(%%k), dimensions=[]
  %%m = f32[%1$s] hlo.select(%%d, %%l, %%s)
  %%x = f32[%1$s] hlo.cholesky(%%m), lower=%2$s
  %%y = f32[%1$s] hlo.cholesky(%%a), lower=%2$s
  return %%x as "x", %%y as "y"
}
)",
                                   shape, lower, rank - 2, rank - 1),
                   3);
    }
  }
}

// What jnp.linalg.qr arrives as: tall, wide and single matrices, batches, of
// any numbers and of those that are no specials.
TEST_P(EliminationTest, Householder) {
  const struct {
    const char *shape, *factors;
  } kShapes[] = {{"7,5", "5"}, {"5,7", "5"},     {"2,3,6,4", "2,3,4"},
                 {"1,1", "1"}, {"3,9,1", "3,1"}, {"141,3", "3"}};
  for (const auto& c : kShapes) {
    for (const char* numbers : {"%given", "%small"}) {
      check_.Check(absl::StrFormat(R"(module @m {
  %%given = f32[%1$s] parameter(), name="a"
  %%other = i8[%1$s] parameter(), name="b"
  %%small = f32[%1$s] hlo.convert(%%other)
  %%r = (f32[%1$s], f32[%2$s]) hlo.custom_call(%3$s), target="Qr"
  %%q = f32[%1$s] hlo.custom_call(%%r, %%r#1),
    target="ProductOfElementaryHouseholderReflectors"
  return %%r as "r", %%r#1 as "t", %%q as "q"
}
)",
                                   c.shape, c.factors, numbers),
                   3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, EliminationTest,
                         testing::Values("mini", "v2"));

}  // namespace
}  // namespace systole::lanes
