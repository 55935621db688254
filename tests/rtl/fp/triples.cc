// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/fp/triples.h"

#include <algorithm>
#include <cstring>

namespace systole::fp_test {
namespace {

const std::vector<uint16_t>& Specials() {
  static const std::vector<uint16_t> specials = SpecialOperands();
  return specials;
}

const std::vector<uint32_t>& Sums() {
  static const std::vector<uint32_t> specials = SpecialSums();
  return specials;
}

// Biased exponent of the product, of subnormals as if they were the smallest
// normals.
int ProductExponent(uint16_t a, uint16_t b) {
  const auto field = [](uint16_t x) { return std::max(x >> 7 & 0xFF, 1); };
  return field(a) + field(b) - 127;
}

// The product of finite operands rounded to fp32 on the host.
uint32_t Product(uint16_t a, uint16_t b) {
  const uint32_t wide[2] = {static_cast<uint32_t>(a) << 16,
                            static_cast<uint32_t>(b) << 16};
  float x, y;
  std::memcpy(&x, &wide[0], sizeof(x));
  std::memcpy(&y, &wide[1], sizeof(y));
  const float product = x * y;
  uint32_t bits;
  std::memcpy(&bits, &product, sizeof(bits));
  return bits;
}

// Gives the operands exponents whose product has the biased one `exponent`.
void AimProduct(int exponent, Triple* t) {
  const int both = exponent + 127;
  const int least = std::max(1, both - 254), most = std::min(254, both - 1);
  const int a = least + static_cast<int>(t->a) % (most - least + 1);
  t->a = (t->a & 0x807F) | a << 7;
  t->b = (t->b & 0x807F) | (both - a) << 7;
}

}  // namespace

std::vector<uint16_t> SpecialOperands() {
  std::vector<uint16_t> list;
  for (uint16_t sign : {0x0000, 0x8000}) {
    for (uint16_t bits :
         {0x0000, 0x0001, 0x0002, 0x0003, 0x0040, 0x0041, 0x007E, 0x007F,
          0x0080, 0x0081, 0x00FF, 0x0100, 0x1F80, 0x2000, 0x3F00, 0x3F7F,
          0x3F80, 0x3F81, 0x3FFF, 0x4000, 0x4040, 0x4B80, 0x5F80, 0x7E80,
          0x7F00, 0x7F7E, 0x7F7F, 0x7F80, 0x7F81, 0x7FBF, 0x7FC0, 0x7FFF}) {
      list.push_back(sign | bits);
    }
  }
  return list;
}

std::vector<uint32_t> SpecialSums() {
  std::vector<uint32_t> list;
  for (uint32_t sign : {0x00000000u, 0x80000000u}) {
    for (uint32_t bits :
         {0x00000000u, 0x00000001u, 0x00000002u, 0x00000003u, 0x00008000u,
          0x00010000u, 0x00400000u, 0x007FFFFEu, 0x007FFFFFu, 0x00800000u,
          0x00800001u, 0x00FFFFFFu, 0x01000000u, 0x0C000000u, 0x33800000u,
          0x34000000u, 0x3EFFFFFFu, 0x3F7FFFFFu, 0x3F800000u, 0x3F800001u,
          0x3FFFFFFFu, 0x40000000u, 0x4B7FFFFFu, 0x4B800000u, 0x7E800000u,
          0x7F000000u, 0x7F7F0000u, 0x7F7FFFFEu, 0x7F7FFFFFu, 0x7F800000u,
          0x7F800001u, 0x7FBFFFFFu, 0x7FC00000u, 0x7FFFFFFFu}) {
      list.push_back(sign | bits);
    }
  }
  return list;
}

uint16_t TripleSource::Operand() {
  const uint32_t r = rng_();
  switch (r >> 28) {
    case 0:
      return Specials()[Random(Specials().size())];
    case 1:  // subnormal
      return r & 0x807F;
    case 2:  // few bits set: exact sums and ties
      return (r & 0xFF80) | (1u << (r >> 16) % 8 & 0x7F);
    default:
      return r & 0xFFFF;
  }
}

uint32_t TripleSource::Near(int exponent, uint32_t spread) {
  const int field = exponent + static_cast<int>(Random(2 * spread + 1)) -
                    static_cast<int>(spread);
  const uint32_t fraction = rng_();
  // Any fraction, a short one, or nearly a power of two.
  const uint32_t masks[] = {0x7FFFFF, 0x7F0000, 0x000003, 0x7FFFFF};
  const uint32_t mask = masks[fraction >> 30];
  const uint32_t ones = (fraction >> 30) == 3 ? 0x7FFFF0u : 0;
  return (rng_() & 0x80000000) |
         static_cast<uint32_t>(std::clamp(field, 0, 254)) << 23 |
         (fraction & mask) | ones;
}

Triple TripleSource::Next() {
  Triple t{};
  t.a = Operand();
  t.b = Operand();
  switch (turn_++ % 8) {
    case 0:  // any bits
      t.sum = rng_();
      break;
    case 1:
      t.sum = Sums()[Random(Sums().size())];
      break;
    case 2:  // alike: carries and cancellation
      t.sum = Near(ProductExponent(t.a, t.b), 3);
      break;
    case 3:  // the product at the edge of the sum's last place and beyond
      t.sum = Near(ProductExponent(t.a, t.b) + 24, 18);
      break;
    case 4:  // the sum at the edge of the product's last place
      t.sum = Near(ProductExponent(t.a, t.b) - 24, 12);
      break;
    case 5:  // nearly or exactly the product's opposite
      t.sum = Product(t.a, t.b) ^ 0x80000000;
      t.sum += Random(3) == 0 ? 0 : Random(9) - 4;
      break;
    case 6:  // a product among the subnormals or below them all
      AimProduct(static_cast<int>(Random(36)) - 30, &t);
      t.sum = Near(0, Random(3) == 0 ? 26 : 2);
      break;
    default:  // around the largest number
      AimProduct(240 + static_cast<int>(Random(24)), &t);
      t.sum = Near(254, 30);
      break;
  }
  return t;
}

}  // namespace systole::fp_test
