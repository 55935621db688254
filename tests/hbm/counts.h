// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What systole_hbm counts (perf_o) beside the commands that it gives.

#ifndef SYSTOLE_TESTS_HBM_COUNTS_H_
#define SYSTOLE_TESTS_HBM_COUNTS_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "verif/hbm_model/phy.h"

namespace systole::hbm {

// What is wrong with the counts of this cycle, "" if nothing: ACTs as many as
// pseudo-channels get one; columns as many as the groups with a RD or WR have
// pseudo-channels, or more by groups whose WR has all its bytes masked and
// reaches none; nothing in reset. `model` is one of hbm_bench.
template <typename Model>
std::string WrongCounts(const Model& model, int pcs) {
  if (!model.rst_ni) {
    return model.perf_o == 0 ? "" : "something is counted in reset";
  }
  const int lanes = pcs / 2;  // of a group
  int activates = 0, groups = 0;
  for (int g = 0; g < 2; ++g) {
    bool column = false;
    for (int pc = g * lanes; pc < (g + 1) * lanes; ++pc) {
      activates += PortBits(model.row_cmd_o, pc * kRowCmdBits, kRowCmdBits) ==
                   static_cast<uint32_t>(RowCmd::kAct);
      column |= PortBits(model.col_cmd_o, pc * kColCmdBits, kColCmdBits) !=
                static_cast<uint32_t>(ColCmd::kNop);
    }
    groups += column;
  }
  const int counted = model.perf_o >> 8 & 0xFF;
  if (counted != activates) {
    return absl::StrFormat("%d activates counted, %d given", counted,
                           activates);
  }
  const int columns = model.perf_o >> 16 & 0xFF;
  if (columns % lanes != 0 || columns / lanes < groups || columns / lanes > 2) {
    return absl::StrFormat("%d columns counted, %d groups have some", columns,
                           groups);
  }
  return "";
}

}  // namespace systole::hbm

#endif  // SYSTOLE_TESTS_HBM_COUNTS_H_
