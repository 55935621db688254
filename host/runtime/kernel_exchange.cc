// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs of kernels and collectives.
#include <utility>

#include "host/runtime/kernel_executor.h"

namespace systole::runtime {

using lanes::ExchangingProgram;

absl::Status KernelExecutor::RunExchanging(const lanes::PlanStep& step,
                                           PlacedValues& values) {
  const ExchangingProgram& program = *step.exchanging;
  Communicator& all = *process_.communicator;
  const std::vector<int>& cores = all.cores();
  // Who has no program says so before the others start theirs.
  const auto kernel = process_.programs->Of(program, process_.number, cores,
                                            core_.board()->torus().columns);
  if (!kernel.ok()) return kernel.status();
  absl::StatusOr<std::vector<uint64_t>> places = Places(step, values);
  if (!places.ok()) return places.status();
  // What the others have to know; by collective, as its operands.
  std::vector<uint64_t> own;
  std::vector<std::shared_ptr<DeviceMemory>> kept;
  for (const ExchangingProgram::Collective& collective :
       program.collectives()) {
    auto scratch = core_.Allocate(collective.scratch_bytes);
    if (!scratch.ok()) return scratch.status();
    for (const int operand : collective.in) {
      own.push_back((*places)[operand] +
                    program.OffsetOf(operand, process_.number));
    }
    for (const int operand : collective.out) own.push_back((*places)[operand]);
    own.push_back((*scratch)->address());
    kept.push_back(*std::move(scratch));
  }
  for (const auto& scratch : kept) places->push_back(scratch->address());
  const ir::Node& first = *program.collectives()[0].node;
  const auto shared = all.Share(first, process_.number, own);
  if (!shared.ok()) return shared.status();
  const auto on_chip = static_cast<int>(core_.preset().chip.cores);
  size_t at = 0;
  for (const ExchangingProgram::Collective& collective :
       program.collectives()) {
    const size_t end = at + collective.in.size() + collective.out.size() + 1;
    const auto member = program.MemberOf(collective, process_.number);
    const std::vector<int>& group = compiler::GroupOf(member.spec);
    for (const int other : group) {
      if (other == process_.number) continue;
      const bool near =
          cores[other] / on_chip == cores[process_.number] / on_chip;
      for (size_t i = at; i < end; ++i) {
        places->push_back((*shared)[other][i] +
                          (near ? core_.preset().memory_bytes() : 0));
      }
    }
    at = end;
  }
  const auto count = static_cast<int64_t>(program.collectives().size());
  counts_.collectives += count;
  core_.CountExchangesBeside(count);
  absl::Status status = RunProgram(**kernel, *places, LayersOf(step),
                                   core_.preset().reach_bytes());
  if (!status.ok()) return status;
  for (const ExchangingProgram::Collective& collective :
       program.collectives()) {
    for (size_t v = 0; v < collective.out.size(); ++v) {
      const int slot = step.outputs[collective.out[v] -
                                    static_cast<int>(step.inputs.size())];
      const ir::Type& type = collective.node->result_type(static_cast<int>(v));
      values[slot] = OnDevice(
          values[slot]->device,
          program.OffsetOf(collective.out[v], process_.number), type.bytes());
    }
  }
  return absl::OkStatus();
}

}  // namespace systole::runtime
