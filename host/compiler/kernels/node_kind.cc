// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/node_kind.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/node_kernel.h"
#include "host/ir/calls.h"
#include "host/ir/evaluate.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::Node;
using ir::Op;
using ir::Value;

constexpr int64_t kMostKnownBytes = int64_t{1} << 26;

// A result without elements needs no work.
bool IsEmpty(const Node& node) {
  return node.results() == 1 && node.type.elements() == 0 &&
         node.op != Op::kParameter && node.op != Op::kHloRng &&
         !ir::HasEffect(node);
}

bool IsAlias(const Node& node) {
  if (node.op == Op::kHloOptimizationBarrier) return true;
  if (node.operands.empty()) return false;
  const ir::Type& from = node.operands[0].type();
  switch (node.op) {
    case Op::kHloReshape:
      return true;
    case Op::kHloConvert:
      return from.element == node.type.element;
    case Op::kHloBitcastConvert:
      return from.bytes() == node.type.bytes();
    case Op::kHloBroadcastInDim: {
      const auto& dimensions =
          node.attr<ir::HloDimensionsAttributes>().dimensions;
      return from.elements() == node.type.elements() &&
             std::is_sorted(dimensions.begin(), dimensions.end());
    }
    default:
      return false;
  }
}

bool IsElementwise(const Node& node) {
  if (node.type.elements() == 0) return false;
  if (node.op == Op::kHloBroadcastInDim) {
    return node.operands[0].type().elements() == 1 &&
           FitsLane(node.type.element) && !HasOneNan(node.type.element);
  }
  return CanLower(node);
}

}  // namespace

// Not products, which go to the array, generators, which count calls, what
// differs from device to device, or regions, which may take long.
bool MayBeKnown(const Node& node) {
  switch (node.op) {
    case Op::kParameter:
    case Op::kHloDotGeneral:
    case Op::kHloConvolution:
    case Op::kHloMatrixProduct:
    case Op::kHloRng:
    case Op::kHloCustomCall:
    case Op::kHloPartitionId:
    case Op::kHloReplicaId:
    case Op::kHloShard:
      return false;
    default:
      return node.regions.empty() && node.results() == 1 &&
             !ir::IsCollective(node.op) && ir::HostComputes(node.op) &&
             node.type.bytes() <= kMostKnownBytes;
  }
}

bool IsUniform(const ir::Literal& literal) {
  const int64_t bytes = ir::ElementBytes(literal.element());
  return literal.size() > 0 &&
         std::memcmp(literal.data(), literal.data() + bytes,
                     (literal.size() - 1) * bytes) == 0;
}

NodeKinds::NodeKinds(const ir::Module& module) {
  for (const auto& node : module.nodes()) kinds_[node.get()] = Find(*node);
}

NodeKind NodeKinds::Find(const Node& node) const {
  if (node.op == Op::kParameter) return NodeKind::kParameter;
  const bool known =
      node.is_constant() || IsEmpty(node) ||
      (MayBeKnown(node) &&
       std::all_of(node.operands.begin(), node.operands.end(),
                   [this](const Value& operand) {
                     return kinds_.at(operand.node) == NodeKind::kKnown;
                   }));
  if (known) return NodeKind::kKnown;
  if (IsAlias(node)) return NodeKind::kAlias;
  if (IsElementwise(node)) return NodeKind::kElementwise;
  return HasKernel(node) ? NodeKind::kMoved : NodeKind::kOther;
}

Value NodeKinds::Root(Value value) const {
  while (kinds_.at(value.node) == NodeKind::kAlias) {
    const bool barrier = value->op == Op::kHloOptimizationBarrier;
    value = value->operands[barrier ? value.index : 0];
  }
  return value;
}

const ir::Literal& NodeKinds::Known(const Node* node) {
  if (node->is_constant()) return node->literal();
  const auto found = known_.find(node);
  if (found != known_.end()) return found->second;
  if (IsEmpty(*node)) {
    return known_.emplace(node, ir::Literal::Zeros(node->type.element, 0))
        .first->second;
  }
  std::vector<const ir::Literal*> operands;
  for (const Value& operand : node->operands)
    operands.push_back(&Known(operand.node));
  absl::StatusOr<ir::Literal> value = ir::Evaluate(*node, operands);
  if (!value.ok()) std::abort();  // HostComputes, no regions
  return known_.emplace(node, *std::move(value)).first->second;
}

const ir::Literal* NodeKinds::Splat(Value value) {
  const Value root = Root(value);
  if (kinds_.at(root.node) != NodeKind::kKnown || IsEmpty(*root.node))
    return nullptr;
  // By the element type of the value, whatever type the memory was created
  // with.
  const ElementType element = value.type().element;
  const auto [place, added] =
      splats_.emplace(std::pair(root.node, element), std::nullopt);
  std::optional<ir::Literal>& splat = place->second;
  if (added) {
    const Node* node = root.node;
    while (node->op == Op::kHloBroadcastInDim || node->op == Op::kHloReshape)
      node = node->operands[0].node;
    const ir::Literal& literal = Known(node);
    if (IsUniform(literal) &&
        ir::ElementBytes(element) == ir::ElementBytes(literal.element()))
      splat = ir::Literal::FromBytes(element, 1, literal.data());
  }
  return splat ? &*splat : nullptr;
}

}  // namespace systole::lanes
