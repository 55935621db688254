// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Shared code of the operations whose region combines values.
#ifndef SYSTOLE_HOST_IR_HLO_FOLD_H_
#define SYSTOLE_HOST_IR_HLO_FOLD_H_

#include <optional>

#include "host/ir/evaluate.h"

namespace systole::ir {

// The combiner (combiner.h) of a region that only combines its two parameters;
// none for other regions.
std::optional<Op> CombinerOf(const Module& region);

// `count` copies of a single value.
Literal Filled(const Literal& value, int64_t count);

// A walk over inputs of one shape: for each tap, in ascending order, the values
// that are combined into the results.
struct FoldPlan {
  Ints results;         // shape of the results
  Ints result_strides;  // of the inputs, one entry per result dimension
  Ints taps;            // numbers of taps along some dimensions
  Ints tap_strides;     // of the inputs
};

// A region of several operations reduces elements in groups of this size.
constexpr int64_t kFoldGroup = 512;

// results[i] = region(... region(region(init, x0), x1) ...) over the taps, for
// any number of inputs at once. `captured` are further operands of the region.
absl::StatusOr<Literals> Fold(const FoldPlan& plan, const Module& region,
                              const Operands& inputs, const Operands& inits,
                              const Operands& captured, Evaluation& evaluation);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_FOLD_H_
