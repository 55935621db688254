// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/hlo/rules.h"

namespace systole::ir {

absl::Status CheckDimensions(const Ints& dimensions, int64_t rank,
                             const char* what) {
  std::vector<bool> seen(rank, false);
  for (int64_t dimension : dimensions) {
    SYSTOLE_IR_CHECK(0 <= dimension && dimension < rank, what, " ",
                     ShapeText(dimensions), " of rank ", rank);
    SYSTOLE_IR_CHECK(!seen[dimension], what, " ", ShapeText(dimensions),
                     ": twice ", dimension);
    seen[dimension] = true;
  }
  return absl::OkStatus();
}

absl::Status CheckLength(const Ints& values, int64_t length, const char* what) {
  SYSTOLE_IR_CHECK(static_cast<int64_t>(values.size()) == length, values.size(),
                   " entries of ", what, ", not ", length);
  return absl::OkStatus();
}

Types InferBroadcastInDim(const Node& node) {
  const Type& from = node.operands[0].type();
  const Ints& dimensions = node.attr<HloDimensionsAttributes>().dimensions;
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckLength(dimensions, from.rank(), "dimensions"));
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckDimensions(dimensions, node.type.rank(), "dimensions"));
  for (int i = 0; i < from.rank(); ++i) {
    const int64_t size = node.type.shape[dimensions[i]];
    SYSTOLE_IR_CHECK(from.shape[i] == 1 || from.shape[i] == size, "dimension ",
                     i, " of ", TypeText(from), " does not stretch to ",
                     TypeText(node.type));
  }
  return std::vector<Type>{{from.element, node.type.shape, {}}};
}

Types InferReshape(const Node& node) {
  const Type& from = node.operands[0].type();
  SYSTOLE_IR_CHECK(from.elements() == node.type.elements(), TypeText(from),
                   " has not as many elements as ", TypeText(node.type));
  return std::vector<Type>{{from.element, node.type.shape, {}}};
}

Types InferTranspose(const Node& node) {
  const Type& from = node.operands[0].type();
  const Ints& permutation = node.attr<TransposeAttributes>().permutation;
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckLength(permutation, from.rank(), "permutation"));
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckDimensions(permutation, from.rank(), "permutation"));
  Type type{from.element, {}, {}};
  for (int64_t dimension : permutation) {
    type.shape.push_back(from.shape[dimension]);
  }
  return std::vector<Type>{type};
}

absl::Status CheckWalk(const Type& from, const Ints& sizes, const Ints& strides,
                       int64_t offset) {
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckLength(strides, static_cast<int>(sizes.size()), "strides"));
  int64_t least = offset, most = offset;
  for (size_t i = 0; i < sizes.size(); ++i) {
    SYSTOLE_IR_CHECK(1 <= sizes[i] && sizes[i] <= kMaxElements &&
                         std::abs(strides[i]) <= kMaxElements,
                     "size ", sizes[i], ", stride ", strides[i]);
    (strides[i] < 0 ? least : most) += (sizes[i] - 1) * strides[i];
  }
  SYSTOLE_IR_CHECK(0 <= least && most < from.elements(), "elements ", least,
                   " to ", most, " of ", TypeText(from));
  return absl::OkStatus();
}

Types InferStrided(const Node& node) {
  const Type& from = node.operands[0].type();
  const auto& a = node.attr<HloStridedAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckWalk(from, a.sizes, a.strides, a.offset));
  return std::vector<Type>{{from.element, a.sizes, {}}};
}

