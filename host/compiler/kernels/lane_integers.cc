// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Integer division in a lane, and bit counts.
#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_functions.h"

namespace systole::lanes {
namespace {

using vpu::Op;

}  // namespace

// Subtracts twice a quotient computed in fp32, made slightly smaller so that it
// is never too large. The remainder is then less than three times the divisor.
// A quotient in fp32 has a relative error below 2^-21.
IntegerQuotient DivideUnsigned(LaneGraph& graph, Lane a, Lane b) {
  const LaneBuilder g{graph};
  const Lane sign = g.K(kSign);
  const Lane less = g.F(1 - 0x1p-20f);
  const Lane share = g(Op::kFmul, g(Op::kRcp, FromUint32(graph, b)), less);
  Lane quotient = -1, rest = a;
  for (int i = 0; i < 2; ++i) {
    const Lane part =
        ToUint32(graph, g(Op::kFmul, FromUint32(graph, rest), share));
    quotient = i == 0 ? part : g(Op::kIadd, quotient, part);
    rest = g(Op::kIsub, rest, g(Op::kImul, part, b));
  }
  for (int i = 0; i < 2; ++i) {
    const Lane below =
        g(Op::kIlt, g(Op::kIxor, rest, sign), g(Op::kIxor, b, sign));
    const Lane again = Not(graph, below);
    quotient = g(Op::kIsub, quotient, again);
    rest = g(Op::kIsub, rest, g(Op::kIand, again, b));
  }
  return {quotient, rest};
}

IntegerQuotient DivideSigned(LaneGraph& graph, Lane a, Lane b) {
  const LaneBuilder g{graph};
  const auto signed_as = [&](Lane value, Lane mask) {
    return g(Op::kIsub, g(Op::kIxor, value, mask), mask);
  };
  const Lane bits = g.K(31);
  const Lane a_sign = g(Op::kSar, a, bits), b_sign = g(Op::kSar, b, bits);
  const IntegerQuotient sizes =
      DivideUnsigned(graph, signed_as(a, a_sign), signed_as(b, b_sign));
  return {signed_as(sizes.quotient, g(Op::kIxor, a_sign, b_sign)),
          signed_as(sizes.rest, a_sign)};
}

Lane PowerOfIntegers(LaneGraph& graph, Lane a, Lane b, int bits) {
  const LaneBuilder g{graph};
  Lane result = g.K(1);
  for (int i = 0; i < bits; ++i) {
    const Lane bit = g(Op::kIand, b, g.K(uint32_t{1} << i));
    result = g(Op::kSel, bit, g(Op::kImul, result, a), result);
    if (i + 1 < bits) a = g(Op::kImul, a, a);
  }
  return result;
}

Lane CountOnes(LaneGraph& graph, Lane a) {
  const LaneBuilder g{graph};
  const auto masked = [&](Lane value, int by, uint32_t mask) {
    return g(Op::kIand, by == 0 ? value : g(Op::kShr, value, g.K(by)),
             g.K(mask));
  };
  Lane sum = g(Op::kIsub, a, masked(a, 1, 0x55555555));
  sum = g(Op::kIadd, masked(sum, 0, 0x33333333), masked(sum, 2, 0x33333333));
  sum = g(Op::kIand, g(Op::kIadd, sum, g(Op::kShr, sum, g.K(4))),
          g.K(0x0F0F0F0F));
  return g(Op::kShr, g(Op::kImul, sum, g.K(0x01010101)), g.K(24));
}

// Uses the exponent of a number whose second highest bit is 0, so that it is
// not rounded up to the next power of two.
Lane CountLeadingZeros(LaneGraph& graph, Lane a) {
  const LaneBuilder g{graph};
  const Lane top = g(Op::kIand, a, Not(graph, g(Op::kShr, a, g.K(1))));
  const Lane exponent = g(Op::kShr, FromUint32(graph, top), g.K(23));
  const Lane zeros = g(Op::kIsub, g.K(158), exponent);
  return g(Op::kImin, zeros, g.K(32));
}

}  // namespace systole::lanes
