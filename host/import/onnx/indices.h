// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reading and writing at indices.
#ifndef SYSTOLE_HOST_IMPORT_ONNX_INDICES_H_
#define SYSTOLE_HOST_IMPORT_ONNX_INDICES_H_

#include "host/import/hlo/hlo_builder.h"

namespace systole::import {

// Indices of -size..size-1 as those of 0..size-1.
Value Wrapped(HloBuilder& b, const Value& indices, int64_t size);
// Parts of `x` along an axis: the axis becomes the dimensions of the indices,
// which are in 0..size-1.
Value Take(HloBuilder& b, const Value& x, const Value& indices, int64_t axis);
// Element i of the result is that of x at i, but along the axis at indices[i].
// The indices have the shape of the result.
Value TakeElements(HloBuilder& b, const Value& x, const Value& indices,
                   int64_t axis);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_INDICES_H_
