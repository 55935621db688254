// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Combiners: add, multiply, maximum, minimum, and, or, xor. A reduction whose
// region is just one of these applies it to rows of elements. All commute
// bit-exactly. They are compiled once, for all loops over tensors that use
// them.
#ifndef SYSTOLE_HOST_IR_HLO_COMBINER_H_
#define SYSTOLE_HOST_IR_HLO_COMBINER_H_

#include <cstdint>
#include <optional>

#include "host/ir/op.h"
#include "host/ir/type.h"

namespace systole::ir {

bool IsCombiner(Op op);

struct Combiner {
  // to[i] = a[i * step_a] op b[i * step_b]; `to` may be `a`, with step 1.
  void (*map)(int64_t count, const void* a, int64_t step_a, const void* b,
              int64_t step_b, void* to);
};

// None if the operation is no combiner, or does not support the element type.
std::optional<Combiner> FindCombiner(Op op, ElementType element);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_COMBINER_H_
