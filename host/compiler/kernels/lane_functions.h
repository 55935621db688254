// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions of fp32 lanes that take more than one instruction, to the bit as
// docs/hlo.md and docs/numerics.md define them.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_FUNCTIONS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_FUNCTIONS_H_

#include "host/compiler/kernels/lane_graph.h"

namespace systole::lanes {

// Masks are -1 or 0 a lane.
Lane Not(LaneGraph& graph, Lane mask);
Lane IsNanLane(LaneGraph& graph, Lane a);
Lane Magnitude(LaneGraph& graph, Lane a);  // the bits without the sign

// IEEE 754, to nearest even, for all arguments.
Lane Divide(LaneGraph& graph, Lane a, Lane b);
Lane SquareRoot(LaneGraph& graph, Lane a);

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

// What the division a / b to a whole number, towards zero, leaves: exactly.
Lane FloatRemainder(LaneGraph& graph, Lane a, Lane b);

// Whole numbers near a.
Lane Floor(LaneGraph& graph, Lane a);
Lane Ceil(LaneGraph& graph, Lane a);
Lane RoundToEven(LaneGraph& graph, Lane a);
Lane RoundAwayFromZero(LaneGraph& graph, Lane a);

// Of binary16: the number of bits in a lane's upper half, with a NaN's
// fraction; the nearest one as fp32, of what arithmetic gives; back into the
// upper half, NaNs as 0x7E00 or with the upper bits of their fraction.
Lane FromFloat16(LaneGraph& graph, Lane bits);
Lane RoundToFloat16(LaneGraph& graph, Lane a);
Lane ToFloat16(LaneGraph& graph, Lane a, bool keep_nans);

// Of so many bits of exponent, of 1 to 8, and of significand.
Lane ReducePrecision(LaneGraph& graph, Lane a, int exponent, int mantissa);

// Towards zero, beyond the ends the ends, NaN 0.
Lane ToInt32(LaneGraph& graph, Lane a);
Lane ToUint32(LaneGraph& graph, Lane a);
Lane FromUint32(LaneGraph& graph, Lane a);

// Of integers, towards zero; of a divisor 0 both are undefined.
struct IntegerQuotient {
  Lane quotient, rest;
};
IntegerQuotient DivideUnsigned(LaneGraph& graph, Lane a, Lane b);
IntegerQuotient DivideSigned(LaneGraph& graph, Lane a, Lane b);
// a to the power of b, a number of that many bits, 0 or more.
Lane PowerOfIntegers(LaneGraph& graph, Lane a, Lane b, int bits);
// Of all 32 bits.
Lane CountOnes(LaneGraph& graph, Lane a);
Lane CountLeadingZeros(LaneGraph& graph, Lane a);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_FUNCTIONS_H_
