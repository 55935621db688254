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
#include "host/compiler/kernels/kernel_program.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct LinkedKernel {
  const KernelProgram* kernel;
  std::vector<int>
      operands;  // of the kernel: numbers of the program's operands
  // It neither depends on the last kernel that is not beside another one nor
  // shares buffers and code with it: their descriptors alternate. Several of
  // these follow each other.
  bool beside = false;
  int64_t start = 0;  // expected, if there are collectives
};

// A collective, or a stretch of one, that runs along with the kernels. It
// shares neither buffers nor instruction memory with them.
struct LinkedCollective {
  const KernelProgram* kernel = nullptr;
  std::vector<int> operands;
  int tag = 0;  // of its descriptors
  // It comes behind this kernel, -1: none, and before that one, or the end.
  int after = -1, before = 0;
  // Expected; the steps are spread over so many, if it takes fewer alone.
  int64_t start = 0, cycles = 0;
};

// An operand that is a part of another one.
struct OperandPart {
  int operand, of;
  int64_t offset;
};

// `bytes`: sizes of the program's operands. Descriptors have the number of
// their kernel as tag. The collectives follow each other in their order. Parts
// have the last numbers of all. ResourceExhausted: too many flags; link fewer
// kernels.
absl::StatusOr<KernelProgram> Link(
    const std::vector<LinkedKernel>& kernels, const std::vector<int64_t>& bytes,
    const Preset& preset, const std::vector<LinkedCollective>& collectives = {},
    const std::vector<OperandPart>& parts = {});

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_KERNEL_LINK_H_
