// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Whole int8 networks as .tflite files, an operator a call, with quantisations
// as a converter gives them and random weights.
//
//   Net n(/*seed=*/1);
//   const Net::Value x = n.Input({1, 8, 8, 3});
//   const std::string bytes = n.Model(x, {n.Conv(x, 16, 3, 3)});
#ifndef SYSTOLE_TESTS_IMPORT_NET_BUILDER_H_
#define SYSTOLE_TESTS_IMPORT_NET_BUILDER_H_

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/import/model_builder.h"

namespace systole::import {

class Net {
 public:
  using BuiltinOperator = tflite::BuiltinOperator;
  using Shape = std::vector<int32_t>;

  explicit Net(uint64_t seed) : random_(seed) {}

  struct Value {
    int id = 0;
    Shape shape;
    float scale = 1;
    int zero = 0;
  };

  Value Input(const Shape& shape) { return Result(shape, 0.02f, -3); }

  Value Conv(const Value& x, int channels, int kh, int kw, int stride = 1,
             bool relu = true, int dilation = 1, bool same = true) {
    const Value y =
        Result({1, Positions(x.shape[1], kh, stride, dilation, same),
                Positions(x.shape[2], kw, stride, dilation, same), channels},
               0.05f, relu ? -128 : 4);
    b_.Operator(
        tflite::BuiltinOperator_CONV_2D,
        {x.id, Weights({channels, kh, kw, x.shape[3]}, channels), bias_},
        {y.id}, tflite::Options_Conv2DOptions,
        tflite::CreateConv2DOptions(b_.fbb, Padding(same), stride, stride,
                                    Relu(relu), dilation, dilation)
            .Union());
    return y;
  }

  // Twice the size.
  Value UpConv(const Value& x, int channels) {
    const Value y =
        Result({1, 2 * x.shape[1], 2 * x.shape[2], channels}, 0.06f, -5);
    const int weights = Weights({channels, 3, 3, x.shape[3]}, channels);
    const int shape = b_.Integers(y.shape);
    b_.Operator(tflite::BuiltinOperator_TRANSPOSE_CONV, {shape, weights, x.id},
                {y.id}, tflite::Options_TransposeConvOptions,
                tflite::CreateTransposeConvOptions(b_.fbb, Padding(true), 2, 2,
                                                   Relu(false))
                    .Union());
    return y;
  }

  Value Dense(const Value& x, int outputs, float scale = 0.05f) {
    const Value y = Result({1, outputs}, scale, 2);
    b_.Operator(
        tflite::BuiltinOperator_FULLY_CONNECTED,
        {x.id, Weights({outputs, Count(x.shape)}, 1), bias_}, {y.id},
        tflite::Options_FullyConnectedOptions,
        tflite::CreateFullyConnectedOptions(b_.fbb, Relu(false)).Union());
    return y;
  }

  Value Pool(const Value& x, bool max, int kernel, int stride,
             bool same = true) {
    const Value y =
        Result({1, Positions(x.shape[1], kernel, stride, 1, same),
                Positions(x.shape[2], kernel, stride, 1, same), x.shape[3]},
               x.scale, x.zero);
    b_.Operator(max ? tflite::BuiltinOperator_MAX_POOL_2D
                    : tflite::BuiltinOperator_AVERAGE_POOL_2D,
                {x.id}, {y.id}, tflite::Options_Pool2DOptions,
                tflite::CreatePool2DOptions(b_.fbb, Padding(same), stride,
                                            stride, kernel, kernel)
                    .Union());
    return y;
  }

  Value Mean(const Value& x, const std::vector<int32_t>& axes, bool keep) {
    Shape shape;
    for (size_t i = 0; i < x.shape.size(); ++i) {
      const bool gone = std::count(axes.begin(), axes.end(), i) > 0;
      if (!gone || keep) shape.push_back(gone ? 1 : x.shape[i]);
    }
    const Value y = Result(shape, 0.9f * x.scale, x.zero + 1);
    const int list = b_.Integers(axes);
    b_.Operator(tflite::BuiltinOperator_MEAN, {x.id, list}, {y.id},
                tflite::Options_ReducerOptions,
                tflite::CreateReducerOptions(b_.fbb, keep).Union());
    return y;
  }

  Value Pair(BuiltinOperator op, const Value& x, const Value& z,
             float scale = 0.07f) {
    const Value y =
        Result(Count(x.shape) >= Count(z.shape) ? x.shape : z.shape, scale, -9);
    b_.Operator(op, {x.id, z.id}, {y.id});
    return y;
  }

