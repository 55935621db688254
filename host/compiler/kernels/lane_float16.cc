// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Numbers of fewer bits than fp32, as which lanes hold them.
#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_functions.h"

namespace systole::lanes {
namespace {

using vpu::Op;

constexpr uint32_t kSmallestNormal = 0x38800000;  // 2^-14
constexpr uint32_t kBiases = 0x38000000;          // 127 - 15, in place
constexpr uint32_t kAboveLargest = 0x47800000;    // 2^16
constexpr float kUnit = 0.5f;  // its last place is that of a subnormal number
constexpr uint32_t kUnitBits = 0x3F000000;

}  // namespace

// With the exponent in place the fp32 number is 2^-112 of it, subnormal ones
// included; of infinity and NaN the exponent has all bits.
Lane FromFloat16(LaneGraph& graph, Lane bits) {
  const auto g = [&](Op op, Lane a, Lane b = -1, Lane c = -1) {
    return graph.Make(op, a, b, c);
  };
  const auto k = [&](uint32_t value) { return graph.Constant(value); };
  const Lane size = g(Op::kShr, Magnitude(graph, bits), k(3));
  const Lane number = g(Op::kFmul, size, graph.Float(0x1p112f));
  const Lane special =
      g(Op::kIand, g(Op::kIlt, k(0x0F7FFFFF), size), k(kInfinity));
  return g(Op::kIor, g(Op::kIor, number, special),
           g(Op::kIand, bits, k(kSign)));
}

Lane RoundToFloat16(LaneGraph& graph, Lane a) {
  const auto g = [&](Op op, Lane x, Lane y = -1, Lane z = -1) {
    return graph.Make(op, x, y, z);
  };
  const auto k = [&](uint32_t value) { return graph.Constant(value); };
  const Lane size = Magnitude(graph, a), unit = graph.Float(kUnit);
  const Lane odd = g(Op::kIand, g(Op::kShr, size, k(13)), k(1));
  const Lane normal = g(
      Op::kIand, g(Op::kIadd, g(Op::kIadd, size, k(0xFFF)), odd), k(~0x1FFFu));
  const Lane small = g(Op::kFsub, g(Op::kFadd, size, unit), unit);
  const Lane near =
      g(Op::kSel, g(Op::kIlt, size, k(kSmallestNormal)), small, normal);
  const Lane finite = g(Op::kIlt, near, k(kAboveLargest));
  const Lane rounded =
      g(Op::kSel, finite, near, g(Op::kImax, near, k(kInfinity)));
  return g(Op::kIor, rounded, g(Op::kIand, a, k(kSign)));
}

Lane ToFloat16(LaneGraph& graph, Lane a, bool keep_nans) {
  const auto g = [&](Op op, Lane x, Lane y = -1, Lane z = -1) {
    return graph.Make(op, x, y, z);
  };
  const auto k = [&](uint32_t value) { return graph.Constant(value); };
  const Lane size = Magnitude(graph, a), sign = g(Op::kIand, a, k(kSign));
  const Lane normal = g(Op::kShr, g(Op::kIsub, size, k(kBiases)), k(13));
  const Lane small =
      g(Op::kIsub, g(Op::kFadd, size, graph.Float(kUnit)), k(kUnitBits));
  const Lane number =
      g(Op::kSel, g(Op::kIlt, size, k(kSmallestNormal)), small, normal);
  const Lane half = g(Op::kShl, g(Op::kImin, number, k(0x7C00)), k(16));
  Lane nan = k(0x7E000000);
  if (keep_nans) {
    const Lane fraction = g(Op::kIand, g(Op::kShl, size, k(3)), k(0x03FF0000));
    nan = g(Op::kIor, g(Op::kIor, fraction, k(0x7C000000)), sign);
  }
  return g(Op::kSel, IsNanLane(graph, a), nan, g(Op::kIor, half, sign));
}

// The significand to nearest even, then the ends of the exponent.
Lane ReducePrecision(LaneGraph& graph, Lane a, int exponent, int mantissa) {
  const auto g = [&](Op op, Lane x, Lane y = -1, Lane z = -1) {
    return graph.Make(op, x, y, z);
  };
  const auto k = [&](uint32_t value) { return graph.Constant(value); };
  const Lane same = g(Op::kFmax, a, a);
  if (exponent >= 8 && mantissa == 7) return g(Op::kBf16, a);
  Lane size = Magnitude(graph, a);
  const Lane finite = g(Op::kIlt, size, k(kInfinity));
  if (mantissa < 23) {
    const int drop = 23 - mantissa;
    const uint32_t half = uint32_t{1} << (drop - 1);
    const Lane odd = g(Op::kIand, g(Op::kShr, size, k(drop)), k(1));
    size = g(Op::kIadd, g(Op::kIadd, size, k(half - 1)), odd);
    size = g(Op::kIand, size, k(~(2 * half - 1)));
  }
  if (exponent < 8) {
    const uint32_t bias = (1u << (exponent - 1)) - 1;
    const Lane above = g(Op::kIlt, size, k((128 + bias) << 23));
    size = g(Op::kSel, above, size, k(kInfinity));
    const Lane below = g(Op::kIlt, size, k((128 - bias) << 23));
    size = g(Op::kSel, below, k(0), size);
  }
  const Lane reduced = g(Op::kIor, size, g(Op::kIand, a, k(kSign)));
  return g(Op::kSel, finite, reduced, same);
}

}  // namespace systole::lanes
