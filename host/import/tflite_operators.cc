// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The import function for each operator.
#include "host/import/tflite_operator.h"

namespace systole::import {

using ir::Op;

absl::Status ImportOperator(TfliteGraph& graph, const tflite::Operator& op,
                            tflite::BuiltinOperator code) {
  const auto import = [&](auto function, auto... arguments) {
    Importer in(graph, op);
    InferShapes(in, code);
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
    case tflite::BuiltinOperator_MAXIMUM:
      return import(ImportBinary, Op::kMaximum);
    case tflite::BuiltinOperator_MINIMUM:
      return import(ImportBinary, Op::kMinimum);
    case tflite::BuiltinOperator_SQUARED_DIFFERENCE:
      return import(ImportBinary, Op::kSquaredDifference);
    case tflite::BuiltinOperator_PRELU:
      return import(ImportBinary, Op::kPrelu);
    case tflite::BuiltinOperator_EQUAL:
      return import(ImportBinary, Op::kEqual);
    case tflite::BuiltinOperator_NOT_EQUAL:
      return import(ImportBinary, Op::kNotEqual);
    case tflite::BuiltinOperator_LESS:
      return import(ImportBinary, Op::kLess);
    case tflite::BuiltinOperator_LESS_EQUAL:
      return import(ImportBinary, Op::kLessEqual);
    // On truth values of 0 and 1, logic is minimum, maximum and so on.
    case tflite::BuiltinOperator_LOGICAL_AND:
      return import(ImportBinary, Op::kMinimum);
    case tflite::BuiltinOperator_LOGICAL_OR:
      return import(ImportBinary, Op::kMaximum);
    case tflite::BuiltinOperator_LOGICAL_NOT:
      return import(ImportNot);
    case tflite::BuiltinOperator_GREATER:
      return import(ImportSwapped, Op::kLess);
    case tflite::BuiltinOperator_GREATER_EQUAL:
      return import(ImportSwapped, Op::kLessEqual);
    case tflite::BuiltinOperator_SELECT:
    case tflite::BuiltinOperator_SELECT_V2:
      return import(ImportSelect);
    case tflite::BuiltinOperator_ABS:
      return import(ImportUnary, Op::kAbs);
    case tflite::BuiltinOperator_NEG:
      return import(ImportUnary, Op::kNeg);
    case tflite::BuiltinOperator_EXP:
      return import(ImportUnary, Op::kExp);
    case tflite::BuiltinOperator_LOG:
      return import(ImportUnary, Op::kLog);
    case tflite::BuiltinOperator_SQRT:
      return import(ImportUnary, Op::kSqrt);
    case tflite::BuiltinOperator_RSQRT:
      return import(ImportUnary, Op::kRsqrt);
    case tflite::BuiltinOperator_ELU:
      return import(ImportUnary, Op::kElu);
    case tflite::BuiltinOperator_SIN:
      return import(ImportUnary, Op::kSin);
    case tflite::BuiltinOperator_COS:
      return import(ImportUnary, Op::kCos);
    case tflite::BuiltinOperator_FLOOR:
      return import(ImportUnary, Op::kFloor);
    case tflite::BuiltinOperator_CEIL:
      return import(ImportUnary, Op::kCeil);
    case tflite::BuiltinOperator_ROUND:
      return import(ImportUnary, Op::kRound);
    case tflite::BuiltinOperator_LOG_SOFTMAX:
      return import(ImportUnary, Op::kLogSoftmax);
    case tflite::BuiltinOperator_GELU:
      return import(ImportGelu);
    case tflite::BuiltinOperator_LEAKY_RELU:
      return import(ImportLeakyRelu);
    case tflite::BuiltinOperator_L2_NORMALIZATION:
      return import(ImportL2Normalization);
    case tflite::BuiltinOperator_AVERAGE_POOL_2D:
      return import(ImportPool, Op::kAveragePool);
    case tflite::BuiltinOperator_MAX_POOL_2D:
      return import(ImportPool, Op::kMaxPool);
    case tflite::BuiltinOperator_MEAN:
      return import(ImportReduce, Op::kMean);
    case tflite::BuiltinOperator_SUM:
      return import(ImportReduce, Op::kSum);
    case tflite::BuiltinOperator_REDUCE_PROD:
      return import(ImportReduce, Op::kReduceProd);
    case tflite::BuiltinOperator_REDUCE_MAX:
      return import(ImportReduce, Op::kReduceMax);
    case tflite::BuiltinOperator_REDUCE_MIN:
      return import(ImportReduce, Op::kReduceMin);
    case tflite::BuiltinOperator_ARG_MAX:
      return import(ImportArgument, Op::kArgMax);
    case tflite::BuiltinOperator_ARG_MIN:
      return import(ImportArgument, Op::kArgMin);
    case tflite::BuiltinOperator_BATCH_MATMUL:
      return import(ImportBatchMatmul);
    case tflite::BuiltinOperator_CONV_3D:
      return import(ImportConvolution3D);
    case tflite::BuiltinOperator_DIV:
      return import(ImportDivision);
    case tflite::BuiltinOperator_POW:
      return import(ImportBinary, Op::kPow);
    case tflite::BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_LSTM:
      return import(ImportLstm);
    case tflite::BuiltinOperator_SVDF:
      return import(ImportSvdf);
    case tflite::BuiltinOperator_TRANSPOSE_CONV:
      return import(ImportTransposeConvolution);
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
    // The static shape of the result determines these.
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
    case tflite::BuiltinOperator_SLICE:
      return import(ImportSlice);
    case tflite::BuiltinOperator_SPLIT:
      return import(ImportSplit, 1, 0);
    case tflite::BuiltinOperator_SPLIT_V:
      return import(ImportSplit, 0, 2);
    case tflite::BuiltinOperator_UNPACK:
      return import(ImportUnpack);
    case tflite::BuiltinOperator_REVERSE_V2:
      return import(ImportReverse);
    case tflite::BuiltinOperator_TILE:
      return import(ImportTile);
    case tflite::BuiltinOperator_BROADCAST_TO:
      return import(ImportBroadcast, 0);
    case tflite::BuiltinOperator_FILL:
      return import(ImportBroadcast, 1);
    case tflite::BuiltinOperator_MIRROR_PAD:
      return import(ImportMirrorPad);
    case tflite::BuiltinOperator_GATHER:
      return import(ImportGather);
    case tflite::BuiltinOperator_EMBEDDING_LOOKUP:
      return import(ImportLookup);
    case tflite::BuiltinOperator_SPACE_TO_DEPTH:
      return import(ImportSpaceToDepth);
    case tflite::BuiltinOperator_DEPTH_TO_SPACE:
      return import(ImportDepthToSpace);
    case tflite::BuiltinOperator_SPACE_TO_BATCH_ND:
      return import(ImportSpaceToBatch);
    case tflite::BuiltinOperator_BATCH_TO_SPACE_ND:
      return import(ImportBatchToSpace);
    case tflite::BuiltinOperator_CAST:
      return import(ImportCast);
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
