// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A network on its way to descriptors. The plan has only the shapes and what
// the passes (passes/) decide about them: how the array sees a layer, its
// blocks, which tensors are resident in the unified buffer, buffers and
// addresses. Weights and factors stay in the model::Network, whose layers and
// tensors have the same numbers.
//
//   plan @net on nano, batch=2, ub=65536 {
//     %x = 8x8x16, input, hbm=0x0
//     %a = 8x8x16
//     %y = 8x8x16, output, hbm=0x800
//     &0 = "a", bytes=2048, layers=[0, 1], at=0x0
//     &1 = "x (loaded)", bytes=2048, layers=[0, 0], at=0x800
//     &2 = "conv (parameters)", bytes=160, layers=[0, 0], at=0x1000
//     &3 = "y (output slots)", bytes=512, layers=[1, 1], at=0x1400
//     conv: %a = conv2d(%x), kernel=[3, 3], padding=[1, 1],
//       from whole(&1, 128, 1024), to resident(&0, 128, 1024), channels=16,
//       parameters whole(&2, 8), blocks=[[0, 1, 0, 8, 0, 8], ...]
//     ...
//   }
#ifndef HOST_COMPILER_PLAN_H_
#define HOST_COMPILER_PLAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/geometry.h"
#include "host/ir/pass_manager.h"
#include "systole/gen/presets.h"
#include "systole/model.h"

namespace systole::compiler {

inline constexpr int64_t kSlotCount = 2;  // slots that blocks use in turn
inline constexpr int kNowhere = -1;       // no buffer, no address
// Parameter blocks of column tiles, where not all stay in the unified buffer.
inline constexpr int64_t kParameterSlots = 8;
inline constexpr int64_t kTableBytes = 256;  // table of a function of one value

// Height x width x channels of one image; the images of a batch are contiguous.
struct PlanTensor {
  std::string name;
  int64_t h = 1, w = 1, c = 1;
  int64_t element_bytes = 1;           // 4: raw accumulators
  bool input = false, output = false;  // of the network
  // Channels per group (geometry.h), 0 = no groups. Set by channel-grouping.
  int64_t group = 0;
  bool in_hbm = false;     // set by tiling
  int64_t hbm = kNowhere;  // set by memory-planning

  bool argument() const { return input || output; }
  int64_t line_bytes() const { return w * c * element_bytes; }
  int64_t size() const { return h * w * c * element_bytes; }
};

// A buffer in the unified buffer, alive from layer `first` to layer `last`,
// both included.
struct PlanBuffer {
  std::string name;  // for messages
  int64_t bytes = 0;
  int first = 0, last = 0;
  // Buffers of the same size that this one may overwrite in place, value by
  // value, because its layer is their last reader.
  std::vector<int> over;
  int64_t at = kNowhere;  // set by memory-planning
  // May use space that the layer before uses.
  bool anywhere = false;

  bool alive(int from, int to) const { return first <= to && from <= last; }
};

struct InputPlacement {
  enum class Mode { kResident, kWhole, kSlots };
  Mode mode = Mode::kResident;
  int buffer = kNowhere;
  int64_t pitch = 0;       // bytes from one line to the next
  int64_t img_pitch = 0;   // kResident, kWhole
  int64_t slot_bytes = 0;  // kSlots: kSlotCount of them
  int64_t channels = 0;    // kSlots of a pool: channels at a time; 0 = all
};

// "resident", "whole", "slots".
const char* ModeName(InputPlacement::Mode mode);

struct OutputPlacement {
  bool resident = false;  // otherwise kSlotCount slots of slot_bytes
  bool stored = false;    // to HBM
  int buffer = kNowhere;
  int64_t pitch = 0, img_pitch = 0;  // resident
  int64_t slot_bytes = 0;
  int64_t channels = 0;  // buffered (and stored) at a time
};

struct ParameterPlacement {
  int buffer = kNowhere;
  // Every block of every packing has its own place; otherwise `slots` slots are
  // used in turn.
  bool whole = true;
  int64_t slots = 0;  // number of slots
};

struct PlanLayer {
  std::string name;
  model::Op op = model::Op::kConv2D;
  std::vector<int> inputs;
  int output = 0;
  Geometry shape;  // as the network has it
  int planes = 1;  // of the weights (weights.h)
  Geometry g;      // as the array sees it: set by column-joining
  // The layer's blocks run between those of the layer before: vector-fusion
  // requests it, tiling grants it.
  bool fused = false;
  // Addition: the operand whose factor is exactly one half, -1 if there is
  // none. A requantise can then add the other operand to its result.
  int wide = -1;
  // The requantise of the layer before computes this layer too and writes its
  // result; the result of the layer before is not stored anywhere.
  // epilogue-joining requests it, tiling grants it.
  bool joined = false;

