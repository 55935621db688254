// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/index.h"

#include <cstddef>

namespace systole::ir {

std::vector<int64_t> StridesOf(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

void Advance(const std::vector<int64_t>& shape, std::vector<int64_t>& index) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return;
    index[i] = 0;
  }
}

}  // namespace systole::ir
