// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef SYSTOLE_SIM_ISS_VPU_ALU_H_
#define SYSTOLE_SIM_ISS_VPU_ALU_H_

#include <cstdint>

#include "systole/gen/vpu.h"

namespace systole::iss {

// Computes one row of a float, select, integer, convert or function
// instruction, or of mov: `lanes` results from the operands that it uses. `out`
// must not alias them.
void ComputeRow(vpu::Op op, const uint32_t* a, const uint32_t* b,
                const uint32_t* c, int64_t lanes, uint32_t* out);

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_VPU_ALU_H_
