// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Convolutions and dense layers. 8-bit weights are multiplied as they are
// stored, because bf16 holds them exactly. Their scales multiply the sums.
#include <algorithm>
#include <numeric>

#include "host/import/float/float_operator.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

// Numbers that are exact in bf16 need one pass. Others use the precision of the
// options; integers of 16 bits need at least two parts.
ir::Precision PrecisionOf(FloatOperator& in, const Factor& a, const Factor& b) {
  if (a.exact && b.exact) return ir::Precision::kDefault;
  for (int i : {0, 1, 2}) {
    const auto affine = in.Has(i) ? in.AffineOf(i) : std::nullopt;
    if (affine && in.ok() && in.Raw(i).type().element == ElementType::kInt16)
      return ir::Precision::kHighest;
  }
  return in.precision();
}

// Multiplies the sums by the scales of both factors and adds the bias, along
// the last dimension.
void SetProduct(FloatOperator& in, Value sums, const Factor& a, const Factor& b,
                int bias, tflite::Activation activation) {
  HloBuilder& n = in.nodes();
  if (!in.ok()) return;
  const Ints shape = sums.type().shape;
  const int64_t channels = shape.back(), last = sums.type().rank() - 1;
  std::vector<float> scales(std::max(a.scales.size(), b.scales.size()), 1.0f);
  for (const Factor* factor : {&a, &b}) {
    const size_t count = factor->scales.size();
    if (!in.Require(count <= 1 || static_cast<int64_t>(count) == channels,
                    count, " scales for ", channels, " channels"))
      return;
    for (size_t i = 0; count > 0 && i < scales.size(); ++i)
      scales[i] *= factor->scales[count == 1 ? 0 : i];
  }
  if (scales.size() == 1) {
    sums = n.Binary(Op::kHloMultiply, sums, scales[0]);
  } else if (!scales.empty()) {
    sums = n.Binary(Op::kHloMultiply, sums,
                    n.BroadcastInDim(n.Floats(scales), shape, {last}));
  }
  if (in.Has(bias)) {
    const Value added = in.Real(bias);
    if (!in.Require(SizeOf(added.type().shape) == channels &&
                        added.type().element == kF32,
                    "a bias of ", ir::TypeText(added.type()), " for ", channels,
                    " channels"))
      return;
    sums =
        n.Binary(Op::kHloAdd, sums,
                 n.BroadcastInDim(n.Reshape(added, {channels}), shape, {last}));
  }
  in.Set(sums, activation);
}

Value Convolved(FloatOperator& in, const Factor& input, const Factor& weights,
                ir::HloConvolutionAttributes a) {
  a.precision = PrecisionOf(in, input, weights);
  const Value sums =
      in.nodes().AddOne(Op::kHloConvolution, {input.value, weights.value}, a,
                        ir::Type{kF32, {}, {}});
  in.Require(!in.ok() || sums.type().elements() > 0, "input ",
             ir::TypeText(input.value.type()),
             " is smaller than the windows of the weights ",
             ir::TypeText(weights.value.type()));
  return sums;
}

// Checks for an NHWC input and weights of the same rank.
bool CheckImages(FloatOperator& in, Value input, Value weights, int rank) {
  return in.Require(
      input.type().rank() == rank && weights.type().rank() == rank &&
          input.type().elements() > 0 && weights.type().elements() > 0,
      "input ", ir::TypeText(input.type()), ", weights ",
      ir::TypeText(weights.type()));
}

void ImportConv2D(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_Conv2DOptions());
  const Factor input = in.FactorOf(0, -1), weights = in.FactorOf(1, 0);
  if (!in.ok() || !CheckImages(in, input.value, weights.value, 4)) return;
  const Ints& x = input.value.type().shape;
  const Ints& w = weights.value.type().shape;
  const Windows windows{{w[1], w[2]},
                        {o->stride_h(), o->stride_w()},
                        {o->dilation_h(), o->dilation_w()},
                        o->padding()};
  if (!CheckWindows(in, windows) ||
      !in.Require(x[3] % w[3] == 0, x[3], " channels in groups of ", w[3]))
    return;
  ir::HloConvolutionAttributes a = windows.Attributes();
  windows.Pads({x[1], x[2]}, a.low, a.high);
  a.kernel_output_feature = 0;
  a.kernel_spatial = {1, 2};
  a.kernel_input_feature = 3;
  a.feature_group_count = x[3] / w[3];
  SetProduct(in, Convolved(in, input, weights, a), input, weights, 2,
             o->activation());
}

