// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/layer_work.h"

#include <algorithm>

#include "host/compiler/pass_plan.h"

namespace systole::compiler {
namespace {

// Whether the taps of a kernel row are neighbours, so that a wider window has
// them all.
bool CanJoin(const Geometry& g) { return g.dw == 1 || g.kw == 1; }

Geometry JoinedGeometry(Geometry g, int64_t columns) {
  g.kw += (columns - 1) * g.sw;
  g.dw = 1;
  g.sw *= columns;
  g.ow /= columns;
  g.oc *= columns;
  g.columns = columns;
  g.multiplier = 0;
  return g;
}

// Cycles of array or vector unit, whichever is busier, and a little for what
// the vector unit has to do: less of it is better.
double CostOf(const Geometry& g, const Preset& preset) {
  const int64_t positions = g.n * g.oh * g.ow;
  const int64_t passes = MakePassPlan(g, {0, g.kh, 0, g.kw}, preset).passes();
  const int64_t blocks = CeilDiv(positions, preset.acc_bank_rows());
  const int64_t shortest = std::max(preset.rows, preset.cols + 2);
  const int64_t busier =
      std::max(passes * std::max(positions, blocks * shortest), positions);
  return static_cast<double>(CeilDiv(g.oc, preset.cols)) *
         (static_cast<double>(busier) + 0.125 * static_cast<double>(positions));
}

}  // namespace

LayerWork Joined(const Geometry& g, const model::Layer& layer,
                 int64_t columns) {
  LayerWork work{JoinedGeometry(g, columns), layer};
  const Geometry& wide = work.g;
  // Input channels that a tap has in the layer's weights and in the new ones.
  const int64_t depth = g.multiplier == 0 ? g.c : 1;
  work.layer.weights.assign(wide.oc * wide.taps() * g.c, 0);
  work.layer.bias.clear();
  work.layer.requant.clear();
  for (int64_t p = 0; p < columns; ++p) {
    for (int64_t o = 0; o < g.oc; ++o) {
      work.layer.bias.push_back(layer.bias[o]);
      work.layer.requant.push_back(layer.requant[o]);
      const int64_t first = g.multiplier == 0 ? 0 : o / g.multiplier;
      for (int64_t ky = 0; ky < g.kh; ++ky) {
        for (int64_t kx = 0; kx < g.kw; ++kx) {
          const int8_t* from =
              &layer.weights[((o * g.kh + ky) * g.kw + kx) * depth];
          const int64_t tap =
              ((p * g.oc + o) * g.kh + ky) * wide.kw + kx + p * g.sw;
          std::copy_n(from, depth, &work.layer.weights[tap * g.c + first]);
        }
      }
    }
  }
  return work;
}

std::vector<LayerWork> MakeWork(const model::Network& network,
                                const Preset& preset, int64_t batch,
                                bool join) {
  std::vector<LayerWork> works;
  for (const model::Layer& layer : network.layers) {
    const Geometry g = GeometryOf(network, layer, batch);
    int64_t columns = 1;
    if (join && model::HasWeights(layer.op) && CanJoin(g)) {
      double best = CostOf(g, preset);
      for (int64_t p = 2; p * g.oc <= preset.cols && p <= g.ow; ++p) {
        if (g.ow % p != 0) continue;
        const double cost = CostOf(JoinedGeometry(g, p), preset);
        if (cost < best) {
          best = cost;
          columns = p;
        }
      }
    }
    works.push_back(columns > 1 ? Joined(g, layer, columns)
                                : LayerWork{g, layer});
  }
  return works;
}

}  // namespace systole::compiler
