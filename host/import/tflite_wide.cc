// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators that compute element by element, reduce or resize.
#include "host/import/tflite_wide.h"

#include <algorithm>

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

constexpr int kSumShift = 15;  // of operands of an addition

template <typename Options>
tflite::Activation ActivationOf(const Options* options) {
  return options ? options->activation() : tflite::Activation_NONE;
}

template <bool kMinus>
void ImportSum(WideOperator& op) {
  const auto* const add = op.in.op().options_as_AddOptions();
  const auto* const sub = op.in.op().options_as_SubOptions();
  if ((add && add->pot_scale_int16()) || (sub && sub->pot_scale_int16())) {
    op.in.Fail(Unsupported("sums of 16 bits by powers of two"));
    return;
  }
  const double left = op.Scale(0), right = op.Scale(1);
  const double twice = 2 * std::max(left, right);
  const double shift = 1 << kSumShift;
  const Value a = op.n.Binary(Op::kHloMultiply, op.Input(0), shift);
  const Value b = op.n.Binary(Op::kHloMultiply, op.Input(1), shift);
  const double result = op.ResultScale();
  if (!op.in.ok()) return;
  const Value sum =
      op.n.Binary(kMinus ? Op::kHloSubtract : Op::kHloAdd,
                  op.Scaled(a, left / twice), op.Scaled(b, right / twice));
  op.Set(op.Scaled(sum, twice / (shift * result)),
         kMinus ? ActivationOf(sub) : ActivationOf(add));
}

void ImportProduct(WideOperator& op) {
  const Value product = op.n.Binary(Op::kHloMultiply, op.Input(0), op.Input(1));
  // Single precision, as specified.
  const float factor = op.Scale(0) * op.Scale(1) / op.ResultScale();
  if (!op.in.ok()) return;
  op.Set(op.Scaled(product, factor),
         ActivationOf(op.in.op().options_as_MulOptions()));
}

// Fails unless operand and result have one scale.
bool SameScale(WideOperator& op, int i) {
  const float from = op.Scale(i), to = op.ResultScale();
  return op.in.Require(from == to, "scales ", from, " and ", to, " differ");
}

template <Op kOp>
void ImportExtremum(WideOperator& op) {
  const Value a = op.Input(0), b = op.Input(1);
  if (!SameScale(op, 0) || !SameScale(op, 1)) return;
  op.Set(op.n.Binary(kOp, a, b));
}

struct Reduced {
  Value x;
  Ints axes;
  int64_t count = 1;
  bool keep = false;
};

Reduced ReadReduction(WideOperator& op) {
  Reduced r;
  r.x = op.Input(0);
  const auto* const o = op.in.Read(op.in.op().options_as_ReducerOptions());
  const Ints given = op.in.Integers(1);
  if (!op.in.ok()) return r;
  r.keep = o->keep_dims();
  r.axes = op.in.Axes(given, r.x.type().rank());
  for (const int64_t axis : r.axes) r.count *= r.x.type().shape[axis];
  return r;
}

template <Op kOp>
void ImportReducedExtremum(WideOperator& op) {
  const Reduced r = ReadReduction(op);
  if (SameScale(op, 0)) op.Set(op.n.Reduce(kOp, r.x, r.axes, r.keep));
}

// The kernel's sums are of 32 bits.
bool FitsSum(WideOperator& op, int64_t count) {
  if (op.in.ok() && count >= 1 << 16)
    op.in.Fail(Unsupported("a sum of ", count, " values of 16 bits"));
  return op.in.ok();
}

void ImportMean(WideOperator& op) {
  const Reduced r = ReadReduction(op);
  if (!FitsSum(op, r.count)) return;
  const ir::Factor factor = op.FactorOf(double{op.Scale(0)} / op.ResultScale());
  if (!op.in.ok()) return;
  op.Set(op.Scaled(op.n.Reduce(Op::kHloAdd, r.x, r.axes, r.keep),
                   ir::MeanFactor(factor, r.count)));
}

// In single precision, as specified.
void ImportSumOver(WideOperator& op) {
  const Reduced r = ReadReduction(op);
  const float factor = op.Scale(0) / op.ResultScale();
  if (!FitsSum(op, r.count)) return;
  const Value sum =
      op.n.Convert(op.n.Reduce(Op::kHloAdd, r.x, r.axes, r.keep), kF32);
  op.Set(op.n.Convert(op.n.Unary(Op::kHloRoundNearestAfz,
                                 op.n.Binary(Op::kHloMultiply, sum, factor)),
                      kI64));
}

struct Pool {
  Value x;
  ir::HloWindowAttributes a;
  tflite::Activation activation = tflite::Activation_NONE;
};

Pool ReadPool(WideOperator& op) {
  Pool pool;
  pool.x = op.Input(0);
  const auto* const o = op.in.Read(op.in.op().options_as_Pool2DOptions());
  if (!op.in.ok()) return pool;
  const Ints& x = pool.x.type().shape;
  const Windows windows = {{o->filter_height(), o->filter_width()},
                           {o->stride_h(), o->stride_w()},
                           {1, 1},
                           o->padding()};
  if (!CheckWindows(op.in, windows) ||
      !op.in.Require(x.size() == 4, "input ", ir::ShapeText(x)) ||
      !SameScale(op, 0))
    return pool;
  pool.a = windows.PoolAttributes({x[1], x[2]});
  pool.activation = o->activation();
  return pool;
}

