// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/shard_updates.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/compiler/kernels/shard_lowering.h"
#include "host/ir/op.h"
#include "host/runtime/cluster.h"
#include "host/runtime/link_collectives.h"

namespace systole::runtime {
namespace {

using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;

// Less is not worth a place in an exchange.
constexpr int64_t kLeastBytes = 16384;
// Cycles of a program of an exchange beyond its bytes.
constexpr int64_t kExchangeStart = 2000;

// Of a collective over all processes, their order; empty: of another one.
ir::ProcessGroup GroupOfAll(const Node& node, ir::ProcessGrid grid) {
  const auto groups = ir::ProcessGroupsOf(node, grid);
  if (!groups.ok() || groups->size() != 1) return {};
  return (*groups)[0];
}

// Nodes whose results are the same in all processes.
class Replicated {
 public:
  Replicated(const ir::Module& module, ir::ProcessGrid grid) {
    for (const auto& node : module.nodes())
      if (Find(*node, grid)) nodes_.insert(node.get());
  }
  bool Has(const Node* node) const { return nodes_.count(node) > 0; }

 private:
  bool Find(const Node& node, ir::ProcessGrid grid) const {
    switch (node.op) {
      case Op::kParameter:
        return node.attr<ir::ParameterAttributes>().replicated;
      case Op::kHloAllReduce:
      case Op::kHloAllGather:
        return !GroupOfAll(node, grid).empty();
      case Op::kHloPartitionId:
      case Op::kHloReplicaId:
      case Op::kHloShard:
      case Op::kHloRng:
      case Op::kHloCustomCall:
        return false;
      default:
        break;
    }
    if (ir::IsCollective(node.op)) return false;
    for (const auto& region : node.regions)
      if (ir::HasCollectives(*region)) return false;
    return std::all_of(node.operands.begin(), node.operands.end(),
                       [&](const Value& operand) { return Has(operand.node); });
  }

  std::set<const Node*> nodes_;
};

class Sharder {
 public:
  Sharder(ir::Module& module, ir::ProcessGrid grid, const Preset& preset)
      : module_(module),
        grid_(grid),
        processes_(grid.count()),
        preset_(preset),
        replicated_(module, grid) {}

  void Run() {
    FindUsers();
    for (const Cluster& cluster : Clusters()) {
      const std::vector<Node*> outputs = OutputsOf(cluster);
      if (Pays(cluster, outputs)) Divide(cluster, outputs);
    }
    if (divided_) module_.RemoveUnused();
  }

 private:
  void FindUsers() {
    for (const auto& node : module_.nodes()) {
      for (const Value& operand : node->operands)
        users_[operand.node].push_back(node.get());
    }
    for (const ir::Output& output : module_.outputs)
      users_[output.node.node].push_back(nullptr);
    for (const auto& node : module_.nodes()) {
      if (ir::IsCollective(node->op))
        channel_ = std::max(channel_,
                            node->attr<ir::HloCollectiveAttributes>().channel);
    }
  }

  // Whether a part of every process's is as long and begins where values may.
  bool Divides(const Type& type) const {
    const int64_t part = lanes::ValueAlignment(preset_) * processes_;
    return type.bytes() % part == 0;
  }
  bool IsCandidate(const Node& node) const {
    if (!ir::IsElementwiseOp(node.op) || !replicated_.Has(&node) ||
        node.results() != 1 || node.type.rank() == 0 ||
        node.type.bytes() < kLeastBytes)
      return false;
    return std::all_of(node.operands.begin(), node.operands.end(),
                       [&](const Value& operand) {
                         return operand.type().rank() == 0 ||
                                operand.type().shape == node.type.shape;
                       });
  }

  std::vector<Cluster> Clusters() {
    std::unordered_map<const Node*, int> number;
    std::vector<Cluster> clusters;
    for (const auto& owned : module_.nodes()) {
      Node* const node = owned.get();
      if (!IsCandidate(*node)) continue;
      int own = -1;
      // With its operands'.
      for (const Value& operand : node->operands) {
        const auto found = number.find(operand.node);
        if (found == number.end() || operand.type().rank() == 0) continue;
        const int other = found->second;
        if (own < 0 || own == other) {
          own = other;
          continue;
        }
        for (Node* moved : clusters[other]) number[moved] = own;
        clusters[own].insert(clusters[own].end(), clusters[other].begin(),
                             clusters[other].end());
        clusters[other].clear();
      }
      if (own < 0) {
        own = static_cast<int>(clusters.size());
        clusters.emplace_back();
      }
      number[node] = own;
      clusters[own].push_back(node);
    }
    clusters.erase(std::remove_if(clusters.begin(), clusters.end(),
                                  [](const Cluster& c) { return c.empty(); }),
                   clusters.end());
    // In the module's order.
    std::unordered_map<const Node*, int> place;
    for (const auto& node : module_.nodes())
      place[node.get()] = static_cast<int>(place.size());
    for (Cluster& cluster : clusters) {
      std::sort(cluster.begin(), cluster.end(),
                [&](const Node* a, const Node* b) {
                  return place.at(a) < place.at(b);
                });
    }
    return clusters;
  }

