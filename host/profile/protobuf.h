// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Protocol buffer messages, written field by field: what two formats of traces
// need, without their schemas and a generator.
//
//   Message event;
//   event.Uint(9, 1).Text(23, "matmul");
//   packet.Sub(11, event);
#ifndef SYSTOLE_HOST_PROFILE_PROTOBUF_H_
#define SYSTOLE_HOST_PROFILE_PROTOBUF_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace systole::profile {

class Message {
 public:
  Message& Uint(uint32_t field, uint64_t value) {
    Varint(field << 3);
    Varint(value);
    return *this;
  }
  Message& Fixed64(uint32_t field, uint64_t value) {
    Varint(field << 3 | 1);
    for (int i = 0; i < 64; i += 8)
      bytes_.push_back(static_cast<char>(value >> i));
    return *this;
  }
  Message& Double(uint32_t field, double value) {
    uint64_t bits;
    static_assert(sizeof(bits) == sizeof(value));
    std::memcpy(&bits, &value, sizeof(bits));
    return Fixed64(field, bits);
  }
  Message& Text(uint32_t field, std::string_view text) {
    Varint(field << 3 | 2);
    Varint(text.size());
    bytes_.append(text);
    return *this;
  }
  Message& Sub(uint32_t field, const Message& message) {
    return Text(field, message.bytes_);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(uint64_t value) {
    for (; value >= 128; value >>= 7)
      bytes_.push_back(static_cast<char>(value | 128));
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

}  // namespace systole::profile

#endif  // SYSTOLE_HOST_PROFILE_PROTOBUF_H_
