// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// CRC-32 as of Ethernet: zlib has it.

#include "host/serial/frames.h"

#include <zlib.h>

namespace systole::serial {
namespace {

constexpr size_t kCrcBytes = 4;

uint32_t Crc(absl::Span<const uint8_t> bytes) {
  return static_cast<uint32_t>(
      crc32(0, bytes.data(), static_cast<uInt>(bytes.size())));
}

void AppendEscaped(uint8_t byte, std::vector<uint8_t>* wire) {
  if (byte == kFlag || byte == kEscape) {
    wire->push_back(kEscape);
    byte ^= kEscapeXor;
  }
  wire->push_back(byte);
}

}  // namespace

void AppendFrame(absl::Span<const uint8_t> content,
                 std::vector<uint8_t>* wire) {
  wire->push_back(kFlag);
  for (uint8_t byte : content) AppendEscaped(byte, wire);
  const uint32_t crc = Crc(content);
  for (size_t i = 0; i < kCrcBytes; ++i)
    AppendEscaped(static_cast<uint8_t>(crc >> (8 * i)), wire);
  wire->push_back(kFlag);
}

std::vector<uint8_t> MakeRequest(Op op, uint8_t number, uint64_t address,
                                 size_t length,
                                 absl::Span<const uint8_t> data) {
  std::vector<uint8_t> request = {static_cast<uint8_t>(op), number};
  for (int i = 0; i < 5; ++i)
    request.push_back(static_cast<uint8_t>(address >> (8 * i)));
  const size_t encoded = length == 0 ? 0 : length - 1;
  request.push_back(static_cast<uint8_t>(encoded));
  request.push_back(static_cast<uint8_t>(encoded >> 8));
  request.insert(request.end(), data.begin(), data.end());
  return request;
}

bool FrameReader::Add(uint8_t byte) {
  if (byte == kEscape) {
    escape_ = true;
    return false;
  }
  if (byte != kFlag) {
    bytes_.push_back(escape_ ? byte ^ kEscapeXor : byte);
    escape_ = false;
    return false;
  }
  bool good = !escape_ && bytes_.size() > kCrcBytes;
  if (good) {
    const size_t size = bytes_.size() - kCrcBytes;
    const uint32_t crc = Crc(absl::MakeConstSpan(bytes_).first(size));
    for (size_t i = 0; i < kCrcBytes; ++i)
      good = good && bytes_[size + i] == static_cast<uint8_t>(crc >> (8 * i));
    if (good) content_.assign(bytes_.begin(), bytes_.begin() + size);
  }
  if (!good && !bytes_.empty()) ++bad_;
  bytes_.clear();
  escape_ = false;
  return good;
}

}  // namespace systole::serial
