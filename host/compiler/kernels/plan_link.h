// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Neighbouring kernels of a plan become one program, of which the memory holds
// all values.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PLAN_LINK_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PLAN_LINK_H_

#include <vector>

#include "host/compiler/kernels/device_plan.h"

namespace systole::lanes {

// With `exchanges`, collectives are part of these programs.
std::vector<PlanStep> LinkSteps(std::vector<PlanStep> steps,
                                const Preset& preset,
                                const Exchanges* exchanges = nullptr);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PLAN_LINK_H_
