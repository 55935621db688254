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
  return CheckLevels(spec.group, preset);
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
