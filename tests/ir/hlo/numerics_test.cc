// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Orders and roundings of docs/hlo.md, to the bit, against the plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/ir/evaluate.h"
#include "host/ir/hlo/functions.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "verif/golden/functions.h"

namespace systole::ir {
namespace {

std::mt19937 generator(7);  // NOLINT: the same numbers in each run

std::vector<float> Random(size_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = normal(generator);
  return values;
}

Literals RunText(const std::string& text, const Literals& inputs,
                 EvaluateOptions options = {}) {
  const auto module = Parse(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  EXPECT_EQ(Verify(**module), absl::OkStatus());
  auto outputs = EvaluateModule(**module, inputs, std::move(options));
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? *std::move(outputs) : Literals();
}

TEST(HloNumericsTest, FunctionsEqualTheGoldenModel) {
  std::vector<uint32_t> arguments = {0,          0x80000000, 0x7F800000,
                                     0xFF800000, 0x7FC00000, 1,
                                     0x3F800000, 0xC2FE0000, 0x00800000};
  for (int i = 0; i < 200000; ++i) arguments.push_back(generator());
  for (const float v : Random(100000)) arguments.push_back(BitsOf(v * 20));
  for (const uint32_t bits : arguments) {
    const float a = FromBits(bits);
    ASSERT_EQ(BitsOf(Exp2(a)), golden::Exp2(bits)) << a;
    ASSERT_EQ(BitsOf(Log2(a)), golden::Log2(bits)) << a;
    ASSERT_EQ(BitsOf(Rsqrt(a)), golden::ReciprocalSqrt(bits)) << a;
    ASSERT_EQ(BitsOf(Tanh(a)), golden::Tanh(bits)) << a;
    ASSERT_EQ(BitsOf(Exp(a)), golden::Exp(bits)) << a;
    ASSERT_EQ(BitsOf(Log(a)), golden::Log(bits)) << a;
  }
}

TEST(HloNumericsTest, HalvesRoundToEven) {
  const auto bits = [](float v) { return Float16(v).bits; };
  EXPECT_EQ(bits(65519.99f), 0x7BFF);
  EXPECT_EQ(bits(65520.0f), 0x7C00);
  EXPECT_EQ(bits(1 + 0x1p-11f), 0x3C00);
  EXPECT_EQ(bits(1 + 3 * 0x1p-11f), 0x3C02);
  EXPECT_EQ(bits(-0x1p-25f), 0x8000);
  EXPECT_EQ(bits(3 * 0x1p-25f), 0x0002);
  for (int i = 0; i < 0x7C00; ++i) {
    Float16 half;
    half.bits = static_cast<uint16_t>(i);
    ASSERT_EQ(bits(half), i);
  }
  EXPECT_EQ(Bfloat16(FromBits(0x3F808000)).bits, 0x3F80);
  EXPECT_EQ(Bfloat16(FromBits(0x3F818000)).bits, 0x3F82);
  EXPECT_EQ(Bfloat16(FromBits(0xFFFFFFFF)).bits, 0x7FC0);
}

float Part(float x, int part) {
  for (int i = 0; i < part; ++i) x = x - Bfloat16(x);
  return Bfloat16(x);
}

TEST(HloNumericsTest, ProductsAreSumsOfChainsInOrder) {
  const std::vector<std::pair<std::string, std::vector<std::pair<int, int>>>>
      precisions = {
          {"DEFAULT", {{0, 0}}},
          {"HIGH", {{1, 0}, {0, 1}, {0, 0}}},
          {"HIGHEST", {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}}}};
  const std::vector<std::vector<int>> shapes = {
      {1, 5, 1},   {7, 33, 3},  {3, 40, 70},  {13, 8, 130},
      {90, 17, 2}, {2, 700, 3}, {1, 4096, 2}, {3, 9001, 2}};
  for (const auto& [precision, passes] : precisions) {
    for (const std::vector<int>& s : shapes) {
      const int m = s[0], k = s[1], n = s[2];
      const std::vector<float> a = Random(m * k), b = Random(k * n);
      const Literals outputs = RunText(
          absl::StrCat("module @m {\n%a = f32[", m, ",", k,
                       "] parameter(), name=\"a\"\n%b = f32[", k, ",", n,
                       "] parameter(), name=\"b\"\n%c = f32[", m, ",", n,
                       "] hlo.dot_general(%a, %b), lhs_contracting=[1], "
                       "rhs_contracting=[0], precision=",
                       precision, "\nreturn %c as \"c\"\n}"),
          {Literal(a), Literal(b)});
      ASSERT_EQ(outputs.size(), 1u);
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          std::vector<float> sections;
          int terms = 0;
          for (const auto& [left, right] : passes) {
            for (int p = 0; p < k; ++p) {
              if (terms++ % 4096 == 0) sections.push_back(0);
              sections.back() =
                  std::fma(Part(a[i * k + p], left), Part(b[p * n + j], right),
                           sections.back());
            }
          }
          const float sum =
              std::accumulate(sections.begin(), sections.end(), 0.0f);
          ASSERT_EQ(outputs[0].values<float>()[i * n + j], sum)
              << precision << " " << m << " " << k << " " << n;
        }
      }
    }
  }
}

