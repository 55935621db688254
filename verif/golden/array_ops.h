// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations that only move values. Arrays of any rank have row-major values
// and a shape.
#ifndef SYSTOLE_VERIF_GOLDEN_ARRAY_OPS_H_
#define SYSTOLE_VERIF_GOLDEN_ARRAY_OPS_H_

#include <cstdint>
#include <vector>

namespace systole::golden {

using Shape = std::vector<int64_t>;

template <typename T>
struct Array {
  Shape shape;
  std::vector<T> values;
};

inline int64_t Count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

// Distance in memory between neighbours along each dimension.
inline Shape Strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

// Calls `visit(index)` for each index of a shape, the last dimension fastest.
template <typename Visit>
void ForEachIndex(const Shape& shape, Visit visit) {
  Shape index(shape.size(), 0);
  for (int64_t left = Count(shape); left > 0; --left) {
    visit(index);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
}

// An array of `shape` whose value at `index` is at(index).
template <typename T, typename At>
Array<T> Generate(const Shape& shape, At at) {
  Array<T> array{shape, {}};
  array.values.reserve(Count(shape));
  ForEachIndex(shape,
               [&](const Shape& index) { array.values.push_back(at(index)); });
  return array;
}

// Repeats sizes of 1 and missing leading dimensions.
template <typename T>
Array<T> Broadcast(const Array<T>& input, const Shape& shape) {
  const Shape strides = Strides(input.shape);
  const size_t missing = shape.size() - input.shape.size();
  return Generate<T>(shape, [&](const Shape& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < strides.size(); ++i) {
      if (input.shape[i] > 1) offset += strides[i] * index[i + missing];
    }
    return input.values[offset];
  });
}

template <typename T>
Array<T> Pad(const Array<T>& input, const Shape& low, const Shape& high,
             T value) {
  Shape shape = input.shape;
  for (size_t i = 0; i < shape.size(); ++i) shape[i] += low[i] + high[i];
  const Shape strides = Strides(input.shape);
  return Generate<T>(shape, [&](const Shape& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      const int64_t position = index[i] - low[i];
      if (position < 0 || position >= input.shape[i]) return value;
      offset += strides[i] * position;
    }
    return input.values[offset];
  });
}

template <typename T>
Array<T> Transpose(const Array<T>& input, const Shape& permutation) {
  const Shape strides = Strides(input.shape);
  Shape shape(permutation.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] = input.shape[permutation[i]];
  }
  return Generate<T>(shape, [&](const Shape& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      offset += strides[permutation[i]] * index[i];
    }
    return input.values[offset];
  });
}

// Index i of a dimension reads begin + i * stride.
template <typename T>
Array<T> StridedSlice(const Array<T>& input, const Shape& begin,
                      const Shape& stride, const Shape& shape) {
  const Shape strides = Strides(input.shape);
  return Generate<T>(shape, [&](const Shape& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      offset += strides[i] * (begin[i] + index[i] * stride[i]);
    }
    return input.values[offset];
  });
}

template <typename T>
Array<T> Concatenate(const std::vector<Array<T>>& inputs, int64_t axis) {
  Shape shape = inputs[0].shape;
  shape[axis] = 0;
  for (const Array<T>& input : inputs) shape[axis] += input.shape[axis];
  return Generate<T>(shape, [&](Shape index) {
    size_t i = 0;
    while (index[axis] >= inputs[i].shape[axis]) {
      index[axis] -= inputs[i++].shape[axis];
    }
    const Shape strides = Strides(inputs[i].shape);
    int64_t offset = 0;
    for (size_t k = 0; k < index.size(); ++k) offset += strides[k] * index[k];
    return inputs[i].values[offset];
  });
}

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_ARRAY_OPS_H_
