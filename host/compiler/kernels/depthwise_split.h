// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Numbers in the unified buffer as bf16 parts (docs/hlo.md, "Products").
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_SPLIT_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_SPLIT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct DepthwiseSplit {
  using Bytes = KernelBuilder::Bytes;

  int pc = 0;
  int64_t row_cycles = 1;
  Storage storage = Storage::kWord;

  // Rows of numbers, the first walk, whose parts go to the second one.
  void Run(KernelBuilder& builder, const RowsRun& run, const Bytes& numbers,
           const Bytes& parts) const;
  // Numbers that lie dense.
  void Run(KernelBuilder& builder, const Preset& preset, int64_t from,
           int64_t to, int64_t count, const Bytes& numbers,
           const Bytes& parts) const;
};

// Appends the code, for a few rows or for `many`; parts lie `distance` bytes
// apart. ResourceExhausted: the instruction memory.
absl::StatusOr<DepthwiseSplit> AddSplit(std::vector<uint64_t>& words,
                                        Storage storage, int64_t parts,
                                        int64_t distance, bool many,
                                        const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_SPLIT_H_
