// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Values of a module as tensors of the device.
#ifndef SYSTOLE_HOST_LOWER_TENSORS_H_
#define SYSTOLE_HOST_LOWER_TENSORS_H_

#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "systole/model.h"

namespace systole::lower {

// Height, width and channels are the last three dimensions; the dimensions
// before them must be 1. Errors: Unimplemented for other shapes and types.
absl::StatusOr<model::Tensor> TensorOf(const ir::Node& node);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_TENSORS_H_
