// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Where the code of each kernel of a program lies in the instruction memory.
// Code that is still there from an earlier kernel is not loaded again.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_CODE_PLACEMENT_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_CODE_PLACEMENT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/compiler/kernels/kernel_link.h"
#include "host/compiler/kernels/kernel_program.h"

namespace systole::lanes {

// The steps of a kernel that bring its code.
struct CodeSteps {
  static constexpr size_t kNone = ~size_t{0};
  size_t load = kNone, vload = kNone;
  int64_t count = 0;  // instructions

  bool Has(size_t step) const { return step == load || step == vload; }
};
CodeSteps CodeOf(const KernelProgram& kernel);

struct CodePlace {
  // Instructions from where the kernel was compiled for to where it lies.
  int64_t by = 0;
  bool is_there = false;
};

// Of each kernel. `end`: what lies behind it in the instruction memory belongs
// to others.
std::vector<CodePlace> PlaceCode(const std::vector<LinkedKernel>& kernels,
                                 int64_t end);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_CODE_PLACEMENT_H_
