// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products, convolutions, pools, recurrent and quantised operators, against
// loops over their definitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/onnx/model.h"

namespace systole::import {
namespace {

TEST(OnnxProductsTest, MatMulStretchesBatches) {
  const Doubles x = Sample(2 * 3 * 4), y = Sample(5 * 1 * 4 * 2, 2);
  OnnxModel m;
  m.Input("x", {2, 3, 4}).Input("y", {5, 1, 4, 2}).Output("z");
  m.Node("MatMul", {"x", "y"}, {"z"});
  Doubles wanted;
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 2; ++k) {
          double sum = 0;
          for (int c = 0; c < 4; ++c)
            sum += x[(b * 3 + i) * 4 + c] * y[(a * 4 + c) * 2 + k];
          wanted.push_back(sum);
        }
  ExpectNear(m.Run({x, y}), wanted);
  EXPECT_EQ(m.OutputShape(), (Shape{5, 2, 3, 2}));
}

TEST(OnnxProductsTest, PrecisionIsChosen) {
  OnnxModel m;
  m.Input("x", {1, 64}).Input("y", {64, 1}).Output("z");
  m.Node("MatMul", {"x", "y"}, {"z"});
  const Doubles x = Sample(64), y = Sample(64, 2);
  double wanted = 0;
  for (int i = 0; i < 64; ++i) wanted += x[i] * y[i];
  double before = 1;
  for (const auto& [precision, bound] :
       {std::pair{ir::Precision::kDefault, 2e-2},
        {ir::Precision::kHigh, 1e-4},
        {ir::Precision::kHighest, 1e-6}}) {
    OnnxOptions options;
    options.precision = precision;
    const double error = std::abs(m.Run({x, y}, options)[0] - wanted);
    EXPECT_LT(error, bound);
    EXPECT_LT(error, before);
    before = error;
  }
}

TEST(OnnxProductsTest, GemmTransposesAndScales) {
  const Doubles x = Sample(4 * 3), y = Sample(2 * 4, 2), c = Sample(2, 3);
  OnnxModel m;
  m.Input("x", {4, 3}).Input("y", {2, 4}).Input("c", {2}).Output("z");
  m.Node("Gemm", {"x", "y", "c"}, {"z"})
      .Set("transA", 1)
      .Set("transB", 1)
      .Set("alpha", 0.5f)
      .Set("beta", 2.0f);
  Doubles wanted;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 2; ++k) {
      double sum = 0;
      for (int t = 0; t < 4; ++t) sum += x[t * 3 + i] * y[k * 4 + t];
      wanted.push_back(0.5 * sum + 2 * c[k]);
    }
  ExpectNear(m.Run({x, y, c}), wanted);
}

TEST(OnnxProductsTest, EinsumWithDiagonalAndBatch) {
  const Doubles x = Sample(2 * 3 * 3), y = Sample(2 * 3 * 4, 2);
  OnnxModel m;
  m.Input("x", {2, 3, 3}).Input("y", {2, 3, 4}).Output("z");
  m.Node("Einsum", {"x", "y"}, {"z"}).Set("equation", "bii,bij->jb");
  Doubles wanted;
  for (int j = 0; j < 4; ++j)
    for (int b = 0; b < 2; ++b) {
      double sum = 0;
      for (int i = 0; i < 3; ++i)
        sum += x[b * 9 + i * 4] * y[(b * 3 + i) * 4 + j];
      wanted.push_back(sum);
    }
  ExpectNear(m.Run({x, y}), wanted);
}

