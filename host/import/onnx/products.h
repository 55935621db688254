// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Matrix products, and the windows of convolutions and pools.
#ifndef SYSTOLE_HOST_IMPORT_ONNX_PRODUCTS_H_
#define SYSTOLE_HOST_IMPORT_ONNX_PRODUCTS_H_

#include <string>

#include "host/import/onnx/onnx_node.h"

namespace systole::import {

// Like NumPy's matmul: matrices in the last two dimensions, the other
// dimensions broadcast. A vector is a row on the left and a column on the
// right.
Value MatMul(HloBuilder& b, const Value& x, const Value& y);

// Einstein's sums, "ij,jk->ik".
Value Einsum(OnnxNode& n, const std::string& equation, Values operands);

// The windows of a node over spatial dimensions.
struct NodeWindows {
  Ints kernel, strides, dilations;
  Ints low, high;  // padding
  // The padding that ceil_mode adds at the end.
  Ints extra;
};
// Reads strides, dilations, pads and auto_pad. sizes: of the input; kernel: of
// the window. The result is empty after an error.
NodeWindows WindowsOf(OnnxNode& n, const Ints& sizes, const Ints& kernel);
// Number of elements that a window spans.
inline int64_t Span(int64_t kernel, int64_t dilation) {
  return (kernel - 1) * dilation + 1;
}

// The convolution of the operator Conv, without a bias.
Value Convolve(OnnxNode& n, const Value& x, const Value& kernel);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_PRODUCTS_H_
