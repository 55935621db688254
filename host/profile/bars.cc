// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "host/compiler/access.h"
#include "host/profile/profile.h"

namespace systole::profile {

std::string NameOf(const Program& program, size_t descriptor) {
  const isa::Descriptor& d = program.descriptors[descriptor];
  const std::string text = Disassemble(d);
  const std::string opcode = text.substr(0, text.find(' '));
  const size_t tag = compiler::TagOf(d);
  return tag < program.layers.size()
             ? absl::StrCat(program.layers[tag].name, " ", opcode)
             : opcode;
}

std::vector<int> RowsOf(const Program& program, const Recording& recording) {
  std::vector<int> rows(program.descriptors.size(), -1);
  std::array<std::array<uint64_t, kUnitRows>, kProbedQueues> free{};
  for (size_t i = 0; i < rows.size(); ++i) {
    const int q = static_cast<int>(compiler::QueueOf(program.descriptors[i]));
    const DescriptorTimes& times = recording.descriptors[i];
    if (q >= kProbedQueues || times.end == 0) continue;
    int row = 0;
    while (row + 1 < kUnitRows && free[q][row] > times.start) ++row;
    free[q][row] = times.end + 1;
    rows[i] = row;
  }
  return rows;
}

std::string RowName(int queue, int row) {
  const std::string unit = UnitName(static_cast<Unit>(queue));
  return row == 0 ? unit : absl::StrCat(unit, " ", row + 1);
}

}  // namespace systole::profile