// Weights [1,h,w,o]; result channel c comes from input channel c / multiplier.
void ImportDepthwise(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_DepthwiseConv2DOptions());
  const Factor input = in.FactorOf(0, -1), weights = in.FactorOf(1, 3);
  if (!in.ok() || !CheckImages(in, input.value, weights.value, 4)) return;
  const Ints& x = input.value.type().shape;
  const Ints& w = weights.value.type().shape;
  const Windows windows{{w[1], w[2]},
                        {o->stride_h(), o->stride_w()},
                        {o->dilation_h(), o->dilation_w()},
                        o->padding()};
  if (!CheckWindows(in, windows) ||
      !in.Require(w[0] == 1 && w[3] % x[3] == 0, "weights ", ir::ShapeText(w),
                  " for ", x[3], " channels"))
    return;
  ir::HloConvolutionAttributes a = windows.Attributes();
  windows.Pads({x[1], x[2]}, a.low, a.high);
  a.kernel_input_feature = 0;
  a.kernel_spatial = {1, 2};
  a.kernel_output_feature = 3;
  a.feature_group_count = x[3];
  SetProduct(in, Convolved(in, input, weights, a), input, weights, 2,
             o->activation());
}

// A transposed convolution with the result shape `result`.
void Transposed(FloatOperator& in, const Windows& windows, const Factor& input,
                const Factor& weights, const Ints& result,
                ir::HloConvolutionAttributes a, tflite::Activation activation) {
  const Ints& x = input.value.type().shape;
  const size_t rank = windows.kernel.size();
  if (!CheckWindows(in, windows) ||
      !in.Require(result.size() == rank + 2 &&
                      x[rank + 1] ==
                          weights.value.type().shape[a.kernel_input_feature] &&
                      result[rank + 1] ==
                          weights.value.type().shape[a.kernel_output_feature],
                  "a result of ", ir::ShapeText(result)))
    return;
  windows.Transpose(Ints(x.begin() + 1, x.end() - 1),
                    Ints(result.begin() + 1, result.end() - 1), a);
  SetProduct(in, Convolved(in, input, weights, a), input, weights, 3,
             activation);
}

void ImportTransposeConv(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_TransposeConvOptions());
  const Ints result = in.Integers(0);
  const Factor input = in.FactorOf(2, -1), weights = in.FactorOf(1, 0);
  if (!in.ok() || !CheckImages(in, input.value, weights.value, 4)) return;
  const Ints& w = weights.value.type().shape;
  const Windows windows{
      {w[1], w[2]}, {o->stride_h(), o->stride_w()}, {1, 1}, o->padding()};
  ir::HloConvolutionAttributes a = windows.Attributes();
  a.kernel_output_feature = 0;
  a.kernel_spatial = {1, 2};
  a.kernel_input_feature = 3;
  Transposed(in, windows, input, weights, result, a, o->activation());
}

Windows Windows3D(const tflite::Conv3DOptions& o, const Ints& w) {
  return {{w[0], w[1], w[2]},
          {o.stride_d(), o.stride_h(), o.stride_w()},
          {o.dilation_d(), o.dilation_h(), o.dilation_w()},
          o.padding()};
}

// Weights [d,h,w,i,o].
void ImportConv3D(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_Conv3DOptions());
  const Factor input = in.FactorOf(0, -1), weights = in.FactorOf(1, 4);
  if (!in.ok() || !CheckImages(in, input.value, weights.value, 5)) return;
  const Ints& x = input.value.type().shape;
  const Ints& w = weights.value.type().shape;
  const Windows windows = Windows3D(*o, w);
  if (!CheckWindows(in, windows) ||
      !in.Require(x[4] % w[3] == 0, x[4], " channels in groups of ", w[3]))
    return;
  ir::HloConvolutionAttributes a = windows.Attributes();
  windows.Pads({x[1], x[2], x[3]}, a.low, a.high);
  a.kernel_spatial = {0, 1, 2};
  a.kernel_input_feature = 3;
  a.kernel_output_feature = 4;
  a.feature_group_count = x[4] / w[3];
  SetProduct(in, Convolved(in, input, weights, a), input, weights, 2,
             o->activation());
}

// Weights [d,h,w,o,i].
void ImportConv3DTranspose(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_Conv3DOptions());
  const Ints result = in.Integers(0);
  const Factor input = in.FactorOf(2, -1), weights = in.FactorOf(1, 3);
  if (!in.ok() || !CheckImages(in, input.value, weights.value, 5)) return;
  const Windows windows = Windows3D(*o, weights.value.type().shape);
  ir::HloConvolutionAttributes a = windows.Attributes();
  a.kernel_spatial = {0, 1, 2};
  a.kernel_output_feature = 3;
  a.kernel_input_feature = 4;
  Transposed(in, windows, input, weights, result, a, o->activation());
}

