// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/link/format.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_format.h"

namespace systole::link_test {
namespace {

constexpr int kSpare = link::kSliceBytes - link::kCrcBytes;  // before the CRC

auto Tie(const Packet& p) {
  return std::tie(p.kind, p.tie, p.dst_x, p.dst_y, p.dst_core, p.src_x, p.src_y,
                  p.src_core, p.address, p.payload);
}

// The bytes of a slice over all flits.
Bytes Slice(const std::vector<Bytes>& flits, int slice) {
  Bytes bytes;
  for (const Bytes& flit : flits) {
    const auto begin = flit.begin() + slice * link::kSliceBytes;
    bytes.insert(bytes.end(), begin, begin + link::kSliceBytes);
  }
  return bytes;
}

uint32_t SliceCrc(const std::vector<Bytes>& flits, int slice) {
  const Bytes bytes = Slice(flits, slice);
  return ~Crc(link::kCrcStart ^ static_cast<uint32_t>(slice), bytes.data(),
              static_cast<int>(bytes.size()) - link::kCrcBytes);
}

}  // namespace

bool operator==(const Packet& a, const Packet& b) { return Tie(a) == Tie(b); }

int Packet::FlitCount(int flit_bytes) const {
  return 1 + (static_cast<int>(payload.size()) + flit_bytes - 1) / flit_bytes;
}

std::string Packet::Name() const {
  return absl::StrFormat(
      "kind %d vc %d of %d.%d.%d for %d.%d.%d at %d, %d bytes",
      static_cast<int>(kind), vc, src_x, src_y, src_core, dst_x, dst_y,
      dst_core, address, payload.size());
}

uint64_t GetField(const uint8_t* bytes, link::Field field) {
  uint64_t value = 0;
  for (int i = 0; i < field.bits; ++i) {
    const int bit = field.lsb + i;
    value |= uint64_t{bytes[bit / 8] >> (bit % 8) & 1u} << i;
  }
  return value;
}

void SetField(uint8_t* bytes, link::Field field, uint64_t value) {
  for (int i = 0; i < field.bits; ++i) {
    const int bit = field.lsb + i;
    const int mask = 1 << (bit % 8);
    bytes[bit / 8] = static_cast<uint8_t>((bytes[bit / 8] & ~mask) |
                                          (value >> i & 1 ? mask : 0));
  }
}

uint32_t Crc(uint32_t state, const uint8_t* data, int count) {
  for (int i = 0; i < count; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      const uint32_t out = (state ^ data[i] >> bit) & 1;
      state = state >> 1 ^ (out ? link::kCrcPolynomial : 0);
    }
  }
  return state;
}

std::vector<Bytes> FlitsOf(const Packet& p, int flit_bytes) {
  std::vector<Bytes> flits(p.FlitCount(flit_bytes), Bytes(flit_bytes));
  uint8_t* const head = flits[0].data();
  SetField(head, link::head::kKind, static_cast<uint64_t>(p.kind));
  SetField(head, link::head::kVc, p.vc);
  SetField(head, link::head::kTie, p.tie);
  SetField(head, link::head::kLength, p.payload.size());
  SetField(head, link::head::kDstX, p.dst_x);
  SetField(head, link::head::kDstY, p.dst_y);
  SetField(head, link::head::kDstCore, p.dst_core);
  SetField(head, link::head::kSrcX, p.src_x);
  SetField(head, link::head::kSrcY, p.src_y);
  SetField(head, link::head::kSrcCore, p.src_core);
  SetField(head, link::head::kAddress, p.address);
  // Within its slice, a byte of payload comes four bytes before the end of
  // the flit before: head and CRC together take a slice.
  for (int i = 0; i < static_cast<int>(p.payload.size()); ++i) {
    const int flit = i / flit_bytes, slice = i % flit_bytes / link::kSliceBytes;
    const int at = flit * link::kSliceBytes + i % link::kSliceBytes + kSpare;
    flits[at / link::kSliceBytes]
         [slice * link::kSliceBytes + at % link::kSliceBytes] = p.payload[i];
  }
  return flits;
}

Packet PacketOf(const std::vector<Bytes>& flits) {
  const uint8_t* const head = flits[0].data();
  const auto get = [&](link::Field f) {
    return static_cast<int>(GetField(head, f));
  };
  Packet p;
  p.kind = static_cast<link::Kind>(get(link::head::kKind));
  p.vc = get(link::head::kVc);
  p.tie = get(link::head::kTie);
  p.dst_x = get(link::head::kDstX);
  p.dst_y = get(link::head::kDstY);
  p.dst_core = get(link::head::kDstCore);
  p.src_x = get(link::head::kSrcX);
  p.src_y = get(link::head::kSrcY);
  p.src_core = get(link::head::kSrcCore);
  p.address = GetField(head, link::head::kAddress);
  const int flit_bytes = static_cast<int>(flits[0].size());
  const int length =
      std::min(get(link::head::kLength),
               (static_cast<int>(flits.size()) - 1) * flit_bytes);
  for (int i = 0; i < length; ++i) {
    const int flit = i / flit_bytes, slice = i % flit_bytes / link::kSliceBytes;
    const int at = flit * link::kSliceBytes + i % link::kSliceBytes + kSpare;
    p.payload.push_back(
        flits[at / link::kSliceBytes]
             [slice * link::kSliceBytes + at % link::kSliceBytes]);
  }
  return p;
}

void Seal(std::vector<Bytes>* flits) {
  const int slices = static_cast<int>(flits->back().size()) / link::kSliceBytes;
  for (int s = 0; s < slices; ++s) {
    const uint32_t crc = SliceCrc(*flits, s);
    for (int i = 0; i < link::kCrcBytes; ++i) {
      flits->back()[s * link::kSliceBytes + kSpare + i] =
          static_cast<uint8_t>(crc >> 8 * i);
    }
  }
}

bool Sealed(const std::vector<Bytes>& flits) {
  std::vector<Bytes> sealed = flits;
  Seal(&sealed);
  return sealed == flits;
}

int FlitsAfter(const Bytes& first) {
  const auto kind =
      static_cast<link::Kind>(GetField(first.data(), link::head::kKind));
  const int length =
      static_cast<int>(GetField(first.data(), link::head::kLength));
  const int flit = static_cast<int>(first.size());
  switch (kind) {
    case link::Kind::kWrite:
      if (length < 1 || length > link::kPayloadFlits * flit) return -1;
      return (length + flit - 1) / flit;
    case link::Kind::kPost:
    case link::Kind::kPoison:
      return length == 0 ? 0 : -1;
    case link::Kind::kCtrl:
      return 0;
    default:
      return -1;
  }
}

}  // namespace systole::link_test
