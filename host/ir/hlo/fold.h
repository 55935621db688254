// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the operations with a region that combines values have in common.
#ifndef SYSTOLE_HOST_IR_HLO_FOLD_H_
#define SYSTOLE_HOST_IR_HLO_FOLD_H_

#include <optional>

#include "host/ir/evaluate.h"

namespace systole::ir {

// The operation of a region that combines its two parameters by it alone, one
// of combiner.h.
std::optional<Op> CombinerOf(const Module& region);

// `count` copies of the only value.
Literal Filled(const Literal& value, int64_t count);

// Walks over inputs of one shape: for each tap, in ascending order, the values
// that go to the results.
struct FoldPlan {
  Ints results;         // shape of the results
  Ints result_strides;  // of the inputs, an entry a dimension of the results
  Ints taps;            // how many along each of some dimensions
  Ints tap_strides;     // of the inputs
};

// A region of several operations reduces elements in groups of so many.
constexpr int64_t kFoldGroup = 512;

// results[i] = region(... region(region(init, x0), x1) ...) over the taps, any
// number of inputs at once. `captured` are further operands of the region.
absl::StatusOr<Literals> Fold(const FoldPlan& plan, const Module& region,
                              const Operands& inputs, const Operands& inits,
                              const Operands& captured, Evaluation& evaluation);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_FOLD_H_
