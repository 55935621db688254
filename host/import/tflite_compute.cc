// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators that compute, except convolutions.
#include "host/import/tflite_operator.h"

namespace systole::import {

using ir::Ints;
using ir::Op;

void ImportPool(Importer& in, Op op) {
  const auto* options = in.op().options_as_Pool2DOptions();
  if (in.Read(options) == nullptr) return;
  ir::Node* input = in.Value(0);
  ir::PoolAttributes a;
  a.uint8 = op == Op::kAveragePool && in.IsUint8(0);
  a.kernel = {options->filter_height(), options->filter_width()};
  a.stride = {options->stride_h(), options->stride_w()};
  a.clamp = in.Clamp(options->activation());
  if (!in.ok()) return;
  a.padding = PaddingOf(in, input->type, options->padding(), a.kernel, a.stride,
                        {1, 1});
  in.Emit(op, {input}, a);
}

void ImportFullyConnected(Importer& in) {
  const auto* options = in.op().options_as_FullyConnectedOptions();
  if (in.Read(options) == nullptr) return;
  if (options->weights_format() != 0) {
    in.Fail(Unsupported("weights in another format than rows"));
  }
  const Ints clamp = in.Clamp(options->activation());
  const std::vector<ir::Value> operands = WeightedOperands(in);
  in.Emit(Op::kFullyConnected, operands, ir::DenseAttributes{clamp});
}

void ImportBinary(Importer& in, Op op) {
  // An operator without options has no activation.
  tflite::Activation activation = tflite::Activation_NONE;
  if (const auto* add = in.op().options_as_AddOptions()) {
    activation = add->activation();
  } else if (const auto* sub = in.op().options_as_SubOptions()) {
    activation = sub->activation();
  } else if (const auto* mul = in.op().options_as_MulOptions()) {
    activation = mul->activation();
  }
  const Ints clamp = in.Clamp(activation);
  ir::Node* a = in.Value(0);
  ir::Attributes attributes = ir::InfoOf(op).defaults;
  if (auto* limits = attributes.If<ir::ClampAttributes>()) {
    limits->clamp = clamp;
  }
  in.Emit(op, {a, in.Value(1)}, attributes);
}

// a > b is imported as b < a.
void ImportSwapped(Importer& in, Op op) {
  ir::Node* a = in.Value(0);
  in.Emit(op, {in.Value(1), a}, ir::NoAttributes{});
}

void ImportNot(Importer& in) {
  ir::Node* input = in.Value(0);
  if (!in.ok()) return;
  const ir::Type scalar{ir::ElementType::kInt8, {}, input->type.quantization};
  ir::Node* zero = in.Constant(scalar, ir::Literal(std::vector<int8_t>{0}));
  in.Emit(Op::kEqual, {input, zero}, ir::NoAttributes{});
}

// A condition of rank 1 may select whole rows.
void ImportSelect(Importer& in) {
  ir::Node* condition = in.Value(0);
  ir::Node* chosen = in.Value(1);
  ir::Node* other = in.Value(2);
  if (!in.ok()) return;
  const Ints& shape = in.type().shape;
  if (condition->type.rank() == 1 && shape.size() > 1 &&
      chosen->type.shape == shape && condition->type.shape[0] == shape[0]) {
    ir::Type rows = condition->type;
    rows.shape.resize(shape.size(), 1);
    condition = in.Emit(Op::kReshape, rows, {condition}, ir::NoAttributes{});
  }
  in.Emit(Op::kSelect, {condition, chosen, other}, ir::NoAttributes{});
}

// Imports a product with a constant matrix as a 1 x 1 convolution with the
// factor of uint8. Returns false for any other product.
bool MultiplyRows(Importer& in, ir::Node* left, ir::Node* right,
                  bool transpose_left, bool transpose_right) {
  const Ints shape = left->type.shape;
  const Ints& of_right = right->type.shape;
  if (transpose_left || !right->is_constant() || shape.size() < 2 ||
      of_right.size() < 2 || !in.type().quantization ||
      right->type.element != ir::ElementType::kInt8)
    return false;
  const int64_t rows = of_right[of_right.size() - 2], columns = of_right.back();
  const int64_t depth = transpose_right ? columns : rows,
                outputs = transpose_right ? rows : columns;
  if (right->type.elements() != depth * outputs || shape.back() != depth)
    return false;
  const std::vector<int8_t>& from = right->literal().values<int8_t>();
  std::vector<int8_t> weights(from.size());
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t i = 0; i < depth; ++i)
      weights[o * depth + i] =
          transpose_right ? from[o * depth + i] : from[i * outputs + o];
  }
  ir::Type type = right->type;
  type.shape = {outputs, 1, 1, depth};
  const int64_t height =
      left->type.elements() / depth / shape[shape.size() - 2];
  ir::Type image = left->type, result = in.type();
  image.shape = {1, height, shape[shape.size() - 2], depth};
  result.shape = image.shape;
  result.shape[3] = outputs;
  if (shape != image.shape)
    left = in.Emit(Op::kReshape, image, {left}, ir::NoAttributes{});
  ir::ConvAttributes a;
  a.uint8 = true;
  ir::Node* const matrix = in.Constant(type, ir::Literal(std::move(weights)));
  ir::Node* const rows_of = in.Emit(Op::kConv2D, result, {left, matrix}, a);
  in.Emit(Op::kReshape, {rows_of}, ir::NoAttributes{});
  return true;
}

