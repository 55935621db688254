// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A network on its way to descriptors: shapes alone, and what the passes
// (passes/) decide about them - how the array sees a layer, its blocks, which
// tensors stay in the unified buffer, buffers and addresses. Weights and
// factors stay in the model::Network, whose layers and tensors have the same
// numbers.
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

inline constexpr int64_t kSlotCount = 2;  // buffers that blocks take in turns
inline constexpr int kNowhere = -1;       // no buffer, no address
inline constexpr int64_t kTableBytes = 256;  // of a function of one value

// Height x width x channels of one image; batch images follow each other.
struct PlanTensor {
  std::string name;
  int64_t h = 1, w = 1, c = 1;
  int64_t element_bytes = 1;           // 4: raw accumulators
  bool input = false, output = false;  // of the network
  // Channels that lie side by side for all positions of a line (geometry.h), 0
  // = all of them: channel-grouping.
  int64_t group = 0;
  bool in_hbm = false;     // tiling
  int64_t hbm = kNowhere;  // memory-planning

  bool argument() const { return input || output; }
  int64_t line_bytes() const { return w * c * element_bytes; }
  int64_t size() const { return h * w * c * element_bytes; }
};

// A part of the unified buffer, from one layer to another (both included).
struct PlanBuffer {
  std::string name;  // for people
  int64_t bytes = 0;
  int first = 0, last = 0;
  // Buffers of the same size whose last reader writes this one in place, value
  // by value: it may lie where one of them lies.
  std::vector<int> over;
  int64_t at = kNowhere;  // memory-planning
  // Places that the layer before uses are not avoided.
  bool anywhere = false;

  bool alive(int from, int to) const { return first <= to && from <= last; }
};

struct InputPlacement {
  enum class Mode { kResident, kWhole, kSlots };
  Mode mode = Mode::kResident;
  int buffer = kNowhere;
  int64_t pitch = 0;       // bytes from a line to the next
  int64_t img_pitch = 0;   // kResident, kWhole
  int64_t slot_bytes = 0;  // kSlots: kSlotCount of them
  int64_t channels = 0;    // kSlots: of a pool, so many at once; 0 = all
};

// "resident", "whole", "slots".
const char* ModeName(InputPlacement::Mode mode);

struct OutputPlacement {
  bool resident = false;  // otherwise kSlotCount slots of slot_bytes
  bool stored = false;    // to HBM
  int buffer = kNowhere;
  int64_t pitch = 0, img_pitch = 0;  // resident
  int64_t slot_bytes = 0;
  int64_t channels = 0;  // buffered (and stored) at once
};

struct ParameterPlacement {
  int buffer = kNowhere;
  bool whole = true;  // every block of every packing has its place; otherwise
  int64_t slots = 0;  // so many take turns
};

struct PlanLayer {
  std::string name;
  model::Op op = model::Op::kConv2D;
  std::vector<int> inputs;
  int output = 0;
  Geometry shape;  // as the network has it
  Geometry g;      // as the array sees it: column-joining
  // The layer's blocks go between those of the layer before it: vector-fusion
  // wishes, tiling grants.
  bool fused = false;
  // Of an addition the operand whose factor is exactly a half, -1 if none is:
  // with one, a requantise can add the other operand to its result.
  int wide = -1;
  // The requantise of the layer before does this layer too, and writes its
  // result; that layer's own is nowhere. epilogue-joining wishes, tiling
  // grants.
  bool joined = false;

  // tiling
  std::vector<Block> blocks;
  // All blocks take each tile while it is in the array, one after the other;
  // otherwise each block takes all tiles before the next one does.
  bool stationary = false;
  // Above 0: the layer's only tile has no place of its own, it is in the last
  // tile of the array's layer before, from this row on: tile-sharing.
  int64_t tile_row = 0;
  std::vector<InputPlacement> in;
  OutputPlacement out;
  ParameterPlacement params;

  // What goes through the tiles with a block: the block, or all of them.
  Block WalkOf(const Block& block) const {
    return stationary ? Block{0, g.n, 0, g.oh, 0, g.ow} : block;
  }
};

struct Plan {
  std::string name;
  const Preset* preset = nullptr;
  int64_t batch = 1;
  int64_t ub_bytes = 0;             // that may be used
  bool keep_intermediates = false;  // every layer's output goes to HBM too
  bool allow_resident = true;       // otherwise all goes through HBM
  bool loops = false;  // blocks are to be loops: equal, in places that repeat
  std::vector<PlanTensor> tensors;
  std::vector<PlanLayer> layers;
  std::vector<PlanBuffer> buffers;

  bool tiled() const { return !layers.empty() && !layers[0].blocks.empty(); }
  // The layer that is joined with layer l, null if none is.
  const PlanLayer* EpilogueOf(int l) const;
  // The array's layer behind l whose tile lies in l's last one, -1 if none.
  int SharerOf(int l) const;
  // The first row from which on the last tile of the array's layer before l is
  // free for the only tile of layer l, 0 if l needs one of its own. Tiled.
  int64_t FreeRowsBefore(int l) const;
  // The tensor that layer l writes: its own output, or its epilogue's.
  int ResultOf(int l) const;
  // Whether an input has one position, which a layer repeats over all of its.
  bool Repeated(const PlanLayer& layer, size_t input) const;
  // The part of an input that a block of the layer reads.
  Region RegionOf(const PlanLayer& layer, size_t input,
                  const Block& block) const;
  // A pool whose channels are whole beats may load a group of them at once.
  // How many, 0 if it has no groups.
  int64_t GroupOf(const PlanLayer& layer) const;
  // The last layer that reads a tensor, -1 if none.
  int LastUse(int tensor) const;
  // The layers between which a tensor's bytes in HBM are wanted; inputs,
  // results and what is kept are wanted before the first or behind the last.
  std::pair<int, int> HbmLife(int tensor) const;
  // Bytes of a line, and of the tensor, in HBM.
  int64_t HbmPitch(int tensor) const;
  int64_t HbmBytes(int tensor) const;
  // Bytes at which buffers in the unified buffer begin.
  int64_t align() const;
};

using PlanPass = ir::PassOver<Plan>;
using PlanPassManager = ir::PassManagerOver<Plan>;

// Shapes and connections only. `raw`: outputs are accumulators, int32.
Plan MakePlan(const model::Network& network, const Preset& preset,
              int64_t batch, bool raw);

// ParsePlan(Print(p)) prints as p does. Errors: InvalidArgument, which names
// the line.
std::string Print(const Plan& plan);
absl::StatusOr<Plan> ParsePlan(std::string_view text);

// What every plan keeps. Tiled: the blocks of a layer cover its output once, in
// order; each is within the accumulators, its input region and its outputs
// within their buffers; buffers live as long as they are needed. With
// addresses: nothing alive at the same time overlaps or leaves its memory, but
// for what is written in place. Errors: Internal, which names layer or buffer.
absl::Status Verify(const Plan& plan);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PLAN_H_
