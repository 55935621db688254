// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/layer_work.h"

#include <algorithm>

namespace systole::compiler {
namespace {

// Column `pos * group + channel` of a tile is that channel of the group at that
// position.
model::Layer GroupedLayer(const model::Layer& layer, const Geometry& g,
                          const Geometry& wide) {
  model::Layer grouped = layer;
  // Taps without a weight have the value that stands for 0.
  const auto none = static_cast<int8_t>(layer.weight_zero_point);
  grouped.weights.assign(wide.oc * wide.taps(), none);
  grouped.bias.clear();
  grouped.requant.clear();
  for (int64_t first = 0; first < g.oc; first += wide.group) {
    for (int64_t p = 0; p < wide.columns; ++p) {
      for (int64_t o = first; o < first + wide.group; ++o) {
        const auto column = static_cast<int64_t>(grouped.bias.size());
        grouped.bias.push_back(layer.bias[o]);
        grouped.requant.push_back(layer.requant[o]);
        for (int64_t ky = 0; ky < g.kh; ++ky) {
          std::copy_n(
              &layer.weights[(o * g.kh + ky) * g.kw], g.kw,
              &grouped.weights[(column * g.kh + ky) * wide.kw + p * g.sw]);
        }
      }
    }
  }
  return grouped;
}

}  // namespace

Geometry JoinedGeometry(Geometry g, int64_t columns, int64_t group) {
  if (columns == 1) return g;
  g.groups = 1;
  g.kw += (columns - 1) * g.sw;
  g.dw = 1;
  g.sw *= columns;
  g.ow /= columns;
  g.oc *= columns;
  g.columns = columns;
  g.group = group;
  if (group == 0) g.multiplier = 0;
  return g;
}

model::Layer JoinedLayer(const model::Layer& layer, const Geometry& g,
                         int64_t columns, int64_t group) {
  model::Layer joined = layer;
  if (columns == 1) return joined;
  const Geometry wide = JoinedGeometry(g, columns, group);
  if (group > 0) return GroupedLayer(layer, g, wide);
  // Input channels per tap, in the layer's weights and in the joined ones.
  const int64_t depth = g.multiplier == 0 ? g.c : 1;
  joined.weights.assign(wide.oc * wide.taps() * g.c,
                        static_cast<int8_t>(layer.weight_zero_point));
  joined.bias.clear();
  joined.requant.clear();
  for (int64_t p = 0; p < columns; ++p) {
    for (int64_t o = 0; o < g.oc; ++o) {
      joined.bias.push_back(layer.bias[o]);
      joined.requant.push_back(layer.requant[o]);
      const int64_t first = g.multiplier == 0 ? 0 : o / g.multiplier;
      for (int64_t ky = 0; ky < g.kh; ++ky) {
        for (int64_t kx = 0; kx < g.kw; ++kx) {
          const int8_t* from =
              &layer.weights[((o * g.kh + ky) * g.kw + kx) * depth];
          const int64_t tap =
              ((p * g.oc + o) * g.kh + ky) * wide.kw + kx + p * g.sw;
          std::copy_n(from, depth, &joined.weights[tap * g.c + first]);
        }
      }
    }
  }
  return joined;
}

}  // namespace systole::compiler
