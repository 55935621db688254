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

// The number of images that every value of the device has: the first dimension
// of all inputs, if windows or values of four dimensions have it too. Else 1.
int64_t ImagesOf(const ir::Module& module);

// The product of the dimensions before an axis, and of those before the last
// three, without that of images.
int64_t SizeBefore(const ir::Type& type, int64_t axis, int64_t images);
int64_t OuterOf(const ir::Type& type, int64_t images);

// The tensor of one of `images` images, which are the first dimension if there
// are several. Width and channels are the last two dimensions, the height is
// all before them. A constant is the same for all images. Errors: Unimplemented
// for other shapes and types.
absl::StatusOr<model::Tensor> TensorOf(const ir::Node& node, int64_t images);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_TENSORS_H_
