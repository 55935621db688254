// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/verifier.h"

#include <cmath>
#include <string>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "host/ir/rules.h"

namespace systole::ir {
namespace {

absl::Status CheckType(const Type& type) {
  SYSTOLE_IR_CHECK(type.rank() <= kMaxRank, "rank ", type.rank(),
                   " is more than ", kMaxRank);
  int64_t elements = 1;
  for (int64_t size : type.shape) {
    SYSTOLE_IR_CHECK(
        0 < size && size <= kMaxElements && elements * size <= kMaxElements,
        "shape ", ShapeText(type.shape), " is empty or too large");
    elements *= size;
  }
  if (!type.quantization) {
    SYSTOLE_IR_CHECK(type.element != ElementType::kInt8, TypeText(type),
                     " has no quantisation");
    return absl::OkStatus();
  }
  const Quantization& q = *type.quantization;
  SYSTOLE_IR_CHECK(type.element != ElementType::kFloat32, TypeText(type),
                   " has a quantisation");
  SYSTOLE_IR_CHECK(!q.scales.empty(), "a quantisation without scale");
  for (float scale : q.scales) {
    SYSTOLE_IR_CHECK(std::isfinite(scale) && scale > 0, "scale ", scale,
                     " is not finite and positive");
  }
  if (q.per_channel()) {
    SYSTOLE_IR_CHECK(
        0 <= q.axis && q.axis < type.rank() &&
            type.shape[q.axis] == static_cast<int64_t>(q.scales.size()),
        q.scales.size(), " scales for axis ", q.axis, " of ",
        ShapeText(type.shape));
  } else {
    SYSTOLE_IR_CHECK(q.axis == 0, "axis ", q.axis, " with one scale");
  }
  const bool asymmetric =
      type.element == ElementType::kInt8 && !q.per_channel();
  SYSTOLE_IR_CHECK(asymmetric ? -128 <= q.zero_point && q.zero_point <= 127
                              : q.zero_point == 0,
                   "zero point ", q.zero_point, " of ", TypeText(type));
  return absl::OkStatus();
}

absl::Status CheckNode(const Node& node) {
  const OpInfo& info = InfoOf(node.op);
  const int operands = static_cast<int>(node.operands.size());
  SYSTOLE_IR_CHECK(
      info.min_operands <= operands && operands <= info.max_operands, operands,
      " operands");
  SYSTOLE_IR_CHECK(node.attributes.index() == info.defaults.index(),
                   "attributes of another operation");
  SYSTOLE_IR_RETURN_IF_ERROR(CheckType(node.type));
  return info.check(node);
}

absl::Status Named(const Node& node, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("node '", node.name, "' (", OpName(node.op),
                                   "): ", status.message()));
}

// Nodes come once, and behind what they read.
absl::Status CheckStructure(const Module& module) {
  std::unordered_set<const Node*> members, defined;
  std::unordered_set<std::string> names, inputs, outputs;
  for (const auto& node : module.nodes()) members.insert(node.get());
  for (const auto& owned : module.nodes()) {
    const Node& node = *owned;
    SYSTOLE_IR_CHECK(!node.name.empty(), "a node without name (",
                     OpName(node.op), ")");
    SYSTOLE_IR_CHECK(names.insert(node.name).second, "two nodes '", node.name,
                     "'");
    for (const Node* operand : node.operands) {
      SYSTOLE_IR_CHECK(members.count(operand) > 0, "node '", node.name, "' (",
                       OpName(node.op), "): an operand is not in the module");
      SYSTOLE_IR_CHECK(defined.count(operand) > 0, "node '", node.name, "' (",
                       OpName(node.op), "): operand '", operand->name,
                       "' comes later");
    }
    defined.insert(&node);
    if (const auto* input =
            std::get_if<ParameterAttributes>(&node.attributes)) {
      SYSTOLE_IR_CHECK(inputs.insert(input->name).second, "two inputs '",
                       input->name, "'");
    }
  }
  SYSTOLE_IR_CHECK(!module.outputs.empty() || module.nodes().empty(),
                   "no outputs");
  for (const Output& output : module.outputs) {
    SYSTOLE_IR_CHECK(members.count(output.node) > 0, "output '", output.name,
                     "' is not in the module");
    SYSTOLE_IR_CHECK(outputs.insert(output.name).second, "two outputs '",
                     output.name, "'");
  }
  return absl::OkStatus();
}

// Every result is needed by an output.
absl::Status CheckNoDangling(const Module& module) {
  std::unordered_set<const Node*> used;
  for (const auto& node : module.nodes()) {
    used.insert(node->operands.begin(), node->operands.end());
  }
  for (const Output& output : module.outputs) used.insert(output.node);
  for (const auto& node : module.nodes()) {
    if (node->op == Op::kParameter) continue;
    SYSTOLE_IR_CHECK(used.count(node.get()) > 0, "node '", node->name, "' (",
                     OpName(node->op), "): nothing uses the result");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyNode(const Node& node) {
  return Named(node, CheckNode(node));
}

absl::Status Verify(const Module& module) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckStructure(module));
  for (const auto& node : module.nodes()) {
    SYSTOLE_IR_RETURN_IF_ERROR(VerifyNode(*node));
  }
  return CheckNoDangling(module);
}

}  // namespace systole::ir
