// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Moves what each turn of a loop would compute anew from the same values in
// front of the loop, such as bf16 weights of a recurrent network:
//
//   while(i, h, w) { c = convert(w); h' = f(h, c) }
//   c = convert(w);  while(i, h, w, c) { h' = f(h, c) }
#ifndef SYSTOLE_HOST_IR_INVARIANTS_H_
#define SYSTOLE_HOST_IR_INVARIANTS_H_

#include "host/ir/module.h"

namespace systole::ir {

// For the module and its regions. Nodes stay in the loop if their result is
// larger than what they are computed from, or if they are not repeatable
// (duplicates.h). Returns the number of nodes that are moved.
int HoistInvariants(Module& module);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_INVARIANTS_H_
