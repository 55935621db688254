// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions of fp32 lanes that take more than one instruction, bit-exact as
// docs/hlo.md and docs/numerics.md define them.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_FUNCTIONS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_FUNCTIONS_H_

#include "host/compiler/kernels/lane_graph.h"

namespace systole::lanes {

// Masks are -1 or 0 per lane.
Lane Not(LaneGraph& graph, Lane mask);
Lane IsNanLane(LaneGraph& graph, Lane a);
Lane Magnitude(LaneGraph& graph, Lane a);  // the bits without the sign

// IEEE 754, rounded to nearest even, for all arguments; in a guarded graph for
// those that are not extreme.
Lane Divide(LaneGraph& graph, Lane a, Lane b);
Lane SquareRoot(LaneGraph& graph, Lane a);
// The reciprocal of a divisor that many dividends share, NaN where steps would
// leave the normal numbers; and the quotient with it, in a guarded graph.
Lane SharedReciprocal(LaneGraph& graph, Lane b);
Lane DivideShared(LaneGraph& graph, Lane a, Lane b, Lane reciprocal);

// docs/numerics.md, "Exponential and logarithm".
Lane Exponential(LaneGraph& graph, Lane a);
Lane Logarithm(LaneGraph& graph, Lane a);
Lane Logistic(LaneGraph& graph, Lane a);
// docs/hlo.md, "Power".
Lane Power(LaneGraph& graph, Lane x, Lane y);
// docs/hlo.md, "Sine and cosine", "Other functions".
Lane Sine(LaneGraph& graph, Lane x);
Lane Cosine(LaneGraph& graph, Lane x);
Lane Tangent(LaneGraph& graph, Lane x);
Lane LogPlusOne(LaneGraph& graph, Lane x);
Lane ExpMinusOne(LaneGraph& graph, Lane x);
Lane CubeRoot(LaneGraph& graph, Lane x);
Lane ArcTangent2(LaneGraph& graph, Lane y, Lane x);

// The exact remainder of the division a / b, truncated towards zero.
Lane FloatRemainder(LaneGraph& graph, Lane a, Lane b);

// Rounding to integers.
Lane Floor(LaneGraph& graph, Lane a);
Lane Ceil(LaneGraph& graph, Lane a);
Lane RoundToEven(LaneGraph& graph, Lane a);
Lane RoundAwayFromZero(LaneGraph& graph, Lane a);

// binary16. FromFloat16: the number of the bits in a lane's upper half; a NaN
// keeps its fraction. RoundToFloat16: the nearest binary16 number, as fp32, of
// an arithmetic result. ToFloat16: back into the upper half; NaNs become 0x7E00
// or keep the upper bits of their fraction.
Lane FromFloat16(LaneGraph& graph, Lane bits);
Lane RoundToFloat16(LaneGraph& graph, Lane a);
Lane ToFloat16(LaneGraph& graph, Lane a, bool keep_nans);

// Rounds to this many bits of exponent, 1 to 8, and of significand.
Lane ReducePrecision(LaneGraph& graph, Lane a, int exponent, int mantissa);

// Truncates towards zero; saturates; a NaN becomes 0.
Lane ToInt32(LaneGraph& graph, Lane a);
Lane ToUint32(LaneGraph& graph, Lane a);
Lane FromUint32(LaneGraph& graph, Lane a);

// Integer division, truncated towards zero; both results are undefined for
// divisor 0.
struct IntegerQuotient {
  Lane quotient, rest;
};
IntegerQuotient DivideUnsigned(LaneGraph& graph, Lane a, Lane b);
IntegerQuotient DivideSigned(LaneGraph& graph, Lane a, Lane b);
// a to the power of b, where b is a non-negative number of `bits` bits.
Lane PowerOfIntegers(LaneGraph& graph, Lane a, Lane b, int bits);
// Over all 32 bits.
Lane CountOnes(LaneGraph& graph, Lane a);
Lane CountLeadingZeros(LaneGraph& graph, Lane a);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_FUNCTIONS_H_
