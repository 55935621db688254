// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The module under construction: TensorFlow Lite's tensors, by index, as
// types, constants and nodes.
#ifndef SYSTOLE_HOST_IMPORT_TFLITE_GRAPH_H_
#define SYSTOLE_HOST_IMPORT_TFLITE_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "host/import/tflite_schema_generated.h"
#include "host/ir/module.h"

namespace systole::import {

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

class TfliteGraph {
 public:
  // `file` holds the model; all three outlive this.
  TfliteGraph(absl::Span<const uint8_t> file, const tflite::Model& model,
              const tflite::SubGraph& subgraph);

  ir::Module& module() { return *module_; }
  std::unique_ptr<ir::Module> TakeModule() { return std::move(module_); }

  // The tensor's type. Errors for indices, shapes, element types and
  // quantisations that are not allowed.
  enum class Kind { kValue, kVariable };
  absl::StatusOr<ir::Type> TypeOf(int index, Kind kind = Kind::kValue) const;
  // Scale and zero point of a tensor of any shape.
  absl::StatusOr<ir::Quantization> QuantizationAt(int index) const;
  // "i8[1,2]", or something readable for any tensor at all.
  std::string Describe(int index) const;
  // A new name for a node, after the tensor's.
  std::string TakeName(int index);

  // The node of an input, of an earlier operator's result or, made when first
  // asked for, of a constant.
  absl::StatusOr<ir::Node*> Value(int index);
  // The values of a constant int32 or int64 tensor, or of one that follows from
  // constants.
  absl::StatusOr<std::vector<int64_t>> Integers(int index) const;
  bool IsConstant(int index) const;
  // Whether the file leaves sizes of the tensor open: those it gives it need
  // not be right.
  bool IsOpen(int index) const;

  // Adds a node and verifies it.
  absl::StatusOr<ir::Node*> Add(ir::Node node);
  // Makes a node of plain int32 values that follow from constants a constant.
  absl::Status FoldIntegers(ir::Node& node) const;
  // Makes a node the value of a tensor, which must not have one.
  absl::Status Define(int index, ir::Node* node);

 private:
  absl::StatusOr<const tflite::Tensor*> TensorAt(int index) const;
  // The bytes of the tensor's buffer, empty for none.
  absl::StatusOr<absl::Span<const uint8_t>> Data(const tflite::Tensor&) const;
  // The same, as many as the tensor has.
  absl::StatusOr<absl::Span<const uint8_t>> ExactData(int index,
                                                      int64_t bytes) const;

  absl::Span<const uint8_t> file_;
  const tflite::Model& model_;
  const tflite::SubGraph& subgraph_;
  std::unique_ptr<ir::Module> module_ = std::make_unique<ir::Module>();
  std::vector<ir::Node*> values_;               // by tensor
  std::unordered_map<std::string, int> names_;  // how often each was asked for
};

class Importer;

// Gives the results of an operator whose sizes the file leaves open the shapes
// that follow from its operands.
void InferShapes(Importer& in, tflite::BuiltinOperator code);

// Adds the nodes of an operator. The message of an error does not name it.
absl::Status ImportOperator(TfliteGraph& graph, const tflite::Operator& op,
                            tflite::BuiltinOperator code);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_TFLITE_GRAPH_H_