// Two groups, kernel 3 with stride 2, dilation 2 and uneven padding.
TEST(OnnxProductsTest, ConvIsItsSum) {
  const int kSize = 9, kOut = 5;
  const Doubles x = Sample(2 * 4 * kSize), w = Sample(6 * 2 * 3, 2),
                bias = Sample(6, 3);
  OnnxModel m;
  m.Input("x", {2, 4, kSize}).Output("y");
  m.Constant("w", {6, 2, 3}, w).Constant("b", {6}, bias);
  m.Node("Conv", {"x", "w", "b"}, {"y"})
      .Set("group", 2)
      .Set("strides", Shape{2})
      .Set("dilations", Shape{2})
      .Set("pads", Shape{1, 3});
  Doubles wanted;
  for (int n = 0; n < 2; ++n)
    for (int o = 0; o < 6; ++o)
      for (int at = 0; at < kOut; ++at) {
        double sum = bias[o];
        for (int c = 0; c < 2; ++c)
          for (int t = 0; t < 3; ++t) {
            const int i = at * 2 - 1 + t * 2;
            if (i < 0 || i >= kSize) continue;
            sum +=
                x[(n * 4 + o / 3 * 2 + c) * kSize + i] * w[(o * 2 + c) * 3 + t];
          }
        wanted.push_back(sum);
      }
  ExpectNear(m.Run({x}), wanted);
  EXPECT_EQ(m.OutputShape(), (Shape{2, 6, kOut}));
}

TEST(OnnxProductsTest, ConvTransposeSpreadsItsInputs) {
  const int kSize = 4, kOut = 8;  // 2 * 3 + 3 - 1 - 1 + 1
  const Doubles x = Sample(4 * kSize), w = Sample(4 * 3 * 3, 2);
  OnnxModel m;
  m.Input("x", {1, 4, kSize}).Constant("w", {4, 3, 3}, w).Output("y");
  m.Node("ConvTranspose", {"x", "w"}, {"y"})
      .Set("group", 2)
      .Set("strides", Shape{2})
      .Set("pads", Shape{1, 1})
      .Set("output_padding", Shape{1});
  Doubles wanted(6 * kOut, 0.0);
  for (int c = 0; c < 4; ++c)
    for (int i = 0; i < kSize; ++i)
      for (int o = 0; o < 3; ++o)
        for (int t = 0; t < 3; ++t) {
          const int at = i * 2 + t - 1;
          if (at < 0 || at >= kOut) continue;
          wanted[(c / 2 * 3 + o) * kOut + at] +=
              x[c * kSize + i] * w[(c * 3 + o) * 3 + t];
        }
  ExpectNear(m.Run({x}), wanted);
}

// ceil_mode adds a window that hangs over the end.
TEST(OnnxProductsTest, Pools) {
  const int kSize = 8;
  const Doubles x = Sample(2 * kSize);
  for (const bool ceil : {false, true})
    for (const bool average : {false, true})
      for (const bool padding : {false, true}) {
        if (padding && !average) continue;
        OnnxModel m;
        m.Input("x", {1, 2, kSize}).Output("y");
        NodeMaker node =
            m.Node(average ? "AveragePool" : "MaxPool", {"x"}, {"y"});
        node.Set("kernel_shape", Shape{3})
            .Set("strides", Shape{2})
            .Set("pads", Shape{1, 0})
            .Set("ceil_mode", ceil ? 1 : 0);
        if (padding) node.Set("count_include_pad", 1);
        const int out = ceil ? 4 : 4;  // (8 + 1 - 3) / 2 + 1 is whole
        Doubles wanted;
        for (int c = 0; c < 2; ++c)
          for (int o = 0; o < out; ++o) {
            double sum = 0, most = -2;
            int count = 0;
            for (int t = 0; t < 3; ++t) {
              const int i = o * 2 - 1 + t;
              if (padding && i < kSize) ++count;
              if (i < 0 || i >= kSize) continue;
              if (!padding) ++count;
              sum += x[c * kSize + i];
              most = std::max(most, x[c * kSize + i]);
            }
            wanted.push_back(average ? sum / count : most);
          }
        ExpectNear(m.Run({x}), wanted);
      }
  OnnxModel over;  // 7 elements, windows of 2: the fourth has one element
  over.Input("x", {1, 1, 7}).Output("y");
  over.Node("AveragePool", {"x"}, {"y"})
      .Set("kernel_shape", Shape{2})
      .Set("strides", Shape{2})
      .Set("ceil_mode", 1);
  ExpectNear(over.Run({{1, 2, 3, 4, 5, 6, 7}}), {1.5, 3.5, 5.5, 7});
}

