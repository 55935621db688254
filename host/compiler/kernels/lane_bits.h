// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fields of an fp32 lane's bits (IEEE 754 binary32).
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_BITS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_BITS_H_

#include <cstdint>

namespace systole::lanes {

inline constexpr int64_t kWord = 4;  // bytes of a lane
inline constexpr uint32_t kSign = 0x80000000, kInfinity = 0x7F800000,
                          kOne = 0x3F800000, kFraction = 0x007FFFFF,
                          kHidden = 0x00800000;  // the significand's hidden bit

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_BITS_H_
