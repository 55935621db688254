// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// FLOAT16 weights, dynamic-range quantisation, and quantised parts of float
// models, against what the numbers stand for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/import/float/float_net.h"

namespace systole::import {
namespace {

constexpr auto kInt8 = tflite::TensorType_INT8;
using Scale = FloatNet::Scale;

ModelBuilder::Offset Dense(FloatNet& net) {
  return tflite::CreateFullyConnectedOptions(net.b.fbb).Union();
}
constexpr auto kDense = tflite::Options_FullyConnectedOptions;

// What a quantised tensor stands for, with one scale for each row or for all.
float Stands(const Array& q, const Scale& scale, const Shape& i) {
  const size_t row = scale.scales.size() > 1 ? i[0] : 0;
  return scale.scales[row] * (q.at(i) - static_cast<float>(scale.zeros[row]));
}

Array DenseOf(const Array& x, const std::function<float(const Shape&)>& w,
              int outputs) {
  return Made({x.shape[0], outputs}, [&](const Shape& i) {
    double sum = 0;
    for (int k = 0; k < x.shape[1]; ++k)
      sum += double{x.at({i[0], k})} * w({i[1], k});
    return static_cast<float>(sum);
  });
}

TEST(FloatQuantised, HalfPrecisionWeights) {
  const Array x = Random({3, 7}, 1), w = Random({5, 7}, 2);
  FloatNet net;
  const int weights = net.Out({5, 7});
  net.Add(tflite::BuiltinOperator_DEQUANTIZE,
          {net.Const(w, tflite::TensorType_FLOAT16)}, {weights});
  ExpectNear(net.One(tflite::BuiltinOperator_FULLY_CONNECTED,
                     {net.In(x), weights}, {3, 5}, kDense, Dense(net)),
             DenseOf(
                 x,
                 [&](const Shape& i) {
                   return static_cast<float>(ir::Float16(w.at(i)));
                 },
                 5));
}

// Weights of 8 and 4 bits with one scale or one for each row. One pass of bf16
// rounds the activations only: the weights are exact.
TEST(FloatQuantised, DynamicRange) {
  const Scale one = {{0.07f}, {0}},
              each = {{0.01f, 0.3f, 0.02f, 0.5f, 0.11f}, {0, 0, 0, 0, 0}};
  for (const auto type : {kInt8, tflite::TensorType_INT4}) {
    for (const Scale& scale : {one, each}) {
      const Array x = Random({3, 7}, 1);
      const Array w =
          type == kInt8 ? Whole({5, 7}, 2, -127, 127) : Whole({5, 7}, 2, -8, 7);
      for (const bool highest : {true, false}) {
        FloatNet net;
        if (!highest) net.options.precision = ir::Precision::kDefault;
        Array seen = x;
        for (float& value : seen.v)
          if (!highest) value = static_cast<float>(ir::Bfloat16(value));
        ExpectNear(
            net.One(tflite::BuiltinOperator_FULLY_CONNECTED,
                    {net.In(x), net.Const(w, type, scale)}, {3, 5}, kDense,
                    Dense(net)),
            DenseOf(
                seen, [&](const Shape& i) { return Stands(w, scale, i); }, 5));
      }
    }
  }
}

TEST(FloatQuantised, ConvolutionsOfDynamicRange) {
  const Array x = Random({1, 4, 5, 3}, 1), w = Whole({2, 1, 1, 3}, 2, -99, 99);
  const Scale scale = {{0.02f, 0.5f}, {0, 0}};
  FloatNet net;
  const auto options =
      tflite::CreateConv2DOptions(net.b.fbb, tflite::Padding_VALID, 1, 1);
  ExpectNear(net.One(tflite::BuiltinOperator_CONV_2D,
                     {net.In(x), net.Const(w, kInt8, scale)}, {1, 4, 5, 2},
                     tflite::Options_Conv2DOptions, options.Union()),
             Made({1, 4, 5, 2}, [&](const Shape& i) {
               double sum = 0;
               for (int c = 0; c < 3; ++c)
                 sum += double{x.at({0, i[1], i[2], c})} *
                        Stands(w, scale, {i[3], 0, 0, c});
               return static_cast<float>(sum);
             }));
}

float Rounded(float value, const Scale& scale) {
  return std::clamp(
      std::round(value / scale.scales[0]) + static_cast<float>(scale.zeros[0]),
      -128.0f, 127.0f);
}

TEST(FloatQuantised, GoesAndComes) {
  const Scale scale = {{0.05f}, {-7}};
  const Array x = Random({60}, 1, -9, 9);
  FloatNet net;
  const int q = net.Out({60}, kInt8, scale), y = net.Out({60});
  net.Add(tflite::BuiltinOperator_QUANTIZE, {net.In(x)}, {q});
  net.Add(tflite::BuiltinOperator_DEQUANTIZE, {q}, {y});
  const std::vector<Array> got = net.Run({q, y});
  const Array wanted =
      Made({60}, [&](const Shape& i) { return Rounded(x.at(i), scale); });
  ExpectNear(got[0], wanted, 0);
  ExpectNear(got[1], Made({60}, [&](const Shape& i) {
               return scale.scales[0] * (wanted.at(i) + 7);
             }));
}

// A dense layer of integers inside a float model: exact sums, one rounding.
TEST(FloatQuantised, PartsInsideAFloatModel) {
  const Scale in = {{0.02f}, {-5}}, out = {{0.08f}, {3}},
              rows = {{0.01f, 0.004f, 0.007f}, {0, 0, 0}};
  const Scale bias = {{0.02f * 0.01f, 0.02f * 0.004f, 0.02f * 0.007f},
                      {0, 0, 0}};
  const Array q = Whole({4, 40}, 1, -128, 127),
              w = Whole({3, 40}, 2, -127, 127), b = Whole({3}, 3, -5000, 5000);
  FloatNet net;
  net.options.precision = ir::Precision::kDefault;
  const int y = net.Out({4, 3}, kInt8, out), real = net.Out({4, 3}),
            twice = net.Out({4, 3});
  net.Add(tflite::BuiltinOperator_FULLY_CONNECTED,
          {net.In(q, kInt8, in), net.Const(w, kInt8, rows),
           net.Const(b, kInt, bias)},
          {y}, kDense, Dense(net));
  net.Add(tflite::BuiltinOperator_DEQUANTIZE, {y}, {real});
  net.Add(tflite::BuiltinOperator_ADD, {real, real}, {twice});
  const std::vector<Array> got = net.Run({y, twice});
  const Array sums = DenseOf(
      Made(q.shape, [&](const Shape& i) { return Stands(q, in, i); }),
      [&](const Shape& i) { return Stands(w, rows, i); }, 3);
  const Array wanted = Made({4, 3}, [&](const Shape& i) {
    return Rounded(sums.at(i) + bias.scales[i[1]] * b.at({i[1]}), out);
  });
  ExpectNear(got[0], wanted, 0);
  ExpectNear(got[1], Made({4, 3}, [&](const Shape& i) {
               return 2 * 0.08f * (wanted.at(i) - 3);
             }));
}

// Moves keep the integers, the padding stands for 0, and operands of other
// scales are rounded anew.
TEST(FloatQuantised, Moves) {
  const Scale a = {{0.5f}, {3}}, b = {{0.25f}, {-1}};
  const Array x = Whole({2, 3}, 1, -100, 100), y = Whole({2, 3}, 2, -100, 100);
  FloatNet net;
  const int in = net.In(x, kInt8, a), padded = net.Out({2, 5}, kInt8, a),
            joined = net.Out({2, 6}, kInt8, a), real = net.Out({2, 6}),
            sum = net.Out({2, 6});
  net.Add(tflite::BuiltinOperator_PAD,
          {in, net.Const(Array({2, 2}, {0, 0, 1, 1}), kInt)}, {padded});
  net.Add(tflite::BuiltinOperator_CONCATENATION, {in, net.In(y, kInt8, b)},
          {joined}, tflite::Options_ConcatenationOptions,
          tflite::CreateConcatenationOptions(net.b.fbb, 1).Union());
  net.Add(tflite::BuiltinOperator_DEQUANTIZE, {joined}, {real});
  net.Add(tflite::BuiltinOperator_ADD, {real, real}, {sum});
  const std::vector<Array> got = net.Run({padded, joined, sum});
  ExpectNear(got[0],
             Made({2, 5},
                  [&](const Shape& i) {
                    return x.Get({i[0], i[1] - 1}, 3);
                  }),
             0);
  ExpectNear(got[1],
             Made({2, 6},
                  [&](const Shape& i) {
                    return i[1] < 3
                               ? x.at(i)
                               : Rounded(Stands(y, b, {i[0], i[1] - 3}), a);
                  }),
             0);
}

// Rows 0 and 2 of a matrix, of which the columns are in blocks of two.
TEST(FloatQuantised, SparseConstants) {
  FloatNet net;
  auto& fbb = net.b.fbb;
  const std::vector<int32_t> order = {0, 1, 2}, map = {1},
                             segments = {0, 1, 1, 3}, indices = {1, 0, 2};
  const auto list = [&](const std::vector<int32_t>& values) {
    return tflite::CreateInt32VectorDirect(fbb, &values).Union();
  };
  const std::vector<flatbuffers::Offset<tflite::DimensionMetadata>> levels = {
      tflite::CreateDimensionMetadata(fbb, tflite::DimensionFormat_DENSE, 3),
      tflite::CreateDimensionMetadata(
          fbb, tflite::DimensionFormat_SPARSE_CSR, 0,
          tflite::SparseIndices_Int32Vector, list(segments),
          tflite::SparseIndices_Int32Vector, list(indices)),
      tflite::CreateDimensionMetadata(fbb, tflite::DimensionFormat_DENSE, 2)};
  const auto sparsity =
      tflite::CreateSparsityDirect(fbb, &order, &map, &levels);
  std::vector<uint8_t> bytes(24);
  const std::vector<float> stored = {1, 2, 3, 4, 5, 6};
  std::memcpy(bytes.data(), stored.data(), bytes.size());
  const int sparse =
      net.b.SparseTensor({3, 6}, kFloat, net.b.Buffer(bytes), sparsity);
  const int dense = net.Out({3, 6});
  net.Add(tflite::BuiltinOperator_DENSIFY, {sparse}, {dense});
  const Array x = Random({3, 6}, 1);
  const Array wanted({3, 6}, {0, 0, 1, 2, 0, 0,  //
                              0, 0, 0, 0, 0, 0,  //
                              3, 4, 0, 0, 5, 6});
  ExpectNear(
      net.One(tflite::BuiltinOperator_ADD, {net.In(x), dense}, {3, 6}),
      Made({3, 6}, [&](const Shape& i) { return x.at(i) + wanted.at(i); }));
}

}  // namespace
}  // namespace systole::import