void ImportBatchMatmul(Importer& in) {
  const auto* options = in.op().options_as_BatchMatMulOptions();
  if (in.Read(options) == nullptr) return;
  ir::Node* left = in.Value(0);
  ir::Node* right = in.Value(1);
  if (!in.ok()) return;
  if (MultiplyRows(in, left, right, options->adj_x(), options->adj_y())) return;
  in.Emit(Op::kBatchMatmul, {left, right},
          ir::MatmulAttributes{options->adj_x(), options->adj_y()});
}

void ImportArgument(Importer& in, Op op) {
  ir::Node* input = in.Value(0);
  const std::vector<int64_t> axis = in.Integers(1);
  if (!in.ok()) return;
  if (axis.size() != 1) {
    in.Fail(Invalid(axis.size(), " axes"));
    return;
  }
  in.Emit(op, {input},
          ir::AxisAttributes{AxisOf(in, axis[0], input->type.rank())});
}

void ImportLeakyRelu(Importer& in) {
  const auto* options = in.op().options_as_LeakyReluOptions();
  if (in.Read(options) == nullptr) return;
  in.Emit(Op::kLeakyRelu, {in.Value(0)}, ir::SlopeAttributes{options->alpha()});
}

void ImportGelu(Importer& in) {
  const auto* options = in.op().options_as_GeluOptions();
  const bool approximate = options != nullptr && options->approximate();
  in.Emit(Op::kGelu, {in.Value(0)}, ir::GeluAttributes{approximate});
}

void ImportL2Normalization(Importer& in) {
  const auto* options = in.op().options_as_L2NormOptions();
  if (options != nullptr && options->activation() != tflite::Activation_NONE) {
    in.Fail(Unsupported("a fused activation"));
  }
  in.Emit(Op::kL2Normalize, {in.Value(0)}, ir::RowAttributes{in.IsUint8(0)});
}

void ImportUnary(Importer& in, Op op) {
  in.Emit(op, {in.Value(0)}, ir::InfoOf(op).defaults);
}

void ImportRelu(Importer& in, double low, double high) {
  const Ints clamp = in.Clamp(low, high);
  in.Emit(Op::kRelu, {in.Value(0)}, ir::ClampAttributes{clamp});
}

void ImportSoftmax(Importer& in) {
  const auto* options = in.op().options_as_SoftmaxOptions();
  if (in.Read(options) == nullptr) return;
  in.Emit(Op::kSoftmax, {in.Value(0)}, ir::SoftmaxAttributes{options->beta()});
}

}  // namespace systole::import
