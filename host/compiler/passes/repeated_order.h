// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What repeats itself in a sequence as it was appended, above all a layer's
// blocks, is to repeat itself in the program: in the same order and with the
// same flags each time, but for the first passes and the last ones.
#ifndef HOST_COMPILER_PASSES_REPEATED_ORDER_H_
#define HOST_COMPILER_PASSES_REPEATED_ORDER_H_

#include <cstdint>
#include <vector>

#include "host/compiler/sequence.h"
#include "host/program/repeats.h"

namespace systole::compiler {

// Of at least four passes.
std::vector<Repeat> RepeatsOf(const Sequence& sequence);

// A repeat has no dependence that one pass has and another has not: what comes
// after one of its steps comes after the last step of that queue in it, and
// what one of its steps comes after is done before the first of its queue.
// Whether that changed anything.
bool JoinDependences(const std::vector<Repeat>& repeats, Sequence& sequence);

// The passes of a repeat have the keys of the one in their middle, evenly
// apart. The repeats count from `from` on.
void RepeatKeys(const std::vector<Repeat>& repeats, size_t from,
                std::vector<int64_t>& keys);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_REPEATED_ORDER_H_
