// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_MEMORY_PLANNING_H_
#define HOST_COMPILER_PASSES_MEMORY_PLANNING_H_

#include "host/compiler/plan.h"

namespace systole::compiler {

// Assigns addresses to buffers in the unified buffer and to tensors in HBM,
// from the layers between which they are needed. An addition writes in place
// where it may. ResourceExhausted: a memory is too small; the message has the
// sizes.
class MemoryPlanning : public PlanPass {
 public:
  std::string name() const override { return "memory-planning"; }
  absl::StatusOr<bool> Run(Plan& plan) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_MEMORY_PLANNING_H_