void ImportFullyConnected(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_FullyConnectedOptions());
  Factor input = in.FactorOf(0, -1);
  const Factor weights = in.FactorOf(1, 0);
  if (!in.ok()) return;
  const Ints& x = input.value.type().shape;
  const Ints& w = weights.value.type().shape;
  if (o->weights_format() != 0) {
    in.Fail(Unsupported("weights in an order of their own"));
    return;
  }
  if (!in.Require(w.size() == 2 && w[1] > 0 && SizeOf(x) % w[1] == 0, "input ",
                  ir::ShapeText(x), ", weights ", ir::ShapeText(w)))
    return;
  Ints shape = {SizeOf(x) / w[1], w[1]};
  if (o->keep_num_dims()) {
    if (!in.Require(!x.empty() && x.back() == w[1], "input ", ir::ShapeText(x),
                    ", weights ", ir::ShapeText(w)))
      return;
    shape = x;
  }
  input.value = in.nodes().Reshape(input.value, shape);
  ir::HloDotAttributes a;
  a.lhs_contracting = {static_cast<int64_t>(shape.size()) - 1};
  a.rhs_contracting = {1};
  a.precision = PrecisionOf(in, input, weights);
  const Value sums =
      in.nodes().AddOne(Op::kHloDotGeneral, {input.value, weights.value}, a,
                        ir::Type{kF32, {}, {}});
  SetProduct(in, sums, input, weights, 2, o->activation());
}

// Outer dimensions of size 1 are broadcast.
void ImportBatchMatmul(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_BatchMatMulOptions());
  Factor left = in.FactorOf(0, -1), right = in.FactorOf(1, -1);
  if (!in.ok()) return;
  HloBuilder& n = in.nodes();
  Ints x = left.value.type().shape, y = right.value.type().shape;
  if (!in.Require(x.size() >= 2 && y.size() >= 2, "matrices ", ir::ShapeText(x),
                  " and ", ir::ShapeText(y)))
    return;
  const Ints outer_x(x.begin(), x.end() - 2), outer_y(y.begin(), y.end() - 2);
  const auto outer = ir::BroadcastShape(outer_x, outer_y);
  if (!in.Require(outer.has_value(), "matrices ", ir::ShapeText(x), " and ",
                  ir::ShapeText(y)))
    return;
  const auto with = [&](const Ints& matrix) {
    Ints shape = *outer;
    shape.insert(shape.end(), matrix.end() - 2, matrix.end());
    return shape;
  };
  const auto rank = static_cast<int64_t>(outer->size());
  ir::HloDotAttributes a;
  // If all left matrices share one right matrix, the product needs no batch.
  const bool shared = SizeOf(outer_y) == 1;
  if (shared) {
    right.value = n.Reshape(right.value, {y.end() - 2, y.end()});
    a.rhs_contracting = {o->adj_y() ? 1 : 0};
  } else {
    right.value = n.BroadcastTo(right.value, with(y));
    a.lhs_batching.resize(rank);
    std::iota(a.lhs_batching.begin(), a.lhs_batching.end(), 0);
    a.rhs_batching = a.lhs_batching;
    a.rhs_contracting = {rank + (o->adj_y() ? 1 : 0)};
  }
  left.value = n.BroadcastTo(left.value, with(x));
  a.lhs_contracting = {rank + (o->adj_x() ? 0 : 1)};
  a.precision = PrecisionOf(in, left, right);
  const Value sums = n.AddOne(Op::kHloDotGeneral, {left.value, right.value}, a,
                              ir::Type{kF32, {}, {}});
  SetProduct(in, sums, left, right, -1, tflite::Activation_NONE);
}

}  // namespace

FloatRules ProductRules() {
  return {
      {B::BuiltinOperator_CONV_2D, ImportConv2D},
      {B::BuiltinOperator_DEPTHWISE_CONV_2D, ImportDepthwise},
      {B::BuiltinOperator_TRANSPOSE_CONV, ImportTransposeConv},
      {B::BuiltinOperator_CONV_3D, ImportConv3D},
      {B::BuiltinOperator_CONV_3D_TRANSPOSE, ImportConv3DTranspose},
      {B::BuiltinOperator_FULLY_CONNECTED, ImportFullyConnected},
      {B::BuiltinOperator_BATCH_MATMUL, ImportBatchMatmul},
  };
}

}  // namespace systole::import
