// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/scalar.h"

#include <cmath>

namespace systole::ir {

Float16::Float16(float value) {
  const uint32_t b = BitsOf(value);
  const uint32_t sign = b >> 16 & 0x8000;
  const uint32_t magnitude = b & 0x7FFFFFFF;
  if (magnitude > kInfinityBits) {
    bits = 0x7E00;
  } else if (magnitude >= 0x477FF000) {  // halfway from 65504 to 2^16
    bits = static_cast<uint16_t>(sign | 0x7C00);
  } else if (magnitude >= 0x38800000) {  // 2^-14: normal
    const uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
    bits = static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
  } else {  // multiples of 2^-24; the default rounding is to nearest even
    const float units = std::nearbyint(std::ldexp(FromBits(magnitude), 24));
    bits = static_cast<uint16_t>(sign | static_cast<uint32_t>(units));
  }
}

Float16::operator float() const {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 0x3FF;
  float magnitude;
  if (exponent == 31) {
    magnitude = fraction ? FromBits(kNanBits) : FromBits(kInfinityBits);
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

}  // namespace systole::ir
