// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/loop_expansion.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "host/compiler/kernels/row_update.h"

namespace systole::lanes {
namespace {

// A step without descriptors: memory for the output, which is the input's if
// there is one.
PlanStep MemoryFor(int output, int64_t bytes, int input, const ir::Node* node) {
  PlanStep step;
  step.kernels = {{node}};
  KernelProgram nothing;
  if (input >= 0) {
    step.inputs = {input};
    step.updates = {{0, 0}};
    nothing.bytes = {bytes};
  }
  nothing.bytes.push_back(bytes);
  step.outputs = {output};
  step.kernel = std::make_shared<KernelProgram>(std::move(nothing));
  return step;
}

// Copies of values, whose kernels they share.
class Copies {
 public:
  explicit Copies(const Preset& preset) : preset_(preset) {}

  // `node`: in messages and tables, that of the copy.
  PlanStep Of(int from, int to, int64_t bytes, const ir::Node* node) {
    const auto [kernel, added] = kernels_.try_emplace(bytes);
    if (added) {
      kernel->second = std::make_shared<KernelProgram>(
          CompileCopy(bytes, preset_).value());  // it always fits
    }
    PlanStep step;
    step.kernel = kernel->second;
    step.kernels = {{node}};
    step.inputs = {from};
    step.outputs = {to};
    return step;
  }

 private:
  const Preset& preset_;
  std::map<int64_t, std::shared_ptr<const KernelProgram>> kernels_;  // by bytes
};

class Expansion {
 public:
  Expansion(DevicePlan& plan, const std::map<const ir::Node*, KnownLoop>& loops,
            const Preset& preset)
      : plan_(plan), loops_(loops), copies_(preset) {}

  void Run() {
    std::vector<PlanStep> steps = std::exchange(plan_.steps, {});
    bool expanded = false;
    for (PlanStep& step : steps) {
      for (int& slot : step.inputs) slot = Renamed(slot);
      const auto loop = loops_.find(step.node);
      if (step.kernel != nullptr || loop == loops_.end()) {
        plan_.steps.push_back(std::move(step));
        continue;
      }
      Expand(step, loop->second);
      expanded = true;
    }
    for (int& slot : plan_.outputs) slot = Renamed(slot);
    if (expanded) KeepWhatIsRead();
  }

 private:
  int Renamed(int slot) const {
    const auto found = renamed_.find(slot);
    return found == renamed_.end() ? slot : found->second;
  }
  int NewSlot() { return plan_.slots++; }
  int NewPart(int of, int64_t begin, int64_t bytes, int64_t of_bytes) {
    const int slot = NewSlot();
    plan_.parts[slot] = {of, begin, bytes, of_bytes};
    return slot;
  }
  int Root(int slot) const {
    return plan_.parts.count(slot) > 0 ? plan_.WholePart(slot).of : slot;
  }
  int NewConstant(const ir::Literal& value) {
    const int slot = NewSlot();
    plan_.constants.emplace_back(slot, value);
    return slot;
  }

  // Of a loop while it is expanded.
  struct Turns {
    const KnownLoop& loop;
    const PlanStep& step;
    std::vector<int> carried;       // slots at the beginning of a turn
    int table = -1;                 // slot of the numbers
    std::map<int, int> constants;   // slots by those of the loop's plan
    std::map<int, int> in_place;    // slots of the loop's plan whose memory
                                    // is a part of an array, by carried value
    std::map<int, int> slots = {};  // of a turn, by those of the loop's plan
  };

  const ir::Type& TypeOf(const Turns& turns, size_t carried) const {
    return turns.step.node->result_type(static_cast<int>(carried));
  }
  const ir::Type& PartType(const Turns& turns, int carried) const {
    return turns.loop.body.module->outputs[carried].node.type();
  }

