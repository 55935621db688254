// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Convolutions and dense layers against sums in double precision, in odd sizes,
// with every stride, dilation and kind of padding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/import/float/float_net.h"

namespace systole::import {
namespace {

using tflite::Padding_SAME;
using tflite::Padding_VALID;

struct Geometry {
  tflite::Padding padding;
  int stride, dilation;
};

// Positions of windows along an axis, and the padding before it.
int Positions(int size, int kernel, const Geometry& g) {
  return g.padding == Padding_SAME
             ? (size + g.stride - 1) / g.stride
             : (size - ((kernel - 1) * g.dilation + 1)) / g.stride + 1;
}
int Before(int size, int kernel, const Geometry& g) {
  if (g.padding == Padding_VALID) return 0;
  const int total = (Positions(size, kernel, g) - 1) * g.stride +
                    (kernel - 1) * g.dilation + 1 - size;
  return std::max(total, 0) / 2;
}

std::vector<Geometry> Geometries() {
  std::vector<Geometry> all;
  for (const tflite::Padding padding : {Padding_SAME, Padding_VALID}) {
    for (const int stride : {1, 2, 3}) all.push_back({padding, stride, 1});
    all.push_back({padding, 1, 2});
  }
  return all;
}

TEST(FloatProducts, Convolutions) {
  for (const Geometry& g : Geometries()) {
    const Array x = Random({2, 7, 6, 3}, 1), w = Random({5, 3, 2, 3}, 2),
                bias = Random({5}, 3);
    const Shape shape = {2, Positions(7, 3, g), Positions(6, 2, g), 5};
    const Array wanted = Made(shape, [&](const Shape& y) {
      double sum = bias.v[y[3]];
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 2; ++j)
          for (int c = 0; c < 3; ++c)
            sum +=
                double{x.Get(
                    {y[0], y[1] * g.stride + i * g.dilation - Before(7, 3, g),
                     y[2] * g.stride + j * g.dilation - Before(6, 2, g), c})} *
                w.at({y[3], i, j, c});
      return static_cast<float>(std::max(sum, 0.0));
    });
    FloatNet net;
    const auto options = tflite::CreateConv2DOptions(
        net.b.fbb, g.padding, g.stride, g.stride, tflite::Activation_RELU,
        g.dilation, g.dilation);
    ExpectNear(net.One(tflite::BuiltinOperator_CONV_2D,
                       {net.In(x), net.Const(w), net.Const(bias)}, shape,
                       tflite::Options_Conv2DOptions, options.Union()),
               wanted);
  }
}

// Three groups of two channels become four channels each.
TEST(FloatProducts, GroupedConvolutions) {
  const Array x = Random({1, 4, 4, 6}, 1), w = Random({12, 3, 3, 2}, 2);
  const Array wanted = Made({1, 2, 2, 12}, [&](const Shape& y) {
    double sum = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int c = 0; c < 2; ++c)
          sum += double{x.at({0, y[1] + i, y[2] + j, y[3] / 4 * 2 + c})} *
                 w.at({y[3], i, j, c});
    return static_cast<float>(sum);
  });
  FloatNet net;
  ExpectNear(
      net.One(
          tflite::BuiltinOperator_CONV_2D, {net.In(x), net.Const(w), -1},
          {1, 2, 2, 12}, tflite::Options_Conv2DOptions,
          tflite::CreateConv2DOptions(net.b.fbb, Padding_VALID, 1, 1).Union()),
      wanted);
}

TEST(FloatProducts, DepthwiseConvolutions) {
  for (const Geometry& g : Geometries()) {
    const Array x = Random({1, 8, 5, 3}, 1), w = Random({1, 2, 3, 6}, 2),
                bias = Random({6}, 3);
    const Shape shape = {1, Positions(8, 2, g), Positions(5, 3, g), 6};
    if (shape[2] < 1) continue;
    const Array wanted = Made(shape, [&](const Shape& y) {
      double sum = bias.v[y[3]];
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
          sum += double{x.Get(
                     {0, y[1] * g.stride + i * g.dilation - Before(8, 2, g),
                      y[2] * g.stride + j * g.dilation - Before(5, 3, g),
                      y[3] / 2})} *
                 w.at({0, i, j, y[3]});
      return static_cast<float>(std::clamp(sum, 0.0, 6.0));
    });
    FloatNet net;
    const auto options = tflite::CreateDepthwiseConv2DOptions(
        net.b.fbb, g.padding, g.stride, g.stride, 2, tflite::Activation_RELU6,
        g.dilation, g.dilation);
    ExpectNear(net.One(tflite::BuiltinOperator_DEPTHWISE_CONV_2D,
                       {net.In(x), net.Const(w), net.Const(bias)}, shape,
                       tflite::Options_DepthwiseConv2DOptions, options.Union()),
               wanted);
  }
}