TEST(OnnxProductsTest, MaxPoolTellsPlaces) {
  OnnxModel m;
  m.Input("x", {1, 1, 2, 4}).Output("y").Output("i", onnx::TensorProto::INT64);
  m.Node("MaxPool", {"x"}, {"y", "i"})
      .Set("kernel_shape", Shape{2, 2})
      .Set("strides", Shape{2, 2});
  const Doubles x = {1, 7, 2, 2, 7, 3, 1, 2};
  EXPECT_EQ(m.Run({x}), (Doubles{7, 2}));
  EXPECT_EQ(m.Run({x}, {}, 1), (Doubles{1, 2}));
}

TEST(OnnxProductsTest, DftIsItsSumAndIsTurnedBack) {
  constexpr int kSize = 6;
  const Doubles x = Sample(2 * kSize);
  OnnxModel m;
  m.Input("x", {2, kSize, 1}).Output("y").Output("z");
  m.Node("DFT", {"x"}, {"y"}).Set("onesided", 1);
  m.Node("DFT", {"y"}, {"z"}).Set("onesided", 1).Set("inverse", 1);
  Doubles wanted;
  for (int row = 0; row < 2; ++row)
    for (int k = 0; k <= kSize / 2; ++k) {
      double re = 0, im = 0;
      for (int i = 0; i < kSize; ++i) {
        re += x[row * kSize + i] * std::cos(2 * M_PI * k * i / kSize);
        im -= x[row * kSize + i] * std::sin(2 * M_PI * k * i / kSize);
      }
      wanted.insert(wanted.end(), {re, im});
    }
  ExpectNear(m.Run({x}), wanted);
  ExpectNear(m.Run({x}, OnnxModel::Exact(), 1), x);
}

