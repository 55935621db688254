// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/kernel_unit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace systole::runtime {

const ir::Node* ProductOf(const Nodes& nodes) {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [](const ir::Node* node) {
        return node->op == ir::Op::kHloMatrixProduct;
      });
  return found == nodes.end() ? nullptr : *found;
}

std::string UnitOf(const Nodes& nodes) {
  std::vector<std::pair<absl::string_view, int>> ops;
  if (ProductOf(nodes) != nullptr) ops.emplace_back("array", 1);
  for (const ir::Node* node : nodes) {
    if (node->op == ir::Op::kHloMatrixProduct) continue;
    const absl::string_view name =
        absl::StripPrefix(ir::OpName(node->op), "hlo.");
    const auto known =
        std::find_if(ops.begin(), ops.end(),
                     [&](const auto& op) { return op.first == name; });
    if (known == ops.end()) {
      ops.emplace_back(name, 1);
    } else {
      ++known->second;
    }
  }
  constexpr size_t kShown = 3;  // kinds of operations
  std::string text;
  int others = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto& [name, count] = ops[i];
    if (i >= kShown && ops.size() > kShown + 1) {
      others += count;
      continue;
    }
    absl::StrAppend(&text, i > 0 ? ", " : "", name);
    if (count > 1) absl::StrAppend(&text, " x ", count);
  }
  if (others > 0) absl::StrAppend(&text, ", ", others, " others");
  return text;
}

}  // namespace systole::runtime
