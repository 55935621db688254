// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The import of one operator of a float model: its operands, options and
// results, and the families of operators.
#ifndef SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_OPERATOR_H_
#define SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_OPERATOR_H_

#include <optional>
#include <vector>

#include "host/import/float/float_graph.h"

namespace systole::import {

// An operand of a product: numbers that bf16 holds exactly if they come from
// integers of 8 bits, and what the products are to be multiplied by.
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
  // An operand of floats as f32; what a quantised operand stands for;
  // other integers and truth values as they are.
  Value Real(int i);
  Factor FactorOf(int i, int64_t channel_axis);
  // Constant integers, known at import.
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
  // Sorted, each once.
  Ints Axes(const Ints& axes, int64_t rank);

  // The limits of a fused activation.
  Value Activated(Value value, tflite::Activation activation);
  // Makes a value that Real operands became a result: with the activation, and
  // rounded if the result is quantised.
  void Set(Value value, tflite::Activation activation = tflite::Activation_NONE,
           int output = 0);
  // The same for a value that was only moved from operand `from`.
  void SetMoved(Value value, int from = 0, int output = 0);

  ir::Precision precision() const { return graph_.context().options.precision; }

 private:
  std::optional<Affine> Quantised(int index);
  Value Dequantised(Value value, const Affine& affine);
  Value Requantised(Value value, const Affine& affine, ElementType element);
  void Finish(Value value, int output);

  FloatGraph& graph_;
  const tflite::Operator& op_;
};

// Spatial sizes of windows, in the order of the dimensions.
struct Windows {
  Ints kernel, stride, dilation;
  tflite::Padding padding = tflite::Padding_VALID;

  // Low and high padding of inputs of these sizes (TensorFlow's SAME).
  void Pads(const Ints& sizes, Ints& low, Ints& high) const;
};
// Fails unless all sizes are at least 1 and moderate.
bool CheckWindows(FloatOperator& in, const Windows& windows);

using FloatImport = void (*)(FloatOperator& in);
struct FloatRule {
  tflite::BuiltinOperator code;
  FloatImport import;
};
using FloatRules = std::vector<FloatRule>;

// The operators of all lists.
std::vector<tflite::BuiltinOperator> FloatOperators();

// One list for each family.
FloatRules ProductRules();      // convolutions, dense layers
FloatRules ElementwiseRules();  // arithmetic, comparisons, conversions
FloatRules FunctionRules();     // activations and functions of one operand
FloatRules ReductionRules();    // reductions, softmax, pools
FloatRules ShapeRules();        // moves given by shapes and axes
FloatRules MoveRules();         // moves of blocks, gathers, constants
FloatRules ResizeRules();
FloatRules ControlRules();    // IF and WHILE
FloatRules RecurrentRules();  // LSTM

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_OPERATOR_H_
