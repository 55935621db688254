// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Long division of significands: what is left takes up to kBits more places of
// the dividend at a time. The digit comes from a product of fp32 numbers and is
// at most one off.
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
  const auto make = [&](Op op, Lane a, Lane b = -1, Lane c = -1) {
    return graph.Make(op, a, b, c);
  };
  const auto constant = [&](uint32_t bits) { return graph.Constant(bits); };
  const Lane a = Magnitude(graph, x), b = Magnitude(graph, y);
  // A number is significand * 2^(exponent - 150).
  const auto exponent = [&](Lane size) {
    return make(Op::kImax, make(Op::kShr, size, constant(23)), constant(1));
  };
  const auto significand = [&](Lane size) {
    const Lane normal = make(Op::kIlt, constant(kFraction), size);
    return make(Op::kIor, make(Op::kIand, size, constant(kFraction)),
                make(Op::kIand, normal, constant(kHidden)));
  };
  const Lane of_b = exponent(b), divisor = significand(b);
  Lane places =
      make(Op::kImax, make(Op::kIsub, exponent(a), of_b), constant(0));
  Lane rest = DivideUnsigned(graph, significand(a), divisor).rest;
  const Lane reciprocal = make(Op::kRcp, make(Op::kI2f, divisor));
  for (int done = 0; done < kPlaces; done += kBits) {
    const Lane taken = make(Op::kImin, places, constant(kBits));
    places = make(Op::kIsub, places, taken);
    const Lane power =
        make(Op::kShl, make(Op::kIadd, taken, constant(127)), constant(23));
    const Lane shifted = make(Op::kFmul, make(Op::kI2f, rest), power);
    const Lane digit =
        make(Op::kF2iFloor, make(Op::kFmul, shifted, reciprocal));
    // Modulo 2^32, of which little is left.
    rest = make(Op::kIsub, make(Op::kShl, rest, taken),
                make(Op::kImul, digit, divisor));
    const Lane below = make(Op::kIlt, rest, constant(0));
    rest = make(Op::kIadd, rest, make(Op::kIand, below, divisor));
    const Lane enough = Not(graph, make(Op::kIlt, rest, divisor));
    rest = make(Op::kIsub, rest, make(Op::kIand, enough, divisor));
  }
  // rest * 2^-23 * 2^(exponent - 127), both exact.
  const Lane scaled =
      make(Op::kFmul, make(Op::kI2f, rest), graph.Float(1.0f / 8388608.0f));
  const Lane size = make(Op::kFmul, scaled, make(Op::kShl, of_b, constant(23)));
  const Lane left = make(Op::kSel, make(Op::kIlt, a, b), a, size);
  const Lane result = make(Op::kIor, left, make(Op::kIand, x, constant(kSign)));
  // Of infinities and NaN, or by 0 or NaN: none.
  const Lane defined = make(Op::kIand, make(Op::kIlt, a, constant(kInfinity)),
                            make(Op::kIand, make(Op::kIlt, constant(0), b),
                                 make(Op::kIlt, b, constant(kInfinity + 1))));
  return make(Op::kSel, defined, result, constant(ir::kNanBits));
}

}  // namespace systole::lanes
