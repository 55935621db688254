// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/rules.h"

namespace systole::ir {

absl::Status CheckParameter(const Node& node) {
  SYSTOLE_IR_CHECK(
      !node.type.quantization || !node.type.quantization->per_channel(),
      "an input with a scale for each channel");
  // The initial value of a variable.
  SYSTOLE_IR_CHECK(
      node.operands.empty() || (node.operands[0]->is_constant() &&
                                node.operands[0].type() == node.type),
      "a variable's first value must be a constant ", TypeText(node.type));
  return absl::OkStatus();
}

absl::Status CheckConstant(const Node& node) {
  const auto& data = node.attr<ConstantAttributes>().data;
  SYSTOLE_IR_CHECK(data != nullptr, "no values");
  SYSTOLE_IR_CHECK(data->element() == node.type.element &&
                       data->size() == node.type.elements(),
                   data->size(), " values of ",
                   ElementTypeName(data->element()), " for ",
                   TypeText(node.type));
  return absl::OkStatus();
}

}  // namespace systole::ir