constexpr char kConvolution[] = R"(module @m {
  %x = f32[2,5,6,3] parameter(), name="x"
  %f = f32[3,2,3,4] parameter(), name="f"
  %y = f32[2,3,4,4] hlo.convolution(%x, %f), stride=[2, 1], low=[1, 0],
    high=[1, 0], lhs_dilation=[1, 1], rhs_dilation=[1, 2], reversal=[0, 1],
    input_batch=0, input_feature=3, input_spatial=[1, 2],
    kernel_input_feature=2, kernel_output_feature=3, kernel_spatial=[0, 1],
    output_batch=0, output_feature=3, output_spatial=[1, 2]
  return %y as "y"
})";

// The unit sees every product and may be another one.
class Counting : public ProductUnit {
 public:
  absl::Status Multiply(int64_t m, int64_t k, int64_t n, const uint16_t* a,
                        const uint16_t* b, float* c) override {
    products += m * k * n;
    const absl::Status status = HostProducts().Multiply(m, k, n, a, b, c);
    for (int64_t i = 0; i < m * n; ++i) c[i] *= 2;
    return status;
  }
  int64_t products = 0;
};

TEST(HloNumericsTest, ConvolutionsAreChainsInOrder) {
  const std::vector<float> x = Random(2 * 5 * 6 * 3), f = Random(3 * 2 * 3 * 4);
  const Literals inputs = {Literal(x), Literal(f)};
  const Literals outputs = RunText(kConvolution, inputs);
  ASSERT_EQ(outputs.size(), 1u);
  const std::vector<float>& y = outputs[0].values<float>();
  for (int64_t i = 0; i < outputs[0].size(); ++i) {
    const int64_t o = i % 4, column = i / 4 % 4, row = i / 16 % 3, n = i / 48;
    float sum = 0;
    for (int64_t r = 0; r < 3; ++r) {
      for (int64_t c = 0; c < 2; ++c) {
        for (int64_t k = 0; k < 3; ++k) {
          const int64_t h = 2 * row + r - 1, w = column + 2 * c;
          if (h < 0 || h >= 5) continue;
          const float value = Bfloat16(x[((n * 5 + h) * 6 + w) * 3 + k]);
          const float weight = Bfloat16(f[((r * 2 + 1 - c) * 3 + k) * 4 + o]);
          sum = std::fma(value, weight, sum);
        }
      }
    }
    ASSERT_EQ(y[i], sum) << i;
  }
  Counting unit;
  const Literals doubled = RunText(kConvolution, inputs, {{}, &unit});
  EXPECT_EQ(unit.products, 2 * 3 * 4 * (3 * 2 * 3) * 4);
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(doubled[0].values<float>()[i], 2 * y[i]);
  }
}

// By halves, as the page says it.
float TreeSum(std::vector<float> x) {
  size_t n = x.size(), h = 1;
  while (2 * h < n) h *= 2;
  for (; n > 1; n = h, h /= 2) {
    for (size_t i = 0; i < h && i + h < n; ++i) x[i] += x[i + h];
  }
  return x[0];
}

// Down columns: 143 elements in sections of 128 and 15; 154 in 2 of 77.
float SumOfColumn(const std::vector<float>& x) {
  const size_t section = x.size() == 154 ? 77 : 128;
  std::vector<float> sums;
  for (size_t i = 0; i < x.size(); i += section) {
    sums.push_back(
        TreeSum({x.begin() + i, x.begin() + std::min(i + section, x.size())}));
  }
  return TreeSum(sums);
}

