// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/evaluate.h"

#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/evaluate_kernels.h"

namespace systole::ir {

Ints StridesOf(const Ints& shape) {
  Ints strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

void Advance(const Ints& shape, Ints& index) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return;
    index[i] = 0;
  }
}

absl::StatusOr<Literal> EvaluateConstant(const Node& node, const Operands&) {
  return node.literal();
}

bool HostComputes(Op op) { return InfoOf(op).evaluate != nullptr; }

absl::StatusOr<Literal> Evaluate(const Node& node, const Operands& operands) {
  if (!HostComputes(node.op)) {
    return absl::UnimplementedError(
        absl::StrCat("the host does not compute ", OpName(node.op)));
  }
  return InfoOf(node.op).evaluate(node, operands);
}

absl::StatusOr<std::vector<Literal>> EvaluateModule(
    const Module& module, const std::vector<Literal>& inputs) {
  const std::vector<Node*> parameters = module.inputs();
  if (inputs.size() != parameters.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        inputs.size(), " inputs for ", parameters.size(), " parameters"));
  }
  std::unordered_map<const Node*, Literal> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = parameters[i]->type;
    if (inputs[i].element() != type.element ||
        inputs[i].size() != type.elements()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", parameters[i]->name, "': ", inputs[i].size(),
                       " values of ", ElementTypeName(inputs[i].element()),
                       " for ", TypeText(type)));
    }
    values[parameters[i]] = inputs[i];
  }
  for (const auto& node : module.nodes()) {
    if (node->op == Op::kParameter) continue;
    Operands operands;
    for (const Node* operand : node->operands) {
      operands.push_back(&values.at(operand));
    }
    absl::StatusOr<Literal> result = Evaluate(*node, operands);
    if (!result.ok()) {
      return absl::Status(
          result.status().code(),
          absl::StrCat("node '", node->name, "': ", result.status().message()));
    }
    values[node.get()] = *std::move(result);
  }
  std::vector<Literal> outputs;
  for (const Output& output : module.outputs) {
    outputs.push_back(values.at(output.node));
  }
  return outputs;
}

}  // namespace systole::ir
