// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The module under construction. It maps each tensor of the file, by index, to
// a type, a constant or a node.
#ifndef SYSTOLE_HOST_IMPORT_TFLITE_GRAPH_H_
#define SYSTOLE_HOST_IMPORT_TFLITE_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/import/tflite_schema_generated.h"
#include "host/import/tflite_tensors.h"
#include "host/ir/module.h"

namespace systole::import {

class TfliteGraph {
 public:
  // `file` holds the model. All three arguments must outlive this.
  TfliteGraph(absl::Span<const uint8_t> file, const tflite::Model& model,
              const tflite::SubGraph& subgraph);

  ir::Module& module() { return *module_; }
  std::unique_ptr<ir::Module> TakeModule() { return std::move(module_); }

  // The tensor's type. Fails for invalid indices, shapes, element types and
  // quantisations.
  enum class Kind { kValue, kVariable };
  absl::StatusOr<ir::Type> TypeOf(int index, Kind kind = Kind::kValue) const;
  // The element type in the file, if the graph uses another one; otherwise "".
  std::string StoredType(int index) const;
  // The number of images: the first dimension, if all inputs share it;
  // otherwise 1.
  int64_t Images() const;
  // Scale and zero point of a tensor of any shape.
  absl::StatusOr<ir::Quantization> QuantizationAt(int index) const;
  const TfliteTensors& tensors() const { return tensors_; }
  // A new name for a node, derived from the tensor's.
  std::string TakeName(int index);

  // The node of an input, of the result of an earlier operator, or of a
  // constant. A constant is created at its first use.
  absl::StatusOr<ir::Node*> Value(int index);
  // The values of an int32 or int64 tensor that is constant or depends only on
  // constants.
  absl::StatusOr<std::vector<int64_t>> Integers(int index) const;
  bool IsConstant(int index) const;
  // Whether the file leaves sizes of the tensor open. The sizes that it has may
  // then be wrong.
  bool IsOpen(int index) const;

  // A state that an operator keeps between runs, in tensor `index`. It is an
  // input of the module with an initial value, and an output of the same name
  // that FinishStates adds. Unimplemented in a region.
  absl::StatusOr<ir::Node*> AddState(int index, ir::Type type,
                                     ir::Literal first);
  void SetState(const ir::Node* state, ir::Node* next);
  void FinishStates();
  void MakeRegion() { region_ = true; }

  // Adds a node and verifies it.
  absl::StatusOr<ir::Node*> Add(ir::Node node);
  // Replaces a node of plain int32 values that depends only on constants by a
  // constant.
  absl::Status FoldIntegers(ir::Node& node) const;
  // Sets the value of a tensor, which must not have one yet.
  absl::Status Define(int index, ir::Node* node);

 private:
  absl::StatusOr<const tflite::Tensor*> TensorAt(int index) const {
    return tensors_.At(index);
  }
  std::string Describe(int index) const { return tensors_.Describe(index); }

  const TfliteTensors tensors_;
  std::unique_ptr<ir::Module> module_ = std::make_unique<ir::Module>();
  std::vector<ir::Node*> values_;  // indexed by tensor
  std::vector<std::pair<const ir::Node*, ir::Node*>> states_;  // before, after
  bool region_ = false;
  std::unordered_map<std::string, int> names_;  // uses of each name
};

class Importer;

// Infers open result shapes of an operator from its operands.
void InferShapes(Importer& in, tflite::BuiltinOperator code);

// Adds the nodes of an operator. Error messages do not name the operator.
absl::Status ImportOperator(TfliteGraph& graph, const tflite::Operator& op,
                            tflite::BuiltinOperator code);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_TFLITE_GRAPH_H_
