// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reductions, normalisations along the last dimension, and pools.
#include <algorithm>
#include <limits>
#include <numeric>

#include "host/import/float/float_operator.h"
#include "host/import/hlo/hlo_functions.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;
using ir::Direction;

template <Op kOp, bool kMean = false>
void ImportReduce(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_ReducerOptions());
  const Value x = in.Real(0);
  const Ints given = in.Integers(1);
  if (!in.ok()) return;
  const Ints axes = in.Axes(given, x.type().rank());
  Value y = n.Reduce(kOp, x, axes, o->keep_dims());
  if (!in.ok()) return;
  if (kMean) {
    double count = 1;
    for (const int64_t axis : axes)
      count *= static_cast<double>(x.type().shape[axis]);
    y = n.Binary(Op::kHloDivide, y, count);
  }
  in.Set(y);
}

// The index of the largest (smallest) element. The region keeps the larger of
// two elements, or the first one if they are equal.
std::shared_ptr<const ir::Module> ArgumentRegion(HloBuilder& n,
                                                 const ir::Type& element,
                                                 const ir::Type& index,
                                                 bool max) {
  return n.Region(
      {element, index, element, index}, [max](HloBuilder& b, const Values& v) {
        const Value better =
            b.Compare(max ? Direction::kGt : Direction::kLt, v[0], v[2]);
        const Value first =
            b.Binary(Op::kHloAnd, b.Compare(Direction::kEq, v[0], v[2]),
                     b.Compare(Direction::kLt, v[1], v[3]));
        const Value left = b.Binary(Op::kHloOr, better, first);
        return Values{b.Select(left, v[0], v[2]), b.Select(left, v[1], v[3])};
      });
}

template <bool kMax>
void ImportArgument(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const Value x = in.Real(0);
  const Ints given = in.Integers(1);
  if (!in.ok() || !in.Require(given.size() == 1, given.size(), " axes")) return;
  const int64_t axis = in.Axis(given[0], x.type().rank());
  const ElementType element = x.type().element;
  if (!in.ok()) return;
  if (!ir::IsFloat(element) && element != kI32) {
    in.Fail(Unsupported("the place of a largest ", ir::TypeText(x.type())));
    return;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const ir::Type number{element, {}, {}}, place{kI32, {}, {}};
  // For integers, -infinity is converted to the lowest value.
  const Values both = n.Add(Op::kHloReduce,
                            {x, n.Iota({kI32, x.type().shape, {}}, axis),
                             n.Scalar(element, kMax ? -kInfinity : kInfinity),
                             n.Scalar(kI32, kInfinity)},
                            ir::HloDimensionsAttributes{{axis}}, std::nullopt,
                            {ArgumentRegion(n, number, place, kMax)});
  if (!in.ok()) return;
  in.Set(n.Convert(both[1], in.ResultType().element));
}

bool HasLast(FloatOperator& in, Value x) {
  return in.ok() && in.Require(x.type().rank() >= 1 && x.type().elements() > 0,
                               "an operand of ", ir::TypeText(x.type()));
}

void ImportSoftmax(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_SoftmaxOptions());
  const Value x = in.Real(0);
  if (!HasLast(in, x)) return;
  in.Set(Softmax(in.nodes(), x, x.type().rank() - 1, o->beta()));
}

void ImportLogSoftmax(FloatOperator& in) {
  const Value x = in.Real(0);
  if (!HasLast(in, x)) return;
  in.Set(LogSoftmax(in.nodes(), x, x.type().rank() - 1));
}

// x / max(sqrt(sum of squares), 1e-6)
void ImportL2Normalization(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.op().options_as_L2NormOptions();
  const Value x = in.Real(0);
  if (!HasLast(in, x)) return;
  const Value sum = n.Reduce(Op::kHloAdd, n.Binary(Op::kHloMultiply, x, x),
                             {x.type().rank() - 1}, true);
  const Value root = n.Unary(Op::kHloSqrt, sum);
  in.Set(n.Binary(Op::kHloDivide, x, n.Binary(Op::kHloMaximum, root, 1e-6)),
         o ? o->activation() : tflite::Activation_NONE);
}

