// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/tools/tensor_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace systole::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ir::Type Int8(std::vector<int64_t> shape, float scale = 0.5, int zero = 3) {
  ir::Type type;
  type.shape = std::move(shape);
  type.quantization.emplace();
  type.quantization->scales = {scale};
  type.quantization->zero_point = zero;
  return type;
}

ir::Type Float(std::vector<int64_t> shape) {
  ir::Type type;
  type.element = ir::ElementType::kFloat32;
  type.shape = std::move(shape);
  return type;
}

npy::Array Bytes(std::vector<int64_t> shape) {
  npy::Array array;
  array.shape = std::move(shape);
  array.bytes.resize(array.elements());
  for (size_t i = 0; i < array.bytes.size(); ++i)
    array.bytes[i] = static_cast<uint8_t>(i);
  return array;
}

npy::Array Floats(const std::vector<float>& values) {
  npy::Array array;
  array.type = npy::Type::kFloat32;
  array.shape = {static_cast<int64_t>(values.size())};
  array.bytes.resize(4 * values.size());
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

TEST(ToImages, CountsImages) {
  const auto count = [](std::vector<int64_t> shape, const ir::Type& type) {
    const auto images = ToImages(Bytes(std::move(shape)), type);
    return images.ok() ? images->count : -1;
  };
  const ir::Type image = Int8({1, 4, 2});
  EXPECT_EQ(count({1, 4, 2}, image), 1);
  EXPECT_EQ(count({5, 4, 2}, image), 5);
  EXPECT_EQ(count({5, 1, 4, 2}, image), 5);
  EXPECT_EQ(count({4, 2}, image), 1);
  EXPECT_EQ(count({0, 4, 2}, image), -1);  // no image is none
  EXPECT_EQ(count({8}, image), -1);
  EXPECT_EQ(count({2, 4}, image), -1);
  EXPECT_EQ(count({1, 2, 4}, image), -1);
  const ir::Type pair = Int8({2, 4});
  EXPECT_EQ(count({2, 4}, pair), 1);
  EXPECT_EQ(count({3, 2, 4}, pair), 3);
  EXPECT_EQ(count({6, 4}, pair), -1);
}

TEST(ToImages, QuantisesFloats) {
  const auto images =
      ToImages(Floats({0, 0.5, -1, 0.24f, 0.26f, 1000, -1000}), Int8({7}));
  ASSERT_TRUE(images.ok()) << images.status();
  EXPECT_TRUE(images->quantised);
  EXPECT_THAT(images->values.values<int8_t>(),
              ElementsAre(3, 4, 1, 3, 4, 127, -128));
  const auto bytes = ToImages(Bytes({3}), Int8({3}));
  EXPECT_FALSE(bytes->quantised);
  EXPECT_THAT(bytes->values.values<int8_t>(), ElementsAre(0, 1, 2));
  npy::Array unsigned_bytes = Bytes({3});
  unsigned_bytes.type = npy::Type::kUint8;
  EXPECT_THAT(ToImages(unsigned_bytes, Int8({3}))->values.values<int8_t>(),
              ElementsAre(-128, -127, -126));
  npy::Array tokens = Bytes({8});
  tokens.type = npy::Type::kInt32;
  tokens.shape = {2};
  const ir::Type integers{ir::ElementType::kInt32, {2}, std::nullopt};
  EXPECT_THAT(ToImages(tokens, integers)->values.values<int32_t>(),
              ElementsAre(0x03020100, 0x07060504));
  const auto plain = ToImages(Floats({1.5}), Float({1}));
  EXPECT_THAT(plain->values.values<float>(), ElementsAre(1.5));
}

TEST(ToImages, RefusesOtherTypes) {
  const auto error = [](const npy::Array& array, const ir::Type& type) {
    return std::string(ToImages(array, type).status().message());
  };
  npy::Array wide = Bytes({4});
  wide.type = npy::Type::kFloat64;
  EXPECT_EQ(error(wide, Int8({4})),
            "float64 (4,) for i8: give int8, uint8 or float32");
  wide.type = npy::Type::kInt64;
  EXPECT_THAT(error(wide, {ir::ElementType::kInt32, {4}, std::nullopt}),
              HasSubstr("int64 (4,) for i32: give int32"));
  wide.type = npy::Type::kInt32;
  EXPECT_THAT(error(wide, Int8({4})), HasSubstr("give int8, uint8 or float32"));
  EXPECT_THAT(error(Bytes({4}), Float({4})), HasSubstr("give float32"));
  EXPECT_THAT(error(Bytes({5}), Int8({4})),
              HasSubstr("int8 (5,) is neither [4] nor a stack of them"));
}

TEST(FromImages, Stacks) {
  const ir::Literal values(std::vector<int8_t>{1, 2, 3, 4, 5, 6});
  EXPECT_THAT(FromImages(values, Int8({1, 3}), 2).shape, ElementsAre(2, 3));
  EXPECT_THAT(FromImages(values, Int8({3}), 2).shape, ElementsAre(2, 3));
  EXPECT_THAT(FromImages(values, Int8({2, 3}), 1).shape, ElementsAre(1, 2, 3));
  EXPECT_THAT(FromImages(values, Int8({1, 3}), 2).bytes,
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Dequantised(values, Int8({3})).values<float>(),
              ElementsAre(-1, -0.5, 0, 0.5, 1, 1.5));
}

TEST(FilesFor, NamesFiles) {
  const auto files = [](std::vector<std::string> names,
                        std::vector<std::string> given) {
    const auto result = FilesFor(names, given, "--input");
    return result.ok() ? *result
                       : std::vector<std::string>{
                             std::string(result.status().message())};
  };
  EXPECT_THAT(files({"x"}, {"a.npy"}), ElementsAre("a.npy"));
  EXPECT_THAT(files({"x"}, {"x=a.npy"}), ElementsAre("a.npy"));
  EXPECT_THAT(files({"x"}, {"y=a.npy"}),
              ElementsAre("--input y=a.npy: give one NAME=FILE for each of x"));
  EXPECT_THAT(files({"x"}, {"./y=a.npy"}), ElementsAre("./y=a.npy"));
  EXPECT_THAT(files({"x:0", "y"}, {"y=b", "x:0=a"}), ElementsAre("a", "b"));
  EXPECT_THAT(files({"x", "y"}, {"y=b"}), ElementsAre("", "b"));
  const char kGive[] = ": give one NAME=FILE for each of x, y";
  EXPECT_THAT(files({"x", "y"}, {"b"}),
              ElementsAre(std::string("--input b") + kGive));
  EXPECT_THAT(files({"x", "y"}, {"x=a", "x=b"}),
              ElementsAre(std::string("--input x=b") + kGive));
}

TEST(RandomValues, DependOnTheSeed) {
  EXPECT_EQ(RandomValues(Int8({100}), 2, 1), RandomValues(Int8({100}), 2, 1));
  EXPECT_FALSE(RandomValues(Int8({100}), 2, 1) ==
               RandomValues(Int8({100}), 2, 2));
  const ir::Literal values = RandomValues(Float({1000}), 1, 1);
  for (const float v : values.values<float>()) {
    EXPECT_LE(-1, v);
    EXPECT_LT(v, 1);
  }
}

}  // namespace
}  // namespace systole::tools
