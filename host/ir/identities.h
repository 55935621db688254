// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_IDENTITIES_H_
#define SYSTOLE_HOST_IR_IDENTITIES_H_

#include "host/ir/module.h"

namespace systole::ir {

// Takes away operations of hlo/ that give what they get: pads by nothing, whole
// slices, reshapes to the same shape, conversions to the same type,
// permutations that are none, and so on; and the larger of -infinity and the
// largest element of a line, as JAX's softmax has it. Returns the number of
// nodes that are gone.
int RemoveIdentities(Module& module);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_IDENTITIES_H_