// Every input element adds its product with the kernel to the result.
TEST(FloatProducts, TransposedConvolutions) {
  for (const tflite::Padding padding : {Padding_SAME, Padding_VALID}) {
    for (const int stride : {1, 2, 3}) {
      const Geometry g{padding, stride, 1};
      const Array x = Random({1, 4, 3, 2}, 1), w = Random({5, 4, 2, 2}, 2);
      const bool same = padding == Padding_SAME;
      const Shape shape = {1, same ? 4 * stride : 3 * stride + 4,
                           same ? 3 * stride : 2 * stride + 2, 5};
      Array wanted(shape);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 3; ++j)
          for (int k = 0; k < 4; ++k)
            for (int l = 0; l < 2; ++l) {
              const int row = i * stride + k - Before(shape[1], 4, g),
                        column = j * stride + l - Before(shape[2], 2, g);
              if (row < 0 || row >= shape[1] || column < 0 ||
                  column >= shape[2])
                continue;
              for (int o = 0; o < 5; ++o)
                for (int c = 0; c < 2; ++c)
                  wanted.at({0, row, column, o}) +=
                      x.at({0, i, j, c}) * w.at({o, k, l, c});
            }
      FloatNet net;
      const auto options = tflite::CreateTransposeConvOptions(
          net.b.fbb, padding, stride, stride);
      ExpectNear(net.One(tflite::BuiltinOperator_TRANSPOSE_CONV,
                         {net.Ints(shape), net.Const(w), net.In(x)}, shape,
                         tflite::Options_TransposeConvOptions, options.Union()),
                 wanted);
    }
  }
}

TEST(FloatProducts, ConvolutionsOfVolumes) {
  const Array x = Random({1, 5, 4, 6, 2}, 1), w = Random({3, 2, 2, 2, 3}, 2);
  const Shape shape = {1, 3, 2, 3, 3};  // SAME, stride 2
  FloatNet net;
  const auto options =
      tflite::CreateConv3DOptions(net.b.fbb, Padding_SAME, 2, 2, 2);
  ExpectNear(net.One(tflite::BuiltinOperator_CONV_3D, {net.In(x), net.Const(w)},
                     shape, tflite::Options_Conv3DOptions, options.Union()),
             Made(shape, [&](const Shape& y) {
               double sum = 0;
               for (int d = 0; d < 3; ++d)
                 for (int i = 0; i < 2; ++i)
                   for (int j = 0; j < 2; ++j)
                     for (int c = 0; c < 2; ++c)
                       sum += double{x.Get({0, 2 * y[1] + d - 1, 2 * y[2] + i,
                                            2 * y[3] + j, c})} *
                              w.at({d, i, j, c, y[4]});
               return static_cast<float>(sum);
             }));
}

TEST(FloatProducts, TransposedConvolutionsOfVolumes) {
  const Array x = Random({1, 2, 3, 2, 2}, 1), w = Random({2, 3, 2, 4, 2}, 2);
  const Shape shape = {1, 4, 7, 4, 4};  // VALID, stride 2
  Array wanted(shape);
  for (int d = 0; d < 2; ++d)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 2; ++j)
        for (int e = 0; e < 2; ++e)
          for (int k = 0; k < 3; ++k)
            for (int l = 0; l < 2; ++l)
              for (int o = 0; o < 4; ++o)
                for (int c = 0; c < 2; ++c)
                  wanted.at({0, 2 * d + e, 2 * i + k, 2 * j + l, o}) +=
                      x.at({0, d, i, j, c}) * w.at({e, k, l, o, c});
  FloatNet net;
  const auto options =
      tflite::CreateConv3DOptions(net.b.fbb, Padding_VALID, 2, 2, 2);
  ExpectNear(net.One(tflite::BuiltinOperator_CONV_3D_TRANSPOSE,
                     {net.Ints(shape), net.Const(w), net.In(x)}, shape,
                     tflite::Options_Conv3DOptions, options.Union()),
             wanted);
}

