// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Neighbouring kernels of a plan become one program, of which the memory holds
// all values.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PLAN_LINK_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PLAN_LINK_H_

#include "host/compiler/kernels/device_plan.h"

namespace systole::lanes {

// With `exchanges`, collectives are part of these programs. No step but those
// of kernels has parts of other slots.
void LinkSteps(DevicePlan& plan, const Preset& preset,
               const Exchanges* exchanges = nullptr);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PLAN_LINK_H_
