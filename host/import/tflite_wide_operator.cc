// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <algorithm>
#include <cmath>
#include <limits>

#include "host/import/tflite_wide.h"

namespace systole::import {
namespace {

constexpr double kLowest = -32768, kHighest = 32767;

}  // namespace

Value WideOperator::Input(int i) {
  const Value x = in.Raw(i);
  const auto affine = in.AffineOf(i);
  if (!in.ok()) return x;
  if (x.type().element != ElementType::kInt16 || !affine ||
      affine->per_channel() || affine->zeros[0] != 0) {
    in.Fail(Unsupported("operand ", i, " is not of 16 bits with zero point 0"));
    return x;
  }
  in.Require(x.type().elements() > 0, "operand ", i, " is ",
             ir::TypeText(x.type()));
  return n.Convert(x, ElementType::kInt64);
}

float WideOperator::ScaleOf(const std::optional<Affine>& affine) {
  if (!in.ok()) return 1;
  if (!affine || affine->per_channel() || affine->zeros[0] != 0) {
    in.Fail(Unsupported("values without one scale and zero point 0"));
    return 1;
  }
  return affine->scales[0];
}

ir::Factor WideOperator::FactorOf(double real) {
  const auto factor = ir::FactorOf(real);
  if (factor.ok()) return *factor;
  in.Fail(factor.status());
  return {};
}

Value WideOperator::Scaled(Value x, ir::Factor factor) {
  if (!in.ok()) return x;
  constexpr double kMost = std::numeric_limits<int32_t>::max();
  if (factor.shift > 0) {
    x = n.Binary(Op::kHloMultiply, x, std::ldexp(1.0, factor.shift));
    x = n.Clamp(-kMost - 1, x, kMost);
  }
  x = n.Binary(Op::kHloMultiply, x, factor.multiplier);
  x = Right(n.Binary(Op::kHloAdd, x, 1 << 30), 31);
  if (factor.shift >= 0) return x;
  // Halves away from 0: a negative number is 1 lower before it is shifted.
  const Value sign = Right(x, 63);
  x = n.Binary(Op::kHloAdd, n.Binary(Op::kHloAdd, x, sign),
               std::ldexp(1.0, -factor.shift - 1));
  return Right(x, -factor.shift);
}

Value WideOperator::AlongLast(const Ints& numbers, Value like) {
  const int64_t last = like.type().rank() - 1;
  return n.BroadcastInDim(
      numbers.size() == 1 ? n.Reshape(n.Integers(numbers), {})
                          : n.Integers(numbers),
      like.type().shape, numbers.size() == 1 ? Ints{} : Ints{last});
}

Value WideOperator::ScaledByShort(Value x, const std::vector<double>& reals) {
  Ints multipliers, halves, shifts;
  for (const double real : reals) {
    const ir::Factor factor = FactorOf(real);
    multipliers.push_back(factor.multiplier < 0x7FFF0000
                              ? (factor.multiplier + (1 << 15)) >> 16
                              : 0x7FFF);
    shifts.push_back(15 - factor.shift);
    if (in.ok() && shifts.back() < 1)
      in.Fail(Unsupported("a factor of ", real));
    if (!in.ok()) return x;
    halves.push_back(int64_t{1} << (shifts.back() - 1));
  }
  x = n.Binary(Op::kHloMultiply, x, AlongLast(multipliers, x));
  x = n.Binary(Op::kHloAdd, x, AlongLast(halves, x));
  return n.Binary(Op::kHloShiftRightArithmetic, x, AlongLast(shifts, x));
}

// The factor's 53 bits are taken in four parts, the lowest first, of products
// with magnitudes below 2^47; what a part shifts out cannot change the result.
Value WideOperator::Multiplied(Value x, const std::vector<double>& reals) {
  constexpr int kBits = 53, kPart = 14, kParts = 4;
  Ints parts[kParts], halves, shifts;
  for (const double real : reals) {
    int exponent = 0;
    const auto mantissa =
        static_cast<int64_t>(std::ldexp(std::frexp(real, &exponent), kBits));
    shifts.push_back(kBits - (kParts - 1) * kPart - exponent);
    if (in.ok() && (!(real > 0) || exponent < -30 || shifts.back() < 1))
      in.Fail(Unsupported("a factor of ", real));
    if (!in.ok()) return x;
    halves.push_back(int64_t{1} << (shifts.back() - 1));
    for (int p = 0; p < kParts; ++p) {
      const int64_t high = mantissa >> (p * kPart);
      parts[p].push_back(p + 1 < kParts ? high & ((1 << kPart) - 1) : high);
    }
  }
  if (!in.ok()) return x;
  const Value sign = n.Unary(Op::kHloSign, x);
  const Value magnitude =
      n.Clamp(0, n.Unary(Op::kHloAbs, x), std::ldexp(1.0, 47) - 1);
  const auto part = [&](int p) {
    return n.Binary(Op::kHloMultiply, magnitude, AlongLast(parts[p], x));
  };
  Value product = part(0);
  for (int p = 1; p < kParts; ++p)
    product = n.Binary(Op::kHloAdd, part(p), Right(product, kPart));
  product = n.Binary(Op::kHloAdd, product, AlongLast(halves, x));
  product =
      n.Binary(Op::kHloShiftRightArithmetic, product, AlongLast(shifts, x));
  return n.Binary(Op::kHloMultiply, product, sign);
}

Value WideOperator::Lookup(const Ints& table, Value index) {
  ir::HloGatherAttributes a;
  a.collapsed_slice_dims = a.start_index_map = {0};
  a.index_vector_dim = index.type().rank();
  a.slice_sizes = {1};
  return n.AddOne(Op::kHloGather, {n.Integers(table), index}, a);
}

Value WideOperator::Take(Value x, int64_t dimension, const Ints& places) {
  ir::HloGatherAttributes a;
  a.slice_sizes = x.type().shape;
  a.slice_sizes[dimension] = 1;
  for (int64_t i = 0; i < x.type().rank(); ++i) {
    if (i != dimension) a.offset_dims.push_back(i);
  }
  a.collapsed_slice_dims = a.start_index_map = {dimension};
  a.index_vector_dim = 1;
  return n.AddOne(Op::kHloGather, {x, n.Integers(places)}, a);
}

void WideOperator::Set(Value value, tflite::Activation activation) {
  double low = kLowest, high = kHighest;
  const float scale = ResultScale();
  const auto steps = [&](float real) {
    return std::min<double>(std::round(real / scale), kHighest);
  };
  switch (activation) {
    case tflite::Activation_NONE:
      break;
    case tflite::Activation_RELU:
      low = 0;
      break;
    case tflite::Activation_RELU6:
      low = 0;
      high = steps(6);
      break;
    case tflite::Activation_RELU_N1_TO_1:
      high = steps(1);
      low = std::max<double>(std::round(-1 / scale), kLowest);
      break;
    default:
      in.Fail(Unsupported("fused activation ",
                          tflite::EnumNameActivation(activation)));
  }
  if (!in.ok()) return;
  in.SetStored(n.Convert(n.Clamp(low, value, high), ElementType::kInt16));
}

}  // namespace systole::import
