// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts a subgraph of a float model to a module of hlo/, or to a region of
// one.
#ifndef SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_GRAPH_H_
#define SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/files/refusals.h"
#include "host/import/float/float_importer.h"
#include "host/import/hlo/hlo_builder.h"
#include "host/import/tflite_tensors.h"

namespace systole::import {

using ir::ElementType;

constexpr ElementType kF32 = ElementType::kFloat32;
constexpr ElementType kI32 = ElementType::kInt32;
constexpr ElementType kI1 = ElementType::kBool;

// The product of the sizes, at most ir::kMaxElements + 1.
int64_t SizeOf(const Ints& shape);

// q stands for scale * (q - zero). There is one scale and zero point for the
// tensor, or one for each index of `axis`.
struct Affine {
  std::vector<float> scales;
  Ints zeros;
  int64_t axis = 0;

  bool per_channel() const { return scales.size() > 1; }
  bool operator==(const Affine& other) const {
    return scales == other.scales && zeros == other.zeros && axis == other.axis;
  }
};

// State that the graphs of all subgraphs share.
struct FloatContext {
  absl::Span<const uint8_t> file;
  const tflite::Model& model;
  const FloatOptions& options;
  int64_t operators = 0;  // so far, including regions
  std::vector<Refusal> refused = {};
};

class FloatGraph {
 public:
  // All arguments must outlive this. `depth`: the nesting of the region.
  FloatGraph(FloatContext& context, const tflite::SubGraph& subgraph,
             ir::Module& module, int depth = 0)
      : context_(context),
        tensors_(context.file, context.model, subgraph),
        nodes_(module, state_),
        depth_(depth),
        values_(tensors_.size()) {
    state_.folds_floats = false;
  }

  FloatContext& context() { return context_; }
  const TfliteTensors& tensors() const { return tensors_; }
  HloBuilder& nodes() { return nodes_; }
  int depth() const { return depth_; }

  // Adds the inputs as parameters, the operators and the outputs. For a region,
  // `parameters` are the types of the inputs. Operators that are not supported
  // are recorded in the context, and parameters replace their results.
  absl::Status Import(const std::vector<ir::Type>* parameters = nullptr);

  // The value of an input, of the result of an earlier operator, or of a
  // constant. A constant is added at its first use. A larger constant
  // whose elements are all equal becomes a scalar and a broadcast.
  absl::StatusOr<Value> ValueOf(int index);
  bool IsConstant(int index) const;
  // Sets the value of a tensor, which must not have one yet.
  absl::Status Define(int index, Value value);
  // Element type and shape in the file. Errors: Unimplemented for types that
  // the IR does not have.
  absl::StatusOr<ir::Type> TypeOf(int index) const;
  // Nothing for a tensor without a scale.
  absl::StatusOr<std::optional<Affine>> AffineOf(int index) const;
  // Whether the tensor's sizes may differ from those in the file: the file
  // leaves some open, or the caller has set other sizes of inputs.
  bool IsOpen(int index) const;

 private:
  absl::Status AddInputs(const std::vector<ir::Type>* parameters);
  absl::Status AddOperators();
  void StandIn(const tflite::Operator& op);
  absl::StatusOr<Value> ConstantOf(int index, const tflite::Tensor& tensor);

  FloatContext& context_;
  const TfliteTensors tensors_;
  BuildState state_;
  HloBuilder nodes_;
  const int depth_;
  std::vector<std::optional<Value>> values_;
};

// Adds the nodes of an operator. Messages do not name it.
absl::Status ImportFloatOperator(FloatGraph& graph, const tflite::Operator& op,
                                 tflite::BuiltinOperator code);

// The dense values of a sparse constant. Errors: InvalidArgument for invalid
// lists; Unimplemented for more than a thousand elements per stored byte.
absl::StatusOr<std::vector<uint8_t>> Densified(const tflite::Tensor& tensor,
                                               absl::Span<const uint8_t> stored,
                                               const Ints& shape,
                                               int64_t element_bytes);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_GRAPH_H_
