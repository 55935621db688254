// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators without an operation in quant/ become operations of hlo/, which the
// host computes. Casts convert between the two: hlo/ has values as the file
// stores them, quant/ has numbers with a scale. The regions of IF and WHILE
// take and return values as the file stores them.
#ifndef SYSTOLE_HOST_IMPORT_TFLITE_HOST_H_
#define SYSTOLE_HOST_IMPORT_TFLITE_HOST_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/files/refusals.h"
#include "host/import/float/float_graph.h"
#include "host/import/tflite_graph.h"

namespace systole::import {

// State that the graphs of all subgraphs share.
struct TfliteContext {
  TfliteContext(absl::Span<const uint8_t> file, const tflite::Model& model)
      : file(file), model(model) {}

  const absl::Span<const uint8_t> file;
  const tflite::Model& model;
  const FloatOptions options = {};
  FloatContext floats{file, model, options};
  std::vector<Refusal> refused;
};

class HostOperators {
 public:
  // All arguments must outlive this. `depth`: the nesting of the region.
  HostOperators(TfliteGraph& graph, TfliteContext& context, int depth = 0)
      : graph_(graph),
        context_(context),
        depth_(depth),
        floats_(context.floats, graph.tensors().subgraph(), graph.module(),
                depth) {}

  // Whether the operator is one of these.
  bool Takes(const tflite::Operator& op, tflite::BuiltinOperator code) const;
  // Adds the nodes of one of these operators.
  absl::Status Import(const tflite::Operator& op, tflite::BuiltinOperator code);

  // The value of a tensor as the file stores it, as plain numbers.
  absl::StatusOr<ir::Value> Plain(int index);
  // Defines a tensor by such a value.
  absl::Status DefinePlain(int index, ir::Value value);

 private:
  bool IsWide(const tflite::Operator& op, tflite::BuiltinOperator code) const;
  absl::Status Control(const tflite::Operator& op, bool loop);
  absl::StatusOr<ir::Node*> Add(int index, ir::Op op, ir::Type type,
                                std::vector<ir::Value> operands);
  absl::StatusOr<ir::Node*> Shifted(int index, ir::Node* value, int32_t by);
  absl::StatusOr<ir::Node*> Cast(int index, ir::Value value, ir::Type type);

  TfliteGraph& graph_;
  TfliteContext& context_;
  const int depth_;
  FloatGraph floats_;
  std::set<int> passed_;  // tensors that are defined in `floats_`
};

// Imports the subgraph as a region. Its parameters have these types and hold
// values as the file stores them. Unsupported operators are listed in the
// context.
absl::StatusOr<std::shared_ptr<const ir::Module>> ImportRegion(
    TfliteContext& context, int subgraph, const std::vector<ir::Type>& types,
    int depth);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_TFLITE_HOST_H_
