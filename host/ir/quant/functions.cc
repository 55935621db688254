// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions of one element. For i8, all 256 results are computed once.
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/quant/fixed_point.h"
#include "host/ir/quant/kernels.h"

namespace systole::ir {
namespace {

// From the centred value to steps of the result, relative to its zero point.
using Steps = std::function<int64_t(int32_t)>;

float Gelu(float x, bool approximate) {
  if (!approximate) {
    return 0.5f * x * std::erfc(x * static_cast<float>(-M_SQRT1_2));
  }
  constexpr auto kSlope = static_cast<float>(M_2_SQRTPI * M_SQRT1_2);
  return 0.5f * x * (1.0f + std::tanh(kSlope * x * (1.0f + 0.044715f * x * x)));
}

float RealFunction(const Node& node, float x) {
  switch (node.op) {
    case Op::kAbs:
      return std::abs(x);
    case Op::kNeg:
      return -x;
    case Op::kExp:
      return std::exp(x);
    case Op::kLog:
      return std::log(x);
    case Op::kSqrt:
      return std::sqrt(x);
    case Op::kRsqrt:
      return 1.0f / std::sqrt(x);
    case Op::kLogistic:
      return 1.0f / (1.0f + std::exp(-x));
    case Op::kTanh:
      return std::tanh(x);
    case Op::kSin:
      return std::sin(x);
    case Op::kCos:
      return std::cos(x);
    case Op::kFloor:
      return std::floor(x);
    case Op::kCeil:
      return std::ceil(x);
    case Op::kRound:  // halves to even
      return std::nearbyint(x);
    case Op::kElu:
      return x < 0 ? std::expm1(x) : x;
    case Op::kGelu:
      return Gelu(x, node.attr<GeluAttributes>().approximate);
    default:
      return x < 0 ? x * node.attr<SlopeAttributes>().slope : x;
  }
}

// NaN, which an invalid slope or scale causes, becomes 0.
int64_t ToSteps(float real) {
  if (std::isnan(real)) return 0;
  return static_cast<int64_t>(std::clamp(real, -1e9f, 1e9f));
}

// Computed in single precision; halves round away from zero.
Steps Rounded(const Node& node) {
  const float from = node.operands[0]->quantization().scale();
  const Quantization& to = node.quantization();
  const float per_step = 1 / to.scale();
  return [&node, &to, from, per_step](int32_t centred) {
    const float x = from * static_cast<float>(centred);
    const float y = node.op == Op::kLog && x <= 0
                        ? static_cast<float>(-128 - to.zero_point) * to.scale()
                        : RealFunction(node, x);
    return ToSteps(std::round(y * per_step));
  };
}

Steps RootSteps(const Node& node) {
  const float from = node.operands[0]->quantization().scale();
  const float to = node.quantization().scale();
  return [from, to](int32_t centred) {
    return ToSteps(
        std::trunc(std::sqrt(from * static_cast<float>(centred)) / to));
  };
}

// For uint8 values, which are 128 above the stored ones, in single precision.
Steps RescaleSteps(const Node& node) {
  const Quantization& from = node.operands[0]->quantization();
  const float ratio = from.scale() * (1 / node.quantization().scale());
  const int32_t zero = from.zero_point + 128;
  const float bias = -static_cast<float>(zero) * ratio;
  return [ratio, bias, zero](int32_t centred) {
    const auto value = static_cast<float>(centred + zero);
    return ToSteps(std::round(value * ratio + bias));
  };
}

Steps Scaled(Factor above, Factor below) {
  return [above, below](int32_t centred) {
    return Scale(centred, centred < 0 ? below : above);
  };
}

absl::StatusOr<Steps> Absolute(const Node& node) {
  const float from = node.operands[0]->quantization().scale();
  const float to = node.quantization().scale();
  if (from == to) {
    return Steps([](int32_t centred) { return std::abs(centred); });
  }
  const absl::StatusOr<Factor> factor = FactorOf(from / to);
  if (!factor.ok()) return factor.status();
  return Steps(
      [factor](int32_t centred) { return Scale(std::abs(centred), *factor); });
}

absl::StatusOr<Steps> Leaky(const Node& node) {
  const float from = node.operands[0]->quantization().scale();
  const float to = node.quantization().scale();
  const auto above = FactorOf(from / to);
  const auto below = FactorOf(from * node.attr<SlopeAttributes>().slope / to);
  if (!above.ok()) return above.status();
  if (!below.ok()) return below.status();
  return Scaled(*above, *below);
}

absl::StatusOr<Steps> InverseRoot(const Node& node) {
  constexpr int kShift = 20;
  const float from = node.operands[0]->quantization().scale();
  const Quantization& to = node.quantization();
  const absl::StatusOr<Factor> factor =
      FactorOf(1.0 / (std::sqrt(from) * to.scale()));
  if (!factor.ok()) return factor.status();
  return Steps([factor](int32_t centred) -> int64_t {
    if (centred == 0) return 255;  // the largest result
    Factor root = InverseRootOf(centred);
    root.shift += kShift;
    return Scale(Scale(1, root), {factor->multiplier, factor->shift - kShift});
  });
}

absl::StatusOr<Steps> StepsOf(const Node& node) {
  switch (node.op) {
    case Op::kAbs:
      return Absolute(node);
    case Op::kLeakyRelu:
      return Leaky(node);
    case Op::kRsqrt:
      return InverseRoot(node);
    case Op::kSqrt:
      return RootSteps(node);
    case Op::kRescale:
      return RescaleSteps(node);
    default:
      return Rounded(node);
  }
}

}  // namespace

absl::StatusOr<Literal> EvaluateFunction(const Node& node,
                                         const Operands& operands) {
  if (!node.type.quantization) {
    std::vector<float> values = operands[0]->values<float>();
    for (float& value : values) value = RealFunction(node, value);
    return Literal(std::move(values));
  }
  const absl::StatusOr<Steps> steps = StepsOf(node);
  if (!steps.ok()) return steps.status();
  const int from = node.operands[0]->quantization().zero_point;
  const int to = node.quantization().zero_point;
  const bool roots = node.op == Op::kSqrt || node.op == Op::kRsqrt;
  std::array<int8_t, 256> table{};
  for (int q = roots ? from : -128; q <= 127; ++q) {
    table[q + 128] = static_cast<int8_t>(
        std::clamp<int64_t>((*steps)(q - from) + to, -128, 127));
  }
  std::vector<int8_t> values = operands[0]->values<int8_t>();
  for (int8_t& value : values) {
    if (roots && value < from) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a root of ", int{value}, ", which is below the zero point ", from));
    }
    value = table[value + 128];
  }
  return Literal(std::move(values));
}

}  // namespace systole::ir
