// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Makes ONNX models, and runs them on the host and in the golden model.
//
//   OnnxModel m;
//   m.Input("x", {2, 3});
//   m.Node("Softmax", {"x"}, {"y"}).Set("axis", 1);
//   std::vector<double> y = m.Output("y").Run({{...}});
#ifndef SYSTOLE_TESTS_ONNX_MODEL_H_
#define SYSTOLE_TESTS_ONNX_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "host/import/onnx/onnx_importer.h"
#include "host/ir/literal.h"
#include "onnx-ml.pb.h"

namespace systole::import {

using Doubles = std::vector<double>;
using Shape = std::vector<int64_t>;

// A node whose attributes are being set.
class NodeMaker {
 public:
  explicit NodeMaker(onnx::NodeProto* node) : node_(node) {}
  NodeMaker& Set(const std::string& name, int64_t value);
  NodeMaker& Set(const std::string& name, int value) {
    return Set(name, static_cast<int64_t>(value));
  }
  NodeMaker& Set(const std::string& name, float value);
  NodeMaker& Set(const std::string& name, const char* value);
  NodeMaker& Set(const std::string& name, const Shape& values);
  NodeMaker& Set(const std::string& name, const onnx::GraphProto& graph);
  onnx::NodeProto& proto() { return *node_; }

 private:
  onnx::AttributeProto* Add(const std::string& name,
                            onnx::AttributeProto::AttributeType type);

  onnx::NodeProto* node_;
};

class OnnxModel {
 public:
  static constexpr int kFloat = onnx::TensorProto::FLOAT;

  explicit OnnxModel(int opset = 21);

  OnnxModel& Input(const std::string& name, const Shape& shape,
                   int type = kFloat);
  OnnxModel& Output(const std::string& name, int type = 0);
  // An initializer.
  OnnxModel& Constant(const std::string& name, const Shape& shape,
                      const Doubles& values, int type = kFloat);
  OnnxModel& Integers(const std::string& name, const Doubles& values) {
    return Constant(name, {static_cast<int64_t>(values.size())}, values,
                    onnx::TensorProto::INT64);
  }
  NodeMaker Node(const std::string& op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs);

  // The values of an output; a failed import or a difference between host and
  // golden model fails the test.
  Doubles Run(const std::vector<Doubles>& inputs,
              const OnnxOptions& options = Exact(), size_t output = 0);
  Shape OutputShape(const OnnxOptions& options = Exact());
  // "" if the model is imported.
  std::string Error(const OnnxOptions& options = {});
  absl::StatusOr<OnnxProgram> Import(const OnnxOptions& options = {});

  // Products with six passes.
  static OnnxOptions Exact();

  onnx::ModelProto proto;
};

// Values in -1..1, always the same ones.
Doubles Sample(int64_t count, uint32_t seed = 1);
// Fails the test if a value is further off than `tolerance` of the largest.
void ExpectNear(const Doubles& got, const Doubles& wanted,
                double tolerance = 4e-6);

}  // namespace systole::import

#endif  // SYSTOLE_TESTS_ONNX_MODEL_H_
