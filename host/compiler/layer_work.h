// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Layers as the array sees them. Where a layer has few output channels, outputs
// side by side count as channels of one position, so that the array's columns
// are in use: p outputs of a line read a window that is (p - 1) strides wider,
// with weights of 0 where an output does not look. In memory nothing changes,
// since channels of neighbours follow each other.
#ifndef HOST_COMPILER_LAYER_WORK_H_
#define HOST_COMPILER_LAYER_WORK_H_

#include <cstdint>
#include <vector>

#include "host/compiler/geometry.h"
#include "systole/gen/presets.h"
#include "systole/model.h"

namespace systole::compiler {

struct LayerWork {
  Geometry g;
  // Of a layer with weights: these, biases and factors as `g` has them.
  model::Layer layer;
};

// `columns` outputs side by side as one position; they divide the output's
// width. `g` and `layer` of one position each.
LayerWork Joined(const Geometry& g, const model::Layer& layer, int64_t columns);

// Of each layer, with as many outputs joined as take the fewest cycles.
// `join`: otherwise none are.
std::vector<LayerWork> MakeWork(const model::Network& network,
                                const Preset& preset, int64_t batch, bool join);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_LAYER_WORK_H_