// A window of size 1 along every dimension.
ir::HloWindowAttributes Unit(int64_t rank) {
  const Ints ones(rank, 1), zeros(rank, 0);
  return {ones, ones, ones, ones, zeros, zeros};
}

// x / (bias + alpha * sum of squares) ^ beta. The sum covers channels c -
// radius to c + radius - 1, as in the reference kernel.
void ImportLocalResponse(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o =
      in.Read(in.op().options_as_LocalResponseNormalizationOptions());
  const Value x = in.Real(0);
  if (!HasLast(in, x) || !in.Require(1 <= o->radius() && o->radius() < 1 << 16,
                                     "radius ", o->radius()))
    return;
  ir::HloWindowAttributes a = Unit(x.type().rank());
  a.window.back() = 2 * int64_t{o->radius()};
  a.low.back() = o->radius();
  a.high.back() = o->radius() - 1;
  const Value sum =
      n.ReduceWindow(Op::kHloAdd, n.Binary(Op::kHloMultiply, x, x), a);
  if (!in.ok()) return;
  const Value base = n.Binary(
      Op::kHloAdd, n.Binary(Op::kHloMultiply, sum, o->alpha()), o->bias());
  in.Set(
      n.Binary(Op::kHloMultiply, x, n.Binary(Op::kHloPower, base, -o->beta())));
}

void ImportCumsum(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_CumsumOptions());
  Value x = in.Real(0);
  const Ints given = in.Integers(1);
  if (!in.ok() || !in.Require(given.size() == 1, given.size(), " axes")) return;
  const int64_t axis = in.Axis(given[0], x.type().rank());
  if (!in.ok()) return;
  const int64_t size = x.type().shape[axis];
  if (o->reverse()) x = n.Reverse(x, {axis});
  ir::HloWindowAttributes a = Unit(x.type().rank());
  a.window[axis] = std::max<int64_t>(size, 1);
  a.low[axis] = a.window[axis] - 1;
  Value y = n.ReduceWindow(Op::kHloAdd, x, a);
  if (o->exclusive() && in.ok() && size > 0) {
    Ints low(x.type().rank(), 0), high = low;
    low[axis] = 1;
    y = n.Pad(n.SliceIn(y, axis, 0, size - 1), n.Scalar(y.type().element, 0),
              low, high);
  }
  in.Set(o->reverse() ? n.Reverse(y, {axis}) : y);
}

struct Pool {
  Value x;
  Windows windows;
  ir::HloWindowAttributes attributes;
};

Pool ReadPool(FloatOperator& in) {
  Pool pool{in.Real(0), {}, {}};
  const auto* o = in.Read(in.op().options_as_Pool2DOptions());
  if (!in.ok()) return pool;
  const Ints& x = pool.x.type().shape;
  pool.windows = {{o->filter_height(), o->filter_width()},
                  {o->stride_h(), o->stride_w()},
                  {1, 1},
                  o->padding()};
  if (!CheckWindows(in, pool.windows) ||
      !in.Require(x.size() == 4 && SizeOf(x) > 0, "input ", ir::ShapeText(x)))
    return pool;
  pool.attributes = pool.windows.PoolAttributes({x[1], x[2]});
  for (int i : {1, 2}) {
    in.Require(x[i] + pool.attributes.low[i] + pool.attributes.high[i] >=
                   pool.attributes.window[i],
               "a pool of ", ir::ShapeText(pool.windows.kernel), " over ",
               ir::ShapeText(x));
  }
  return pool;
}

tflite::Activation PoolActivation(FloatOperator& in) {
  const auto* o = in.op().options_as_Pool2DOptions();
  return o ? o->activation() : tflite::Activation_NONE;
}

void ImportMaxPool(FloatOperator& in) {
  const Pool pool = ReadPool(in);
  in.Set(in.nodes().ReduceWindow(Op::kHloMaximum, pool.x, pool.attributes),
         PoolActivation(in));
}

