// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/kernel_link.h"

#include <algorithm>
#include <map>
#include <utility>

#include "host/compiler/cost_model.h"
#include "host/compiler/kernels/code_placement.h"
#include "host/compiler/kernels/collective_kernel.h"
#include "host/compiler/kernels/repeated_loads.h"
#include "host/compiler/schedule_builder.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

constexpr int kTagBit = 16, kTagBits = 16;
// Of a kernel's step that its program leaves out.
constexpr size_t kNoStep = ~size_t{0};

// A step of a kernel, and when it is expected to start.
struct Place {
  size_t kernel, step;
  int64_t start;
};
using Order = std::vector<Place>;

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

// Those of kernel k and of the ones beside it, up to `end`, which follow each
// other, in the order in which they would start. Their code passes through the
// same bytes of the unified buffer, first the one's, then the others'.
void AppendAll(const std::vector<LinkedKernel>& kernels, size_t k, size_t end,
               const Preset& preset, Order& order) {
  const std::vector<int64_t> a = StartsOf(*kernels[k].kernel, preset);
  Order others;
  int64_t begin = 0;
  for (size_t other = k + 1; other < end; ++other) {
    const std::vector<int64_t> b = StartsOf(*kernels[other].kernel, preset);
    for (size_t j = 0; j < b.size(); ++j)
      others.push_back({other, j, begin + b[j]});
    begin += kernels[other].kernel->expected_cycles;
  }
  size_t i = 0, j = 0;
  for (const size_t code = StepsOfCode(*kernels[k].kernel); i < code; ++i)
    order.push_back({k, i, a[i]});
  for (const size_t code = StepsOfCode(*kernels[k + 1].kernel); j < code; ++j)
    order.push_back(others[j]);
  while (i < a.size() || j < others.size()) {
    if (j == others.size() || (i < a.size() && a[i] <= others[j].start)) {
      order.push_back({k, i, a[i]});
      ++i;
    } else {
      order.push_back(others[j++]);
    }
  }
}

// timed: starts are needed.
Order OrderOf(const std::vector<LinkedKernel>& kernels, bool timed,
              const Preset& preset) {
  Order order;
  for (size_t k = 0; k < kernels.size(); ++k) {
    size_t end = k + 1;
    while (end < kernels.size() && kernels[end].beside) ++end;
    if (end > k + 1) {
      AppendAll(kernels, k, end, preset, order);
      k = end - 1;
      continue;
    }
    const size_t steps = kernels[k].kernel->steps.size();
    const std::vector<int64_t> starts =
        timed ? StartsOf(*kernels[k].kernel, preset)
              : std::vector<int64_t>(steps);
    for (size_t i = 0; i < steps; ++i) order.push_back({k, i, starts[i]});
  }
  return order;
}

// Puts the collectives' steps, as of kernels with the next numbers, between
// those of the kernels.
Order WithCollectives(const Order& kernels,
                      const std::vector<LinkedKernel>& linked,
                      const std::vector<LinkedCollective>& collectives,
                      const Preset& preset) {
  // Of each kernel, the place behind its last step, and how many collectives
  // come before it.
  std::vector<size_t> ends(linked.size(), 0), needed(linked.size(), 0);
  for (size_t i = 0; i < kernels.size(); ++i) ends[kernels[i].kernel] = i + 1;
  for (size_t k = 0; k < linked.size(); ++k) {
    for (size_t c = 0; c < collectives.size(); ++c)
      if (collectives[c].before <= static_cast<int>(k)) needed[k] = c + 1;
  }
  Order all;
  size_t at = 0;  // of the kernels' steps
  const auto append_kernel = [&] { all.push_back(kernels[at++]); };
  for (size_t c = 0; c < collectives.size(); ++c) {
    const int after = collectives[c].after;
    while (after >= 0 && at < ends[after]) append_kernel();
    const std::vector<int64_t> starts =
        StartsOf(*collectives[c].kernel, preset);
    // Its steps are spread over the cycles that it takes beside kernels.
    const int64_t alone =
        std::max<int64_t>(1, collectives[c].kernel->expected_cycles);
    const int64_t cycles = std::max(alone, collectives[c].cycles);
    for (size_t i = 0; i < starts.size(); ++i) {
      const int64_t start = collectives[c].start + starts[i] * cycles / alone;
      while (at < kernels.size()) {
        const Place& next = kernels[at];
        if (needed[next.kernel] > c ||
            linked[next.kernel].start + next.start > start)
          break;
        append_kernel();
      }
      all.push_back({linked.size() + c, i, start});
    }
  }
  while (at < kernels.size()) append_kernel();
  return all;
}

}  // namespace

