// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The steps of an LSTM, sums as bytes, and what only floats have: the host's
// against the golden operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "host/ir/evaluate.h"
#include "host/ir/quant/fixed_point.h"
#include "host/ir/text.h"
#include "verif/golden/interpreter.h"
#include "verif/golden/lstm.h"

namespace systole::ir {
namespace {

TEST(RecurrentTest, FunctionsOf16BitsEqualTheGoldenOnes) {
  for (int value = -32768; value <= 32767; ++value) {
    const auto a = static_cast<int16_t>(value);
    ASSERT_EQ(LogisticOf16(a), golden::Logistic16(a)) << value;
    for (int bits = 0; bits <= 6; ++bits) {
      ASSERT_EQ(TanhOf16(a, bits), golden::Tanh16(a, bits)) << value;
    }
  }
  // Of what they stand for.
  EXPECT_NEAR(LogisticOf16(1 << 12) / 32768.0, 0.731059, 3e-4);
  EXPECT_NEAR(TanhOf16(1 << 11, 3) / 32768.0, 0.462117, 3e-4);
}

template <typename T>
Literal Drawn(std::mt19937& random, int64_t count, int64_t low, int64_t high) {
  std::vector<T> values(count);
  for (T& value : values) {
    value = static_cast<T>(random() % 16 == 0
                               ? (random() % 2 ? low : high)
                               : low + static_cast<int64_t>(random()) %
                                           (high - low + 1));
  }
  return Literal(std::move(values));
}

void ExpectEqual(const std::string& text, const std::vector<Literal>& inputs) {
  const auto module =
      Parse("module @m {\n" + text + "  return %y as \"y\"\n}\n");
  ASSERT_TRUE(module.ok()) << module.status() << text;
  const auto expected = golden::RunModule(**module, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status() << text;
  const auto got = EvaluateModule(**module, inputs);
  ASSERT_TRUE(got.ok()) << got.status() << text;
  EXPECT_EQ(got->at(0), expected->at(0)) << text;
}

TEST(RecurrentTest, StepsEqualTheGoldenOnes) {
  std::mt19937 random(7);
  const auto real = [&](double low, double high) {
    return FloatText(static_cast<float>(
        low * std::pow(high / low, random() / 4294967295.0)));
  };
  for (int i = 0; i < 400; ++i) {
    const int exponent = 9 + i % 7;
    const std::string cell =
        "i16[2,5]{scale=" + FloatText(std::ldexp(1.0f, -exponent)) + "}";
    const std::string steps =
        "  %a = i32[2,20] parameter(), name=\"a\"\n  %b = i32[2,20] "
        "parameter(), name=\"b\"\n"
        "  %c = " +
        cell + " parameter(), name=\"c\"\n";
    const std::vector<Literal> inputs = {
        Drawn<int32_t>(random, 40, -2000000, 2000000),
        Drawn<int32_t>(random, 40, -2000000, 2000000),
        Drawn<int16_t>(random, 10, -32768, 32767)};
    const auto factors = [&] {
      return "[" + real(1e-4, 0.1) + ", " + real(1e-4, 0.1) + ", " +
             real(1e-4, 0.1) + "]";
    };
    ExpectEqual(steps + "  %y = " + cell +
                    " lstm_cell(%a, %b, %c), input_factors=" + factors() +
                    ", recurrent_factors=" + factors() + ", clip=" +
                    std::to_string(i % 3 == 0 ? random() % 32768 : 0) + "\n",
                inputs);
    ExpectEqual(steps + "  %y = i8[2,5]{scale=1} lstm_output(%a, %b, %c), " +
                    "input_factor=" + real(1e-4, 0.1) +
                    ", recurrent_factor=" + real(1e-4, 0.1) +
                    ", hidden_scale=" + real(2e-3, 0.02) + ", hidden_zero=" +
                    std::to_string(static_cast<int>(random() % 256) - 128) +
                    "\n",
                inputs);
  }
}

TEST(RecurrentTest, SumsAndFloatsEqualTheGoldenOnes) {
  std::mt19937 random(9);
  for (int i = 0; i < 100; ++i) {
    ExpectEqual(
        "  %x = i8[3,7]{scale=0.5, zero=9} parameter(), name=\"x\"\n"
        "  %w = i8[4,7]{scale=1} parameter(), name=\"w\"\n"
        "  %s = i8[3,16]{scale=1} dense_sums(%x, %w)\n"
        "  %y = i32[3,4] bitcast(%s)\n",
        {Drawn<int8_t>(random, 21, -128, 127),
         Drawn<int8_t>(random, 28, -128, 127)});
    const auto floats = [&](int count) {
      std::vector<float> values(count);
      for (float& v : values) {
        v = static_cast<float>(static_cast<int64_t>(random()) - 2147483648) *
            1e-9f;
      }
      return Literal(std::move(values));
    };
    ExpectEqual(
        "  %a = f32[2,3] parameter(), name=\"a\"\n  %b = f32[3] parameter(), "
        "name=\"b\"\n"
        "  %y = f32[2,3] div(%a, %b)\n",
        {floats(6), floats(3)});
    ExpectEqual(
        "  %x = f32[1,3,5,4,2] parameter(), name=\"x\"\n"
        "  %w = f32[2,3,2,2,3] parameter(), name=\"w\"\n  %b = f32[3] "
        "parameter(), name=\"b\"\n"
        "  %y = f32[1,2,2,4,3] conv3d(%x, %w, %b), stride=[2, 2, 1], "
        "padding=[1, 0, 0, 0, 1, 1]\n",
        {floats(120), floats(72), floats(3)});
  }
}

// The sum of products counts no zero point, and bytes come lowest first.
TEST(RecurrentTest, SumsAreBytes) {
  const auto module = Parse(
      "module @m {\n  %x = i8[1,2]{scale=0.5, zero=9} parameter(), name=\"x\"\n"
      "  %w = i8[1,2]{scale=1} parameter(), name=\"w\"\n"
      "  %y = i8[1,4]{scale=1} dense_sums(%x, %w)\n  return %y as \"y\"\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto bytes =
      EvaluateModule(**module, {Literal(std::vector<int8_t>{-128, 100}),
                                Literal(std::vector<int8_t>{127, 3})});
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_THAT(bytes->at(0).values<int8_t>(),  // -15956
              testing::ElementsAre(-84, -63, -1, -1));
}

}  // namespace
}  // namespace systole::ir
