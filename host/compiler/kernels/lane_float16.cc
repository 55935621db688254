// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Formats with fewer bits than fp32, held in lanes as fp32.
#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_functions.h"

namespace systole::lanes {
namespace {

using vpu::Op;

constexpr uint32_t kSmallestNormal = 0x38800000;  // 2^-14
// 127 - 15, in the exponent's place.
constexpr uint32_t kBiases = 0x38000000;
constexpr uint32_t kAboveLargest = 0x47800000;  // 2^16
constexpr float kUnit = 0.5f;  // its last place is that of a subnormal number
constexpr uint32_t kUnitBits = 0x3F000000;

}  // namespace

// With the exponent in place, the fp32 number is the value times 2^-112, also
// for subnormals. For infinity and NaN the exponent has all bits set.
Lane FromFloat16(LaneGraph& graph, Lane bits) {
  const LaneBuilder g{graph};
  const Lane size = g(Op::kShr, Magnitude(graph, bits), g.K(3));
  const Lane number = g(Op::kFmul, size, g.F(0x1p112f));
  const Lane special =
      g(Op::kIand, g(Op::kIlt, g.K(0x0F7FFFFF), size), g.K(kInfinity));
  return g(Op::kIor, g(Op::kIor, number, special),
           g(Op::kIand, bits, g.K(kSign)));
}

Lane RoundToFloat16(LaneGraph& graph, Lane a) {
  const LaneBuilder g{graph};
  const Lane size = Magnitude(graph, a), unit = g.F(kUnit);
  const Lane odd = g(Op::kIand, g(Op::kShr, size, g.K(13)), g.K(1));
  const Lane normal =
      g(Op::kIand, g(Op::kIadd, g(Op::kIadd, size, g.K(0xFFF)), odd),
        g.K(~0x1FFFu));
  const Lane small = g(Op::kFsub, g(Op::kFadd, size, unit), unit);
  const Lane near =
      g(Op::kSel, g(Op::kIlt, size, g.K(kSmallestNormal)), small, normal);
  const Lane finite = g(Op::kIlt, near, g.K(kAboveLargest));
  const Lane rounded =
      g(Op::kSel, finite, near, g(Op::kImax, near, g.K(kInfinity)));
  return g(Op::kIor, rounded, g(Op::kIand, a, g.K(kSign)));
}

Lane ToFloat16(LaneGraph& graph, Lane a, bool keep_nans) {
  const LaneBuilder g{graph};
  const Lane size = Magnitude(graph, a), sign = g(Op::kIand, a, g.K(kSign));
  const Lane normal = g(Op::kShr, g(Op::kIsub, size, g.K(kBiases)), g.K(13));
  const Lane small =
      g(Op::kIsub, g(Op::kFadd, size, g.F(kUnit)), g.K(kUnitBits));
  const Lane number =
      g(Op::kSel, g(Op::kIlt, size, g.K(kSmallestNormal)), small, normal);
  const Lane half = g(Op::kShl, g(Op::kImin, number, g.K(0x7C00)), g.K(16));
  Lane nan = g.K(0x7E000000);
  if (keep_nans) {
    const Lane fraction =
        g(Op::kIand, g(Op::kShl, size, g.K(3)), g.K(0x03FF0000));
    nan = g(Op::kIor, g(Op::kIor, fraction, g.K(0x7C000000)), sign);
  }
  return g(Op::kSel, IsNanLane(graph, a), nan, g(Op::kIor, half, sign));
}

// Rounds the significand to nearest even, then limits the exponent.
Lane ReducePrecision(LaneGraph& graph, Lane a, int exponent, int mantissa) {
  const LaneBuilder g{graph};
  const Lane same = g(Op::kFmax, a, a);
  if (exponent >= 8 && mantissa == 7) return g(Op::kBf16, a);
  Lane size = Magnitude(graph, a);
  const Lane finite = g(Op::kIlt, size, g.K(kInfinity));
  if (mantissa < 23) {
    const int drop = 23 - mantissa;
    const uint32_t half = uint32_t{1} << (drop - 1);
    const Lane odd = g(Op::kIand, g(Op::kShr, size, g.K(drop)), g.K(1));
    size = g(Op::kIadd, g(Op::kIadd, size, g.K(half - 1)), odd);
    size = g(Op::kIand, size, g.K(~(2 * half - 1)));
  }
  if (exponent < 8) {
    const uint32_t bias = (1u << (exponent - 1)) - 1;
    const Lane above = g(Op::kIlt, size, g.K((128 + bias) << 23));
    size = g(Op::kSel, above, size, g.K(kInfinity));
    const Lane below = g(Op::kIlt, size, g.K((128 - bias) << 23));
    size = g(Op::kSel, below, g.K(0), size);
  }
  const Lane reduced = g(Op::kIor, size, g(Op::kIand, a, g.K(kSign)));
  return g(Op::kSel, finite, reduced, same);
}

}  // namespace systole::lanes
