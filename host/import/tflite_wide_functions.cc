// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions of one value of 16 bits, and softmax.
#include <algorithm>
#include <cmath>
#include <limits>

#include "host/import/tflite_wide.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;
using ir::Direction;

// 2^16 / (1 + e^-(i / 24)), as TensorFlow Lite's kernels have it.
constexpr uint16_t kLogistic[] = {
    32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498,
    40149, 40794, 41432, 42064, 42688, 43304, 43912, 44511, 45102, 45683, 46255,
    46817, 47369, 47911, 48443, 48964, 49475, 49975, 50464, 50942, 51409, 51865,
    52311, 52745, 53169, 53581, 53983, 54374, 54755, 55125, 55485, 55834, 56174,
    56503, 56823, 57133, 57433, 57724, 58007, 58280, 58544, 58800, 59048, 59288,
    59519, 59743, 59959, 60168, 60370, 60565, 60753, 60935, 61110, 61279, 61441,
    61599, 61750, 61896, 62036, 62172, 62302, 62428, 62549, 62666, 62778, 62886,
    62990, 63090, 63186, 63279, 63368, 63454, 63536, 63615, 63691, 63765, 63835,
    63903, 63968, 64030, 64090, 64148, 64204, 64257, 64308, 64357, 64405, 64450,
    64494, 64536, 64576, 64614, 64652, 64687, 64721, 64754, 64786, 64816, 64845,
    64873, 64900, 64926, 64950, 64974, 64997, 65019, 65039, 65060, 65079, 65097,
    65115, 65132, 65149, 65164, 65179, 65194, 65208, 65221, 65234, 65246, 65258,
    65269, 65280, 65291, 65301, 65310, 65319, 65328, 65337, 65345, 65352, 65360,
    65367, 65374, 65381, 65387, 65393, 65399, 65404, 65410, 65415, 65420, 65425,
    65429, 65433, 65438, 65442, 65445, 65449, 65453, 65456, 65459, 65462, 65465,
    65468, 65471, 65474, 65476, 65479, 65481, 65483, 65485, 65488, 65489, 65491,
    65493, 65495, 65497, 65498, 65500, 65501, 65503, 65504, 65505, 65507, 65508,
    65509, 65510, 65511, 65512, 65513, 65514, 65515, 65516, 65517, 65517, 65518,
    65519, 65520, 65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524, 65525,
    65525, 65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529,
    65529, 65529, 65530, 65530, 65530, 65530, 65531, 65531, 65531, 65531, 65531,
    65532, 65532, 65532, 65532, 65532, 65532, 65533, 65533, 65533, 65533, 65533,
    65533, 65533, 65533, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534,
    65534, 65534, 65535,
};

template <int kHigh>
void ImportRelu(WideOperator& op) {
  const Value x = op.Input(0);
  // Single precision, as specified.
  const float factor = op.Scale(0) / op.ResultScale();
  if (!op.in.ok()) return;
  op.Set(op.Scaled(x, factor),
         kHigh > 0 ? tflite::Activation_RELU6 : tflite::Activation_RELU);
}

void ImportLeakyRelu(WideOperator& op) {
  const auto* const o = op.in.Read(op.in.op().options_as_LeakyReluOptions());
  const Value x = op.Input(0);
  const float from = op.Scale(0), to = op.ResultScale();
  if (!op.in.ok()) return;
  const float above = from / to, product = from * o->alpha();
  op.Set(op.n.Select(op.n.Compare(Direction::kGe, x, 0.0), op.Scaled(x, above),
                     op.Scaled(x, product / to)));
}

void ImportAbs(WideOperator& op) {
  const Value magnitude = op.n.Unary(Op::kHloAbs, op.Input(0));
  const float from = op.Scale(0), to = op.ResultScale();
  if (!op.in.ok()) return;
  op.Set(from == to ? magnitude : op.Scaled(magnitude, from / to));
}

// Results of logistic, tanh and softmax have one scale.
bool IsFraction(WideOperator& op) {
  const float to = op.ResultScale();
  if (op.in.ok() && to != 1.0f / (1 << 15))
    op.in.Fail(Unsupported("a result with scale ", to, ", not 1/32768"));
  return op.in.ok();
}

// The argument in steps of 1 / (3 * 2^12).
Value Steps(WideOperator& op) {
  const Value x = op.Input(0);
  const float scale = op.Scale(0);
  if (!IsFraction(op)) return x;
  if (scale == 1.0f / (1 << 12)) return op.n.Binary(Op::kHloMultiply, x, 3);
  double factor = double{scale} * 4096 * 3;
  int shift = 0;
  for (; factor <= 32767 / 2.0 && shift <= 30; ++shift) factor *= 2;
  const Value product = op.n.Binary(Op::kHloMultiply, x, std::trunc(factor));
  if (shift == 0) return product;
  return op.Right(op.n.Binary(Op::kHloAdd, product, std::ldexp(1.0, shift - 1)),
                  shift);
}

