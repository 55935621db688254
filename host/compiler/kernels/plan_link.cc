// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/plan_link.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "host/compiler/kernels/exchanging_program.h"
#include "host/compiler/kernels/kernel_link.h"

namespace systole::lanes {
namespace {

// Of the memory, for values of one program.
constexpr uint64_t kPartOfMemory = 8;
// Of a program: their numbers are tags of 16 bits.
constexpr size_t kMostLinked = 1 << 12;

class StepLinker {
 public:
  StepLinker(const DevicePlan& plan, const Preset& preset,
             const Exchanges* exchanges)
      : plan_(plan), preset_(preset), exchanges_(exchanges) {}

  std::vector<PlanStep> Run(std::vector<PlanStep> all) {
    std::vector<PlanStep> steps, kernels, last;
    const auto most =
        static_cast<int64_t>(preset_.memory_bytes() / kPartOfMemory);
    int64_t bytes = 0;
    bool exchange = false, part = false;  // in these kernels
    const auto flush = [&] {
      LinkInto(kernels.begin(), kernels.end(), steps);
      kernels.clear();
      bytes = 0;
      exchange = part = false;
    };
    for (PlanStep& step : all) {
      if (!step.kernel && PartsStay(*step.node)) {
        last.push_back(std::move(step));
        continue;
      }
      const bool joins = step.kernel || Joins(step);
      const int64_t own = joins ? MemoryOf(step) : 0;
      // A collective apart can go through the host if there is no room for it.
      if (!step.kernel && (!joins || own > most)) {
        // A view of what is there before the kernels does not divide them.
        const bool before = step.node->op == ir::Op::kHloShard &&
                            std::none_of(kernels.begin(), kernels.end(),
                                         [&](const PlanStep& kernel) {
                                           return Makes(kernel, step.inputs[0]);
                                         });
        if (!before) flush();
        steps.push_back(std::move(step));
        continue;
      }
      // Programs with collectives have no parts of values.
      const bool has_part = step.kernel && HasPart(step);
      if (bytes + own > most || kernels.size() >= kMostLinked ||
          (step.kernel ? exchange && has_part : part))
        flush();
      bytes += own;
      exchange = exchange || !step.kernel;
      part = part || has_part;
      kernels.push_back(std::move(step));
    }
    flush();
    for (PlanStep& step : last) steps.push_back(std::move(step));
    return steps;
  }

