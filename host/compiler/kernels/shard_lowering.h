// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A process's part of a value that lies in one piece is a view of it: it costs
// no cycle. The partitioner writes such parts as dynamic slices whose start is
// looked up by the number of the partition.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_SHARD_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_SHARD_LOWERING_H_

#include <algorithm>
#include <cstdint>

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// All values in memory begin at multiples of this, in bytes.
inline int64_t ValueAlignment(const Preset& preset) {
  return std::max<int64_t>(preset.beat_bytes(), 256);
}

// Makes such slices `shard`s where every process's part begins at a multiple of
// the alignment. Not in regions.
void LowerShards(ir::Module& module, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_SHARD_LOWERING_H_
