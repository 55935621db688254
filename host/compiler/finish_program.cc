// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/finish_program.h"

#include <string>
#include <utility>

#include "absl/strings/str_format.h"

namespace systole::compiler {

absl::Status FinishProgram(const Preset& preset,
                           std::vector<isa::Descriptor> descriptors,
                           HbmImage& hbm, Program& program, bool movable) {
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
  if (!movable) return absl::OkStatus();
  program.memory = hbm.Parts();
  return AddRelocations(program);
}

}  // namespace systole::compiler
