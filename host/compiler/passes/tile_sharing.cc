// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/passes/tile_sharing.h"

namespace systole::compiler {

absl::StatusOr<bool> TileSharing::Run(Plan& plan) {
  bool changed = false;
  for (size_t l = 1; l < plan.layers.size(); ++l) {
    const int64_t row = plan.FreeRowsBefore(static_cast<int>(l));
    changed = changed || plan.layers[l].tile_row != row;
    plan.layers[l].tile_row = row;
  }
  return changed;
}

}  // namespace systole::compiler
