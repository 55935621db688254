// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/memory_need.h"

#include <algorithm>
#include <set>
#include <vector>

#include "host/compiler/kernels/exchanging_program.h"

namespace systole::runtime {
namespace {

using lanes::DevicePlan;
using lanes::PlanStep;

constexpr int kNone = -1;

// A run of a plan, in which memory is allocated as by KernelExecutor.
class MemoryWalk {
 public:
  MemoryWalk(const DevicePlan& plan, const std::vector<bool>& owned,
             int64_t& code)
      : plan_(plan),
        owned_(owned),
        code_(code),
        of_slot_(plan.slots, kNone),
        extra_(plan.steps.size() + 1) {
    for (size_t i = 0; i < plan.parameters.size(); ++i) {
      pieces_.push_back({0, 0, 0});
      of_slot_[plan.parameters[i]] = static_cast<int>(i);
    }
    for (const auto& [slot, value] : plan.constants) constants_.insert(slot);
    for (step_ = 0; step_ < Steps(); ++step_) Run(plan.steps[step_]);
    for (const int slot : plan.outputs) Touch(slot);
  }

  // The most at a time, of pieces of memory that are not the parameters'.
  int64_t Most(bool with_outputs) const {
    std::set<int> outputs;
    for (const int slot : plan_.outputs) outputs.insert(of_slot_[slot]);
    std::vector<int64_t> changes(Steps() + 2);
    for (size_t piece = plan_.parameters.size(); piece < pieces_.size();
         ++piece) {
      if (!with_outputs && outputs.count(static_cast<int>(piece)) > 0) continue;
      changes[pieces_[piece].first] += pieces_[piece].bytes;
      changes[pieces_[piece].last + 1] -= pieces_[piece].bytes;
    }
    int64_t now = 0, most = 0;
    for (int i = 0; i <= Steps(); ++i) {
      now += changes[i];
      most = std::max(most, now + extra_[i]);
    }
    return most;
  }

  // The parameter whose memory the output has; kNone if it has its own.
  int ParameterOf(size_t output) const {
    const int piece = of_slot_[plan_.outputs[output]];
    return piece < static_cast<int>(plan_.parameters.size()) ? piece : kNone;
  }
  // Whether a step has changed the parameter's memory.
  bool IsChanged(int parameter) const { return changed_.count(parameter) > 0; }

 private:
  // Allocated at one step and needed until another.
  struct Piece {
    int64_t bytes;
    int first, last;
  };

  int Steps() const { return static_cast<int>(plan_.steps.size()); }

  void Touch(int slot) {
    if (of_slot_[slot] != kNone) pieces_[of_slot_[slot]].last = step_;
  }

  void Allocate(int slot, int64_t bytes) {
    of_slot_[slot] = static_cast<int>(pieces_.size());
    pieces_.push_back({bytes, step_, step_});
  }

  // Before a kernel reads it.
  void BringToDevice(int slot, int64_t bytes) {
    if (constants_.count(slot) > 0) {  // no piece of this run alone
      if (on_device_.insert(slot).second) code_ += bytes;
      return;
    }
    if (of_slot_[slot] == kNone) Allocate(slot, bytes);
    Touch(slot);
  }

  // Whether the memory of an input can be that of an output.
  bool IsFree(const PlanStep& step, int slot) const {
    const int piece = of_slot_[slot];
    if (piece == kNone ||
        std::count(step.dead.begin(), step.dead.end(), slot) == 0)
      return false;
    if (piece < static_cast<int>(plan_.parameters.size()))
      return piece < static_cast<int>(owned_.size()) && owned_[piece];
    // Of no other slot that is needed: a view, a part.
    for (size_t other = 0; other < of_slot_.size(); ++other) {
      if (of_slot_[other] == piece && static_cast<int>(other) != slot)
        return false;
    }
    return true;
  }

  void Share(int from, int to) {
    of_slot_[to] = of_slot_[from];
    Touch(to);
  }

  void Run(const PlanStep& step) {
    if (step.kernel) {
      RunKernel(step);
    } else if (lanes::IsControl(*step.node)) {
      RunControl(step);
    } else if (step.node->op == ir::Op::kHloShard) {
      BringToDevice(step.inputs[0], step.node->operands[0].type().bytes());
      Share(step.inputs[0], step.outputs[0]);
    } else if (ir::IsCollective(step.node->op)) {
      for (size_t i = 0; i < step.inputs.size(); ++i)
        BringToDevice(step.inputs[i], step.node->operands[i].type().bytes());
      for (size_t i = 0; i < step.outputs.size(); ++i)
        Allocate(step.outputs[i],
                 step.node->result_type(static_cast<int>(i)).bytes());
    } else {  // on the host, to which the values are copied
      for (const int slot : step.inputs) Touch(slot);
    }
  }