// Differences of neighbours.
Ints RisesOf(const Ints& table) {
  Ints rises;
  for (size_t i = 0; i + 1 < table.size(); ++i)
    rises.push_back(table[i + 1] - table[i]);
  return rises;
}

// The table's value at |steps| / 2^bits, between two entries, times 2^bits; the
// limit beyond the table.
Value Interpolated(WideOperator& op, Value steps, int bits, double limit) {
  HloBuilder& n = op.n;
  const Ints table(std::begin(kLogistic), std::end(kLogistic));
  const Ints rises = RisesOf(table);
  const auto last = static_cast<double>(rises.size());
  const Value magnitude = n.Unary(Op::kHloAbs, steps);
  const Value place = op.Right(magnitude, bits);
  const Value index = n.Clamp(0, place, last - 1);
  const double one = std::ldexp(1.0, bits);
  const Value rest = n.Binary(Op::kHloAnd, magnitude, one - 1);
  const Value value = n.Binary(
      Op::kHloAdd, n.Binary(Op::kHloMultiply, op.Lookup(table, index), one),
      n.Binary(Op::kHloMultiply, rest, op.Lookup(rises, index)));
  return n.Select(n.Compare(Direction::kGe, place, last), n.Like(value, limit),
                  value);
}

// `above` of arguments from 0 on, `below` of others, divided by 2^bits.
void SetSigned(WideOperator& op, Value steps, Value above, Value below,
               int bits) {
  op.Set(op.Right(
      op.n.Select(op.n.Compare(Direction::kGe, steps, 0.0), above, below),
      bits));
}

void ImportLogistic(WideOperator& op) {
  const Value steps = Steps(op);
  if (!op.in.ok()) return;
  const Value value = Interpolated(op, steps, 9, 0x7FFF << 10);
  SetSigned(op, steps, op.n.Binary(Op::kHloAdd, value, 1 << 9),
            op.n.Binary(Op::kHloSubtract,
                        op.n.Like(value, (1 << 25) + (1 << 9) - 1), value),
            10);
}

void ImportTanh(WideOperator& op) {
  const Value steps = Steps(op);
  if (!op.in.ok()) return;
  const Value value = Interpolated(op, steps, 8, 0xFFFF << 8);
  SetSigned(op, steps, op.n.Binary(Op::kHloAdd, value, -(1 << 23) + (1 << 7)),
            op.n.Binary(Op::kHloSubtract,
                        op.n.Like(value, (1 << 23) + (1 << 7) - 1), value),
            8);
}

// 512 segments of a function of 16 bits, and the end of the last one. The
// values are shifted by half the error in the middle of the segment.
template <typename Real, typename Function>
Ints Segments(Real scale, Real to, int zero, Function function) {
  constexpr int kSegments = 512;
  constexpr Real kLow = -32768, kHigh = 32767;
  const Real low = scale * (kLow - static_cast<Real>(zero)),
             high = scale * (kHigh - static_cast<Real>(zero));
  const Real step = (high - low) / kSegments, half = step / 2;
  const Real inverse = (kHigh - kLow + 1) / (to * kHigh - to * kLow);
  const auto clamped = [&](Real value) {
    // Scales that overflow make values that are no numbers.
    return std::isnan(value)
               ? static_cast<int64_t>(kLow)
               : static_cast<int64_t>(std::clamp(value, kLow, kHigh));
  };
  Ints table;
  for (int i = 0; i < kSegments; ++i) {
    const Real at = low + static_cast<Real>(i) * step;
    const Real value = std::round(function(at) * inverse);
    const Real next = function(low + static_cast<Real>(i + 1) * step) * inverse;
    const Real middle = std::round((next + value) / 2);
    const Real error = middle - std::round(function(at + half) * inverse);
    table.push_back(clamped(value - std::round(error / 2)));
  }
  table.push_back(clamped(std::round(function(high) * inverse)));
  return table;
}

// The function of such a table for values of 16 bits.
Value OnSegments(WideOperator& op, const Ints& table, Value x) {
  HloBuilder& n = op.n;
  const Value index = n.Binary(Op::kHloAdd, op.Right(x, 7), 256);
  const Value rest = n.Binary(Op::kHloAnd, x, 127);
  const Value rise =
      n.Binary(Op::kHloMultiply, op.Lookup(RisesOf(table), index), rest);
  return n.Binary(Op::kHloAdd, op.Lookup(table, index),
                  op.Right(n.Binary(Op::kHloAdd, rise, 64), 7));
}

float Exp(float x, bool) { return std::exp(x); }

