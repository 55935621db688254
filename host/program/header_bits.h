// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Where the fields that all descriptors share begin, in bits of the
// descriptor (docs/isa.md).

#ifndef SYSTOLE_HOST_PROGRAM_HEADER_BITS_H_
#define SYSTOLE_HOST_PROGRAM_HEADER_BITS_H_

namespace systole {

inline constexpr int kOpcodeBits = 8;  // from bit 0
inline constexpr int kFlagsLsb = 8;
inline constexpr int kTagLsb = 16;
inline constexpr int kTagBits = 16;
inline constexpr int kWaitLsb = 32;
inline constexpr int kPostLsb = 64;

}  // namespace systole

#endif  // SYSTOLE_HOST_PROGRAM_HEADER_BITS_H_
