// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Little-endian fields, strings and lists of the program file and of its
// sections: docs/program_file.md.
#ifndef SYSTOLE_HOST_PROGRAM_CODEC_H_
#define SYSTOLE_HOST_PROGRAM_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/program/format.h"

namespace systole::program_file {

class Writer {
 public:
  void Bytes(const void* data, size_t size) {
    const auto* from = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  void Unsigned(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void U8(uint8_t v) { Unsigned(v, 1); }
  void U32(uint32_t v) { Unsigned(v, 4); }
  void U64(uint64_t v) { Unsigned(v, 8); }
  void I64(int64_t v) { U64(static_cast<uint64_t>(v)); }
  void F32(float v) {
    uint32_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    U32(bits);
  }
  void String(std::string_view s) {
    U32(static_cast<uint32_t>(s.size()));
    Bytes(s.data(), s.size());
  }
  void PatchU64(size_t at, uint64_t value) {
    for (int i = 0; i < 8; ++i)
      bytes_[at + i] = static_cast<uint8_t>(value >> (8 * i));
  }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// Reads little-endian fields of [begin, end). After a failure every read gives
// zero and ok() is false.
class Reader {
 public:
  Reader(const uint8_t* begin, const uint8_t* end) : at_(begin), end_(end) {}

  bool ok() const { return ok_; }
  size_t left() const { return end_ - at_; }

  const uint8_t* Bytes(size_t size) {
    if (!ok_ || size > left()) {
      ok_ = false;
      return nullptr;
    }
    return std::exchange(at_, at_ + size);
  }
  uint64_t Unsigned(int bytes) {
    const uint8_t* from = Bytes(bytes);
    uint64_t value = 0;
    for (int i = 0; from != nullptr && i < bytes; ++i)
      value |= uint64_t{from[i]} << (8 * i);
    return value;
  }
  uint8_t U8() { return static_cast<uint8_t>(Unsigned(1)); }
  uint32_t U32() { return static_cast<uint32_t>(Unsigned(4)); }
  uint64_t U64() { return Unsigned(8); }
  int64_t I64() { return static_cast<int64_t>(Unsigned(8)); }
  float F32() {
    const uint32_t bits = U32();
    float v;
    std::memcpy(&v, &bits, sizeof v);
    return v;
  }
  std::string String(size_t most = program_file::kMaxName) {
    const uint32_t size = U32();
    if (size > most) ok_ = false;
    const uint8_t* from = Bytes(ok_ ? size : 0);
    return from == nullptr
               ? std::string()
               : std::string(reinterpret_cast<const char*>(from), size);
  }
  // A number of records of at least `bytes` bytes each: more than fit cannot be
  // right.
  uint32_t Count(size_t bytes) {
    const uint32_t count = U32();
    if (count > left() / bytes) ok_ = false;
    return ok_ ? count : 0;
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

}  // namespace systole::program_file

#endif  // SYSTOLE_HOST_PROGRAM_CODEC_H_
