// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The golden model against the int8 reference kernels of TensorFlow Lite
// (tests/data/numerics/README.md). Multipliers and clamps come from the scales.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "verif/golden/ops.h"

namespace systole::golden {
namespace {

using Json = nlohmann::json;

Json Cases() {
  std::ifstream file(SYSTOLE_SOURCE_DIR "/tests/data/numerics/tflite.json");
  return Json::parse(file).at("cases");
}

TensorI8 ReadTensor(const Json& json) {
  const std::vector<int> shape = json.at("shape");
  return TensorI8(shape[0], shape[1], shape[2], shape[3],
                  json.at("data").get<std::vector<int8_t>>());
}

Geometry ReadGeometry(const Json& json) {
  const std::vector<int> stride = json.at("stride");
  const std::vector<int> dilation = json.at("dilation");
  const std::vector<int> pad = json.at("padding");
  return {stride[0], stride[1], dilation[0], dilation[1],
          pad[0],    pad[1],    pad[2],      pad[3]};
}

float Scale(const Json& json) { return json.at("scale").get<float>(); }

OutputRange ReadRange(const Json& json) {
  OutputRange range;
  range.zero_point = json.at("output").at("zero_point");
  const std::string activation = json.at("activation");
  const auto quantised = [&](double real) {
    return range.zero_point +
           static_cast<int>(std::round(real / Scale(json.at("output"))));
  };
  if (activation != "none") range.clamp_min = std::max(-128, quantised(0));
  if (activation == "relu6") range.clamp_max = std::min(127, quantised(6));
  return range;
}

TensorI8 RunWeighted(const Json& json, const TensorI8& input,
                     Rounding rounding) {
  const int zero_point = json.at("input").at("zero_point");
  const TensorI8 weights = ReadTensor(json.at("weights"));
  TensorI32 acc;
  if (json.at("op") == "conv2d") {
    acc = Conv2D(input, weights, ReadGeometry(json), zero_point).value();
  } else {
    const int depth = weights.c();
    const Matrix<int32_t> sums =
        Matmul(input.matrix(depth), weights.matrix(depth), zero_point).value();
    acc = TensorI32(input.n(), 1, 1, weights.n(),
                    {sums.data(), sums.data() + sums.size()});
  }
  bool saturated = false;
  const std::vector<int32_t> bias = json.at("bias");
  EXPECT_TRUE(AddBias(bias, acc, saturated).ok());
  EXPECT_FALSE(saturated);
  std::vector<Multiplier> multipliers;
  for (float scale :
       json.at("weights").at("scales").get<std::vector<float>>()) {
    const double real = double{Scale(json.at("input"))} * scale /
                        double{Scale(json.at("output"))};
    multipliers.push_back(QuantizeMultiplier(real).value());
  }
  return RequantizeChannels(acc, multipliers, rounding, ReadRange(json))
      .value();
}

TensorI8 RunCase(const Json& json, Rounding rounding) {
  const std::string op = json.at("op");
  const TensorI8 input = ReadTensor(json.at("input"));
  if (op == "conv2d" || op == "dense")
    return RunWeighted(json, input, rounding);
  const OutputRange range = ReadRange(json);
  if (op == "add") {
    const Json& other = json.at("input2");
    const std::array<Multiplier, 3> m =
        AddMultipliers(Scale(json.at("input")), Scale(other),
                       Scale(json.at("output")))
            .value();
    const AddParameters parameters = {json.at("input").at("zero_point"),
                                      other.at("zero_point"), m[0], m[1], m[2]};
    return Add(input, ReadTensor(other), parameters, rounding, range).value();
  }
  const std::vector<int> kernel = json.at("kernel");
  const auto pool = op == "maxpool" ? MaxPool : AveragePool;
  return pool(input, kernel[0], kernel[1], ReadGeometry(json), range).value();
}

Rounding StatedRounding(const Json& json) {
  return json.value("rounding", "double") == "single" ? Rounding::kSingle
                                                      : Rounding::kDouble;
}

int Differences(const TensorI8& a, const TensorI8& b) {
  int count = 0;
  for (size_t i = 0; i < a.data().size(); ++i) {
    count += a.data()[i] != b.data()[i];
  }
  return count;
}

TEST(TfLite, EveryCaseIsEqual) {
  std::set<std::string> ops;
  for (const Json& json : Cases()) {
    SCOPED_TRACE(json.at("name").get<std::string>());
    const TensorI8 expected = ReadTensor(json.at("output"));
    const TensorI8 actual = RunCase(json, StatedRounding(json));
    EXPECT_EQ(actual.shape(), expected.shape());
    EXPECT_THAT(actual.data(),
                ::testing::Pointwise(::testing::Eq(), expected.data()));
    ops.insert(json.at("op"));
  }
  EXPECT_THAT(ops, ::testing::ElementsAre("add", "avgpool", "conv2d", "dense",
                                          "maxpool"));
}

// The vectors would catch the wrong rounding mode.
TEST(TfLite, TheOtherRoundingDiffers) {
  for (const Json& json : Cases()) {
    const std::string name = json.at("name");
    if (name.rfind("requantise", 0) != 0) continue;
    const Rounding other = StatedRounding(json) == Rounding::kDouble
                               ? Rounding::kSingle
                               : Rounding::kDouble;
    EXPECT_GT(Differences(RunCase(json, other), ReadTensor(json.at("output"))),
              5)
        << name;
  }
}

}  // namespace
}  // namespace systole::golden
