// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Dimensions of size 1 are dropped, and neighbouring dimensions that are
// contiguous in both tensors are merged. The last dimension is the inner loop,
// the others are the outer one.
#include "host/ir/hlo/strided.h"

#include <cstring>

#include "host/ir/index.h"

namespace systole::ir {
namespace {

template <typename T>
void CopyRow(int64_t count, const T* from, int64_t step, T* to,
             int64_t to_step) {
  if (step == 1 && to_step == 1) {
    std::memcpy(to, from, count * sizeof(T));
  } else if (step == 0 && to_step == 1) {
    const T value = *from;
    for (int64_t i = 0; i < count; ++i) to[i] = value;
  } else if (to_step == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * step];
  }
}

struct Dimension {
  int64_t size, from, to;
};

template <typename T>
void Copy(const std::vector<Dimension>& dimensions, const uint8_t* from_bytes,
          uint8_t* to_bytes) {
  const T* from = reinterpret_cast<const T*>(from_bytes);
  T* to = reinterpret_cast<T*>(to_bytes);
  const Dimension row = dimensions.back();
  const int outer = static_cast<int>(dimensions.size()) - 1;
  std::vector<int64_t> index(outer, 0);
  while (true) {
    CopyRow(row.size, from, row.from, to, row.to);
    int i = outer - 1;
    for (; i >= 0; --i) {
      from += dimensions[i].from;
      to += dimensions[i].to;
      if (++index[i] < dimensions[i].size) break;
      from -= dimensions[i].from * dimensions[i].size;
      to -= dimensions[i].to * dimensions[i].size;
      index[i] = 0;
    }
    if (i < 0) return;
  }
}

}  // namespace

void CopyStrided(int bytes, const std::vector<int64_t>& shape,
                 const Walk<const uint8_t>& from, const Walk<uint8_t>& to) {
  std::vector<Dimension> dimensions;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return;
    if (shape[i] == 1) continue;
    const Dimension next{shape[i], from.strides[i], to.strides[i]};
    if (!dimensions.empty() &&
        dimensions.back().from == next.from * next.size &&
        dimensions.back().to == next.to * next.size) {
      dimensions.back() = {dimensions.back().size * next.size, next.from,
                           next.to};
    } else {
      dimensions.push_back(next);
    }
  }
  if (dimensions.empty()) dimensions.push_back({1, 1, 1});
  switch (bytes) {
    case 1:
      return Copy<uint8_t>(dimensions, from.data, to.data);
    case 2:
      return Copy<uint16_t>(dimensions, from.data, to.data);
    case 4:
      return Copy<uint32_t>(dimensions, from.data, to.data);
    default:
      return Copy<uint64_t>(dimensions, from.data, to.data);
  }
}

}  // namespace systole::ir
