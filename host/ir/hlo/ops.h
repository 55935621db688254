// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operations of hlo/: docs/hlo.md.
#ifndef SYSTOLE_HOST_IR_HLO_OPS_H_
#define SYSTOLE_HOST_IR_HLO_OPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/op.h"
#include "host/ir/type.h"

namespace systole::ir {

// In the order of the enumeration.
std::vector<OpInfo> HloOps();

// Infers the result types of a node of hlo/ whose operands, attributes and
// regions are set. Properties that cannot be inferred (the shape of iota,
// broadcast_in_dim and reshape, the element type of convert) are checked and
// taken from the node's type. Errors: InvalidArgument.
absl::StatusOr<std::vector<Type>> InferTypes(const Node& node);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_OPS_H_
