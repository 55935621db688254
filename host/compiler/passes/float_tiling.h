// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef HOST_COMPILER_PASSES_FLOAT_TILING_H_
#define HOST_COMPILER_PASSES_FLOAT_TILING_H_

#include <string>

#include "host/compiler/plan.h"

namespace systole::compiler {

// Cuts the rows of a bf16 product into blocks whose lines of both matrices fit
// the unified buffer together with the kernels, and assigns the buffers.
// kResourceExhausted: not even one line fits.
class FloatTiling : public PlanPass {
 public:
  std::string name() const override { return "float-tiling"; }
  absl::StatusOr<bool> Run(Plan& plan) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_FLOAT_TILING_H_