  void Expand(const PlanStep& step, const KnownLoop& loop) {
    const TurnBody& body = loop.body;
    Turns turns{loop, step, {}, -1, {}, {}};
    const auto carried = static_cast<size_t>(step.node->results());
    turns.carried.assign(step.inputs.begin(),
                         step.inputs.begin() + static_cast<int64_t>(carried));
    plan_.modules.push_back(body.module);
    plan_.modules.insert(plan_.modules.end(), loop.plan.modules.begin(),
                         loop.plan.modules.end());
    if (!body.table.empty()) turns.table = NewConstant(ir::Literal(body.table));
    for (const auto& [slot, value] : loop.plan.constants)
      turns.constants[slot] = NewConstant(value);
    for (const auto& [i, written] : body.written) {
      const int array = NewSlot();
      plan_.steps.push_back(MemoryFor(array, TypeOf(turns, i).bytes(),
                                      written.all ? -1 : turns.carried[i],
                                      step.node));
      turns.carried[i] = array;
      const int made = loop.plan.outputs[i];
      if (turns.in_place.count(made) == 0 && IsMade(loop.plan, made))
        turns.in_place[made] = i;
    }
    for (int64_t turn = 0; turn < body.turns; ++turn) Append(turn, turns);
    for (size_t i = 0; i < carried; ++i)
      renamed_[step.outputs[i]] = turns.carried[i];
    renamed_[step.outputs[step.loop->counter]] = NewConstant(body.end);
  }

  // Whether a kernel makes the value in memory of its own.
  static bool IsMade(const DevicePlan& plan, int slot) {
    if (plan.parts.count(slot) > 0) return false;
    return std::any_of(
        plan.steps.begin(), plan.steps.end(), [&](const PlanStep& step) {
          const auto at =
              std::find(step.outputs.begin(), step.outputs.end(), slot);
          const auto number = static_cast<int>(at - step.outputs.begin());
          return at != step.outputs.end() &&
                 std::none_of(
                     step.updates.begin(), step.updates.end(),
                     [&](const auto& pair) { return pair.second == number; });
        });
  }

  int SlotOf(int slot, Turns& turns) {
    const auto [place, added] = turns.slots.try_emplace(slot, -1);
    if (!added) return place->second;
    const auto part = turns.loop.plan.parts.find(slot);
    if (part != turns.loop.plan.parts.end()) {
      const DevicePlan::Part& p = part->second;
      const int of = SlotOf(p.of, turns);
      return turns.slots[slot] = NewPart(of, p.begin, p.bytes, p.of_bytes);
    }
    return turns.slots[slot] = NewSlot();
  }

  void Append(int64_t turn, Turns& turns) {
    const TurnBody& body = turns.loop.body;
    const DevicePlan& inner = turns.loop.plan;
    turns.slots = turns.constants;
    const std::vector<ir::Node*> inputs = body.module->inputs();
    const size_t own = inputs.size() - body.given.size();
    for (size_t i = 0; i < inputs.size(); ++i) {
      int& slot = turns.slots[inner.parameters[i]];
      if (i < turns.carried.size()) {
        slot = turns.carried[i];
      } else if (i < own) {
        slot = turns.step.inputs[i];
      } else {
        const TurnBody::Given& given = body.given[i - own];
        const bool number = given.of < 0;
        slot = NewPart(
            number ? turns.table : turns.step.inputs[given.of],
            given.begins[turn], inputs[i]->type.bytes(),
            number ? static_cast<int64_t>(body.table.size())
                   : turns.step.node->operands[given.of].type().bytes());
      }
    }
    for (const auto& [made, i] : turns.in_place)
      turns.slots[made] = PartOf(i, turn, turns);
    for (const PlanStep& step : inner.steps) {
      PlanStep copy = step;
      for (std::vector<int>* slots : {&copy.inputs, &copy.outputs})
        for (int& slot : *slots) slot = SlotOf(slot, turns);
      plan_.steps.push_back(std::move(copy));
    }
    std::vector<int> next(turns.carried.size());
    for (size_t i = 0; i < next.size(); ++i) {
      const auto carried = static_cast<int>(i);
      const int made = inner.outputs[i];
      if (body.written.count(carried) == 0) {
        next[i] = SlotOf(made, turns);
        continue;
      }
      next[i] = turns.carried[i];
      const auto place = turns.in_place.find(made);
      if (place != turns.in_place.end() && place->second == carried) continue;
      plan_.steps.push_back(
          copies_.Of(SlotOf(made, turns), PartOf(carried, turn, turns),
                     PartType(turns, carried).bytes(), turns.step.node));
    }
    turns.carried = std::move(next);
  }

