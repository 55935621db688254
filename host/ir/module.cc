// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/module.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace systole::ir {

std::vector<Node*> Module::inputs() const {
  std::vector<Node*> found;
  for (const auto& node : nodes_) {
    if (node->op == Op::kParameter) found.push_back(node.get());
  }
  return found;
}

Node* Module::Find(std::string_view name) const {
  for (const auto& node : nodes_) {
    if (node->name == name) return node.get();
  }
  return nullptr;
}

std::vector<Node*> Module::Users(const Node* node) const {
  std::vector<Node*> users;
  for (const auto& other : nodes_) {
    if (std::count(other->operands.begin(), other->operands.end(), node) > 0) {
      users.push_back(other.get());
    }
  }
  return users;
}

bool Module::IsOutput(const Node* node) const {
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](const Output& o) { return o.node == node; });
}

std::string Module::UniqueName(std::string_view base) const {
  std::unordered_set<std::string_view> taken;
  for (const auto& node : nodes_) taken.insert(node->name);
  std::string name(base);
  for (int i = 1; taken.count(name) > 0; ++i) {
    name = absl::StrCat(std::string(base), ".", i);
  }
  return name;
}

Node* Module::Add(Node node) {
  nodes_.push_back(std::make_unique<Node>(std::move(node)));
  return nodes_.back().get();
}

Node* Module::InsertBefore(const Node* position, Node node) {
  const auto at =
      std::find_if(nodes_.begin(), nodes_.end(),
                   [&](const auto& other) { return other.get() == position; });
  return nodes_.insert(at, std::make_unique<Node>(std::move(node)))->get();
}

void Module::MoveBefore(const Node* position, const Node* node) {
  const auto find = [&](const Node* wanted) {
    return std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& other) {
      return other.get() == wanted;
    });
  };
  const auto from = find(node);
  std::rotate(find(position), from, from + 1);
}

void Module::ReplaceUses(const Node* from, Node* to) {
  for (const auto& node : nodes_) {
    for (Node*& operand : node->operands) {
      if (operand == from) operand = to;
    }
  }
  for (Output& output : outputs) {
    if (output.node == from) output.node = to;
  }
}

int Module::RemoveUnused() {
  std::unordered_set<const Node*> needed;
  for (const Output& output : outputs) needed.insert(output.node);
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if ((*node)->op == Op::kParameter) needed.insert(node->get());
    if (needed.count(node->get()) == 0) continue;
    needed.insert((*node)->operands.begin(), (*node)->operands.end());
  }
  const auto end = std::remove_if(
      nodes_.begin(), nodes_.end(),
      [&](const auto& node) { return needed.count(node.get()) == 0; });
  const int removed = static_cast<int>(nodes_.end() - end);
  nodes_.erase(end, nodes_.end());
  return removed;
}

std::unique_ptr<Module> Module::Clone() const {
  auto copy = std::make_unique<Module>(name);
  std::unordered_map<const Node*, Node*> copies;
  for (const auto& node : nodes_) {
    Node* added = copy->Add(*node);
    copies[node.get()] = added;
    for (Node*& operand : added->operands) operand = copies.at(operand);
  }
  for (const Output& output : outputs) {
    copy->outputs.push_back({output.name, copies.at(output.node)});
  }
  return copy;
}

bool Equal(const Module& a, const Module& b) {
  if (a.name != b.name || a.nodes().size() != b.nodes().size() ||
      a.outputs.size() != b.outputs.size()) {
    return false;
  }
  std::unordered_map<const Node*, const Node*> same;
  for (size_t i = 0; i < a.nodes().size(); ++i) {
    const Node& left = *a.nodes()[i];
    const Node& right = *b.nodes()[i];
    if (left.name != right.name || left.op != right.op ||
        left.type != right.type ||
        left.operands.size() != right.operands.size() ||
        !Equal(left.attributes, right.attributes)) {
      return false;
    }
    for (size_t k = 0; k < left.operands.size(); ++k) {
      const auto match = same.find(left.operands[k]);
      if (match == same.end() || match->second != right.operands[k]) {
        return false;
      }
    }
    same[&left] = &right;
  }
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const auto match = same.find(a.outputs[i].node);
    if (a.outputs[i].name != b.outputs[i].name || match == same.end() ||
        match->second != b.outputs[i].node) {
      return false;
    }
  }
  return true;
}

Node MakeConstant(std::string name, Type type, Literal data) {
  return {std::move(name),
          Op::kConstant,
          std::move(type),
          {},
          ConstantAttributes{std::make_shared<Literal>(std::move(data))}};
}

}  // namespace systole::ir
