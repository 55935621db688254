// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/lower/tensors.h"

#include "absl/strings/str_cat.h"

namespace systole::lower {

absl::StatusOr<model::Tensor> TensorOf(const ir::Node& node) {
  const ir::Type& type = node.type;
  if (type.element != ir::ElementType::kInt8) {
    return absl::UnimplementedError(
        absl::StrCat("the device has no ", ir::TypeText(type)));
  }
  model::Tensor tensor;
  tensor.name = node.name;
  tensor.scale = type.quantization->scale();
  tensor.zero_point = type.quantization->zero_point;
  int* const sizes[] = {&tensor.channels, &tensor.width, &tensor.height};
  for (int i = 0; i < type.rank(); ++i) {
    const int64_t size = type.shape[type.rank() - 1 - i];
    if (size > model::kMaxDimension || (i >= 3 && size != 1)) {
      return absl::UnimplementedError(
          absl::StrCat("no tensor of one image: ", ir::TypeText(type)));
    }
    if (i < 3) *sizes[i] = static_cast<int>(size);
  }
  return tensor;
}

}  // namespace systole::lower
