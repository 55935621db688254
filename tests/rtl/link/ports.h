// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bits of a Verilated model's port, whatever its width.

#ifndef SYSTOLE_TESTS_RTL_LINK_PORTS_H_
#define SYSTOLE_TESTS_RTL_LINK_PORTS_H_

#include <cstdint>
#include <type_traits>

namespace systole::link_test {

template <typename Port>
uint64_t GetBits(const Port& port, int lsb, int bits) {
  if constexpr (std::is_integral_v<Port>) {
    return static_cast<uint64_t>(port) >> lsb & ((uint64_t{1} << bits) - 1);
  } else {
    const uint64_t low = port[lsb / 32];
    const uint64_t high =
        lsb % 32 + bits > 32 ? uint64_t{port[lsb / 32 + 1]} : 0;
    return (low | high << 32) >> lsb % 32 & ((uint64_t{1} << bits) - 1);
  }
}

template <typename Port>
void SetBits(Port* port, int lsb, int bits, uint64_t value) {
  if constexpr (std::is_integral_v<Port>) {
    const uint64_t mask = ((uint64_t{1} << bits) - 1) << lsb;
    *port = static_cast<Port>((*port & ~mask) | (value << lsb & mask));
  } else {
    const int shift = lsb % 32;
    const uint64_t mask = ((uint64_t{1} << bits) - 1) << shift;
    auto& low = (*port)[lsb / 32];
    low = static_cast<uint32_t>((low & ~mask) | (value << shift & mask));
    if (shift + bits > 32) {
      auto& high = (*port)[lsb / 32 + 1];
      high = static_cast<uint32_t>((high & ~(mask >> 32)) |
                                   (value << shift & mask) >> 32);
    }
  }
}

}  // namespace systole::link_test

#endif  // SYSTOLE_TESTS_RTL_LINK_PORTS_H_
