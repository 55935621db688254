// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of fp32, on bits: docs/numerics.md, "Functions".
#ifndef SYSTOLE_SIM_ISS_VPU_FUNCTIONS_H_
#define SYSTOLE_SIM_ISS_VPU_FUNCTIONS_H_

#include <cstdint>

namespace systole::iss {

uint32_t Exp2(uint32_t a);
uint32_t Log2(uint32_t a);
uint32_t Reciprocal(uint32_t a);
uint32_t ReciprocalSquareRoot(uint32_t a);
uint32_t Tanh(uint32_t a);

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_VPU_FUNCTIONS_H_
