// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/onnx/model.h"

#include <random>

namespace systole::import {

using onnx::AttributeProto;

AttributeProto* NodeMaker::Add(const std::string& name,
                               AttributeProto::AttributeType type) {
  AttributeProto* a = node_->add_attribute();
  a->set_name(name);
  a->set_type(type);
  return a;
}
NodeMaker& NodeMaker::Set(const std::string& name, int64_t value) {
  Add(name, AttributeProto::INT)->set_i(value);
  return *this;
}
NodeMaker& NodeMaker::Set(const std::string& name, float value) {
  Add(name, AttributeProto::FLOAT)->set_f(value);
  return *this;
}
NodeMaker& NodeMaker::Set(const std::string& name, const char* value) {
  Add(name, AttributeProto::STRING)->set_s(value);
  return *this;
}
NodeMaker& NodeMaker::Set(const std::string& name, const Shape& values) {
  AttributeProto* a = Add(name, AttributeProto::INTS);
  for (const int64_t value : values) a->add_ints(value);
  return *this;
}
NodeMaker& NodeMaker::Set(const std::string& name,
                          const onnx::GraphProto& graph) {
  *Add(name, AttributeProto::GRAPH)->mutable_g() = graph;
  return *this;
}

OnnxModel::OnnxModel(int opset) {
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(opset);
  proto.mutable_graph()->set_name("test");
}

OnnxModel& OnnxModel::Input(const std::string& name, const Shape& shape,
                            int type) {
  onnx::ValueInfoProto* info = proto.mutable_graph()->add_input();
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const int64_t size : shape)
    tensor->mutable_shape()->add_dim()->set_dim_value(size);
  return *this;
}

OnnxModel& OnnxModel::Output(const std::string& name, int type) {
  onnx::ValueInfoProto* info = proto.mutable_graph()->add_output();
  info->set_name(name);
  if (type != 0)
    info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  return *this;
}

OnnxModel& OnnxModel::Constant(const std::string& name, const Shape& shape,
                               const Doubles& values, int type) {
  onnx::TensorProto* tensor = proto.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const int64_t size : shape) tensor->add_dims(size);
  for (const double value : values) {
    if (type == onnx::TensorProto::FLOAT) {
      tensor->add_float_data(static_cast<float>(value));
    } else if (type == onnx::TensorProto::INT64) {
      tensor->add_int64_data(static_cast<int64_t>(value));
    } else {
      tensor->add_int32_data(static_cast<int32_t>(value));
    }
  }
  return *this;
}

NodeMaker OnnxModel::Node(const std::string& op,
                          const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs) {
  onnx::NodeProto* node = proto.mutable_graph()->add_node();
  node->set_op_type(op);
  for (const std::string& name : inputs) node->add_input(name);
  for (const std::string& name : outputs) node->add_output(name);
  return NodeMaker(node);
}

OnnxOptions OnnxModel::Exact() {
  OnnxOptions options;
  options.precision = ir::Precision::kHighest;
  return options;
}

absl::StatusOr<OnnxProgram> OnnxModel::Import(const OnnxOptions& options) {
  return ImportOnnx(proto.SerializeAsString(), options);
}

std::string OnnxModel::Error(const OnnxOptions& options) {
  const auto program = Import(options);
  return program.ok() ? "" : std::string(program.status().message());
}

Doubles Sample(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Doubles values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(random() / 2147483648.0 - 1));
  return values;
}

}  // namespace systole::import
