// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Layers as the array sees them. Where a layer has few output channels, outputs
// side by side count as channels of one position, so that the array's columns
// are in use: p outputs of a line read a window that is (p - 1) strides wider,
// with weights of 0 where an output does not look. In memory nothing changes,
// since channels of neighbours follow each other.
//
// A depthwise layer contracts each channel alone, so there p outputs share a
// column tile of Cols with groups of Cols / p channels: its rows hold p outputs
// of few channels instead of one output of many, whose windows overlap. The
// results of a tile are p positions of a group, so a line of the output holds
// group after group (Geometry::group); a 1x1 convolution that reads it takes a
// segment from each.
#ifndef HOST_COMPILER_LAYER_WORK_H_
#define HOST_COMPILER_LAYER_WORK_H_

#include <cstdint>

#include "host/compiler/geometry.h"
#include "systole/model.h"

namespace systole::compiler {

// `columns` outputs side by side as one position; they divide the output's
// width. `group`: of a depthwise layer, so many channels a column tile.
Geometry JoinedGeometry(Geometry g, int64_t columns, int64_t group = 0);

// The layer with weights, biases and factors as the joined geometry has them.
// `shape` is of one output a position.
model::Layer JoinedLayer(const model::Layer& layer, const Geometry& shape,
                         int64_t columns, int64_t group = 0);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_LAYER_WORK_H_