// With and without the dimensions of the input, of which the last one is the
// contracted one.
TEST(FloatProducts, DenseLayers) {
  for (const bool keep : {false, true}) {
    const Array x = Random({2, 3, 7}, 1), w = Random({5, 7}, 2),
                bias = Random({5}, 3);
    const Shape shape = keep ? Shape{2, 3, 5} : Shape{6, 5};
    FloatNet net;
    const auto options = tflite::CreateFullyConnectedOptions(
        net.b.fbb, tflite::Activation_RELU_N1_TO_1, 0, keep);
    const Array got =
        net.One(tflite::BuiltinOperator_FULLY_CONNECTED,
                {net.In(x), net.Const(w), net.Const(bias)}, shape,
                tflite::Options_FullyConnectedOptions, options.Union());
    Array wanted(shape);
    for (int line = 0; line < 6; ++line)
      for (int o = 0; o < 5; ++o) {
        double sum = bias.v[o];
        for (int i = 0; i < 7; ++i)
          sum += double{x.v[line * 7 + i]} * w.at({o, i});
        wanted.v[line * 5 + o] = static_cast<float>(std::clamp(sum, -1.0, 1.0));
      }
    ExpectNear(got, wanted);
  }
}

// Outer dimensions of 1 stretch on either side; a right matrix for all lefts.
TEST(FloatProducts, MatricesOfBatches) {
  for (const bool transposed : {false, true}) {
    for (const bool shared : {false, true}) {
      const Array x =
          Random(transposed ? Shape{2, 1, 4, 3} : Shape{2, 1, 3, 4}, 1);
      const Array y = Random(transposed ? Shape{shared ? 1 : 5, 6, 4}
                                        : Shape{shared ? 1 : 5, 4, 6},
                             2);
      const Shape shape = {2, shared ? 1 : 5, 3, 6};
      FloatNet net;
      const auto options =
          tflite::CreateBatchMatMulOptions(net.b.fbb, transposed, transposed);
      ExpectNear(
          net.One(tflite::BuiltinOperator_BATCH_MATMUL, {net.In(x), net.In(y)},
                  shape, tflite::Options_BatchMatMulOptions, options.Union()),
          Made(shape, [&](const Shape& i) {
            double sum = 0;
            for (int k = 0; k < 4; ++k)
              sum +=
                  double{transposed ? x.at({i[0], 0, k, i[2]})
                                    : x.at({i[0], 0, i[2], k})} *
                  (transposed ? y.at({i[1], i[3], k}) : y.at({i[1], k, i[3]}));
            return static_cast<float>(sum);
          }));
    }
  }
}

// One pass of bf16 rounds both factors, six keep fp32.
TEST(FloatProducts, HaveThePrecisionOfTheOptions) {
  const Array x = Random({4, 64}, 1), w = Random({8, 64}, 2);
  for (const ir::Precision precision :
       {ir::Precision::kDefault, ir::Precision::kHighest}) {
    FloatNet net;
    net.options.precision = precision;
    const Array got = net.One(
        tflite::BuiltinOperator_FULLY_CONNECTED, {net.In(x), net.Const(w)},
        {4, 8}, tflite::Options_FullyConnectedOptions,
        tflite::CreateFullyConnectedOptions(net.b.fbb).Union());
    const bool rounds = precision == ir::Precision::kDefault;
    const auto part = [&](float value) {
      return double{rounds ? static_cast<float>(ir::Bfloat16(value)) : value};
    };
    ExpectNear(got, Made({4, 8}, [&](const Shape& i) {
                 double sum = 0;
                 for (int k = 0; k < 64; ++k)
                   sum += part(x.at({i[0], k})) * part(w.at({i[1], k}));
                 return static_cast<float>(sum);
               }));
  }
}

}  // namespace
}  // namespace systole::import
