// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Elementwise nodes with the same number of elements and the same level form
// one kernel, whether or not they depend on each other. A node's level is above
// the levels of everything that it needs from other kernels or from the host.
// So a kernel can run when all kernels of lower levels are done. A kernel that
// is too large is halved.
#include "host/compiler/kernels/device_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "host/compiler/kernels/elementwise_kernel.h"
#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/compiler/kernels/node_kernel.h"
#include "host/compiler/kernels/node_kind.h"

namespace systole::lanes {
namespace {

using ir::Node;
using ir::Op;
using ir::Value;
using Nodes = std::vector<const Node*>;

class Planner {
 public:
  Planner(const ir::Module& module, const Preset& preset)
      : module_(module), preset_(preset), kinds_(module) {}

  DevicePlan Plan() {
    for (const auto& node : module_.nodes()) {
      first_slot_[node.get()] = plan_.slots;
      plan_.slots += node->results();
    }
    for (const Node* input : module_.inputs())
      plan_.parameters.push_back(Slot(Value(const_cast<Node*>(input))));
    FindUsers();
    Arrange();
    for (const auto& [level, units] : levels_) {
      for (const Unit& unit : units) Emit(unit);
    }
    for (const ir::Output& output : module_.outputs)
      plan_.outputs.push_back(SlotOf(output.node));
    FindDead();
    return std::move(plan_);
  }

 private:
  // Nodes that become steps together.
  struct Unit {
    int64_t elements = 0;  // 0: a single node
    Nodes nodes;
  };

  int Slot(const Value& value) const {
    return first_slot_.at(value.node) + value.index;
  }
  // Slot of a value in memory; constants get one too.
  int SlotOf(const Value& value) {
    const Value root = kinds_.Root(value);
    const int slot = Slot(root);
    if (kinds_.Of(*root.node) == NodeKind::kKnown && known_.insert(slot).second)
      plan_.constants.emplace_back(slot, kinds_.Known(root.node));
    return slot;
  }

  void FindUsers() {
    for (const auto& node : module_.nodes()) {
      const NodeKind kind = kinds_.Of(*node);
      if (kind == NodeKind::kKnown || kind == NodeKind::kAlias) continue;
      for (const Value& operand : node->operands)
        users_[Slot(kinds_.Root(operand))].insert(node.get());
    }
    for (const ir::Output& output : module_.outputs)
      users_[Slot(kinds_.Root(output.node))].insert(nullptr);
  }

  void Arrange() {
    std::unordered_map<const Node*, int> level;
    std::map<std::pair<int, int64_t>, size_t> clusters;
    int random = 0;  // generators of random numbers keep their order
    for (const auto& owned : module_.nodes()) {
      const Node* node = owned.get();
      const NodeKind kind = kinds_.Of(*node);
      if (kind == NodeKind::kKnown || kind == NodeKind::kAlias ||
          kind == NodeKind::kParameter)
        continue;
      const bool elementwise = kind == NodeKind::kElementwise;
      const int64_t elements = node->type.elements();
      int at = 1;
      for (const Value& operand : node->operands) {
        const Value root = kinds_.Root(operand);
        const auto found = level.find(root.node);
        if (found == level.end()) continue;
        const bool joins =
            elementwise && kinds_.Of(*root.node) == NodeKind::kElementwise &&
            root.node->type.elements() == elements &&
            SameLane(root.node->type.element, operand.type().element);
        at = std::max(at, found->second + (joins ? 0 : 1));
      }
      if (node->op == Op::kHloRng) at = random = std::max(at, random + 1);
      level[node] = at;
      std::vector<Unit>& units = levels_[at];
      if (!elementwise) {
        units.push_back({0, {node}});
        continue;
      }
      const auto [place, added] =
          clusters.emplace(std::pair(at, elements), units.size());
      if (added) units.push_back({elements, {}});
      units[place->second].nodes.push_back(node);
    }
  }

  void Emit(const Unit& unit) {
    if (unit.elements > 0) return EmitCluster(unit);
    const Node& node = *unit.nodes[0];
    PlanStep step;
    for (const Value& operand : node.operands)
      step.inputs.push_back(SlotOf(operand));
    for (int i = 0; i < node.results(); ++i)
      step.outputs.push_back(first_slot_.at(&node) + i);
    step.node = &node;
    if (kinds_.Of(node) == NodeKind::kMoved) {
      absl::StatusOr<KernelProgram> kernel = CompileNode(node, preset_);
      if (kernel.ok()) {
        step.kernel = *std::move(kernel);
        step.nodes = unit.nodes;
      }
    }
    if (IsControl(node)) {
      step.loop = CountedLoopOf(node);
      for (const auto& region : node.regions) {
        plan_.regions[region.get()] =
            std::make_unique<DevicePlan>(PlanFor(*region, preset_));
      }
    }
    plan_.steps.push_back(std::move(step));
  }

