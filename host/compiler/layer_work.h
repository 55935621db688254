// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Layers as the array sees them. A layer with few output channels would leave
// columns of the array unused. So p neighbouring outputs of a line count as the
// channels of one position: they read a window that is (p - 1) strides wider,
// with zero weights where an output does not look. The memory layout does not
// change, because the channels of neighbours are adjacent.
//
// A depthwise layer contracts each channel alone. There, p outputs share a
// column tile of Cols with groups of Cols / p channels: the rows of the tile
// hold p outputs of few channels, whose windows overlap, instead of one output
// of many channels. The results of a tile are p positions of a group, so a line
// of the output holds group after group (Geometry::group). A 1x1 convolution
// that reads it takes one segment from each group.
#ifndef HOST_COMPILER_LAYER_WORK_H_
#define HOST_COMPILER_LAYER_WORK_H_

#include <cstdint>

#include "host/compiler/geometry.h"
#include "systole/model.h"

namespace systole::compiler {

// Combines `columns` neighbouring outputs into one position; `columns` divides
// the output's width. `group`: channels per column tile of a depthwise layer.
Geometry JoinedGeometry(Geometry g, int64_t columns, int64_t group = 0);

// The layer with weights, biases and factors for the joined geometry. `shape`
// has one output per position.
model::Layer JoinedLayer(const model::Layer& layer, const Geometry& shape,
                         int64_t columns, int64_t group = 0);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_LAYER_WORK_H_
