// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Packets of the links between chips, as docs/link.md and the reference page
// specify them: heads, flits, CRC, symbols. Written from the specification;
// nothing here is taken from the RTL.

#ifndef SYSTOLE_TESTS_RTL_LINK_FORMAT_H_
#define SYSTOLE_TESTS_RTL_LINK_FORMAT_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "systole/gen/link.h"

namespace systole::link_test {

using Bytes = std::vector<uint8_t>;

// Widths of a link. flit: bytes of a flit, a multiple of 16; lane: bytes that a
// lane carries in a cycle.
struct Width {
  int flit, lane;
};

struct Packet {
  link::Kind kind = link::Kind::kWrite;
  int vc = 0, tie = 0;
  int dst_x = 0, dst_y = 0, dst_core = 0, src_x = 0, src_y = 0, src_core = 0;
  uint64_t address = 0;
  Bytes payload;

  int FlitCount(int flit_bytes) const;
  std::string Name() const;
};
// All but the virtual channel, which routers change.
bool operator==(const Packet& a, const Packet& b);

uint64_t GetField(const uint8_t* bytes, link::Field field);
void SetField(uint8_t* bytes, link::Field field, uint64_t value);

// CRC-32C, a bit at a time.
uint32_t Crc(uint32_t state, const uint8_t* data, int count);

// A packet's flits without number and CRC, whose bytes are 0.
std::vector<Bytes> FlitsOf(const Packet& packet, int flit_bytes);
Packet PacketOf(const std::vector<Bytes>& flits);

// Puts the CRCs of all slices in; whether they are right.
void Seal(std::vector<Bytes>* flits);
bool Sealed(const std::vector<Bytes>& flits);
// Flits that follow a packet's first one, or -1 if the head is of no packet.
int FlitsAfter(const Bytes& first);

// What a lane carries in a cycle.
struct Symbol {
  link::Tag tag = link::Tag::kQuiet;
  std::array<uint8_t, 16> bytes = {};
};
using Symbols = std::array<Symbol, link::kLanes>;

}  // namespace systole::link_test

#endif  // SYSTOLE_TESTS_RTL_LINK_FORMAT_H_
