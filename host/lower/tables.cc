// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/lower/tables.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/evaluate.h"
#include "host/lower/tensors.h"

namespace systole::lower {
namespace {

using ir::Node;
using ir::Op;

bool IsUnary(Op op) {
  switch (op) {
    case Op::kLogistic:
    case Op::kTanh:
    case Op::kHardSwish:
    case Op::kAbs:
    case Op::kNeg:
    case Op::kExp:
    case Op::kLog:
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kElu:
    case Op::kGelu:
    case Op::kLeakyRelu:
    case Op::kSin:
    case Op::kCos:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kRelu:
    case Op::kRescale:
    case Op::kQuantize:
      return true;
    default:
      return false;
  }
}

bool IsBinary(Op op) {
  switch (op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMaximum:
    case Op::kMinimum:
    case Op::kSquaredDifference:
    case Op::kPrelu:
      return true;
    default:
      return false;
  }
}

// f32 between DEQUANTIZE and QUANTIZE: nothing else may depend on its bits.
bool IsReal(const Node& node) {
  return node.type.element == ir::ElementType::kFloat32 &&
         (IsUnary(node.op) || node.op == Op::kDequantize ||
          node.op == Op::kDiv || node.op == Op::kPow);
}

}  // namespace

Tables::Tables(const ir::Module& module, int64_t images) {
  std::unordered_map<const Node*, const Node*> reals;  // their arguments
  // For a node handled before: its argument. For other nodes: the node itself,
  // if it is a tensor of the device.
  const auto argument_of = [&](const Node* node) -> const Node* {
    if (const Node* own = ArgumentOf(node)) return own;
    if (const auto real = reals.find(node); real != reals.end())
      return real->second;
    return TensorOf(*node, images).ok() ? node : nullptr;
  };
  for (const auto& node : module.nodes()) {
    const bool real = IsReal(*node);
    if (!real && (!(IsUnary(node->op) || IsBinary(node->op)) ||
                  !TensorOf(*node, images).ok()))
      continue;
    const Node* argument = nullptr;
    const bool one = std::all_of(
        node->operands.begin(), node->operands.end(), [&](const Node* operand) {
          if (operand->is_constant()) return operand->type.elements() == 1;
          const Node* own = argument_of(operand);
          if (own == nullptr || operand->type.shape != node->type.shape)
            return false;
          if (argument == nullptr) argument = own;
          return argument == own;
        });
    if (!one || argument == nullptr) continue;
    if (real) {
      reals[node.get()] = argument;
      continue;
    }
    absl::StatusOr<std::vector<int8_t>> table = Evaluated(node.get(), argument);
    if (!table.ok()) continue;
    arguments_[node.get()] = argument;
    tables_[node.get()] = *std::move(table);
  }
  std::unordered_set<const Node*> needed;
  for (const ir::Output& output : module.outputs) needed.insert(output.node);
  // Users come before what they read. A table reads only its argument.
  for (auto node = module.nodes().rbegin(); node != module.nodes().rend();
       ++node) {
    const Node* argument = ArgumentOf(node->get());
    const bool inner = argument == nullptr && reals.count(node->get()) > 0;
    if (inner && needed.count(node->get()) == 0) {
      absorbed_.insert(node->get());
      continue;
    }
    for (const Node* operand : (*node)->operands) {
      if (argument == nullptr || operand == argument) needed.insert(operand);
    }
  }
  for (const auto& [node, argument] : arguments_) {
    if (needed.count(node) == 0) absorbed_.insert(node);
  }
}

const Node* Tables::ArgumentOf(const Node* node) const {
  const auto found = arguments_.find(node);
  return found == arguments_.end() ? nullptr : found->second;
}

// Runs the nodes between on a tensor of all values.
absl::StatusOr<std::vector<int8_t>> Tables::Evaluated(
    const Node* node, const Node* argument) const {
  ir::Module module(absl::StrCat(node->name, ".table"));
  std::unordered_map<const Node*, Node*> copies;
  const auto of_all = [](ir::Type type) {
    type.shape = {256};
    return type;
  };
  copies[argument] = module.Add({argument->name,
                                 Op::kParameter,
                                 of_all(argument->type),
                                 {},
                                 ir::ParameterAttributes{argument->name}});
  // Copies each node after its operands. A chain may be long, so there is no
  // recursion.
  std::vector<const Node*> left = {node};
  while (!left.empty()) {
    const Node* from = left.back();
    const auto missing = std::find_if(
        from->operands.begin(), from->operands.end(),
        [&](const Node* operand) { return copies.count(operand) == 0; });
    if (missing != from->operands.end()) {
      left.push_back(*missing);
      continue;
    }
    left.pop_back();
    if (copies.count(from) > 0) continue;
    Node* copy = module.Add(*from);
    if (from->is_constant()) {
      copy->type.shape = {1};
    } else {
      copy->type = of_all(from->type);
    }
    for (ir::Value& operand : copy->operands) operand = copies.at(operand);
    copies[from] = copy;
  }
  module.outputs.push_back({node->name, copies.at(node)});
  std::vector<int8_t> values(256);
  for (int i = 0; i < 256; ++i) values[i] = static_cast<int8_t>(i - 128);
  ir::Literals inputs;
  inputs.push_back(ir::Literal(std::move(values)));
  absl::StatusOr<ir::Literals> results = ir::EvaluateModule(module, inputs);
  if (!results.ok()) return results.status();
  return results->front().values<int8_t>();
}

}  // namespace systole::lower
