// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs a module of the graph IR on the golden operations.
//
//   auto module = import::ReadTflite("model.tflite").value();
//   std::vector<ir::Literal> outputs =
//       golden::RunModule(*module, {image}).value();
#ifndef SYSTOLE_VERIF_GOLDEN_INTERPRETER_H_
#define SYSTOLE_VERIF_GOLDEN_INTERPRETER_H_

#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::golden {

using NodeValues = std::unordered_map<const ir::Node*, ir::Literal>;

// The values of one node from those of its operands. The node is verified.
absl::StatusOr<ir::Literal> EvaluateNode(
    const ir::Node& node, const std::vector<const ir::Literal*>& operands);

// Every node's values. `inputs` are the parameters', in their order. Errors
// name the node.
absl::StatusOr<NodeValues> RunNodes(const ir::Module& module,
                                    const std::vector<ir::Literal>& inputs);

// The module's outputs.
absl::StatusOr<std::vector<ir::Literal>> RunModule(
    const ir::Module& module, const std::vector<ir::Literal>& inputs);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_INTERPRETER_H_
