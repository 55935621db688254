// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Which function imports which operator.
#include "host/import/tflite_operator.h"

namespace systole::import {

using ir::Op;

absl::Status ImportOperator(TfliteGraph& graph, const tflite::Operator& op,
                            tflite::BuiltinOperator code) {
  const auto import = [&](auto function, auto... arguments) {
    Importer in(graph, op);
    if (in.ok()) function(in, arguments...);
    return in.status();
  };
  switch (code) {
    case tflite::BuiltinOperator_CONV_2D:
      return import(ImportConvolution);
    case tflite::BuiltinOperator_DEPTHWISE_CONV_2D:
      return import(ImportDepthwise);
    case tflite::BuiltinOperator_FULLY_CONNECTED:
      return import(ImportFullyConnected);
    case tflite::BuiltinOperator_ADD:
      return import(ImportBinary, Op::kAdd);
    case tflite::BuiltinOperator_SUB:
      return import(ImportBinary, Op::kSub);
    case tflite::BuiltinOperator_MUL:
      return import(ImportBinary, Op::kMul);
    case tflite::BuiltinOperator_AVERAGE_POOL_2D:
      return import(ImportPool, Op::kAveragePool);
    case tflite::BuiltinOperator_MAX_POOL_2D:
      return import(ImportPool, Op::kMaxPool);
    case tflite::BuiltinOperator_MEAN:
      return import(ImportMean);
    case tflite::BuiltinOperator_SOFTMAX:
      return import(ImportSoftmax);
    case tflite::BuiltinOperator_LOGISTIC:
      return import(ImportUnary, Op::kLogistic);
    case tflite::BuiltinOperator_TANH:
      return import(ImportUnary, Op::kTanh);
    case tflite::BuiltinOperator_HARD_SWISH:
      return import(ImportUnary, Op::kHardSwish);
    case tflite::BuiltinOperator_RELU:
      return import(ImportRelu, 0.0, INFINITY);
    case tflite::BuiltinOperator_RELU6:
      return import(ImportRelu, 0.0, 6.0);
    case tflite::BuiltinOperator_RELU_N1_TO_1:
      return import(ImportRelu, -1.0, 1.0);
    case tflite::BuiltinOperator_QUANTIZE:
      return import(ImportUnary, Op::kQuantize);
    case tflite::BuiltinOperator_DEQUANTIZE:
      return import(ImportUnary, Op::kDequantize);
    // The static shape of the result says all.
    case tflite::BuiltinOperator_RESHAPE:
    case tflite::BuiltinOperator_SQUEEZE:
    case tflite::BuiltinOperator_EXPAND_DIMS:
      return import(ImportUnary, Op::kReshape);
    case tflite::BuiltinOperator_PAD:
    case tflite::BuiltinOperator_PADV2:
      return import(ImportPad);
    case tflite::BuiltinOperator_CONCATENATION:
      return import(ImportConcatenation);
    case tflite::BuiltinOperator_TRANSPOSE:
      return import(ImportTranspose);
    case tflite::BuiltinOperator_STRIDED_SLICE:
      return import(ImportStridedSlice);
    case tflite::BuiltinOperator_SHAPE:
      return import(ImportShape);
    case tflite::BuiltinOperator_PACK:
      return import(ImportPack);
    case tflite::BuiltinOperator_RESIZE_NEAREST_NEIGHBOR:
      return import(ImportResize, Op::kResizeNearest);
    case tflite::BuiltinOperator_RESIZE_BILINEAR:
      return import(ImportResize, Op::kResizeBilinear);
    default:
      return absl::UnimplementedError("the operator is not supported");
  }
}

}  // namespace systole::import
