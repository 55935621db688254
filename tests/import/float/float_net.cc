// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/import/float/float_net.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "host/import/float/float_operator.h"
#include "host/ir/evaluate.h"
#include "host/ir/index.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::import {
namespace {

// The operators that tests have run.
std::set<B>& Tried() {
  static auto& tried = *new std::set<B>;
  return tried;
}

std::vector<std::string>& Files() {
  static auto& files = *new std::vector<std::string>;
  return files;
}

// Every operator that there is has a test; looked at if all tests run.
class AllTried : public testing::Environment {
 public:
  void TearDown() override {
    const auto* const unit = testing::UnitTest::GetInstance();
    if (unit->test_to_run_count() < unit->total_test_count()) return;
    for (const B code : FloatOperators())
      EXPECT_TRUE(Tried().count(code) > 0)
          << tflite::EnumNameBuiltinOperator(code) << " has no test";
  }
};
const auto* const kAllTried =
    testing::AddGlobalTestEnvironment(new AllTried);  // owned by gtest

ir::Literal LiteralOf(const Array& values, tflite::TensorType type) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> all;
    for (const float value : values.v) all.push_back(static_cast<T>(value));
    return ir::Literal(std::move(all));
  };
  switch (type) {
    case tflite::TensorType_INT8:
    case tflite::TensorType_INT4:
      return as(int8_t{});
    case tflite::TensorType_INT16:
      return as(int16_t{});
    case tflite::TensorType_INT32:
      return as(int32_t{});
    case tflite::TensorType_INT64:
      return as(int64_t{});
    case tflite::TensorType_UINT8:
      return as(uint8_t{});
    case tflite::TensorType_BOOL:
      return as(ir::Bool{});
    case tflite::TensorType_FLOAT16:
      return as(ir::Float16{});
    default:
      return ir::Literal(values.v);
  }
}

Array ArrayOf(const ir::Literal& values, const ir::Type& type) {
  Array array(Shape(type.shape.begin(), type.shape.end()));
  values.Visit([&](const auto& v) {
    std::transform(v.begin(), v.end(), array.v.begin(),
                   [](const auto& x) { return static_cast<float>(x); });
  });
  return array;
}

}  // namespace

Array Random(const Shape& shape, uint64_t seed, float low, float high) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> number(low, high);
  return Made(shape, [&](const Shape&) { return number(random); });
}

Array Whole(const Shape& shape, uint64_t seed, int low, int high) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> number(low, high);
  return Made(shape,
              [&](const Shape&) { return static_cast<float>(number(random)); });
}

Array Made(const Shape& shape, const std::function<float(const Shape&)>& f) {
  Array array(shape);
  const std::vector<int64_t> sizes(shape.begin(), shape.end());
  std::vector<int64_t> index(shape.size(), 0);
  for (float& value : array.v) {
    value = f(Shape(index.begin(), index.end()));
    ir::Advance(sizes, index);
  }
  return array;
}

void ExpectNear(const Array& got, const Array& wanted, float tolerance) {
  ASSERT_EQ(got.shape, wanted.shape);
  float largest = 1;
  for (const float value : wanted.v)
    largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < wanted.v.size(); ++i)
    ASSERT_NEAR(got.v[i], wanted.v[i], tolerance * largest) << "element " << i;
}

int FloatNet::In(const Array& values, tflite::TensorType type) {
  return In(values, type, {});
}

int FloatNet::In(const Array& values, tflite::TensorType type,
                 const Scale& scale) {
  inputs_.push_back(Out(values.shape, type, scale));
  values_.push_back(LiteralOf(values, type));
  return inputs_.back();
}

int FloatNet::Const(const Array& values, tflite::TensorType type) {
  return Const(values, type, {});
}

int FloatNet::Const(const Array& values, tflite::TensorType type,
                    const Scale& scale) {
  std::vector<uint8_t> bytes = LiteralOf(values, type).Bytes();
  if (type == tflite::TensorType_INT4) {
    for (size_t i = 0; i < bytes.size(); i += 2) {
      const uint8_t high = i + 1 < bytes.size() ? bytes[i + 1] : 0;
      bytes[i / 2] = static_cast<uint8_t>((bytes[i] & 15) | high << 4);
    }
    bytes.resize((bytes.size() + 1) / 2);
  }
  return b.Tensor(values.shape, type, scale.scales, scale.zeros,
                  b.Buffer(bytes), scale.axis);
}

int FloatNet::Out(const Shape& shape, tflite::TensorType type) {
  return Out(shape, type, {});
}

int FloatNet::Out(const Shape& shape, tflite::TensorType type,
                  const Scale& scale) {
  return b.Tensor(shape, type, scale.scales, scale.zeros, 0, scale.axis);
}

void FloatNet::Add(B code, const std::vector<int32_t>& inputs,
                   const std::vector<int32_t>& outputs, tflite::Options kind,
                   ModelBuilder::Offset options) {
  Tried().insert(code);
  b.Operator(code, inputs, outputs, kind, options);
}

void FloatNet::AddCustom(const char* name, const std::vector<int32_t>& inputs,
                         const std::vector<int32_t>& outputs,
                         const std::vector<uint8_t>& custom_options) {
  Tried().insert(tflite::BuiltinOperator_CUSTOM);
  b.Operator(tflite::BuiltinOperator_CUSTOM, inputs, outputs,
             tflite::Options_NONE, 0, name, &custom_options);
}

const std::vector<std::string>& FilesRun() { return Files(); }

std::vector<Array> FloatNet::Run(const std::vector<int32_t>& outputs) {
  Files().push_back(b.Model(inputs_, outputs));
  const auto module = ImportFloatTflite(Files().back(), "m", options);
  EXPECT_TRUE(module.ok()) << module.status();
  std::vector<Array> arrays(outputs.size());
  if (!module.ok()) return arrays;
  const auto host = ir::EvaluateModule(**module, values_);
  const auto golden = golden::RunHlo(**module, values_);
  EXPECT_TRUE(host.ok()) << host.status();
  EXPECT_TRUE(golden.ok()) << golden.status();
  if (!host.ok() || !golden.ok()) return arrays;
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_TRUE((*host)[i] == (*golden)[i]) << "output " << i;
    arrays[i] = ArrayOf((*golden)[i], (*module)->outputs[i].node.type());
  }
  return arrays;
}

Array FloatNet::One(B code, const std::vector<int32_t>& inputs,
                    const Shape& shape, tflite::Options kind,
                    ModelBuilder::Offset options, tflite::TensorType type) {
  const int y = Out(shape, type);
  Add(code, inputs, {y}, kind, options);
  return Run({y})[0];
}

std::string FloatNet::Refusal(B code, const std::vector<int32_t>& inputs,
                              const Shape& shape, tflite::Options kind,
                              ModelBuilder::Offset options) {
  const int y = Out(shape);
  b.Operator(code, inputs, {y}, kind, options);
  const auto module =
      ImportFloatTflite(b.Model(inputs_, {y}), "net.tflite", this->options);
  EXPECT_FALSE(module.ok());
  return std::string(module.status().message());
}

}  // namespace systole::import