Types InferSlice(const Node& node) {
  const Type& from = node.operands[0].type();
  const auto& a = node.attr<HloSliceAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckLength(a.start, from.rank(), "start"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckLength(a.limit, from.rank(), "limit"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckLength(a.strides, from.rank(), "strides"));
  Type type{from.element, {}, {}};
  for (int i = 0; i < from.rank(); ++i) {
    SYSTOLE_IR_CHECK(0 <= a.start[i] && a.start[i] <= a.limit[i] &&
                         a.limit[i] <= from.shape[i] && a.strides[i] >= 1,
                     "dimension ", i, " of ", TypeText(from), " from ",
                     a.start[i], " to ", a.limit[i], " in steps of ",
                     a.strides[i]);
    type.shape.push_back((a.limit[i] - a.start[i] + a.strides[i] - 1) /
                         a.strides[i]);
  }
  return std::vector<Type>{type};
}

namespace {

// Checks the operands from `first` on: one scalar index per dimension.
absl::Status CheckStarts(const Node& node, size_t first, int64_t rank) {
  SYSTOLE_IR_CHECK(static_cast<int64_t>(node.operands.size() - first) == rank,
                   node.operands.size() - first, " start indices for rank ",
                   rank);
  for (size_t i = first; i < node.operands.size(); ++i) {
    const Type& index = node.operands[i].type();
    SYSTOLE_IR_CHECK(IsInteger(index.element) && index.rank() == 0 &&
                         index == node.operands[first].type(),
                     "start index ", i - first, " is ", TypeText(index));
  }
  return absl::OkStatus();
}

}  // namespace

Types InferDynamicSlice(const Node& node) {
  const Type& from = node.operands[0].type();
  const Ints& sizes = node.attr<HloSizesAttributes>().sizes;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckLength(sizes, from.rank(), "sizes"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckStarts(node, 1, from.rank()));
  for (int i = 0; i < from.rank(); ++i) {
    SYSTOLE_IR_CHECK(0 <= sizes[i] && sizes[i] <= from.shape[i], "a slice of ",
                     ShapeText(sizes), " of ", TypeText(from));
  }
  return std::vector<Type>{{from.element, sizes, {}}};
}

Types InferDynamicUpdateSlice(const Node& node) {
  const Type& type = node.operands[0].type();
  const Type& update = node.operands[1].type();
  SYSTOLE_IR_CHECK(
      update.element == type.element && update.rank() == type.rank(),
      "an update of ", TypeText(update), " of ", TypeText(type));
  for (int i = 0; i < type.rank(); ++i) {
    SYSTOLE_IR_CHECK(update.shape[i] <= type.shape[i], "an update of ",
                     TypeText(update), " of ", TypeText(type));
  }
  SYSTOLE_IR_RETURN_IF_ERROR(CheckStarts(node, 2, type.rank()));
  return std::vector<Type>{type};
}

Types InferConcatenate(const Node& node) {
  const int64_t axis = node.attr<HloDimensionAttributes>().dimension;
  Type type = node.operands[0].type();
  SYSTOLE_IR_CHECK(0 <= axis && axis < type.rank(), "dimension ", axis, " of ",
                   TypeText(type));
  for (size_t i = 1; i < node.operands.size(); ++i) {
    Type other = node.operands[i].type();
    SYSTOLE_IR_CHECK(other.rank() == type.rank(), TypeText(other),
                     " does not continue ", TypeText(type));
    const int64_t size = other.shape[axis];
    other.shape[axis] = type.shape[axis];
    SYSTOLE_IR_CHECK(other == type, TypeText(node.operands[i].type()),
                     " does not continue ", TypeText(type));
    type.shape[axis] += size;
  }
  return std::vector<Type>{type};
}

Types InferPad(const Node& node) {
  const Type& from = node.operands[0].type();
  const Type& value = node.operands[1].type();
  const auto& a = node.attr<HloPadAttributes>();
  SYSTOLE_IR_CHECK(value.element == from.element && value.rank() == 0,
                   "the padding is ", TypeText(value), " for ", TypeText(from));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckLength(a.low, from.rank(), "low"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckLength(a.high, from.rank(), "high"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckLength(a.interior, from.rank(), "interior"));
  Type type{from.element, {}, {}};
  for (int i = 0; i < from.rank(); ++i) {
    SYSTOLE_IR_CHECK(0 <= a.interior[i] && a.interior[i] <= kMaxElements &&
                         std::abs(a.low[i]) <= kMaxElements &&
                         std::abs(a.high[i]) <= kMaxElements,
                     "padding of dimension ", i, ": ", a.low[i], ", ",
                     a.interior[i], ", ", a.high[i]);
    const int64_t inner =
        from.shape[i] + std::max<int64_t>(from.shape[i] - 1, 0) * a.interior[i];
    type.shape.push_back(std::max<int64_t>(a.low[i] + inner + a.high[i], 0));
  }
  return std::vector<Type>{type};
}

Types InferReverse(const Node& node) {
  const Type& type = node.operands[0].type();
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckDimensions(node.attr<HloDimensionsAttributes>().dimensions,
                      type.rank(), "dimensions"));
  return std::vector<Type>{type};
}

}  // namespace systole::ir
