// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Convolutions, dense layers and matrix products of 16 bits. Sums are exact in
// 64 bits.
#include <numeric>

#include "host/import/tflite_wide.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

// Weights of 8 bits with zero point 0, as i64.
Value Weights(WideOperator& op, int i, int rank) {
  const Value w = op.in.Raw(i);
  const auto affine = op.in.AffineOf(i);
  if (!op.in.ok()) return w;
  if (w.type().element != ElementType::kInt8 || !affine) {
    op.in.Fail(Unsupported("weights ", ir::TypeText(w.type())));
    return w;
  }
  for (const int64_t zero : affine->zeros)
    op.in.Require(zero == 0, "weights have zero point ", zero, ", not 0");
  op.in.Require(w.type().rank() == rank && w.type().elements() > 0, "weights ",
                ir::TypeText(w.type()));
  return op.n.Convert(w, kI64);
}

// s_in * s_w / s_out, one or one for each channel.
std::vector<double> FactorsOf(WideOperator& op, int input, int weights,
                              int64_t axis) {
  std::vector<double> factors;
  const auto affine = op.in.AffineOf(weights);
  const double from = op.Scale(input), to = op.ResultScale();
  if (!op.in.ok() || !affine) return factors;
  op.in.Require(!affine->per_channel() || affine->axis == axis,
                "scales of the weights are along axis ", affine->axis, ", not ",
                axis);
  for (const float scale : affine->scales) factors.push_back(from * scale / to);
  return factors;
}

// The sums with the bias, of 32 or of 64 bits.
Value WithBias(WideOperator& op, Value sums, int bias) {
  if (!op.in.ok() || !op.in.Has(bias)) return sums;
  const Value added = op.in.Raw(bias);
  const int64_t channels = sums.type().shape.back();
  if (!op.in.Require(ir::IsInteger(added.type().element) &&
                         added.type().elements() == channels,
                     "a bias of ", ir::TypeText(added.type()), " for ",
                     channels, " channels"))
    return sums;
  return op.n.Binary(Op::kHloAdd, sums,
                     op.n.Convert(op.n.Reshape(added, {channels}), kI64));
}

// With a bias of 32 bits the kernels add in 32 bits and round twice.
bool IsShort(WideOperator& op, int bias) {
  if (!op.in.ok() || !op.in.Has(bias)) return false;
  return op.in.Raw(bias).type().element == ElementType::kInt32;
}

void SetConvolution(WideOperator& op, Value sums, int input, int64_t axis,
                    int bias, tflite::Activation activation) {
  const std::vector<double> factors = FactorsOf(op, input, 1, axis);
  if (IsShort(op, bias)) {
    op.in.Fail(Unsupported("a bias of 32 bits"));
    return;
  }
  sums = WithBias(op, sums, bias);
  if (!op.in.ok()) return;
  const int64_t channels = sums.type().shape.back();
  if (!op.in.Require(factors.size() == 1 ||
                         static_cast<int64_t>(factors.size()) == channels,
                     factors.size(), " scales for ", channels, " channels"))
    return;
  op.Set(op.ScaledByShort(sums, factors), activation);
}

// Both kinds of convolution; their options have the same fields.
template <typename Options>
void Convolve(WideOperator& op, const Options* o, bool depthwise) {
  const Value x = op.Input(0), w = Weights(op, 1, 4);
  if (op.in.Read(o) == nullptr || !op.in.ok() ||
      !op.in.Require(x.type().rank() == 4, "input ", ir::TypeText(x.type())))
    return;
  const Ints& from = x.type().shape;
  const Ints& size = w.type().shape;
  const Windows windows{{size[1], size[2]},
                        {o->stride_h(), o->stride_w()},
                        {o->dilation_h(), o->dilation_w()},
                        o->padding()};
  if (!CheckWindows(op.in, windows) ||
      !op.in.Require(depthwise ? size[0] == 1 && size[3] % from[3] == 0
                               : from[3] % size[3] == 0,
                     "weights ", ir::ShapeText(size), " for ", from[3],
                     " channels"))
    return;
  ir::HloConvolutionAttributes a = windows.Attributes();
  windows.Pads({from[1], from[2]}, a.low, a.high);
  a.kernel_spatial = {1, 2};
  a.kernel_output_feature = depthwise ? 3 : 0;
  a.kernel_input_feature = depthwise ? 0 : 3;
  a.feature_group_count = depthwise ? from[3] : from[3] / size[3];
  SetConvolution(op, op.n.Convolution(x, w, a), 0, depthwise ? 3 : 0, 2,
                 o->activation());
}

void ImportConvolution(WideOperator& op) {
  Convolve(op, op.in.op().options_as_Conv2DOptions(), false);
}

void ImportDepthwise(WideOperator& op) {
  Convolve(op, op.in.op().options_as_DepthwiseConv2DOptions(), true);
}

