// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/vpu/reference.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace systole::vpu_test {
namespace {

using vpu::Op;

constexpr uint32_t kNan = 0x7FC00000;

float Value(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}

uint32_t Bits(float f) {
  if (std::isnan(f)) return kNan;
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}

uint32_t Mask(bool condition) { return condition ? ~uint32_t{0} : 0; }

// By value, with -0 below +0.
bool Below(float a, float b) {
  if (a == 0 && b == 0) return std::signbit(a) && !std::signbit(b);
  return a < b;
}

uint32_t ToInt(double x) {
  if (std::isnan(x)) return 0;
  if (x >= 2147483647.0) return 0x7FFFFFFF;
  if (x <= -2147483648.0) return 0x80000000;
  return static_cast<uint32_t>(static_cast<int32_t>(x));
}

// To bf16, kept as fp32: the two neighbours, and which of them is nearer.
uint32_t ToHalf(uint32_t x) {
  const float f = Value(x);
  if (std::isnan(f)) return kNan;
  if (std::isinf(f)) return x;
  const uint32_t low = x & 0xFFFF0000, high = low + 0x10000;
  const double below = Value(low);
  // Above the largest number the next one would be 2^128.
  const double above = (high & 0x7FFFFFFF) == 0x7F800000
                           ? std::copysign(std::ldexp(1.0, 128), f)
                           : Value(high);
  const double up = std::fabs(above - f), down = std::fabs(f - below);
  if (down < up) return low;
  if (up < down) return high;
  return (low & 0x10000) ? high : low;
}

uint32_t Mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7FEB352D;
  x ^= x >> 15;
  x *= 0x846CA68B;
  return x ^ x >> 16;
}

}  // namespace

uint32_t Lane(Op op, uint32_t a, uint32_t b, uint32_t c) {
  const float x = Value(a), y = Value(b), z = Value(c);
  const int32_t i = static_cast<int32_t>(a), j = static_cast<int32_t>(b);
  const bool nan = std::isnan(x) || std::isnan(y);
  switch (op) {
    case Op::kFadd:
      return Bits(x + y);
    case Op::kFsub:
      return Bits(x - y);
    case Op::kFmul:
      return Bits(x * y);
    case Op::kFma:
      return Bits(std::fma(x, y, z));
    case Op::kFnma:
      return Bits(std::fma(-x, y, z));
    case Op::kFmin:
      return nan ? kNan : Below(x, y) ? a : b;
    case Op::kFmax:
      return nan ? kNan : Below(x, y) ? b : a;
    case Op::kFeq:
      return Mask(x == y);
    case Op::kFlt:
      return Mask(x < y);
    case Op::kFle:
      return Mask(x <= y);
    case Op::kSel:
      return a != 0 ? b : c;
    case Op::kIadd:
      return a + b;
    case Op::kIsub:
      return a - b;
    case Op::kImul:
      return static_cast<uint32_t>(uint64_t{a} * b);
    case Op::kIlt:
      return Mask(i < j);
    case Op::kIeq:
      return Mask(a == b);
    case Op::kImin:
      return i < j ? a : b;
    case Op::kImax:
      return i > j ? a : b;
    case Op::kIand:
      return a & b;
    case Op::kIor:
      return a | b;
    case Op::kIxor:
      return a ^ b;
    case Op::kShl:
      return a << (b % 32);
    case Op::kShr:
      return a >> (b % 32);
    case Op::kSar:
      return static_cast<uint32_t>(static_cast<int64_t>(
          std::floor(std::ldexp(i, -static_cast<int>(b % 32)))));
    case Op::kF2i:
      return ToInt(std::nearbyint(static_cast<double>(x)));
    case Op::kF2iFloor:
      return ToInt(std::floor(static_cast<double>(x)));
    case Op::kI2f:
      return Bits(static_cast<float>(i));
    case Op::kBf16:
      return ToHalf(a);
    case Op::kSr: {
      if (std::isnan(x)) return kNan;
      if (std::isinf(x)) return a;
      // Up with a chance of (low half) / 2^16: when r + low half reaches 2^16.
      const uint32_t low = a & 0xFFFF, r = b & 0xFFFF;
      return (a - low) + (low + r >= 0x10000 ? 0x10000 : 0);
    }
    default:
      std::abort();
  }
}

