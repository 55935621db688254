// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operations that a reduction may have as its only one, applied to rows of
// elements: add, multiply, maximum, minimum, and, or, xor. All of them commute
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

// None if the operation is not one of these, or does not support such elements.
std::optional<Combiner> FindCombiner(Op op, ElementType element);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_COMBINER_H_
