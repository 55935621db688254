// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Callbacks (jax's): custom_call nodes that call a function of the process that
// made the program. `config` is the number of the function in that process.
#ifndef SYSTOLE_HOST_IR_CALLS_H_
#define SYSTOLE_HOST_IR_CALLS_H_

#include "host/ir/module.h"

namespace systole::ir {

// A call without side effects: its results depend only on its operands.
inline constexpr char kPureCall[] = "systole_pure_call";
// A call with side effects. It is made each time it is reached, even if nothing
// uses its results.
inline constexpr char kEffectCall[] = "systole_effect_call";
// Suffix of `config`: one of several devices makes the call for all of them.
inline constexpr char kOnce[] = " once";

bool IsCall(const Node& node);
// Whether the node is a call with side effects, or has one in a region.
bool HasEffect(const Node& node);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_CALLS_H_
