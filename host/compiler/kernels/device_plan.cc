// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels in the order of their levels (fusion.h). A kernel that is too large
// is halved.
#include "host/compiler/kernels/device_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "host/compiler/kernels/collective_kernel.h"
#include "host/compiler/kernels/fused_kernel.h"
#include "host/compiler/kernels/fused_layout.h"
#include "host/compiler/kernels/fused_nodes.h"
#include "host/compiler/kernels/fusion.h"
#include "host/compiler/kernels/line_stages.h"
#include "host/compiler/kernels/loop_expansion.h"
#include "host/compiler/kernels/node_kernel.h"
#include "host/compiler/kernels/node_kind.h"
#include "host/compiler/kernels/plan_link.h"
#include "host/compiler/kernels/plan_pairs.h"
#include "host/compiler/kernels/row_update.h"

namespace systole::lanes {
namespace {

// Of the unified buffer, that a kernel which has all it wants leaves free.
constexpr int64_t kSpare = 16;

using ir::Node;
using ir::Op;
using ir::Value;

class Planner {
 public:
  Planner(const ir::Module& module, const Preset& preset, size_t owned,
          const Exchanges* exchanges)
      : module_(module),
        chip_(preset),
        preset_(exchanges == nullptr ? preset : BesideCollectives(preset)),
        exchanges_(exchanges),
        kinds_(module) {
    const std::vector<Node*> inputs = module.inputs();
    for (size_t i = owned; i < inputs.size(); ++i) {
      if (!inputs[i]->attr<ir::ParameterAttributes>().donated)
        kept_.insert(inputs[i]);
    }
  }

  // Steps are not linked.
  DevicePlan Plan() {
    for (const auto& node : module_.nodes()) {
      first_slot_[node.get()] = plan_.slots;
      plan_.slots += node->results();
    }
    for (const Node* input : module_.inputs())
      plan_.parameters.push_back(Slot(Value(const_cast<Node*>(input))));
    FindUsers();
    readers_ = users_;
    slots_ = {[this](const Value& value) { return Slot(kinds_.Root(value)); },
              [this](const Value& value) { return SlotOf(value); },
              [this](int slot) { return users_[slot]; }};
    const std::map<int, std::vector<Unit>> levels =
        Fuse(module_, kinds_, preset_);
    for (const auto& [level, units] : levels) {
      for (const Unit& unit : units) FindReads(unit);
    }
    for (const auto& [level, units] : levels) {
      for (const Unit& unit : units) Emit(unit);
    }
    for (const ir::Output& output : module_.outputs)
      plan_.outputs.push_back(SlotOf(output.node));
    PairSteps(plan_.steps, again_, preset_);
    ExpandLoops(plan_, known_loops_, preset_);
    return std::move(plan_);
  }

  DevicePlan LinkedPlan() {
    plan_ = Plan();
    SeparateParts(plan_, preset_);
    LinkSteps(plan_, chip_, exchanges_);
    FindDead();
    return std::move(plan_);
  }

 private:
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

  // What a unit reads leaves the unit that makes it, though that may have the
  // reading node as well, as one that it repeats.
  void FindReads(const Unit& unit) {
    const std::set<const Node*> inside(unit.nodes.begin(), unit.nodes.end());
    for (const Node* node : unit.nodes) {
      if (kinds_.Of(*node) == NodeKind::kAlias) continue;
      for (const Value& operand : node->operands) {
        const Value root = kinds_.Root(operand);
        if (inside.count(root.node) == 0) users_[Slot(root)].insert(nullptr);
      }
    }
  }

  void Emit(const Unit& unit) {
    const Nodes& nodes = unit.nodes;
    const bool elementwise = kinds_.Of(*nodes[0]) == NodeKind::kElementwise;
    if (nodes.size() == 1 && !elementwise) return EmitNode(*nodes[0]);
    FusedNodes fused;
    absl::StatusOr<KernelProgram> kernel = absl::UnknownError("");
    // With an element for each row of lanes, if there are registers.
    for (const bool by_rows : {true, false}) {
      fused = StagesOf(unit, kinds_, slots_, preset_, by_rows);
      if (fused.outputs.empty()) return;  // nothing needs it
      kernel = Fused(fused.spec);
      if (kernel.ok() || !HasRows(fused.spec)) break;
    }
    // Alone if they do not fit together, too.
    const auto [product, rest] = WithoutProduct(unit);
    if (product != nullptr && nodes.size() > 1 &&
        (!kernel.ok() || AreFaster(*product, rest, *kernel))) {
      EmitNode(*product);
      return Emit(rest);
    }
    if (kernel.ok()) {
      next_origin_ = kernel->ub_end;
      PlanStep step;
      step.kernel = std::make_shared<KernelProgram>(*std::move(kernel));
      step.kernels = {nodes};
      step.inputs = fused.inputs;
      step.outputs = fused.outputs;
      plan_.steps.push_back(std::move(step));
      again_[plan_.steps.size() - 1] =
          [spec = std::make_shared<FusedSpec>(std::move(fused.spec))](
              const Preset& preset, int64_t origin) {
            return CompileFused(*spec, preset, origin);
          };
      return;
    }
    if (nodes.size() == 1) return EmitNode(*nodes[0]);
    for (const Unit& half : HalvesOf(unit, fused.stages)) Emit(half);
  }

