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

// The results of one verified node from its operands.
absl::StatusOr<ir::Literal> EvaluateNode(
    const ir::Node& node, const std::vector<const ir::Literal*>& operands);

// The values of all nodes. `inputs` are those of the parameters, in their
// order. Errors name the node.
absl::StatusOr<NodeValues> RunNodes(const ir::Module& module,
                                    const std::vector<ir::Literal>& inputs);

// The module's outputs.
absl::StatusOr<std::vector<ir::Literal>> RunModule(
    const ir::Module& module, const std::vector<ir::Literal>& inputs);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_INTERPRETER_H_
