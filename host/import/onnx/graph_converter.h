// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts the nodes of an ONNX graph, subgraph or function, in order.
#ifndef SYSTOLE_HOST_IMPORT_ONNX_GRAPH_CONVERTER_H_
#define SYSTOLE_HOST_IMPORT_ONNX_GRAPH_CONVERTER_H_

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "host/import/hlo/hlo_builder.h"
#include "host/import/onnx/onnx_node.h"
#include "host/import/onnx/tensors.h"
#include "onnx-ml.pb.h"

namespace systole::import {

using Opsets = std::map<std::string, int64_t>;  // by domain

// State that all converters of an import share.
struct OnnxContext {
  // Local functions by domain and name.
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*>
      functions;
  TensorReader tensors;
  // What prevents the import: "Foo '/a/b': not supported". Obstacles in which
  // the model is wrong, not only unsupported, are counted.
  std::vector<std::string> obstacles;
  std::unordered_map<std::string, int> more = {};  // count by reason
  int wrong = 0;
  int depth = 0;  // nesting of functions and subgraphs
};

// The domain; "" for the default domain, which has two names.
std::string DomainOf(const std::string& domain);
Opsets OpsetsOf(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& list);

class GraphConverter {
 public:
  // outer: the converter of the graph around a subgraph. The subgraph may read
  // its names.
  GraphConverter(OnnxContext& context, HloBuilder& b, const Opsets& opsets,
                 GraphConverter* outer = nullptr)
      : context_(context), b_(b), opsets_(opsets), outer_(outer) {}

  // An error is a violation of the graph's rules on names. It stops the import.
  absl::Status AddInitializers(const onnx::GraphProto& graph);
  void Define(const std::string& name, const Value& value);
  // Defines a name without a value; the reason was reported as an obstacle.
  void DefineMissing(const std::string& name) { slots_[name] = {}; }
  // For a function: the arguments to which attributes of its nodes refer.
  void SetArguments(std::map<std::string, OnnxAttribute> arguments) {
    arguments_ = std::move(arguments);
  }
  absl::Status Convert(
      const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);
  // The value of a name. Errors: kCancelled if its obstacle was reported
  // already.
  absl::StatusOr<Value> Find(const std::string& name);
  // Converts a subgraph. Its obstacles are added to those of the import.
  Values ConvertSubgraph(const onnx::GraphProto& graph, HloBuilder& b,
                         const Values& inputs);

 private:
  struct Slot {
    std::optional<Value> value;  // none: the obstacle was reported
    const onnx::TensorProto* initializer = nullptr;  // not read yet
  };

  void Obstacle(const onnx::NodeProto& node, const absl::Status& why);
  absl::Status ConvertNode(const onnx::NodeProto& node);
  absl::StatusOr<Values> ConvertFunction(const onnx::FunctionProto& function,
                                         const OnnxNode& node);
  absl::StatusOr<std::map<std::string, OnnxAttribute>> AttributesOf(
      const onnx::NodeProto& node);
  absl::StatusOr<OnnxAttribute> Attribute(const onnx::AttributeProto& from);

  OnnxContext& context_;
  HloBuilder& b_;
  const Opsets& opsets_;
  GraphConverter* outer_;
  std::map<std::string, OnnxAttribute> arguments_;
  std::unordered_map<std::string, Slot> slots_;
  std::unordered_set<std::string> later_;     // outputs of later nodes
  std::unordered_set<std::string> left_out_;  // omitted inputs of a function
};

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_GRAPH_CONVERTER_H_
