// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/float/float_operator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace systole::import {
namespace {

constexpr int kMostOutputs = 1024;
constexpr int64_t kMostWindow = 1 << 20;

const std::map<tflite::BuiltinOperator, FloatImport>& Table() {
  static const auto& table = *[] {
    auto* all = new std::map<tflite::BuiltinOperator, FloatImport>;
    for (const FloatRules& rules :
         {ProductRules(), ElementwiseRules(), FunctionRules(), ReductionRules(),
          ShapeRules(), MoveRules(), ResizeRules(), ControlRules(),
          RecurrentRules(), CustomRules()}) {
      for (const FloatRule& rule : rules) (*all)[rule.code] = rule.import;
    }
    return all;
  }();
  return table;
}

}  // namespace

std::vector<tflite::BuiltinOperator> FloatOperators() {
  std::vector<tflite::BuiltinOperator> all;
  for (const auto& [code, import] : Table()) all.push_back(code);
  return all;
}

absl::Status ImportFloatOperator(FloatGraph& graph, const tflite::Operator& op,
                                 tflite::BuiltinOperator code) {
  const auto rule = Table().find(code);
  if (rule == Table().end())
    return Unsupported("the operator is not supported");
  FloatOperator in(graph, op);
  if (in.outputs() < 1 || in.outputs() > kMostOutputs)
    return Invalid(in.outputs(), " outputs");
  for (int i = 0; i < in.outputs(); ++i) {
    const auto type = graph.TypeOf(in.Output(i));
    if (!type.ok()) return type.status();
  }
  rule->second(in);
  return graph.nodes().status();
}

Value FloatOperator::Raw(int i) {
  if (!ok()) return nodes().Scalar(kF32, 0);
  if (!Has(i)) {
    Fail(Invalid("no operand ", i));
    return nodes().Scalar(kF32, 0);
  }
  const auto value = graph_.ValueOf(Index(i));
  if (value.ok()) return *value;
  Fail(value.status());
  return nodes().Scalar(kF32, 0);
}

std::optional<Affine> FloatOperator::Quantised(int index) {
  if (!ok() || index == -1) return std::nullopt;
  auto affine = graph_.AffineOf(index);
  if (affine.ok()) return *std::move(affine);
  Fail(affine.status());
  return std::nullopt;
}

Value FloatOperator::Dequantised(Value value, const Affine& affine) {
  if (!ok()) return value;
  HloBuilder& n = nodes();
  const Ints shape = value.type().shape;
  const auto spread = [&](const std::vector<float>& numbers) {
    return affine.per_channel()
               ? n.BroadcastInDim(n.Floats(numbers), shape, {affine.axis})
               : n.Filled({kF32, shape, {}}, numbers[0]);
  };
  value = n.Convert(value, kF32);
  if (std::any_of(affine.zeros.begin(), affine.zeros.end(),
                  [](int64_t zero) { return zero != 0; })) {
    value = n.Binary(Op::kHloSubtract, value,
                     spread({affine.zeros.begin(), affine.zeros.end()}));
  }
  return n.Binary(Op::kHloMultiply, value, spread(affine.scales));
}

// round(value / scale) + zero, with halves away from zero, clamped to the type.
Value FloatOperator::Requantised(Value value, const Affine& affine,
                                 ElementType element) {
  HloBuilder& n = nodes();
  if (!ok()) return value;
  if (affine.per_channel()) {
    Fail(Unsupported("a result quantised per channel"));
    return value;
  }
  value = n.Unary(Op::kHloRoundNearestAfz,
                  n.Binary(Op::kHloDivide, value, affine.scales[0]));
  if (affine.zeros[0] != 0)
    value = n.Binary(Op::kHloAdd, value, static_cast<double>(affine.zeros[0]));
  const auto limit = [&](bool high) {
    return ir::WithElement(element, [&](auto tag) -> double {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T>) {
        return static_cast<double>(high ? std::numeric_limits<T>::max()
                                        : std::numeric_limits<T>::min());
      }
      return 0;
    });
  };
  return n.Convert(n.Clamp(limit(false), value, limit(true)), element);
}

