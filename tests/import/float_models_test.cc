// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Models that are not quantised to full integers: refused, with what they are
// and how to convert them; and what no int8 kernel adds up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/import/tflite_importer.h"
#include "tests/import/model_builder.h"

namespace systole::import {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto kFloat = tflite::TensorType_FLOAT32;
constexpr auto kInt8 = tflite::TensorType_INT8;

std::string Refusal(const std::string& bytes) {
  const auto module = ImportTflite(bytes, "net.tflite");
  EXPECT_FALSE(module.ok());
  return std::string(module.status().message());
}

// A dense layer of floats, its weights of the type.
std::string Dense(tflite::TensorType weights) {
  ModelBuilder b;
  const int x = b.Tensor({1, 4}, kFloat, {}, {});
  const bool quantised = weights == kInt8;
  const std::vector<uint8_t> data(quantised ? 8 : 32, 0);
  const int w = quantised
                    ? b.Tensor({2, 4}, weights, {0.5f}, {0}, b.Buffer(data))
                    : b.Tensor({2, 4}, weights, {}, {}, b.Buffer(data));
  const int y = b.Tensor({1, 2}, kFloat, {}, {});
  b.Operator(tflite::BuiltinOperator_FULLY_CONNECTED, {x, w, -1}, {y},
             tflite::Options_FullyConnectedOptions,
             tflite::CreateFullyConnectedOptions(b.fbb).Union());
  return b.Model({x}, {y});
}

TEST(FloatModels, SayWhatTheyAreAndHowToConvertThem) {
  EXPECT_THAT(
      Refusal(Dense(kFloat)),
      AllOf(HasSubstr("net.tflite: "), HasSubstr("FULLY_CONNECTED"),
            HasSubstr("this is a float model: "), HasSubstr("representative")));
  EXPECT_THAT(Refusal(Dense(kInt8)),
              AllOf(HasSubstr("this is a dynamic-range model (int8 weights, "
                              "float32 activations): "),
                    HasSubstr("representative")));
}

// An int8 model with one operator that is not there is no float model.
TEST(FloatModels, OthersAreNotCalledSo) {
  ModelBuilder b;
  const int x = b.Tensor({1, 4}, kInt8, {0.5f}, {3});
  const int y = b.Tensor({1, 4}, kInt8, {0.5f}, {3});
  b.Operator(tflite::BuiltinOperator_CUSTOM, {x}, {y}, tflite::Options_NONE, 0,
             "MyOp");
  EXPECT_THAT(Refusal(b.Model({x}, {y})),
              AllOf(HasSubstr("MyOp"), Not(HasSubstr("float model"))));
}

// A converter puts a QUANTIZE before a branch of another scale.
TEST(Concatenations, OfOtherScalesAreNamed) {
  ModelBuilder b;
  const int x = b.Tensor({1, 4}, kInt8, {0.5f}, {3});
  const int z = b.Tensor({1, 4}, kInt8, {0.25f}, {3});
  const int y = b.Tensor({1, 8}, kInt8, {0.5f}, {3});
  b.Operator(tflite::BuiltinOperator_CONCATENATION, {x, z}, {y},
             tflite::Options_ConcatenationOptions,
             tflite::CreateConcatenationOptions(b.fbb, 1).Union());
  EXPECT_THAT(Refusal(b.Model({x, z}, {y})),
              AllOf(HasSubstr("CONCATENATION"), HasSubstr("scale")));
}

}  // namespace
}  // namespace systole::import
