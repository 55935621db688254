// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_TILING_H_
#define HOST_COMPILER_PASSES_TILING_H_

#include "host/compiler/plan.h"

namespace systole::compiler {

// Layout and tiling: for each layer its blocks, line pitches, the tensors that
// stay in the unified buffer, and the buffers for all of these, without
// addresses. It scores candidates by expected cycles (layer_fit.h) and takes
// the cheapest one that fits beside what is alive. ResourceExhausted names the
// layer, its smallest needs and the size of the unified buffer.
class Tiling : public PlanPass {
 public:
  std::string name() const override { return "tiling"; }
  absl::StatusOr<bool> Run(Plan& plan) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_TILING_H_
