// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/npy/npy.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/files/file_kind.h"
#include "host/files/read_file.h"
#include "host/files/write_file.h"
#include "host/npy/header.h"

namespace systole::npy {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;

struct TypeInfo {
  Type type;
  const char* name;
  const char* descr;  // little endian
  int64_t bytes;
};

constexpr TypeInfo kTypes[] = {
    {Type::kInt8, "int8", "|i1", 1},
    {Type::kUint8, "uint8", "|u1", 1},
    {Type::kInt16, "int16", "<i2", 2},
    {Type::kInt32, "int32", "<i4", 4},
    {Type::kInt64, "int64", "<i8", 8},
    {Type::kFloat32, "float32", "<f4", 4},
    {Type::kFloat64, "float64", "<f8", 8},
    {Type::kBool, "bool", "|b1", 1},
    {Type::kUint16, "uint16", "<u2", 2},
    {Type::kUint32, "uint32", "<u4", 4},
    {Type::kUint64, "uint64", "<u8", 8},
    {Type::kFloat16, "float16", "<f2", 2},
    {Type::kBfloat16, "bfloat16", "<V2", 2},
    {Type::kComplex64, "complex64", "<c8", 8},
};

const TypeInfo& InfoOf(Type type) { return kTypes[static_cast<int>(type)]; }

absl::StatusOr<Type> TypeOf(const std::string& descr) {
  for (const TypeInfo& info : kTypes) {
    // Of one byte, every order is the same.
    const bool single = info.bytes == 1 && descr.size() == 3 &&
                        descr.substr(1) == info.descr + 1 &&
                        std::strchr("|<>=", descr[0]) != nullptr;
    const bool bits = info.type == Type::kBfloat16 && descr == "|V2";
    if (single || bits || descr == info.descr) return info.type;
  }
  if (!descr.empty() && descr[0] == '>') {
    return absl::UnimplementedError(
        absl::StrCat("elements of type '", descr, "' are big endian"));
  }
  return absl::UnimplementedError(
      absl::StrCat("elements of type '", descr, "' are not supported"));
}

// From Fortran's order (the first dimension fastest) to C's.
std::vector<uint8_t> ToRowMajor(const std::vector<int64_t>& shape,
                                int64_t bytes, std::string_view data) {
  std::vector<int64_t> stride(shape.size(), bytes), index(shape.size(), 0);
  for (size_t d = 1; d < shape.size(); ++d) {
    stride[d] = stride[d - 1] * shape[d - 1];
  }
  std::vector<uint8_t> result(data.size());
  int64_t from = 0;
  for (size_t to = 0; to < result.size(); to += bytes) {
    std::memcpy(&result[to], &data[from], bytes);
    for (size_t d = shape.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < shape[d]) break;
      from -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
  return result;
}

absl::Status Prefixed(const std::string& name, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(name, ": ", status.message()));
}

// The text of the header, and the data behind it.
absl::Status Split(std::string_view bytes, std::string_view& header,
                   std::string_view& data) {
  if (bytes.substr(0, kMagic.size()) != kMagic.substr(0, bytes.size())) {
    return absl::DataLossError("not a .npy file");
  }
  if (bytes.size() < kMagic.size() + 2) {
    return absl::DataLossError("truncated in the header");
  }
  const int major = static_cast<uint8_t>(bytes[kMagic.size()]);
  const int minor = static_cast<uint8_t>(bytes[kMagic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    return absl::UnimplementedError(
        absl::StrCat("version ", major, ".", minor, " of the format"));
  }
  const size_t width = major == 1 ? 2 : 4;  // of the header's length
  const size_t begin = kMagic.size() + 2 + width;
  uint64_t length = 0;
  for (size_t i = 0; i < width && begin <= bytes.size(); ++i) {
    length |= uint64_t{static_cast<uint8_t>(bytes[kMagic.size() + 2 + i])}
              << (8 * i);
  }
  if (bytes.size() < begin || length > bytes.size() - begin) {
    return absl::DataLossError("truncated in the header");
  }
  header = bytes.substr(begin, length);
  data = bytes.substr(begin + length);
  return absl::OkStatus();
}

absl::StatusOr<Array> ParseArray(std::string_view bytes) {
  std::string_view text, data;
  absl::Status status = Split(bytes, text, data);
  if (!status.ok()) return status;
  const absl::StatusOr<Header> header = ParseHeader(text);
  if (!header.ok()) return header.status();
  const absl::StatusOr<Type> type = TypeOf(header->descr);
  if (!type.ok()) return type.status();
  Array array;
  array.type = *type;
  array.shape = header->shape;
  // Against the data before anything is multiplied beyond their number; a size
  // of 0 makes the product 0 whatever the others are.
  int64_t expected = TypeBytes(*type);
  for (const int64_t size : array.shape) {
    if (size == 0) expected = 0;
  }
  for (const int64_t size : array.shape) {
    if (expected == 0) break;
    if (size > static_cast<int64_t>(data.size()) / expected) {
      return absl::DataLossError(
          absl::StrFormat("truncated: %s needs more than %d bytes of data",
                          Describe(array), data.size()));
    }
    expected *= size;
  }
  if (static_cast<int64_t>(data.size()) != expected) {
    return absl::DataLossError(absl::StrFormat(
        "%s: %s has %d bytes of data, there are %d",
        static_cast<int64_t>(data.size()) < expected ? "truncated" : "too long",
        Describe(array), expected, data.size()));
  }
  array.bytes = header->fortran_order
                    ? ToRowMajor(array.shape, TypeBytes(*type), data)
                    : std::vector<uint8_t>(data.begin(), data.end());
  return array;
}

}  // namespace

const char* TypeName(Type type) { return InfoOf(type).name; }
int64_t TypeBytes(Type type) { return InfoOf(type).bytes; }

int64_t Array::elements() const {
  // A product with a 0 in it must not overflow before it.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

std::string Describe(const Array& array) {
  return absl::StrCat(TypeName(array.type), " (",
                      absl::StrJoin(array.shape, ", "),
                      array.shape.size() == 1 ? ",)" : ")");
}

absl::StatusOr<Array> Parse(std::string_view bytes, const std::string& name) {
  absl::StatusOr<Array> array = ParseArray(bytes);
  if (!array.ok()) return Prefixed(name, array.status());
  return array;
}

absl::StatusOr<Array> Read(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  const FileKind kind = KindOfBytes(*bytes, path);
  if (kind != FileKind::kNpy && kind != FileKind::kUnknown)
    return WrongKind(path, kind, "an array (.npy)");
  return Parse(*bytes, path);
}

std::string Serialize(const Array& array) {
  std::string header = absl::StrCat("{'descr': '", InfoOf(array.type).descr,
                                    "', 'fortran_order': False, 'shape': (",
                                    absl::StrJoin(array.shape, ", "),
                                    array.shape.size() == 1 ? ",), }" : "), }");
  const size_t before = kMagic.size() + 4;
  const size_t end =
      (before + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.resize(end - before - 1, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(array.bytes.data()),
               array.bytes.size());
  return bytes;
}

absl::Status Write(const Array& array, const std::string& path) {
  return WriteFile(Serialize(array), path);
}

}  // namespace systole::npy
