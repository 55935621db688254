// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One program of several kernels, which are started together: dependences and
// sync flags order them, so that the end of one and the beginning of the next
// one overlap.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_KERNEL_LINK_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_KERNEL_LINK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/compiler/kernels/collective_order.h"
#include "host/compiler/kernels/kernel_program.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct LinkedKernel {
  const KernelProgram* kernel;
  std::vector<int>
      operands;  // of the kernel: numbers of the program's operands
  // It neither depends on the kernel before nor shares buffers and code with
  // it: their descriptors alternate.
  bool beside = false;
};

// A collective, or a stretch of one, that runs along with the kernels. It
// shares neither buffers nor instruction memory with them.
struct LinkedCollective {
  const KernelProgram* kernel;
  std::vector<int> operands;
  int tag = 0;  // of its descriptors
  OrderedCollective place;
};

// An operand that is a part of another one.
struct OperandPart {
  int operand, of;
  int64_t offset;
};

// `bytes`: sizes of the program's operands. Descriptors have the number of
// their kernel as tag. Parts have the last numbers of all. ResourceExhausted:
// too many flags; link fewer kernels.
absl::StatusOr<KernelProgram> Link(
    const std::vector<LinkedKernel>& kernels, const std::vector<int64_t>& bytes,
    const Preset& preset, const std::vector<LinkedCollective>& collectives = {},
    const std::vector<OperandPart>& parts = {});

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_KERNEL_LINK_H_
