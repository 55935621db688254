// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/verifier.h"

#include <cmath>
#include <string>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "host/ir/calls.h"
#include "host/ir/rules.h"

namespace systole::ir {
namespace {

absl::Status CheckType(const Type& type) {
  SYSTOLE_IR_CHECK(type.rank() <= kMaxRank, "rank ", type.rank(),
                   " is more than ", kMaxRank);
  int64_t elements = 1;
  for (int64_t size : type.shape) {
    SYSTOLE_IR_CHECK(
        0 <= size && size <= kMaxElements && elements * size <= kMaxElements,
        "shape ", ShapeText(type.shape), " is empty or too large");
    elements *= size;
  }
  if (!type.quantization) return absl::OkStatus();
  const Quantization& q = *type.quantization;
  SYSTOLE_IR_CHECK(type.element == ElementType::kInt8 ||
                       type.element == ElementType::kInt16 ||
                       type.element == ElementType::kInt32,
                   TypeText(type), " has a quantisation");
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
  const int64_t limit = q.per_channel() ? 0
                        : type.element == ElementType::kInt32
                            ? 0
                            : int64_t{1}
                                  << (8 * ElementBytes(type.element) - 1);
  SYSTOLE_IR_CHECK(
      q.zero_point == 0 || (-limit <= q.zero_point && q.zero_point < limit),
      "zero point ", q.zero_point, " of ", TypeText(type));
  return absl::OkStatus();
}

// The types that the operations of quant/ read and produce.
absl::Status CheckQuantType(const Type& type) {
  SYSTOLE_IR_CHECK(type.rank() <= kMaxQuantRank, "rank ", type.rank(),
                   " is more than ", kMaxQuantRank);
  SYSTOLE_IR_CHECK(type.elements() > 0, "shape ", ShapeText(type.shape),
                   " is empty or too large");
  SYSTOLE_IR_CHECK(type.element == ElementType::kInt8 ||
                       type.element == ElementType::kInt16 ||
                       type.element == ElementType::kInt32 ||
                       type.element == ElementType::kFloat32,
                   TypeText(type), " is no type of quantised models");
  SYSTOLE_IR_CHECK(type.element != ElementType::kInt8 || type.quantization,
                   TypeText(type), " has no quantisation");
  return absl::OkStatus();
}

absl::Status CheckHloType(const Type& type) {
  SYSTOLE_IR_CHECK(!type.quantization, TypeText(type), " has a quantisation");
  return absl::OkStatus();
}

// Checks that operands and results have types of the operation's set.
absl::Status CheckTypes(const Node& node) {
  for (int i = 0; i < node.results(); ++i) {
    SYSTOLE_IR_RETURN_IF_ERROR(CheckType(node.result_type(i)));
  }
  const OpSet set = SetOf(node.op);
  // A cast converts from one set to another.
  if (set == OpSet::kCore || node.op == Op::kCast) return absl::OkStatus();
  const auto check = set == OpSet::kQuant ? CheckQuantType : CheckHloType;
  for (const Value& operand : node.operands) {
    SYSTOLE_IR_CHECK(set != OpSet::kQuant || operand->results() == 1,
                     "operand '", operand->name, "' has several results");
    SYSTOLE_IR_RETURN_IF_ERROR(check(operand.type()));
  }
  for (int i = 0; i < node.results(); ++i) {
    SYSTOLE_IR_RETURN_IF_ERROR(check(node.result_type(i)));
  }
  return absl::OkStatus();
}

absl::Status CheckStructure(const Module& module, bool is_region);

absl::Status CheckRegions(const Node& node, const OpInfo& info) {
  const int regions = static_cast<int>(node.regions.size());
  SYSTOLE_IR_CHECK(info.regions == kUnboundedOperands ? regions > 0
                                                      : regions == info.regions,
                   regions, " regions");
  for (const auto& region : node.regions) {
    SYSTOLE_IR_CHECK(region != nullptr, "a region is missing");
    SYSTOLE_IR_RETURN_IF_ERROR(CheckStructure(*region, true));
    for (const auto& inner : region->nodes()) {
      SYSTOLE_IR_RETURN_IF_ERROR(VerifyNode(*inner));
    }
  }
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
  SYSTOLE_IR_CHECK(SetOf(node.op) != OpSet::kQuant || node.results() == 1,
                   node.results(), " results");
  SYSTOLE_IR_RETURN_IF_ERROR(CheckTypes(node));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckRegions(node, info));
  return info.check(node);
}

absl::Status Named(const Node& node, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("node '", node.name, "' (", OpName(node.op),
                                   ")", node.location.empty() ? "" : " at ",
                                   node.location, ": ", status.message()));
}