TEST(HloNumericsTest, ReductionsAreTrees) {
  for (const int depth : {13, 14}) {
    const std::vector<float> x = Random(11 * 9 * depth);
    for (int mask = 1; mask < 8; ++mask) {
      const int sizes[3] = {11, 9, depth};
      std::string axes, shape;
      for (int d = 0; d < 3; ++d) {
        std::string& list = mask >> d & 1 ? axes : shape;
        absl::StrAppend(&list, list.empty() ? "" : ",",
                        mask >> d & 1 ? d : sizes[d]);
      }
      const Literals outputs = RunText(
          absl::StrCat("module @m {\n%x = f32[11,9,", depth,
                       "] parameter(), name=\"x\"\n%i = f32[] constant(), "
                       "data=[0.3]\n%y = f32[",
                       shape, "] hlo.reduce(%x, %i), dimensions=[", axes,
                       "] {\n",
                       "%a = f32[] parameter()\n%b = f32[] parameter()\n",
                       "%c = f32[] hlo.add(%a, %b)\nreturn %c\n}\n",
                       "return %y as \"y\"\n}"),
          {Literal(x)});
      ASSERT_EQ(outputs.size(), 1u);
      std::vector<std::vector<float>> parts(outputs[0].size());
      for (int64_t i = 0; i < 11 * 9 * depth; ++i) {
        const int64_t index[3] = {i / depth / 9, i / depth % 9, i % depth};
        int64_t place = 0;
        for (int d = 0; d < 3; ++d) {
          if (!(mask >> d & 1)) place = place * sizes[d] + index[d];
        }
        parts[place].push_back(x[i]);
      }
      std::vector<float> sums;
      const bool columns = mask == 1 || mask == 2 || mask == 3 || mask == 5;
      for (const std::vector<float>& part : parts)
        sums.push_back(0.3f + (columns ? SumOfColumn(part) : TreeSum(part)));
      EXPECT_EQ(outputs[0].values<float>(), sums) << axes;
    }
  }
}

// Updates in place change nothing that others read.
TEST(HloNumericsTest, SharedValuesStay) {
  const Literals inputs = {Literal(std::vector<float>{1, 2, 3, 4})};
  const Literals outputs = RunText(R"(module @m {
    %x = f32[4] parameter(), name="x"
    %u = f32[1] constant(), data=[9]
    %i = i32[] constant(), data=[2]
    %r = f32[2,2] hlo.reshape(%x)
    %y = f32[4] hlo.dynamic_update_slice(%x, %u, %i)
    %z = f32[4] hlo.dynamic_update_slice(%y, %u, %i)
    return %y as "y", %z as "z", %r as "r"
  })",
                                   inputs);
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(inputs[0].values<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(outputs[0].values<float>(), (std::vector<float>{1, 2, 9, 4}));
  EXPECT_EQ(outputs[1].values<float>(), (std::vector<float>{1, 2, 9, 4}));
  EXPECT_EQ(outputs[2].values<float>(), (std::vector<float>{1, 2, 3, 4}));
}

TEST(HloNumericsTest, BranchesOfATruth) {
  for (const bool truth : {true, false}) {
    const Literals outputs = RunText(R"(module @m {
      %c = i1[] parameter(), name="c"
      %x = f32[2] parameter(), name="x"
      %y = f32[2] hlo.if(%c, %x) {
        %a = f32[2] parameter()
        return %a
      } {
        %a = f32[2] parameter()
        %n = f32[2] hlo.negate(%a)
        return %n
      }
      %p = u32[] hlo.partition_id()
      return %y as "y", %p as "p"
    })",
                                     {Literal(std::vector<Bool>{truth}),
                                      Literal(std::vector<float>{1, -2})});
    ASSERT_EQ(outputs.size(), 2u);
    EXPECT_EQ(outputs[0].values<float>(), truth ? (std::vector<float>{1, -2})
                                                : (std::vector<float>{-1, 2}));
    EXPECT_EQ(outputs[1].values<uint32_t>(), (std::vector<uint32_t>{0}));
  }
}

