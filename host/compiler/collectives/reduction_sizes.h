// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Sizes of what an all-reduce, reduce-scatter or all-gather moves.
#ifndef SYSTOLE_HOST_COMPILER_COLLECTIVES_REDUCTION_SIZES_H_
#define SYSTOLE_HOST_COMPILER_COLLECTIVES_REDUCTION_SIZES_H_

#include <algorithm>
#include <cstdint>

#include "systole/collective.h"

namespace systole::compiler {

inline int64_t ElementBytes(AllReduceSpec::Type type) {
  return type == AllReduceSpec::Type::kBf16 ? 2 : 4;
}

// Elements of the first half of a vector (docs/hlo.md): about half, a multiple
// of what fills a beat of any core.
inline int64_t FirstHalf(int64_t elements) {
  constexpr int64_t kGranule = 256;
  return std::min(elements,
                  (elements + 2 * kGranule - 1) / (2 * kGranule) * kGranule);
}

inline int64_t BeatsOf(int64_t elements, AllReduceSpec::Type type,
                       const Preset& preset) {
  const int64_t beat = preset.beat_bytes();
  return (elements * ElementBytes(type) + beat - 1) / beat;
}

// What comes lands here, all vectors for each round; then the code.
inline constexpr int64_t kLandings = 3, kCodeBytes = 4096;

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_COLLECTIVES_REDUCTION_SIZES_H_
