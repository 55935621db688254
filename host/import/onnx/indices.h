// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads and writes at indices.
#ifndef SYSTOLE_HOST_IMPORT_ONNX_INDICES_H_
#define SYSTOLE_HOST_IMPORT_ONNX_INDICES_H_

#include "host/import/hlo/hlo_builder.h"

namespace systole::import {

// Maps indices of -size .. size - 1 to 0 .. size - 1.
Value Wrapped(HloBuilder& b, const Value& indices, int64_t size);
// Gathers slices of `x` along an axis. The dimensions of the indices replace
// the axis. The indices must be in 0 .. size - 1.
Value Take(HloBuilder& b, const Value& x, const Value& indices, int64_t axis);
// Gathers single elements. Element i of the result is the element of x at
// position i, with indices[i] as its position along the axis. The indices have
// the shape of the result.
Value TakeElements(HloBuilder& b, const Value& x, const Value& indices,
                   int64_t axis);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_INDICES_H_
