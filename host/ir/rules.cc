// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/rules.h"

namespace systole::ir {

absl::Status CheckParameter(const Node& node) {
  SYSTOLE_IR_CHECK(
      !node.type.quantization || !node.type.quantization->per_channel(),
      "an input with a scale for each channel");
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