float Gelu(float x, bool approximate) {
  if (approximate) {
    const float slope = 0.79788456080286535588f;  // sqrt(2 / pi)
    const float inner = slope * x * (1.0f + 0.044715f * x * x);
    return 0.5f * x * (1.0f + std::tanh(inner));
  }
  constexpr float kRootHalf = 0.70710678118654752440f;
  return 0.5f * x * std::erfc(x * -kRootHalf);
}

template <float (*kFunction)(float, bool)>
void ImportSegments(WideOperator& op) {
  const auto* const gelu = op.in.op().options_as_GeluOptions();
  const bool approximate = gelu != nullptr && gelu->approximate();
  const Value x = op.Input(0);
  const float from = op.Scale(0), to = op.ResultScale();
  if (!op.in.ok()) return;
  const auto function = [&](float at) { return kFunction(at, approximate); };
  op.Set(OnSegments(op, Segments(from, to, 0, function), x));
}

// Where the function is undefined, the result is the lowest or the highest.
template <bool kLog>
void ImportPositive(WideOperator& op) {
  const Value x = op.Input(0);
  const float from = op.Scale(0), to = op.ResultScale();
  if (!op.in.ok()) return;
  const auto function = [&](float at) {
    if (at <= 0) return (kLog ? -32768 : 32767) * to;
    return kLog ? std::log(at) : 1 / std::sqrt(at);
  };
  op.Set(OnSegments(op, Segments(from, to, 0, function), x));
}

void ImportSoftmax(WideOperator& op) {
  const auto* const o = op.in.Read(op.in.op().options_as_SoftmaxOptions());
  const Value x = op.Input(0);
  const float scale = op.Scale(0);
  if (!IsFraction(op) || !op.in.Require(x.type().rank() >= 1, "a scalar"))
    return;
  HloBuilder& n = op.n;
  constexpr double kRange = 10.0, kSteps = 65535.0;
  const Ints exps = Segments(kRange / kSteps, 2 / kSteps, 32767,
                             [](double v) { return std::exp(v); });
  const Ints inverses = Segments(1 / kSteps, 2 / kSteps, -32768,
                                 [](double v) { return 1 / (1 + v); });
  const double factor =
      std::min(double{scale} * double{o->beta()} / (kRange / kSteps),
               double{std::numeric_limits<int32_t>::max()});
  const int64_t last = x.type().rank() - 1;
  const Value below = op.Scaled(
      n.Binary(Op::kHloSubtract, x, n.Reduce(Op::kHloMaximum, x, {last}, true)),
      factor);
  const Value exp = OnSegments(
      op, exps, n.Clamp(-32768, n.Binary(Op::kHloAdd, below, 32767), 32767));
  const Value sum = n.Reduce(Op::kHloAdd, exp, {last}, true);
  // Of the sum's 32 bits: leading zeros, and the 16 bits after the first one.
  const Value zeros =
      n.Binary(Op::kHloSubtract, n.Unary(Op::kHloCountLeadingZeros, sum), 32);
  const Value normal =
      n.Binary(Op::kHloShiftLeft, sum, n.Binary(Op::kHloSubtract, zeros, 1));
  const Value fraction = n.Binary(
      Op::kHloSubtract, op.Right(n.Binary(Op::kHloAdd, normal, 1 << 13), 14),
      (1 << 15) + (1 << 16));
  const Value inverse =
      OnSegments(op, inverses, n.Clamp(-32768, fraction, 32767));
  const Value shift = n.Binary(Op::kHloSubtract, n.Like(zeros, 31), zeros);
  const Value half = n.Binary(Op::kHloShiftLeft, n.Like(shift, 1),
                              n.Binary(Op::kHloSubtract, shift, 1));
  const Value product =
      n.Binary(Op::kHloAdd, n.Binary(Op::kHloMultiply, exp, inverse), half);
  op.Set(n.Clamp(0, n.Binary(Op::kHloShiftRightArithmetic, product, shift),
                 32767));
}

}  // namespace

std::vector<WideRule> WideFunctionRules() {
  return {
      {B::BuiltinOperator_RELU, ImportRelu<0>},
      {B::BuiltinOperator_RELU6, ImportRelu<6>},
      {B::BuiltinOperator_LEAKY_RELU, ImportLeakyRelu},
      {B::BuiltinOperator_ABS, ImportAbs},
      {B::BuiltinOperator_LOGISTIC, ImportLogistic},
      {B::BuiltinOperator_TANH, ImportTanh},
      {B::BuiltinOperator_EXP, ImportSegments<Exp>},
      {B::BuiltinOperator_GELU, ImportSegments<Gelu>},
      {B::BuiltinOperator_LOG, ImportPositive<true>},
      {B::BuiltinOperator_RSQRT, ImportPositive<false>},
      {B::BuiltinOperator_SOFTMAX, ImportSoftmax},
  };
}

}  // namespace systole::import
