// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/weights.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_format.h"

namespace systole::compiler {
namespace {

constexpr int64_t kMin = std::numeric_limits<int32_t>::min(),
                  kMax = std::numeric_limits<int32_t>::max();

// The part of a weight in -255..255 that belongs to a plane.
int PartOf(int weight, int plane) {
  for (int p = 0;; ++p) {
    const int part = std::clamp(weight, -128, 127);
    if (p == plane) return part;
    weight -= part;
  }
}

void PutInt32(std::vector<uint8_t>& bytes, int64_t at, int32_t value) {
  std::memcpy(&bytes[at], &value, sizeof(value));
}

}  // namespace

int64_t ParamPitch(const Preset& preset) {
  return RoundUp(preset.param_block_bytes(),
                 std::lcm(preset.word_bytes(), preset.beat_bytes()));
}

int PlanesOf(const model::Layer& layer) {
  if (layer.weight_zero_point == 0 || layer.weights.empty()) return 1;
  const auto [least, most] =
      std::minmax_element(layer.weights.begin(), layer.weights.end());
  int planes = 1;
  while (PartOf(*least - layer.weight_zero_point, planes) != 0 ||
         PartOf(*most - layer.weight_zero_point, planes) != 0)
    ++planes;
  return planes;
}

template <class F>
void LayerWeights::ForEachWeight(const Taps& t, int64_t channel, F f) const {
  for (int64_t ky = t.ky0; ky < t.ky1; ++ky) {
    const int8_t* row =
        &layer_.weights[((channel * g_.kh + ky) * g_.kw + t.kx0) * Depth()];
    for (int64_t i = 0; i < (t.kx1 - t.kx0) * Depth(); ++i)
      f(row[i] - layer_.weight_zero_point);
  }
}

absl::StatusOr<const PackedWeights*> LayerWeights::Get(const Taps& taps) {
  const auto found = packed_.find(taps);
  if (found != packed_.end()) return &found->second;
  if (absl::Status range = CheckRange(taps); !range.ok()) return range;
  PackedWeights p;
  Geometry read = g_;
  if (held_ > 0) read.c = held_;
  p.plan = MakePassPlan(read, taps, preset_, next_ != nullptr);
  AddPlanes(p.plan);
  p.index = static_cast<int>(packed_.size());
  const std::string suffix =
      p.index == 0 ? "" : absl::StrFormat(".%d", p.index);
  p.stride = p.plan.passes();
  if (!elsewhere_ && !LiesWithin(p)) {
    std::vector<uint8_t> tiles = PackTiles(p.plan);
    if (next_ != nullptr) AddNext(tiles);
    p.tiles_addr = hbm_.Add(layer_.name + ".tiles" + suffix, std::move(tiles));
  }
  if (!raw_) {
    absl::StatusOr<std::vector<uint8_t>> params = PackParams(taps);
    if (!params.ok()) return params.status();
    p.params_addr =
        hbm_.Add(layer_.name + ".params" + suffix, *std::move(params));
  }
  return &packed_.emplace(taps, std::move(p)).first->second;
}

// What the tiles of a plan hold, pass by pass.
std::vector<std::vector<int64_t>> ContentsOf(const PassPlan& plan) {
  std::vector<std::vector<int64_t>> contents;
  for (const PassGroup& group : plan.groups) {
    for (const std::vector<Segment>& pass : group.passes) {
      std::vector<int64_t>& content = contents.emplace_back();
      content.push_back(group.plane);
      for (const Segment& s : pass)
        content.insert(content.end(), {s.weight, s.used, s.len});
    }
  }
  return contents;
}

bool LayerWeights::LiesWithin(PackedWeights& packed) const {
  if (next_ != nullptr) return false;
  const auto own = ContentsOf(packed.plan);
  for (const auto& [taps, other] : packed_) {
    const auto all = ContentsOf(other.plan);
    const auto found =
        std::search(all.begin(), all.end(), own.begin(), own.end());
    if (found == all.end()) continue;
    packed.tiles_addr =
        other.tiles_addr + (found - all.begin()) * preset_.tile_bytes();
    packed.stride = other.stride;
    return true;
  }
  return false;
}

void LayerWeights::AddNext(std::vector<uint8_t>& tiles) const {
  const Geometry& g = next_->g_;
  const PassPlan plan = MakePassPlan(g, {0, g.kh, 0, g.kw}, preset_);
  const std::vector<uint8_t> tile = next_->PackTiles(plan);
  const int64_t bytes = RowsOf(plan.groups[0].segments) * preset_.cols;
  std::copy_n(tile.begin(), bytes,
              tiles.end() - preset_.tile_bytes() + row_ * preset_.cols);
}

bool LayerWeights::HasWeights(const std::vector<Segment>& pass,
                              int plane) const {
  for (int64_t c = 0; c < g_.oc; ++c) {
    for (const Segment& s : pass) {
      for (int64_t j = 0; j < s.used; ++j) {
        if (PartOf(Weight(c, c / preset_.cols, s.weight + j), plane) != 0)
          return true;
      }
    }
  }
  return false;
}

void LayerWeights::AddPlanes(PassPlan& plan) const {
  const std::vector<PassGroup> first = plan.groups;
  for (int plane = 1; plane < PlanesOf(layer_); ++plane) {
    for (const PassGroup& group : first) {
      std::vector<std::vector<Segment>> needed;
      for (const std::vector<Segment>& pass : group.passes) {
        if (HasWeights(pass, plane)) needed.push_back(pass);
      }
      if (needed.size() == group.passes.size()) {
        plan.groups.push_back(group);
        plan.groups.back().plane = plane;
        continue;
      }
      for (std::vector<Segment>& pass : needed) {
        PassGroup& one = plan.groups.emplace_back();
        one.segments = pass;
        one.passes.push_back(std::move(pass));
        one.plane = plane;
      }
    }
  }
}

// The sum of the negative products and the sum of the positive products bound
// every partial sum, in any order of passes.
absl::Status LayerWeights::CheckRange(const Taps& taps) const {
  for (int64_t c = 0; c < g_.oc; ++c) {
    int64_t low = 0, high = 0;
    ForEachWeight(taps, c, [&](int64_t w) {
      low += w > 0 ? w * -128 : w * 127;
      high += w > 0 ? w * 127 : w * -128;
    });
    if (low < kMin || high > kMax) {
      return absl::InvalidArgumentError(
          absl::StrFormat("layer %s: output channel %d: sums of %d products "
                          "lie in %d..%d, beyond 32 bits",
                          layer_.name, c, g_.taps() * Depth(), low, high));
    }
    if (raw_) continue;
    int64_t sum = 0;
    ForEachWeight(taps, c, [&](int64_t w) { sum += w; });
    const int64_t bias = layer_.bias[c] - zero_point_ * sum;
    if (bias < kMin || bias > kMax || low + bias < kMin || high + bias > kMax) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "layer %s: output channel %d: bias %d with the zero point folded in "
          "gives sums in %d..%d, beyond 32 bits",
          layer_.name, c, bias, low + bias, high + bias));
    }
  }
  return absl::OkStatus();
}

