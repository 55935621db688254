// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// LSTMs step by step, in double precision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/import/float/float_net.h"

namespace systole::import {
namespace {

constexpr int kBatch = 2, kSteps = 5, kFeatures = 3, kCells = 4;

struct Lstm {
  bool time_major = false;
  float clip = 0;
  float scale = 0;  // of weights of 8 bits; 0: of floats
};

Array Weights(const Lstm& lstm, const Shape& shape, int seed) {
  return lstm.scale > 0 ? Whole(shape, seed, -127, 127) : Random(shape, seed);
}

// Gates in the order of the operands: input, forget, cell, output.
int Wide(int gate) { return 10 + gate; }
int Deep(int gate) { return 20 + gate; }

Array Expected(const Lstm& lstm, const Array& x) {
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const double scale = lstm.scale > 0 ? lstm.scale : 1;
  Array y(lstm.time_major ? Shape{kSteps, kBatch, kCells}
                          : Shape{kBatch, kSteps, kCells});
  const auto place = [&](int b, int t, int i) {
    return lstm.time_major ? Shape{t, b, i} : Shape{b, t, i};
  };
  for (int b = 0; b < kBatch; ++b) {
    std::vector<double> h(kCells), c(kCells);
    for (int t = 0; t < kSteps; ++t) {
      const std::vector<double> before = h;
      for (int cell = 0; cell < kCells; ++cell) {
        double sums[4];
        for (int gate = 0; gate < 4; ++gate) {
          const Array w = Weights(lstm, {kCells, kFeatures}, Wide(gate)),
                      r = Weights(lstm, {kCells, kCells}, Deep(gate));
          sums[gate] = Random({kCells}, 30 + gate).v[cell];
          for (int i = 0; i < kFeatures; ++i)
            sums[gate] += scale * w.at({cell, i}) * x.at(place(b, t, i));
          for (int i = 0; i < kCells; ++i)
            sums[gate] += scale * r.at({cell, i}) * before[i];
        }
        c[cell] =
            sigmoid(sums[1]) * c[cell] + sigmoid(sums[0]) * std::tanh(sums[2]);
        if (lstm.clip > 0)
          c[cell] = std::clamp<double>(c[cell], -lstm.clip, lstm.clip);
        h[cell] = sigmoid(sums[3]) * std::tanh(c[cell]);
        y.at(place(b, t, cell)) = static_cast<float>(h[cell]);
      }
    }
  }
  return y;
}

std::vector<int32_t> Operands(FloatNet& net, const Lstm& lstm, const Array& x) {
  std::vector<int32_t> operands = {net.In(x)};
  const auto weights = [&](const Shape& shape, int seed) {
    const Array values = Weights(lstm, shape, seed);
    operands.push_back(
        lstm.scale > 0
            ? net.Const(values, tflite::TensorType_INT8, {{lstm.scale}, {0}})
            : net.Const(values));
  };
  for (int gate = 0; gate < 4; ++gate) weights({kCells, kFeatures}, Wide(gate));
  for (int gate = 0; gate < 4; ++gate) weights({kCells, kCells}, Deep(gate));
  operands.insert(operands.end(), 3, -1);
  for (int gate = 0; gate < 4; ++gate)
    operands.push_back(net.Const(Random({kCells}, 30 + gate)));
  operands.insert(operands.end(), 2, -1);
  for (int i = 0; i < 2; ++i)
    operands.push_back(
        net.b.Tensor({kBatch, kCells}, kFloat, {}, {}, 0, 0, true));
  operands.insert(operands.end(), 4, -1);
  return operands;
}

TEST(FloatRecurrent, Lstms) {
  for (const Lstm& lstm : {Lstm{}, Lstm{true, 0.3f}, Lstm{false, 0, 0.01f}}) {
    const Array x = Random(lstm.time_major ? Shape{kSteps, kBatch, kFeatures}
                                           : Shape{kBatch, kSteps, kFeatures},
                           1, -2, 2);
    const Array wanted = Expected(lstm, x);
    FloatNet net;
    const auto options = tflite::CreateUnidirectionalSequenceLstmOptions(
        net.b.fbb, tflite::Activation_TANH, lstm.clip, 0, lstm.time_major);
    ExpectNear(net.One(tflite::BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_LSTM,
                       Operands(net, lstm, x), wanted.shape,
                       tflite::Options_UnidirectionalSequenceLstmOptions,
                       options.Union()),
               wanted);
  }
}

TEST(FloatRecurrent, RefusesOtherKinds) {
  const std::pair<int, const char*> kinds[] = {
      {9, "peepholes of an LSTM"},
      {16, "a projection of an LSTM"},
      {20, "layer normalisation of an LSTM"}};
  for (const auto& [place, message] : kinds) {
    FloatNet net;
    std::vector<int32_t> operands =
        Operands(net, {}, Random({kBatch, kSteps, kFeatures}, 1));
    operands[place] = net.Const(Random({kCells}, 2));
    const auto options = tflite::CreateUnidirectionalSequenceLstmOptions(
        net.b.fbb, tflite::Activation_TANH);
    EXPECT_THAT(
        net.Refusal(tflite::BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_LSTM,
                    operands, {kBatch, kSteps, kCells},
                    tflite::Options_UnidirectionalSequenceLstmOptions,
                    options.Union()),
        testing::HasSubstr(message));
  }
}

}  // namespace
}  // namespace systole::import