  // Stages go by lines if that is faster; `spec` then has such stages.
  absl::StatusOr<KernelProgram> Fused(FusedSpec& spec) const {
    const auto compile = [&](const FusedSpec& stages) {
      return InOwnBuffers([&](int64_t origin) {
        return CompileFused(stages, preset_, origin);
      });
    };
    absl::StatusOr<KernelProgram> best = compile(spec);
    FusedSpec lines = spec;
    if (!GoByLines(lines, preset_)) return best;
    const int64_t useful = UsefulBlocks(lines, preset_);
    for (const auto& [most_blocks, half_ends] :
         {std::pair(lines.most_blocks, false),
          std::pair(lines.most_blocks / 2, false),
          std::pair(lines.most_blocks / 4, true)}) {
      const bool same =
          most_blocks < lines.most_blocks && most_blocks >= useful;
      if (half_ends ? useful < 2 : same) continue;
      lines.most_blocks = most_blocks;
      lines.half_ends = half_ends;
      absl::StatusOr<KernelProgram> other = compile(lines);
      if (!other.ok()) continue;
      // The model does not know that DMA waits for banks beside such runs.
      const int64_t gain = half_ends ? other->expected_cycles / 50 : 0;
      if (best.ok() && best->expected_cycles <= other->expected_cycles + gain)
        continue;
      spec = lines;
      best = std::move(other);
    }
    return best;
  }

  static bool HasRows(const FusedSpec& spec) {
    return std::any_of(
        spec.stages.begin(), spec.stages.end(),
        [](const FusedSpec::Stage& stage) {
          const auto* lanes = std::get_if<FusedSpec::Lanes>(&stage);
          return lanes != nullptr &&
                 std::any_of(lanes->operands.begin(), lanes->operands.end(),
                             [](const auto& operand) {
                               return operand.pattern == Pattern::kRow;
                             });
        });
  }

  // Compiles a kernel whose buffers lie behind those of the kernel before, so
  // that it loads while that one is still at work; unless it is slower with
  // the room that is left.
  template <typename Compile>
  absl::StatusOr<KernelProgram> InOwnBuffers(const Compile& compile) const {
    if (next_origin_ == 0 || next_origin_ > preset_.ub_bytes / 2)
      return compile(0);
    absl::StatusOr<KernelProgram> kernel = compile(next_origin_);
    const bool enough = kernel.ok() && preset_.ub_bytes - kernel->ub_end >=
                                           preset_.ub_bytes / kSpare;
    if (enough) return kernel;
    absl::StatusOr<KernelProgram> all = compile(0);
    const bool slower =
        !kernel.ok() ||
        (all.ok() && all->expected_cycles < kernel->expected_cycles);
    return slower ? std::move(all) : std::move(kernel);
  }

  // The product of matrices, and the other nodes.
  std::pair<const Node*, Unit> WithoutProduct(const Unit& unit) const {
    std::pair<const Node*, Unit> parts = {nullptr, unit};
    Nodes& rest = parts.second.nodes;
    const auto product = std::find_if(
        rest.begin(), rest.end(),
        [](const Node* node) { return node->op == Op::kHloMatrixProduct; });
    if (product == rest.end()) return parts;
    parts.first = *product;
    rest.erase(product);
    return parts;
  }

  // Whether a product of matrices and what follows it take less time apart than
  // in their kernel: a block of fewer lines may load more.
  bool AreFaster(const Node& product, const Unit& rest,
                 const KernelProgram& kernel) {
    const absl::StatusOr<KernelProgram> alone = CompileNode(product, preset_);
    if (!alone.ok() || alone->expected_cycles * 9 / 8 > kernel.expected_cycles)
      return false;
    const FusedNodes others =
        StagesOf(rest, kinds_, slots_, preset_, /*by_rows=*/true);
    if (others.outputs.empty()) return false;
    const absl::StatusOr<KernelProgram> after =
        CompileFused(others.spec, preset_);
    return after.ok() && alone->expected_cycles + after->expected_cycles <
                             kernel.expected_cycles;
  }

