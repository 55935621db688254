// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Rows between memory and a vector register: the elements of loads and stores
// (docs/vpu.md).
#ifndef SYSTOLE_SIM_ISS_VPU_ROWS_H_
#define SYSTOLE_SIM_ISS_VPU_ROWS_H_

#include <cstdint>
#include <cstring>

#include "sim/iss/vpu_lanes.h"
#include "systole/gen/vpu.h"

namespace systole::iss {

inline int ElementBytes(vpu::Op op) {
  switch (op) {
    case vpu::Op::kLd16:
    case vpu::Op::kSt16:
    case vpu::Op::kSt16h:
      return 2;
    case vpu::Op::kLd8:
    case vpu::Op::kSt8:
      return 1;
    default:
      return 4;
  }
}

inline void LoadRow(vpu::Op op, const uint8_t* from, int64_t lanes,
                    uint32_t* to) {
  if (op == vpu::Op::kLd32) {
    std::memcpy(to, from, 4 * lanes);
  } else if (op == vpu::Op::kLd16) {
    for (int64_t l = 0; l < lanes; ++l) {
      uint16_t v;
      std::memcpy(&v, from + 2 * l, sizeof v);
      to[l] = uint32_t{v} << 16;
    }
  } else {
    for (int64_t l = 0; l < lanes; ++l)
      to[l] = static_cast<uint32_t>(static_cast<int8_t>(from[l]));
  }
}

inline void StoreRow(vpu::Op op, const uint32_t* from, int64_t lanes,
                     uint8_t* to) {
  if (op == vpu::Op::kSt32) {
    std::memcpy(to, from, 4 * lanes);
  } else if (op == vpu::Op::kSt16 || op == vpu::Op::kSt16h) {
    const bool rounds = op == vpu::Op::kSt16;
    for (int64_t l = 0; l < lanes; ++l) {
      const uint32_t bits = rounds ? RoundBf16(from[l]) : from[l];
      const auto v = static_cast<uint16_t>(bits >> 16);
      std::memcpy(to + 2 * l, &v, sizeof v);
    }
  } else {
    for (int64_t l = 0; l < lanes; ++l) to[l] = static_cast<uint8_t>(from[l]);
  }
}

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_VPU_ROWS_H_
