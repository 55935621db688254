// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products of matrices and what windows of convolutions and pools have.
#ifndef SYSTOLE_HOST_IMPORT_ONNX_PRODUCTS_H_
#define SYSTOLE_HOST_IMPORT_ONNX_PRODUCTS_H_

#include <string>

#include "host/import/onnx/onnx_node.h"

namespace systole::import {

// As NumPy's matmul: matrices in the last two dimensions, the others stretched;
// of one dimension a row on the left, a column on the right.
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
// Reads strides, dilations, pads and auto_pad; kernel: sizes. Empty after an
// error.
NodeWindows WindowsOf(OnnxNode& n, const Ints& sizes, const Ints& kernel);
// Number of places that a window spans.
inline int64_t Span(int64_t kernel, int64_t dilation) {
  return (kernel - 1) * dilation + 1;
}

// The convolution of the operator Conv, without a bias.
Value Convolve(OnnxNode& n, const Value& x, const Value& kernel);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_PRODUCTS_H_
