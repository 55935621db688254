// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The import of one operator of a float model: its operands, options and
// results. Each family of operators has a list.
#ifndef SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_OPERATOR_H_
#define SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_OPERATOR_H_

#include <optional>
#include <vector>

#include "host/import/float/float_graph.h"

namespace systole::import {

// An operand of a product: numbers, and the scales by which the products are
// multiplied. Numbers from 8-bit integers are exact in bf16.
struct Factor {
  Value value;                // f32
  std::vector<float> scales;  // none, one, or one for each result channel
  bool exact = false;         // bf16 holds the numbers
};

// After an error its methods return scalars and add nothing.
class FloatOperator {
 public:
  FloatOperator(FloatGraph& graph, const tflite::Operator& op)
      : graph_(graph), op_(op) {}

  const tflite::Operator& op() const { return op_; }
  FloatGraph& graph() { return graph_; }
  HloBuilder& nodes() { return graph_.nodes(); }
  int inputs() const { return op_.inputs() ? op_.inputs()->size() : 0; }
  int outputs() const { return op_.outputs() ? op_.outputs()->size() : 0; }
  bool ok() { return nodes().ok(); }
  void Fail(const absl::Status& status) { nodes().Fail(status); }
  // Fails with InvalidArgument unless `condition`.
  template <typename... Parts>
  bool Require(bool condition, const Parts&... parts) {
    if (!condition) Fail(Invalid(parts...));
    return ok();
  }

  // The tensor of an operand, -1 if it is omitted.
  int Index(int i) const {
    return 0 <= i && i < inputs() ? op_.inputs()->Get(i) : -1;
  }
  bool Has(int i) const { return Index(i) != -1; }
  int Output(int i = 0) const { return op_.outputs()->Get(i); }

  // An operand as it is stored.
  Value Raw(int i);
  // An operand as f32, if it holds floats or quantised values (dequantised).
  // Other integers and truth values stay as they are.
  Value Real(int i);
  Factor FactorOf(int i, int64_t channel_axis);
  // The values of integers that are constant at import.
  Ints Integers(int i);
  std::optional<Affine> AffineOf(int i) { return Quantised(Index(i)); }
  std::optional<Affine> ResultAffine(int i = 0) { return Quantised(Output(i)); }
  ir::Type ResultType(int i = 0);
  // The operator's options, which must exist.
  template <typename Options>
  const Options* Read(const Options* options) {
    if (options == nullptr) Fail(Invalid("no options, or of another operator"));
    return options;
  }
  // A dimension; negative ones count from the end.
  int64_t Axis(int64_t axis, int64_t rank);
  // Sorted, without duplicates.
  Ints Axes(const Ints& axes, int64_t rank);

  // Applies the limits of a fused activation.
  Value Activated(Value value, tflite::Activation activation);
  // Makes `value` the result: applies the activation and, if the result is
  // quantised, rounds. The value must come from Real operands.
  void Set(Value value, tflite::Activation activation = tflite::Activation_NONE,
           int output = 0);
  // The same for a value that was only moved from operand `from`, so it needs
  // no rounding.
  void SetMoved(Value value, int from = 0, int output = 0);
  // The same for a value as the file would store it.
  void SetStored(Value value, int output = 0);

  ir::Precision precision() const { return graph_.context().options.precision; }

 private:
  std::optional<Affine> Quantised(int index);
  Value Dequantised(Value value, const Affine& affine);
  Value Requantised(Value value, const Affine& affine, ElementType element);

  FloatGraph& graph_;
  const tflite::Operator& op_;
};

// Spatial sizes of windows, in the order of the dimensions.
struct Windows {
  Ints kernel, stride, dilation;
  tflite::Padding padding = tflite::Padding_VALID;

  // Low and high padding of inputs of these sizes (TensorFlow's SAME).
  void Pads(const Ints& sizes, Ints& low, Ints& high) const;
  // Of a convolution without padding: batch first, features last.
  ir::HloConvolutionAttributes Attributes() const;
  // Changes the attributes of a convolution to those of a transposed one, from
  // inputs of sizes `from` to results of sizes `to`: the gradient of a
  // convolution, computed as a convolution with reversed windows over the
  // input, which is dilated by the strides.
  void Transpose(const Ints& from, const Ints& to,
                 ir::HloConvolutionAttributes& a) const;
  // Of a pool: windows over inputs [n, sizes..., c].
  ir::HloWindowAttributes PoolAttributes(const Ints& sizes) const;
};
// Fails unless all sizes are at least 1 and below a limit.
bool CheckWindows(FloatOperator& in, const Windows& windows);

using FloatImport = void (*)(FloatOperator& in);
struct FloatRule {
  tflite::BuiltinOperator code;
  FloatImport import;
};
using FloatRules = std::vector<FloatRule>;

// All operators of all lists.
std::vector<tflite::BuiltinOperator> FloatOperators();

// One list per family.
FloatRules ProductRules();      // convolutions, dense layers
FloatRules ElementwiseRules();  // arithmetic, comparisons, conversions
FloatRules FunctionRules();     // activations and functions of one operand
FloatRules ReductionRules();    // reductions, softmax, pools
FloatRules ShapeRules();        // moves given by shapes and axes
FloatRules MoveRules();         // moves of blocks, gathers, constants
FloatRules ResizeRules();
FloatRules ControlRules();    // IF and WHILE
FloatRules RecurrentRules();  // LSTM
FloatRules CustomRules();     // TFLite_Detection_PostProcess

// Whether the operator is the custom one TFLite_Detection_PostProcess.
bool IsDetections(const tflite::Model& model, const tflite::Operator& op);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_OPERATOR_H_
