// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "host/compiler/collectives/member_program.h"
#include "host/compiler/collectives/reduction_member.h"
#include "host/compiler/collectives/reduction_sizes.h"
#include "systole/collective.h"

namespace systole::compiler {

absl::Status CheckAllReduce(const AllReduceSpec& spec, const Preset& preset) {
  if (absl::Status s = CheckGroup(spec.group, spec.columns, preset); !s.ok())
    return s;
  if (spec.elements.empty())
    return absl::InvalidArgumentError("an all-reduce of no vector");
  for (const int64_t elements : spec.elements) {
    if (elements >= 1) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("an all-reduce of %d elements", elements));
  }
  if (absl::Status s =
          CheckMembers(spec.memory, spec.elements.size(), spec.group, preset);
      !s.ok())
    return s;
  const size_t size = spec.group.size();
  for (const int64_t elements : spec.elements) {
    const auto whole = static_cast<int64_t>(size) * preset.beat_bytes();
    if (spec.phase == AllReduceSpec::Phase::kAllReduce ||
        elements * ElementBytes(spec.type) % whole == 0)
      continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "a reduce-scatter or all-gather of %d elements with %d positions: "
        "parts of whole beats of %d bytes are needed",
        elements, size, preset.beat_bytes()));
  }
  if ((size & (size - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "an all-reduce over %d cores: 1, 2, 4 or 8 are needed", size));
  }
  const int cores = static_cast<int>(preset.chip.cores);
  int levels = 0;
  for (int l = 0; 1u << l < size; ++l) {
    for (int p = 0; p < static_cast<int>(size); ++p) {
      const bool on_chip =
          spec.group[p] / cores == spec.group[p ^ 1 << l] / cores;
      if (p == 0) levels += on_chip ? 0 : 1;
      const bool first = spec.group[0] / cores == spec.group[1 << l] / cores;
      if (on_chip == first) continue;
      return absl::InvalidArgumentError(absl::StrFormat(
          "positions %d and %d of an all-reduce are on one chip and positions "
          "%d and %d are not, or the other way round: neighbours in the group "
          "have to be neighbours everywhere",
          0, 1 << l, p, p ^ 1 << l));
    }
  }
  if (levels > 2) {
    return absl::InvalidArgumentError(
        "an all-reduce over 8 chips: 4 are the most");
  }
  return absl::OkStatus();
}

int64_t ScratchBytes(const AllReduceSpec& spec, const Preset& preset) {
  if (spec.phase == AllReduceSpec::Phase::kAllGather) return 0;
  int64_t beats = 0;
  for (const int64_t elements : spec.elements)
    beats += BeatsOf(elements, spec.type, preset);
  return kLandings * beats * preset.beat_bytes() + kCodeBytes;
}

absl::StatusOr<std::vector<Program>> CompileAllReduce(const AllReduceSpec& spec,
                                                      const Preset& preset) {
  if (absl::Status s = CheckAllReduce(spec, preset); !s.ok()) return s;
  std::vector<Program> programs;
  for (size_t position = 0; position < spec.group.size(); ++position) {
    auto program =
        ReductionMember(spec, preset, static_cast<int>(position)).Compile();
    if (!program.ok()) return program.status();
    programs.push_back(*std::move(program));
  }
  return programs;
}

}  // namespace systole::compiler
