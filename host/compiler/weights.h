// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Weight tiles and requantise parameters as they are stored in HBM. Blocks
// whose kernel rows or columns are partly in the padding leave those taps out,
// so a layer may have several packings. Each packing folds the input's zero
// point over the taps that it keeps.
//
// Weights less their zero point are -255..255. Their first plane is what an
// int8 can hold of them, the second what is left of it, and so on. The passes
// of a further plane are those of the first that have a weight other than 0.
#ifndef HOST_COMPILER_WEIGHTS_H_
#define HOST_COMPILER_WEIGHTS_H_

#include <cstdint>
#include <map>

#include "absl/status/statusor.h"
#include "host/compiler/geometry.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/pass_plan.h"
#include "systole/gen/presets.h"
#include "systole/model.h"

namespace systole::compiler {

struct PackedWeights {
  PassPlan plan;
  int index = 0;  // number of this packing in its layer
  // [column tile][pass][Rows][Cols], in the order of use; `stride` tiles from a
  // column tile to the next. A packing may be part of one with more taps.
  uint64_t tiles_addr = 0;
  int64_t stride = 0;
  uint64_t params_addr = 0;  // [column tile], blocks ParamPitch apart
};

// Bytes from one parameter block to the next, in HBM and in the unified buffer.
int64_t ParamPitch(const Preset& preset);

// Number of planes that the weights of a layer have.
int PlanesOf(const model::Layer& layer);

class LayerWeights {
 public:
  LayerWeights(const model::Layer& layer, const Geometry& g, int zero_point,
               bool raw, const Preset& preset, HbmImage& hbm)
      : layer_(layer),
        g_(g),
        zero_point_(zero_point),
        raw_(raw),
        preset_(preset),
        hbm_(hbm) {}

  // The tile of `next` shares this layer's last tile, from `row` on; its
  // windows never leave the image. Call before the first packing.
  void Share(const LayerWeights& next, int64_t row) {
    next_ = &next;
    row_ = row;
  }
  // The input is read from slots that hold this number of its channels.
  void ReadInGroups(int64_t channels) { held_ = channels; }
  // The tile is part of the previous array layer's tile.
  void LieElsewhere() { elsewhere_ = true; }

  // The packing for these taps, built at the first call; those with the most
  // taps should be asked for first, as others may be part of them.
  // kInvalidArgument names the layer and the channel whose folded bias or sums
  // could exceed 32 bits.
  absl::StatusOr<const PackedWeights*> Get(const Taps& taps);

  int64_t column_tiles() const { return CeilDiv(g_.oc, preset_.cols); }

 private:
  // Finds the plan's tiles within those of an earlier packing.
  bool LiesWithin(PackedWeights& packed) const;
  absl::Status CheckRange(const Taps& taps) const;
  void AddPlanes(PassPlan& plan) const;
  bool HasWeights(const std::vector<Segment>& pass, int plane) const;
  std::vector<uint8_t> PackTiles(const PassPlan& plan) const;
  absl::StatusOr<std::vector<uint8_t>> PackParams(const Taps& taps) const;
  int64_t Depth() const { return g_.multiplier == 0 ? g_.c : 1; }
  int Weight(int64_t channel, int64_t tile, int64_t element) const;
  template <class F>
  void ForEachWeight(const Taps& taps, int64_t channel, F f) const;

  void AddNext(std::vector<uint8_t>& tiles) const;

  const model::Layer& layer_;
  const Geometry g_;
  const int zero_point_;
  const bool raw_;
  const Preset& preset_;
  HbmImage& hbm_;
  std::map<Taps, PackedWeights> packed_;
  const LayerWeights* next_ = nullptr;
  int64_t row_ = 0, held_ = 0;
  bool elsewhere_ = false;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_WEIGHTS_H_
