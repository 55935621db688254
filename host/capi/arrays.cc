// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/capi/arrays.h"

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/npy/npy.h"
#include "host/tools/tensor_io.h"

namespace systole::capi {
namespace {

constexpr int32_t kMostRank = 32;

std::optional<npy::Type> NpyType(systole_type type) {
  switch (type) {
    case SYSTOLE_INT8:
      return npy::Type::kInt8;
    case SYSTOLE_UINT8:
      return npy::Type::kUint8;
    case SYSTOLE_INT16:
      return npy::Type::kInt16;
    case SYSTOLE_INT32:
      return npy::Type::kInt32;
    case SYSTOLE_INT64:
      return npy::Type::kInt64;
    case SYSTOLE_FLOAT32:
      return npy::Type::kFloat32;
    default:
      return std::nullopt;
  }
}

std::vector<int64_t> ShapeOf(const systole_array& array) {
  return {array.shape, array.shape + array.rank};
}

std::string Describe(systole_type type, const std::vector<int64_t>& shape) {
  return absl::StrCat(systole_type_name(type), " (", absl::StrJoin(shape, ", "),
                      shape.size() == 1 ? ",)" : ")");
}

systole_type TypeOf(const Tensor& tensor) {
  return static_cast<systole_type>(tensor.type.element);
}

absl::Status Unlike(const systole_array& array, const std::string& wanted) {
  return absl::InvalidArgumentError(absl::StrCat(
      "the array is ", capi::Describe(array), ", wanted is ", wanted));
}

// The shape of so many images of a tensor.
std::vector<int64_t> Stacked(std::vector<int64_t> shape, int64_t images) {
  if (!shape.empty() && shape[0] == 1) {
    shape[0] = images;
  } else {
    shape.insert(shape.begin(), images);
  }
  return shape;
}

}  // namespace

std::string Describe(const systole_array& array) {
  return Describe(array.type, ShapeOf(array));
}

absl::Status CheckArray(const systole_array& array) {
  const size_t size = systole_type_size(array.type);
  if (size == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the array's type is ", static_cast<int>(array.type),
                     ", which is none of systole_type"));
  }
  if (array.rank < 0 || array.rank > kMostRank) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the array's rank is ", array.rank, ", not 0 to ", kMostRank));
  }
  if (array.rank > 0 && array.shape == nullptr)
    return absl::InvalidArgumentError("the array's shape is NULL");
  uint64_t bytes = size;
  for (int32_t i = 0; i < array.rank; ++i) {
    if (array.shape[i] < 0 ||
        (array.shape[i] != 0 &&
         bytes > std::numeric_limits<uint64_t>::max() /
                     static_cast<uint64_t>(array.shape[i]))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the array's shape is (", absl::StrJoin(ShapeOf(array), ", "), ")"));
    }
    bytes *= static_cast<uint64_t>(array.shape[i]);
  }
  if (bytes != array.bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the array has ", array.bytes, " bytes, ", Describe(array),
                     " has ", bytes));
  }
  if (bytes > 0 && array.data == nullptr)
    return absl::InvalidArgumentError("the array's data is NULL");
  return absl::OkStatus();
}

absl::StatusOr<Stack> ReadStack(const systole_array& array,
                                const Tensor& tensor) {
  if (absl::Status s = CheckArray(array); !s.ok()) return s;
  const std::optional<npy::Type> type = NpyType(array.type);
  if (!type) {
    return Unlike(array, Describe(TypeOf(tensor), tensor.type.shape));
  }
  npy::Array values;
  values.type = *type;
  values.shape = ShapeOf(array);
  const auto* data = static_cast<const uint8_t*>(array.data);
  values.bytes.assign(data, data + array.bytes);
  absl::StatusOr<tools::Images> images = tools::ToImages(values, tensor.type);
  if (!images.ok()) return images.status();
  return Stack{std::move(images->values), images->count};
}

absl::Status CheckStack(const systole_array& array, const Tensor& tensor,
                        int64_t images) {
  if (absl::Status s = CheckArray(array); !s.ok()) return s;
  const std::vector<int64_t> shape = Stacked(tensor.type.shape, images);
  const bool fits = ShapeOf(array) == shape ||
                    (images == 1 && ShapeOf(array) == tensor.type.shape);
  if (array.type == TypeOf(tensor) && fits) return absl::OkStatus();
  return Unlike(array, Describe(TypeOf(tensor), shape));
}

absl::Status CheckExact(const systole_array& array, const Tensor& tensor) {
  if (absl::Status s = CheckArray(array); !s.ok()) return s;
  if (array.type == TypeOf(tensor) && ShapeOf(array) == tensor.type.shape)
    return absl::OkStatus();
  return Unlike(array, Describe(TypeOf(tensor), tensor.type.shape));
}

}  // namespace systole::capi
