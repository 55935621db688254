// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/kernel_link.h"

#include <algorithm>
#include <utility>

#include "host/compiler/schedule_builder.h"

namespace systole::lanes {
namespace {

constexpr int kTagBit = 16, kTagBits = 16;

}  // namespace

absl::StatusOr<KernelProgram> Link(const std::vector<LinkedKernel>& kernels,
                                   const std::vector<int64_t>& bytes,
                                   const Preset& preset) {
  const KernelBuilder builder(preset);
  KernelProgram program;
  program.bytes = bytes;
  // Placeholder addresses: the code of all kernels, then the operands.
  std::vector<int64_t> code, bases;
  int64_t next = 0;
  for (const LinkedKernel& linked : kernels) {
    code.push_back(next);
    next = builder.Align(next +
                         8 * static_cast<int64_t>(linked.kernel->words.size()));
    program.words.resize(code.back() / 8);
    program.words.insert(program.words.end(), linked.kernel->words.begin(),
                         linked.kernel->words.end());
  }
  for (const int64_t size : bytes) {
    bases.push_back(next);
    next += builder.Align(std::max<int64_t>(size, 1));
  }
  compiler::Sequence sequence(preset);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const KernelProgram& kernel = *kernels[k].kernel;
    program.load_bytes += kernel.load_bytes;
    program.store_bytes += kernel.store_bytes;
    program.costs.emplace_back().memory_cycles = kernel.costs[0].memory_cycles;
    const size_t first = sequence.steps.size();
    for (compiler::Step step : kernel.steps) {
      isa::PutBits(step.descriptor, kTagBit, kTagBits, k);
      step.after = compiler::kNoDependences;
      sequence.steps.push_back(std::move(step));
    }
    for (const KernelProgram::Patch& patch : kernel.patches) {
      const int64_t base = patch.operand < 0
                               ? code[k]
                               : bases[kernels[k].operands[patch.operand]];
      SetHbmAddress(sequence.steps[first + patch.descriptor].descriptor,
                    base + patch.offset);
    }
  }
  absl::StatusOr<compiler::Schedule> schedule =
      compiler::ScheduleOf(std::move(sequence), /*reorder=*/true);
  if (!schedule.ok()) return schedule.status();
  AddCosts(*schedule, program.costs);
  program.descriptors = std::move(schedule->descriptors);
  program.expected_cycles = schedule->estimated_cycles;
  program.patches = PatchesOf(program.descriptors, bases);
  return program;
}

}  // namespace systole::lanes