Value FloatOperator::Real(int i) {
  const Value value = Raw(i);
  if (!ok()) return value;
  if (ir::IsFloat(value.type().element)) return nodes().Convert(value, kF32);
  const auto affine = AffineOf(i);
  return affine ? Dequantised(value, *affine) : value;
}

Factor FloatOperator::FactorOf(int i, int64_t channel_axis) {
  Factor factor;
  const auto affine = AffineOf(i);
  const ElementType element = Raw(i).type().element;
  const bool byte =
      element == ElementType::kInt8 || element == ElementType::kUint8;
  if (!ok() || !affine || !byte ||
      (affine->per_channel() && affine->axis != channel_axis)) {
    factor.value = Real(i);
    return factor;
  }
  factor.scales = affine->scales;
  factor.exact = true;
  Affine centred = *affine;
  std::fill(centred.scales.begin(), centred.scales.end(), 1.0f);
  const bool moved = std::any_of(centred.zeros.begin(), centred.zeros.end(),
                                 [](int64_t zero) { return zero != 0; });
  factor.value = nodes().Convert(Raw(i), kF32);
  if (!moved) return factor;
  const std::vector<float> zeros(centred.zeros.begin(), centred.zeros.end());
  const Ints shape = factor.value.type().shape;
  factor.value = nodes().Binary(
      Op::kHloSubtract, factor.value,
      centred.per_channel()
          ? nodes().BroadcastInDim(nodes().Floats(zeros), shape, {centred.axis})
          : nodes().Filled({kF32, shape, {}}, zeros[0]));
  return factor;
}

Ints FloatOperator::Integers(int i) {
  const Value value = Raw(i);
  if (!ok()) return {};
  const ElementType element = value.type().element;
  if (!value->is_constant() || !ir::IsInteger(element)) {
    Fail(Unsupported("operand ", i, " (", graph_.tensors().Describe(Index(i)),
                     ") is not a constant of integers"));
    return {};
  }
  return value->literal().Visit([](const auto& values) {
    Ints integers;
    for (const auto& v : values) integers.push_back(static_cast<int64_t>(v));
    return integers;
  });
}

ir::Type FloatOperator::ResultType(int i) {
  if (i >= outputs()) {
    Fail(Invalid("no result ", i));
    return {kF32, {}, {}};
  }
  auto type = graph_.TypeOf(Output(i));
  if (type.ok()) return *std::move(type);
  Fail(type.status());
  return {kF32, {}, {}};
}

int64_t FloatOperator::Axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    Fail(Invalid("axis ", axis, " of rank ", rank));
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

Ints FloatOperator::Axes(const Ints& axes, int64_t rank) {
  Ints all;
  for (const int64_t axis : axes) all.push_back(Axis(axis, rank));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return ok() ? all : Ints{};
}

Value FloatOperator::Activated(Value value, tflite::Activation activation) {
  HloBuilder& n = nodes();
  if (!ok()) return value;
  switch (activation) {
    case tflite::Activation_NONE:
      return value;
    case tflite::Activation_RELU:
      return n.Binary(Op::kHloMaximum, value, 0);
    case tflite::Activation_RELU6:
      return n.Clamp(0, value, 6);
    case tflite::Activation_RELU_N1_TO_1:
      return n.Clamp(-1, value, 1);
    case tflite::Activation_TANH:
      return n.Unary(Op::kHloTanh, value);
    default:
      Fail(Unsupported("fused activation ",
                       tflite::EnumNameActivation(activation)));
      return value;
  }
}

