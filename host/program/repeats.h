// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What repeats itself in a list of descriptors: P descriptors that come R times
// one after the other, each time with fields that grow by the same; and what
// repeats itself within these.
#ifndef HOST_PROGRAM_REPEATS_H_
#define HOST_PROGRAM_REPEATS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/loops.h"

namespace systole {

struct Repeat {
  size_t at = 0, period = 0, passes = 0;
  std::vector<Repeat> inner;  // within its first pass, in order

  size_t end() const { return at + period * passes; }
};

// A field that may grow from pass to pass.
struct GrowingField {
  uint32_t lsb = 0, bits = 0;
};

// Of the operation of `d`: of transfers their addresses, of others all that a
// scalar unit can change.
const std::vector<GrowingField>& GrowingFieldsOf(const isa::Descriptor& d);

// From a to b, modulo the field's size, as the smaller of both numbers.
int64_t GrowthOf(const isa::Descriptor& a, const isa::Descriptor& b,
                 const GrowingField& field);

// How many descriptors may grow, by how many fields, in how many repeats; and
// `pieces` descriptors at least are for each that grows.
struct RepeatLimits {
  size_t stepped = 0, steps = 0, loops = 0;
  size_t pieces = 0;
  uint32_t depth = kMaxLoopDepth;  // of repeats in each other
};

// In order; the one that saves most is taken first, then what stands before and
// behind it and what is repeated are looked at in the same way. `groups`: as
// many numbers as descriptors; what is repeated has the same number each time.
std::vector<Repeat> FindRepeats(const std::vector<isa::Descriptor>& list,
                                const std::vector<int>& groups,
                                const RepeatLimits& limits);

}  // namespace systole

#endif  // HOST_PROGRAM_REPEATS_H_
