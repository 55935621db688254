// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads the primitives of MLIR bytecode, bounds checked. The first error is
// kept: from then on every read returns zero or nothing, and Count returns 0,
// so that callers need to look only where they are done.
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
  // `part` lies in `file`: offsets in messages count from its begin.
  ByteReader(absl::string_view file, absl::string_view part)
      : file_(file), at_(part.data() - file.data()), end_(at_ + part.size()) {}

  bool ok() const { return status_.ok(); }
  // DataLoss: "offset 123: ...".
  const absl::Status& status() const { return status_; }
  size_t offset() const { return at_; }
  size_t remaining() const { return end_ - at_; }
  bool empty() const { return at_ == end_; }

  uint8_t Byte();
  // One to nine bytes; the zeros below the first one in the first byte's bits
  // count those behind it.
  uint64_t VarInt();
  // Zigzag: the sign is the lowest bit.
  int64_t SignedVarInt();
  // How many items follow that take a byte or more each.
  size_t Count();
  absl::string_view Bytes(uint64_t size);
  // Up to a zero byte, which is skipped.
  absl::string_view Text();
  // Skips padding up to a multiple of `alignment`, from the file's begin.
  void Align(uint64_t alignment);
  // An index below `limit`; `what` names it in the message.
  size_t Index(size_t limit, const char* what) {
    return CheckIndex(VarInt(), limit, what);
  }
  size_t CheckIndex(uint64_t index, size_t limit, const char* what);

  // Takes over the error of a reader of a part, if there is one.
  void Absorb(const ByteReader& part) {
    if (!status_.ok() || part.ok()) return;
    status_ = part.status_;
    at_ = end_;
  }

  // Keeps the error of the first call.
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
