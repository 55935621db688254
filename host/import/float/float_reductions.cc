// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reductions, normalisations along the last dimension, and pools.
#include <algorithm>
#include <limits>
#include <numeric>

#include "host/import/float/float_operator.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;
using ir::Direction;

Ints WithOnes(Ints shape, const Ints& axes) {
  for (const int64_t axis : axes) shape[axis] = 1;
  return shape;
}

// Reduced, with the dimensions as sizes of 1 if these stay.
template <Op kOp, bool kMean = false>
void ImportReduce(FloatOperator& in) {
  HloNodes& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_ReducerOptions());
  const Value x = in.Real(0);
  const Ints given = in.Integers(1);
  if (!in.ok()) return;
  const Ints axes = in.Axes(given, x.type().rank());
  Value y = n.Reduce(kOp, x, axes);
  if (!in.ok()) return;
  if (kMean) {
    double count = 1;
    for (const int64_t axis : axes)
      count *= static_cast<double>(x.type().shape[axis]);
    y = n.With(Op::kHloDivide, y, count);
  }
  if (o->keep_dims()) y = n.Reshape(y, WithOnes(x.type().shape, axes));
  in.Set(y);
}

// The first of the largest (smallest) elements: of two elements, the one that
// is larger, or the one that comes first.
std::shared_ptr<const ir::Module> ArgumentRegion(ElementType element,
                                                 ElementType index, bool max) {
  auto region = std::make_shared<ir::Module>();
  const auto add = [&](const char* name, Op op, ElementType type,
                       std::vector<Value> operands, ir::Attributes attributes) {
    return region->Add(
        {name, op, {type, {}, {}}, std::move(operands), std::move(attributes)});
  };
  const auto parameter = [&](const char* name, ElementType type) {
    return add(name, Op::kParameter, type, {}, ir::ParameterAttributes{});
  };
  ir::Node* const a = parameter("a", element);
  ir::Node* const i = parameter("i", index);
  ir::Node* const b = parameter("b", element);
  ir::Node* const j = parameter("j", index);
  const auto compare = [&](const char* name, ir::Node* x, ir::Node* y,
                           Direction direction) {
    return add(name, Op::kHloCompare, kI1, {x, y},
               ir::HloCompareAttributes{direction, {}});
  };
  ir::Node* const better =
      compare("better", a, b, max ? Direction::kGt : Direction::kLt);
  ir::Node* const equal = compare("equal", a, b, Direction::kEq);
  ir::Node* const before = compare("before", i, j, Direction::kLt);
  ir::Node* const first =
      add("first", Op::kHloAnd, kI1, {equal, before}, ir::NoAttributes{});
  ir::Node* const left =
      add("left", Op::kHloOr, kI1, {better, first}, ir::NoAttributes{});
  region->outputs.push_back({"", add("value", Op::kHloSelect, element,
                                     {left, a, b}, ir::NoAttributes{})});
  region->outputs.push_back({"", add("index", Op::kHloSelect, index,
                                     {left, i, j}, ir::NoAttributes{})});
  return region;
}

template <bool kMax>
void ImportArgument(FloatOperator& in) {
  HloNodes& n = in.nodes();
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
  ir::Node node;
  node.op = Op::kHloReduce;
  const Value worst =
      ir::IsFloat(element)
          ? n.Number(element, kMax ? -kInfinity : kInfinity)
          : n.Number(element, kMax ? std::numeric_limits<int32_t>::min()
                                   : std::numeric_limits<int32_t>::max());
  node.operands = {x, n.Iota(x.type().shape, axis, kI32), worst,
                   n.Number(kI32, std::numeric_limits<int32_t>::max())};
  node.attributes = ir::HloDimensionsAttributes{{axis}};
  node.regions = {ArgumentRegion(element, kI32, kMax)};
  node.type = {element, x.type().shape, {}};
  node.type.shape.erase(node.type.shape.begin() + axis);
  node.more_types = {{kI32, node.type.shape, {}}};
  const Value both = n.Add(std::move(node));
  if (!in.ok()) return;
  in.Set(n.Convert(Value(both.node, 1), in.ResultType().element));
}

Value LastReduced(HloNodes& n, Op op, Value x) {
  if (!n.ok()) return x;
  const int64_t last = x.type().rank() - 1;
  return n.Reshape(n.Reduce(op, x, {last}), WithOnes(x.type().shape, {last}));
}

bool HasLast(FloatOperator& in, Value x) {
  return in.ok() && in.Require(x.type().rank() >= 1 && x.type().elements() > 0,
                               "an operand of ", ir::TypeText(x.type()));
}

