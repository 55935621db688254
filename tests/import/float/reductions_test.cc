// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reductions, normalisations and pools against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/import/float/float_net.h"

namespace systole::import {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Reduction {
  B code;
  double first;
  double (*combine)(double, double);
  tflite::TensorType type = kFloat;
};

TEST(FloatReductions, OverDimensions) {
  const auto add = [](double a, double b) { return a + b; };
  const auto largest = [](double a, double b) { return std::max(a, b); };
  const auto smallest = [](double a, double b) { return std::min(a, b); };
  const Reduction all[] = {
      {tflite::BuiltinOperator_MEAN, 0, add},
      {tflite::BuiltinOperator_SUM, 0, add},
      {tflite::BuiltinOperator_REDUCE_PROD, 1,
       [](double a, double b) { return a * b; }},
      {tflite::BuiltinOperator_REDUCE_MAX, -kInfinity, largest},
      {tflite::BuiltinOperator_REDUCE_MIN, kInfinity, smallest},
      {tflite::BuiltinOperator_REDUCE_ANY, 0, largest, kTruth},
      {tflite::BuiltinOperator_REDUCE_ALL, 1, smallest, kTruth}};
  for (const Reduction& r : all) {
    for (const bool keep : {false, true}) {
      const Array x = r.type == kFloat ? Random({2, 3, 4, 5}, 1, -2, 2)
                                       : Whole({2, 3, 4, 5}, 1, 0, 1);
      Array wanted(keep ? Shape{2, 1, 1, 5} : Shape{2, 5});
      for (int a = 0; a < 2; ++a)
        for (int d = 0; d < 5; ++d) {
          double result = r.first;
          for (int b = 0; b < 3; ++b)
            for (int c = 0; c < 4; ++c)
              result = r.combine(result, x.at({a, b, c, d}));
          if (r.code == tflite::BuiltinOperator_MEAN) result /= 12;
          wanted.v[a * 5 + d] = static_cast<float>(result);
        }
      FloatNet net;
      SCOPED_TRACE(tflite::EnumNameBuiltinOperator(r.code));
      ExpectNear(net.One(r.code, {net.In(x, r.type), net.Ints({1, -2})},
                         wanted.shape, tflite::Options_ReducerOptions,
                         tflite::CreateReducerOptions(net.b.fbb, keep).Union(),
                         r.type),
                 wanted);
    }
  }
}

// Of equal elements the first one counts.
TEST(FloatReductions, PlacesOfTheLargestAndSmallest) {
  for (const bool largest : {true, false}) {
    const Array x = Whole({3, 40, 2}, 1, 0, 5);
    FloatNet net;
    ExpectNear(net.One(largest ? tflite::BuiltinOperator_ARG_MAX
                               : tflite::BuiltinOperator_ARG_MIN,
                       {net.In(x), net.Ints({1})}, {3, 2}, tflite::Options_NONE,
                       0, tflite::TensorType_INT64),
               Made({3, 2},
                    [&](const Shape& i) {
                      int best = 0;
                      for (int k = 1; k < 40; ++k) {
                        const float a = x.at({i[0], k, i[1]}),
                                    b = x.at({i[0], best, i[1]});
                        if (largest ? a > b : a < b) best = k;
                      }
                      return static_cast<float>(best);
                    }),
               0);
  }
}

TEST(FloatReductions, AlongTheLastDimension) {
  const Array x = Random({2, 3, 9}, 1, -4, 4);
  const auto line = [&](const Shape& i, auto f) {
    double sum = 0;
    for (int k = 0; k < 9; ++k) sum += f(double{x.at({i[0], i[1], k})});
    return sum;
  };
  FloatNet softmax;
  ExpectNear(
      softmax.One(tflite::BuiltinOperator_SOFTMAX, {softmax.In(x)}, x.shape,
                  tflite::Options_SoftmaxOptions,
                  tflite::CreateSoftmaxOptions(softmax.b.fbb, 0.7f).Union()),
      Made(x.shape, [&](const Shape& i) {
        return static_cast<float>(
            std::exp(0.7 * x.at(i)) /
            line(i, [](double v) { return std::exp(0.7 * v); }));
      }));
  FloatNet logs;
  ExpectNear(
      logs.One(tflite::BuiltinOperator_LOG_SOFTMAX, {logs.In(x)}, x.shape),
      Made(x.shape, [&](const Shape& i) {
        return static_cast<float>(
            x.at(i) - std::log(line(i, [](double v) { return std::exp(v); })));
      }));
  FloatNet unit;
  ExpectNear(
      unit.One(tflite::BuiltinOperator_L2_NORMALIZATION, {unit.In(x)}, x.shape),
      Made(x.shape, [&](const Shape& i) {
        return static_cast<float>(
            x.at(i) / std::sqrt(line(i, [](double v) { return v * v; })));
      }));
}

TEST(FloatReductions, LocalResponse) {
  const Array x = Random({1, 2, 3, 9}, 1, -2, 2);
  FloatNet net;
  const auto options = tflite::CreateLocalResponseNormalizationOptions(
      net.b.fbb, 2, 1.1f, 0.3f, 0.6f);
  ExpectNear(
      net.One(tflite::BuiltinOperator_LOCAL_RESPONSE_NORMALIZATION, {net.In(x)},
              x.shape, tflite::Options_LocalResponseNormalizationOptions,
              options.Union()),
      Made(x.shape, [&](const Shape& i) {
        double sum = 0;
        for (int c = i[3] - 2; c < i[3] + 2; ++c)
          sum += std::pow(x.Get({i[0], i[1], i[2], c}), 2.0);
        return static_cast<float>(x.at(i) / std::pow(1.1 + 0.3 * sum, 0.6));
      }));
}

TEST(FloatReductions, RunningSums) {
  for (const bool exclusive : {false, true}) {
    for (const bool reverse : {false, true}) {
      const Array x = Random({3, 7, 2}, 1);
      FloatNet net;
      const auto options =
          tflite::CreateCumsumOptions(net.b.fbb, exclusive, reverse);
      ExpectNear(
          net.One(tflite::BuiltinOperator_CUMSUM, {net.In(x), net.Ints({-2})},
                  x.shape, tflite::Options_CumsumOptions, options.Union()),
          Made(x.shape, [&](const Shape& i) {
            double sum = exclusive ? 0 : x.at(i);
            for (int k = 0; k < 7; ++k)
              if (reverse ? k > i[1] : k < i[1]) sum += x.at({i[0], k, i[2]});
            return static_cast<float>(sum);
          }));
    }
  }
}

// The padding takes no part, in the mean neither.
TEST(FloatReductions, Pools) {
  for (const B code : {tflite::BuiltinOperator_MAX_POOL_2D,
                       tflite::BuiltinOperator_AVERAGE_POOL_2D,
                       tflite::BuiltinOperator_L2_POOL_2D}) {
    for (const bool same : {true, false}) {
      for (const int stride : {1, 2, 3}) {
        const Array x = Random({2, 7, 6, 3}, 1, -3, 3);
        const auto positions = [&](int size, int kernel) {
          return same ? (size + stride - 1) / stride
                      : (size - kernel) / stride + 1;
        };
        const auto before = [&](int size, int kernel) {
          return same ? std::max((positions(size, kernel) - 1) * stride +
                                     kernel - size,
                                 0) /
                            2
                      : 0;
        };
        const Shape shape = {2, positions(7, 3), positions(6, 2), 3};
        FloatNet net;
        const auto options = tflite::CreatePool2DOptions(
            net.b.fbb, same ? tflite::Padding_SAME : tflite::Padding_VALID,
            stride, stride, 2, 3);
        ExpectNear(net.One(code, {net.In(x)}, shape,
                           tflite::Options_Pool2DOptions, options.Union()),
                   Made(shape, [&](const Shape& y) {
                     double sum = 0, squares = 0, largest = -kInfinity;
                     int count = 0;
                     for (int i = 0; i < 3; ++i)
                       for (int j = 0; j < 2; ++j) {
                         const int row = y[1] * stride + i - before(7, 3),
                                   column = y[2] * stride + j - before(6, 2);
                         if (row < 0 || row >= 7 || column < 0 || column >= 6)
                           continue;
                         const double v = x.at({y[0], row, column, y[3]});
                         sum += v;
                         squares += v * v;
                         largest = std::max(largest, v);
                         ++count;
                       }
                     return static_cast<float>(
                         code == tflite::BuiltinOperator_MAX_POOL_2D ? largest
                         : code == tflite::BuiltinOperator_AVERAGE_POOL_2D
                             ? sum / count
                             : std::sqrt(squares / count));
                   }));
      }
    }
  }
}

TEST(FloatReductions, LargestOfALine) {
  const Array x = Random({3, 17}, 1);
  FloatNet net;
  const int values = net.Out({3, 4}), places = net.Out({3, 4}, kInt);
  net.Add(tflite::BuiltinOperator_TOPK_V2,
          {net.In(x), net.Const(Array({}, {4}), kInt)}, {values, places});
  const std::vector<Array> got = net.Run({values, places});
  for (int i = 0; i < 3; ++i) {
    std::vector<std::pair<float, int>> line;
    for (int k = 0; k < 17; ++k) line.emplace_back(-x.at({i, k}), k);
    std::sort(line.begin(), line.end());
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(got[0].at({i, k}), -line[k].first);
      EXPECT_EQ(got[1].at({i, k}), static_cast<float>(line[k].second));
    }
  }
}

}  // namespace
}  // namespace systole::import
