// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/kernel_link.h"

#include <algorithm>
#include <utility>

#include "host/compiler/cost_model.h"
#include "host/compiler/schedule_builder.h"

namespace systole::lanes {
namespace {

constexpr int kTagBit = 16, kTagBits = 16;

// Steps of kernels, each as kernel and step.
using Order = std::vector<std::pair<size_t, size_t>>;

// When each step would start if the kernel ran alone.
std::vector<int64_t> StartsOf(const KernelProgram& kernel,
                              const Preset& preset) {
  compiler::Sequence sequence(preset);
  sequence.steps = kernel.steps;
  return compiler::Simulate(sequence).start;
}

// Steps until the kernel's code is in the instruction memory.
size_t StepsOfCode(const KernelProgram& kernel) {
  size_t steps = 0;
  while (steps < kernel.steps.size() &&
         compiler::OpcodeOf(kernel.steps[steps].descriptor) !=
             isa::Opcode::kVload)
    ++steps;
  return std::min(steps + 1, kernel.steps.size());
}

// Those of kernels k and k + 1 in the order in which they would start. Their
// code passes through the same bytes of the unified buffer, first the one's,
// then the other's.
void AppendBoth(const std::vector<LinkedKernel>& kernels, size_t k,
                const Preset& preset, Order& order) {
  const std::vector<int64_t> a = StartsOf(*kernels[k].kernel, preset);
  const std::vector<int64_t> b = StartsOf(*kernels[k + 1].kernel, preset);
  size_t i = 0, j = 0;
  for (const size_t end = StepsOfCode(*kernels[k].kernel); i < end; ++i)
    order.emplace_back(k, i);
  for (const size_t end = StepsOfCode(*kernels[k + 1].kernel); j < end; ++j)
    order.emplace_back(k + 1, j);
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i] <= b[j])) {
      order.emplace_back(k, i++);
    } else {
      order.emplace_back(k + 1, j++);
    }
  }
}

Order OrderOf(const std::vector<LinkedKernel>& kernels, const Preset& preset) {
  Order order;
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (k + 1 < kernels.size() && kernels[k + 1].beside) {
      AppendBoth(kernels, k++, preset, order);
      continue;
    }
    for (size_t i = 0; i < kernels[k].kernel->steps.size(); ++i)
      order.emplace_back(k, i);
  }
  return order;
}

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
  std::vector<std::vector<size_t>> places;  // of steps, by kernel
  for (size_t k = 0; k < kernels.size(); ++k) {
    const KernelProgram& kernel = *kernels[k].kernel;
    program.load_bytes += kernel.load_bytes;
    program.store_bytes += kernel.store_bytes;
    program.costs.emplace_back().memory_cycles = kernel.costs[0].memory_cycles;
    places.emplace_back(kernel.steps.size());
  }
  for (const auto& [k, i] : OrderOf(kernels, preset)) {
    places[k][i] = sequence.steps.size();
    compiler::Step& step =
        sequence.steps.emplace_back(kernels[k].kernel->steps[i]);
    isa::PutBits(step.descriptor, kTagBit, kTagBits, k);
    step.after = compiler::kNoDependences;
  }
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (const KernelProgram::Patch& patch : kernels[k].kernel->patches) {
      const int64_t base = patch.operand < 0
                               ? code[k]
                               : bases[kernels[k].operands[patch.operand]];
      compiler::Step& step = sequence.steps[places[k][patch.descriptor]];
      const int64_t by = base + patch.offset - HbmAddressOf(step.descriptor);
      SetHbmAddress(step.descriptor, base + patch.offset);
      for (compiler::Access& access : step.touches) {
        if (access.space == compiler::Space::kHbm) access.base += by;
      }
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
