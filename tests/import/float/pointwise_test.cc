// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators that compute each element on its own, against the C library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/import/float/float_net.h"

namespace systole::import {
namespace {

using Function = double (*)(double);

struct Unary {
  B code;
  Function function;
  float low = -7, high = 7;
};

double Sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double Within(double x, double low, double high) {
  return std::min(std::max(x, low), high);
}

TEST(FloatPointwise, FunctionsOfOneOperand) {
  const Unary all[] = {
      {tflite::BuiltinOperator_ABS, [](double x) { return std::abs(x); }},
      {tflite::BuiltinOperator_NEG, [](double x) { return -x; }},
      {tflite::BuiltinOperator_SIGN, Sign},
      {tflite::BuiltinOperator_EXP, [](double x) { return std::exp(x); }},
      {tflite::BuiltinOperator_LOG, [](double x) { return std::log(x); },
       0.01f},
      {tflite::BuiltinOperator_SQRT, [](double x) { return std::sqrt(x); }, 0},
      {tflite::BuiltinOperator_RSQRT, [](double x) { return 1 / std::sqrt(x); },
       0.01f},
      {tflite::BuiltinOperator_SIN, [](double x) { return std::sin(x); }},
      {tflite::BuiltinOperator_COS, [](double x) { return std::cos(x); }},
      {tflite::BuiltinOperator_FLOOR, [](double x) { return std::floor(x); }},
      {tflite::BuiltinOperator_CEIL, [](double x) { return std::ceil(x); }},
      {tflite::BuiltinOperator_ROUND,
       [](double x) { return std::nearbyint(x); }},
      {tflite::BuiltinOperator_LOGISTIC,
       [](double x) { return 1 / (1 + std::exp(-x)); }},
      {tflite::BuiltinOperator_TANH, [](double x) { return std::tanh(x); }},
      {tflite::BuiltinOperator_SQUARE, [](double x) { return x * x; }},
      {tflite::BuiltinOperator_RELU, [](double x) { return x < 0 ? 0 : x; }},
      {tflite::BuiltinOperator_RELU6, [](double x) { return Within(x, 0, 6); }},
      {tflite::BuiltinOperator_RELU_N1_TO_1,
       [](double x) { return Within(x, -1, 1); }},
      {tflite::BuiltinOperator_RELU_0_TO_1,
       [](double x) { return Within(x, 0, 1); }},
      {tflite::BuiltinOperator_ELU,
       [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {tflite::BuiltinOperator_HARD_SWISH,
       [](double x) { return x * Within(x + 3, 0, 6) / 6; }},
      {tflite::BuiltinOperator_ZEROS_LIKE, [](double) { return 0.0; }},
  };
  for (const Unary& unary : all) {
    const Array x = Random({3, 7, 5}, 1, unary.low, unary.high);
    FloatNet net;
    SCOPED_TRACE(tflite::EnumNameBuiltinOperator(unary.code));
    ExpectNear(net.One(unary.code, {net.In(x)}, x.shape),
               Made(x.shape, [&](const Shape& i) {
                 return static_cast<float>(unary.function(x.at(i)));
               }));
  }
}

// Halves go to the even neighbour.
TEST(FloatPointwise, RoundTakesHalvesToEven) {
  FloatNet net;
  const Array x({6}, {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f});
  ExpectNear(net.One(tflite::BuiltinOperator_ROUND, {net.In(x)}, {6}),
             Array({6}, {-2, -2, 0, 0, 2, 2}), 0);
}

TEST(FloatPointwise, FunctionsWithOptions) {
  const Array x = Random({4, 33}, 2, -6, 6);
  const auto made = [&](const std::function<double(double)>& f) {
    return Made(x.shape,
                [&](const Shape& i) { return static_cast<float>(f(x.at(i))); });
  };
  FloatNet leaky;
  ExpectNear(
      leaky.One(tflite::BuiltinOperator_LEAKY_RELU, {leaky.In(x)}, x.shape,
                tflite::Options_LeakyReluOptions,
                tflite::CreateLeakyReluOptions(leaky.b.fbb, 0.3f).Union()),
      made([](double v) { return v < 0 ? 0.3 * v : v; }));
  for (const bool approximate : {false, true}) {
    FloatNet net;
    ExpectNear(
        net.One(tflite::BuiltinOperator_GELU, {net.In(x)}, x.shape,
                tflite::Options_GeluOptions,
                tflite::CreateGeluOptions(net.b.fbb, approximate).Union()),
        made([&](double v) {
          return v / 2 *
                 (1 + (approximate ? std::tanh(std::sqrt(2 / M_PI) *
                                               (v + 0.044715 * v * v * v))
                                   : std::erf(v / std::sqrt(2.0))));
        }));
  }
}

using Function2 = double (*)(double, double);
struct Binary {
  B code;
  Function2 function;
  tflite::TensorType type = kFloat;
  tflite::TensorType result = kFloat;
};

// Sizes of 1 stretch on either side.
TEST(FloatPointwise, FunctionsOfTwoOperands) {
  const Binary all[] = {
      {tflite::BuiltinOperator_ADD, [](double a, double b) { return a + b; }},
      {tflite::BuiltinOperator_SUB, [](double a, double b) { return a - b; }},
      {tflite::BuiltinOperator_MUL, [](double a, double b) { return a * b; }},
      {tflite::BuiltinOperator_DIV, [](double a, double b) { return a / b; }},
      {tflite::BuiltinOperator_MAXIMUM,
       [](double a, double b) { return std::max(a, b); }},
      {tflite::BuiltinOperator_MINIMUM,
       [](double a, double b) { return std::min(a, b); }},
      {tflite::BuiltinOperator_POW,
       [](double a, double b) { return std::pow(a, b); }},
      {tflite::BuiltinOperator_ATAN2,
       [](double a, double b) { return std::atan2(a, b); }},
      {tflite::BuiltinOperator_SQUARED_DIFFERENCE,
       [](double a, double b) { return (a - b) * (a - b); }},
      {tflite::BuiltinOperator_FLOOR_DIV,
       [](double a, double b) { return std::floor(a / b); }},
      {tflite::BuiltinOperator_FLOOR_MOD,
       [](double a, double b) { return a - b * std::floor(a / b); }},
      {tflite::BuiltinOperator_EQUAL,
       [](double a, double b) { return a == b ? 1.0 : 0.0; }, kInt, kTruth},
      {tflite::BuiltinOperator_NOT_EQUAL,
       [](double a, double b) { return a != b ? 1.0 : 0.0; }, kInt, kTruth},
      {tflite::BuiltinOperator_LESS,
       [](double a, double b) { return a < b ? 1.0 : 0.0; }, kFloat, kTruth},
      {tflite::BuiltinOperator_LESS_EQUAL,
       [](double a, double b) { return a <= b ? 1.0 : 0.0; }, kInt, kTruth},
      {tflite::BuiltinOperator_GREATER,
       [](double a, double b) { return a > b ? 1.0 : 0.0; }, kFloat, kTruth},
      {tflite::BuiltinOperator_GREATER_EQUAL,
       [](double a, double b) { return a >= b ? 1.0 : 0.0; }, kInt, kTruth},
      {tflite::BuiltinOperator_LOGICAL_AND,
       [](double a, double b) { return a * b; }, kTruth, kTruth},
      {tflite::BuiltinOperator_LOGICAL_OR,
       [](double a, double b) { return std::max(a, b); }, kTruth, kTruth},
      {tflite::BuiltinOperator_BITWISE_XOR,
       [](double a, double b) {
         return static_cast<double>(static_cast<int>(a) ^ static_cast<int>(b));
       },
       kInt, kInt},
  };
  for (const Binary& binary : all) {
    const auto operand = [&](const Shape& shape, int seed) {
      return binary.type == kFloat ? Random(shape, seed, 0.3f, 5)
             : binary.type == kInt ? Whole(shape, seed, 1, 4)
                                   : Whole(shape, seed, 0, 1);
    };
    const Array x = operand({2, 1, 5}, 1), y = operand({3, 1}, 2);
    FloatNet net;
    SCOPED_TRACE(tflite::EnumNameBuiltinOperator(binary.code));
    ExpectNear(
        net.One(binary.code, {net.In(x, binary.type), net.In(y, binary.type)},
                {2, 3, 5}, tflite::Options_NONE, 0, binary.result),
        Made({2, 3, 5},
             [&](const Shape& i) {
               return static_cast<float>(
                   binary.function(x.at({i[0], 0, i[2]}), y.at({i[1], 0})));
             }),
        1e-5f);
  }
}

TEST(FloatPointwise, FusedActivations) {
  const Array x = Random({3, 40}, 1, -8, 8), y = Random({3, 40}, 2, -8, 8);
  const std::pair<tflite::Activation, std::function<float(float)>> all[] = {
      {tflite::Activation_NONE, [](float v) { return v; }},
      {tflite::Activation_RELU, [](float v) { return std::max(v, 0.0f); }},
      {tflite::Activation_RELU_N1_TO_1,
       [](float v) { return std::clamp(v, -1.0f, 1.0f); }},
      {tflite::Activation_RELU6,
       [](float v) { return std::clamp(v, 0.0f, 6.0f); }},
      {tflite::Activation_TANH, [](float v) { return std::tanh(v); }}};
  for (const auto& [activation, function] : all) {
    FloatNet net;
    const auto options = tflite::CreateAddOptions(net.b.fbb, activation);
    ExpectNear(net.One(tflite::BuiltinOperator_ADD, {net.In(x), net.In(y)},
                       x.shape, tflite::Options_AddOptions, options.Union()),
               Made(x.shape, [&, f = function](const Shape& i) {
                 return f(x.at(i) + y.at(i));
               }));
  }
}

TEST(FloatPointwise, WholeNumbersDivideDownwards) {
  const Array x = Whole({60}, 1, -20, 20);
  const Array y = Made({60}, [](const Shape& i) {
    return static_cast<float>(i[0] % 2 ? 3 : -7);
  });
  for (const bool rest : {false, true}) {
    FloatNet net;
    ExpectNear(net.One(rest ? tflite::BuiltinOperator_FLOOR_MOD
                            : tflite::BuiltinOperator_FLOOR_DIV,
                       {net.In(x, kInt), net.Const(y, kInt)}, {60},
                       tflite::Options_NONE, 0, kInt),
               Made({60},
                    [&](const Shape& i) {
                      const float down = std::floor(x.at(i) / y.at(i));
                      return rest ? x.at(i) - y.at(i) * down : down;
                    }),
               0);
  }
}

TEST(FloatPointwise, Selections) {
  const Array x = Random({3, 4}, 1), y = Random({3, 4}, 2);
  const Array each = Whole({3, 4}, 3, 0, 1), line = Whole({3}, 4, 0, 1);
  FloatNet net;
  ExpectNear(net.One(tflite::BuiltinOperator_SELECT_V2,
                     {net.In(each, kTruth), net.In(x), net.In(y)}, {3, 4}),
             Made({3, 4}, [&](const Shape& i) {
               return each.at(i) != 0 ? x.at(i) : y.at(i);
             }));
  FloatNet lines;
  ExpectNear(
      lines.One(tflite::BuiltinOperator_SELECT,
                {lines.In(line, kTruth), lines.In(x), lines.In(y)}, {3, 4}),
      Made({3, 4}, [&](const Shape& i) {
        return line.at({i[0]}) != 0 ? x.at(i) : y.at(i);
      }));
}

TEST(FloatPointwise, Others) {
  const Array x = Random({2, 3, 4, 5}, 1), slope = Random({1, 1, 5}, 2);
  FloatNet prelu;
  ExpectNear(prelu.One(tflite::BuiltinOperator_PRELU,
                       {prelu.In(x), prelu.Const(slope)}, x.shape),
             Made(x.shape, [&](const Shape& i) {
               return x.at(i) < 0 ? x.at(i) * slope.v[i[3]] : x.at(i);
             }));
  const Array y = Random(x.shape, 3), z = Random(x.shape, 4);
  FloatNet sum;
  ExpectNear(sum.One(tflite::BuiltinOperator_ADD_N,
                     {sum.In(x), sum.In(y), sum.In(z)}, x.shape),
             Made(x.shape,
                  [&](const Shape& i) { return x.at(i) + y.at(i) + z.at(i); }));
  const Array truths = Whole({9}, 5, 0, 1);
  FloatNet no;
  ExpectNear(
      no.One(tflite::BuiltinOperator_LOGICAL_NOT, {no.In(truths, kTruth)}, {9},
             tflite::Options_NONE, 0, kTruth),
      Made({9}, [&](const Shape& i) { return 1 - truths.at(i); }), 0);
}

TEST(FloatPointwise, Conversions) {
  const Array x({6}, {-2.7f, -0.5f, 0, 0.5f, 2.5f, 3.9f});
  FloatNet whole;
  ExpectNear(whole.One(tflite::BuiltinOperator_CAST, {whole.In(x)}, {6},
                       tflite::Options_NONE, 0, kInt),
             Array({6}, {-2, 0, 0, 0, 2, 3}), 0);
  FloatNet truth;
  ExpectNear(truth.One(tflite::BuiltinOperator_CAST, {truth.In(x)}, {6},
                       tflite::Options_NONE, 0, kTruth),
             Array({6}, {1, 1, 0, 1, 1, 1}), 0);
  const Array n = Whole({9}, 1, -5, 5);
  FloatNet back;
  ExpectNear(back.One(tflite::BuiltinOperator_CAST, {back.In(n, kInt)}, {9}), n,
             0);
}

}  // namespace
}  // namespace systole::import
