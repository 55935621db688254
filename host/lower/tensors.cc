// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/lower/tensors.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace systole::lower {

int64_t ImagesOf(const ir::Module& module) {
  int64_t images = 0;
  for (const ir::Node* input : module.inputs()) {
    if (input->type.rank() == 0) continue;
    const int64_t first = input->type.shape[0];
    if (images != 0 && first != images) return 1;
    images = first;
  }
  if (images < 2) return 1;
  const auto whole = [&](const auto& node) {
    return node->op != ir::Op::kParameter && !node->is_constant() &&
           node->type.element == ir::ElementType::kInt8 &&
           node->type.rank() >= 4 && node->type.shape[0] == images;
  };
  return std::any_of(module.nodes().begin(), module.nodes().end(), whole)
             ? images
             : 1;
}

int64_t SizeBefore(const ir::Type& type, int64_t axis, int64_t images) {
  int64_t size = 1;
  for (int64_t i = images > 1 ? 1 : 0; i < axis; ++i) size *= type.shape[i];
  return size;
}

int64_t OuterOf(const ir::Type& type, int64_t images) {
  return SizeBefore(type, type.rank() - 3, images);
}

absl::StatusOr<model::Tensor> TensorOf(const ir::Node& node, int64_t images) {
  const ir::Type& type = node.type;
  const bool apart = images > 1 && !node.is_constant();
  if (type.element != ir::ElementType::kInt8 || !type.quantization) {
    return absl::UnimplementedError(
        absl::StrCat("the device has no ", ir::TypeText(type)));
  }
  model::Tensor tensor;
  tensor.name = node.name;
  tensor.scale = type.quantization->scale();
  tensor.zero_point = type.quantization->zero_point;
  int* const sizes[] = {&tensor.channels, &tensor.width, &tensor.height};
  if (apart && (type.rank() == 0 || type.shape[0] != images)) {
    return absl::UnimplementedError(
        absl::StrCat(ir::TypeText(type), " is not of ", images, " images"));
  }
  int64_t all[3] = {1, 1, 1};
  for (int i = 0; i + (apart ? 1 : 0) < type.rank(); ++i)
    all[std::min(i, 2)] *= type.shape[type.rank() - 1 - i];
  for (int i = 0; i < 3; ++i) {
    if (all[i] > model::kMaxDimension) {
      return absl::UnimplementedError(
          absl::StrCat(ir::TypeText(type), " has more than ",
                       model::kMaxDimension, " lines, positions or channels"));
    }
    *sizes[i] = static_cast<int>(all[i]);
  }
  return tensor;
}

}  // namespace systole::lower