  // The part of the array that the turn writes.
  int PartOf(int carried, int64_t turn, const Turns& turns) {
    return NewPart(turns.carried[carried],
                   turns.loop.body.written.at(carried).begins[turn],
                   PartType(turns, carried).bytes(),
                   TypeOf(turns, carried).bytes());
  }

  // Copies what a step changes, if there are other readers.
  void KeepWhatIsRead() {
    std::map<int, int> readers;  // by root
    for (const PlanStep& step : plan_.steps)
      for (const int slot : step.inputs) ++readers[Root(slot)];
    for (const int slot : plan_.outputs) ++readers[Root(slot)];
    std::vector<PlanStep> steps;
    for (PlanStep& step : plan_.steps) {
      for (const auto& [input, output] : step.updates) {
        int& slot = step.inputs[input];
        if (plan_.parts.count(slot) == 0 && readers[slot] < 2) continue;
        const int copy = NewSlot();
        steps.push_back(copies_.Of(slot, copy, step.kernel->bytes[input],
                                   step.kernels[0].back()));
        slot = copy;
      }
      steps.push_back(std::move(step));
    }
    plan_.steps = std::move(steps);
  }
  DevicePlan& plan_;
  const std::map<const ir::Node*, KnownLoop>& loops_;
  Copies copies_;
  std::map<int, int> renamed_;  // results of loops
};

// A step that makes a slot a view of a part's memory.
PlanStep ViewOf(DevicePlan::Part part, int view, DevicePlan& plan) {
  const auto bytes = [](int64_t count) {
    return ir::Type{ir::ElementType::kUint8, {count}, {}};
  };
  auto module = std::make_shared<ir::Module>("view");
  ir::Node* const whole = module->Add({"whole",
                                       ir::Op::kParameter,
                                       bytes(part.of_bytes),
                                       {},
                                       ir::ParameterAttributes{""}});
  PlanStep step;
  step.node = module->Add({"part",
                           ir::Op::kHloShard,
                           bytes(part.bytes),
                           {whole},
                           ir::HloShardAttributes{{part.bytes}, {part.begin}}});
  step.inputs = {part.of};
  step.outputs = {view};
  plan.modules.push_back(std::move(module));
  return step;
}

}  // namespace

int64_t KnownLoop::kernels() const {
  return body.turns * static_cast<int64_t>(plan.steps.size());
}

bool MayExpand(const KnownLoop& loop) {
  return loop.kernels() <= kMostKernels && loop.plan.device_ids.empty() &&
         std::all_of(
             loop.plan.steps.begin(), loop.plan.steps.end(),
             [](const PlanStep& step) { return step.kernel != nullptr; });
}

void ExpandLoops(DevicePlan& plan,
                 const std::map<const ir::Node*, KnownLoop>& loops,
                 const Preset& preset) {
  Expansion(plan, loops, preset).Run();
}

void SeparateParts(DevicePlan& plan, const Preset& preset) {
  if (plan.parts.empty()) return;
  Copies copies(preset);
  std::vector<PlanStep> steps;
  for (PlanStep& step : plan.steps) {
    if (step.kernel == nullptr) {
      for (int& slot : step.inputs) {
        if (plan.parts.count(slot) == 0) continue;
        const int view = plan.slots++;
        steps.push_back(ViewOf(plan.WholePart(slot), view, plan));
        slot = view;
      }
    }
    steps.push_back(std::move(step));
  }
  for (int& slot : plan.outputs) {
    const auto part = plan.parts.find(slot);
    if (part == plan.parts.end()) continue;
    const int copy = plan.slots++;
    steps.push_back(copies.Of(slot, copy, part->second.bytes,
                              plan.modules.front()->outputs[0].node));
    slot = copy;
  }
  plan.steps = std::move(steps);
}

}  // namespace systole::lanes
