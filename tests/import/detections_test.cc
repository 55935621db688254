// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// TFLite_Detection_PostProcess through importer, host and golden interpreter:
// hundreds of calls against TensorFlow Lite's kernel, thousands of random ones
// against each other.
#include "tests/import/detections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "absl/strings/str_replace.h"
#include "host/import/float/float_importer.h"
#include "host/import/tflite_importer.h"
#include "host/ir/evaluate.h"
#include "host/ir/hlo/detections.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "tests/import/kinds.h"
#include "tests/import/reference.h"
#include "verif/golden/hlo/interpreter.h"
#include "verif/golden/interpreter.h"

namespace systole::import {
namespace {

using testing::HasSubstr;

// As scripts/vectors/tflite_detections.py makes them: numbers with 8 bits of
// whole and, for floats, 8 bits of fraction.
std::string Operand(const nlohmann::json& call, int which, int64_t size) {
  const std::string kind = call.at(which == 1 ? "scores" : "boxes");
  const uint64_t seed = call.at("seed").get<uint64_t>() + 2 * which;
  std::vector<int8_t> high = SeededValues(seed, size),
                      low = SeededValues(seed + 1, size);
  if (which == 2 && call.at("same_anchors").get<bool>()) {
    for (int64_t i = 4; i < size; ++i) {
      high[i] = high[i - 4];
      low[i] = low[i - 4];
    }
  }
  std::string bytes;
  for (int64_t i = 0; i < size; ++i) {
    if (kind != "f32") {
      bytes.push_back(static_cast<char>(high[i] + (kind == "u8" ? 128 : 0)));
      continue;
    }
    float number = static_cast<float>(high[i]) + low[i] / 256.0f;
    if (which == 0) number /= 16;
    if (which == 1) number = (number + 129) / 256;
    if (which == 2)
      number = i % 4 < 2 ? (number + 128) / 256 : (number + 129) / 512;
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  return bytes;
}

DetectionTensor TensorOf(const nlohmann::json& call, int which,
                         std::vector<int32_t> shape) {
  const std::string kind = call.at(which == 1 ? "scores" : "boxes");
  if (kind == "f32") return {std::move(shape)};
  const bool bytes = kind == "u8";
  return {std::move(shape),
          bytes ? tflite::TensorType_UINT8 : tflite::TensorType_INT8,
          {call.at("scales").at(which).get<float>()},
          {call.at("zeros").at(which).get<int64_t>() - (bytes ? 0 : 128)}};
}

std::string Digest(const std::vector<ir::Literal>& results) {
  uint32_t crc = 0;
  for (const ir::Literal& result : results) crc = Crc32(result.Bytes(), crc);
  return CrcText(crc);
}

TEST(Detections, EqualTensorFlowLite) {
  const nlohmann::json all = Reference("detections");
  ASSERT_GE(all.at("calls").size(), 400);
  int number = 0;
  for (const nlohmann::json& call : all.at("calls")) {
    SCOPED_TRACE("call " + std::to_string(number++));
    const nlohmann::json& options = call.at("options");
    const int32_t anchors = call.at("anchors"), code = call.at("code"),
                  width = options.at("num_classes").get<int32_t>() +
                          call.at("background").get<int32_t>(),
                  rows = options.at("max_detections").get<int32_t>() *
                         options.at("max_classes_per_detection").get<int32_t>();
    const DetectionTensor tensors[] = {TensorOf(call, 0, {1, anchors, code}),
                                       TensorOf(call, 1, {1, anchors, width}),
                                       TensorOf(call, 2, {anchors, 4})};
    const std::string bytes[] = {Operand(call, 0, int64_t{anchors} * code),
                                 Operand(call, 1, int64_t{anchors} * width),
                                 Operand(call, 2, int64_t{anchors} * 4)};
    const std::string model =
        DetectionModel(tensors, {bytes[2].begin(), bytes[2].end()},
                       OptionsOf(options), {1, rows, 4});
    const std::string expected = call.at("crc32");
    const auto module = ImportTflite(model, "m");
    ASSERT_TRUE(module.ok()) << module.status();
    std::vector<ir::Literal> inputs;
    for (const ir::Node* parameter : (*module)->inputs()) {
      inputs.push_back(
          FromFile(bytes[inputs.size()], parameter->type,
                   parameter->attr<ir::ParameterAttributes>().stored));
    }
    const auto host = ir::EvaluateModule(**module, inputs);
    ASSERT_TRUE(host.ok()) << host.status();
    EXPECT_EQ(Digest(*host), expected);
    const auto golden = golden::RunModule(**module, inputs);
    ASSERT_TRUE(golden.ok()) << golden.status();
    EXPECT_EQ(Digest(*golden), expected);

    // As a float model, too; its inputs are as the file stores them.
    const auto floats = ImportFloatTflite(model, "m", {});
    ASSERT_TRUE(floats.ok()) << floats.status();
    std::vector<ir::Literal> stored;
    for (const ir::Node* parameter : (*floats)->inputs())
      stored.push_back(FromFile(bytes[stored.size()], parameter->type, ""));
    const auto as_floats = golden::RunHlo(**floats, stored);
    ASSERT_TRUE(as_floats.ok()) << as_floats.status();
    EXPECT_EQ(Digest(*as_floats), expected);
  }
}

// One call on floats, as a module.
std::unique_ptr<ir::Module> ModuleOf(const ir::DetectionOptions& options,
                                     int64_t anchors, int64_t width,
                                     int64_t code) {
  auto module = std::make_unique<ir::Module>("m");
  const auto type = [](ir::Ints shape) {
    return ir::Type{ir::ElementType::kFloat32, std::move(shape), {}};
  };
  std::vector<ir::Value> operands;
  for (const ir::Ints& shape :
       {ir::Ints{1, anchors, code}, {1, anchors, width}, {anchors, 4}}) {
    const std::string name = "x" + std::to_string(operands.size());
    operands.push_back(module->Add({name,
                                    ir::Op::kParameter,
                                    type(shape),
                                    {},
                                    ir::ParameterAttributes{name}}));
  }
  ir::Node call{
      "y",
      ir::Op::kHloCustomCall,
      {},
      operands,
      ir::HloCustomCallAttributes{ir::kDetections, ir::DetectionText(options)}};
  const auto types = ir::InferDetections(call);
  EXPECT_TRUE(types.ok()) << types.status();
  call.type = (*types)[0];
  call.more_types.assign(types->begin() + 1, types->end());
  ir::Node* const node = module->Add(std::move(call));
  for (int i = 0; i < 4; ++i)
    module->outputs.push_back({"y" + std::to_string(i), ir::Value(node, i)});
  return module;
}

// Equal scores, infinities and values that are not numbers among them.
TEST(Detections, OfHostAndGoldenModelAreEqual) {
  std::mt19937_64 random(7);
  const auto below = [&](uint64_t limit) {
    return static_cast<int64_t>(random() % limit);
  };
  const auto real = [&](double low, double high) {
    return static_cast<float>(
        std::uniform_real_distribution<>(low, high)(random));
  };
  int found = 0, full = 0;
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ir::DetectionOptions options;
    options.max_detections = 1 + below(20);
    options.max_classes_per_detection = 1 + below(5);
    options.detections_per_class = 1 + below(15);
    options.num_classes = 1 + below(30);
    options.use_regular_nms = below(2) == 1;
    options.nms_score_threshold = below(3) == 0 ? real(-1, 1) : 0.0f;
    options.nms_iou_threshold = real(0.01, 0.6);
    options.y_scale = real(1, 10);
    options.x_scale = real(-10, -1);
    options.h_scale = real(1, 10);
    options.w_scale = real(1, 10);
    const int64_t anchors = 1 + below(60), code = 4 + below(2);
    const int64_t width = options.num_classes + below(2);
    const bool special = below(10) == 0;
    const int64_t levels = below(2) == 0 ? 1 << 20 : 1 + below(8);
    std::vector<float> values[3];
    for (int64_t i = 0; i < anchors * code; ++i)
      values[0].push_back(real(-4, 4));
    for (int64_t i = 0; i < anchors * width; ++i)
      values[1].push_back(static_cast<float>(below(levels)) /
                          static_cast<float>(levels));
    for (int64_t i = 0; i < anchors * 4; ++i)
      values[2].push_back(i % 4 < 2 ? real(0, 1) : real(0, 2));
    if (special) {
      constexpr float kSpecial[] = {INFINITY, -INFINITY,
                                    std::numeric_limits<float>::quiet_NaN(),
                                    -0.0f, 1e30f};
      for (int which : {0, 1})
        for (float& value : values[which])
          if (below(20) == 0) value = kSpecial[below(5)];
    }
    const auto module = ModuleOf(options, anchors, width, code);
    ASSERT_EQ(ir::Verify(*module), absl::OkStatus());
    std::vector<ir::Literal> inputs;
    for (const std::vector<float>& all : values) inputs.emplace_back(all);
    const auto host = ir::EvaluateModule(*module, inputs);
    const auto golden = golden::RunHlo(*module, inputs);
    ASSERT_TRUE(host.ok()) << host.status();
    ASSERT_TRUE(golden.ok()) << golden.status();
    for (size_t i = 0; i < 4; ++i)
      ASSERT_TRUE((*host)[i] == (*golden)[i]) << "result " << i;
    const float count = (*host)[3].values<float>()[0];
    found += count > 0;
    full += count == static_cast<float>(options.max_detections);
  }
  EXPECT_GT(found, 2500);
  EXPECT_GT(full, 500);
  EXPECT_LT(full, 2500);
}

// A box with the ends in the wrong order ends the run, as in TensorFlow Lite.
TEST(Detections, RefuseBoxesOfNegativeSize) {
  ir::DetectionOptions options;
  options.max_detections = options.max_classes_per_detection = 1;
  options.num_classes = 1;
  options.nms_iou_threshold = 0.5f;
  options.y_scale = options.x_scale = options.h_scale = options.w_scale = 1;
  const auto module = ModuleOf(options, 2, 1, 4);
  const std::vector<ir::Literal> inputs = {
      ir::Literal(std::vector<float>(8, 0)),
      ir::Literal(std::vector<float>(2, 0)),
      ir::Literal(std::vector<float>{0, 0, 1, 1, 0, 0, 1, -1})};
  EXPECT_THAT(ir::EvaluateModule(*module, inputs).status().message(),
              HasSubstr("box 1 has a negative size"));
  EXPECT_FALSE(golden::RunHlo(*module, inputs).ok());
}

TEST(Detections, TextHasAllOptions) {
  ir::DetectionOptions options;
  options.max_detections = 10;
  options.use_regular_nms = true;
  options.y_scale = 0.1f;
  const std::string text = ir::DetectionText(options);
  const auto read = ir::ParseDetectionText(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ir::DetectionText(*read), text);
  EXPECT_EQ(read->y_scale, 0.1f);
  const std::string other = absl::StrReplaceAll(text, {{"w_scale=", "w="}});
  EXPECT_THAT(ir::ParseDetectionText(other).status().message(),
              HasSubstr("no option 'w_scale'"));
}

}  // namespace
}  // namespace systole::import
