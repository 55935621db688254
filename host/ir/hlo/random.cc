// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random bits from counters: Threefry-2x32 of 20 rounds and Philox-4x32 of 10,
// counted and laid out as XLA does (docs/hlo.md, "Random bits").
#include <array>
#include <cmath>

#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/functions.h"

namespace systole::ir {
namespace {

using Pair = std::array<uint32_t, 2>;
using Quad = std::array<uint32_t, 4>;

uint32_t Low(uint64_t v) { return static_cast<uint32_t>(v); }
uint32_t High(uint64_t v) { return static_cast<uint32_t>(v >> 32); }
uint64_t Joined(uint32_t low, uint32_t high) {
  return uint64_t{high} << 32 | low;
}

Pair ThreeFry(Pair x, Pair key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA};
  x[0] += keys[0];
  x[1] += keys[1];
  for (uint32_t group = 1; group <= 5; ++group) {
    for (int rotation : kRotations[(group - 1) % 2]) {
      x[0] += x[1];
      x[1] = (x[1] << rotation | x[1] >> (32 - rotation)) ^ x[0];
    }
    x[0] += keys[group % 3];
    x[1] += keys[(group + 1) % 3] + group;
  }
  return x;
}

Quad Philox(Quad x, Pair key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * x[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * x[2];
    x = {High(b) ^ x[1] ^ key[0], Low(b), High(a) ^ x[3] ^ key[1], Low(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return x;
}

// `state`: key and counter. Each 64-bit number uses one counter value. For
// 32-bit numbers, a counter value gives two neighbours along the first
// dimension of even size. If all sizes are odd, it does so along the longest
// dimension.
std::vector<uint64_t> ThreeFryBits(std::vector<uint64_t>& state,
                                   const Ints& shape, bool wide) {
  const Pair key = {Low(state[0]), High(state[0])};
  int64_t size = 1;
  for (int64_t n : shape) size *= n;
  std::vector<uint64_t> bits(size);
  const auto at = [&](uint64_t i) {
    const uint64_t counter = state[1] + i;
    return ThreeFry({Low(counter), High(counter)}, key);
  };
  if (wide) {
    for (int64_t i = 0; i < size; ++i) {
      const Pair x = at(i);
      bits[i] = Joined(x[0], x[1]);
    }
    state[1] += size;
    return bits;
  }
  if (shape.empty()) {
    bits[0] = at(0)[0];
    ++state[1];
    return bits;
  }
  size_t split = 0;
  while (split < shape.size() && shape[split] % 2 != 0) ++split;
  if (split == shape.size()) {
    split = 0;
    for (size_t i = 1; i < shape.size(); ++i) {
      if (shape[i] > shape[split]) split = i;
    }
  }
  int64_t inner = 1;
  for (size_t i = split + 1; i < shape.size(); ++i) inner *= shape[i];
  const int64_t length = shape[split];
  const int64_t half = (length + 1) / 2;
  const int64_t outer = size == 0 ? 0 : size / (inner * length);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t h = 0; h < half; ++h) {
      for (int64_t i = 0; i < inner; ++i) {
        const Pair x = at((o * half + h) * inner + i);
        for (int64_t k = 0; k < 2 && 2 * h + k < length; ++k) {
          bits[(o * length + 2 * h + k) * inner + i] = x[k];
        }
      }
    }
  }
  state[1] += outer * half * inner;
  return bits;
}

// `state`: the key, then a counter of 128 bits, or of 64 bits whose upper half
// is the key.
std::vector<uint64_t> PhiloxBits(std::vector<uint64_t>& state, int64_t size,
                                 bool wide) {
  const Pair key = {Low(state[0]), High(state[0])};
  const uint64_t low = state[1];
  const uint64_t high = state.size() > 2 ? state[2] : state[0];
  const int64_t words = wide ? 2 * size : size;
  const uint64_t counters = (words + 3) / 4;
  std::vector<uint64_t> bits(size);
  for (uint64_t i = 0; i < counters; ++i) {
    const uint64_t sum = low + i;
    const uint64_t carried = high + (sum < low ? 1 : 0);
    const Quad x =
        Philox({Low(sum), High(sum), Low(carried), High(carried)}, key);
    for (int k = 0; k < 4; k += wide ? 2 : 1) {
      const int64_t at = (static_cast<int64_t>(4 * i) + k) / (wide ? 2 : 1);
      if (at < size) bits[at] = wide ? Joined(x[k], x[k + 1]) : x[k];
    }
  }
  state[1] = low + counters;
  if (state.size() > 2) state[2] = high + (state[1] < low ? 1 : 0);
  return bits;
}

}  // namespace

absl::StatusOr<Literals> EvaluateRngBitGenerator(const Node& node,
                                                 const Operands& operands,
                                                 Evaluation&) {
  std::vector<uint64_t> state = operands[0]->values<uint64_t>();
  const Type& type = node.result_type(1);
  const bool wide = ElementBytes(type.element) == 8;
  const bool threefry =
      node.attr<HloRngBitsAttributes>().algorithm == RngAlgorithm::kThreeFry;
  const std::vector<uint64_t> bits =
      threefry ? ThreeFryBits(state, type.shape, wide)
               : PhiloxBits(state, type.elements(), wide);
  return WithElement(type.element, [&](auto tag) -> absl::StatusOr<Literals> {
    using T = typename decltype(tag)::type;
    if constexpr (kIsInteger<T>) {
      std::vector<T> values(bits.size());
      for (size_t i = 0; i < bits.size(); ++i) {
        values[i] = static_cast<T>(bits[i]);
      }
      return Literals{Literal(std::move(state)), Literal(std::move(values))};
    }
    return absl::UnimplementedError("random bits of this type");
  });
}

namespace {

// A fraction of 24 bits, below 1.
float Fraction(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

float Uniform(uint32_t u, float low, float high) {
  return low + (high - low) * Fraction(u);
}

float Normal(uint32_t u, uint32_t v, float mean, float deviation) {
  const float size = std::sqrt(-2 * LogPlusOne(-Fraction(u)));
  return mean + deviation * (size * Cosine(Fraction(v) * 6.28318548f));
}

// One random number, from two words.
template <typename T>
T RandomNumber(uint32_t u, uint32_t v, T a, T b, bool normal) {
  if constexpr (kIsFloat<T>) {
    const float low = static_cast<float>(a), high = static_cast<float>(b);
    if (normal) return static_cast<T>(Canonical(Normal(u, v, low, high)));
    const T value = static_cast<T>(Canonical(Uniform(u, low, high)));
    // A value that rounds up to the upper limit becomes the lower one.
    return static_cast<float>(value) >= high && high > low ? a : value;
  } else if constexpr (sizeof(T) == 8) {
    const auto range = static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
    const uint64_t more = range == 0 ? 0 : Joined(v, u) % range;
    return static_cast<T>(static_cast<uint64_t>(a) + more);
  } else {
    const auto range = static_cast<uint32_t>(b) - static_cast<uint32_t>(a);
    return static_cast<T>(static_cast<uint32_t>(a) +
                          (range == 0 ? 0 : u % range));
  }
}

}  // namespace

// Philox with key 0. The upper half of the counter is the number of the call.
absl::StatusOr<Literals> EvaluateRng(const Node& node, const Operands& operands,
                                     Evaluation& evaluation) {
  const int64_t size = node.type.elements();
  std::vector<uint64_t> state = {0, 0, evaluation.NextRandom()};
  const std::vector<uint64_t> bits = PhiloxBits(state, size, true);
  const bool normal =
      node.attr<HloRngAttributes>().distribution == RngDistribution::kNormal;
  return WithElement(node.type.element, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T a = operands[0]->values<T>()[0], b = operands[1]->values<T>()[0];
    std::vector<T> values(size);
    for (int64_t i = 0; i < size; ++i)
      values[i] = RandomNumber(High(bits[i]), Low(bits[i]), a, b, normal);
    return Only(Literal(std::move(values)));
  });
}

}  // namespace systole::ir
