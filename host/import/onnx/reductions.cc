// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reductions over axes.
#include <cmath>
#include <limits>

#include "host/import/onnx/operators.h"

namespace systole::import {
namespace {

using ir::ElementType;

struct Reduced {
  Ints axes;
  bool keep = true;
};

// Axes are an input since opset 13 (ReduceSum) or 18 (the others), and an
// attribute before. Without axes, all are reduced, or none with
// noop_with_empty_axes.
Reduced HowReduced(OnnxNode& n, int64_t input_since = 18) {
  Reduced how;
  how.keep = n.Int("keepdims", 1) != 0;
  const int64_t rank = n.Rank(0);
  const bool noop = n.Int("noop_with_empty_axes", 0) != 0;
  Ints axes = n.opset < input_since ? n.List("axes")
              : n.Has(1)            ? n.Integers(1, "axes")
                                    : Ints();
  how.axes = n.Axes(axes, rank);
  if (n.b.ok() && axes.empty() && !noop) how.axes = Range(0, rank);
  return how;
}

int64_t Count(const Ints& shape, const Ints& axes) {
  int64_t count = 1;
  for (const int64_t axis : axes) count *= shape[axis];
  return count;
}

Value Square(HloBuilder& b, const Value& x) {
  return b.Binary(Op::kHloMultiply, x, x);
}
Value Root(HloBuilder& b, const Value& x) {
  // Integers go through floats, because there is no square root of integers.
  const ElementType element = x.type().element;
  if (ir::IsFloat(element)) return b.Unary(Op::kHloSqrt, x);
  return b.Convert(b.Unary(Op::kHloSqrt, b.Convert(x, ElementType::kFloat32)),
                   element);
}

Value Sum(HloBuilder& b, const Value& x, const Reduced& how) {
  return b.Reduce(Op::kHloAdd, x, how.axes, how.keep);
}

Values ReduceSum(OnnxNode& n) {
  const Reduced how = HowReduced(n, 13);
  return {Sum(n.b, n.In(0), how)};
}
Values ReduceMean(OnnxNode& n) {
  const Reduced how = HowReduced(n);
  if (!n.b.ok()) return {};
  const auto count = static_cast<double>(Count(n.Shape(0), how.axes));
  return {n.b.Binary(Op::kHloDivide, Sum(n.b, n.In(0), how), count)};
}
Values ReduceProd(OnnxNode& n) {
  const Reduced how = HowReduced(n);
  return {n.b.Reduce(Op::kHloMultiply, n.In(0), how.axes, how.keep)};
}

template <Op kOp>
Values Extreme(OnnxNode& n) {
  const Reduced how = HowReduced(n);
  return {n.b.Reduce(kOp, n.In(0), how.axes, how.keep)};
}

Values ReduceL1(OnnxNode& n) {
  const Reduced how = HowReduced(n);
  return {Sum(n.b, n.b.Unary(Op::kHloAbs, n.In(0)), how)};
}
Values ReduceL2(OnnxNode& n) {
  const Reduced how = HowReduced(n);
  return {Root(n.b, Sum(n.b, Square(n.b, n.In(0)), how))};
}
Values ReduceSumSquare(OnnxNode& n) {
  const Reduced how = HowReduced(n);
  return {Sum(n.b, Square(n.b, n.In(0)), how)};
}
Values ReduceLogSum(OnnxNode& n) {
  const Reduced how = HowReduced(n);
  return {n.b.Unary(Op::kHloLog, Sum(n.b, n.In(0), how))};
}
// Subtracts the largest value first, unless it is infinite, so that nothing
// overflows.
Values ReduceLogSumExp(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Reduced how = HowReduced(n);
  const Value x = n.In(0);
  Value largest = b.Reduce(Op::kHloMaximum, x, how.axes, true);
  if (!b.ok()) return {};
  largest = b.Select(b.Unary(Op::kHloIsFinite, largest), largest,
                     b.Scalar(x.type().element, 0));
  const Value e =
      b.Unary(Op::kHloExponential, b.Binary(Op::kHloSubtract, x, largest));
  const Value sum = b.Reduce(Op::kHloAdd, e, how.axes, true);
  const Value result =
      b.Binary(Op::kHloAdd, b.Unary(Op::kHloLog, sum), largest);
  return {how.keep ? result : b.Reduce(Op::kHloAdd, result, how.axes, false)};
}

}  // namespace

OnnxOperators ReductionOperators() {
  return {{"ReduceL1", 1, 2, ReduceL1},
          {"ReduceL2", 1, 2, ReduceL2},
          {"ReduceLogSum", 1, 2, ReduceLogSum},
          {"ReduceLogSumExp", 1, 2, ReduceLogSumExp},
          {"ReduceMax", 1, 2, Extreme<Op::kHloMaximum>},
          {"ReduceMean", 1, 2, ReduceMean},
          {"ReduceMin", 1, 2, Extreme<Op::kHloMinimum>},
          {"ReduceProd", 1, 2, ReduceProd},
          {"ReduceSum", 1, 2, ReduceSum},
          {"ReduceSumSquare", 1, 2, ReduceSumSquare}};
}

}  // namespace systole::import
