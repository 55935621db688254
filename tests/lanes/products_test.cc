// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products of every form against the host's.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/lanes/convolution_text.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

std::string DotText(const std::string& type, const Ints& left,
                    const Ints& right, const Ints& result,
                    const std::string& attributes,
                    const std::string& to = "f32") {
  return absl::StrFormat(R"(module @m {
  %%a = %1$s[%2$s] parameter(), name="a"
  %%b = %1$s[%3$s] parameter(), name="b"
  %%c = %6$s[%4$s] hlo.dot_general(%%a, %%b), %5$s
  return %%c as "c"
}
)",
                         type, List(left), List(right), List(result),
                         attributes, to);
}

std::string Contract(const Ints& lb, const Ints& rb, const Ints& lc,
                     const Ints& rc, const std::string& precision) {
  return absl::StrFormat(
      "lhs_batching=[%s], rhs_batching=[%s], lhs_contracting=[%s], "
      "rhs_contracting=[%s], precision=%s",
      List(lb), List(rb), List(lc), List(rc), precision);
}

class ProductsTest : public testing::TestWithParam<const char*> {
 protected:
  ProductsTest() : check_(GetParam()) {}

  void Dot(int64_t batch, int64_t m, int64_t k, int64_t n,
           const std::string& precision = "DEFAULT",
           const std::string& type = "f32") {
    check_.Check(DotText(type, {batch, m, k}, {batch, k, n}, {batch, m, n},
                         Contract({0}, {0}, {2}, {1}, precision)),
                 ++seed_);
    check_.Check(DotText(type, {batch, m, k}, {batch, n, k}, {batch, m, n},
                         Contract({0}, {0}, {2}, {2}, precision)),
                 ++seed_);
  }

  void Convolution(const Conv& c) { check_.Check(ConvolutionText(c), ++seed_); }

  DeviceCheck check_;
  uint64_t seed_ = 0;
};

TEST_P(ProductsTest, MatricesAroundTheEdges) {
  for (const int64_t m : {1, 5, 8, 17}) {
    for (const int64_t k : {1, 7, 8, 19}) {
      for (const int64_t n : {1, 8, 9, 33}) Dot(1, m, k, n);
    }
  }
  Dot(1, 300, 40, 36);
  Dot(1, 3, 257, 130);
}

TEST_P(ProductsTest, Nothing) {
  Dot(1, 0, 3, 4);
  Dot(0, 2, 3, 4);
  Dot(2, 3, 0, 4);
}

TEST_P(ProductsTest, Batches) {
  Dot(3, 1, 1, 1);
  Dot(7, 5, 3, 2);
  Dot(4, 16, 8, 8);
  Dot(12, 9, 33, 5);
}

TEST_P(ProductsTest, MoreThanFitsTheUnifiedBuffer) {
  Dot(1, 40, 900, 70);
  Dot(1, 3, 30, 2000);
  Dot(2, 1500, 24, 12);
  // Panels of columns, of which the last one is narrower.
  if (GetParam() == std::string("v2")) return;
  Dot(1, 70, 600, 512);
  Dot(2, 33, 500, 720);
  Dot(1, 20, 600, 520);
  if (GetParam() == std::string("lite")) return Dot(1, 130, 1000, 1088);
  // Blocks of some lines leave room for whole strips, others for panels.
  for (const int64_t n : {848, 1664, 3056})
    Dot(1, 50, 40, n, "DEFAULT", "bf16");
}

// Lines of the left matrix that would all lie in one bank of the unified buffer
// are moved apart; in numbers that no descriptor holds as a line of positions,
// and in blocks of which the last two, or the first and the last, are shorter.
TEST_P(ProductsTest, LinesOfOneBank) {
  const Preset& preset = *FindPreset(GetParam());
  const int64_t k = 2 * preset.cols * preset.ub_banks;
  for (const int64_t m : {1, 5, 97, 251}) Dot(1, m, k, 33, "DEFAULT", "bf16");
  Dot(1, 118, 2 * k, preset.cols + 1, "DEFAULT", "bf16");
  Dot(3, 40, k / 2, 2 * preset.cols, "DEFAULT", "bf16");
  Dot(1, 16 * preset.rows, k / 2, 40, "DEFAULT", "bf16");
}

