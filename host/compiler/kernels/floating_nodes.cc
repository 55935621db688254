// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/floating_nodes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "host/compiler/kernels/fusion_rows.h"
#include "host/compiler/kernels/reduction_kernel.h"

namespace systole::lanes {
namespace {

using ir::Node;
using ir::Op;
using ir::Value;

constexpr int64_t kMostFloating = 100;  // nodes that one needs
// Of values that are computed again: operations, and the part of the unified
// buffer that they exceed.
constexpr int kMostRecomputed = 4;
constexpr int64_t kLargeValue = 32;

// Operations of a few instructions.
bool IsCheap(Op op) {
  switch (op) {
    case Op::kHloAdd:
    case Op::kHloSubtract:
    case Op::kHloMultiply:
    case Op::kHloMaximum:
    case Op::kHloMinimum:
    case Op::kHloNegate:
    case Op::kHloAbs:
    case Op::kHloCompare:
    case Op::kHloSelect:
      return true;
    default:
      return false;
  }
}

class Floating {
 public:
  Floating(const ir::Module& module, const NodeKinds& kinds,
           const Preset& preset)
      : module_(module), kinds_(kinds), preset_(preset) {}

  std::set<const Node*> Run() {
    Find();
    return std::move(floating_);
  }

 private:
  bool IsAlike(const Node& node, const Node& reader) const {
    return kinds_.Of(reader) == NodeKind::kElementwise &&
           reader.type.elements() == node.type.elements();
  }

  // Broadcasts that only fused nodes need are repeated in the kernel of each,
  // at no cost. So is what one of these makes of nothing else. An elementwise
  // node of parameters that one other needs waits for that and is not stored.
  void Find() {
    std::map<const Node*, Nodes> users;
    std::set<const Node*> outputs;
    std::map<const Node*, int64_t> sizes;
    for (const auto& node : module_.nodes()) {
      const NodeKind kind = kinds_.Of(*node);
      if (kind == NodeKind::kKnown || kind == NodeKind::kAlias) continue;
      std::set<const Node*> read;
      for (const Value& operand : node->operands)
        read.insert(kinds_.Root(operand).node);
      for (const Node* from : read) users[from].push_back(node.get());
    }
    for (const ir::Output& output : module_.outputs)
      outputs.insert(kinds_.Root(output.node).node);
    for (const auto& owned : module_.nodes()) {
      const Node* node = owned.get();
      if (outputs.count(node) > 0 || !IsFusable(*node, kinds_)) continue;
      const Nodes& readers = users[node];
      if (IsRecomputed(*node, readers)) {
        floating_.insert(node);
        continue;
      }
      if (!std::all_of(readers.begin(), readers.end(), [&](const Node* reader) {
            return IsFusable(*reader, kinds_) && !IsArrayWork(*reader);
          }))
        continue;
      const bool alike = readers.size() == 1 && IsAlike(*node, *readers[0]);
      const auto repeated = [&](const Value& operand) {
        const Node* root = kinds_.Root(operand).node;
        return floating_.count(root) > 0 ||
               kinds_.Of(*root) == NodeKind::kKnown ||
               (alike && kinds_.Of(*root) == NodeKind::kParameter);
      };
      const bool floats =
          node->op == Op::kHloBroadcastInDim
              ? floating_.count(kinds_.Root(node->operands[0]).node) == 0
              : readers.size() == 1 &&
                    kinds_.Of(*node) == NodeKind::kElementwise &&
                    std::all_of(node->operands.begin(), node->operands.end(),
                                repeated);
      int64_t size = 1;  // with what floats before it
      for (const Value& operand : node->operands) {
        const auto before = sizes.find(kinds_.Root(operand).node);
        if (before != sizes.end()) size += before->second;
      }
      if (!floats || size > kMostFloating) continue;
      floating_.insert(node);
      sizes.emplace(node, size);
    }
  }

  // Whether all kernels that need a large value compute it again, in a few
  // instructions, because that moves fewer bytes than storing and loading it:
  // from values that are in memory in any case.
  bool IsRecomputed(const Node& node, const Nodes& readers) {
    if (kinds_.Of(node) != NodeKind::kElementwise || !IsCheap(node.op) ||
        node.type.bytes() <= preset_.ub_bytes / kLargeValue ||
        readers.size() < 2 ||
        !std::all_of(readers.begin(), readers.end(), [&](const Node* reader) {
          return IsAlike(node, *reader) ||
                 (IsReduction(*reader) && IsFusable(*reader, kinds_));
        }))
      return false;
    Recomputed all;
    for (const Value& operand : node.operands) {
      const Node* root = kinds_.Root(operand).node;
      if (operand.type().elements() < node.type.elements() ||
          kinds_.Of(*root) == NodeKind::kKnown)
        continue;
      if (const auto found = recomputed_.find(root);
          found != recomputed_.end()) {
        all.operations += found->second.operations;
        all.from.insert(found->second.from.begin(), found->second.from.end());
      } else if (floating_.count(root) == 0) {
        if (kinds_.Of(*root) == NodeKind::kElementwise) return false;
        all.from.insert(root);
      }
    }
    ++all.operations;
    int64_t bytes = 0;
    for (const Node* from : all.from) bytes += from->type.bytes();
    const auto again = static_cast<int64_t>(readers.size()) - 1;
    if (all.operations > kMostRecomputed ||
        bytes * again >= node.type.bytes() * (again + 1))
      return false;
    recomputed_.emplace(&node, std::move(all));
    return true;
  }

  const ir::Module& module_;
  const NodeKinds& kinds_;
  const Preset& preset_;
  std::set<const Node*> floating_;
  struct Recomputed {
    int operations = 0;
    std::set<const Node*> from;  // nodes in memory
  };
  std::map<const Node*, Recomputed> recomputed_;  // of the floating nodes
};

}  // namespace

std::set<const Node*> FloatingNodes(const ir::Module& module,
                                    const NodeKinds& kinds,
                                    const Preset& preset) {
  return Floating(module, kinds, preset).Run();
}

}  // namespace systole::lanes