  std::vector<Node*> OutputsOf(const Cluster& cluster) const {
    const std::set<const Node*> inside(cluster.begin(), cluster.end());
    std::vector<Node*> outputs;
    for (Node* node : cluster) {
      const auto found = users_.find(node);
      if (found == users_.end()) continue;
      if (std::any_of(found->second.begin(), found->second.end(),
                      [&](const Node* user) {
                        return user == nullptr || inside.count(user) == 0;
                      }))
        outputs.push_back(node);
    }
    return outputs;
  }

  // Outputs that take the place of a parameter of which the cluster alone reads
  // parts, as an optimiser's moments do from step to step: no device needs the
  // whole.
  std::set<const Node*> StayingOf(const Cluster& cluster,
                                  const std::vector<Node*>& outputs) const {
    const std::set<const Node*> inside(cluster.begin(), cluster.end());
    const auto all_users = [&](const Node* node, const auto& test) {
      const std::vector<const Node*>& users = users_.at(node);
      return std::all_of(users.begin(), users.end(), test);
    };
    std::vector<const Node*> parameters;
    for (const Node* node : cluster) {
      for (const Value& operand : node->operands) {
        const Node* const from = operand.node;
        if (from->op == Op::kParameter && from->type.rank() != 0 &&
            std::count(parameters.begin(), parameters.end(), from) == 0 &&
            all_users(from,
                      [&](const Node* user) { return inside.count(user) > 0; }))
          parameters.push_back(from);
      }
    }
    std::set<const Node*> staying;
    for (const Node* node : outputs) {
      if (!all_users(node, [&](const Node* user) {
            return user == nullptr || inside.count(user) > 0;
          }))
        continue;
      const auto same = std::find_if(
          parameters.begin(), parameters.end(),
          [&](const Node* from) { return from->type == node->type; });
      if (same == parameters.end()) continue;
      parameters.erase(same);
      staying.insert(node);
    }
    return staying;
  }

  bool Pays(const Cluster& cluster, const std::vector<Node*>& outputs) const {
    const std::set<const Node*> inside(cluster.begin(), cluster.end());
    for (const Node* node : cluster) {
      for (const Value& operand : node->operands) {
        if (inside.count(operand.node) > 0 || operand.type().rank() == 0 ||
            IsSplat(operand))
          continue;
        if (!Divides(operand.type())) return false;
      }
    }
    int64_t gathered = 0;
    const std::set<const Node*> staying = StayingOf(cluster, outputs);
    for (const Node* node : outputs) {
      if (!Divides(node->type)) return false;
      if (staying.count(node) == 0)
        gathered += GatherCycles(node->type.bytes());
    }
    if (outputs.empty()) return false;
    const int64_t elements = cluster[0]->type.elements();
    const int64_t whole = CyclesOf(cluster, outputs, elements, preset_);
    if (whole <= gathered) return false;
    const int64_t part =
        CyclesOf(cluster, outputs, elements / processes_, preset_);
    return part + gathered + kExchangeStart < whole;
  }

  // Every process stores all. Of the bytes of other chips, each crosses the
  // four links of a chip once and is forwarded at most once; two thirds of
  // their rate are reached (docs/collectives.md).
  int64_t GatherCycles(int64_t bytes) const {
    const int64_t memory = bytes / preset_.beat_bytes();
    const bool one_chip = processes_ <= preset_.chip.cores;
    const int64_t links =
        one_chip ? 0 : 3 * bytes / (8 * preset_.chip.link_bytes);
    return std::max(memory, links);
  }

  class Parts : public ClusterCopier {
   public:
    // sums: all_reduces that nothing else reads.
    Parts(ir::Module& module, const Cluster& cluster, int64_t elements,
          int64_t processes, std::set<const Node*> sums)
        : ClusterCopier(module, cluster, elements),
          elements_(elements),
          processes_(processes),
          sums_(std::move(sums)) {}