TEST_P(ProductsTest, PrecisionsAndTypes) {
  for (const char* precision : {"DEFAULT", "HIGH", "HIGHEST"}) {
    Dot(1, 12, 20, 9, precision);
    Dot(2, 5, 9, 11, precision);
    Dot(1, 9, 20, 9, precision, "bf16");
    Dot(1, 9, 20, 9, precision, "f16");
  }
  check_.Check(DotText("bf16", {6, 10}, {10, 7}, {6, 7},
                       Contract({}, {}, {1}, {0}, "DEFAULT"), "bf16"),
               50);
}

TEST_P(ProductsTest, Integers) {
  const struct {
    const char *type, *to;
  } kTypes[] = {{"i32", "i32"}, {"u32", "u32"}, {"i8", "i32"},  {"u8", "u32"},
                {"u8", "u8"},   {"i8", "i8"},   {"i32", "i8"},  {"i16", "i32"},
                {"u16", "u16"}, {"i8", "f32"},  {"i32", "bf16"}};
  for (const auto& types : kTypes) {
    check_.Check(DotText(types.type, {3, 6, 40}, {3, 40, 7}, {3, 6, 7},
                         Contract({0}, {0}, {2}, {1}, "DEFAULT"), types.to),
                 ++seed_);
  }
  // More terms than fp32 adds up exactly.
  check_.Check(DotText("i32", {1, 3, 600}, {1, 600, 5}, {1, 3, 5},
                       Contract({0}, {0}, {2}, {1}, "DEFAULT"), "i32"),
               ++seed_);
  check_.Check(DotText("u8", {1, 3, 600}, {1, 5, 600}, {1, 3, 5},
                       Contract({0}, {0}, {2}, {2}, "DEFAULT"), "u32"),
               ++seed_);
  Conv c;
  c.type = "i32";
  c.low = {1, 0};
  c.stride = {2, 2};
  Convolution(c);
}

TEST_P(ProductsTest, AnyDimensions) {
  const struct {
    Ints left, right, result, lb, rb, lc, rc;
  } kCases[] = {
      {{9, 6}, {9, 5}, {6, 5}, {}, {}, {0}, {0}},
      {{4}, {4}, {}, {}, {}, {0}, {0}},
      {{3, 4, 5}, {5, 4, 6}, {3, 6}, {}, {}, {1, 2}, {1, 0}},
      {{2, 9, 3, 8}, {2, 11, 3, 8}, {2, 3, 9, 11}, {0, 2}, {0, 2}, {3}, {3}},
      {{5, 2, 7}, {7, 3, 2}, {2, 5, 3}, {1}, {2}, {2}, {0}},
      {{3, 4}, {5, 6}, {3, 4, 5, 6}, {}, {}, {}, {}},
      {{6, 4}, {6, 4}, {6, 4}, {0, 1}, {0, 1}, {}, {}},
  };
  for (const auto& c : kCases) {
    check_.Check(DotText("f32", c.left, c.right, c.result,
                         Contract(c.lb, c.rb, c.lc, c.rc, "DEFAULT")),
                 ++seed_);
  }
}

TEST_P(ProductsTest, Convolutions) {
  Convolution({});
  Conv c;
  c.stride = {2, 1};
  c.low = {1, 0};
  c.high = {2, 1};
  Convolution(c);
  c.precision = "HIGH";
  Convolution(c);
  c.type = "bf16";
  c.precision = "DEFAULT";
  Convolution(c);
  c = {};
  c.base = {2, 3};
  c.low = {2, 1};
  c.high = {2, -1};
  c.reversal = {1, 1};
  Convolution(c);
  c = {};
  c.dilation = {2, 3};
  c.low = {-1, 2};
  Convolution(c);
  c = {};
  c.groups = 3;
  c.features = 2;
  Convolution(c);
  c = {};
  c.batch_groups = 2;
  c.features = 5;
  Convolution(c);
  // Features first.
  c = {};
  c.input_feature = c.output_feature = 1;
  c.kernel_output = 0;
  c.kernel_input = 1;
  c.features = 9;
  c.outputs = 17;
  Convolution(c);
  // As a gradient of a kernel: the batch is contracted.
  c = {};
  c.input_batch = 3;
  c.input_feature = 0;
  c.kernel_input = 0;
  c.output_batch = 2;
  c.features = 8;
  c.size = {9, 9};
  c.window = {4, 4};
  c.dilation = {2, 2};
  Convolution(c);
  // One and three dimensions.
  c = {};
  c.size = {20};
  c.window = {5};
  c.stride = c.base = c.dilation = {1};
  c.low = c.high = {2};
  c.reversal = {0};
  c.input_feature = c.output_feature = 2;
  c.kernel_input = 1;
  c.kernel_output = 2;
  Convolution(c);
  c = {};
  c.size = {5, 4, 6};
  c.window = {2, 2, 3};
  c.stride = {1, 2, 1};
  c.base = c.dilation = {1, 1, 1};
  c.low = {0, 1, 1};
  c.high = {1, 0, 0};
  c.reversal = {0, 0, 1};
  c.input_feature = c.output_feature = 4;
  c.kernel_input = 3;
  c.kernel_output = 4;
  Convolution(c);
}

