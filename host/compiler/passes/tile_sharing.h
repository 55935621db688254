// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_TILE_SHARING_H_
#define HOST_COMPILER_PASSES_TILE_SHARING_H_

#include <string>

#include "host/compiler/plan.h"

namespace systole::compiler {

// Puts the only tile of a layer into rows of the array that the last tile of
// the layer before leaves free (Plan::FreeRowsBefore). This saves loading one
// tile.
class TileSharing : public PlanPass {
 public:
  std::string name() const override { return "tile-sharing"; }
  absl::StatusOr<bool> Run(Plan& plan) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_TILE_SHARING_H_
