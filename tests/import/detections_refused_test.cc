// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Options and operands of TFLite_Detection_PostProcess that are wrong: one line
// each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "host/import/float/flexbuffer.h"
#include "host/import/tflite_importer.h"
#include "tests/import/detections.h"

namespace systole::import {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

struct Given {
  std::vector<uint8_t> options;
  std::vector<int32_t> boxes = {1, 6, 4}, scores = {1, 6, 3}, anchors = {6, 4};
  int results = 4;
};

std::string MessageOf(const Given& given) {
  const DetectionTensor tensors[] = {
      {given.boxes}, {given.scores}, {given.anchors}};
  const auto module = ImportTflite(
      DetectionModel(tensors, {}, given.options, {}, given.results), "m");
  if (module.ok()) return "";
  const std::string message(module.status().message());
  EXPECT_FALSE(absl::StrContains(message, "\n")) << message;
  return message;
}

nlohmann::json Valid() {
  return {{"max_detections", 3},
          {"max_classes_per_detection", 1},
          {"num_classes", 2},
          {"nms_score_threshold", 0.1},
          {"nms_iou_threshold", 0.5},
          {"y_scale", 10.0},
          {"x_scale", 10.0},
          {"h_scale", 5.0},
          {"w_scale", 5.0}};
}

std::string WithOption(const char* name, const nlohmann::json& value) {
  nlohmann::json options = Valid();
  options[name] = value;
  return MessageOf({OptionsOf(options)});
}

TEST(Detections, NameTheOptionThatIsWrong) {
  EXPECT_EQ(MessageOf({OptionsOf(Valid())}), "");
  for (const auto& [name, value] : Valid().items()) {
    nlohmann::json options = Valid();
    options.erase(name);
    EXPECT_THAT(MessageOf({OptionsOf(options)}),
                EndsWith(": no option '" + name + "'"));
    options[name] = "text";
    const auto bytes = FlexbufferOf([&](flexbuffers::Builder& builder) {
      for (const auto& [key, number] : options.items()) {
        if (number.is_string()) {
          builder.String(key.c_str(), "text");
        } else {
          builder.Double(key.c_str(), number.get<double>());
        }
      }
    });
    EXPECT_THAT(MessageOf({bytes}), HasSubstr("option '"));
    const bool whole = value.is_number_integer();
    options[name] = true;
    EXPECT_THAT(MessageOf({OptionsOf(options)}),
                EndsWith(": option '" + name + "' is not " +
                         (whole ? "an integer" : "a number")));
  }
  EXPECT_THAT(WithOption("max_detections", 2.5),
              EndsWith("option 'max_detections' is not an integer"));
  EXPECT_THAT(WithOption("use_regular_nms", 0.5),
              EndsWith("option 'use_regular_nms' is not a truth value"));
  EXPECT_EQ(WithOption("use_regular_nms", 1), "");
  EXPECT_EQ(WithOption("y_scale", 7), "");
  EXPECT_EQ(WithOption("_output_quantized", true), "");
  for (const char* name :
       {"max_detections", "max_classes_per_detection", "num_classes"}) {
    for (const int64_t value : {int64_t{0}, int64_t{-1}, int64_t{1} << 40})
      EXPECT_THAT(WithOption(name, value),
                  EndsWith(absl::StrCat("option '", name, "' is ", value,
                                        ", not 1 to 1048576")));
  }
  EXPECT_THAT(WithOption("y_scale", 0.0),
              EndsWith("'y_scale' is 0, not a finite number other than 0"));
  EXPECT_THAT(WithOption("w_scale", INFINITY), HasSubstr("'w_scale' is inf"));
  EXPECT_THAT(WithOption("nms_score_threshold", NAN),
              HasSubstr("'nms_score_threshold' is nan"));
  for (const double value : {0.0, -0.5, 1.5, double{NAN}})
    EXPECT_THAT(WithOption("nms_iou_threshold", value),
                EndsWith(", not above 0 and at most 1"));
  nlohmann::json options = Valid();
  options["detections_per_class"] = 0;
  EXPECT_EQ(MessageOf({OptionsOf(options)}), "");
  options["use_regular_nms"] = true;
  EXPECT_THAT(MessageOf({OptionsOf(options)}),
              HasSubstr("'detections_per_class' is 0"));
  options = Valid();
  options["max_detections"] = options["max_classes_per_detection"] = 1 << 19;
  EXPECT_THAT(MessageOf({OptionsOf(options)}),
              HasSubstr("more than 1048576 detections: 524288 of 524288"));
}

TEST(Detections, NameTheOperandThatIsWrong) {
  const std::vector<uint8_t> valid = OptionsOf(Valid());
  EXPECT_EQ(MessageOf({valid, {1, 6, 4}, {1, 6, 2}}), "");
  const std::pair<Given, const char*> cases[] = {
      {{valid, {1, 6, 4}, {1, 6, 3}, {5, 4}},
       "anchors f32[5,4] for boxes f32[1,6,4]"},
      {{valid, {1, 6, 4}, {1, 6, 3}, {6, 5}}, "anchors f32[6,5] for boxes"},
      {{valid, {1, 6, 4}, {1, 6, 3}, {6}}, "anchors f32[6] for boxes"},
      {{valid, {1, 6, 3}}, "boxes f32[1,6,3], not f32[1,n,4]"},
      {{valid, {2, 6, 4}}, "boxes f32[2,6,4], not f32[1,n,4]"},
      {{valid, {6, 4}}, "boxes f32[6,4], not f32[1,n,4]"},
      {{valid, {1, 6, 4}, {1, 7, 3}}, "scores f32[1,7,3] for boxes"},
      {{valid, {1, 6, 4}, {2, 6, 3}}, "scores f32[2,6,3] for boxes"},
      {{valid, {1, 6, 4}, {1, 6, 4}},
       "scores f32[1,6,4] of 2 classes, with or without the background"},
      {{valid, {1, 6, 4}, {1, 6, 1}}, "scores f32[1,6,1] of 2 classes"},
      {{valid, {1, 6, 4}, {1, 6, 3}, {6, 4}, 3}, "3 results instead of 4"},
      {{{}}, "no options"}};
  for (const auto& [given, message] : cases)
    EXPECT_THAT(MessageOf(given), HasSubstr(message));
}

// Every beginning of the options, and options with changed bytes, give a
// message of one line or a module.
TEST(Detections, TakeNoOptionsForGranted) {
  const std::vector<uint8_t> valid = OptionsOf(Valid());
  for (size_t size = 0; size < valid.size(); ++size)
    EXPECT_NE(MessageOf({{valid.begin(), valid.begin() + size}}), "") << size;
  EXPECT_THAT(MessageOf({{1, 4, 1}}), EndsWith("the options are no map"));
  EXPECT_THAT(MessageOf({{valid.begin() + 8, valid.end()}}),
              EndsWith("the options are no valid flexbuffer"));
  std::mt19937_64 random(5);
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes = valid;
    for (size_t left = 1 + random() % 3; left > 0; --left)
      bytes[random() % bytes.size()] =
          static_cast<uint8_t>(random() % 3 == 0 ? random() % 16 : random());
    read += MessageOf({bytes}).empty();
  }
  EXPECT_GT(read, 100);
  EXPECT_LT(read, 19000);
}