// Halfway between elements, and half outside, where there are zeros.
TEST(OnnxProductsTest, GridSampleIsBetweenElements) {
  OnnxModel m;
  m.Input("x", {1, 1, 2, 2}).Output("y");
  m.Constant("g", {1, 1, 3, 2}, {0, 0, 1, 0, -1, -1});
  m.Node("GridSample", {"x", "g"}, {"y"});
  // The corner -1, -1 is half a step beyond the first element.
  ExpectNear(m.Run({{1, 2, 3, 8}}), {3.5, 0.5 * (2 + 8) / 2, 0.25});
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One direction, from the equations of the operator: gates i, o, f, c.
Doubles Lstm(const Doubles& x, const Doubles& w, const Doubles& r,
             const Doubles& b, int steps, int in, int hidden, bool backwards) {
  Doubles h(hidden, 0.0), c(hidden, 0.0), all(steps * hidden);
  for (int s = 0; s < steps; ++s) {
    const int t = backwards ? steps - 1 - s : s;
    Doubles gates(4 * hidden);
    for (int g = 0; g < 4 * hidden; ++g) {
      gates[g] = b[g] + b[4 * hidden + g];
      for (int i = 0; i < in; ++i) gates[g] += x[t * in + i] * w[g * in + i];
      for (int k = 0; k < hidden; ++k) gates[g] += h[k] * r[g * hidden + k];
    }
    for (int k = 0; k < hidden; ++k) {
      c[k] = Sigmoid(gates[2 * hidden + k]) * c[k] +
             Sigmoid(gates[k]) * std::tanh(gates[3 * hidden + k]);
      h[k] = Sigmoid(gates[hidden + k]) * std::tanh(c[k]);
      all[t * hidden + k] = h[k];
    }
  }
  return all;
}

TEST(OnnxProductsTest, LstmOfBothDirections) {
  constexpr int kSteps = 5, kIn = 3, kHidden = 4, kGates = 4 * kHidden;
  const Doubles x = Sample(kSteps * kIn), w = Sample(2 * kGates * kIn, 2),
                r = Sample(2 * kGates * kHidden, 3),
                b = Sample(2 * 2 * kGates, 4);
  OnnxModel m;
  m.Input("x", {kSteps, 1, kIn}).Output("y");
  m.Constant("w", {2, kGates, kIn}, w).Constant("r", {2, kGates, kHidden}, r);
  m.Constant("b", {2, 2 * kGates}, b);
  m.Node("LSTM", {"x", "w", "r", "b"}, {"y"})
      .Set("hidden_size", kHidden)
      .Set("direction", "bidirectional");
  const auto half = [](const Doubles& v, int d) {
    const auto size = static_cast<int64_t>(v.size() / 2);
    return Doubles(v.begin() + d * size, v.begin() + (d + 1) * size);
  };
  Doubles wanted(kSteps * 2 * kHidden);
  for (int d = 0; d < 2; ++d) {
    const Doubles y = Lstm(x, half(w, d), half(r, d), half(b, d), kSteps, kIn,
                           kHidden, d == 1);
    for (int t = 0; t < kSteps; ++t)
      for (int k = 0; k < kHidden; ++k)
        wanted[(t * 2 + d) * kHidden + k] = y[t * kHidden + k];
  }
  ExpectNear(m.Run({x}), wanted, 1e-5);
}

// Scales of activations: one for each, or one for each that has one.
TEST(OnnxProductsTest, LstmWithScalesOfItsActivations) {
  constexpr int kSteps = 3, kIn = 2, kHidden = 3, kGates = 4 * kHidden;
  const Doubles x = Sample(kSteps * kIn);
  const auto run = [&](const std::vector<float>& alpha,
                       const std::vector<float>& beta, std::string* error) {
    OnnxModel m;
    m.Input("x", {kSteps, 1, kIn}).Output("y");
    m.Constant("w", {1, kGates, kIn}, Sample(kGates * kIn, 2));
    m.Constant("r", {1, kGates, kHidden}, Sample(kGates * kHidden, 3));
    onnx::NodeProto& node = m.Node("LSTM", {"x", "w", "r"}, {"y"})
                                .Set("hidden_size", kHidden)
                                .proto();
    const auto add = [&](const char* name) {
      onnx::AttributeProto* const a = node.add_attribute();
      a->set_name(name);
      return a;
    };
    onnx::AttributeProto* const names = add("activations");
    names->set_type(onnx::AttributeProto::STRINGS);
    for (const char* name : {"Tanh", "HardSigmoid", "Affine"})
      names->add_strings(name);
    const auto floats = [&](const char* name, const std::vector<float>& all) {
      onnx::AttributeProto* const a = add(name);
      a->set_type(onnx::AttributeProto::FLOATS);
      for (const float value : all) a->add_floats(value);
    };
    floats("activation_alpha", alpha);
    floats("activation_beta", beta);
    if (error == nullptr) return m.Run({x});
    *error = m.Error();
    return Doubles();
  };
  const Doubles each = run({0, 0.3f, 0.7f}, {0, 0.4f, 0.1f}, nullptr);
  EXPECT_EQ(run({0.3f, 0.7f}, {0.4f, 0.1f}, nullptr), each);
  EXPECT_NE(run({0.7f, 0.3f}, {0.4f, 0.1f}, nullptr), each);
  std::string error;
  run({0.3f}, {0.4f, 0.1f}, &error);
  EXPECT_THAT(error, testing::HasSubstr("scales for another number"));
}

int Quantise(double x, double scale, int zero, int low, int high) {
  const double steps =
      std::nearbyint(static_cast<float>(x) / static_cast<float>(scale));
  return std::clamp(static_cast<int>(steps) + zero, low, high);
}

TEST(OnnxProductsTest, QuantisesToTheNearestEven) {
  OnnxModel m;
  m.Input("x", {6}).Output("y", onnx::TensorProto::UINT8).Output("z");
  m.Constant("s", {}, {0.5}).Constant("p", {}, {3}, onnx::TensorProto::UINT8);
  m.Node("QuantizeLinear", {"x", "s", "p"}, {"y"});
  m.Node("DequantizeLinear", {"y", "s", "p"}, {"z"});
  const Doubles x = {0.25, 0.75, -0.25, 1000, -1000, 1.3};
  Doubles y, z;
  for (const double v : x) {
    y.push_back(Quantise(v, 0.5, 3, 0, 255));
    z.push_back((y.back() - 3) * 0.5);
  }
  EXPECT_EQ(m.Run({x}), y);
  EXPECT_EQ(m.Run({x}, {}, 1), z);
  EXPECT_EQ(y, (Doubles{3, 5, 3, 255, 0, 6}));
}

// Per feature; the sums are exact at every precision.
TEST(OnnxProductsTest, QLinearConvIsIntegerArithmetic) {
  constexpr int kU8 = onnx::TensorProto::UINT8, kI8 = onnx::TensorProto::INT8;
  Doubles x, w;
  for (const double v : Sample(2 * 6)) x.push_back(std::floor((v + 1) * 127));
  for (const double v : Sample(3 * 2 * 3, 2)) w.push_back(std::floor(v * 127));
  const Doubles scales = {0.01, 0.02, 0.03};
  OnnxModel m;
  m.Input("x", {1, 2, 6}, kU8).Output("y", kU8);
  m.Constant("xs", {}, {0.1}).Constant("xz", {}, {120}, kU8);
  m.Constant("w", {3, 2, 3}, w, kI8).Constant("ws", {3}, scales);
  m.Constant("wz", {3}, {0, 0, 0}, kI8);
  m.Constant("ys", {}, {0.7}).Constant("yz", {}, {99}, kU8);
  m.Constant("b", {3}, {100, -200, 300}, onnx::TensorProto::INT32);
  m.Node("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"},
         {"y"});
  Doubles wanted;
  for (int o = 0; o < 3; ++o)
    for (int at = 0; at < 4; ++at) {
      int64_t sum = o == 0 ? 100 : o == 1 ? -200 : 300;
      for (int c = 0; c < 2; ++c)
        for (int t = 0; t < 3; ++t)
          sum += static_cast<int64_t>((x[c * 6 + at + t] - 120) *
                                      w[(o * 2 + c) * 3 + t]);
      wanted.push_back(Quantise(static_cast<double>(sum) * 0.1 * scales[o], 0.7,
                                99, 0, 255));
    }
  EXPECT_EQ(m.Run({x}, OnnxOptions()), wanted);
}

TEST(OnnxProductsTest, IntegerProductsAreExact) {
  constexpr int kTerms = 600;  // too many for sums of float32
  OnnxModel m;
  m.Input("x", {1, kTerms}, onnx::TensorProto::UINT8);
  m.Input("y", {kTerms, 1}, onnx::TensorProto::UINT8);
  m.Output("z", onnx::TensorProto::INT32);
  m.Node("MatMulInteger", {"x", "y"}, {"z"});
  Doubles x, y;
  int64_t sum = 0;
  for (int i = 0; i < kTerms; ++i) {
    x.push_back(255 - i % 3);
    y.push_back(254 - i % 5);
    sum += static_cast<int64_t>(x[i]) * static_cast<int64_t>(y[i]);
  }
  EXPECT_GT(sum, 1 << 24);
  EXPECT_EQ(m.Run({x, y}), Doubles{static_cast<double>(sum)});
}

}  // namespace
}  // namespace systole::import