void FloatOperator::Set(Value value, tflite::Activation activation,
                        int output) {
  value = Activated(value, activation);
  const ir::Type type = ResultType(output);
  const auto affine = ResultAffine(output);
  if (!ok()) return;
  if (affine && value.type().element == kF32) {
    value = Requantised(value, *affine, type.element);
  } else if (ir::IsFloat(type.element) && ir::IsFloat(value.type().element)) {
    value = nodes().Convert(value, type.element);
  }
  SetStored(value, output);
}

void FloatOperator::SetMoved(Value value, int from, int output) {
  const auto old = AffineOf(from), now = ResultAffine(output);
  if (!ok()) return;
  if (old == now || !old) return Set(value, tflite::Activation_NONE, output);
  Set(Dequantised(value, *old), tflite::Activation_NONE, output);
}

void FloatOperator::SetStored(Value value, int output) {
  const ir::Type type = ResultType(output);
  if (!ok()) return;
  if (value.type().element != type.element ||
      (!graph_.IsOpen(Output(output)) && value.type().shape != type.shape)) {
    Fail(Invalid("the operands make ", ir::TypeText(value.type())));
    return;
  }
  nodes().NameResult(value);
  Fail(graph_.Define(Output(output), value));
}

void Windows::Pads(const Ints& sizes, Ints& low, Ints& high) const {
  low.assign(sizes.size(), 0);
  high.assign(sizes.size(), 0);
  if (padding != tflite::Padding_SAME) return;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t extent = (kernel[i] - 1) * dilation[i] + 1;
    const int64_t positions = (sizes[i] + stride[i] - 1) / stride[i];
    const int64_t total =
        std::max<int64_t>(0, (positions - 1) * stride[i] + extent - sizes[i]);
    low[i] = total / 2;
    high[i] = total - low[i];
  }
}

ir::HloConvolutionAttributes Windows::Attributes() const {
  const auto rank = static_cast<int64_t>(kernel.size());
  ir::HloConvolutionAttributes a;
  a.stride = stride;
  a.rhs_dilation = dilation;
  a.lhs_dilation.assign(rank, 1);
  a.reversal.assign(rank, 0);
  a.low.assign(rank, 0);
  a.high.assign(rank, 0);
  a.input_spatial.resize(rank);
  std::iota(a.input_spatial.begin(), a.input_spatial.end(), 1);
  a.output_spatial = a.input_spatial;
  a.input_feature = a.output_feature = rank + 1;
  return a;
}

void Windows::Transpose(const Ints& from, const Ints& to,
                        ir::HloConvolutionAttributes& a) const {
  const size_t rank = kernel.size();
  Ints low, high;
  Pads(to, low, high);
  a.stride.assign(rank, 1);
  a.reversal.assign(rank, 1);
  a.lhs_dilation = stride;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = (kernel[i] - 1) * dilation[i] + 1;
    a.low[i] = extent - 1 - low[i];
    a.high[i] = to[i] - 1 + extent - ((from[i] - 1) * stride[i] + 1) - a.low[i];
  }
}

ir::HloWindowAttributes Windows::PoolAttributes(const Ints& sizes) const {
  const size_t rank = kernel.size() + 2;
  const Ints ones(rank, 1), zeros(rank, 0);
  ir::HloWindowAttributes a = {ones, ones, ones, ones, zeros, zeros};
  Ints low, high;
  Pads(sizes, low, high);
  for (size_t i = 0; i < kernel.size(); ++i) {
    a.window[1 + i] = kernel[i];
    a.stride[1 + i] = stride[i];
    a.low[1 + i] = low[i];
    a.high[1 + i] = high[i];
  }
  return a;
}

bool CheckWindows(FloatOperator& in, const Windows& windows) {
  for (const Ints* values :
       {&windows.kernel, &windows.stride, &windows.dilation}) {
    for (const int64_t value : *values)
      in.Require(1 <= value && value <= kMostWindow, "a window of ",
                 ir::ShapeText(windows.kernel), ", stride ",
                 ir::ShapeText(windows.stride), ", dilation ",
                 ir::ShapeText(windows.dilation));
  }
  return in.ok();
}

}  // namespace systole::import
