// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_functions.h"

#include <algorithm>
#include <cmath>

#include "host/compiler/kernels/lane_bits.h"
#include "host/ir/scalar.h"

namespace systole::lanes {
namespace {

using vpu::Op;

constexpr uint32_t kHalf = 0x3F000000;
// Where no step of a division leaves the normal numbers, and each remainder is
// exact: a quotient is then at least 2^-125 and at most 2^127, and a remainder
// has no bits below 2^-140. Of a root, the remainder has none below 2^-144.
constexpr float kLeastDivisor = 0x1p-31f, kLargestDivisor = 0x1p32f;
constexpr float kLeastDividend = 0x1p-93f, kLargestDividend = 0x1p35f;
// Of constants, where neither reciprocal nor quotient is subnormal.
constexpr float kLargestReciprocal = 0x1p120f;
// With these, dividends are not below the least one.
constexpr float kLeastShared = 0x1p-20f, kLeastQuotient = 0x1p-72f;
constexpr float kLeastRadicand = 0x1p-98f, kLargestRadicand = 0x1p64f;
constexpr float kTwo24 = 16777216.0f, kTwo31 = 2147483648.0f;

struct FunctionBuilder : LaneBuilder {
  // A positive finite number: 2^(exponent - 127) * significand, where
  // `fraction` has the significand's bits without the exponent of 1..2.
  struct Parts {
    Lane exponent, fraction;
  };
  // Splits magnitude bits. `up` is the number or, if it is subnormal, the
  // number times 2^24.
  Parts Split(Lane magnitude, Lane up) const {
    const Lane tiny = (*this)(Op::kIlt, magnitude, K(kHidden));
    const Lane exponent = (*this)(Op::kShr, up, K(23));
    return {(*this)(Op::kIsub, exponent, (*this)(Op::kIand, tiny, K(24))),
            (*this)(Op::kIand, up, K(kFraction))};
  }
  Lane Up(Lane magnitude, Lane a) const {
    const Lane tiny = (*this)(Op::kIlt, magnitude, K(kHidden));
    return (*this)(Op::kSel, tiny, (*this)(Op::kFmul, a, F(kTwo24)), a);
  }
};

// Guards, of which bit 30 tells. Of the magnitudes from `low` on, a power of
// two, 128 powers of two are inside: their bits less those of `low` are below
// 2^30. The sign does not change bit 30. NaN is outside.
Lane IsOutsideWindow(const FunctionBuilder& g, Lane a, float low) {
  return g(Op::kIsub, a, g.F(low));
}
// Any bounds; NaN is inside.
Lane IsOutside(const FunctionBuilder& g, Lane a, float low, float high) {
  const Lane size = Magnitude(g.graph, a);
  return g(Op::kIor, g(Op::kFlt, size, g.F(low)), g(Op::kFlt, g.F(high), size));
}
// Where `of` is 0, infinities and NaN alone are outside.
Lane UnlessZero(const FunctionBuilder& g, Lane of, Lane outside, Lane a) {
  return g(Op::kSel, of, outside, a);
}

// Whether the value is a root and a constant, and so a divisor that needs no
// guard of its own: 2^32 and a constant of up to 2^7 are rounded to 2^32.
bool IsBoundedDivisor(const LaneGraph& graph, Lane b) {
  const LaneNode& node = graph.node(b);
  if (node.kind != LaneNode::Kind::kOp || node.op != Op::kFadd) return false;
  const auto adds = [&](Lane root, Lane constant) {
    if (!graph.IsBounded(root) || !graph.IsConstant(constant)) return false;
    const float value = ir::FromBits(graph.node(constant).bits);
    return value >= kLeastDivisor && value <= 0x1p7f;
  };
  return adds(node.a, node.b) || adds(node.b, node.a);
}

// -1 for the largest significand, else 0.
Lane HasLargest(const FunctionBuilder& g, Lane b) {
  return g(Op::kIeq, g(Op::kIand, b, g.K(kFraction)), g.K(kFraction));
}

// Newton's steps, of which the last one rounds correctly, where no step leaves
// the normal numbers. largest: -1 for a divisor of the largest significand, for
// which the step would end halfway on the wrong side; else 0.
Lane ReciprocalSteps(const FunctionBuilder& g, Lane b, Lane largest) {
  const Lane y = g(Op::kIsub, g(Op::kRcp, b), largest);
  return g(Op::kFma, g(Op::kFnma, b, y, g.F(1)), y, y);
}
Lane RootSteps(const FunctionBuilder& g, Lane a) {
  const Lane y = g(Op::kRsqrt, a);
  const Lane root0 = g(Op::kFmul, a, y);
  const Lane half0 = g(Op::kFmul, y, g.K(kHalf));
  const Lane r = g(Op::kFnma, half0, root0, g.K(kHalf));
  const Lane root1 = g(Op::kFma, root0, r, root0);
  const Lane half1 = g(Op::kFma, half0, r, half0);
  return g(Op::kFma, g(Op::kFnma, root1, root1, a), half1, root1);
}

// The quotient from the nearest reciprocal y and q = a * y. Without a remainder
// it stays; of -0 the guards of dividends tell, and a remainder of 0 is +0.
Lane LastStep(const FunctionBuilder& g, Lane a, Lane b, Lane y, Lane q) {
  return g(Op::kFma, g(Op::kFnma, q, b, a), y, q);
}

// As Divide, where neither the steps nor the quotient leave the normal numbers;
// -1 if a constant does.
Lane DivideModerate(LaneGraph& graph, Lane a, Lane b) {
  const FunctionBuilder g{graph};
  float low = kLeastDivisor, high = kLargestDivisor;
  if (graph.IsConstant(a)) {
    const float size = std::abs(ir::FromBits(graph.node(a).bits));
    if (graph.node(a).bits == kSign ||
        (size != 0 && !(size >= kLeastDividend && size <= kLargestDividend)))
      return -1;
    // What a constant does not need of the range is the divisor's.
    if (size != 0) {
      low = std::max(1.0f, size) / kLargestReciprocal;
      high = std::min(1.0f, size) * kLargestReciprocal;
    }
  }
  Lane y;
  if (graph.IsConstant(b)) {
    const float divisor = ir::FromBits(graph.node(b).bits);
    const float size = std::abs(divisor);
    if (!(size >= kLeastDivisor && size <= kLargestDivisor)) return -1;
    // In double precision it is never near the middle of two numbers.
    y = g.F(static_cast<float>(1 / double{divisor}));
  } else {
    if (!IsBoundedDivisor(graph, b)) graph.Guard(IsOutside(g, b, low, high), b);
    y = ReciprocalSteps(g, b, HasLargest(g, b));
  }
  if (!graph.IsConstant(a))
    graph.Guard(UnlessZero(g, a, IsOutsideWindow(g, a, kLeastDividend), a), a);
  return LastStep(g, a, b, y, g(Op::kFmul, a, y));
}

// A negative number gives NaN in the first step.
Lane RootOfModerate(LaneGraph& graph, Lane a) {
  const FunctionBuilder g{graph};
  const Lane size = Magnitude(graph, a);
  graph.Guard(
      UnlessZero(g, size, IsOutside(g, a, kLeastRadicand, kLargestRadicand),
                 g.K(0)),
      a);
  const Lane root = g(Op::kSel, size, RootSteps(g, a), a);
  graph.SetBounded(root);
  return root;
}

}  // namespace

Lane Not(LaneGraph& graph, Lane mask) {
  return graph.Make(Op::kIxor, mask, graph.Constant(~0u));
}

Lane Magnitude(LaneGraph& graph, Lane a) {
  return graph.Make(Op::kIand, a, graph.Constant(~kSign));
}

Lane IsNanLane(LaneGraph& graph, Lane a) {
  return graph.Make(Op::kIlt, graph.Constant(kInfinity), Magnitude(graph, a));
}

// Divides the significands with a Newton step and a last step that rounds
// correctly, then the exponents. A subnormal result is rounded again from the
// quotient's significand and the sign of the remainder.
Lane Divide(LaneGraph& graph, Lane a, Lane b) {
  const FunctionBuilder g{graph};
  if (graph.IsConstant(b)) {
    const uint32_t bits = graph.node(b).bits;
    const uint32_t exponent = bits >> 23 & 255;
    // A power of two with a normal reciprocal.
    if ((bits & kFraction) == 0 && exponent >= 1 && exponent <= 253) {
      return g(Op::kFmul, a, g.K((bits & kSign) | (254 - exponent) << 23));
    }
  }
  if (graph.guarded()) {
    const Lane quotient = DivideModerate(graph, a, b);
    if (quotient >= 0) return quotient;
  }
  const Lane ua = Magnitude(graph, a), ub = Magnitude(graph, b);
  const Lane up_b = g.Up(ub, b);
  const Lane up_ua = g.Up(ua, ua);
  const FunctionBuilder::Parts pa = g.Split(ua, up_ua);
  const FunctionBuilder::Parts pb = g.Split(ub, Magnitude(graph, up_b));
  const Lane ma = g(Op::kIor, pa.fraction, g.K(kOne));
  const Lane mb = g(Op::kIor, pb.fraction, g.K(kOne));
  const Lane y = ReciprocalSteps(g, mb, g(Op::kIeq, mb, g.K(0x3FFFFFFF)));
  const Lane q0 = g(Op::kFmul, ma, y);
  const Lane q = g(Op::kFma, g(Op::kFnma, q0, mb, ma), y, q0);
  const Lane t = g(Op::kIsub, pa.exponent, pb.exponent);
  const Lane exponent = g(Op::kIadd, g(Op::kShr, q, g.K(23)), t);
  const Lane normal = g(Op::kIadd, q, g(Op::kShl, t, g.K(23)));
  // Subnormal: 4 * significand, plus or minus one if there is a remainder.
  const Lane left = g(Op::kFnma, q, mb, ma);
  const Lane above = g(Op::kFlt, g.F(0), left);
  const Lane below = g(Op::kFlt, left, g.F(0));
  const Lane significand =
      g(Op::kIor, g(Op::kIand, q, g.K(kFraction)), g.K(kHidden));
  const Lane scaled = g(
      Op::kIadd, g(Op::kIsub, g(Op::kShl, significand, g.K(2)), above), below);
  const Lane shift = g(Op::kImin, g(Op::kIsub, g.K(3), exponent), g.K(31));
  const Lane odd = g(Op::kIand, g(Op::kShr, scaled, shift), g.K(1));
  const Lane half = g(Op::kShl, g.K(1), g(Op::kIsub, shift, g.K(1)));
  const Lane nudge = g(Op::kIadd, g(Op::kIsub, half, g.K(1)), odd);
  const Lane small = g(Op::kShr, g(Op::kIadd, scaled, nudge), shift);
  const Lane finite = g(Op::kSel, g(Op::kIlt, exponent, g.K(1)), small, normal);
  const Lane size =
      g(Op::kSel, g(Op::kIlt, g.K(254), exponent), g.K(kInfinity), finite);
  const Lane sign = g(Op::kIand, g(Op::kIxor, a, b), g.K(kSign));
  const Lane regular = g(Op::kIand, g(Op::kIlt, g.K(0), g(Op::kImin, ua, ub)),
                         g(Op::kIlt, g(Op::kImax, ua, ub), g.K(kInfinity)));
  // Zeros, infinities and NaN: the result of the product.
  const Lane special = g(Op::kFmul, a, g(Op::kRcp, up_b));
  return g(Op::kSel, regular, g(Op::kIor, size, sign), special);
}

Lane SharedReciprocal(LaneGraph& graph, Lane b) {
  const FunctionBuilder g{graph};
  return g(Op::kSel, IsOutside(g, b, kLeastShared, kLargestDivisor),
           g.K(ir::kNanBits), ReciprocalSteps(g, b, HasLargest(g, b)));
}

Lane DivideShared(LaneGraph& graph, Lane a, Lane b, Lane reciprocal) {
  const FunctionBuilder g{graph};
  const Lane q = g(Op::kFmul, a, reciprocal);
  graph.Guard(UnlessZero(g, a, IsOutsideWindow(g, q, kLeastQuotient), q), a);
  return LastStep(g, a, b, reciprocal, q);
}

Lane SquareRoot(LaneGraph& graph, Lane a) {
  if (graph.guarded() && !graph.IsConstant(a)) return RootOfModerate(graph, a);
  const FunctionBuilder g{graph};
  const Lane up = g.Up(a, a);
  const FunctionBuilder::Parts p = g.Split(a, up);
  // m * 4^k, with m in 1..4.
  const Lane whole = g(Op::kIsub, p.exponent, g.K(127));
  const Lane odd = g(Op::kIand, whole, g.K(1));
  const Lane m = g(Op::kIadd, g(Op::kIor, p.fraction, g.K(kOne)),
                   g(Op::kShl, odd, g.K(23)));
  const Lane k = g(Op::kSar, whole, g.K(1));
  const Lane root = RootSteps(g, m);
  const Lane regular = g(Op::kIadd, root, g(Op::kShl, k, g.K(23)));
  // Zeros and infinity stay; negative numbers and NaN give NaN.
  const Lane low = g(Op::kFlt, a, g.F(0));
  const Lane kept = g(Op::kSel, low, g.K(ir::kNanBits), a);
  const Lane is_regular =
      g(Op::kIand, g(Op::kIlt, g.K(0), a), g(Op::kIlt, a, g.K(kInfinity)));
  const Lane result = g(Op::kSel, is_regular, regular, kept);
  return g(Op::kSel, IsNanLane(graph, a), g.K(ir::kNanBits), result);
}

Lane Exponential(LaneGraph& graph, Lane a) {
  const FunctionBuilder g{graph};
  const Lane log2e = g.K(0x3FB8AA3B);
  const bool low = graph.IsNotPositive(a);
  const bool small = low || (graph.guarded() && !graph.IsConstant(a));
  // Up to 88, no power of two overflows before its correction.
  if (small && !low) graph.Guard(g(Op::kFlt, g.F(88), a), a);
  const Lane below = small ? a : g(Op::kFmin, a, g.F(89));
  const Lane x = g(Op::kFmax, below, g.F(-110));
  const Lane w = g(Op::kFmul, x, log2e);
  const Lane inner = g(Op::kFnma, x, log2e, w);
  const Lane r = g(Op::kFnma, x, g.K(0x32A57060), inner);
  const auto power = [&](Lane y) {
    return g(Op::kFma, y, g(Op::kFmul, r, g.K(0xBF317218)), y);
  };
  if (small) return power(g(Op::kExp2, w));
  const Lane big = g(Op::kFlt, g.F(64), w);
  const Lane h = g(Op::kIand, big, g.F(1));
  const Lane scaled = power(g(Op::kExp2, g(Op::kFsub, w, h)));
  return g(Op::kFmul, scaled, g(Op::kSel, big, g.F(2), g.F(1)));
}

Lane Logarithm(LaneGraph& graph, Lane a) {
  const FunctionBuilder g{graph};
  const Lane l = g(Op::kLog2, a);
  return g(Op::kFma, l, g.K(0x3F317217), g(Op::kFmul, l, g.K(0x3377D1CF)));
}

Lane Logistic(LaneGraph& graph, Lane a) {
  const FunctionBuilder g{graph};
  const Lane e = Exponential(graph, g(Op::kFsub, g.K(kSign), a));
  return Divide(graph, g.F(1), g(Op::kFadd, g.F(1), e));
}

namespace {

// Rounds numbers with a fraction to an integer with the argument's sign, using
// `op`; other numbers stay, except for NaN.
Lane Whole(LaneGraph& graph, Lane a, Op op) {
  const FunctionBuilder g{graph};
  const Lane sign = g(Op::kIand, a, g.K(kSign));
  const Lane rounded = g(Op::kI2f, g(op, a));
  const Lane whole = g(Op::kIor, rounded, sign);
  const Lane small = g(Op::kFlt, Magnitude(graph, a), g.F(8388608.0f));
  return g(Op::kSel, small, whole, g(Op::kFmax, a, a));
}

}  // namespace

Lane Floor(LaneGraph& graph, Lane a) { return Whole(graph, a, Op::kF2iFloor); }

Lane Ceil(LaneGraph& graph, Lane a) {
  const Lane zero = graph.Constant(kSign);
  const Lane floor = Floor(graph, graph.Make(Op::kFsub, zero, a));
  return graph.Make(Op::kFsub, zero, floor);
}

Lane RoundToEven(LaneGraph& graph, Lane a) { return Whole(graph, a, Op::kF2i); }

Lane RoundAwayFromZero(LaneGraph& graph, Lane a) {
  const FunctionBuilder g{graph};
  const Lane size = Magnitude(graph, a);
  const Lane down = g(Op::kI2f, g(Op::kF2iFloor, size));
  const Lane half = g(Op::kFle, g.F(0.5f), g(Op::kFsub, size, down));
  const Lane near = g(Op::kFadd, down, g(Op::kIand, half, g.F(1)));
  const Lane whole = g(Op::kIor, near, g(Op::kIand, a, g.K(kSign)));
  const Lane small = g(Op::kFlt, size, g.F(8388608.0f));
  return g(Op::kSel, small, whole, g(Op::kFmax, a, a));
}

Lane ToInt32(LaneGraph& graph, Lane a) {
  const FunctionBuilder g{graph};
  const Lane size = Magnitude(graph, a);
  const Lane down = g(Op::kF2iFloor, size);
  const Lane negative = g(Op::kSar, a, g.K(31));
  const Lane cut = g(Op::kIsub, g(Op::kIxor, down, negative), negative);
  const Lane small = g(Op::kFlt, size, g.F(8388608.0f));
  return g(Op::kSel, small, cut, g(Op::kF2i, a));
}

Lane ToUint32(LaneGraph& graph, Lane a) {
  const FunctionBuilder g{graph};
  const Lane upper = g(Op::kFle, g.F(kTwo31), a);
  const Lane high =
      g(Op::kIxor, g(Op::kF2i, g(Op::kFsub, a, g.F(kTwo31))), g.K(kSign));
  const Lane all = g(Op::kFle, g.F(2 * kTwo31), a);
  const Lane positive = g(Op::kFlt, g.F(0), a);
  const Lane low = g(Op::kIand, positive, g(Op::kF2iFloor, a));
  return g(Op::kIor, all, g(Op::kSel, upper, high, low));
}

Lane FromUint32(LaneGraph& graph, Lane a) {
  const FunctionBuilder g{graph};
  const Lane high = g(Op::kI2f, g(Op::kShr, a, g.K(16)));
  const Lane low = g(Op::kI2f, g(Op::kIand, a, g.K(0xFFFF)));
  return g(Op::kFma, high, g.F(65536), low);
}

}  // namespace systole::lanes
