// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The functions in hardware, and in the simulation view beside it, against the
// golden model: special values and functions that alternate with gaps between
// the rows, then 2^22 arguments of each function, one of every 1024 that follow
// each other (2^24 in the long form).
//
// Every argument there is (2^32 a function, minutes):
//   rtl_sfu_test --gtest_also_run_disabled_tests --gtest_filter='*Every*'

#include "host/include/systole/gen/sfu.h"

#include <array>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "VSfu.h"
#include "gtest/gtest.h"
#include "tests/testing/long.h"
#include "verif/golden/functions.h"
#include "verilated.h"

namespace systole::sfu_test {
namespace {

constexpr int kLanes = 16;
using Row = std::array<uint32_t, kLanes>;

struct Function {
  const char* name;
  uint32_t (*golden)(uint32_t);
};
// In the order of sfu_op_e.
constexpr Function kFunctions[] = {{"exp2", golden::Exp2},
                                   {"log2", golden::Log2},
                                   {"rcp", golden::Reciprocal},
                                   {"rsqrt", golden::ReciprocalSqrt},
                                   {"tanh", golden::Tanh}};

class Bench {
 public:
  Bench() {
    context_.randReset(2);
    context_.randSeed(1);
    dut_ = std::make_unique<VSfu>(&context_);
    dut_->rst_ni = 0;
    dut_->valid_i = 0;
    Clock();
    dut_->rst_ni = 1;
  }

  void Enter(int op, const Row& a) {
    dut_->valid_i = 1;
    dut_->op_i = op;
    for (int l = 0; l < kLanes; ++l) dut_->a_i[l] = a[l];
    flight_.push_back({true, op, a});
    Check();
  }

  void Gap() {  // what stands at the inputs does not matter
    dut_->valid_i = 0;
    dut_->op_i = rng_() % 8;
    for (int l = 0; l < kLanes; ++l) dut_->a_i[l] = rng_();
    flight_.push_back({});
    Check();
  }

  void Drain() {
    for (int i = 0; i < sfu::kLatency; ++i) Gap();
  }

  int64_t checked = 0, wrong = 0;

 private:
  struct Entry {
    bool valid = false;
    int op = 0;
    Row a{};
  };

  void Clock() {
    dut_->clk_i = 0;
    dut_->eval();
    dut_->clk_i = 1;
    dut_->eval();
  }

  void Check() {
    Clock();
    if (flight_.size() < sfu::kLatency) return;
    const Entry& entry = flight_.front();
    if (dut_->valid_o != entry.valid && ++wrong <= 10) {
      ADD_FAILURE() << "valid_o is " << int{dut_->valid_o};
    }
    if (!dut_->same_o && ++wrong <= 10) ADD_FAILURE() << "the views differ";
    for (int l = 0; entry.valid && l < kLanes; ++l) {
      const uint32_t want = kFunctions[entry.op].golden(entry.a[l]);
      ++checked;
      if (dut_->y_o[l] == want || ++wrong > 10) continue;
      ADD_FAILURE() << "lane " << l << ": " << kFunctions[entry.op].name
                    << std::hex << "(0x" << entry.a[l] << ") = 0x"
                    << uint64_t{dut_->y_o[l]} << ", wanted 0x" << want;
    }
    flight_.pop_front();
  }

  VerilatedContext context_;
  std::unique_ptr<VSfu> dut_;
  std::mt19937 rng_{7};
  std::deque<Entry> flight_;
};

// Of either sign and each exponent the fractions at which something changes.
std::vector<uint32_t> SpecialArguments() {
  std::vector<uint32_t> list;
  for (uint32_t top = 0; top < 512; ++top) {
    for (int bit = 0; bit < 23; ++bit) {
      for (uint32_t fraction : {1u << bit, (1u << bit) - 1, (1u << bit) + 1}) {
        list.push_back(top << 23 | fraction);
        list.push_back(top << 23 | (0x7FFFFF ^ fraction));
      }
    }
  }
  list.resize((list.size() + kLanes - 1) / kLanes * kLanes);
  return list;
}

TEST(SfuTest, SpecialArgumentsWithGapsAndFunctionsMixed) {
  Bench bench;
  std::mt19937 rng(1);
  const std::vector<uint32_t> list = SpecialArguments();
  std::vector<std::pair<int, size_t>> rows;
  for (int op = 0; op < 5; ++op) {
    for (size_t i = 0; i < list.size(); i += kLanes) rows.push_back({op, i});
  }
  std::shuffle(rows.begin(), rows.end(), rng);
  for (const auto& [op, first] : rows) {
    while (rng() % 3 == 0) bench.Gap();
    Row row;
    std::copy_n(list.begin() + first, kLanes, row.begin());
    bench.Enter(op, row);
  }
  bench.Drain();
  EXPECT_EQ(bench.checked, 5 * static_cast<int64_t>(list.size()));
  EXPECT_EQ(bench.wrong, 0);
}

TEST(SfuTest, ResetEmptiesThePipeline) {
  VerilatedContext context;
  VSfu dut(&context);
  const auto clock = [&dut](bool rst_n, bool valid) {
    dut.rst_ni = rst_n;
    dut.valid_i = valid;
    dut.op_i = 0;
    dut.clk_i = 0;
    dut.eval();
    dut.clk_i = 1;
    dut.eval();
  };
  clock(false, false);
  for (int i = 0; i < 4; ++i) clock(true, true);
  clock(false, true);
  for (int i = 0; i < 2 * sfu::kLatency; ++i) {
    EXPECT_FALSE(dut.valid_o) << i;
    clock(true, false);
  }
}

// Arguments i * step + offset, the offset at random.
void Sweep(int op, uint64_t step) {
  Bench bench;
  std::mt19937 rng(op);
  uint64_t a = 0;
  while (a < uint64_t{1} << 32) {
    Row row;
    for (uint32_t& x : row) {
      x = static_cast<uint32_t>(a + (step > 1 ? rng() % step : 0));
      a += step;
    }
    bench.Enter(op, row);
  }
  bench.Drain();
  EXPECT_EQ(bench.checked, (int64_t{1} << 32) / static_cast<int64_t>(step));
  EXPECT_EQ(bench.wrong, 0);
}

class SfuSweep : public ::testing::TestWithParam<int> {};
TEST_P(SfuSweep, DenseArguments) {
  Sweep(GetParam(), systole::testing_options::Sized(2048, 256));
}
TEST_P(SfuSweep, DISABLED_EveryArgument) { Sweep(GetParam(), 1); }
INSTANTIATE_TEST_SUITE_P(Functions, SfuSweep, ::testing::Range(0, 5),
                         [](const auto& info) {
                           return kFunctions[info.param].name;
                         });

}  // namespace
}  // namespace systole::sfu_test
