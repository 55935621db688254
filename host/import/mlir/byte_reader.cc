// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/mlir/byte_reader.h"

namespace systole::mlir {
namespace {

constexpr uint8_t kPadding = 0xcb;

}  // namespace

void ByteReader::SetError(const std::string& message) {
  status_ = absl::DataLossError(absl::StrCat("offset ", at_, ": ", message));
  at_ = end_;
}

uint8_t ByteReader::Byte() {
  if (empty()) {
    Fail("the data ends early");
    return 0;
  }
  return static_cast<uint8_t>(file_[at_++]);
}

uint64_t ByteReader::VarInt() {
  const uint8_t first = Byte();
  if (!ok()) return 0;
  int more = 0;
  while (more < 8 && (first >> more & 1) == 0) ++more;
  if (remaining() < static_cast<size_t>(more)) {
    Fail("the data ends in an integer");
    return 0;
  }
  uint64_t value = more < 7 ? first >> (more + 1) : 0;
  const int low = more < 7 ? 7 - more : 0;  // bits of the first byte
  for (int i = 0; i < more; ++i) {
    value |= uint64_t{static_cast<uint8_t>(file_[at_++])} << (low + 8 * i);
  }
  return value;
}

int64_t ByteReader::SignedVarInt() {
  const uint64_t value = VarInt();
  return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

size_t ByteReader::Count() {
  const uint64_t count = VarInt();
  if (count > remaining()) {
    Fail(count, " items where ", remaining(), " bytes are left");
    return 0;
  }
  return count;
}

absl::string_view ByteReader::Bytes(uint64_t size) {
  if (size > remaining()) {
    Fail(size, " bytes where ", remaining(), " are left");
    return {};
  }
  const absl::string_view bytes = file_.substr(at_, size);
  at_ += size;
  return bytes;
}

absl::string_view ByteReader::Text() {
  const absl::string_view rest = file_.substr(at_, remaining());
  const size_t size = rest.find('\0');
  if (size == absl::string_view::npos) {
    Fail("a text without its end");
    return {};
  }
  at_ += size + 1;
  return rest.substr(0, size);
}

void ByteReader::Align(uint64_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    Fail("alignment ", alignment, " is no power of two");
    return;
  }
  while (ok() && (at_ & (alignment - 1)) != 0) {
    const uint8_t byte = Byte();
    if (ok() && byte != kPadding) Fail("padding expected, not ", int{byte});
  }
}

size_t ByteReader::CheckIndex(uint64_t index, size_t limit, const char* what) {
  if (index < limit) return index;
  Fail(what, " ", index, " of ", limit);
  return 0;
}

}  // namespace systole::mlir
