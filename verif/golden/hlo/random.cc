// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// docs/hlo.md, "Random bits": Threefry-2x32 and Philox-4x32 as their authors
// define them (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3").
#include <cmath>

#include "verif/golden/fp32.h"
#include "verif/golden/hlo/evaluation.h"
#include "verif/golden/hlo/scalars.h"

namespace systole::golden::hlo {
namespace {

using Words = std::vector<uint32_t>;

uint32_t Rotated(uint32_t word, uint32_t by) {
  return word << by | word >> (32 - by);
}

// Key injections before the first round and after every fourth of 20 rounds.
Words Threefry(uint32_t k0, uint32_t k1, uint64_t counter) {
  const uint32_t keys[] = {k0, k1, 0x1BD11BDA ^ k0 ^ k1};
  const uint32_t rotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
  auto a = static_cast<uint32_t>(counter),
       b = static_cast<uint32_t>(counter >> 32);
  for (uint32_t round = 0; round <= 20; ++round) {
    if (round % 4 == 0) {
      const uint32_t injection = round / 4;
      a += keys[injection % 3];
      b += keys[(injection + 1) % 3] + injection;
    }
    if (round == 20) break;
    a += b;
    b = Rotated(b, rotations[round % 8]) ^ a;
  }
  return {a, b};
}

Words Philox(uint32_t k0, uint32_t k1, uint64_t low, uint64_t high) {
  Words c = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
             static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
  for (uint32_t round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{0xD2511F53} * c[0],
                   q = uint64_t{0xCD9E8D57} * c[2];
    const uint32_t key0 = k0 + round * 0x9E3779B9,
                   key1 = k1 + round * 0xBB67AE85;
    c = {static_cast<uint32_t>(q >> 32) ^ c[1] ^ key0, static_cast<uint32_t>(q),
         static_cast<uint32_t>(p >> 32) ^ c[3] ^ key1,
         static_cast<uint32_t>(p)};
  }
  return c;
}

// The dimension along which the two words of a counter are neighbours.
size_t Paired(const Index& shape) {
  size_t longest = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] % 2 == 0) return i;
    if (shape[i] > shape[longest]) longest = i;
  }
  return longest;
}

void FillThreefry(Tensor& state, Tensor& bits) {
  const auto k0 = static_cast<uint32_t>(state.bits[0]),
             k1 = static_cast<uint32_t>(state.bits[0] >> 32);
  const uint64_t first = state.bits[1];
  if (Width(bits.element) == 64) {
    for (uint64_t i = 0; i < bits.bits.size(); ++i) {
      const Words x = Threefry(k0, k1, first + i);
      bits.bits[i] = uint64_t{x[1]} << 32 | x[0];
    }
    state.bits[1] += bits.bits.size();
    return;
  }
  if (bits.rank() == 0) {
    bits.bits[0] = Wrapped(bits.element, Threefry(k0, k1, first)[0]);
    ++state.bits[1];
    return;
  }
  // One counter value per pair.
  const size_t along = Paired(bits.shape);
  Index pairs = bits.shape;
  pairs[along] = (pairs[along] + 1) / 2;
  uint64_t next = first;
  ForEach(pairs, [&](const Index& index) {
    const Words x = Threefry(k0, k1, next++);
    for (int64_t k = 0; k < 2; ++k) {
      Index place = index;
      place[along] = 2 * index[along] + k;
      if (place[along] < bits.shape[along])
        bits[place] = Wrapped(bits.element, x[k]);
    }
  });
  state.bits[1] = next;
}

void FillPhilox(Tensor& state, Tensor& bits) {
  const auto k0 = static_cast<uint32_t>(state.bits[0]),
             k1 = static_cast<uint32_t>(state.bits[0] >> 32);
  const bool three = state.size() > 2;
  uint64_t low = state.bits[1], high = state.bits[three ? 2 : 0];
  std::vector<uint32_t> words;
  const size_t needed = bits.bits.size() * (Width(bits.element) == 64 ? 2 : 1);
  while (words.size() < needed) {
    const Words x = Philox(k0, k1, low, high);
    words.insert(words.end(), x.begin(), x.end());
    if (++low == 0) ++high;
  }
  for (size_t i = 0; i < bits.bits.size(); ++i) {
    bits.bits[i] = Width(bits.element) == 64
                       ? uint64_t{words[2 * i + 1]} << 32 | words[2 * i]
                       : Wrapped(bits.element, words[i]);
  }
  state.bits[1] = low;
  if (three) state.bits[2] = high;
}

}  // namespace

Tensors RandomBits(const Node& node, const Tensors& operands) {
  Tensor state = operands[0];
  const ir::Type& type = node.result_type(1);
  Tensor bits(type.element, type.shape);
  if (node.attr<ir::HloRngBitsAttributes>().algorithm ==
      ir::RngAlgorithm::kThreeFry) {
    FillThreefry(state, bits);
  } else {
    FillPhilox(state, bits);
  }
  return {state, bits};
}

Tensor RandomNumbers(const Node& node, const Tensors& operands,
                     uint64_t number) {
  Tensor state(Element::kUint64, {3}), bits(Element::kUint64, node.type.shape);
  state.bits[2] = number;
  FillPhilox(state, bits);
  const Element element = node.type.element;
  const uint64_t a = operands[0].bits[0], b = operands[1].bits[0];
  const bool normal = node.attr<ir::HloRngAttributes>().distribution ==
                      ir::RngDistribution::kNormal;
  const uint64_t low = static_cast<uint64_t>(Whole(element, a));
  const uint64_t range = static_cast<uint64_t>(Whole(element, b)) - low;
  const auto fraction = [](uint64_t word) {
    return static_cast<float>(word >> 8) / 16777216.0f;
  };
  Tensor result(element, node.type.shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    const uint64_t u = bits.bits[i] >> 32, v = bits.bits[i] & 0xFFFFFFFF;
    uint64_t& here = result.bits[i];
    if (Width(element) == 64) {
      here = low + (range == 0 ? 0 : bits.bits[i] % range);
    } else if (!IsReal(element)) {
      const uint64_t words = range & 0xFFFFFFFF;
      here = Wrapped(element, low + (words == 0 ? 0 : u % words));
    } else {
      const float first = Real(element, a), second = Real(element, b);
      const float r = fraction(u);
      if (normal) {
        const float size = std::sqrt(-2.0f * LogPlusOne(-r));
        const float turn = Cosine(fraction(v) * fp32::FromBits(0x40C90FDB));
        here = FromReal(element, first + second * (size * turn));
      } else {
        here = FromReal(element, first + (second - first) * r);
        if (Real(element, here) >= second && second > first) here = a;
      }
    }
  }
  return result;
}

}  // namespace systole::golden::hlo
