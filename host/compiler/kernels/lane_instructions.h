// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Instructions of the vector unit, as lane_code.cc assembles them.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_INSTRUCTIONS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_INSTRUCTIONS_H_

#include <cstdint>

#include "systole/gen/vpu.h"

namespace systole::lanes {

// Indexed by Storage.
inline constexpr vpu::Op kLoadOps[] = {vpu::Op::kLd32, vpu::Op::kLd16,
                                       vpu::Op::kLd8},
                         kStoreOps[] = {vpu::Op::kSt32, vpu::Op::kSt16,
                                        vpu::Op::kSt8};

// Whether the cross unit executes the operation.
inline bool IsCross(vpu::Op op) {
  return static_cast<int>(op) >> 4 >= static_cast<int>(vpu::Class::kFunction);
}

// Makes an instruction with the modes of its class; lane sources are registers.
inline vpu::Instr Make(vpu::Op op, int d, int a = 0, int b = 0,
                       int32_t imm = 0) {
  vpu::Instr x;
  x.op = op;
  x.d = static_cast<uint8_t>(d);
  x.a = static_cast<uint8_t>(a);
  x.b = static_cast<uint8_t>(b);
  x.imm = imm;
  // Outside the scalar classes, a scalar source needs the scalar mode.
  const int cls = static_cast<int>(op) >> 4;
  if (cls == static_cast<int>(vpu::Class::kLoad) ||
      cls == static_cast<int>(vpu::Class::kStore))
    x.am = x.bm = static_cast<uint8_t>(vpu::Mode::kScalar);
  if (op == vpu::Op::kLds) x.bm = 0;
  if (op == vpu::Op::kBcl || op == vpu::Op::kRotl || op == vpu::Op::kRotrow)
    x.bm = static_cast<uint8_t>(vpu::Mode::kScalar);
  return x;
}

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_INSTRUCTIONS_H_
