// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The digit network on the golden model, over all 2,000 test digits.
#include "verif/golden/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_format.h"
#include "host/tools/digits.h"
#include "nlohmann/json.hpp"

namespace systole::golden {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr int kBatch = 100;

template <typename T>
void Digest(const std::vector<T>& values, uLong& crc) {
  crc = crc32_z(crc, reinterpret_cast<const Bytef*>(values.data()),
                values.size());
}

std::string Hex(uLong crc) { return absl::StrFormat("%08x", crc); }

Json ReadJson(const std::string& path) {
  std::ifstream file(SYSTOLE_SOURCE_DIR "/" + path);
  return Json::parse(file);
}

class DigitNetwork : public ::testing::Test {
 protected:
  DigitNetwork()
      : network_(model::ReadNetwork(SYSTOLE_SOURCE_DIR
                                    "/models/mnist_cnn.safetensors")
                     .value()),
        digits_(
            tools::ReadDigits(SYSTOLE_SOURCE_DIR "/tests/data/mnist").value()) {
  }

  TensorI8 Images(int first, int count) const {
    return TensorI8(count, digits_.height, digits_.width, 1,
                    digits_.Quantised(first, count));
  }

  model::Network network_;
  tools::Digits digits_;
};

TEST_F(DigitNetwork, IsTheNetworkOfTheDocument) {
  const int64_t macs[] = {84672, 2032128, 2709504, 627200, 2000};
  ASSERT_EQ(network_.layers.size(), 5u);
  for (size_t i = 0; i < network_.layers.size(); ++i) {
    EXPECT_EQ(model::Macs(network_, network_.layers[i]), macs[i]);
    EXPECT_EQ(network_.layers[i].rounding, model::Rounding::kDouble);
  }
  EXPECT_EQ(network_.layers[2].output, network_.layers[3].inputs[0]);
  EXPECT_EQ(network_.input().zero_point, -128);
}

TEST_F(DigitNetwork, AgreesWithTrainingAndTfLiteOnEveryLayerOfEveryDigit) {
  const Json report = ReadJson("models/mnist_cnn.report.json");
  const Json tflite = ReadJson("tests/data/numerics/tflite_network.json");
  ASSERT_EQ(digits_.count, report.at("test_images"));
  ASSERT_EQ(digits_.count, tflite.at("images"));
  std::map<std::string, uLong> outputs;
  uLong labels = 0;
  int right = 0;
  for (int first = 0; first < digits_.count; first += kBatch) {
    const absl::StatusOr<std::vector<TensorI8>> results =
        RunNetwork(network_, Images(first, kBatch));
    ASSERT_TRUE(results.ok()) << results.status();
    for (size_t i = 0; i < results->size(); ++i) {
      Digest((*results)[i].data(), outputs[network_.layers[i].name]);
    }
    std::vector<uint8_t> predicted;
    for (int label : ArgMax(results->back())) {
      right += label == digits_.labels[first + predicted.size()];
      predicted.push_back(static_cast<uint8_t>(label));
    }
    Digest(predicted, labels);
  }
  EXPECT_EQ(Hex(labels), report.at("labels_crc32"));
  for (const auto& [name, crc] : outputs) {
    EXPECT_EQ(Hex(crc), report.at("outputs_crc32").at(name)) << name;
    EXPECT_EQ(Hex(crc), tflite.at("outputs_crc32").at(name)) << name;
  }
  const double accuracy = static_cast<double>(right) / digits_.count;
  std::printf("int8 accuracy over %d digits: %.2f %% (float: %.2f %%)\n",
              digits_.count, 100 * accuracy,
              100 * report.at("float_accuracy").get<double>());
  EXPECT_DOUBLE_EQ(accuracy, report.at("int8_accuracy"));
  EXPECT_GE(report.at("float_accuracy"), 0.985);
  EXPECT_GE(accuracy, report.at("float_accuracy").get<double>() - 0.003);
}

// A single wrong weight, bias, multiplier or clamp shows in the outputs.
TEST_F(DigitNetwork, SeededFaultsShow) {
  const TensorI8 images = Images(0, 20);
  const std::vector<TensorI8> good = RunNetwork(network_, images).value();
  const auto differs_from = [&](const model::Network& faulty, size_t layer) {
    const std::vector<TensorI8> bad = RunNetwork(faulty, images).value();
    for (size_t i = 0; i < layer; ++i) EXPECT_EQ(bad[i], good[i]);
    return !(bad[layer] == good[layer]);
  };
  model::Network faulty = network_;
  faulty.layers[1].weights[100] ^= 0x40;
  EXPECT_TRUE(differs_from(faulty, 1));
  faulty = network_;
  faulty.layers[2].bias[3] += 500;
  EXPECT_TRUE(differs_from(faulty, 2));
  faulty = network_;
  faulty.layers[3].requant[7].shift -= 1;
  EXPECT_TRUE(differs_from(faulty, 3));
  faulty = network_;
  faulty.tensors[faulty.layers[0].output].zero_point += 1;
  EXPECT_TRUE(differs_from(faulty, 0));
}

TEST_F(DigitNetwork, RefusesInputsThatDoNotFit) {
  for (const TensorI8& input : {TensorI8(0, 28, 28, 1), TensorI8(1, 28, 27, 1),
                                TensorI8(1, 28, 28, 3)}) {
    const absl::Status status = RunNetwork(network_, input).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("mnist_cnn"));
  }
}

TEST_F(DigitNetwork, ASaturatingBiasIsAnErrorThatNamesTheLayer) {
  network_.layers[1].bias[0] = INT32_MAX;
  const absl::Status status = RunNetwork(network_, Images(0, 5)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(status.message(), HasSubstr(network_.layers[1].name));
}

TEST(ArgMax, TakesTheFirstOfEquals) {
  const TensorI8 scores(2, 1, 1, 3, {5, 7, 7, -128, -128, -128});
  EXPECT_THAT(ArgMax(scores), ::testing::ElementsAre(1, 0));
}

}  // namespace
}  // namespace systole::golden
