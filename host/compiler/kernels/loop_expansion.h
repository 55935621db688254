// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops whose turns are known become steps of the plan around them: the steps
// of all turns, one turn after the other. What a turn reads and writes of
// arrays at its counter are parts of their memory.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LOOP_EXPANSION_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LOOP_EXPANSION_H_

#include <cstdint>
#include <map>

#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/turn_body.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Most kernels of a loop: each has about twelve descriptors of 64 bytes.
inline constexpr int64_t kMostKernels = 1 << 14;

struct KnownLoop {
  TurnBody body;
  DevicePlan plan;  // of the body; its steps are not linked

  int64_t kernels() const;  // of all turns
};

// Whether it may be expanded: it has kernels only, and not too many.
bool MayExpand(const KnownLoop& loop);

// Steps of nodes that are in `loops` become those of their turns. Nothing
// changes the memory of a value that something else reads.
void ExpandLoops(DevicePlan& plan,
                 const std::map<const ir::Node*, KnownLoop>& loops,
                 const Preset& preset);

// Before steps are linked: what is no kernel reads parts as views of their
// memory, and parts that are results of the plan get memory of their own.
void SeparateParts(DevicePlan& plan, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LOOP_EXPANSION_H_
