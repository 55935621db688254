// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/lower/tensors.h"

#include <algorithm>

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

bool SumsImage(const model::Tensor& image, const Target* target) {
  constexpr int kMaxSide = 127;  // of a pool descriptor
  const auto fits = [&](const Target& t) {
    return t.SumsAtOnce(int64_t{image.height} * image.width, image.channels);
  };
  if (image.height > kMaxSide || image.width > kMaxSide) return false;
  if (target != nullptr) return fits(*target);
  return std::all_of(kPresets.begin(), kPresets.end(), [&](const Preset& p) {
    return !Target(p).quantised_networks() || fits(Target(p));
  });
}

}  // namespace systole::lower
