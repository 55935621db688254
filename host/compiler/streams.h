// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The data that a layer's blocks read and write. The streams hand out unified
// buffer addresses and append the loads and stores that these need.
#ifndef HOST_COMPILER_STREAMS_H_
#define HOST_COMPILER_STREAMS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "host/compiler/geometry.h"
#include "host/compiler/plan.h"
#include "host/compiler/schedule_builder.h"
#include "host/compiler/weights.h"
#include "systole/program.h"

namespace systole::compiler {

// The first byte of a region in the unified buffer, and its pitches.
struct View {
  int64_t address = 0, pitch = 0, img_pitch = 0;
};

class InputStream {
 public:
  // `base`: address of the placement's buffer, also in the classes below.
  InputStream(const InputPlacement& placement, int64_t base,
              const TensorInfo& hbm, const Preset& preset,
              ScheduleBuilder& builder)
      : placement_(placement),
        base_(base),
        hbm_(hbm),
        preset_(preset),
        builder_(builder),
        loaded_(hbm.n, 0) {}

  // Makes a region available; it stays until the kSlotCount-th call after this
  // one.
  View Require(const Region& region);
  // The same for `count` channels, from `first` on, if the placement has
  // groups: positions `position` bytes apart, in lines of `pitch`.
  View RequireChannels(const Region& region, int64_t first, int64_t count,
                       int64_t position, int64_t pitch);

 private:
  void LoadLines(const Region& region);
  void AppendLoad(const Region& region, const View& to);

  const InputPlacement placement_;
  const int64_t base_;
  const TensorInfo& hbm_;
  const Preset& preset_;
  ScheduleBuilder& builder_;
  std::vector<int64_t> loaded_;  // lines of each image that are loaded (kWhole)
  int64_t turn_ = 0;             // next slot
};

// Destination of a block's outputs. Channel c of position (image i, line y,
// position x) of the block is at address + i*img_pitch + y*pitch + x*position +
// c*element bytes; c counts from the first requested channel.
struct Destination {
  int64_t address = 0, position = 0, pitch = 0, img_pitch = 0;
};

class OutputStream {
 public:
  OutputStream(const OutputPlacement& placement, int64_t base,
               const TensorInfo& hbm, const Geometry& g, const Preset& preset,
               ScheduleBuilder& builder)
      : placement_(placement),
        base_(base),
        hbm_(hbm),
        g_(g),
        preset_(preset),
        builder_(builder) {}

  // The place for a block's channel group that starts at channel c0.
  Destination Begin(const Block& block, int64_t c0);
  // The group is written completely: stores what belongs in HBM.
  void Finish(const Block& block, int64_t c0, int64_t channels);

 private:
  void StoreResident(const Block& block);

  const OutputPlacement placement_;
  const int64_t base_;
  const TensorInfo& hbm_;
  const Geometry& g_;
  const Preset& preset_;
  ScheduleBuilder& builder_;
  int64_t turn_ = 0;
  Destination current_;
};

// Requantise parameters of column tiles.
class ParamStream {
 public:
  // Slots are filled by halves, for as many neighbouring tiles. `fixed`: each
  // tile has its own slot; otherwise tiles use the halves in turn.
  ParamStream(const ParameterPlacement& placement, int64_t base,
              int64_t column_tiles, bool fixed, const Preset& preset,
              ScheduleBuilder& builder)
      : placement_(placement),
        base_(base),
        tiles_(column_tiles),
        fixed_(fixed),
        preset_(preset),
        builder_(builder) {}

  // Unified buffer address of a tile's parameter block.
  int64_t Require(const PackedWeights& packed, int64_t tile);

 private:
  void AppendLoad(uint64_t from, int64_t to, int64_t bytes);

  const ParameterPlacement placement_;
  const int64_t base_;
  const int64_t tiles_;
  const bool fixed_;
  const Preset& preset_;
  ScheduleBuilder& builder_;
  std::vector<bool> loaded_;  // per packing (whole)
  // Packing and first tile, in halves, of what each half of the slots has.
  std::array<std::pair<int, int64_t>, 2> halves_ = {{{-1, -1}, {-1, -1}}};
  int64_t turn_ = 0;  // the half that is filled next
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_STREAMS_H_
