// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/schedule_builder.h"

#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/compiler/passes/dependence_analysis.h"
#include "host/compiler/passes/scheduling.h"
#include "host/compiler/passes/sync_flags.h"

namespace systole::compiler {

void ScheduleBuilder::Append(isa::Descriptor descriptor, bool fits,
                             std::vector<Access> touches) {
  if (!fits && status_.ok()) {
    const isa::OpInfo* info =
        isa::FindOp(static_cast<uint8_t>(OpcodeOf(descriptor)));
    status_ = absl::ResourceExhaustedError(
        absl::StrFormat("layer %d: a field of descriptor %d (%s) does not fit "
                        "its width: the layer is too large",
                        tag_, size(), std::string(info->name)));
  }
  isa::PutBits(descriptor, 16, 16, tag_);
  sequence_.steps.push_back(
      {descriptor, std::move(touches), 0, kNoDependences});
}

void ScheduleBuilder::Append(const kernels::Call& call) {
  Append(call.run, AccessesOf(call.effects), call.cycles);
}

void ScheduleBuilder::Append(const isa::Vrun& run, std::vector<Access> accesses,
                             int64_t cycles) {
  Append(run.Encode(), run.Fits(), std::move(accesses));
  sequence_.steps.back().cycles = cycles;
}

absl::StatusOr<Schedule> ScheduleBuilder::Finish(
    bool reorder, SequencePassManager::Observer observer, bool loops) {
  if (!status_.ok()) return status_;
  return ScheduleOf(std::move(sequence_), reorder, std::move(observer), loops);
}

absl::StatusOr<Sequence> ScheduleBuilder::Ordered() {
  if (!status_.ok()) return status_;
  SequencePassManager passes("descriptors");
  passes.Add(std::make_unique<DependenceAnalysis>());
  passes.Add(std::make_unique<Scheduling>());
  if (absl::Status s = passes.Run(sequence_); !s.ok()) return s;
  return std::move(sequence_);
}

absl::StatusOr<Sequence> ScheduleBuilder::AsAppended() {
  if (!status_.ok()) return status_;
  FindDependences(sequence_);
  return std::move(sequence_);
}

namespace {

absl::StatusOr<Schedule> ScheduleAfter(SequencePassManager& passes,
                                       Sequence sequence) {
  passes.Add(std::make_unique<SyncFlags>());
  if (absl::Status s = passes.Run(sequence); !s.ok()) return s;

  Schedule schedule;
  schedule.timeline = Simulate(sequence);
  schedule.estimated_cycles = schedule.timeline.total;
  for (const Step& step : sequence.steps) {
    schedule.descriptors.push_back(step.descriptor);
    schedule.edges += __builtin_popcount(
        static_cast<uint32_t>(isa::GetBits(step.descriptor, 32, 32)));
  }
  schedule.descriptors.push_back(isa::Halt{}.Encode());
  return schedule;
}

}  // namespace

absl::StatusOr<Schedule> ScheduleOf(Sequence sequence, bool reorder,
                                    SequencePassManager::Observer observer,
                                    bool loops) {
  SequencePassManager passes("descriptors");
  passes.Add(std::make_unique<DependenceAnalysis>());
  if (reorder) passes.Add(std::make_unique<Scheduling>(loops));
  passes.set_observer(std::move(observer));
  return ScheduleAfter(passes, std::move(sequence));
}

absl::StatusOr<Schedule> ScheduleOfOrdered(Sequence sequence) {
  SequencePassManager passes("ordered");
  return ScheduleAfter(passes, std::move(sequence));
}

Timeline ScheduleBuilder::Expected() const {
  Sequence sequence = sequence_;
  FindDependences(sequence);
  return Simulate(sequence);
}

}  // namespace systole::compiler