// Taps between elements have no part in a sum: an infinity of the kernel does
// not meet the zeros there.
TEST_P(ProductsTest, DilatedInputs) {
  Conv c;
  c.infinities = true;
  c.base = {2, 2};
  c.low = {3, 3};
  c.high = {2, 2};
  c.window = {6, 6};  // all phases see the same elements
  Convolution(c);
  c.window = {4, 4};  // as many, others
  Convolution(c);
  c.window = {3, 3};
  c.stride = {1, 3};
  Convolution(c);
  c.precision = "HIGH";
  c.reversal = {1, 0};
  Convolution(c);
  c.precision = "DEFAULT";
  c.type = "bf16";
  c.base = {5, 1};  // phases without an element
  Convolution(c);
  c.dilation = {2, 2};
  c.base = {4, 2};
  c.low = {-9, 2};
  c.high = {4, 9};
  Convolution(c);
  c = {};
  c.groups = 3;
  c.base = {3, 2};
  c.output_batch = 2;
  c.output_feature = 0;
  c.infinities = true;
  Convolution(c);
  c = {};
  c.type = "i32";
  c.base = {2, 2};
  Convolution(c);
}

// Contractions of several sections.
TEST_P(ProductsTest, LongContractions) {
  Dot(1, 3, 4096, 9);
  Dot(1, 3, 4097, 9);
  Dot(1, 7, 1500, 6, "HIGH");
  Dot(1, 2, 700, 3, "HIGHEST");
  // Larger operands than its unified buffer.
  if (GetParam() == std::string("mini")) return;
  Dot(1, 3, 12'300, 9);
  Dot(2, 130, 5000, 20);
  Conv c;
  c.features = 1500;  // a boundary within a tap
  Convolution(c);
  c.features = 1100;  // phases of one and of two sections
  c.base = {2, 2};
  c.window = {3, 4};
  Convolution(c);
  c = {};  // as a gradient of a kernel
  c.input_batch = 3;
  c.input_feature = c.kernel_input = 0;
  c.output_batch = 2;
  c.size = {26, 24};
  c.window = {24, 22};
  for (c.features = 9; c.features < 50; c.features += 31)  // rows, columns
    Convolution(c);
}

TEST_P(ProductsTest, RandomConvolutions) {
  std::mt19937_64 random(7);
  const auto from = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % (most - least + 1));
  };
  for (int i = 0; i < 40; ++i) {
    Conv c;
    c.batch = from(1, 3);
    c.features = from(1, 10);
    c.outputs = from(1, 12);
    (random() % 2 == 0 ? c.groups : c.batch_groups) = from(1, 2);
    for (int d = 0; d < 2; ++d) {
      c.window[d] = from(1, 4);
      c.dilation[d] = from(1, 2);
      c.base[d] = from(1, 3);
      c.stride[d] = from(1, 3);
      c.size[d] = (c.window[d] - 1) * c.dilation[d] + from(2, 6);
      c.low[d] = from(-1, 2);
      c.high[d] = from(0, 2);
      c.reversal[d] = from(0, 1);
    }
    Ints places = {0, 1, 2, 3};
    const auto choose = [&](int64_t& a, int64_t& b) {
      std::shuffle(places.begin(), places.end(), random);
      a = places[0];
      b = places[1];
    };
    choose(c.input_batch, c.input_feature);
    choose(c.kernel_input, c.kernel_output);
    choose(c.output_batch, c.output_feature);
    Convolution(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, ProductsTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
