// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations as the host computes them: what the device does not have, and what
// the compiler works out itself. To the bit as docs/numerics.md says.
#ifndef SYSTOLE_HOST_IR_EVALUATE_H_
#define SYSTOLE_HOST_IR_EVALUATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::ir {

// Whether Evaluate knows the operation: all but inputs.
bool HostComputes(Op op);

// The values of a verified node from those of its operands, in their types.
// Errors: Unimplemented for other operations.
absl::StatusOr<Literal> Evaluate(const Node& node,
                                 const std::vector<const Literal*>& operands);

// The outputs of a verified module of such operations, from its inputs in
// their order. Errors name the node or the input.
absl::StatusOr<std::vector<Literal>> EvaluateModule(
    const Module& module, const std::vector<Literal>& inputs);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_EVALUATE_H_