void ImportMaxPool(WideOperator& op) {
  const Pool pool = ReadPool(op);
  if (!op.in.ok()) return;
  op.Set(op.n.ReduceWindow(Op::kHloMaximum, pool.x, pool.a), pool.activation);
}

// Halves round away from 0; the padding does not count.
void ImportAveragePool(WideOperator& op) {
  const Pool pool = ReadPool(op);
  if (!op.in.ok()) return;
  HloBuilder& n = op.n;
  ir::Type one{kI64, pool.x.type().shape, {}};
  one.shape[0] = one.shape[3] = 1;
  const Value sum = n.ReduceWindow(Op::kHloAdd, pool.x, pool.a);
  const Value count = n.ReduceWindow(Op::kHloAdd, n.Filled(one, 1), pool.a);
  const Value half = n.Binary(Op::kHloDivide, count, 2);
  const Value nearest =
      n.Binary(Op::kHloDivide,
               n.Binary(Op::kHloAdd, n.Unary(Op::kHloAbs, sum), half), count);
  op.Set(n.Binary(Op::kHloMultiply, nearest, n.Unary(Op::kHloSign, sum)),
         pool.activation);
}

// Sums of four values with weights of 10 bits along each axis, divided by
// 2^20: halves away from 0.
void ImportResizeBilinear(WideOperator& op) {
  constexpr int64_t kOne = 1 << 10;
  Value x = op.Input(0);
  const auto* const o =
      op.in.Read(op.in.op().options_as_ResizeBilinearOptions());
  const Ints sizes = op.in.Integers(1);
  if (!op.in.ok() || !SameScale(op, 0) ||
      !op.in.Require(x.type().rank() == 4 && sizes.size() == 2, "input ",
                     ir::TypeText(x.type())))
    return;
  for (int i : {0, 1}) {
    const int64_t from = x.type().shape[1 + i], to = sizes[i];
    if (!op.in.Require(0 < to && to < 1 << 20 && from < 1 << 20, "a resize to ",
                       ir::ShapeText(sizes)))
      return;
    const int64_t less = o->align_corners() && to > 1 ? 1 : 0;
    const int64_t step = (kOne * (from - less) + (to - less) / 2) / (to - less);
    Ints first, second, weights;
    for (int64_t p = 0; p < to; ++p) {
      const int64_t place =
          p * step + (o->half_pixel_centers() ? step / 2 - kOne / 2 : 0);
      first.push_back(std::max<int64_t>(place / kOne, 0));
      second.push_back(std::min((place + kOne - 1) / kOne, from - 1));
      weights.push_back(place - kOne * first.back());
    }
    Ints along(4, 1);
    along[1 + i] = to;
    const Value weight = op.n.Reshape(op.n.Integers(weights), along);
    const Value other = op.n.Binary(
        Op::kHloSubtract, op.n.Filled({kI64, along, {}}, kOne), weight);
    x = op.n.Binary(
        Op::kHloAdd,
        op.n.Binary(Op::kHloMultiply, op.Take(x, 1 + i, first), other),
        op.n.Binary(Op::kHloMultiply, op.Take(x, 1 + i, second), weight));
    if (!op.in.ok()) return;
  }
  const Value half = op.n.Binary(Op::kHloAdd, op.n.Unary(Op::kHloAbs, x),
                                 static_cast<double>(kOne * kOne / 2));
  op.Set(op.n.Binary(Op::kHloMultiply, op.Right(half, 20),
                     op.n.Unary(Op::kHloSign, x)));
}

const std::vector<WideRule>& Rules() {
  static const auto& rules = *[] {
    auto* all = new std::vector<WideRule>{
        {B::BuiltinOperator_ADD, ImportSum<false>},
        {B::BuiltinOperator_SUB, ImportSum<true>},
        {B::BuiltinOperator_MUL, ImportProduct},
        {B::BuiltinOperator_MAXIMUM, ImportExtremum<Op::kHloMaximum>},
        {B::BuiltinOperator_MINIMUM, ImportExtremum<Op::kHloMinimum>},
        {B::BuiltinOperator_REDUCE_MAX, ImportReducedExtremum<Op::kHloMaximum>},
        {B::BuiltinOperator_REDUCE_MIN, ImportReducedExtremum<Op::kHloMinimum>},
        {B::BuiltinOperator_MEAN, ImportMean},
        {B::BuiltinOperator_SUM, ImportSumOver},
        {B::BuiltinOperator_MAX_POOL_2D, ImportMaxPool},
        {B::BuiltinOperator_AVERAGE_POOL_2D, ImportAveragePool},
        {B::BuiltinOperator_RESIZE_BILINEAR, ImportResizeBilinear},
    };
    for (const auto& family : {WideProductRules(), WideFunctionRules()})
      all->insert(all->end(), family.begin(), family.end());
    return all;
  }();
  return rules;
}

const WideRule* RuleOf(B code) {
  const auto found =
      std::find_if(Rules().begin(), Rules().end(),
                   [&](const WideRule& rule) { return rule.code == code; });
  return found == Rules().end() ? nullptr : &*found;
}

}  // namespace

bool IsWideOperator(B code) { return RuleOf(code) != nullptr; }

absl::Status ImportWideOperator(FloatGraph& graph, const tflite::Operator& op,
                                B code) {
  FloatOperator in(graph, op);
  if (in.outputs() != 1) return Invalid(in.outputs(), " outputs");
  WideOperator wide(in);
  RuleOf(code)->import(wide);
  return graph.nodes().status();
}

}  // namespace systole::import
