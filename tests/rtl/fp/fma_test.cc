// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The array's bf16 cell against the golden model at one to five stages:
// bf16 and fp32 with special, directed and random operands, and every triple
// there is at narrow formats of the same source.

#include <array>

#include "VFma.h"
#include "VFma31.h"
#include "VFma32.h"
#include "VFma33.h"
#include "VFma41.h"
#include "gtest/gtest.h"
#include "tests/rtl/fp/triples.h"
#include "tests/testing/long.h"
#include "tests/testing/seeds.h"
#include "verif/golden/fused.h"
#include "verilated.h"

namespace systole::fp_test {
namespace {

using golden::FloatFormat;
constexpr int kStages = 5;

// Compares what leaves the cells with what is wanted; now and then the
// clock goes on without enable.
template <typename Model>
class Bench {
 public:
  explicit Bench(uint32_t seed) : rng_(seed) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) + 1);
    dut_ = std::make_unique<Model>(&context_);
  }

  void Step(const Triple& t, uint32_t want) {
    if (rng_() % 64 == 0) Clock(false, {~t.a, ~t.b, ~t.sum});
    Clock(true, t);
    for (int s = kStages; s > 0; --s) history_[s] = history_[s - 1];
    history_[0] = {t, want};
    ++steps;
    for (int s = 0; s < kStages && s + 1 < steps; ++s) {
      const auto& [triple, expected] = history_[s + 1];
      if (dut_->sum_o[s] == expected) continue;
      ++wrong;
      if (wrong <= 10) {
        ADD_FAILURE() << std::hex << s + 1 << " stages: " << triple.a << " * "
                      << triple.b << " + " << triple.sum << " = "
                      << uint64_t{dut_->sum_o[s]} << ", wanted " << expected;
      }
    }
  }

  int64_t steps = 0, wrong = 0;

 private:
  void Clock(bool enable, const Triple& t) {
    dut_->enable_i = enable;
    dut_->a_i = t.a;
    dut_->b_i = t.b;
    dut_->sum_i = t.sum;
    dut_->clk_i = 0;
    dut_->eval();
    dut_->clk_i = 1;
    dut_->eval();
  }

  std::mt19937 rng_;
  VerilatedContext context_;
  std::unique_ptr<Model> dut_;
  std::array<std::pair<Triple, uint32_t>, kStages + 1> history_{};
};

TEST(FmaTest, SpecialTriples) {
  Bench<VFma> bench(1);
  for (uint32_t a : SpecialOperands()) {
    for (uint32_t b : SpecialOperands()) {
      for (uint32_t sum : SpecialSums()) {
        bench.Step({a, b, sum}, golden::FusedMultiplyAdd(a, b, sum));
      }
    }
  }
  EXPECT_EQ(bench.steps, 64 * 64 * 68);
}

class FmaRandom : public ::testing::TestWithParam<uint32_t> {};
TEST_P(FmaRandom, MatchesGolden) {
  SCOPED_TRACE(::testing::Message() << "seed " << GetParam());
  Bench<VFma> bench(GetParam());
  TripleSource source(GetParam());
  for (int i = 0; i < systole::testing_options::Sized(1500000, 6000000); ++i) {
    const Triple t = source.Next();
    bench.Step(t, golden::FusedMultiplyAdd(t.a, t.b, t.sum));
  }
}
INSTANTIATE_TEST_SUITE_P(
    Seeds, FmaRandom,
    ::testing::ValuesIn(systole::testing_options::SeedList<uint32_t>(2)));

// Every triple of a narrow format.
template <typename Model>
void EveryTriple(FloatFormat operand, FloatFormat sum_format) {
  Bench<Model> bench(3);
  for (uint32_t a = 0; a < 1u << operand.bits(); ++a) {
    for (uint32_t b = 0; b < 1u << operand.bits(); ++b) {
      for (uint32_t sum = 0; sum < 1u << sum_format.bits(); ++sum) {
        bench.Step({a, b, sum}, golden::ExactFusedMultiplyAdd(
                                    operand, sum_format, a, b, sum));
      }
    }
  }
}
TEST(FmaExhaustive, Operand31Sum43) { EveryTriple<VFma31>({3, 1}, {4, 3}); }
TEST(FmaExhaustive, Operand32Sum43) { EveryTriple<VFma32>({3, 2}, {4, 3}); }
TEST(FmaExhaustive, Operand33Sum43) { EveryTriple<VFma33>({3, 3}, {4, 3}); }
TEST(FmaExhaustive, Operand41Sum43) { EveryTriple<VFma41>({4, 1}, {4, 3}); }

}  // namespace
}  // namespace systole::fp_test
