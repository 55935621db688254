// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads the primitives of MLIR bytecode with bounds checks. The first error is
// kept. After it every read returns zero or nothing and Count returns 0, so
// callers only need to check at the end.
//
//   ByteReader reader(file);
//   for (size_t left = reader.Count(); left > 0; --left) Use(reader.VarInt());
//   if (!reader.ok()) return reader.status();
#ifndef SYSTOLE_HOST_IMPORT_MLIR_BYTE_READER_H_
#define SYSTOLE_HOST_IMPORT_MLIR_BYTE_READER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace systole::mlir {

class ByteReader {
 public:
  explicit ByteReader(absl::string_view file)
      : file_(file), at_(0), end_(file.size()) {}
  // `part` is a part of `file`. Offsets in messages count from the beginning of
  // the file.
  ByteReader(absl::string_view file, absl::string_view part)
      : file_(file), at_(part.data() - file.data()), end_(at_ + part.size()) {}

  bool ok() const { return status_.ok(); }
  // DataLoss: "offset 123: ...".
  const absl::Status& status() const { return status_; }
  size_t offset() const { return at_; }
  size_t remaining() const { return end_ - at_; }
  bool empty() const { return at_ == end_; }

  uint8_t Byte();
  // One to nine bytes. The number of trailing zero bits of the first byte is
  // the number of bytes after it.
  uint64_t VarInt();
  // Zigzag: the sign is the lowest bit.
  int64_t SignedVarInt();
  // Number of items that follow, each of at least one byte.
  size_t Count();
  absl::string_view Bytes(uint64_t size);
  // The text up to a zero byte, which is skipped.
  absl::string_view Text();
  // Skips padding up to a multiple of `alignment`, counted from the beginning
  // of the file.
  void Align(uint64_t alignment);
  // Reads an index and checks that it is below `limit`; `what` names it in the
  // message.
  size_t Index(size_t limit, const char* what) {
    return CheckIndex(VarInt(), limit, what);
  }
  size_t CheckIndex(uint64_t index, size_t limit, const char* what);

  // Takes over the error of the reader of a part, if it has one.
  void Absorb(const ByteReader& part) {
    if (!status_.ok() || part.ok()) return;
    status_ = part.status_;
    at_ = end_;
  }

  // Keeps the error of the first call only.
  template <typename... Parts>
  void Fail(const Parts&... parts) {
    if (status_.ok()) SetError(absl::StrCat(parts...));
  }

 private:
  void SetError(const std::string& message);

  absl::string_view file_;
  size_t at_, end_;
  absl::Status status_;
};

}  // namespace systole::mlir

#endif  // SYSTOLE_HOST_IMPORT_MLIR_BYTE_READER_H_
