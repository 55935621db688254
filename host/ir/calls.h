// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Calls of the process that made a program, custom_call nodes: jax's callbacks.
// Their `config` is the number of a function there.
#ifndef SYSTOLE_HOST_IR_CALLS_H_
#define SYSTOLE_HOST_IR_CALLS_H_

#include "host/ir/module.h"

namespace systole::ir {

// What it gives depends on its operands alone. `config` of a call ends in kOnce
// if one of several devices does it for all.
inline constexpr char kPureCall[] = "systole_pure_call";
// It is done even if nobody needs a result, once for each time that it is
// reached.
inline constexpr char kEffectCall[] = "systole_effect_call";
inline constexpr char kOnce[] = " once";

bool IsCall(const Node& node);
// Whether the node, or one of its regions, is a call that must be done.
bool HasEffect(const Node& node);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_CALLS_H_
