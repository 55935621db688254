// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Whole models: importer and golden interpreter against the reference kernels
// of TensorFlow Lite (tests/data/tflite, scripts/vectors/tflite_reference.py),
// every operator's result and every output.
#include "tests/import/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/import/tflite_importer.h"
#include "host/ir/text.h"
#include "verif/golden/interpreter.h"

namespace systole::import {
namespace {

class ModelTest : public testing::TestWithParam<const char*> {
 protected:
  // Whether the model is there; otherwise the test is skipped.
  bool Open() {
    path_ = ModelPath(GetParam());
    if (path_.empty()) return false;
    reference_ = Reference(GetParam());
    const std::string bytes = ReadBytes(path_);
    EXPECT_EQ(CrcText(Crc32({bytes.begin(), bytes.end()})),
              reference_.at("model_crc32").get<std::string>())
        << path_ << " is another version of the model";
    auto module = ReadTflite(path_);
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return false;
    module_ = *std::move(module);
    return true;
  }

  std::string path_;
  nlohmann::json reference_;
  std::unique_ptr<ir::Module> module_;
};

#define OPEN_OR_SKIP()                                                         \
  if (!Open()) {                                                               \
    if (HasFailure()) return;                                                  \
    GTEST_SKIP() << GetParam() << ".tflite is not there; SYSTOLE_MLPERF_TINY " \
                 << "names its folder, scripts/fetch_models.py fetches it";    \
  }

TEST_P(ModelTest, EqualsReferenceKernels) {
  OPEN_OR_SKIP();
  std::vector<const ir::Node*> operators;
  for (const auto& node : module_->nodes()) {
    if (!node->operands.empty()) operators.push_back(node.get());
  }
  const auto expected =
      reference_.at("operators_crc32").get<std::vector<std::string>>();
  ASSERT_EQ(operators.size(), expected.size());
  std::vector<uint32_t> digests(operators.size());
  ASSERT_GE(reference_.at("outputs").size(), 50u);
  for (const nlohmann::json& row : reference_.at("outputs")) {
    const ir::Node& input = *module_->inputs().at(0);
    const auto values = golden::RunNodes(
        *module_,
        {ir::Literal(SeededValues(row.at("seed"), input.type.elements()))});
    ASSERT_TRUE(values.ok()) << values.status();
    for (size_t i = 0; i < operators.size(); ++i) {
      digests[i] = Crc32(values->at(operators[i]).Bytes(), digests[i]);
    }
    const ir::Literal& output = values->at(module_->outputs.at(0).node);
    if (row.contains("values")) {
      EXPECT_THAT(output.values<int8_t>(),
                  testing::ElementsAreArray(
                      row.at("values").get<std::vector<int8_t>>()));
    }
    EXPECT_EQ(CrcText(Crc32(output.Bytes())),
              row.at("crc32").get<std::string>())
        << "seed " << row.at("seed");
  }
  for (size_t i = 0; i < operators.size(); ++i) {
    EXPECT_EQ(CrcText(digests[i]), expected[i])
        << "operator " << i << " " << operators[i]->name;
  }
}

// A digest that is wrong by one bit is seen.
TEST_P(ModelTest, AnotherInputHasAnotherDigest) {
  OPEN_OR_SKIP();
  const nlohmann::json row = reference_.at("outputs").at(0);
  const ir::Node& input = *module_->inputs().at(0);
  std::vector<int8_t> values =
      SeededValues(row.at("seed").get<uint64_t>() + 1, input.type.elements());
  const auto outputs =
      golden::RunModule(*module_, {ir::Literal(std::move(values))});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_NE(CrcText(Crc32(outputs->at(0).Bytes())),
            row.at("crc32").get<std::string>());
}

TEST_P(ModelTest, TextReadsBackAsTheSame) {
  OPEN_OR_SKIP();
  const std::string text = ir::Print(*module_);
  const auto parsed = ir::Parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(ir::Equal(*module_, **parsed));
  EXPECT_EQ(ir::Print(**parsed), text);
}

INSTANTIATE_TEST_SUITE_P(Own, ModelTest, testing::Values("mnist_cnn"),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(MlperfTiny, ModelTest,
                         testing::Values("ad_autoencoder_int8",
                                         "ic_resnet8_int8", "kws_dscnn_int8",
                                         "vww_mobilenet025_96_int8"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace systole::import
