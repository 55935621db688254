// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a descriptor accesses, from its fields alone.
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
// In ascending order, without overlaps or adjacent ranges.
using Ranges = std::vector<Range>;

enum class Space { kUb, kAcc, kHbm };  // bytes, rows, bytes
inline constexpr int kNumSpaces = 3;

// Bytes whose value matters or changes: only the `len` bytes of a run, no
// padding, and only the written columns of a parameter block.
struct Footprint {
  Ranges reads[kNumSpaces];
  Ranges writes[kNumSpaces];
  // Writes of a send to the memory of its destination.
  Ranges sent;
  // Writes of a vector operation that overlap its own reads and may happen
  // before them. An in-place addition has none.
  Ranges own_conflicts;

  Ranges& read(Space s) { return reads[static_cast<int>(s)]; }
  Ranges& write(Space s) { return writes[static_cast<int>(s)]; }
  const Ranges& read(Space s) const { return reads[static_cast<int>(s)]; }
  const Ranges& write(Space s) const { return writes[static_cast<int>(s)]; }
};

class VrunLog;

// The footprint of a descriptor that the simulator has executed without a
// fault. For a vrun only its execution log knows, for an indexed load or store
// only the state's dma_rows.
Footprint FootprintOf(const isa::Descriptor& descriptor, const Preset& preset,
                      const VrunLog& vrun,
                      const std::vector<uint64_t>& dma_rows);

// Sorts the ranges and joins adjacent ones.
Ranges Normalise(Ranges ranges);
// The intersection of two sorted lists.
Ranges Intersect(const Ranges& a, const Ranges& b);

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_FOOTPRINT_H_