  // Set by tiling.
  std::vector<Block> blocks;
  // All blocks take each tile, one after the other, while it is in the array;
  // otherwise each block takes all tiles before the next block starts.
  bool stationary = false;
  // Above 0: the layer's only tile has no place of its own but shares the last
  // tile of the preceding array layer, from this row on. Set by tile-sharing.
  int64_t tile_row = 0;
  std::vector<InputPlacement> in;
  OutputPlacement out;
  ParameterPlacement params;

  // The positions that pass through the tiles together with a block: the block
  // alone, or all blocks of a stationary layer.
  Block WalkOf(const Block& block) const {
    return stationary ? Block{0, g.n, 0, g.oh, 0, g.ow} : block;
  }
};

struct Plan {
  std::string name;
  const Preset* preset = nullptr;
  int64_t batch = 1;
  int64_t ub_bytes = 0;             // bytes that may be used
  bool keep_intermediates = false;  // every layer's output goes to HBM too
  bool allow_resident = true;       // otherwise every tensor goes through HBM
  // Blocks should form loops: equal sizes, repeating places.
  bool loops = false;
  std::vector<PlanTensor> tensors;
  std::vector<PlanLayer> layers;
  std::vector<PlanBuffer> buffers;

  bool tiled() const { return !layers.empty() && !layers[0].blocks.empty(); }
  // The layer that is joined with layer l; null if there is none.
  const PlanLayer* EpilogueOf(int l) const;
  // The array layer after l whose tile shares l's last tile; -1 if there is
  // none.
  int SharerOf(int l) const;
  // The first row of the preceding array layer's last tile that is free for the
  // only tile of layer l; 0 if l needs its own tile. The plan must be tiled.
  int64_t FreeRowsBefore(int l) const;
  // The tensor that layer l writes: its own output, or that of its epilogue.
  int ResultOf(int l) const;
  // Whether an input has one position, which the layer repeats for all of its
  // own.
  bool Repeated(const PlanLayer& layer, size_t input) const;
  // Whether a concatenation puts the lines of its inputs one below the other.
  bool Stacked(const PlanLayer& layer) const;
  // The part of an input that a block of the layer reads.
  Region RegionOf(const PlanLayer& layer, size_t input,
                  const Block& block) const;
  // Channels that a pool may load at a time: it may if its channels are whole
  // beats. 0: all.
  int64_t GroupOf(const PlanLayer& layer) const;
  // The last layer that reads a tensor; -1 if there is none.
  int LastUse(int tensor) const;
  // The first and the last layer between which a tensor needs its bytes in HBM.
  // Inputs are needed before the first layer, results and kept tensors after
  // the last.
  std::pair<int, int> HbmLife(int tensor) const;
  // Bytes of a line, and of the tensor, in HBM.
  int64_t HbmPitch(int tensor) const;
  int64_t HbmBytes(int tensor) const;
  // Alignment of buffers in the unified buffer.
  int64_t align() const;
};

using PlanPass = ir::PassOver<Plan>;
using PlanPassManager = ir::PassManagerOver<Plan>;

// A plan with shapes and connections only. `raw`: outputs are int32
// accumulators.
Plan MakePlan(const model::Network& network, const Preset& preset,
              int64_t batch, bool raw);

// ParsePlan(Print(p)) prints as p does. InvalidArgument names the line.
std::string Print(const Plan& plan);
absl::StatusOr<Plan> ParsePlan(std::string_view text);

// Checks the rules of every plan. Tiled: the blocks of a layer cover its output
// once and in order; each fits the accumulators, its input region and its
// outputs fit their buffers; buffers live as long as they are needed. With
// addresses: nothing alive at the same time overlaps or leaves its memory,
// except for in-place writes. Internal names the layer or buffer.
absl::Status Verify(const Plan& plan);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PLAN_H_
