// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Means and sums of images of any size, drawn by a seed.
//   Draw draw(seed);
//   const Case k = RandomCase(draw, /*most=*/60000);
//   Want(*Parsed(k.Text()), Values(k, draw));
#ifndef SYSTOLE_TESTS_LOWER_MEAN_CASE_H_
#define SYSTOLE_TESTS_LOWER_MEAN_CASE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "verif/golden/interpreter.h"
#include "verif/golden/network.h"

namespace systole::lower {

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  int Number(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random_);
  }

 private:
  std::mt19937_64 random_;
};

// A mean, or a sum, of an image, over the axes that are named.
struct Case {
  int h, w, c;
  std::string axes;
  int zero = 0;
  std::string from = "0.5", to = "0.25";
  std::string op = "mean";

  int count() const { return axes == "1, 2" ? h * w : axes == "1" ? h : w; }
  // A pool before it, so that an axis of the image itself is summed on the
  // device too.
  std::string Text() const {
    const std::string rest = axes == "1, 2" ? ""
                             : axes == "1"  ? absl::StrCat(w, ",")
                                            : absl::StrCat(h, ",");
    return absl::StrCat("  %x = i8[1,", h, ",", w, ",", c, "]{scale=", from,
                        ", zero=", zero, "} parameter(), name=\"x\"\n",
                        "  %y = i8[1,", rest, c, "]{scale=", to, ", zero=7} ",
                        op, "(%x), axes=[", axes, "]\n  return %y as \"y\"\n");
  }
};

inline std::unique_ptr<ir::Module> Parsed(const std::string& statements) {
  auto module = ir::Parse("module @m {\n" + statements + "}\n");
  EXPECT_TRUE(module.ok()) << module.status() << statements;
  EXPECT_EQ(ir::Verify(**module), absl::OkStatus()) << statements;
  return *std::move(module);
}

// Values whose sum above the zero point is near 0, though each may be far off.
inline std::vector<int8_t> Balanced(const Case& k, Draw& draw) {
  const int64_t positions = int64_t{k.h} * k.w;
  std::vector<int8_t> values(positions * k.c);
  const int low = draw.Number(-128, 127), high = draw.Number(low, 127);
  for (int c = 0; c < k.c; ++c) {
    int64_t left = positions * k.zero + draw.Number(-90, 90);
    for (int64_t p = 0; p < positions; ++p) {
      int64_t q = draw.Number(low, high);
      const int64_t rest = positions - p - 1;
      q = std::clamp<int64_t>(q, std::max<int64_t>(-128, left - rest * 127),
                              std::min<int64_t>(127, left + rest * 128));
      values[p * k.c + c] = static_cast<int8_t>(q);
      left -= q;
    }
  }
  return values;
}

inline std::vector<int8_t> Values(const Case& k, Draw& draw) {
  std::vector<int8_t> values(int64_t{k.h} * k.w * k.c);
  const int low = draw.Number(-128, 127), high = draw.Number(low, 127);
  for (int8_t& v : values) v = static_cast<int8_t>(draw.Number(low, high));
  return values;
}

inline Case RandomCase(Draw& draw, int most) {
  const char* const kAxes[] = {"1, 2", "1, 2", "1, 2", "1", "2"};
  Case k{1, 1, draw.Number(1, 70), kAxes[draw.Number(0, 4)]};
  if (draw.Number(0, 3) == 0) k.c = 32 * draw.Number(1, 4);
  if (draw.Number(0, 9) == 0) k.c = draw.Number(70, 700);
  const int shape = draw.Number(0, 4);
  k.h = shape == 0 ? 1 : draw.Number(1, shape == 1 ? 900 : 200);
  k.w = shape == 1 ? 1 : draw.Number(1, shape == 0 ? 3000 : 200);
  while (int64_t{k.h} * k.w * k.c > most) {
    if (k.c > 8)
      k.c /= 2;
    else
      (k.h > k.w ? k.h : k.w) /= 2;
  }
  k.zero = draw.Number(-128, 127);
  if (draw.Number(0, 1) == 0) {  // the sum itself
    k.from = absl::StrCat(k.count(), ".0");
    k.to = "1.0";
  }
  if (draw.Number(0, 2) > 0) return k;
  k.op = "sum";
  if (k.to == "1.0") {
    k.from = "1.0";
    return k;
  }
  // Results of all of int8, of a part of it, and beyond it.
  const double scale = draw.Number(1, 1 << 20) / 1e6;
  k.from = absl::StrCat(scale);
  k.to = absl::StrCat(scale * std::exp2(draw.Number(-20, 100) / 10.0) *
                      std::sqrt(k.count()));
  return k;
}

inline std::vector<int8_t> Want(const ir::Module& module,
                                const std::vector<int8_t>& values) {
  const auto want = golden::RunModule(module, {ir::Literal(values)});
  EXPECT_TRUE(want.ok()) << want.status();
  return want->at(0).values<int8_t>();
}

inline std::vector<int8_t> OfNetwork(const model::Network& network,
                                     const Case& k,
                                     const std::vector<int8_t>& values) {
  const auto got =
      golden::RunNetwork(network, {golden::TensorI8(1, k.h, k.w, k.c, values)});
  EXPECT_TRUE(got.ok()) << got.status();
  return got->back().data();
}

// Whether the sum has no fixed-point factor: the host has it then.
inline bool Refused(const Case& k, const absl::Status& status) {
  return k.op == "sum" && absl::IsUnimplemented(status);
}

}  // namespace systole::lower

#endif  // SYSTOLE_TESTS_LOWER_MEAN_CASE_H_
