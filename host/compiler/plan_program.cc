// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/plan_program.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "systole/target.h"

namespace systole::compiler {
namespace {

ElementType TypeOf(const PlanTensor& tensor, const Target& target) {
  if (tensor.element_bytes == 1) return ElementType::kInt8;
  if (tensor.element_bytes == 2) return ElementType::kBf16;
  return target.float_modules() ? ElementType::kFloat32 : ElementType::kInt32;
}

// The tensor at the place in HBM that the plan gives it.
TensorInfo HbmTensor(const Plan& plan, int index) {
  const PlanTensor& from = plan.tensors[index];
  TensorInfo info;
  info.name = from.name;
  info.n = plan.batch;
  info.h = from.h;
  info.w = from.w;
  info.channels = from.c;
  info.is_input = from.input;
  info.is_output = from.output;
  info.type = TypeOf(from, Target(*plan.preset));
  info.pitch = plan.HbmPitch(index);
  info.img_pitch = info.h * info.pitch;
  info.hbm_addr = from.hbm;
  return info;
}

// Whether the tensor's bytes are still in HBM at the end.
bool Remains(const Plan& plan, int index) {
  const PlanTensor& tensor = plan.tensors[index];
  if (tensor.group > 0) return false;  // the channels are in another order
  for (int other = 0; other < static_cast<int>(plan.tensors.size()); ++other) {
    const PlanTensor& t = plan.tensors[other];
    if (other != index && t.in_hbm &&
        t.hbm < tensor.hbm + plan.HbmBytes(index) &&
        tensor.hbm < t.hbm + plan.HbmBytes(other) &&
        plan.HbmLife(other).first > plan.HbmLife(index).first)
      return false;
  }
  return true;
}

// Places the descriptors behind everything in `hbm`.
absl::Status FinishProgram(const Preset& preset,
                           std::vector<isa::Descriptor> descriptors,
                           HbmImage& hbm, Program& program) {
  program.preset = std::string(preset.name);
  program.descriptors = std::move(descriptors);
  hbm.Begin(MemoryUse::kCode);
  program.prog_addr =
      hbm.Allocate(program.descriptors.size() * isa::kDescriptorBytes);
  program.hbm_bytes = hbm.size();
  const uint64_t capacity = preset.memory_bytes();
  if (program.hbm_bytes > capacity) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("tensors, weights and descriptors take %d bytes of "
                        "HBM; %s has %d",
                        program.hbm_bytes, program.preset, capacity));
  }
  for (DataSegment& s : hbm.TakeSegments())
    program.segments.push_back(std::move(s));
  program.memory = hbm.Parts();
  return AddRelocations(program);
}

}  // namespace

absl::Status RunPasses(PlanPassManager& passes, const Options& options,
                       Plan& plan) {
  if (options.observer) {
    passes.set_observer([&](const std::string& pass, const Plan& unit) {
      options.observer(pass, [&] { return Print(unit); });
    });
  }
  return passes.Run(plan);
}

std::vector<TensorInfo> AddTensors(const Plan& plan, HbmImage& hbm,
                                   Program& program) {
  std::vector<TensorInfo> tensors;
  // End of the arguments, of the temporaries.
  std::array<int64_t, 2> end = {0, 0};
  for (int t = 0; t < static_cast<int>(plan.tensors.size()); ++t) {
    tensors.push_back(HbmTensor(plan, t));
    const PlanTensor& tensor = plan.tensors[t];
    if (!tensor.in_hbm) continue;
    int64_t& last = end[tensor.argument() ? 0 : 1];
    last = std::max(last, tensor.hbm + plan.HbmBytes(t));
    if (Remains(plan, t)) program.tensors.push_back(tensors[t]);
  }
  hbm.Begin(MemoryUse::kArguments);
  hbm.Allocate(end[0]);
  hbm.Begin(MemoryUse::kTemporaries);
  if (static_cast<uint64_t>(end[1]) > hbm.size())
    hbm.Allocate(end[1] - hbm.size());
  hbm.Begin(MemoryUse::kConstants);
  return tensors;
}

absl::Status FinishPlan(const Plan& plan, const Options& options,
                        ScheduleBuilder& builder, HbmImage& hbm,
                        Program& program) {
  for (const PlanBuffer& b : plan.buffers) {
    program.buffers.push_back(
        {b.name, static_cast<uint64_t>(b.at), static_cast<uint64_t>(b.bytes),
         static_cast<uint32_t>(b.first), static_cast<uint32_t>(b.last)});
  }
  SequencePassManager::Observer observer;
  if (options.observer) {
    observer = [&](const std::string& pass, const Sequence& sequence) {
      options.observer(pass, [&] { return Print(sequence); });
    };
  }
  absl::StatusOr<Schedule> schedule =
      builder.Finish(options.reorder, observer, options.loops);
  if (!schedule.ok()) return schedule.status();
  return FinishProgram(*plan.preset, std::move(schedule->descriptors), hbm,
                       program);
}

}  // namespace systole::compiler
