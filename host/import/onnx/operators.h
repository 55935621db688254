// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operators of ONNX, and how each is converted to operations of hlo/.
#ifndef SYSTOLE_HOST_IMPORT_ONNX_OPERATORS_H_
#define SYSTOLE_HOST_IMPORT_ONNX_OPERATORS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "host/import/onnx/onnx_node.h"

namespace systole::import {

struct OnnxOperator {
  const char* name;
  int least_inputs, most_inputs;
  // Returns at least the outputs that the node uses.
  Values (*convert)(OnnxNode& n);
};

constexpr int kAnyNumber = 1 << 20;

// An operator of the domain ai.onnx; null if it is not supported.
const OnnxOperator* FindOnnxOperator(absl::string_view name);
// All supported operators, sorted by name.
std::vector<const OnnxOperator*> AllOnnxOperators();

using OnnxOperators = std::vector<OnnxOperator>;

// One list per family; each family has its own file.
OnnxOperators ElementwiseOperators();
OnnxOperators FunctionOperators();  // activations and other functions
OnnxOperators IntegerOperators();   // logic, bits, comparisons
OnnxOperators ShapeOperators();     // Shape, Constant, Range and so on
OnnxOperators MoveOperators();      // Reshape, Concat, Slice, Pad and so on
OnnxOperators IndexOperators();     // Gather, Scatter, OneHot and so on
OnnxOperators ReductionOperators();
OnnxOperators SortOperators();  // TopK, ArgMax, CumSum
OnnxOperators NormalizationOperators();
OnnxOperators ProductOperators();  // MatMul, Gemm, Einsum
OnnxOperators ConvolutionOperators();
OnnxOperators PoolOperators();
OnnxOperators ResizeOperators();
OnnxOperators RecurrentOperators();
OnnxOperators ControlOperators();  // If, Loop, Scan
OnnxOperators QuantizedOperators();
OnnxOperators AttentionOperators();
OnnxOperators LossOperators();
OnnxOperators SampleOperators();  // GridSample
OnnxOperators SignalOperators();  // Fourier transforms, windows

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_OPERATORS_H_
