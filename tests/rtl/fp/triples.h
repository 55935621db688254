// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operands for the fused multiply-add bf16 x bf16 + fp32: values that matter,
// and random ones aimed at what can go wrong.

#ifndef SYSTOLE_TESTS_RTL_FP_TRIPLES_H_
#define SYSTOLE_TESTS_RTL_FP_TRIPLES_H_

#include <cstdint>
#include <random>
#include <vector>

namespace systole::fp_test {

struct Triple {
  uint32_t a, b, sum;
};

// Zeros, subnormals, powers of two, ones that round, largest, infinities and
// NaNs of either sign.
std::vector<uint16_t> SpecialOperands();
std::vector<uint32_t> SpecialSums();

class TripleSource {
 public:
  explicit TripleSource(uint32_t seed) : rng_(seed) {}

  // One of the kinds below, by turns.
  Triple Next();

 private:
  uint32_t Random(uint32_t limit) { return rng_() % limit; }  // 0..limit-1
  uint16_t Operand();                                         // mostly any bits
  // A sum with the biased exponent or one at most `spread` away from it.
  uint32_t Near(int exponent, uint32_t spread);

  std::mt19937 rng_;
  uint32_t turn_ = 0;
};

}  // namespace systole::fp_test

#endif  // SYSTOLE_TESTS_RTL_FP_TRIPLES_H_
