// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels that run along with others: while the array is at work on a product,
// the vector unit has time for kernels that neither need the product nor are
// needed for it, such as an optimizer's step during the backward pass. They
// follow each other in a part of the unified buffer, each with a part of the
// instruction memory, and their descriptors and the product's alternate in each
// queue.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PLAN_PAIRS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PLAN_PAIRS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/kernel_program.h"

namespace systole::lanes {

// Compiles the kernel of a step for other buffers: below the end of the
// preset's unified buffer, which may be a part of the core's, and not below
// `origin`.
using CompileAgain = std::function<absl::StatusOr<KernelProgram>(
    const Preset& preset, int64_t origin)>;

// Moves steps behind products and marks them, where the cost model expects
// fewer cycles. `again`: by step.
void PairSteps(std::vector<PlanStep>& steps,
               const std::map<size_t, CompileAgain>& again,
               const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PLAN_PAIRS_H_
