// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Models of one TFLite_Detection_PostProcess.
#ifndef SYSTOLE_TESTS_IMPORT_DETECTIONS_H_
#define SYSTOLE_TESTS_IMPORT_DETECTIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "flatbuffers/flexbuffers.h"
#include "nlohmann/json.hpp"
#include "tests/import/model_builder.h"

namespace systole::import {

// Boxes, scores or anchors.
struct DetectionTensor {
  std::vector<int32_t> shape;
  tflite::TensorType type = tflite::TensorType_FLOAT32;
  std::vector<float> scales = {};
  std::vector<int64_t> zeros = {};
};

inline std::vector<uint8_t> FlexbufferOf(
    const std::function<void(flexbuffers::Builder&)>& add) {
  flexbuffers::Builder builder;
  builder.Map([&] { add(builder); });
  builder.Finish();
  return builder.GetBuffer();
}

inline std::vector<uint8_t> OptionsOf(const nlohmann::json& options) {
  return FlexbufferOf([&](flexbuffers::Builder& builder) {
    for (const auto& [name, value] : options.items()) {
      if (value.is_boolean()) {
        builder.Bool(name.c_str(), value.get<bool>());
      } else if (value.is_number_integer()) {
        builder.Int(name.c_str(), value.get<int64_t>());
      } else {
        builder.Float(name.c_str(), value.get<float>());
      }
    }
  });
}

// With boxes and scores as inputs. Anchors without values are the third input.
inline std::string DetectionModel(const DetectionTensor (&operands)[3],
                                  const std::vector<uint8_t>& anchors,
                                  const std::vector<uint8_t>& options,
                                  const std::vector<int32_t>& boxes = {},
                                  int results = 4) {
  ModelBuilder b;
  std::vector<int> tensors, made;
  for (int i = 0; i < 3; ++i) {
    const DetectionTensor& t = operands[i];
    const bool constant = i == 2 && !anchors.empty();
    tensors.push_back(b.Tensor(t.shape, t.type, t.scales, t.zeros,
                               constant ? b.Buffer(anchors) : 0));
  }
  for (int i = 0; i < results; ++i)
    made.push_back(b.Tensor(i == 0 ? boxes : std::vector<int32_t>{},
                            tflite::TensorType_FLOAT32, {}, {}));
  b.Operator(tflite::BuiltinOperator_CUSTOM, tensors, made,
             tflite::Options_NONE, 0, "TFLite_Detection_PostProcess",
             options.empty() ? nullptr : &options);
  if (!anchors.empty()) tensors.pop_back();
  return b.Model(tensors, made);
}

}  // namespace systole::import

#endif  // SYSTOLE_TESTS_IMPORT_DETECTIONS_H_