  // Halves of the stages, or of the only one.
  std::vector<Unit> HalvesOf(const Unit& unit,
                             const std::vector<Nodes>& stages) {
    std::vector<Unit> halves(2);
    for (size_t i = 0; i < stages.size(); ++i) {
      for (size_t j = 0; j < stages[i].size(); ++j) {
        const bool first = stages.size() == 1 ? 2 * j < stages[i].size()
                                              : 2 * i < stages.size();
        halves[first ? 0 : 1].nodes.push_back(stages[i][j]);
      }
    }
    // What the other half needs leaves the kernel.
    for (Unit& half : halves) {
      const std::set<const Node*> inside(half.nodes.begin(), half.nodes.end());
      const std::set<const Node*> all(unit.nodes.begin(), unit.nodes.end());
      for (const Node* node : half.nodes) {
        if (unit.repeated.count(node) == 0) continue;
        const std::set<const Node*>& users =
            users_[Slot(Value(const_cast<Node*>(node)))];
        if (std::all_of(users.begin(), users.end(), [&](const Node* user) {
              return all.count(user) == 0 || inside.count(user) > 0;
            }))
          half.repeated.insert(node);
      }
    }
    return halves;
  }

  // Whether the result may lie where the first operand does, which nobody else
  // needs.
  bool MayOverwrite(const Node& node) const {
    const Value root = kinds_.Root(node.operands[0]);
    if (kinds_.Of(*root.node) == NodeKind::kKnown || kept_.count(root.node) > 0)
      return false;
    return readers_.at(Slot(root)) == std::set<const Node*>{&node};
  }

  void EmitNode(const Node& node) {
    if (node.op == Op::kHloPartitionId || node.op == Op::kHloReplicaId) {
      plan_.device_ids.emplace_back(first_slot_.at(&node), node.op);
      return;
    }
    PlanStep step;
    for (const Value& operand : node.operands)
      step.inputs.push_back(SlotOf(operand));
    for (int i = 0; i < node.results(); ++i)
      step.outputs.push_back(first_slot_.at(&node) + i);
    step.node = &node;
    const bool updates =
        node.op == Op::kHloDynamicUpdateSlice && MayOverwrite(node);
    for (const bool in_place : {true, false}) {
      if (kinds_.Of(node) != NodeKind::kMoved || step.kernel) break;
      if (in_place && !updates) continue;
      const CompileAgain compile = [&node, in_place](const Preset& preset,
                                                     int64_t origin) {
        return in_place ? CompileRowUpdate(node, preset, origin, in_place)
                        : CompileNode(node, preset, origin);
      };
      absl::StatusOr<KernelProgram> kernel = InOwnBuffers(
          [&](int64_t origin) { return compile(preset_, origin); });
      if (!kernel.ok()) continue;
      next_origin_ = kernel->ub_end;
      step.kernel = std::make_shared<KernelProgram>(*std::move(kernel));
      step.kernels = {{&node}};
      if (in_place) step.updates = {{0, 0}};
      again_[plan_.steps.size()] = compile;
    }
    if (IsControl(node)) step.loop = CountedLoopOf(node);
    if (IsControl(node) && !Expands(step)) {
      for (const auto& region : node.regions) {
        // A loop's body gets what the turn before has made.
        const bool body = node.op == Op::kHloWhile && region == node.regions[1];
        plan_.regions[region.get()] = std::make_unique<DevicePlan>(
            PlanFor(*region, chip_, body ? node.results() : 0, exchanges_));
      }
    }
    plan_.steps.push_back(std::move(step));
  }

  // Whether the loop's turns become steps of this plan.
  bool Expands(const PlanStep& step) {
    if (!step.loop) return false;
    const Node& node = *step.node;
    std::optional<TurnBody> body =
        TurnBodyOf(node, *step.loop, kinds_, kMostKernels, preset_);
    if (!body) return false;
    KnownLoop known{*std::move(body), {}};
    known.plan =
        Planner(*known.body.module, chip_, node.results(), exchanges_).Plan();
    if (!MayExpand(known)) return false;
    known_loops_.emplace(&node, std::move(known));
    return true;
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
  const Preset& chip_;
  const Preset preset_;  // what kernels have of it
  const Exchanges* const exchanges_;
  NodeKinds kinds_;
  DevicePlan plan_;
  std::map<size_t, CompileAgain> again_;  // by step
  std::map<const Node*, KnownLoop> known_loops_;
  std::unordered_map<const Node*, int> first_slot_;
  std::set<int> known_;  // slots of constants
  // Nodes that read a slot; null: it is an output, or read by other units.
  std::unordered_map<int, std::set<const Node*>> users_;
  // The same before units are known; null: it is an output.
  std::unordered_map<int, std::set<const Node*>> readers_;
  std::set<const Node*> kept_;  // parameters that must not change
  ValueSlots slots_;
  int64_t next_origin_ = 0;  // behind the buffers of the kernel before
};

}  // namespace

bool IsControl(const Node& node) {
  return node.op == Op::kHloWhile || node.op == Op::kHloIf ||
         node.op == Op::kHloCase;
}

DevicePlan PlanFor(const ir::Module& module, const Preset& preset, size_t owned,
                   const Exchanges* exchanges) {
  return Planner(module, preset, owned, exchanges).LinkedPlan();
}

}  // namespace systole::lanes
