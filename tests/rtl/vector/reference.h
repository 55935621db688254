// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What requant, pool, add, mul and table do, position by position, written from
// docs/isa.md and docs/numerics.md for this test bench alone.
//
//   Memories mem{...};
//   Effect effect = Execute(preset, descriptor, &mem);

#ifndef SYSTOLE_TESTS_RTL_VECTOR_REFERENCE_H_
#define SYSTOLE_TESTS_RTL_VECTOR_REFERENCE_H_

#include <cstdint>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::vector_test {

struct Memories {
  std::vector<uint8_t> ub;
  std::vector<int32_t> acc;                                // [row][column]
  std::vector<uint8_t> table = std::vector<uint8_t>(256);  // of the lanes
};

struct Effect {
  isa::Fault fault = isa::Fault::kNone;
  int64_t fault_addr = 0;
  int64_t writes = 0;      // writes of up to Cols bytes
  int64_t reads = 0;       // reads of the unified buffer, parameters included
  int64_t taps = 0;        // pool: taps, valid or not
  bool saturated = false;  // a bias addition saturated
};

// x * multiplier * 2^(shift - 31), rounded twice or once.
int32_t Requantise(int32_t x, int32_t multiplier, int shift, bool single);

// Sum / count, halves away from zero; 0 for a count of 0.
int32_t Average(int32_t sum, int32_t count);

// Executes a descriptor; with a fault, all that comes before it is done.
Effect Execute(const Preset& preset, const isa::Descriptor& descriptor,
               Memories* memories);

}  // namespace systole::vector_test

#endif  // SYSTOLE_TESTS_RTL_VECTOR_REFERENCE_H_