   private:
    Value Outer(const Value& value, const Node* user) override {
      if (sums_.count(value.node) > 0) return Scattered(*value.node, user);
      ir::HloShardAttributes a;
      a.sizes = {elements_};
      for (int64_t p = 0; p < processes_; ++p)
        a.starts.push_back(p * elements_);
      return Put({Name(value.node),
                  Op::kHloShard,
                  Shape(value.type()),
                  {value},
                  std::move(a)},
                 user);
    }
    Value Scalar(const Value& value) override { return value; }
    Node* Put(Node node, const Node* user) override {
      return into_.InsertBefore(user, std::move(node));
    }
    Value Scattered(const Node& sum, const Node* user) {
      const Value flat = Put({Name(&sum),
                              Op::kHloReshape,
                              {sum.type.element, {sum.type.elements()}, {}},
                              {sum.operands[0]},
                              ir::NoAttributes{}},
                             user);
      Node own{Name(&sum),
               Op::kHloReduceScatter,
               Shape(sum.type),
               {flat},
               sum.attributes};
      own.attr<ir::HloCollectiveAttributes>().dimension = 0;
      own.regions = sum.regions;
      own.location = sum.location;
      return Put(std::move(own), user);
    }

    const int64_t elements_, processes_;
    const std::set<const Node*> sums_;
  };

  // The all_reduces over all processes, in their order, that only the cluster
  // reads.
  std::set<const Node*> SumsOf(const Cluster& cluster) const {
    const std::set<const Node*> inside(cluster.begin(), cluster.end());
    std::set<const Node*> sums;
    for (const Node* node : cluster) {
      for (const Value& operand : node->operands) {
        const Node* const sum = operand.node;
        if (sum->op != Op::kHloAllReduce || sum->results() != 1) continue;
        const ir::ProcessGroup group = GroupOfAll(*sum, grid_);
        const std::vector<const Node*>& users = users_.at(sum);
        if (!group.empty() && std::is_sorted(group.begin(), group.end()) &&
            std::all_of(users.begin(), users.end(), [&](const Node* user) {
              return inside.count(user) > 0;
            }))
          sums.insert(sum);
      }
    }
    return sums;
  }

  void Divide(const Cluster& cluster, const std::vector<Node*>& outputs) {
    const int64_t part = cluster[0]->type.elements() / processes_;
    Parts parts(module_, cluster, part, processes_, SumsOf(cluster));
    const std::set<const Node*> staying = StayingOf(cluster, outputs);
    std::vector<std::pair<Node*, Node*>> wholes;
    for (Node* node : cluster) {
      Node* const copy = parts.Copy(node);
      if (std::count(outputs.begin(), outputs.end(), node) == 0) continue;
      ir::HloCollectiveAttributes a;
      for (int64_t p = 0; p < processes_; ++p) a.replica_groups.push_back(p);
      a.group_size = processes_;
      a.channel = ++channel_;
      a.use_global_device_ids = true;
      a.parts_stay = staying.count(node) > 0;
      Node* const gathered = module_.InsertBefore(
          node, {module_.UniqueName(node->name + ".all"),
                 Op::kHloAllGather,
                 {node->type.element, {node->type.elements()}, {}},
                 {copy},
                 a});
      gathered->location = node->location;
      Node* const whole =
          module_.InsertBefore(node, {module_.UniqueName(node->name + ".whole"),
                                      Op::kHloReshape,
                                      node->type,
                                      {gathered},
                                      ir::NoAttributes{}});
      wholes.emplace_back(node, whole);
    }
    for (const auto& [node, whole] : wholes) module_.ReplaceUses(node, whole);
    divided_ = true;
  }

  ir::Module& module_;
  const ir::ProcessGrid grid_;
  const int64_t processes_;
  const Preset& preset_;
  const Replicated replicated_;
  std::unordered_map<const Node*, std::vector<const Node*>> users_;
  int64_t channel_ = 0;
  bool divided_ = false;
};

}  // namespace

void ShardUpdates(ir::Module& module, ir::ProcessGrid grid,
                  const Preset& preset) {
  if (grid.replicas != 1 || grid.partitions < 2 ||
      grid.partitions > kMostLinkMembers)
    return;
  Sharder(module, grid, preset).Run();
}

}  // namespace systole::runtime
