// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A node's level is above those of its operands, except of those in its own
// kernel. So a kernel can run when all kernels of lower levels are done.
#include "host/compiler/kernels/fusion.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "host/compiler/kernels/floating_nodes.h"
#include "host/compiler/kernels/fusion_rows.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Value;

// Parts of the unified buffer: of all values of a small kernel, of a row.
constexpr int64_t kSmallKernel = 32, kRowOfKernel = 4;
constexpr int64_t kMostInKernel = 400;  // nodes
constexpr int64_t kFewRows = 8;

class Fusion {
 public:
  Fusion(const ir::Module& module, const NodeKinds& kinds, const Preset& preset)
      : module_(module),
        kinds_(kinds),
        preset_(preset),
        floating_(FloatingNodes(module, kinds, preset)) {}

  std::map<int, std::vector<Unit>> Run() {
    for (const auto& owned : module_.nodes()) {
      const NodeKind kind = kinds_.Of(*owned);
      if (kind == NodeKind::kKnown || kind == NodeKind::kAlias ||
          kind == NodeKind::kParameter || floating_.count(owned.get()) > 0)
        continue;
      Add(*owned);
    }
    return Arranged();
  }

 private:
  struct Group {
    bool fusable = false;
    bool product = false;  // of matrices, whose operands are other kernels'
    int64_t rows = 1, bytes = 0;
    int level = 1;
    int joined = -1;  // the group that it became part of
    Nodes nodes;
  };

  // Appends the floating nodes that a node needs and that have no group yet, in
  // order.
  void AddFloatingOf(const Node& node, std::set<const Node*>& seen,
                     Nodes& all) const {
    for (const Value& operand : node.operands) {
      const Node* root = kinds_.Root(operand).node;
      if (floating_.count(root) == 0 || of_node_.count(root) > 0 ||
          !seen.insert(root).second)
        continue;
      AddFloatingOf(*root, seen, all);
      all.push_back(root);
    }
  }

  void Add(const Node& node) {
    Nodes nodes;
    std::set<const Node*> seen;
    AddFloatingOf(node, seen, nodes);
    if (!IsFusable(node, kinds_)) {
      for (const Node* one : nodes) AddGroup({one});
      nodes.clear();
    } else if (nodes.push_back(&node); nodes.size() > 1) {
      const Group together = GroupOf(nodes);
      if (!Fits(together.bytes, together.rows)) {
        nodes.pop_back();
        for (const Node* one : nodes) AddGroup({one});
        nodes.clear();
      }
    }
    if (nodes.empty()) nodes = {&node};
    AddGroup(std::move(nodes));
  }

  void AddGroup(Nodes nodes) {
    const Node& node = *nodes.back();
    groups_.push_back(GroupOf(nodes));
    const auto group = static_cast<int>(groups_.size()) - 1;
    of_node_[&node] = group;
    int level = LevelOf(group);
    if (node.op == Op::kHloRng) level = random_ = std::max(level, random_ + 1);
    groups_[group].level = level;
    if (!groups_[group].fusable) return;
    for (const auto& [other, rows] : OperandRows(group)) {
      if (groups_[other].level == level) Join(other, group);
    }
    JoinReaders(node, group);
  }

  Group GroupOf(const Nodes& nodes) const {
    Group group;
    group.nodes = nodes;
    group.fusable = IsFusable(*nodes[0], kinds_);
    if (!group.fusable) return group;
    group.rows = RowsOf(nodes, kinds_);
    group.product = IsArrayWork(*nodes[0]);
    for (const Node* node : nodes) {
      group.bytes += node->type.bytes();
      if (group.product) continue;
      for (const Value& operand : node->operands)
        group.bytes += operand.type().bytes();
    }
    return group;
  }

  int Root(int group) const {
    while (groups_[group].joined >= 0) group = groups_[group].joined;
    return group;
  }

  // Groups that make a new group's operands, with the rows that a kernel of
  // both has at most; 0: any.
  std::map<int, int64_t> OperandRows(int group) const {
    std::map<int, int64_t> rows;
    for (const Node* node : groups_[group].nodes) {
      for (size_t i = 0; i < node->operands.size(); ++i) {
        const auto found = of_node_.find(kinds_.Root(node->operands[i]).node);
        if (found == of_node_.end()) continue;
        int64_t& now = rows.emplace(Root(found->second), 0).first->second;
        if (NeedsWhole(*node, static_cast<int>(i))) now = 1;
      }
    }
    return rows;
  }

  bool Fits(int64_t bytes, int64_t rows) const {
    return bytes <= preset_.ub_bytes / kSmallKernel ||
           (rows > 1 && bytes / rows <= preset_.ub_bytes / kRowOfKernel);
  }

