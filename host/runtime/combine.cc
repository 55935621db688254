// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/combine.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/op.h"

namespace systole::runtime {
namespace {

using ir::Node;
using ir::Op;

bool IsCombined(Op op) {
  return op == Op::kHloAllReduce || op == Op::kHloAllGather ||
         op == Op::kHloReduceScatter;
}
bool HasCombined(const ir::Module& module) {
  return std::any_of(
      module.nodes().begin(), module.nodes().end(), [](const auto& node) {
        return IsCombined(node->op) ||
               std::any_of(node->regions.begin(), node->regions.end(),
                           [](const auto& r) { return HasCombined(*r); });
      });
}

// Exchanges that become one.
struct Bucket {
  std::vector<Node*> members;
  int64_t bytes = 0;
};

class Combiner {
 public:
  Combiner(ir::Module& module, int64_t most_bytes)
      : module_(module), most_bytes_(most_bytes) {}

  void Run() {
    for (const auto& node : module_.nodes()) FindBucket(node.get());
    for (const auto& node : module_.nodes())
      if (node->op == Op::kParameter) order_.push_back(node.get());
    done_.insert(order_.begin(), order_.end());
    std::vector<Node*> nodes;
    for (const auto& node : module_.nodes()) nodes.push_back(node.get());
    for (const bool combined : {false, true}) {
      for (Node* node : nodes)
        if ((buckets_.count(node) > 0) == combined) Emit(node);
    }
    module_.Reorder(order_);
  }

 private:
  // Groups, whether by processes or partitions, dimension, operations, type.
  using Kind = std::tuple<ir::Ints, int64_t, bool, bool, int64_t, Op, Op,
                          ir::ElementType>;

  // The level of a value is the number of exchanges behind each other that it
  // needs. Those that become one are of one level, so none needs another.
  void FindBucket(Node* node) {
    int level = 0;
    for (const ir::Value& operand : node->operands)
      level = std::max(level, levels_.at(operand.node));
    levels_[node] = level;
    if (!IsCombined(node->op)) return;
    levels_[node] = level + 1;
    std::optional<Op> op = node->op;
    if (!node->regions.empty()) op = ir::CombinerOf(*node->regions[0]);
    const auto& a = node->attr<ir::HloCollectiveAttributes>();
    if (!op || node->results() != 1 || a.parts_stay) return;
    const Kind kind{a.replica_groups,
                    a.group_size,
                    a.channel != 0,
                    a.use_global_device_ids,
                    a.dimension,
                    node->op,
                    *op,
                    node->type.element};
    std::shared_ptr<Bucket>& bucket = open_[{level, kind}];
    const int64_t bytes =
        std::max(node->type.bytes(), node->operands[0].type().bytes());
    if (bucket == nullptr || bucket->bytes + bytes > most_bytes_)
      bucket = std::make_shared<Bucket>();
    bucket->members.push_back(node);
    bucket->bytes += bytes;
    buckets_[node] = bucket;
  }

  // Appends what a node needs, and the node.
  void Emit(Node* wanted) {
    std::vector<Node*> stack = {wanted};
    while (!stack.empty()) {
      Node* node = stack.back();
      if (done_.count(node) > 0) {
        stack.pop_back();
        continue;
      }
      std::vector<Node*> members = {node};
      if (const auto found = buckets_.find(node); found != buckets_.end())
        members = found->second->members;
      const size_t before = stack.size();
      for (const Node* member : members) {
        for (const ir::Value& operand : member->operands)
          if (done_.count(operand.node) == 0) stack.push_back(operand.node);
      }
      if (stack.size() > before) {
        std::reverse(stack.begin() + static_cast<int64_t>(before), stack.end());
        continue;
      }
      stack.pop_back();
      done_.insert(members.begin(), members.end());
      order_.push_back(members.size() == 1 ? node : Combined(members));
    }
  }

  Node* Combined(const std::vector<Node*>& members) {
    Node all = *members[0];
    all.name = module_.UniqueName(absl::StrCat(all.name, ".all"));
    for (size_t i = 1; i < members.size(); ++i) {
      all.operands.push_back(members[i]->operands[0]);
      all.more_types.push_back(members[i]->type);
    }
    Node* made = module_.Add(std::move(all));
    done_.insert(made);
    for (size_t i = 0; i < members.size(); ++i)
      module_.ReplaceUses(members[i], {made, static_cast<int>(i)});
    return made;
  }

  ir::Module& module_;
  const int64_t most_bytes_;
  std::map<const Node*, int> levels_;
  std::map<std::pair<int, Kind>, std::shared_ptr<Bucket>> open_;
  std::map<const Node*, std::shared_ptr<Bucket>> buckets_;
  std::set<const Node*> done_;
  std::vector<Node*> order_;
};

}  // namespace

void CombineExchanges(ir::Module& module, int64_t most_bytes) {
  if (!HasCombined(module)) return;
  for (const auto& node : module.nodes()) {
    for (std::shared_ptr<const ir::Module>& region : node->regions) {
      if (!HasCombined(*region)) continue;
      std::shared_ptr<ir::Module> copy = region->Clone();
      CombineExchanges(*copy, most_bytes);
      region = std::move(copy);
    }
  }
  Combiner(module, most_bytes).Run();
}

}  // namespace systole::runtime