// The number of input elements in each window along dimension 1 + `i`.
std::vector<float> Counts(const Pool& pool, int i, int64_t positions) {
  const auto& a = pool.attributes;
  const int64_t size = pool.x.type().shape[1 + i];
  std::vector<float> counts;
  for (int64_t p = 0; p < positions; ++p) {
    const int64_t at = p * a.stride[1 + i] - a.low[1 + i];
    counts.push_back(static_cast<float>(std::min(at + a.window[1 + i], size) -
                                        std::max<int64_t>(at, 0)));
  }
  return counts;
}

// The mean of the elements in each window, without the padding.
Value Averaged(FloatOperator& in, Value x, const Pool& pool) {
  constexpr int64_t kMostPositions = 1 << 16;
  HloBuilder& n = in.nodes();
  const Value sum = n.ReduceWindow(Op::kHloAdd, x, pool.attributes);
  if (!in.ok()) return sum;
  const auto padded = [](int64_t pad) { return pad > 0; };
  const Ints& y = sum.type().shape;
  if (std::none_of(pool.attributes.low.begin(), pool.attributes.low.end(),
                   padded) &&
      std::none_of(pool.attributes.high.begin(), pool.attributes.high.end(),
                   padded)) {
    return n.Binary(
        Op::kHloDivide, sum,
        static_cast<double>(pool.windows.kernel[0] * pool.windows.kernel[1]));
  }
  if (!in.Require(std::max(y[1], y[2]) <= kMostPositions, "a pool of ",
                  ir::ShapeText(y)))
    return sum;
  const Value counts = n.Binary(
      Op::kHloMultiply, n.Reshape(n.Floats(Counts(pool, 0, y[1])), {y[1], 1}),
      n.Reshape(n.Floats(Counts(pool, 1, y[2])), {1, y[2]}));
  return n.Binary(Op::kHloDivide, sum, n.BroadcastInDim(counts, y, {1, 2}));
}

void ImportAveragePool(FloatOperator& in) {
  const Pool pool = ReadPool(in);
  in.Set(Averaged(in, pool.x, pool), PoolActivation(in));
}

void ImportL2Pool(FloatOperator& in) {
  const Pool pool = ReadPool(in);
  const Value squares = in.nodes().Binary(Op::kHloMultiply, pool.x, pool.x);
  in.Set(in.nodes().Unary(Op::kHloSqrt, Averaged(in, squares, pool)),
         PoolActivation(in));
}

}  // namespace

FloatRules ReductionRules() {
  return {
      {B::BuiltinOperator_MEAN, ImportReduce<Op::kHloAdd, true>},
      {B::BuiltinOperator_SUM, ImportReduce<Op::kHloAdd>},
      {B::BuiltinOperator_REDUCE_PROD, ImportReduce<Op::kHloMultiply>},
      {B::BuiltinOperator_REDUCE_MAX, ImportReduce<Op::kHloMaximum>},
      {B::BuiltinOperator_REDUCE_MIN, ImportReduce<Op::kHloMinimum>},
      {B::BuiltinOperator_REDUCE_ANY, ImportReduce<Op::kHloOr>},
      {B::BuiltinOperator_REDUCE_ALL, ImportReduce<Op::kHloAnd>},
      {B::BuiltinOperator_ARG_MAX, ImportArgument<true>},
      {B::BuiltinOperator_ARG_MIN, ImportArgument<false>},
      {B::BuiltinOperator_SOFTMAX, ImportSoftmax},
      {B::BuiltinOperator_LOG_SOFTMAX, ImportLogSoftmax},
      {B::BuiltinOperator_L2_NORMALIZATION, ImportL2Normalization},
      {B::BuiltinOperator_LOCAL_RESPONSE_NORMALIZATION, ImportLocalResponse},
      {B::BuiltinOperator_CUMSUM, ImportCumsum},
      {B::BuiltinOperator_MAX_POOL_2D, ImportMaxPool},
      {B::BuiltinOperator_AVERAGE_POOL_2D, ImportAveragePool},
      {B::BuiltinOperator_L2_POOL_2D, ImportL2Pool},
  };
}

}  // namespace systole::import
