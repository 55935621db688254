// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Arrays in NumPy's .npy format, versions 1.0, 2.0 and 3.0: numbers of a fixed
// size, little endian. Arrays in Fortran's order are put into C's.
//
//   absl::StatusOr<npy::Array> images = npy::Read("images.npy");
//   if (!images.ok()) return images.status();  // names the file
#ifndef SYSTOLE_HOST_NPY_NPY_H_
#define SYSTOLE_HOST_NPY_NPY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace systole::npy {

// kBfloat16: what NumPy, which has no such type, writes of ml_dtypes' as two
// bytes without a meaning; it is read as them too.
enum class Type {
  kInt8,
  kUint8,
  kInt16,
  kInt32,
  kInt64,
  kFloat32,
  kFloat64,
  kBool,
  kUint16,
  kUint32,
  kUint64,
  kFloat16,
  kBfloat16,
  kComplex64,
};

// "int8", as NumPy calls it.
const char* TypeName(Type type);
int64_t TypeBytes(Type type);

constexpr int kMaxRank = 32;

struct Array {
  Type type = Type::kInt8;
  std::vector<int64_t> shape;  // of rank 0: one value
  std::vector<uint8_t> bytes;  // row-major, little endian

  int64_t elements() const;
};

// "int8 (4, 32, 32, 3)".
std::string Describe(const Array& array);

// Errors: NotFound and Unavailable (the file), DataLoss (no .npy file, or a
// truncated one), InvalidArgument (a header that breaks the format),
// Unimplemented (other types, big endian). Messages begin with `name`.
absl::StatusOr<Array> Parse(std::string_view bytes, const std::string& name);
absl::StatusOr<Array> Read(const std::string& path);

// Version 1.0, the data at a multiple of 64 bytes, as NumPy writes it.
std::string Serialize(const Array& array);
// Writes beside the file and renames.
absl::Status Write(const Array& array, const std::string& path);

}  // namespace systole::npy

#endif  // SYSTOLE_HOST_NPY_NPY_H_
