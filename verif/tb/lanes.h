// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Copies the lanes of a chip's links between a model's pins, which are one bit
// string, and the words of PinsIn and PinsOut.

#ifndef SYSTOLE_VERIF_TB_LANES_H_
#define SYSTOLE_VERIF_TB_LANES_H_

#include <algorithm>
#include <cstdint>

#include "verif/tb/core_model.h"

namespace systole::tb {

// Copies `bits` bits. Both strings consist of whole words, lowest bit first.
inline void CopyBits(const uint32_t* from, int from_bit, uint32_t* to,
                     int to_bit, int bits) {
  while (bits > 0) {
    const int in = from_bit % 32, out = to_bit % 32;
    const int count = std::min({bits, 32 - in, 32 - out});
    const uint32_t mask = count == 32 ? ~0u : (1u << count) - 1;
    const uint32_t value = from[from_bit / 32] >> in & mask;
    to[to_bit / 32] = (to[to_bit / 32] & ~(mask << out)) | value << out;
    from_bit += count;
    to_bit += count;
    bits -= count;
  }
}

// Bits of a link: four lanes, each with a tag and a quarter of the bytes.
constexpr int LinkBits(int link_bytes) { return 4 * 2 + 8 * link_bytes; }

inline void ToPins(const LanePins& lanes, int link_bytes, uint32_t* pins) {
  const int bits = LinkBits(link_bytes);
  for (int l = 0; l < kLinks; ++l)
    CopyBits(lanes[l].data(), 0, pins, l * bits, bits);
}

inline void FromPins(const uint32_t* pins, int link_bytes, LanePins* lanes) {
  const int bits = LinkBits(link_bytes);
  for (int l = 0; l < kLinks; ++l)
    CopyBits(pins, l * bits, (*lanes)[l].data(), 0, bits);
}

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_LANES_H_
