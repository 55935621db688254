// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Lanes of the vector unit's instructions, from docs/vpu.md and written apart
// from the simulator: fp32 on the host's double precision and std::fma.
//
//   uint32_t sum = Lane(vpu::Op::kFadd, a, b, 0);

#ifndef SYSTOLE_TESTS_RTL_VPU_REFERENCE_H_
#define SYSTOLE_TESTS_RTL_VPU_REFERENCE_H_

#include <cstdint>
#include <random>
#include <vector>

#include "systole/gen/vpu.h"

namespace systole::vpu_test {

// Instructions of the ALUs.
uint32_t Lane(vpu::Op op, uint32_t a, uint32_t b, uint32_t c);

// What st16 stores of a lane.
uint16_t StoredHalf(uint32_t x);

// rnd.
uint32_t RandomBits(uint32_t seed, uint32_t counter);

// Operands at which arithmetic goes wrong first: zeros, the ends of the
// subnormal and normal numbers, powers of two, halves of last places, int32
// borders, infinities, NaNs.
const std::vector<uint32_t>& CornerOperands();

// Three operands, some of them related so that sums cancel, rounding is a tie,
// or results end near the smallest and largest numbers.
struct Operands {
  uint32_t a, b, c;
};
Operands RelatedOperands(std::mt19937& random);

}  // namespace systole::vpu_test

#endif  // SYSTOLE_TESTS_RTL_VPU_REFERENCE_H_
