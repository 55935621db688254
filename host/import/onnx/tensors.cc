// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/onnx/tensors.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "host/files/printable.h"
#include "host/files/read_file.h"

namespace systole::import {
namespace {

using ir::ElementType;
using onnx::TensorProto;

absl::Status Bad(const std::string& what) {
  return absl::InvalidArgumentError(what);
}

// Reads values from a typed field of the file, one element per entry.
template <typename T, typename Field>
absl::StatusOr<Literal> Typed(const Field& field, int64_t count) {
  if (field.size() != count) {
    return Bad(absl::StrCat(field.size(), " values for ", count, " elements"));
  }
  std::vector<T> values;
  values.reserve(count);
  for (const auto value : field) {
    if constexpr (std::is_same_v<T, ir::Bool>) {
      values.push_back(ir::Bool(value != 0));
    } else if constexpr (std::is_same_v<T, ir::Float16> ||
                         std::is_same_v<T, ir::Bfloat16>) {
      T half;
      half.bits = static_cast<uint16_t>(value);  // the entry holds the bits
      values.push_back(half);
    } else {
      values.push_back(static_cast<T>(value));
    }
  }
  return Literal(std::move(values));
}

absl::StatusOr<Literal> FromFields(const TensorProto& t, ElementType element,
                                   int64_t count) {
  switch (element) {
    case ElementType::kFloat32:
      return Typed<float>(t.float_data(), count);
    case ElementType::kInt64:
      return Typed<int64_t>(t.int64_data(), count);
    case ElementType::kUint32:
      return Typed<uint32_t>(t.uint64_data(), count);
    case ElementType::kUint64:
      return Typed<uint64_t>(t.uint64_data(), count);
    default:
      break;
  }
  return ir::WithElement(element, [&](auto tag) {
    return Typed<typename decltype(tag)::type>(t.int32_data(), count);
  });
}

}  // namespace

std::string OnnxTypeName(int64_t type) {
  static constexpr std::array<const char*, 29> kNames = {
      "undefined",      "float",        "uint8",          "int8",
      "uint16",         "int16",        "int32",          "int64",
      "string",         "bool",         "float16",        "double",
      "uint32",         "uint64",       "complex64",      "complex128",
      "bfloat16",       "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
      "float8e5m2fnuz", "uint4",        "int4",           "float4e2m1",
      "float8e8m0",     "uint2",        "int2",           "float6e2m3",
      "float6e3m2"};
  if (type >= 0 && type < static_cast<int64_t>(kNames.size()))
    return kNames[type];
  return absl::StrCat("number ", type);
}

absl::StatusOr<ElementType> OnnxElement(int64_t type) {
  switch (type) {
    case TensorProto::FLOAT:
      return ElementType::kFloat32;
    case TensorProto::UINT8:
      return ElementType::kUint8;
    case TensorProto::INT8:
      return ElementType::kInt8;
    case TensorProto::UINT16:
      return ElementType::kUint16;
    case TensorProto::INT16:
      return ElementType::kInt16;
    case TensorProto::INT32:
      return ElementType::kInt32;
    case TensorProto::INT64:
      return ElementType::kInt64;
    case TensorProto::BOOL:
      return ElementType::kBool;
    case TensorProto::FLOAT16:
      return ElementType::kFloat16;
    case TensorProto::UINT32:
      return ElementType::kUint32;
    case TensorProto::UINT64:
      return ElementType::kUint64;
    case TensorProto::BFLOAT16:
      return ElementType::kBfloat16;
    default:
      return absl::UnimplementedError(
          absl::StrCat("type ", OnnxTypeName(type)));
  }
}

int64_t OnnxTypeOf(ElementType element) {
  for (int64_t type = 1; type <= TensorProto::BFLOAT16; ++type) {
    const auto same = OnnxElement(type);
    if (same.ok() && *same == element) return type;
  }
  return TensorProto::UNDEFINED;
}

absl::StatusOr<std::string> TensorReader::External(const TensorProto& tensor,
                                                   int64_t bytes) {
  std::string location;
  int64_t offset = 0, length = bytes;
  for (const auto& entry : tensor.external_data()) {
    const bool number = entry.key() == "offset" || entry.key() == "length";
    if (entry.key() == "location") location = entry.value();
    if (number &&
        !absl::SimpleAtoi(entry.value(),
                          entry.key() == "offset" ? &offset : &length)) {
      return Bad(absl::StrCat("external data with a ", entry.key(), " of '",
                              Printable(entry.value()), "'"));
    }
  }
  if (folder_.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("values in the file '", Printable(location),
                     "', and the model was read from memory"));
  }
  const std::vector<std::string> parts = absl::StrSplit(location, '/');
  if (location.empty() || location[0] == '/' ||
      std::count(parts.begin(), parts.end(), "..") > 0) {
    return Bad(absl::StrCat("external data in '", Printable(location),
                            "', which is not below the model's folder"));
  }
  auto found = files_.find(location);
  if (found == files_.end()) {
    auto file = ReadFile(absl::StrCat(folder_, "/", location));
    if (!file.ok()) return file.status();
    found = files_.emplace(location, *std::move(file)).first;
  }
  const auto size = static_cast<int64_t>(found->second.size());
  if (offset < 0 || length != bytes || offset > size - bytes || bytes > size) {
    return Bad(absl::StrCat("external data of ", length, " bytes at ", offset,
                            " of '", Printable(location), "' (", size,
                            " bytes) for a tensor of ", bytes, " bytes"));
  }
  return found->second.substr(offset, bytes);
}

absl::StatusOr<OnnxTensor> TensorReader::Read(const TensorProto& tensor) {
  if (tensor.has_segment()) return absl::UnimplementedError("a segment");
  const auto element = OnnxElement(tensor.data_type());
  if (!element.ok()) return element.status();
  OnnxTensor read;
  read.type = {*element, {tensor.dims().begin(), tensor.dims().end()}, {}};
  int64_t count = 1;
  for (const int64_t size : read.type.shape) {
    if (size < 0 || (size > 0 && count > ir::kMaxElements / size)) {
      return Bad(absl::StrCat("a tensor of shape ",
                              ir::ShapeText(read.type.shape),
                              ": there may be up to 2^31 elements"));
    }
    count *= size;
  }
  if (read.type.rank() > ir::kMaxRank) {
    return absl::UnimplementedError(absl::StrCat("rank ", read.type.rank()));
  }
  const int64_t bytes = count * ir::ElementBytes(*element);
  std::string external;
  const std::string* raw = nullptr;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    auto values = External(tensor, bytes);
    if (!values.ok()) return values.status();
    external = *std::move(values);
    raw = &external;
  } else if (tensor.has_raw_data()) {
    raw = &tensor.raw_data();
  }
  if (raw == nullptr) {
    auto values = FromFields(tensor, *element, count);
    if (!values.ok()) return values.status();
    read.data = *std::move(values);
    return read;
  }
  if (static_cast<int64_t>(raw->size()) != bytes) {
    return Bad(absl::StrCat(raw->size(), " bytes for ", ir::TypeText(read.type),
                            ", which has ", bytes));
  }
  if (*element == ElementType::kBool) {
    std::vector<ir::Bool> values;
    for (const char byte : *raw) values.push_back(ir::Bool(byte != 0));
    read.data = Literal(std::move(values));
  } else {
    read.data = Literal::FromBytes(
        *element, count, reinterpret_cast<const uint8_t*>(raw->data()));
  }
  return read;
}

}  // namespace systole::import
