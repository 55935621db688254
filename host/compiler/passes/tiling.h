// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_TILING_H_
#define HOST_COMPILER_PASSES_TILING_H_

#include "host/compiler/plan.h"

namespace systole::compiler {

// Layout and tiling: for each layer, its blocks, line pitches, which tensors
// stay in the unified buffer, and the buffers for all that, without addresses.
// Candidates are scored by expected cycles (layer_fit.h); the cheapest that can
// be placed beside what is alive wins. ResourceExhausted names the layer, its
// smallest needs and the size of the unified buffer.
class Tiling : public PlanPass {
 public:
  std::string name() const override { return "tiling"; }
  absl::StatusOr<bool> Run(Plan& plan) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_TILING_H_
