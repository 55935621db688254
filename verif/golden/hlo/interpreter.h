// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs a module of op set hlo element by element, as docs/hlo.md and the
// StableHLO specification define it. It is the reference for bit-exact
// comparison with the host's evaluation and the devices. Slow.
//
//   std::vector<ir::Literal> outputs = golden::RunHlo(*module, inputs).value();
#ifndef SYSTOLE_VERIF_GOLDEN_HLO_INTERPRETER_H_
#define SYSTOLE_VERIF_GOLDEN_HLO_INTERPRETER_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::golden {

// Computes the outputs of a verified module from its inputs, in order. Errors:
// Unimplemented, with the node's name, for unknown calls and for operations
// that occur in no artifact.
absl::StatusOr<std::vector<ir::Literal>> RunHlo(
    const ir::Module& module, const std::vector<ir::Literal>& inputs);

// Runs a module in replicas x partitions processes, which exchange values in
// collectives. Process r * partitions + p is partition p of replica r and has
// inputs[process]; the outputs have the same order. Errors: Unimplemented as
// above; FailedPrecondition if a process does not reach a collective of its
// group; InvalidArgument for invalid groups.
absl::StatusOr<std::vector<std::vector<ir::Literal>>> RunHlo(
    const ir::Module& module, int replicas, int partitions,
    const std::vector<std::vector<ir::Literal>>& inputs);

// The results of one operation. `other` computes the operations of other sets
// in its regions.
using OtherOperation = std::function<absl::StatusOr<ir::Literal>(
    const ir::Node& node, const std::vector<const ir::Literal*>& operands)>;
absl::StatusOr<std::vector<ir::Literal>> RunHloNode(
    const ir::Node& node, const std::vector<const ir::Literal*>& operands,
    const OtherOperation& other);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_HLO_INTERPRETER_H_