TEST(HloNumericsTest, RandomNumbersAreInTheirRange) {
  const Literals outputs = RunText(R"(module @m {
    %l = f32[] constant(), data=[2]
    %h = f32[] constant(), data=[3]
    %i = i8[] constant(), data=[-2]
    %k = i8[] constant(), data=[2]
    %n = i64[1] constant(), data=[4000]
    %u = f32[4000] hlo.rng(%l, %h, %n)
    %g = f32[4000] hlo.rng(%l, %h, %n), distribution=NORMAL
    %b = i8[4000] hlo.rng(%i, %k, %n)
    %v = f32[4000] hlo.rng(%l, %h, %n)
    return %u as "u", %g as "g", %b as "b", %v as "v"
  })",
                                   {});
  ASSERT_EQ(outputs.size(), 4u);
  EXPECT_FALSE(outputs[0] == outputs[3]);  // drawn anew
  double sum = 0, squares = 0;
  for (const float v : outputs[0].values<float>()) {
    EXPECT_TRUE(2 <= v && v < 3) << v;
  }
  for (const float v : outputs[1].values<float>()) {
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / 4000, 2, 0.2);
  EXPECT_NEAR(squares / 4000, 4 + 9, 1);
  std::vector<int> counts(4);
  for (const int8_t v : outputs[2].values<int8_t>()) {
    ASSERT_TRUE(-2 <= v && v < 2) << int{v};
    ++counts[v + 2];
  }
  for (const int count : counts) EXPECT_GT(count, 800);
}

// The factors multiply to the matrix, and those of Q are orthonormal; tall,
// wide and with a column of zeros.
TEST(HloNumericsTest, QrDecomposes) {
  for (const auto& [m, n] : {std::pair{5, 3}, {3, 5}, {4, 4}, {1, 1}}) {
    const int k = std::min(m, n);
    const auto module = Parse(absl::StrFormat(
        "module @qr {\n%%x = f32[%d,%d] parameter(), name=\"x\"\n"
        "%%y = (f32[%d,%d], f32[%d]) hlo.custom_call(%%x), target=\"Qr\"\n"
        "%%q = f32[%d,%d] hlo.custom_call(%%y, %%y#1), "
        "target=\"ProductOfElementaryHouseholderReflectors\"\n"
        "return %%y as \"y\", %%q as \"q\"\n}",
        m, n, m, n, k, m, n));
    ASSERT_TRUE(module.ok()) << module.status();
    ASSERT_EQ(Verify(**module), absl::OkStatus());
    std::mt19937 rng(m * n);
    std::vector<float> a(m * n);
    for (int e = 0; e < m * n; ++e)
      a[e] = n > 1 && e % n == 1 ? 0.0f : static_cast<int>(rng() % 19) - 9.0f;
    const auto outputs = EvaluateModule(**module, {Literal(a)});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    const auto& r = (*outputs)[0].values<float>();
    const auto& q = (*outputs)[1].values<float>();
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int t = 0; t <= std::min(j, k - 1); ++t)
          sum += q[i * n + t] * r[t * n + j];
        EXPECT_NEAR(sum, a[i * n + j], 1e-5) << m << "x" << n;
      }
    }
    for (int i = 0; i < k; ++i) {
      for (int j = 0; j < k; ++j) {
        float sum = 0;
        for (int t = 0; t < m; ++t) sum += q[t * n + i] * q[t * n + j];
        EXPECT_NEAR(sum, i == j ? 1.0f : 0.0f, 1e-5) << m << "x" << n;
      }
    }
  }
}

TEST(HloNumericsTest, WhatTheHostHasNotIsNamed) {
  const auto error = [](const std::string& statement) {
    const auto module =
        Parse("module @m {\n%x = f32[4] parameter(), name=\"x\"\n%y = f32[4] " +
              statement + "\nreturn %y as \"y\"\n}");
    EXPECT_TRUE(module.ok()) << module.status();
    (*module)->Find("y")->location = "a.py:3";
    EXPECT_EQ(Verify(**module), absl::OkStatus());
    const auto outputs =
        EvaluateModule(**module, {Literal(std::vector<float>(4))});
    return std::string(outputs.status().message());
  };
  EXPECT_EQ(error("hlo.custom_call(%x), target=\"Eigh\""),
            "node 'y' at a.py:3: the host does not compute calls of 'Eigh'");
  EXPECT_EQ(error("hlo.custom_call(%x), target=\"Qr\""),
            "node 'y' at a.py:3: 'Qr' of other values than matrices of f32");
  EXPECT_EQ(error("hlo.collective_permute(%x), replica_groups=[0, 1], "
                  "group_size=2"),
            "node 'y' at a.py:3: the host computes hlo.collective_permute of "
            "one replica alone, not in groups of 2");
  EXPECT_EQ(error("hlo.collective_broadcast(%x)"), "");
}

}  // namespace
}  // namespace systole::ir
