// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Work that a loop does once per turn and that can be done at once, or in the
// kernel of the turn before.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LOOP_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LOOP_LOWERING_H_

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Products of a line of an array by a matrix that no turn changes, such as the
// inputs of a recurrent network by their weights, become one product of all
// lines in front of the loop, of which a turn takes its line:
//
//   while(i; xs, w) { y = dot(dynamic_slice(xs, i), w) ... }
//   ys = dot(xs, w);  while(i; ys) { y = dynamic_slice(ys, i) ... }
//
// Of loops that take each line, if the memory has room.
void LiftProducts(ir::Module& module, const Preset& preset);

// A value that is carried on and converted for a product in each turn, such as
// the state of a recurrent network to bf16, is carried in that type as well:
// the kernel that makes it converts it.
void CarryConversions(ir::Module& module);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LOOP_LOWERING_H_