  Value One(BuiltinOperator op, const Value& x, float scale, int zero) {
    const Value y = Result(x.shape, scale, zero);
    b_.Operator(op, {x.id}, {y.id});
    return y;
  }
  Value Sigmoid(const Value& x) {
    return One(tflite::BuiltinOperator_LOGISTIC, x, 1.0f / 256, -128);
  }
  Value Tanh(const Value& x) {
    return One(tflite::BuiltinOperator_TANH, x, 1.0f / 128, 0);
  }
  Value Requantised(const Value& x, float scale, int zero) {
    return One(tflite::BuiltinOperator_QUANTIZE, x, scale, zero);
  }

  Value Reshape(const Value& x, const Shape& shape) {
    const Value y = Result(shape, x.scale, x.zero);
    const int to = b_.Integers(shape);
    b_.Operator(tflite::BuiltinOperator_RESHAPE, {x.id, to}, {y.id});
    return y;
  }

  // Side by side along the last axis, in the scale of the first.
  Value Concat(const std::vector<Value>& parts) {
    Shape shape = parts[0].shape;
    shape.back() = 0;
    std::vector<int32_t> ids;
    for (const Value& p : parts) {
      shape.back() += p.shape.back();
      ids.push_back(p.id);
    }
    const Value y = Result(shape, parts[0].scale, parts[0].zero);
    b_.Operator(tflite::BuiltinOperator_CONCATENATION, ids, {y.id},
                tflite::Options_ConcatenationOptions,
                tflite::CreateConcatenationOptions(
                    b_.fbb, static_cast<int32_t>(shape.size()) - 1)
                    .Union());
    return y;
  }

  // Zeros before the third axis, as a causal convolution has them.
  Value PadBefore(const Value& x, int count) {
    Shape shape = x.shape;
    shape[2] += count;
    const Value y = Result(shape, x.scale, x.zero);
    std::vector<uint8_t> bytes(32, 0);
    bytes[16] = static_cast<uint8_t>(count);
    const int pads =
        b_.Tensor({4, 2}, tflite::TensorType_INT32, {}, {}, b_.Buffer(bytes));
    b_.Operator(tflite::BuiltinOperator_PAD, {x.id, pads}, {y.id});
    return y;
  }

  // The parts of the second axis, one each.
  std::vector<Value> Unpack(const Value& x) {
    std::vector<Value> parts;
    std::vector<int32_t> ids;
    for (int i = 0; i < x.shape[1]; ++i) {
      parts.push_back(Result({x.shape[0], x.shape[2]}, x.scale, x.zero));
      ids.push_back(parts.back().id);
    }
    b_.Operator(tflite::BuiltinOperator_UNPACK, {x.id}, ids,
                tflite::Options_UnpackOptions,
                tflite::CreateUnpackOptions(b_.fbb, x.shape[1], 1).Union());
    return parts;
  }

  Value Constant(const Shape& shape, float scale, int zero, int value) {
    Value made = {0, shape, scale, zero};
    made.id = b_.Tensor(shape, tflite::TensorType_INT8, {scale}, {zero},
                        b_.Buffer(std::vector<uint8_t>(
                            Count(shape), static_cast<uint8_t>(value))));
    return made;
  }

  std::string Model(const Value& input, const std::vector<Value>& outputs) {
    std::vector<int32_t> ids;
    for (const Value& v : outputs) ids.push_back(v.id);
    return b_.Model({input.id}, ids);
  }

 private:
  static int Count(const Shape& shape) {
    int count = 1;
    for (const int size : shape) count *= size;
    return count;
  }
  static int Positions(int size, int kernel, int stride, int dilation,
                       bool same) {
    return same ? (size + stride - 1) / stride
                : (size - (kernel - 1) * dilation - 1) / stride + 1;
  }
  static tflite::Padding Padding(bool same) {
    return same ? tflite::Padding_SAME : tflite::Padding_VALID;
  }
  static tflite::Activation Relu(bool relu) {
    return relu ? tflite::Activation_RELU : tflite::Activation_NONE;
  }

  Value Result(const Shape& shape, float scale, int zero) {
    Value y = {0, shape, scale, std::clamp(zero, -128, 127)};
    y.id = b_.Tensor(shape, tflite::TensorType_INT8, {scale}, {y.zero});
    return y;
  }

  // Weights of `channels` scales, the bias beside.
  int Weights(const Shape& shape, int channels) {
    std::vector<uint8_t> bytes(Count(shape));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(Number(-90, 90));
    std::vector<float> scales;
    for (int c = 0; c < channels; ++c)
      scales.push_back(0.001f * static_cast<float>(Number(5, 15)));
    return b_.Tensor(shape, tflite::TensorType_INT8, scales,
                     std::vector<int64_t>(channels, 0), b_.Buffer(bytes));
  }
  int Number(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random_);
  }

  import::ModelBuilder b_;
  std::mt19937_64 random_;
  int bias_ = -1;  // none
};

}  // namespace systole::import

#endif  // SYSTOLE_TESTS_IMPORT_NET_BUILDER_H_
