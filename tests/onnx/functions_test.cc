// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators of single elements, reductions and normalisations, against their
// formulas in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/onnx/model.h"

namespace systole::import {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct UnaryCase {
  const char* op;
  double low, high;
  double (*f)(double);
};

double Relu(double x) { return std::max(x, 0.0); }
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const UnaryCase kUnary[] = {
    {"Abs", -3, 3, [](double x) { return std::abs(x); }},
    {"Neg", -3, 3, [](double x) { return -x; }},
    {"Exp", -5, 5, [](double x) { return std::exp(x); }},
    {"Log", 0.01, 9, [](double x) { return std::log(x); }},
    {"Sqrt", 0, 9, [](double x) { return std::sqrt(x); }},
    {"Reciprocal", 0.5, 9, [](double x) { return 1 / x; }},
    {"Floor", -4, 4, [](double x) { return std::floor(x); }},
    {"Ceil", -4, 4, [](double x) { return std::ceil(x); }},
    {"Round", -4, 4, [](double x) { return std::nearbyint(x); }},
    {"Sign", -1, 1, [](double x) { return x > 0   ? 1.0
                                          : x < 0 ? -1.0
                                                  : 0; }},
    {"Sin", -9, 9, [](double x) { return std::sin(x); }},
    {"Cos", -9, 9, [](double x) { return std::cos(x); }},
    {"Tan", -1.2, 1.2, [](double x) { return std::tan(x); }},
    {"Asin", -1, 1, [](double x) { return std::asin(x); }},
    {"Acos", -1, 1, [](double x) { return std::acos(x); }},
    {"Atan", -9, 9, [](double x) { return std::atan(x); }},
    {"Sinh", -9, 9, [](double x) { return std::sinh(x); }},
    {"Sinh", 80, 89, [](double x) { return std::sinh(x); }},
    {"Cosh", -9, 9, [](double x) { return std::cosh(x); }},
    {"Tanh", -4, 4, [](double x) { return std::tanh(x); }},
    {"Asinh", -9, 9, [](double x) { return std::asinh(x); }},
    {"Asinh", 1e15, 1e25, [](double x) { return std::asinh(x); }},
    {"Acosh", 1, 50, [](double x) { return std::acosh(x); }},
    {"Atanh", -0.9, 0.9, [](double x) { return std::atanh(x); }},
    {"Erf", -4, 4, [](double x) { return std::erf(x); }},
    {"Erf", -0.01, 0.01, [](double x) { return std::erf(x); }},
    {"Relu", -3, 3, Relu},
    {"Sigmoid", -9, 9, Sigmoid},
    {"Softplus", -90, 90,
     [](double x) {
       return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
     }},
    {"Softsign", -9, 9, [](double x) { return x / (1 + std::abs(x)); }},
    {"Elu", -4, 4, [](double x) { return x < 0 ? std::expm1(x) : x; }},
    {"Selu", -4, 4,
     [](double x) {
       return 1.0507010 * (x < 0 ? 1.6732632 * std::expm1(x) : x);
     }},
    {"LeakyRelu", -4, 4, [](double x) { return x < 0 ? 0.01 * x : x; }},
    {"HardSigmoid", -4, 4,
     [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
    {"HardSwish", -4, 4,
     [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
    {"Gelu", -4, 4,
     [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"Mish", -4, 4,
     [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
    {"ThresholdedRelu", -4, 4, [](double x) { return x > 1 ? x : 0; }},
    {"Shrink", -2, 2, [](double x) { return std::abs(x) > 0.5 ? x : 0; }}};

TEST(OnnxFunctionsTest, OfOneOperandAreTheirFormulas) {
  for (const UnaryCase& test : kUnary) {
    SCOPED_TRACE(test.op);
    Doubles x, wanted;
    for (const double u : Sample(200)) {
      const double at =
          static_cast<float>(test.low + (test.high - test.low) * (u + 1) / 2);
      x.push_back(at);
      wanted.push_back(test.f(at));
    }
    OnnxModel m;
    m.Input("x", {200}).Output("y", OnnxModel::kFloat);
    m.Node(test.op, {"x"}, {"y"});
    ExpectNear(m.Run({x}), wanted);
  }
}

TEST(OnnxFunctionsTest, OfTwoOperandsStretchThem) {
  const Doubles x = Sample(6), y = Sample(4, 2);
  for (const auto& [op, f] : std::vector<
           std::pair<const char*, std::function<double(double, double)>>>{
           {"Add", std::plus<>()},
           {"Sub", std::minus<>()},
           {"Mul", std::multiplies<>()},
           {"Div", std::divides<>()},
           {"Max", [](double a, double b) { return std::max(a, b); }},
           {"Min", [](double a, double b) { return std::min(a, b); }},
           {"PRelu", [](double a, double b) { return a < 0 ? a * b : a; }}}) {
    SCOPED_TRACE(op);
    const bool wide = std::string(op) == "PRelu";
    OnnxModel m;
    m.Input("x", wide ? Shape{6, 4} : Shape{6, 1}).Input("y", {4});
    m.Output("z");
    m.Node(op, {"x", "y"}, {"z"});
    Doubles left, wanted;
    for (int i = 0; i < 6; ++i) {
      for (int k = 0; k < 4; ++k) {
        left.push_back(x[i]);
        wanted.push_back(f(x[i], y[k]));
      }
    }
    ExpectNear(m.Run({wide ? left : x, y}), wanted, 1e-7);
  }
}

TEST(OnnxFunctionsTest, IntegersAreExact) {
  const Doubles x = {7, -7, 7, -7, 100}, y = {3, 3, -3, -3, 7};
  const auto run = [&](const char* op, int64_t fmod = -1) {
    OnnxModel m;
    m.Input("x", {5}, onnx::TensorProto::INT32);
    m.Input("y", {5}, onnx::TensorProto::INT32).Output("z");
    NodeMaker node = m.Node(op, {"x", "y"}, {"z"});
    if (fmod >= 0) node.Set("fmod", fmod);
    return m.Run({x, y});
  };
  EXPECT_EQ(run("Div"), (Doubles{2, -2, -2, 2, 14}));
  EXPECT_EQ(run("Mod"), (Doubles{1, 2, -2, -1, 2}));
  EXPECT_EQ(run("Mod", 1), (Doubles{1, -1, 1, -1, 2}));
  EXPECT_EQ(run("Greater"), (Doubles{1, 0, 1, 0, 1}));
  EXPECT_EQ(run("BitwiseAnd"), (Doubles{3, 1, 5, -7, 4}));
}

TEST(OnnxFunctionsTest, CastsAndClips) {
  OnnxModel m;
  m.Input("x", {5}).Output("y", onnx::TensorProto::INT8);
  m.Constant("low", {}, {-2}).Constant("high", {}, {1});
  m.Node("Clip", {"x", "low", "high"}, {"c"});
  m.Node("Cast", {"c"}, {"y"}).Set("to", onnx::TensorProto::INT8);
  EXPECT_EQ(m.Run({{-9, -1.75, 0.5, 0.99, 7}}), (Doubles{-2, -1, 0, 0, 1}));
}

// x [2, 3, 4], reduced over the axis in the middle.
Doubles ReduceMiddle(const Doubles& x,
                     const std::function<double(const Doubles&)>& f) {
  Doubles result;
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 4; ++k)
      result.push_back(
          f({x[i * 12 + k], x[i * 12 + 4 + k], x[i * 12 + 8 + k]}));
  }
  return result;
}
double SumOf(const Doubles& v, double (*f)(double)) {
  double sum = 0;
  for (const double x : v) sum += f(x);
  return sum;
}

TEST(OnnxFunctionsTest, Reductions) {
  const Doubles x = Sample(24);
  const auto same = [](double v) { return v; };
  const auto square = [](double v) { return v * v; };
  for (const auto& [op, f] : std::vector<
           std::pair<const char*, std::function<double(const Doubles&)>>>{
           {"ReduceSum", [&](const Doubles& v) { return SumOf(v, same); }},
           {"ReduceMean", [&](const Doubles& v) { return SumOf(v, same) / 3; }},
           {"ReduceMax",
            [](const Doubles& v) {
              return *std::max_element(v.begin(), v.end());
            }},
           {"ReduceMin",
            [](const Doubles& v) {
              return *std::min_element(v.begin(), v.end());
            }},
           {"ReduceProd", [](const Doubles& v) { return v[0] * v[1] * v[2]; }},
           {"ReduceL1",
            [](const Doubles& v) {
              return SumOf(v, [](double x) { return std::abs(x); });
            }},
           {"ReduceL2",
            [&](const Doubles& v) { return std::sqrt(SumOf(v, square)); }},
           {"ReduceSumSquare",
            [&](const Doubles& v) { return SumOf(v, square); }},
           {"ReduceLogSumExp", [](const Doubles& v) {
              return std::log(SumOf(v, [](double x) { return std::exp(x); }));
            }}}) {
    SCOPED_TRACE(op);
    OnnxModel m;
    m.Input("x", {2, 3, 4}).Integers("axes", {-2}).Output("y");
    m.Node(op, {"x", "axes"}, {"y"}).Set("keepdims", 0);
    ExpectNear(m.Run({x}), ReduceMiddle(x, f));
    EXPECT_EQ(m.OutputShape(), (Shape{2, 4}));
  }
  OnnxModel old(11);  // axes are an attribute
  old.Input("x", {2, 3, 4}).Output("y");
  old.Node("ReduceSum", {"x"}, {"y"}).Set("axes", Shape{1});
  ExpectNear(old.Run({x}),
             ReduceMiddle(x, [&](const Doubles& v) { return SumOf(v, same); }));
  EXPECT_EQ(old.OutputShape(), (Shape{2, 1, 4}));
}

TEST(OnnxFunctionsTest, SoftmaxOfNewAndOldOpsets) {
  const Doubles x = Sample(24);
  const auto softmax = [&](int rows) {
    Doubles y(24);
    const int size = 24 / rows;
    for (int r = 0; r < rows; ++r) {
      double sum = 0;
      for (int k = 0; k < size; ++k) sum += std::exp(x[r * size + k]);
      for (int k = 0; k < size; ++k)
        y[r * size + k] = std::exp(x[r * size + k]) / sum;
    }
    return y;
  };
  for (const int opset : {9, 13}) {
    OnnxModel m(opset);
    m.Input("x", {2, 3, 4}).Output("y");
    m.Node("Softmax", {"x"}, {"y"});
    ExpectNear(m.Run({x}), softmax(opset == 9 ? 2 : 6));
  }
}

TEST(OnnxFunctionsTest, Normalisations) {
  const Doubles x = Sample(2 * 3 * 5), scale = Sample(3, 2),
                bias = Sample(3, 3), mean = Sample(3, 4);
  Doubles variance = Sample(3, 5), wanted;
  for (double& v : variance) v = std::abs(v) + 0.1;
  OnnxModel m;
  m.Input("x", {2, 3, 5}).Output("y");
  m.Constant("s", {3}, scale).Constant("b", {3}, bias);
  m.Constant("m", {3}, mean).Constant("v", {3}, variance);
  m.Node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"});
  for (int i = 0; i < 30; ++i) {
    const int c = i / 5 % 3;
    wanted.push_back(
        (x[i] - mean[c]) / std::sqrt(variance[c] + 1e-5) * scale[c] + bias[c]);
  }
  ExpectNear(m.Run({x}), wanted);

  OnnxModel layer;
  layer.Input("x", {10, 3}).Output("y");
  layer.Constant("s", {3}, scale).Constant("b", {3}, bias);
  layer.Node("LayerNormalization", {"x", "s", "b"}, {"y"});
  Doubles normal;
  for (int r = 0; r < 10; ++r) {
    const double* row = &x[r * 3];
    const double mu = (row[0] + row[1] + row[2]) / 3;
    double var = 0;
    for (int k = 0; k < 3; ++k) var += (row[k] - mu) * (row[k] - mu) / 3;
    for (int k = 0; k < 3; ++k) {
      normal.push_back((row[k] - mu) / std::sqrt(var + 1e-5) * scale[k] +
                       bias[k]);
    }
  }
  ExpectNear(layer.Run({x}), normal);
}

TEST(OnnxFunctionsTest, OrdersAndSums) {
  const Doubles x = {3, 1, 3, -2, 0, 5, 5, 1};  // [2, 4]
  OnnxModel top;
  top.Input("x", {2, 4}).Integers("k", {2}).Output("v").Output("i");
  top.Node("TopK", {"x", "k"}, {"v", "i"});
  EXPECT_EQ(top.Run({x}), (Doubles{3, 3, 5, 5}));
  EXPECT_EQ(top.Run({x}, {}, 1), (Doubles{0, 2, 1, 2}));
  for (const int last : {0, 1}) {
    OnnxModel arg;
    arg.Input("x", {2, 4}).Output("y", onnx::TensorProto::INT64);
    arg.Node("ArgMax", {"x"}, {"y"})
        .Set("axis", 1)
        .Set("keepdims", 0)
        .Set("select_last_index", last);
    EXPECT_EQ(arg.Run({x}), last ? (Doubles{2, 2}) : (Doubles{0, 1}));
  }
  OnnxModel sum;
  sum.Input("x", {2, 4}).Integers("axis", {1}).Output("y");
  sum.Node("CumSum", {"x", "axis"}, {"y"})
      .Set("reverse", 1)
      .Set("exclusive", 1);
  EXPECT_EQ(sum.Run({x}), (Doubles{2, 1, -2, 0, 11, 6, 1, 0}));
}

TEST(OnnxFunctionsTest, InfinitiesAndNaN) {
  const Doubles x = {-kInfinity, 0, kInfinity, std::nan("")};
  OnnxModel m;
  m.Input("x", {4}).Output("i", onnx::TensorProto::BOOL).Output("n");
  m.Node("IsInf", {"x"}, {"i"}).Set("detect_negative", 0);
  m.Node("IsNaN", {"x"}, {"n"});
  EXPECT_EQ(m.Run({x}), (Doubles{0, 0, 1, 0}));
  EXPECT_EQ(m.Run({x}, {}, 1), (Doubles{0, 0, 0, 1}));
}

}  // namespace
}  // namespace systole::import