uint16_t StoredHalf(uint32_t x) {
  return static_cast<uint16_t>(ToHalf(x) >> 16);
}

uint32_t RandomBits(uint32_t seed, uint32_t counter) {
  return Mix(Mix(counter) ^ Mix(seed));
}

const std::vector<uint32_t>& CornerOperands() {
  static const auto& operands = *[] {
    auto* list = new std::vector<uint32_t>;
    for (uint32_t magnitude :
         {0x00000000u, 0x00000001u, 0x00000002u, 0x003FFFFFu, 0x00400000u,
          0x007FFFFFu, 0x00800000u, 0x00800001u, 0x00FFFFFFu, 0x01000000u,
          0x0B800000u, 0x0C000000u, 0x33800000u, 0x34000000u, 0x3E800000u,
          0x3EFFFFFFu, 0x3F000000u, 0x3F000001u, 0x3F7FFFFFu, 0x3F800000u,
          0x3F800001u, 0x3F808000u, 0x3F818000u, 0x3FC00000u, 0x3FFFFFFFu,
          0x40000000u, 0x40200000u, 0x4AFFFFFFu, 0x4B000000u, 0x4B000001u,
          0x4B7FFFFFu, 0x4B800000u, 0x4EFFFFFFu, 0x4F000000u, 0x4F000001u,
          0x4F800000u, 0x5F000000u, 0x64000000u, 0x7E800000u, 0x7EFFFFFFu,
          0x7F000000u, 0x7F7F7FFFu, 0x7F7F8000u, 0x7F7FFFFFu, 0x7F800000u,
          0x7F800001u, 0x7FBFFFFFu, 0x7FC00000u, 0x7FC12345u, 0x7FFFFFFFu}) {
      list->push_back(magnitude);
      list->push_back(magnitude | 0x80000000);
    }
    return list;
  }();
  return operands;
}

Operands RelatedOperands(std::mt19937& random) {
  const auto below = [&](uint32_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  const auto number = [&](uint32_t low, uint32_t high) -> uint32_t {
    return (static_cast<uint32_t>(random()) & 0x807FFFFF) |
           (low + below(high - low + 1)) << 23;
  };
  Operands o;
  switch (below(8)) {
    case 0:
      return {static_cast<uint32_t>(random()), static_cast<uint32_t>(random()),
              static_cast<uint32_t>(random())};
    case 1: {
      const auto& corners = CornerOperands();
      const auto one = [&] {
        return corners[below(static_cast<uint32_t>(corners.size()))];
      };
      return {one(), one(), below(2) ? one() : static_cast<uint32_t>(random())};
    }
    case 2:  // near 1
      o = {number(120, 134), number(120, 134), number(110, 144)};
      break;
    case 3:  // products near the smallest numbers
      o = {number(0, 80), number(20, 100), number(0, 30)};
      break;
    case 4:  // near the largest
      o = {number(180, 254), number(180, 254), number(220, 254)};
      break;
    case 5:  // subnormal operands
      o = {number(0, 1), number(100, 254), number(0, 40)};
      break;
    case 6:  // small integers and halves: ties
      o = {Bits(static_cast<float>(static_cast<int>(below(4097)) - 2048) / 2),
           Bits(static_cast<float>(static_cast<int>(below(65)) - 32) / 4),
           Bits(static_cast<float>(static_cast<int>(below(1 << 24))))};
      break;
    default:  // few bits set
      o = {number(100, 150) & 0xFFFF8000, number(100, 150) & 0xFFFFC000,
           number(90, 160)};
      break;
  }
  if (below(3) == 0) {  // the addend cancels the product, or nearly
    const float product = Value(o.a) * Value(o.b);
    o.c = Bits(-product) + below(5) - 2;
  }
  if (below(8) == 0) o.b = o.a + below(3) - 1;
  if (below(16) == 0) o.b = (o.a ^ 0x80000000) + below(3) - 1;
  return o;
}

}  // namespace systole::vpu_test