 private:
  // Whether a collective can be part of a program.
  bool Joins(const PlanStep& step) const {
    return exchanges_ != nullptr && ir::IsCollective(step.node->op) &&
           exchanges_->Of(*step.node, 0);
  }
  // Only the results of the plan have its result.
  static bool PartsStay(const ir::Node& node) {
    return node.op == ir::Op::kHloAllGather &&
           node.attr<ir::HloCollectiveAttributes>().parts_stay;
  }
  // The input slot that the step's kernel changes for an output, or -1.
  static int UpdatedBy(const PlanStep& step, int output) {
    for (const auto& [from, to] : step.updates)
      if (to == output) return step.inputs[from];
    return -1;
  }
  // Whether it has more than memory (loop_expansion.h).
  static bool HasCode(const PlanStep& step) {
    return step.kernel && !step.kernel->steps.empty();
  }
  // Whether it can only be linked: it has a part of another slot's memory, or
  // no descriptors.
  bool HasPart(const PlanStep& step) const {
    const auto is_part = [this](int slot) {
      return plan_.parts.count(slot) > 0;
    };
    return !HasCode(step) ||
           std::any_of(step.inputs.begin(), step.inputs.end(), is_part) ||
           std::any_of(step.outputs.begin(), step.outputs.end(), is_part);
  }
  static bool Makes(const PlanStep& step, int slot) {
    return std::count(step.outputs.begin(), step.outputs.end(), slot) > 0;
  }
  using Steps = std::vector<PlanStep>::iterator;
  void LinkInto(Steps begin, Steps end, std::vector<PlanStep>& steps) {
    if (end == begin) return;
    if (end - begin == 1 && (!begin->kernel || !HasPart(*begin)))
      return steps.push_back(std::move(*begin));
    absl::StatusOr<PlanStep> linked = Linked(begin, end);
    if (linked.ok() || end - begin == 1)
      return steps.push_back(std::move(linked).value());
    const Steps middle = begin + (end - begin) / 2;
    LinkInto(begin, middle, steps);
    LinkInto(middle, end, steps);
  }
  // Bytes of a step's input or output in memory.
  int64_t BytesOf(const PlanStep& step, size_t operand) const {
    if (step.kernel) return step.kernel->bytes[operand];
    const auto inputs = static_cast<int>(step.inputs.size());
    const auto number = static_cast<int>(operand);
    if (number < inputs) return step.node->operands[number].type().bytes();
    return exchanges_->Of(*step.node, 0)->out_bytes[number - inputs];
  }
  // Bytes that it needs until the program ends, beside its inputs.
  int64_t MemoryOf(const PlanStep& step) const {
    int64_t bytes = 0;
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (plan_.parts.count(step.outputs[i]) == 0)
        bytes += BytesOf(step, step.inputs.size() + i);
    }
    if (!step.kernel) {
      bytes +=
          compiler::CollectivePart(exchanges_->Of(*step.node, 0)->spec, preset_)
              .scratch_bytes();
    }
    return bytes;
  }
  absl::StatusOr<PlanStep> Linked(Steps begin, Steps end) const {
    PlanStep all;
    std::set<int> made, read;
    // Slots that are changed: inputs of the program, and what it has made.
    std::vector<std::pair<int, int>> changed, replaced;
    std::map<int, int64_t> size;
    const auto read_slot = [&](int slot, int64_t bytes) {
      size.emplace(slot, bytes);
      if (made.count(slot) == 0 && read.insert(slot).second)
        all.inputs.push_back(slot);
    };
    for (Steps step = begin; step != end; ++step) {
      if (HasCode(*step)) all.kernels.push_back(step->kernels[0]);
      for (const std::vector<int>* slots : {&step->inputs, &step->outputs}) {
        for (const int slot : *slots) {
          if (plan_.parts.count(slot) == 0) continue;
          // Of an earlier program's value, too: its own memory changes.
          const DevicePlan::Part part = plan_.WholePart(slot);
          read_slot(part.of, part.of_bytes);
        }
      }
      for (size_t i = 0; i < step->inputs.size(); ++i) {
        if (plan_.parts.count(step->inputs[i]) == 0)
          read_slot(step->inputs[i], BytesOf(*step, i));
      }
      for (size_t i = 0; i < step->outputs.size(); ++i) {
        const int slot = step->outputs[i];
        if (plan_.parts.count(slot) > 0) continue;
        size[slot] = BytesOf(*step, step->inputs.size() + i);
        const int updated = UpdatedBy(*step, static_cast<int>(i));
        if (updated >= 0 && made.count(updated) > 0) {
          // It takes the place of what it changes.
          std::replace(all.outputs.begin(), all.outputs.end(), updated, slot);
          for (auto& [input, output] : changed)
            if (output == updated) output = slot;
          replaced.emplace_back(updated, slot);
          made.insert(slot);
          continue;
        }
        if (updated >= 0) changed.emplace_back(updated, slot);
        if (made.insert(slot).second) all.outputs.push_back(slot);
      }
    }
    const auto place = [](const std::vector<int>& slots, int slot) {
      return static_cast<int>(std::find(slots.begin(), slots.end(), slot) -
                              slots.begin());
    };
    for (const auto& [input, output] : changed)
      all.updates.emplace_back(place(all.inputs, input),
                               place(all.outputs, output));
    std::map<int, int> number;
    std::vector<int64_t> bytes;
    for (const std::vector<int>* slots : {&all.inputs, &all.outputs}) {
      for (const int slot : *slots) {
        number.emplace(slot, static_cast<int>(bytes.size()));
        bytes.push_back(size[slot]);
      }
    }
    for (auto pair = replaced.rbegin(); pair != replaced.rend(); ++pair)
      number[pair->first] = number[pair->second];
    std::vector<OperandPart> operand_parts;
    const auto number_of = [&](int slot) {
      const auto [place, added] = number.try_emplace(slot, 0);
      if (!added) return place->second;
      const DevicePlan::Part part = plan_.WholePart(slot);
      place->second = static_cast<int>(bytes.size() + operand_parts.size());
      operand_parts.push_back({place->second, number.at(part.of), part.begin});
      return place->second;
    };
    const auto operands_of = [&](const PlanStep& step) {
      std::vector<int> operands;
      for (const std::vector<int>* slots : {&step.inputs, &step.outputs})
        for (const int slot : *slots) operands.push_back(number_of(slot));
      return operands;
    };
    const bool exchanges = std::any_of(
        begin, end, [](const PlanStep& step) { return !step.kernel; });
    std::vector<LinkedKernel> kernels;
    std::vector<ExchangingProgram::Part> parts;
    for (Steps step = begin; step != end; ++step) {
      if (exchanges) {
        parts.push_back({*step, operands_of(*step)});
      } else if (HasCode(*step)) {
        kernels.push_back({&*step->kernel, operands_of(*step), step->beside});
      }
    }
    absl::StatusOr<KernelProgram> program =
        exchanges ? Exchanging(std::move(parts), bytes, all)
                  : Link(kernels, bytes, preset_, {}, operand_parts);
    if (!program.ok()) return program.status();
    all.kernel = std::make_shared<KernelProgram>(*std::move(program));
    return all;
  }
  // With cores that are numbered as processes, and as few columns as can be.
  absl::StatusOr<KernelProgram> Exchanging(
      std::vector<ExchangingProgram::Part> parts,
      const std::vector<int64_t>& bytes, PlanStep& all) const {
    auto program = std::make_shared<ExchangingProgram>(std::move(parts), bytes,
                                                       *exchanges_, preset_);
    all.kernels = program->kernels();
    for (const ExchangingProgram::Collective& own : program->collectives())
      all.kernels.push_back({own.node});
    std::vector<int> cores(exchanges_->processes());
    std::iota(cores.begin(), cores.end(), 0);
    all.exchanging = program;
    return program->For(0, cores, 1);
  }

  const DevicePlan& plan_;  // its parts
  const Preset& preset_;
  const Exchanges* const exchanges_;
};

}  // namespace

void LinkSteps(DevicePlan& plan, const Preset& preset,
               const Exchanges* exchanges) {
  plan.steps =
      StepLinker(plan, preset, exchanges).Run(std::exchange(plan.steps, {}));
  plan.parts.clear();
}

}  // namespace systole::lanes