// Checks that each node occurs once, and after the nodes that it reads.
absl::Status CheckStructure(const Module& module, bool is_region) {
  std::unordered_set<const Node*> members, defined;
  std::unordered_set<std::string> names, inputs, outputs;
  for (const auto& node : module.nodes()) members.insert(node.get());
  for (const auto& owned : module.nodes()) {
    const Node& node = *owned;
    SYSTOLE_IR_CHECK(!node.name.empty(), "a node without name (",
                     OpName(node.op), ")");
    SYSTOLE_IR_CHECK(names.insert(node.name).second, "two nodes '", node.name,
                     "'");
    for (const Value& operand : node.operands) {
      SYSTOLE_IR_CHECK(members.count(operand) > 0, "node '", node.name, "' (",
                       OpName(node.op), "): an operand is not in the module");
      SYSTOLE_IR_CHECK(defined.count(operand) > 0, "node '", node.name, "' (",
                       OpName(node.op), "): operand '", operand->name,
                       "' comes later");
      SYSTOLE_IR_CHECK(0 <= operand.index && operand.index < operand->results(),
                       "node '", node.name, "' (", OpName(node.op),
                       "): operand '", operand->name, "' has no result ",
                       operand.index);
    }
    defined.insert(&node);
    const auto* input = node.attributes.If<ParameterAttributes>();
    if (input && !is_region) {
      SYSTOLE_IR_CHECK(inputs.insert(input->name).second, "two inputs '",
                       input->name, "'");
    }
  }
  const bool acts =
      std::any_of(module.nodes().begin(), module.nodes().end(),
                  [](const auto& node) { return HasEffect(*node); });
  SYSTOLE_IR_CHECK(!module.outputs.empty() || module.nodes().empty() || acts,
                   "no outputs");
  for (const Output& output : module.outputs) {
    SYSTOLE_IR_CHECK(members.count(output.node) > 0, "output '", output.name,
                     "' is not in the module");
    SYSTOLE_IR_CHECK(
        0 <= output.node.index && output.node.index < output.node->results(),
        "output '", output.name, "': no result ", output.node.index);
    if (is_region) continue;
    SYSTOLE_IR_CHECK(outputs.insert(output.name).second, "two outputs '",
                     output.name, "'");
  }
  return absl::OkStatus();
}

// Checks that every node of quant/ is read by a node or is an output. Programs
// of other sets may have dead nodes.
absl::Status CheckNoDangling(const Module& module) {
  std::unordered_set<const Node*> used;
  for (const auto& node : module.nodes()) {
    used.insert(node->operands.begin(), node->operands.end());
  }
  for (const Output& output : module.outputs) used.insert(output.node);
  for (const auto& node : module.nodes()) {
    if (SetOf(node->op) != OpSet::kQuant) continue;
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
  SYSTOLE_IR_RETURN_IF_ERROR(CheckStructure(module, /*is_region=*/false));
  for (const auto& node : module.nodes()) {
    SYSTOLE_IR_RETURN_IF_ERROR(VerifyNode(*node));
  }
  return CheckNoDangling(module);
}

}  // namespace systole::ir
