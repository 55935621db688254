// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/collective_kernel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/compiler/collectives/member_program.h"
#include "host/compiler/cost_model.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

// With fewer, pieces wait for places; more take room from kernels, which cost a
// block of a ResNet 5 % of its cycles on litechip.
constexpr int64_t kPieces = 12;

}  // namespace

int64_t CollectiveBytes(const Preset& preset) {
  const int64_t word =
      std::max<int64_t>(preset.word_bytes(), preset.beat_bytes());
  return compiler::RoundUp(
             kPieces * compiler::PieceBytes(preset) + 8 * kCollectiveWords,
             word) +
         word;
}

Preset BesideCollectives(const Preset& preset) {
  Preset beside = preset;
  beside.ub_bytes -= CollectiveBytes(preset);
  return beside;
}

absl::StatusOr<KernelProgram> CompileCollective(
    const compiler::CollectivePart& collective, int position,
    const std::map<int, int>& partners, const compiler::Stretch& stretch,
    int64_t slack, const Preset& preset) {
  const auto size = static_cast<int>(collective.group().size());
  KernelProgram program;
  // Placeholder addresses: the code, then the operands.
  int64_t next = compiler::RoundUp(8 * kCollectiveWords, preset.beat_bytes());
  std::vector<int64_t> bases;
  const auto add = [&](int64_t bytes) {
    bases.push_back(next);
    program.bytes.push_back(bytes);
    next += compiler::RoundUp(std::max<int64_t>(bytes, 1), preset.beat_bytes());
    return static_cast<uint64_t>(bases.back());
  };
  std::vector<compiler::MemberMemory> memory(size);
  for (int i = 0; i < size; ++i) {
    const int member = i == 0 ? position : i - (i <= position ? 1 : 0);
    for (const int64_t bytes : collective.in_bytes())
      memory[member].in.push_back(add(bytes));
    for (const int64_t bytes : collective.out_bytes())
      memory[member].out.push_back(add(bytes));
    memory[member].scratch = add(collective.scratch_bytes());
  }
  compiler::MemberRoom room;
  room.ub_begin = preset.ub_bytes - CollectiveBytes(preset);
  room.ub_end = preset.ub_bytes;
  room.pc = vpu::kImemWords - kCollectiveWords;
  room.partners = partners;
  room.stretch = stretch;
  absl::StatusOr<compiler::MemberPart> part =
      collective.Compile(std::move(memory), position, room);
  if (!part.ok()) return part.status();
  const compiler::Timeline timeline = compiler::Simulate(part->sequence);
  std::vector<isa::Descriptor> descriptors;
  for (compiler::Step& step : part->sequence.steps) {
    step.slack = slack;
    descriptors.push_back(step.descriptor);
    const compiler::Cost cost = compiler::CostOf(step.descriptor, preset);
    const int64_t bytes = cost.beats * preset.beat_bytes();
    (step.queue() == isa::Queue::kLoad ? program.load_bytes
                                       : program.store_bytes) += bytes;
  }
  program.patches = PatchesOf(descriptors, bases);
  program.bases = std::move(bases);
  program.steps = std::move(part->sequence.steps);
  program.words = std::move(part->words);
  program.ub_end = room.ub_end;
  program.expected_cycles = timeline.total;
  program.costs.resize(1);
  program.costs[0].memory_cycles =
      (program.load_bytes + program.store_bytes) / preset.beat_bytes();
  return program;
}

}  // namespace systole::lanes