  void EmitCluster(const Unit& unit) {
    if (CompileCluster(unit)) return;
    if (unit.nodes.size() == 1) return Emit({0, unit.nodes});
    const auto middle = unit.nodes.begin() + unit.nodes.size() / 2;
    EmitCluster({unit.elements, {unit.nodes.begin(), middle}});
    EmitCluster({unit.elements, {middle, unit.nodes.end()}});
  }

  bool CompileCluster(const Unit& unit) {
    ElementwiseSpec spec;
    spec.elements = unit.elements;
    PlanStep step;
    MakeGraph(unit, spec.graph, spec.stores, spec, step);
    ElementwiseSpec again;  // the same operands and results
    PlanStep same;
    spec.guarded.set_guarded();
    MakeGraph(unit, spec.guarded, spec.guarded_stores, again, same);
    if (spec.guarded.guards().empty()) spec.guarded_stores.clear();
    if (spec.stores.empty()) return true;  // nothing needs it
    absl::StatusOr<KernelProgram> kernel = CompileElementwise(spec, preset_);
    if (!kernel.ok()) return false;
    step.kernel = *std::move(kernel);
    step.nodes = unit.nodes;
    plan_.steps.push_back(std::move(step));
    return true;
  }

  // The graph of a cluster, with its operands and results.
  void MakeGraph(const Unit& unit, LaneGraph& graph,
                 std::vector<LaneStore>& stores, ElementwiseSpec& spec,
                 PlanStep& step) {
    std::map<int, Lane> lanes;  // by slot
    // Operand, by slot and whether it is a splat.
    std::map<std::pair<int, bool>, int> loaded;
    const auto lane_of = [&](const Value& operand) {
      const Value root = kinds_.Root(operand);
      const auto found = lanes.find(Slot(root));
      if (found != lanes.end()) return found->second;
      if (const ir::Literal* splat = kinds_.Splat(operand))
        return OfLiteral(graph, *splat);
      const ir::Type& type = operand.type();
      const Storage storage = StorageOf(type.element);
      const bool splat = type.elements() == 1 && unit.elements > 1;
      const Pattern pattern = splat ? Pattern::kSplat : Pattern::kStream;
      const int slot = SlotOf(operand);
      const auto [place, added] = loaded.emplace(
          std::pair(slot, splat), static_cast<int>(spec.operands.size()));
      if (added) {
        spec.operands.push_back({storage, pattern});
        step.inputs.push_back(slot);
      }
      return FromMemory(graph, type.element,
                        graph.Load({place->second, storage, pattern}));
    };
    const std::set<const Node*> inside(unit.nodes.begin(), unit.nodes.end());
    for (const Node* node : unit.nodes) {
      std::vector<Lane> operands;
      for (const Value& operand : node->operands)
        operands.push_back(lane_of(operand));
      const int slot = first_slot_.at(node);
      const Lane lane = node->op == Op::kHloBroadcastInDim
                            ? operands[0]
                            : Lower(graph, *node, operands);
      lanes[slot] = lane;
      const auto users = users_.find(slot);
      if (users == users_.end()) continue;
      const bool leaves = std::any_of(
          users->second.begin(), users->second.end(),
          [&](const Node* user) { return inside.count(user) == 0; });
      if (!leaves) continue;
      stores.push_back(ToMemory(graph, node->type.element, lane));
      step.outputs.push_back(slot);
    }
  }

  void FindDead() {
    std::vector<int> last(plan_.slots, -1);
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      for (const auto* slots :
           {&plan_.steps[i].inputs, &plan_.steps[i].outputs}) {
        for (const int slot : *slots) last[slot] = static_cast<int>(i);
      }
    }
    for (const int slot : plan_.outputs) last[slot] = -1;
    for (int slot = 0; slot < plan_.slots; ++slot) {
      if (last[slot] >= 0) plan_.steps[last[slot]].dead.push_back(slot);
    }
  }

  const ir::Module& module_;
  const Preset& preset_;
  NodeKinds kinds_;
  DevicePlan plan_;
  std::unordered_map<const Node*, int> first_slot_;
  std::set<int> known_;  // slots of constants
  // Nodes that read a slot; null: the slot is an output.
  std::unordered_map<int, std::set<const Node*>> users_;
  std::map<int, std::vector<Unit>> levels_;
};

}  // namespace

bool IsControl(const Node& node) {
  return node.op == Op::kHloWhile || node.op == Op::kHloIf ||
         node.op == Op::kHloCase;
}

DevicePlan PlanFor(const ir::Module& module, const Preset& preset) {
  return Planner(module, preset).Plan();
}

}  // namespace systole::lanes
