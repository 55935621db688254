// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Repetitions in a sequence, mostly the blocks of a layer, must remain
// repetitions in the program: each pass has the same order and the same flags,
// except for the first and the last passes.
#ifndef HOST_COMPILER_PASSES_REPEATED_ORDER_H_
#define HOST_COMPILER_PASSES_REPEATED_ORDER_H_

#include <cstdint>
#include <vector>

#include "host/compiler/sequence.h"
#include "host/program/repeats.h"

namespace systole::compiler {

// Repeats of at least four passes.
std::vector<Repeat> RepeatsOf(const Sequence& sequence);

// Gives all passes of a repeat the same dependences: a step after one of the
// repeat's steps is ordered after the last step of that queue in the repeat,
// and a step before one of them is ordered before the first step of its queue.
// Returns whether anything changed.
bool JoinDependences(const std::vector<Repeat>& repeats, Sequence& sequence);

// Gives the passes of a repeat the keys of its middle pass, at a constant
// distance. Only repeats from number `from` on.
void RepeatKeys(const std::vector<Repeat>& repeats, size_t from,
                std::vector<int64_t>& keys);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_REPEATED_ORDER_H_
