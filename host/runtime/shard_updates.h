// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef SYSTOLE_HOST_RUNTIME_SHARD_UPDATES_H_
#define SYSTOLE_HOST_RUNTIME_SHARD_UPDATES_H_

#include "host/ir/hlo/process_groups.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::runtime {

// Elementwise work that every process of a program does with the same values,
// as the update of weights by an optimiser is under data parallelism: each
// process does its part, and an all_gather over the links brings the parts
// together, where that takes fewer cycles by the kernels' own costs. An
// all_reduce that nothing else reads becomes a reduce_scatter. No bit changes.
// Not in regions. (Xu et al., "Automatic Cross-Replica Sharding of
// Weight Update in Data-Parallel Training", 2020.)
void ShardUpdates(ir::Module& module, ir::ProcessGrid grid,
                  const Preset& preset);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_SHARD_UPDATES_H_