// The weight of an output channel, less its zero point, for an element of its
// column tile's contraction.
int LayerWeights::Weight(int64_t channel, int64_t tile, int64_t element) const {
  const auto at = [&](int64_t index) {
    return layer_.weights[index] - layer_.weight_zero_point;
  };
  const int64_t depth = TileChannels(g_, preset_.cols);
  if (g_.multiplier == 0 && depth == g_.c)
    return at(channel * g_.taps() * g_.c + element);
  const int64_t read = FirstChannel(g_, preset_.cols, tile) + element % depth;
  if (g_.multiplier == 0) {
    if (read >= g_.c) return 0;
    return at((channel * g_.taps() + element / depth) * g_.c + read);
  }
  const int64_t own =
      g_.group > 0 ? FirstChannel(g_, preset_.cols, tile) + channel % g_.group
                   : channel / g_.multiplier;
  return read == own ? at(channel * g_.taps() + element / depth) : 0;
}

std::vector<uint8_t> LayerWeights::PackTiles(const PassPlan& plan) const {
  const int64_t rows = preset_.rows, cols = preset_.cols,
                passes = plan.passes();
  std::vector<uint8_t> bytes(column_tiles() * passes * preset_.tile_bytes(), 0);
  for (int64_t tile = 0; tile < column_tiles(); ++tile) {
    const int64_t channels = std::min(cols, g_.oc - tile * cols);
    uint8_t* out = &bytes[tile * passes * rows * cols];
    for (const PassGroup& group : plan.groups) {
      for (const std::vector<Segment>& pass : group.passes) {
        int64_t row = 0;
        for (const Segment& s : pass) {
          for (int64_t j = 0; j < s.used; ++j) {
            for (int64_t c = 0; c < channels; ++c)
              out[(row + j) * cols + c] = static_cast<uint8_t>(PartOf(
                  Weight(tile * cols + c, tile, s.weight + j), group.plane));
          }
          row += s.len;
        }
        out += rows * cols;
      }
    }
  }
  return bytes;
}

absl::StatusOr<std::vector<uint8_t>> LayerWeights::PackParams(
    const Taps& taps) const {
  const int64_t cols = preset_.cols, pitch = ParamPitch(preset_);
  std::vector<uint8_t> bytes(column_tiles() * pitch, 0);
  for (int64_t c = 0; c < g_.oc; ++c) {
    int64_t sum = 0;
    ForEachWeight(taps, c, [&](int64_t w) { sum += w; });
    const int64_t block = c / cols * pitch, lane = c % cols;
    PutInt32(bytes, block + 4 * lane,
             static_cast<int32_t>(layer_.bias[c] - zero_point_ * sum));
    PutInt32(bytes, block + 4 * cols + 4 * lane, layer_.requant[c].multiplier);
    bytes[block + 8 * cols + lane] =
        static_cast<uint8_t>(layer_.requant[c].shift);
  }
  return bytes;
}

}  // namespace systole::compiler
