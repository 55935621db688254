// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/link/end.h"

namespace systole::link_test {

Packet RandomPacket(std::mt19937_64* random, Width width) {
  std::mt19937_64& r = *random;
  Packet p;
  const int most = link::kPayloadFlits * width.flit;
  const int kind = static_cast<int>(r() % 8);
  p.kind = kind < 5    ? link::Kind::kWrite
           : kind == 7 ? link::Kind::kPoison
                       : link::Kind::kPost;
  p.vc = r() % 2;
  p.tie = r() % 2;
  p.dst_x = r() % 32;
  p.dst_y = r() % 32;
  p.dst_core = r() % 2;
  p.src_x = r() % 32;
  p.src_y = r() % 32;
  p.src_core = r() % 2;
  p.address = r() >> 28;
  if (p.kind == link::Kind::kWrite) {
    // Whole packets, short ones, and any.
    const int length = r() % 3 == 0   ? most
                       : r() % 2 == 0 ? 1 + static_cast<int>(r() % 40)
                                      : 1 + static_cast<int>(r() % most);
    p.payload.resize(length);
    for (uint8_t& byte : p.payload) byte = static_cast<uint8_t>(r());
  }
  return p;
}

}  // namespace systole::link_test