// exp(beta (x - largest)) / sum
void ImportSoftmax(FloatOperator& in) {
  HloNodes& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_SoftmaxOptions());
  const Value x = in.Real(0);
  if (!HasLast(in, x)) return;
  Value y = n.Binary(Op::kHloSubtract, x, LastReduced(n, Op::kHloMaximum, x));
  if (in.ok() && o->beta() != 1) y = n.With(Op::kHloMultiply, y, o->beta());
  y = n.Unary(Op::kHloExponential, y);
  in.Set(n.Binary(Op::kHloDivide, y, LastReduced(n, Op::kHloAdd, y)));
}

void ImportLogSoftmax(FloatOperator& in) {
  HloNodes& n = in.nodes();
  const Value x = in.Real(0);
  if (!HasLast(in, x)) return;
  const Value y =
      n.Binary(Op::kHloSubtract, x, LastReduced(n, Op::kHloMaximum, x));
  const Value sum =
      LastReduced(n, Op::kHloAdd, n.Unary(Op::kHloExponential, y));
  in.Set(n.Binary(Op::kHloSubtract, y, n.Unary(Op::kHloLog, sum)));
}

// x / max(sqrt(sum of squares), 1e-6)
void ImportL2Normalization(FloatOperator& in) {
  HloNodes& n = in.nodes();
  const auto* o = in.op().options_as_L2NormOptions();
  const Value x = in.Real(0);
  if (!HasLast(in, x)) return;
  const Value sum =
      LastReduced(n, Op::kHloAdd, n.Binary(Op::kHloMultiply, x, x));
  const Value root = n.Unary(Op::kHloSqrt, sum);
  in.Set(n.Binary(Op::kHloDivide, x, n.With(Op::kHloMaximum, root, 1e-6)),
         o ? o->activation() : tflite::Activation_NONE);
}

// One window along every dimension.
ir::HloWindowAttributes Unit(int64_t rank) {
  const Ints ones(rank, 1), zeros(rank, 0);
  return {ones, ones, ones, ones, zeros, zeros};
}

// x / (bias + alpha * sum of squares) ^ beta, of the channels from c - radius
// to c + radius - 1, as the reference kernel counts them.
void ImportLocalResponse(FloatOperator& in) {
  HloNodes& n = in.nodes();
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
  const Value base =
      n.With(Op::kHloAdd, n.With(Op::kHloMultiply, sum, o->alpha()), o->bias());
  in.Set(
      n.Binary(Op::kHloMultiply, x, n.With(Op::kHloPower, base, -o->beta())));
}

void ImportCumsum(FloatOperator& in) {
  HloNodes& n = in.nodes();
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
    y = n.Pad(n.Part(y, axis, 0, size - 1), n.Number(y.type().element, 0), low,
              high);
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
  Ints low, high;
  pool.windows.Pads({x[1], x[2]}, low, high);
  pool.attributes = Unit(4);
  for (int i : {0, 1}) {
    pool.attributes.window[1 + i] = pool.windows.kernel[i];
    pool.attributes.stride[1 + i] = pool.windows.stride[i];
    pool.attributes.low[1 + i] = low[i];
    pool.attributes.high[1 + i] = high[i];
    in.Require(x[1 + i] + low[i] + high[i] >= pool.windows.kernel[i],
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

// Elements of the input in each window along dimension 1 + `i`.
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

// The mean of the elements in the windows, without the padding.
Value Averaged(FloatOperator& in, Value x, const Pool& pool) {
  constexpr int64_t kMostPositions = 1 << 16;
  HloNodes& n = in.nodes();
  const Value sum = n.ReduceWindow(Op::kHloAdd, x, pool.attributes);
  if (!in.ok()) return sum;
  const auto padded = [](int64_t pad) { return pad > 0; };
  const Ints& y = sum.type().shape;
  if (std::none_of(pool.attributes.low.begin(), pool.attributes.low.end(),
                   padded) &&
      std::none_of(pool.attributes.high.begin(), pool.attributes.high.end(),
                   padded)) {
    return n.With(
        Op::kHloDivide, sum,
        static_cast<double>(pool.windows.kernel[0] * pool.windows.kernel[1]));
  }
  if (!in.Require(std::max(y[1], y[2]) <= kMostPositions, "a pool of ",
                  ir::ShapeText(y)))
    return sum;
  const Value counts = n.Binary(
      Op::kHloMultiply, n.Reshape(n.Floats(Counts(pool, 0, y[1])), {y[1], 1}),
      n.Reshape(n.Floats(Counts(pool, 1, y[2])), {1, y[2]}));
  return n.Binary(Op::kHloDivide, sum, n.BroadcastIn(counts, y, {1, 2}));
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
