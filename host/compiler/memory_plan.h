// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Decides, layer by layer, where tensors lie and how a layer is cut: which
// tensors stay in the unified buffer, which go through HBM, the sizes of the
// double buffers and the blocks that fit them.
#ifndef HOST_COMPILER_MEMORY_PLAN_H_
#define HOST_COMPILER_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/geometry.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/layer_work.h"
#include "host/compiler/tiling.h"
#include "systole/gen/presets.h"
#include "systole/model.h"
#include "systole/program.h"

namespace systole::compiler {

// A tensor that is whole in the unified buffer. Images follow each other:
// img_pitch = lines x pitch.
struct UbTensor {
  int64_t base = 0, pitch = 0, img_pitch = 0;
};

struct InputPlacement {
  enum class Mode { kResident, kWhole, kSlots };
  Mode mode = Mode::kResident;
  UbTensor tensor;        // kResident, kWhole; kSlots: only the pitch
  int64_t slot_base = 0;  // kSlots: kSlotCount slots of slot_bytes
  int64_t slot_bytes = 0;
};

struct OutputPlacement {
  bool resident = false;
  bool stored = false;
  UbTensor tensor;        // resident
  int64_t slot_base = 0;  // otherwise kSlotCount slots of slot_bytes
  int64_t slot_bytes = 0;
  int64_t group_channels = 0;  // channels buffered (and stored) at once
};

struct ParamPlacement {
  int64_t base = 0;
  bool whole = true;  // every block of every packing has its place; otherwise
                      // `slots` blocks take turns
  int64_t slots = 0;
};

inline constexpr int64_t kSlotCount = 2;

struct LayerPlan {
  Geometry g;
  std::vector<Block> blocks;
  std::vector<InputPlacement> in;
  OutputPlacement out;
  ParamPlacement params;
  // An addition whose blocks are those of the layer before it, one of whose
  // blocks is followed by one of its own.
  bool follows_blocks = false;
};

struct TensorPlan {
  bool resident = false;  // written to the unified buffer by its producer, read
                          // there by its consumers
  bool in_hbm = false;
  int last_use = -1;  // layer
  UbTensor ub;
  TensorInfo hbm;
};

struct MemoryPlan {
  std::vector<TensorPlan> tensors;  // as Network::tensors
  std::vector<LayerPlan> layers;    // as Network::layers
  std::vector<BufferInfo> buffers;  // of the unified buffer
};

struct PlanOptions {
  int64_t batch = 1;
  bool keep_intermediates = false;
  bool raw_output = false;     // the network's output is accumulators, int32
  bool allow_resident = true;  // otherwise every tensor goes through HBM
  bool fuse_additions = true;
  int64_t ub_bytes =
      0;  // pretend that the unified buffer is smaller; 0 = the preset's
};

// `works` as Network::layers. kResourceExhausted names the layer, its smallest
// needs and the size of the unified buffer.
absl::StatusOr<MemoryPlan> PlanMemory(const model::Network& network,
                                      const std::vector<LayerWork>& works,
                                      const Preset& preset,
                                      const PlanOptions& options,
                                      HbmImage& hbm);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_MEMORY_PLAN_H_