  // What the groups would be as one. `rows`: 1 if values are needed whole.
  bool CanJoin(const std::vector<int>& groups, int64_t rows) const {
    int64_t bytes = 0, nodes = 0, products = 0, most = 0;
    for (const int group : groups) {
      const Group& g = groups_[group];
      if (!g.fusable) return false;
      rows = std::gcd(rows, g.rows);
      most = std::max(most, g.rows);
      bytes += g.bytes;
      nodes += static_cast<int64_t>(g.nodes.size());
      products += g.product ? 1 : 0;
    }
    if (nodes > kMostInKernel || products > 1) return false;
    // A few large blocks would not overlap.
    if (rows < std::min(kFewRows, most) &&
        bytes > preset_.ub_bytes / kSmallKernel)
      return false;
    return Fits(bytes, rows);
  }

  int LevelOf(int group) {
    int level = 1;
    const std::map<int, int64_t> operands = OperandRows(group);
    for (const auto& [other, rows] : operands) {
      const bool joins =
          !groups_[group].product && CanJoin({other, group}, rows);
      level = std::max(level, groups_[other].level + (joins ? 0 : 1));
    }
    // All that are of this level have to fit together.
    std::vector<int> same = {group};
    int64_t rows = 0;
    for (const auto& [other, wanted] : operands) {
      if (groups_[other].level != level) continue;
      same.push_back(other);
      rows = std::gcd(rows, wanted);
    }
    if (same.size() > 1 && !CanJoin(same, rows)) return level + 1;
    groups_[group].rows = std::gcd(groups_[group].rows, rows);
    return level;
  }

  void Join(int into, int from) {
    into = Root(into);
    from = Root(from);
    if (into == from) return;
    if (into > from) std::swap(into, from);
    Group &a = groups_[into], &b = groups_[from];
    a.rows = std::gcd(a.rows, b.rows);
    a.bytes += b.bytes;
    a.product = a.product || b.product;
    for (const Node* node : b.nodes) {
      if (std::find(a.nodes.begin(), a.nodes.end(), node) == a.nodes.end())
        a.nodes.push_back(node);
    }
    b.nodes.clear();
    b.joined = into;
  }

  // Elementwise nodes of a level with as many elements that read the same value
  // join, and so do small ones.
  void JoinReaders(const Node& node, int group) {
    if (kinds_.Of(node) != NodeKind::kElementwise) return;
    const int level = groups_[Root(group)].level;
    const int64_t elements = node.type.elements();
    std::vector<std::pair<const Node*, int>> values;
    for (const Value& operand : node.operands) {
      const Value root = kinds_.Root(operand);
      if (operand.type().elements() == elements &&
          kinds_.Of(*root.node) != NodeKind::kKnown)
        values.emplace_back(root.node, root.index);
    }
    values.emplace_back(nullptr, 0);  // small
    for (const auto& [value, index] : values) {
      const auto [reader, added] =
          readers_.emplace(std::tuple(level, elements, value, index), group);
      const int other = Root(reader->second), here = Root(group);
      if (added || other == here || groups_[other].product ||
          groups_[here].product)
        continue;
      const bool small = groups_[other].bytes + groups_[here].bytes <=
                         preset_.ub_bytes / kSmallKernel;
      if ((value != nullptr || small) && CanJoin({other, here}, 0)) {
        Join(other, here);
      } else {
        reader->second = here;
      }
    }
  }

  std::map<int, std::vector<Unit>> Arranged() {
    std::unordered_map<const Node*, int> order;
    for (const auto& node : module_.nodes())
      order.emplace(node.get(), static_cast<int>(order.size()));
    std::map<int, std::vector<int>> levels;
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].joined < 0)
        levels[groups_[i].level].push_back(static_cast<int>(i));
    }
    std::map<int, std::vector<Unit>> units;
    for (auto& [level, groups] : levels) {
      // Small kernels of a level are one.
      int small = -1;
      for (const int group : groups) {
        if (groups_[group].fusable && !groups_[group].product &&
            groups_[group].bytes <= preset_.ub_bytes / kSmallKernel) {
          if (small >= 0 && CanJoin({small, group}, 1)) {
            Join(small, group);
            continue;
          }
          small = group;
        }
      }
      for (const int group : groups) {
        if (groups_[group].joined >= 0) continue;
        Nodes nodes = groups_[group].nodes;
        std::sort(nodes.begin(), nodes.end(),
                  [&](const Node* a, const Node* b) {
                    return order.at(a) < order.at(b);
                  });
        Unit unit{std::move(nodes), {}};
        for (const Node* node : unit.nodes) {
          const auto alone = of_node_.find(node);
          if (alone == of_node_.end() || Root(alone->second) != group)
            unit.repeated.insert(node);
        }
        units[level].push_back(std::move(unit));
      }
    }
    return units;
  }

  const ir::Module& module_;
  const NodeKinds& kinds_;
  const Preset& preset_;
  std::vector<Group> groups_;
  const std::set<const Node*> floating_;
  int random_ = 0;  // level: generators of random numbers keep their order
  std::unordered_map<const Node*, int> of_node_;
  // The last group that reads a value, by level, elements and value.
  std::map<std::tuple<int, int64_t, const Node*, int>, int> readers_;
};

}  // namespace

std::map<int, std::vector<Unit>> Fuse(const ir::Module& module,
                                      const NodeKinds& kinds,
                                      const Preset& preset) {
  return Fusion(module, kinds, preset).Run();
}

}  // namespace systole::lanes
