// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/memory_planning.h"

#include "absl/strings/str_format.h"
#include "host/compiler/buffer_placer.h"

namespace systole::compiler {
namespace {

constexpr int64_t kHbmAlign = 256;  // a multiple of the beat of every preset

absl::Status TooSmall(const char* memory, int64_t bytes,
                      const PlanBuffer& buffer) {
  return absl::ResourceExhaustedError(absl::StrFormat(
      "no room for %s: %d bytes beside what is alive between layers %d and %d; "
      "the %s has %d",
      buffer.name, buffer.bytes, buffer.first, buffer.last, memory, bytes));
}

}  // namespace

absl::StatusOr<bool> MemoryPlanning::Run(Plan& plan) {
  if (!plan.tiled())
    return absl::FailedPreconditionError("the plan is not tiled");
  BufferPlacer ub(plan.ub_bytes, plan.align());
  for (const PlanBuffer& buffer : plan.buffers) {
    if (!ub.Place(buffer))
      return TooSmall("unified buffer", plan.ub_bytes, buffer);
  }
  plan.buffers = ub.buffers();

  const auto capacity = static_cast<int64_t>(plan.preset->memory_bytes());
  BufferPlacer hbm(capacity, std::max(kHbmAlign, plan.preset->beat_bytes()));
  // Arguments come before all temporaries: each of the two is a part of the
  // memory that can be moved.
  for (const bool argument : {true, false}) {
    for (size_t t = 0; t < plan.tensors.size(); ++t) {
      PlanTensor& tensor = plan.tensors[t];
      if (!tensor.in_hbm || tensor.argument() != argument) continue;
      const int number = static_cast<int>(t);
      const auto [first, last] = plan.HbmLife(number);
      const PlanBuffer wanted = {
          tensor.name, plan.HbmBytes(number), argument ? -1 : first, last, {},
          kNowhere};
      const std::optional<int> placed = hbm.Place(wanted);
      if (!placed) return TooSmall("HBM", capacity, wanted);
      tensor.hbm = hbm.buffers()[*placed].at;
    }
  }
  return true;
}

}  // namespace systole::compiler
