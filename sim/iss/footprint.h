// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a descriptor touches, from its fields alone.
#ifndef SYSTOLE_SIM_ISS_FOOTPRINT_H_
#define SYSTOLE_SIM_ISS_FOOTPRINT_H_

#include <cstdint>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::iss {

struct Range {
  uint64_t begin, end;  // [begin, end)
};
// In ascending order, apart from each other.
using Ranges = std::vector<Range>;

enum class Space { kUb, kAcc, kHbm };  // bytes, rows, bytes
inline constexpr int kNumSpaces = 3;

// Bytes whose value matters or changes: of a run only its `len` bytes, of
// padding nothing, of a parameter block the columns that are written.
struct Footprint {
  Ranges reads[kNumSpaces];
  Ranges writes[kNumSpaces];
  // Writes of a vector operation that fall on its own reads and may come before
  // them (an addition in place is not one).
  Ranges own_conflicts;

  Ranges& read(Space s) { return reads[static_cast<int>(s)]; }
  Ranges& write(Space s) { return writes[static_cast<int>(s)]; }
  const Ranges& read(Space s) const { return reads[static_cast<int>(s)]; }
  const Ranges& write(Space s) const { return writes[static_cast<int>(s)]; }
};

class VrunLog;

// Of a descriptor that the simulator has executed without a fault. What a vrun
// touches only its execution tells: its log.
Footprint FootprintOf(const isa::Descriptor& descriptor, const Preset& preset,
                      const VrunLog& vrun);

// Sorted, touching ranges joined.
Ranges Normalise(Ranges ranges);
// What both have. Both sorted.
Ranges Intersect(const Ranges& a, const Ranges& b);

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_FOOTPRINT_H_
