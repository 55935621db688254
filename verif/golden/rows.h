// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operations of docs/numerics.md on whole rows and matrices of values.
#ifndef SYSTOLE_VERIF_GOLDEN_ROWS_H_
#define SYSTOLE_VERIF_GOLDEN_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "verif/golden/quantized_ops.h"

namespace systole::golden {

// The groups of values that a reduction over axes combines, in the order of the
// result; the axes keep a size of 1.
template <typename T>
std::vector<std::vector<T>> Groups(const Array<T>& input, const Shape& axes) {
  Shape kept = input.shape;
  for (int64_t axis : axes) kept[axis] = 1;
  const Shape strides = Strides(kept);
  std::vector<std::vector<T>> groups(Count(kept));
  size_t next = 0;
  ForEachIndex(input.shape, [&](const Shape& index) {
    int64_t group = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      if (kept[i] > 1) group += strides[i] * index[i];
    }
    groups[group].push_back(input.values[next++]);
  });
  return groups;
}

// The sums over axes, in single precision.
Array<int8_t> Sum(const Array<int8_t>& input, const Shape& axes, Affine from,
                  Affine to);

// Along the last dimension. Log-softmax has scale 1/16 and zero point 127; L2
// normalisation has scale 1/128 and zero point 0.
Array<int8_t> LogSoftmax(const Array<int8_t>& input, float scale);
absl::StatusOr<Array<int8_t>> L2Normalize(const Array<int8_t>& input,
                                          Affine from, bool uint8 = false);

// Matrix products over the last two dimensions; the others broadcast.
absl::StatusOr<Array<int8_t>> BatchMatmul(const Array<int8_t>& left,
                                          Affine of_left,
                                          const Array<int8_t>& right,
                                          Affine of_right, Affine to);

// The slices of `input` that the indices select along an axis. The first
// `batch` dimensions of both correspond.
template <typename T>
absl::StatusOr<Array<T>> Gather(const Array<T>& input,
                                const Array<int32_t>& indices, int64_t axis,
                                int64_t batch) {
  for (int32_t index : indices.values) {
    if (index < 0 || index >= input.shape[axis]) {
      return absl::InvalidArgumentError("an index is outside");
    }
  }
  Shape shape(input.shape.begin(), input.shape.begin() + axis);
  shape.insert(shape.end(), indices.shape.begin() + batch, indices.shape.end());
  shape.insert(shape.end(), input.shape.begin() + axis + 1, input.shape.end());
  const Shape strides = Strides(input.shape), places = Strides(indices.shape);
  return Generate<T>(shape, [&](const Shape& at) {
    size_t next = 0;
    int64_t offset = 0, place = 0;
    for (int64_t i = 0; i < batch; ++i) place += places[i] * at[i];
    for (int64_t i = 0; i < axis; ++i) offset += strides[i] * at[next++];
    for (size_t i = batch; i < places.size(); ++i) {
      place += places[i] * at[next++];
    }
    offset += strides[axis] * indices.values[place];
    for (size_t i = axis + 1; i < strides.size(); ++i) {
      offset += strides[i] * at[next++];
    }
    return input.values[offset];
  });
}

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_ROWS_H_