absl::StatusOr<KernelProgram> Link(
    const std::vector<LinkedKernel>& kernels, const std::vector<int64_t>& bytes,
    const Preset& preset, const std::vector<LinkedCollective>& collectives,
    const std::vector<OperandPart>& parts) {
  const KernelBuilder builder(preset);
  KernelProgram program;
  program.bytes = bytes;
  struct Part {  // of the program
    const KernelProgram* kernel;
    const std::vector<int>* operands;
    size_t tag;
    CodePlace place;
    CodeSteps code;
    int64_t words = 0;  // placeholder address
  };
  std::vector<Part> all;
  const std::vector<CodePlace> code_places = PlaceCode(
      kernels, vpu::kImemWords - (collectives.empty() ? 0 : kCollectiveWords));
  for (size_t k = 0; k < kernels.size(); ++k) {
    all.push_back({kernels[k].kernel, &kernels[k].operands, k, code_places[k],
                   CodeOf(*kernels[k].kernel)});
  }
  for (const LinkedCollective& collective : collectives) {
    all.push_back({collective.kernel,
                   &collective.operands,
                   static_cast<size_t>(collective.tag),
                   {},
                   {}});
  }
  // Placeholder addresses: the words of all kernels, then the operands.
  std::vector<int64_t> bases;
  int64_t next = 0;
  std::map<std::pair<const KernelProgram*, int64_t>, int64_t> written;
  for (Part& part : all) {
    const auto [at, added] =
        written.try_emplace({part.kernel, part.place.by}, next);
    part.words = at->second;
    if (!added) continue;
    std::vector<uint64_t> words = part.kernel->words;
    MoveCode(absl::MakeSpan(words).first(part.code.count), part.place.by);
    next = builder.Align(next + 8 * static_cast<int64_t>(words.size()));
    program.words.resize(part.words / 8);
    program.words.insert(program.words.end(), words.begin(), words.end());
  }
  for (const int64_t size : bytes) {
    bases.push_back(next);
    next += builder.Align(std::max<int64_t>(size, 1));
  }
  std::vector<int64_t> all_bases = bases;
  for (const OperandPart& part : parts) {
    all_bases.resize(part.operand + 1);
    all_bases[part.operand] = bases[part.of] + part.offset;
  }
  compiler::Sequence sequence(preset);
  std::vector<std::vector<size_t>> places;  // of steps, by kernel
  for (const Part& part : all) {
    program.load_bytes += part.kernel->load_bytes;
    program.store_bytes += part.kernel->store_bytes;
    if (program.costs.size() <= part.tag) program.costs.resize(part.tag + 1);
    program.costs[part.tag].memory_cycles +=
        part.kernel->costs[0].memory_cycles;
    places.emplace_back(part.kernel->steps.size());
  }
  Order order = OrderOf(kernels, !collectives.empty(), preset);
  if (!collectives.empty())
    order = WithCollectives(order, kernels, collectives, preset);
  for (const Place& place : order) {
    const Part& part = all[place.kernel];
    if (part.place.is_there && part.code.Has(place.step)) {
      places[place.kernel][place.step] = kNoStep;
      continue;
    }
    places[place.kernel][place.step] = sequence.steps.size();
    compiler::Step& step =
        sequence.steps.emplace_back(part.kernel->steps[place.step]);
    MoveCode(step.descriptor, part.place.by);
    isa::PutBits(step.descriptor, kTagBit, kTagBits, part.tag);
    step.after = compiler::kNoDependences;
  }
  for (size_t k = 0; k < all.size(); ++k) {
    const auto base_of = [&](int operand) {
      return operand < 0 ? all[k].words
                         : all_bases[(*all[k].operands)[operand]];
    };
    for (const KernelProgram::Patch& patch : all[k].kernel->patches) {
      const size_t step = places[k][patch.descriptor];
      if (step == kNoStep) continue;
      SetHbmAddress(sequence.steps[step].descriptor,
                    base_of(patch.operand) + patch.offset);
    }
    const std::vector<int64_t>& from = all[k].kernel->bases;
    for (const size_t place : places[k]) {
      if (place == kNoStep) continue;
      for (compiler::Access& access : sequence.steps[place].touches) {
        if (access.space != compiler::Space::kHbm) continue;
        const auto above =
            std::upper_bound(from.begin(), from.end(), access.base);
        const auto operand = static_cast<int>(above - from.begin()) - 1;
        access.base += base_of(operand) - from[operand];
      }
    }
  }
  // Collectives of other cores write here, too.
  if (collectives.empty()) program.load_bytes -= RemoveRepeatedLoads(sequence);
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
