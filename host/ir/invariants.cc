// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/invariants.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "host/ir/duplicates.h"

namespace systole::ir {
namespace {

class Loop {
 public:
  Loop(Module& module, Node& loop)
      : module_(module), loop_(loop), body_(loop.regions[1]->Clone()) {
    // What the body does not change: other values than the loop's, and those
    // that it returns as they came.
    const std::vector<Node*> inputs = body_->inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool carried = i < static_cast<size_t>(loop.results());
      if (!carried || body_->outputs[i].node == inputs[i])
        outside_[Value(inputs[i])] = loop.operands[i];
    }
  }

  int Hoist() {
    int count = 0;
    for (const auto& node : body_->nodes()) {
      if (!Moves(*node)) continue;
      Node copy = *node;
      copy.name = module_.UniqueName(node->name);
      for (Value& operand : copy.operands) operand = Outside(operand);
      Node* const made = module_.InsertBefore(&loop_, std::move(copy));
      for (int i = 0; i < node->results(); ++i)
        outside_[Value(node.get(), i)] = Value(made, i);
      moved_.push_back(node.get());
      ++count;
    }
    if (count > 0) Connect();
    return count;
  }

 private:
  bool Moves(const Node& node) const {
    if (node.op == Op::kParameter || node.is_constant() ||
        node.op == Op::kHloWhile || !IsRepeatable(node))
      return false;
    int64_t read = 0, made = 0;
    for (const Value& operand : node.operands) {
      if (operand->is_constant()) continue;
      if (outside_.count(operand) == 0) return false;
      read += operand.type().bytes();
    }
    for (int i = 0; i < node.results(); ++i)
      made += node.result_type(i).bytes();
    return read > 0 && made <= read;
  }

  Value Outside(const Value& value) {
    const auto found = outside_.find(value);
    if (found != outside_.end()) return found->second;
    Node constant = *value.node;
    constant.name = module_.UniqueName(constant.name);
    return outside_[value] = module_.InsertBefore(&loop_, std::move(constant));
  }

  // Brings to the body what it still reads of the nodes that are moved.
  void Connect() {
    std::shared_ptr<Module> condition = loop_.regions[0]->Clone();
    for (Node* node : moved_) {
      for (int i = 0; i < node->results(); ++i) {
        const Value value(node, i);
        if (!IsRead(value)) continue;
        loop_.operands.push_back(outside_.at(value));
        condition->AddParameter("invariant", value.type());
        body_->ReplaceUses(value,
                           body_->AddParameter("invariant", value.type()));
      }
    }
    body_->RemoveUnused();
    loop_.regions = {std::move(condition), std::move(body_)};
  }
  bool IsRead(const Value& value) const {
    const auto reads = [&](const auto& node) {
      return std::find(moved_.begin(), moved_.end(), node.get()) ==
                 moved_.end() &&
             std::find(node->operands.begin(), node->operands.end(), value) !=
                 node->operands.end();
    };
    return std::any_of(body_->nodes().begin(), body_->nodes().end(), reads) ||
           std::any_of(
               body_->outputs.begin(), body_->outputs.end(),
               [&](const Output& output) { return output.node == value; });
  }

  struct Before {
    bool operator()(const Value& a, const Value& b) const {
      return std::make_pair(a.node, a.index) < std::make_pair(b.node, b.index);
    }
  };

  Module& module_;
  Node& loop_;
  std::shared_ptr<Module> body_;
  // Values in front of the loop, by those of the body that equal them.
  std::map<Value, Value, Before> outside_;
  std::vector<Node*> moved_;
};

}  // namespace

int HoistInvariants(Module& module) {
  int count = 0;
  std::vector<Node*> nodes;
  for (const auto& node : module.nodes()) {
    if (!node->regions.empty()) nodes.push_back(node.get());
  }
  for (Node* node : nodes) {
    for (std::shared_ptr<const Module>& region : node->regions) {
      std::shared_ptr<Module> copy = region->Clone();
      const int inside = HoistInvariants(*copy);
      count += inside;
      if (inside > 0) region = std::move(copy);
    }
    if (node->op == Op::kHloWhile) count += Loop(module, *node).Hoist();
  }
  return count;
}

}  // namespace systole::ir
