// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Losses of classifications. Dimension 1 has the classes.
#include "host/import/hlo/hlo_functions.h"
#include "host/import/onnx/indices.h"
#include "host/import/onnx/operators.h"

namespace systole::import {
namespace {

using ir::Direction;
using ir::ElementType;

Value Loss(OnnxNode& n, const Value& logarithms) {
  HloBuilder& b = n.b;
  Value target = n.In(1);
  const ElementType element = logarithms.type().element;
  const std::string reduction = n.Text("reduction", "mean");
  const bool ignores = n.HasAttribute("ignore_index");
  const auto ignored = static_cast<double>(n.Int("ignore_index", 0));
  Ints shape = logarithms.type().shape;
  if (!n.Check(shape.size() >= 2, "values ", ir::TypeText(logarithms.type())))
    return target;
  const int64_t classes = shape[1];
  shape.erase(shape.begin() + 1);
  if (!n.Check(target.type().shape == shape &&
                   ir::IsInteger(target.type().element) &&
                   (reduction == "none" || reduction == "sum" ||
                    reduction == "mean"),
               "classes ", ir::TypeText(target.type()), ", reduction '",
               reduction, "'"))
    return target;
  Value weight = b.BroadcastInDim(b.Scalar(element, 1), shape, {});
  if (ignores) {
    const Value out = b.Compare(Direction::kEq, target, ignored);
    weight = b.Select(out, b.Scalar(element, 0), weight);
    target = b.Select(out, b.Scalar(target.type().element, 0), target);
  }
  if (n.Has(2)) {
    if (!n.Check(n.Shape(2) == Ints{classes}, "weights ",
                 ir::TypeText(n.In(2).type())))
      return target;
    weight = b.Binary(Op::kHloMultiply, weight, Take(b, n.In(2), target, 0));
  }
  Ints column = shape;
  column.insert(column.begin() + 1, 1);
  const Value taken = b.Reshape(
      TakeElements(b, logarithms, b.Reshape(target, column), 1), shape);
  const Value loss =
      b.Binary(Op::kHloMultiply, b.Unary(Op::kHloNegate, taken), weight);
  if (reduction == "none") return loss;
  const Ints all = Range(0, static_cast<int64_t>(shape.size()));
  const Value sum = b.Reduce(Op::kHloAdd, loss, all, false);
  if (reduction == "sum") return sum;
  return b.Binary(Op::kHloDivide, sum,
                  b.Reduce(Op::kHloAdd, weight, all, false));
}

Values NegativeLogLikelihoodLoss(OnnxNode& n) { return {Loss(n, n.In(0))}; }

Values SoftmaxCrossEntropyLoss(OnnxNode& n) {
  if (!n.CheckRank(0, 2)) return {};
  const Value logarithms = LogSoftmax(n.b, n.In(0), 1);
  return {Loss(n, logarithms), logarithms};
}

}  // namespace

OnnxOperators LossOperators() {
  return {{"NegativeLogLikelihoodLoss", 2, 3, NegativeLogLikelihoodLoss},
          {"SoftmaxCrossEntropyLoss", 2, 3, SoftmaxCrossEntropyLoss}};
}

}  // namespace systole::import
