// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A Verilated cell with a clock and a random source. Everything that is not
// reset starts with random contents; the seed is printed with each failure.
//
//   Bench<Vfifo> bench(/*seed=*/1);
//   bench->valid_i = 1;
//   bench.Settle();   // combinational outputs follow the inputs
//   bench.Step();     // one clock edge

#ifndef SYSTOLE_TESTS_CELLS_BENCH_H_
#define SYSTOLE_TESTS_CELLS_BENCH_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "verilated.h"

namespace systole::test {

template <typename Model>
class Bench {
 public:
  explicit Bench(uint32_t seed)
      : random_(seed),
        trace_(__FILE__, __LINE__, testing::Message() << "seed " << seed) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed));
    context_.fatalOnError(false);
    model_ = std::make_unique<Model>(&context_);
  }
  ~Bench() {
    model_->final();
    EXPECT_FALSE(context_.gotError()) << "an assertion of the cell failed";
  }

  Model* operator->() { return model_.get(); }

  void Settle() { model_->eval(); }

  void Step() {
    model_->clk_i = 1;
    model_->eval();
    model_->clk_i = 0;
    model_->eval();
  }

  // Steps and returns what the failing assertions print, empty when none fails.
  std::string StepIntoAssertion() {
    testing::internal::CaptureStdout();
    Step();
    const std::string printed = testing::internal::GetCapturedStdout();
    context_.gotError(false);
    return printed;
  }

  // True in `percent` of the calls.
  bool Chance(int percent) {
    return static_cast<int>(random_() % 100) < percent;
  }

  uint32_t Random() { return static_cast<uint32_t>(random_()); }

 private:
  std::mt19937 random_;
  testing::ScopedTrace trace_;
  VerilatedContext context_;
  std::unique_ptr<Model> model_;
};

// Two cycles of reset with the inputs that the caller has set.
template <typename Model>
void Reset(Bench<Model>& bench) {
  bench->clk_i = 0;
  bench->rst_ni = 0;
  bench.Settle();
  bench.Step();
  bench.Step();
  bench->rst_ni = 1;
  bench.Settle();
}

}  // namespace systole::test

#endif  // SYSTOLE_TESTS_CELLS_BENCH_H_
