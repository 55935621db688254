// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Long division of significands: each step adds up to kBits more places of the
// dividend to the remainder. The digit comes from a product of fp32 numbers and
// is at most one off.
#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_functions.h"
#include "host/ir/scalar.h"

namespace systole::lanes {
namespace {

using vpu::Op;

constexpr int kBits = 20,
              kPlaces = 253;  // between the exponents of two numbers

}  // namespace

Lane FloatRemainder(LaneGraph& graph, Lane x, Lane y) {
  const LaneBuilder g{graph};
  const Lane a = Magnitude(graph, x), b = Magnitude(graph, y);
  // A number is significand * 2^(exponent - 150).
  const auto exponent = [&](Lane size) {
    return g(Op::kImax, g(Op::kShr, size, g.K(23)), g.K(1));
  };
  const auto significand = [&](Lane size) {
    const Lane normal = g(Op::kIlt, g.K(kFraction), size);
    return g(Op::kIor, g(Op::kIand, size, g.K(kFraction)),
             g(Op::kIand, normal, g.K(kHidden)));
  };
  const Lane of_b = exponent(b), divisor = significand(b);
  Lane places = g(Op::kImax, g(Op::kIsub, exponent(a), of_b), g.K(0));
  Lane rest = DivideUnsigned(graph, significand(a), divisor).rest;
  const Lane reciprocal = g(Op::kRcp, g(Op::kI2f, divisor));
  for (int done = 0; done < kPlaces; done += kBits) {
    const Lane taken = g(Op::kImin, places, g.K(kBits));
    places = g(Op::kIsub, places, taken);
    const Lane power = g(Op::kShl, g(Op::kIadd, taken, g.K(127)), g.K(23));
    const Lane shifted = g(Op::kFmul, g(Op::kI2f, rest), power);
    const Lane digit = g(Op::kF2iFloor, g(Op::kFmul, shifted, reciprocal));
    // Modulo 2^32; the true remainder is small.
    rest = g(Op::kIsub, g(Op::kShl, rest, taken), g(Op::kImul, digit, divisor));
    const Lane below = g(Op::kIlt, rest, g.K(0));
    rest = g(Op::kIadd, rest, g(Op::kIand, below, divisor));
    const Lane enough = Not(graph, g(Op::kIlt, rest, divisor));
    rest = g(Op::kIsub, rest, g(Op::kIand, enough, divisor));
  }
  // rest * 2^-23 * 2^(exponent - 127), both exact.
  const Lane scaled = g(Op::kFmul, g(Op::kI2f, rest), g.F(1.0f / 8388608.0f));
  const Lane size = g(Op::kFmul, scaled, g(Op::kShl, of_b, g.K(23)));
  const Lane left = g(Op::kSel, g(Op::kIlt, a, b), a, size);
  const Lane result = g(Op::kIor, left, g(Op::kIand, x, g.K(kSign)));
  // Infinite dividends, NaN, and divisor 0 have no remainder.
  const Lane defined = g(
      Op::kIand, g(Op::kIlt, a, g.K(kInfinity)),
      g(Op::kIand, g(Op::kIlt, g.K(0), b), g(Op::kIlt, b, g.K(kInfinity + 1))));
  return g(Op::kSel, defined, result, g.K(ir::kNanBits));
}

}  // namespace systole::lanes
