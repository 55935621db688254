// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The triples of fma_test.cc see each fault of mutants.py, and none in the cell
// itself: at bf16 and fp32, and at a narrow format, of which that test has all.

#include "mutants.h"

#include "VMutants.h"
#include "VMutants33.h"
#include "gtest/gtest.h"
#include "tests/rtl/fp/triples.h"
#include "verif/golden/fused.h"
#include "verilated.h"

namespace systole::fp_test {
namespace {

template <typename Model>
class Mutants {
 public:
  Mutants() : dut_(&context_), seen_(std::size(kMutants)) {}

  // A sum leaves a cycle after the triple that makes it.
  void Step(const Triple& t, uint32_t want) {
    dut_.a_i = t.a;
    dut_.b_i = t.b;
    dut_.sum_i = t.sum;
    dut_.clk_i = 0;
    dut_.eval();
    dut_.clk_i = 1;
    dut_.eval();
    if (begun_) {
      for (size_t i = 0; i < seen_.size(); ++i) {
        seen_[i] += dut_.sum_o[i] != want_;
      }
    }
    begun_ = true;
    want_ = want;
  }

  // All but `same`, which are no faults at this format.
  void Check(const std::vector<std::string>& same) {
    EXPECT_EQ(seen_[0], 0);
    for (size_t i = 1; i < seen_.size(); ++i) {
      const bool hidden =
          std::find(same.begin(), same.end(), kMutants[i]) != same.end();
      EXPECT_EQ(seen_[i] == 0, hidden) << kMutants[i];
    }
  }

 private:
  VerilatedContext context_;
  Model dut_;
  std::vector<int64_t> seen_;
  bool begun_ = false;
  uint32_t want_ = 0;  // of the triple before
};

TEST(FmaMutants, SpecialTriplesAndRandomOnes) {
  Mutants<VMutants> mutants;
  for (uint32_t a : SpecialOperands()) {
    for (uint32_t b : {0x0000, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFFC0}) {
      for (uint32_t sum : SpecialSums()) {
        mutants.Step({a, b, sum}, golden::FusedMultiplyAdd(a, b, sum));
      }
    }
  }
  TripleSource source(5);
  for (int i = 0; i < 200000; ++i) {
    const Triple t = source.Next();
    mutants.Step(t, golden::FusedMultiplyAdd(t.a, t.b, t.sum));
  }
  mutants.Check({});
}

TEST(FmaMutants, TriplesOfANarrowFormat) {
  constexpr golden::FloatFormat kOperand{3, 3}, kSum{4, 3};
  Mutants<VMutants33> mutants;
  std::mt19937 rng(6);
  for (int i = 0; i < 400000; ++i) {
    const uint32_t bits = rng();
    const Triple t{bits & 0x7F, bits >> 7 & 0x7F, bits >> 14 & 0xFF};
    mutants.Step(t, ExactFusedMultiplyAdd(kOperand, kSum, t.a, t.b, t.sum));
  }
  // These need longer mantissas or more exponents.
  mutants.Check({"long shifts wrap", "subnormal operands not normalised",
                 "infinite products wrap"});
}

}  // namespace
}  // namespace systole::fp_test