// The value of a map, {"a": value}: an integer of one byte, or one of eight
// bytes that lies where the value lies and ends behind the buffer.
TEST(Detections, ReadNothingBehindTheOptions) {
  std::vector<uint8_t> bytes = {'a', 0, 1, 3, 1, 1, 1, 0, 0, 2, 9 << 2, 1};
  const size_t size = bytes.size();
  bytes.resize(size + 8);
  const auto read = [&](uint8_t type) {
    bytes[8] = type;
    return ReadFlexMap(absl::MakeSpan(bytes).first(size));
  };
  const auto inside = read(1 << 2);
  ASSERT_TRUE(inside.ok()) << inside.status();
  EXPECT_EQ(inside->at("a").kind, FlexValue::Kind::kInteger);
  EXPECT_TRUE(read(6 << 2).ok());
  EXPECT_TRUE(read(6 << 2 | 2).ok());
  EXPECT_FALSE(read(6 << 2 | 3).ok());
  bytes[7] = 1;
  EXPECT_TRUE(read(1 << 2).ok());
  bytes[1] = 'b';  // a key without an end
  EXPECT_FALSE(read(1 << 2).ok());
  bytes[1] = 0;
  bytes[2] = 2;  // keys for one value
  EXPECT_FALSE(read(1 << 2).ok());
}

}  // namespace
}  // namespace systole::import
