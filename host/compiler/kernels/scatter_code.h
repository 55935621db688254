// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The vector unit's code of scatter and dynamic_update_slice: the windows'
// addresses, their places in a band of the operand, and the updates.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_SCATTER_CODE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_SCATTER_CODE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/lane_graph.h"
#include "host/compiler/kernels/windows.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Whether the scatter's region has code: it replaces elements, or combines them
// by one operation.
bool HasScatterCode(const ir::Node& node);

// What a lane moves: words or bytes, or elements that are combined.
Storage ScatterStorage(const ir::Node& node);

// Addresses in the unified buffer: numbers of the starts, and words.
struct ScatterBuffers {
  std::vector<KernelBuilder::Bytes> starts;
  int64_t addresses = 0, places = 0;
  std::optional<int64_t> offsets;  // to add to the addresses
};

// Indices in the instruction memory.
struct ScatterCode {
  int address = 0;        // walks of window_starts.h
  int place = 0;          // the same, and walk 2: the band's first byte
  int walk = 0;           // Loop::kPlaces: walk 0 the band, walk 1 the updates
  bool combines = false;  // and reads the band
};

// Appends it to `words`. Addresses and places are bytes, and -1 for a window
// that is left out, or in another band. band: bytes; 0: there is one.
absl::StatusOr<ScatterCode> AddScatterCode(const ir::Node& node,
                                           const Windows& windows,
                                           const ScatterBuffers& buffers,
                                           int64_t band, const Preset& preset,
                                           std::vector<uint64_t>& words);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_SCATTER_CODE_H_
