// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators that compute.
#include "host/import/tflite_operator.h"

namespace systole::import {
namespace {

using ir::Ints;
using ir::Op;

constexpr int64_t kMaxWindow = 1 << 20;  // of kernel, stride and dilation

// [top, left, bottom, right] of TensorFlow's padding of a window.
Ints Padding(Importer& in, const ir::Type& input, tflite::Padding padding,
             const Ints& kernel, const Ints& stride, const Ints& dilation) {
  Ints pads = {0, 0, 0, 0};
  if (!in.ok()) return pads;
  if (input.rank() != 4) {
    in.Fail(Invalid("input ", ir::TypeText(input), " not of rank 4"));
    return pads;
  }
  for (const Ints& values : {kernel, stride, dilation}) {
    for (int64_t value : values) {
      if (value < 1 || value > kMaxWindow) {
        in.Fail(Invalid("kernel ", ir::ShapeText(kernel), ", stride ",
                        ir::ShapeText(stride), ", dilation ",
                        ir::ShapeText(dilation)));
        return pads;
      }
    }
  }
  if (padding == tflite::Padding_VALID) return pads;
  if (padding != tflite::Padding_SAME) {
    in.Fail(Invalid("padding ", static_cast<int>(padding)));
    return pads;
  }
  for (int i = 0; i < 2; ++i) {
    const int64_t size = input.shape[1 + i];
    const int64_t positions = (size + stride[i] - 1) / stride[i];
    const int64_t extent = dilation[i] * (kernel[i] - 1) + 1;
    const int64_t total =
        std::max<int64_t>((positions - 1) * stride[i] + extent - size, 0);
    pads[i] = total / 2;
    pads[i + 2] = total - total / 2;
  }
  return pads;
}

std::vector<ir::Node*> WeightedOperands(Importer& in) {
  std::vector<ir::Node*> operands = {in.Value(0), in.Value(1)};
  if (in.inputs() > 3) in.Fail(Invalid(in.inputs(), " operands"));
  if (in.Index(2) != -1) operands.push_back(in.Value(2));
  return operands;
}

// Both kinds of convolution: their options have the same fields.
template <typename Options>
void Convolution(Importer& in, Op op, const Options* options) {
  if (in.Read(options) == nullptr) return;
  const std::vector<ir::Node*> operands = WeightedOperands(in);
  ir::ConvAttributes a;
  a.stride = {options->stride_h(), options->stride_w()};
  a.dilation = {options->dilation_h(), options->dilation_w()};
  a.clamp = in.Clamp(options->activation());
  if (!in.ok()) return;
  const ir::Type& weights = operands[1]->type;
  if (weights.rank() != 4) {
    in.Fail(Invalid("weights ", ir::TypeText(weights), " not of rank 4"));
    return;
  }
  a.padding =
      Padding(in, operands[0]->type, options->padding(),
              {weights.shape[1], weights.shape[2]}, a.stride, a.dilation);
  in.Emit(op, operands, a);
}

}  // namespace

void ImportConvolution(Importer& in) {
  Convolution(in, Op::kConv2D, in.op().options_as_Conv2DOptions());
}

void ImportDepthwise(Importer& in) {
  const auto* options = in.op().options_as_DepthwiseConv2DOptions();
  const ir::Node* input = in.Value(0);
  const ir::Node* weights = in.Value(1);
  if (in.Read(options) == nullptr || !in.ok()) return;
  const int64_t multiplier = options->depth_multiplier();
  if (multiplier != 0 && input->type.rank() == 4 && weights->type.rank() == 4 &&
      input->type.shape[3] * multiplier != weights->type.shape[3]) {
    in.Fail(Invalid("depth multiplier ", multiplier, " does not fit the ",
                    "shapes"));
  }
  Convolution(in, Op::kDepthwiseConv2D, options);
}

void ImportPool(Importer& in, Op op) {
  const auto* options = in.op().options_as_Pool2DOptions();
  if (in.Read(options) == nullptr) return;
  ir::Node* input = in.Value(0);
  ir::PoolAttributes a;
  a.kernel = {options->filter_height(), options->filter_width()};
  a.stride = {options->stride_h(), options->stride_w()};
  a.clamp = in.Clamp(options->activation());
  if (!in.ok()) return;
  a.padding =
      Padding(in, input->type, options->padding(), a.kernel, a.stride, {1, 1});
  in.Emit(op, {input}, a);
}

void ImportFullyConnected(Importer& in) {
  const auto* options = in.op().options_as_FullyConnectedOptions();
  if (in.Read(options) == nullptr) return;
  if (options->weights_format() != 0) {
    in.Fail(Unsupported("weights in another format than rows"));
  }
  const Ints clamp = in.Clamp(options->activation());
  const std::vector<ir::Node*> operands = WeightedOperands(in);
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
  in.Emit(op, {a, in.Value(1)}, ir::ClampAttributes{clamp});
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
