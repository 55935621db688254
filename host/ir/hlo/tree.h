// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The order of a reduction (docs/hlo.md, "Sums and other reductions").
#ifndef SYSTOLE_HOST_IR_HLO_TREE_H_
#define SYSTOLE_HOST_IR_HLO_TREE_H_

#include <cstdint>

#include "host/ir/hlo/attributes.h"

namespace systole::ir {

// The largest power of two below `count`, by which the first level's pairs are
// apart; 0 if there is nothing to combine.
int64_t FirstHalf(int64_t count);

// The operand as [outer][count][inner] elements, `count` of which become one;
// where the reduced dimensions are not neighbours, of the operand with these
// first (ReducedFirst).
struct TreeShape {
  int64_t outer = 1, count = 1, inner = 1;
  bool adjacent = true;
};
TreeShape TreeShapeOf(const Ints& shape, const Ints& dimensions);

// The dimensions, the reduced ones first, either in their order.
Ints ReducedFirst(const Ints& shape, const Ints& dimensions);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_TREE_H_
