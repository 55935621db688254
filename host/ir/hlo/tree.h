// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The order of a reduction (docs/hlo.md, "Sums and other reductions").
#ifndef SYSTOLE_HOST_IR_HLO_TREE_H_
#define SYSTOLE_HOST_IR_HLO_TREE_H_

#include <cstdint>

#include "host/ir/hlo/attributes.h"

namespace systole::ir {

// The largest power of two below `count`: the distance of the pairs on the
// first level. 0 if there is nothing to combine.
int64_t FirstHalf(int64_t count);

// If results lie next to each other (inner > 1), more than 128 elements are
// combined in sections, one after the other, and then the results of these.
// Elements of a section; 0: all are combined by halves.
int64_t SectionOf(int64_t count, int64_t inner);

// The operand as [outer][count][inner] elements, of which `count` are combined.
// If the reduced dimensions are not adjacent, this describes the operand with
// these dimensions first (ReducedFirst).
struct TreeShape {
  int64_t outer = 1, count = 1, inner = 1;
  bool adjacent = true;
};
TreeShape TreeShapeOf(const Ints& shape, const Ints& dimensions);

// The reduced dimensions, then the others, each in ascending order.
Ints ReducedFirst(const Ints& shape, const Ints& dimensions);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_TREE_H_
