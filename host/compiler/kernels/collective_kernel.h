// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What one core does in a collective, as a kernel: it goes into one program
// with kernels that compute.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_COLLECTIVE_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_COLLECTIVE_KERNEL_H_

#include <cstdint>
#include <map>

#include "absl/status/statusor.h"
#include "host/compiler/collectives/collective_spec.h"
#include "host/compiler/collectives/exchange.h"
#include "host/compiler/kernels/kernel_program.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// What collectives of a core have for themselves: the end of the unified
// buffer, and of the instruction memory.
int64_t CollectiveBytes(const Preset& preset);
inline constexpr int64_t kCollectiveWords = 64;

// The same core without that: kernels that run along with collectives are
// compiled for it. Their code has to leave kCollectiveWords free.
Preset BesideCollectives(const Preset& preset);

// Of a position of the group. The operands are each member's, first those of
// this one, then of the others by position: each vector before, each vector
// after, and its scratch. partners: as of compiler::MemberRoom. Errors: those
// of compiler::CollectivePart.
absl::StatusOr<KernelProgram> CompileCollective(
    const compiler::CollectivePart& collective, int position,
    const std::map<int, int>& partners, const compiler::Stretch& stretch,
    int64_t slack, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_COLLECTIVE_KERNEL_H_
