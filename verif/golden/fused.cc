// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/golden/fused.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace systole::golden {
namespace {

float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// The parts of a number: (-1)^negative * significand * 2^exponent.
struct Parts {
  bool negative, infinite, nan;
  uint64_t significand;
  int exponent;
};

Parts TakeApart(FloatFormat f, uint32_t bits) {
  const int field = (bits >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const uint32_t fraction = bits & ((1u << f.mantissa_bits) - 1);
  const bool top = field == (1 << f.exponent_bits) - 1;
  return {
      .negative = (bits >> (f.bits() - 1)) != 0,
      .infinite = top && fraction == 0,
      .nan = top && fraction != 0,
      .significand = field == 0 ? fraction : fraction | 1u << f.mantissa_bits,
      .exponent = std::max(field, 1) - f.bias() - f.mantissa_bits};
}

// A natural number of up to 768 bits, the least significant word first.
class Natural {
 public:
  Natural(uint64_t value, int shift) {
    words_[shift / 64] = value << (shift % 64);
    if (shift % 64 != 0) words_[shift / 64 + 1] = value >> (64 - shift % 64);
  }

  bool Bit(int i) const {
    return i >= 0 && i < kWords * 64 && (words_[i / 64] >> (i % 64) & 1);
  }
  bool AnyBelow(int i) const {
    for (int w = 0; w < kWords && w * 64 < i; ++w) {
      const uint64_t mask = i >= w * 64 + 64 ? ~0ull : (1ull << i % 64) - 1;
      if (words_[w] & mask) return true;
    }
    return false;
  }
  int Length() const {  // bits, 0 of 0
    int w = kWords - 1;
    while (w > 0 && words_[w] == 0) --w;
    int n = w * 64;
    for (uint64_t rest = words_[w]; rest != 0; rest >>= 1) ++n;
    return n;
  }
  bool operator<(const Natural& other) const {
    return std::lexicographical_compare(words_.rbegin(), words_.rend(),
                                        other.words_.rbegin(),
                                        other.words_.rend());
  }
  void Add(const Natural& other) {
    bool carry = false;
    for (int i = 0; i < kWords; ++i) {
      const unsigned __int128 sum =
          static_cast<unsigned __int128>(words_[i]) + other.words_[i] + carry;
      words_[i] = static_cast<uint64_t>(sum);
      carry = (sum >> 64) != 0;
    }
  }
  void Subtract(const Natural& other) {  // must not exceed this
    bool borrow = false;
    for (int i = 0; i < kWords; ++i) {
      const unsigned __int128 difference =
          static_cast<unsigned __int128>(words_[i]) - other.words_[i] - borrow;
      words_[i] = static_cast<uint64_t>(difference);
      borrow = (difference >> 64) != 0;
    }
  }

 private:
  static constexpr int kWords = 12;
  std::array<uint64_t, kWords> words_{};
};

// magnitude * 2^unit in a format, rounded to nearest even, without the sign.
uint32_t RoundTo(FloatFormat f, const Natural& magnitude, int unit) {
  const int length = magnitude.Length();
  // Exponents of the leading bit and of the result's last place.
  const int leading = length - 1 + unit;
  const int last = std::max(leading, 1 - f.bias()) - f.mantissa_bits;
  const int cut = last - unit;  // bits below the last place
  uint64_t significand = 0;
  for (int i = length - 1; i >= std::max(cut, 0); --i) {
    significand = significand << 1 | magnitude.Bit(i);
  }
  if (cut < 0) significand <<= -cut;
  const bool half = magnitude.Bit(cut - 1), more = magnitude.AnyBelow(cut - 1);
  if (half && (more || (significand & 1))) ++significand;
  // Adding the leading bit increments the exponent field, and so does a carry
  // out of the significand.
  const int64_t field = last + f.mantissa_bits + f.bias() - 1;
  const int64_t result =
      (field << f.mantissa_bits) + static_cast<int64_t>(significand);
  return static_cast<uint32_t>(std::min<int64_t>(result, f.infinity()));
}

}  // namespace

uint32_t FusedMultiplyAdd(uint16_t a, uint16_t b, uint32_t sum) {
  const float result =
      std::fma(FromBits(static_cast<uint32_t>(a) << 16),
               FromBits(static_cast<uint32_t>(b) << 16), FromBits(sum));
  if (std::isnan(result)) return kCanonicalNan;
  uint32_t bits;
  std::memcpy(&bits, &result, sizeof(bits));
  return bits;
}

uint32_t ExactFusedMultiplyAdd(FloatFormat operand, FloatFormat sum_format,
                               uint32_t a, uint32_t b, uint32_t sum) {
  const Parts x = TakeApart(operand, a), y = TakeApart(operand, b);
  const Parts z = TakeApart(sum_format, sum);
  const uint32_t sign = 1u << (sum_format.bits() - 1);
  const bool negative = x.negative != y.negative;  // the product
  const bool infinite = x.infinite || y.infinite;
  const bool zero = x.significand == 0 || y.significand == 0;
  if (x.nan || y.nan || z.nan || (infinite && zero) ||
      (infinite && z.infinite && negative != z.negative)) {
    return sum_format.nan();
  }
  if (infinite) return sum_format.infinity() | (negative ? sign : 0);
  if (z.infinite) return sum;

  const int unit = std::min(2 * TakeApart(operand, 1).exponent,
                            TakeApart(sum_format, 1).exponent);
  Natural product(x.significand * y.significand,
                  x.exponent + y.exponent - unit);
  Natural addend(z.significand, z.exponent - unit);
  if (negative == z.negative) {
    product.Add(addend);
    return RoundTo(sum_format, product, unit) | (negative ? sign : 0);
  }
  const bool less = product < addend;
  Natural& larger = less ? addend : product;
  larger.Subtract(less ? product : addend);
  if (larger.Length() == 0) return 0;  // x - x is +0
  return RoundTo(sum_format, larger, unit) |
         ((less ? z.negative : negative) ? sign : 0);
}

}  // namespace systole::golden
