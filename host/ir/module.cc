// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/module.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "host/ir/calls.h"

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
  const absl::string_view prefix(base.data(), base.size());
  bool is_free = true;
  std::vector<int> taken;  // numbers in use after `base`
  for (const auto& node : nodes_) {
    absl::string_view rest = node->name;
    if (!absl::ConsumePrefix(&rest, prefix)) continue;
    if (rest.empty()) is_free = false;
    int number;
    if (absl::ConsumePrefix(&rest, ".") && absl::SimpleAtoi(rest, &number) &&
        rest == absl::StrCat(number)) {
      taken.push_back(number);
    }
  }
  if (is_free) return std::string(base);
  std::sort(taken.begin(), taken.end());
  int free = 1;
  for (const int number : taken) free += number == free;
  return absl::StrCat(prefix, ".", free);
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

Node* Module::AddParameter(std::string_view base, const Type& type) {
  const auto last =
      std::find_if(nodes_.rbegin(), nodes_.rend(),
                   [](const auto& node) { return node->op == Op::kParameter; });
  Node parameter{
      UniqueName(base), Op::kParameter, type, {}, ParameterAttributes{""}};
  return last == nodes_.rbegin()
             ? Add(std::move(parameter))
             : InsertBefore(last.base()->get(), std::move(parameter));
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

void Module::Reorder(const std::vector<Node*>& order) {
  std::unordered_map<const Node*, std::unique_ptr<Node>> all;
  for (std::unique_ptr<Node>& node : nodes_) {
    const Node* key = node.get();
    all[key] = std::move(node);
  }
  nodes_.clear();
  for (const Node* node : order) nodes_.push_back(std::move(all.at(node)));
}

void Module::ReplaceUses(Value from, Value to) {
  for (const auto& node : nodes_) {
    std::replace(node->operands.begin(), node->operands.end(), from, to);
  }
  for (Output& output : outputs) {
    if (output.node == from) output.node = to;
  }
}

int Module::RemoveUnused() {
  std::unordered_set<const Node*> needed;
  for (const Output& output : outputs) needed.insert(output.node);
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if ((*node)->op == Op::kParameter || HasEffect(**node))
      needed.insert(node->get());
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
    for (Value& operand : added->operands) {
      operand.node = copies.at(operand.node);
    }
  }
  for (const Output& output : outputs) {
    copy->outputs.push_back({output.name,
                             {copies.at(output.node.node), output.node.index},
                             output.stored});
  }
  return copy;
}

namespace {

bool EqualRegions(const Node& a, const Node& b) {
  return a.regions.size() == b.regions.size() &&
         std::equal(a.regions.begin(), a.regions.end(), b.regions.begin(),
                    [](const auto& left, const auto& right) {
                      return left == right || Equal(*left, *right);
                    });
}

}  // namespace

bool Equal(const Module& a, const Module& b) {
  if (a.name != b.name || a.nodes().size() != b.nodes().size() ||
      a.outputs.size() != b.outputs.size()) {
    return false;
  }
  std::unordered_map<const Node*, const Node*> same;
  const auto same_value = [&](const Value& left, const Value& right) {
    const auto match = same.find(left.node);
    return match != same.end() && match->second == right.node &&
           left.index == right.index;
  };
  for (size_t i = 0; i < a.nodes().size(); ++i) {
    const Node& left = *a.nodes()[i];
    const Node& right = *b.nodes()[i];
    if (left.name != right.name || left.op != right.op ||
        left.type != right.type || left.more_types != right.more_types ||
        !std::equal(left.operands.begin(), left.operands.end(),
                    right.operands.begin(), right.operands.end(), same_value) ||
        !Equal(left.attributes, right.attributes) ||
        !EqualRegions(left, right)) {
      return false;
    }
    same[&left] = &right;
  }
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if (a.outputs[i].name != b.outputs[i].name ||
        a.outputs[i].stored != b.outputs[i].stored ||
        !same_value(a.outputs[i].node, b.outputs[i].node)) {
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
