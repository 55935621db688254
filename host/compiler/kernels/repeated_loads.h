// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loads that bring what is there: an earlier load of the same bytes to the same
// place, after which neither side was written. So the weights of a recurrent
// network stay in the unified buffer from turn to turn.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_REPEATED_LOADS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_REPEATED_LOADS_H_

#include <cstdint>

#include "host/compiler/sequence.h"

namespace systole::lanes {

// Removes them and returns how many bytes they load. Nobody but the steps
// writes what they load. Their dependences are not known yet.
int64_t RemoveRepeatedLoads(compiler::Sequence& sequence);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_REPEATED_LOADS_H_