void ImportTransposed(WideOperator& op) {
  const auto* const o =
      op.in.Read(op.in.op().options_as_TransposeConvOptions());
  const Ints to = op.in.Integers(0);
  const Value x = op.Input(2), w = Weights(op, 1, 4);
  if (!op.in.ok() || !op.in.Require(x.type().rank() == 4 && to.size() == 4,
                                    "input ", ir::TypeText(x.type())))
    return;
  const Ints& from = x.type().shape;
  const Ints& size = w.type().shape;
  const Windows windows{
      {size[1], size[2]}, {o->stride_h(), o->stride_w()}, {1, 1}, o->padding()};
  if (!CheckWindows(op.in, windows) ||
      !op.in.Require(from[3] == size[3] && to[3] == size[0], "a result of ",
                     ir::ShapeText(to)))
    return;
  ir::HloConvolutionAttributes a = windows.Attributes();
  a.kernel_output_feature = 0;
  a.kernel_spatial = {1, 2};
  a.kernel_input_feature = 3;
  windows.Transpose({from[1], from[2]}, {to[1], to[2]}, a);
  SetConvolution(op, op.n.Convolution(x, w, a), 2, 0, 3, o->activation());
}

// The factors are of double precision.
void ImportFullyConnected(WideOperator& op) {
  const auto* const o =
      op.in.Read(op.in.op().options_as_FullyConnectedOptions());
  const Value x = op.Input(0), w = Weights(op, 1, 2);
  const std::vector<double> factors = FactorsOf(op, 0, 1, 0);
  if (!op.in.ok()) return;
  if (o->weights_format() != 0 || IsShort(op, 2)) {
    op.in.Fail(
        Unsupported("weights in an order of their own, or a bias of 32 "
                    "bits"));
    return;
  }
  const Ints& from = x.type().shape;
  const Ints& size = w.type().shape;
  if (!op.in.Require(x.type().elements() % size[1] == 0 &&
                         (!o->keep_num_dims() || from.back() == size[1]),
                     "input ", ir::ShapeText(from), ", weights ",
                     ir::ShapeText(size)))
    return;
  const Value rows = op.n.Reshape(x, {x.type().elements() / size[1], size[1]});
  const Value sums =
      WithBias(op, op.n.DotGeneral(rows, w, {{}, {}, {1}, {1}}), 2);
  if (!op.in.ok() ||
      !op.in.Require(factors.size() == 1 ||
                         static_cast<int64_t>(factors.size()) == size[0],
                     factors.size(), " scales for ", size[0], " channels"))
    return;
  Value y = op.Multiplied(sums, factors);
  if (o->keep_num_dims()) {
    Ints to = from;
    to.back() = size[0];
    y = op.n.Reshape(y, to);
  }
  op.Set(y, o->activation());
}

// Outer sizes of 1 stretch.
void ImportBatchMatmul(WideOperator& op) {
  const auto* const o = op.in.Read(op.in.op().options_as_BatchMatMulOptions());
  Value a = op.Input(0), b = op.Input(1);
  if (!op.in.ok() ||
      !op.in.Require(a.type().rank() >= 2 && b.type().rank() >= 2,
                     ir::TypeText(a.type()), " and ", ir::TypeText(b.type())))
    return;
  const Ints& left = a.type().shape;
  const Ints& right = b.type().shape;
  const auto outer = ir::BroadcastShape({left.begin(), left.end() - 2},
                                        {right.begin(), right.end() - 2});
  const auto rank = static_cast<int64_t>(outer ? outer->size() : 0);
  const int64_t of_left = rank + (o->adj_x() ? 0 : 1),
                of_right = rank + (o->adj_y() ? 1 : 0);
  const int64_t depth = left[left.size() - (o->adj_x() ? 2 : 1)];
  if (!op.in.Require(
          outer && depth == right[right.size() - (o->adj_y() ? 1 : 2)],
          ir::TypeText(a.type()), " and ", ir::TypeText(b.type()),
          " do not fit each other"))
    return;
  const auto stretched = [&](Value value, const Ints& shape) {
    Ints whole = *outer;
    whole.insert(whole.end(), shape.end() - 2, shape.end());
    return op.n.BroadcastTo(value, whole);
  };
  Ints batch(rank);
  std::iota(batch.begin(), batch.end(), 0);
  const Value sums = op.n.DotGeneral(stretched(a, left), stretched(b, right),
                                     {batch, batch, {of_left}, {of_right}});
  // Single precision, as specified.
  const float scales = op.Scale(0) * op.Scale(1);
  const double factor = double{scales} / op.ResultScale();
  if (op.in.ok()) op.Set(op.ScaledByShort(sums, {factor}));
}

}  // namespace

std::vector<WideRule> WideProductRules() {
  return {
      {B::BuiltinOperator_CONV_2D, ImportConvolution},
      {B::BuiltinOperator_DEPTHWISE_CONV_2D, ImportDepthwise},
      {B::BuiltinOperator_TRANSPOSE_CONV, ImportTransposed},
      {B::BuiltinOperator_FULLY_CONNECTED, ImportFullyConnected},
      {B::BuiltinOperator_BATCH_MATMUL, ImportBatchMatmul},
  };
}

}  // namespace systole::import
