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

#include "host/compiler/geometry.h"
#include "systole/model.h"

namespace systole::compiler {

// `columns` outputs side by side as one position; they divide the output's
// width.
Geometry JoinedGeometry(Geometry g, int64_t columns);

// The layer with weights, biases and factors as the joined geometry has them.
// `shape` is of one output a position.
model::Layer JoinedLayer(const model::Layer& layer, const Geometry& shape,
                         int64_t columns);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_LAYER_WORK_H_