  void RunKernel(const PlanStep& step) {
    const lanes::KernelProgram& kernel = *step.kernel;
    code_ +=
        static_cast<int64_t>(kernel.descriptors.size() * isa::kDescriptorBytes +
                             kernel.words.size() * sizeof(uint64_t));
    const size_t inputs = step.inputs.size();
    for (size_t i = 0; i < inputs; ++i)
      BringToDevice(step.inputs[i], kernel.bytes[i]);
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const auto update = std::find_if(
          step.updates.begin(), step.updates.end(),
          [&](const auto& pair) { return pair.second == static_cast<int>(i); });
      if (update != step.updates.end() &&
          IsFree(step, step.inputs[update->first])) {
        const int slot = step.inputs[update->first];
        changed_.insert(of_slot_[slot]);
        Share(slot, step.outputs[i]);
      } else {
        Allocate(step.outputs[i], kernel.bytes[inputs + i]);
      }
    }
    if (step.exchanging == nullptr) return;
    for (const auto& collective : step.exchanging->collectives())
      extra_[step_] += collective.scratch_bytes;
  }

  void RunControl(const PlanStep& step) {
    const ir::Node& node = *step.node;
    const bool loop = node.op == ir::Op::kHloWhile;
    const size_t first = loop ? 0 : 1;  // input of the first parameter
    for (const int slot : step.inputs) Touch(slot);
    std::vector<MemoryWalk> walks;
    for (const auto& region : node.regions) {
      const bool body = loop && region == node.regions[1];
      const DevicePlan& plan = *plan_.regions.at(region.get());
      walks.emplace_back(
          plan, std::vector<bool>(body ? node.results() : 0, true), code_);
      extra_[step_] = std::max(extra_[step_], walks.back().Most(false));
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const int parameter = walks.back().ParameterOf(i);
      bool shared = parameter != kNone;
      bool changed = false;
      for (size_t k = loop ? 1 : 0; k < walks.size(); ++k) {
        shared = shared && walks[k].ParameterOf(i) == parameter;
        changed = changed || (shared && walks[k].IsChanged(parameter));
      }
      const int slot = shared ? step.inputs[parameter + first] : kNone;
      if (shared && of_slot_[slot] != kNone &&
          (!changed || IsFree(step, slot))) {
        if (changed) changed_.insert(of_slot_[slot]);
        Share(slot, step.outputs[i]);
      } else {
        // A turn of a loop reads what the turn before has made, while the
        // operand of the first one may still be needed.
        if (loop && !shared && !IsFree(step, step.inputs[i]))
          extra_[step_] += node.result_type(static_cast<int>(i)).bytes();
        Allocate(step.outputs[i],
                 node.result_type(static_cast<int>(i)).bytes());
      }
    }
  }

  const DevicePlan& plan_;
  const std::vector<bool> owned_;  // by parameter: nobody else has its memory
  int64_t& code_;
  std::vector<Piece> pieces_;   // those of the parameters first
  std::vector<int> of_slot_;    // the piece, or kNone: not on the device
  std::vector<int64_t> extra_;  // by step: memory of its own
  std::set<int> constants_;     // slots
  std::set<int> on_device_;     // of those
  std::set<int> changed_;       // parameters
  int step_ = 0;
};

}  // namespace

MemoryNeed MemoryNeedOf(const ir::Module& module, const DevicePlan& plan) {
  MemoryNeed need;
  std::vector<bool> donated;
  std::vector<int64_t> sizes;
  for (const ir::Node* input : module.inputs()) {
    sizes.push_back(input->type.bytes());
    need.arguments += sizes.back();
    donated.push_back(input->attr<ir::ParameterAttributes>().donated);
  }
  const MemoryWalk walk(plan, donated, need.code);
  std::set<int> taken;
  for (size_t i = 0; i < module.outputs.size(); ++i) {
    need.results += module.outputs[i].node.type().bytes();
    const int parameter = walk.ParameterOf(i);
    if (parameter != kNone && donated[parameter] &&
        taken.insert(parameter).second)
      need.aliases += sizes[parameter];
  }
  need.temporaries = walk.Most(false);
  need.peak = need.arguments + walk.Most(true);
  return need;
}

}  // namespace systole::runtime
