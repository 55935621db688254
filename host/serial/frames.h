// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Frames of the host link (docs/fpga.md): content and CRC-32 between flags.
//
//   std::vector<uint8_t> wire;
//   AppendFrame(content, &wire);
//   FrameReader reader;
//   for (uint8_t byte : received)
//     if (reader.Add(byte)) Use(reader.content());
#ifndef SYSTOLE_HOST_SERIAL_FRAMES_H_
#define SYSTOLE_HOST_SERIAL_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace systole::serial {

inline constexpr uint8_t kFlag = 0x7e, kEscape = 0x7d, kEscapeXor = 0x20;
inline constexpr uint8_t kVersion = 2;
inline constexpr size_t kHeaderBytes = 9;
inline constexpr size_t kMaxData = 1024;  // bytes of memory in a frame

// Operations; a response has the uppermost bit too.
enum class Op : uint8_t {
  kNone = 0,  // response only: a frame that could not be read
  kHello = 1,
  kReadRegister = 2,
  kWriteRegister = 3,
  kReadMemory = 4,
  kWriteMemory = 5,
};
inline constexpr uint8_t kResponseBit = 0x80;

// The last byte of a response, without its uppermost bit: a write since the
// hello met a bus error.
enum class Answer : uint8_t {
  kOk = 0,
  kBus = 1,
  kRequest = 2,
  kOrder = 3,
  kSession = 4,  // no hello since the board's reset
};
inline constexpr uint8_t kWriteFailedBit = 0x80;

void AppendFrame(absl::Span<const uint8_t> content, std::vector<uint8_t>* wire);

// A request: its header, and the data of a write. `length`: bytes to read.
std::vector<uint8_t> MakeRequest(Op op, uint8_t number, uint64_t address,
                                 size_t length, absl::Span<const uint8_t> data);

// Finds frames in a stream of bytes.
class FrameReader {
 public:
  // True when the byte ends a good frame.
  bool Add(uint8_t byte);
  // Of the last good frame, without its CRC.
  const std::vector<uint8_t>& content() const { return content_; }
  uint64_t bad_frames() const { return bad_; }

 private:
  std::vector<uint8_t> bytes_, content_;
  bool escape_ = false;
  uint64_t bad_ = 0;
};

}  // namespace systole::serial

#endif  // SYSTOLE_HOST_SERIAL_FRAMES_H_
