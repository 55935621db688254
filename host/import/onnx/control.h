// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Parts of tensors at an index that is not known before the model runs.
#ifndef SYSTOLE_HOST_IMPORT_ONNX_CONTROL_H_
#define SYSTOLE_HOST_IMPORT_ONNX_CONTROL_H_

#include "host/import/hlo/hlo_builder.h"

namespace systole::import {

// The part of x at an index of the axis. The axis is removed.
Value PartAt(HloBuilder& b, const Value& x, int64_t axis, const Value& index);
// x with its part at an index of the axis replaced.
Value WithPart(HloBuilder& b, const Value& x, int64_t axis, const Value& index,
               const Value& part);
Value Zeros(HloBuilder& b, const ir::Type& type);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_CONTROL_H_
