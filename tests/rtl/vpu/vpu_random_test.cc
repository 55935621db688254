// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random programs on the RTL against the simulator: the whole unified buffer,
// into which each program dumps its registers, and faults with their addresses;
// ports refuse at random, in the RTL and around it all X are random.
// --seed=n --cases=1 runs the program of one seed alone (testing/seeds.h).

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sim/iss/state.h"
#include "tests/rtl/vpu/bench.h"
#include "tests/testing/long.h"
#include "tests/testing/seeds.h"
#include "tests/vpu/random_program.h"

namespace systole::vpu_test {
namespace {

using vpu::RandomOptions;
using vpu::RandomProgram;

class VpuRandomTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    unit_ = MakeUnit(
        GetParam(),
        static_cast<uint32_t>(systole::testing_options::FirstSeed(0) + 1));
  }

  Stalls RandomStalls(std::mt19937& random) {
    if (random() % 4 == 0) return {};
    const auto one = [&] {
      const int kind = static_cast<int>(random() % 4);
      return kind == 0 ? 0
                       : static_cast<int>(random() % (kind == 1 ? 230 : 90));
    };
    return {one(), one(), one(), one()};
  }

  // The same memories for both.
  void Prepare(const RandomProgram& p, const iss::State& state) {
    Memories& m = unit_->memories();
    m.ub = state.ub;
    for (const RandomProgram::Bytes& s : p.ub)
      std::copy(s.data.begin(), s.data.end(), m.ub.begin() + s.address);
    for (const RandomProgram::Rows& r : p.acc) {
      std::copy(r.data.begin(), r.data.end(),
                m.acc.begin() + r.first * unit_->preset().cols);
    }
  }

  std::string Reproduce(const RandomProgram& p, uint64_t seed) const {
    return p.Text() + "\nseed " + std::to_string(seed);
  }

  // The lanes in hardware take four times as long as their view.
  static int Rounds(const std::string& unit) {
    if (unit == "v2") return 25;
    return systole::testing_options::Sized(unit == "mini" ? 200 : 50, 600);
  }
  const int rounds_ = Rounds(GetParam());
  std::unique_ptr<Unit> unit_;
};

TEST_P(VpuRandomTest, MemoryMatchesSimulator) {
  int64_t rows = 0, cycles = 0, stalls = 0, nan = 0, inf = 0;
  iss::State state(unit_->preset(), 1);
  for (const uint64_t seed : systole::testing_options::Seeds(rounds_, 0)) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    RandomOptions options;
    options.instructions = 20 + static_cast<int>(random() % 300);
    const RandomProgram p =
        vpu::MakeRandomProgram(unit_->preset(), seed, options);
    Prepare(p, state);
    state.counters = {};
    iss::Result wrong = vpu::RunOnIss(p, &state);
    std::vector<isa::Descriptor> descriptors = {p.vload.Encode(),
                                                p.vrun.Encode()};
    // The same once more, which begins while the first is on its way.
    for (int more = static_cast<int>(random() % 3); more > 0; --more) {
      if (!wrong) wrong = iss::Execute(p.vrun, &state);
      descriptors.push_back(p.vrun.Encode());
    }
    ASSERT_FALSE(wrong) << wrong->detail;
    const RunResult r = unit_->Run(descriptors, RandomStalls(random));
    ASSERT_EQ(r.protocol_errors, std::vector<std::string>{})
        << Reproduce(p, seed);
    ASSERT_EQ(r.faults, 0) << Reproduce(p, seed);
    ASSERT_EQ(r.done.size(), descriptors.size()) << Reproduce(p, seed);
    for (size_t i = 0; i < state.ub.size(); ++i) {
      ASSERT_EQ(unit_->memories().ub[i], state.ub[i]) << "byte " << i << "\n"
                                                      << Reproduce(p, seed);
    }
    ASSERT_EQ(r.nan, static_cast<int64_t>(state.counters.vector_nan))
        << Reproduce(p, seed);
    ASSERT_EQ(r.inf, static_cast<int64_t>(state.counters.vector_inf))
        << Reproduce(p, seed);
    nan += r.nan, inf += r.inf;
    cycles += r.cycles, stalls += r.stall_cycles;
    for (int64_t n : r.busy) rows += n;
  }
  if (systole::testing_options::Cases(rounds_) < rounds_) return;
  EXPECT_GT(nan, 0);
  EXPECT_GT(inf, 0);
  std::printf("%lld rows in %lld cycles, %lld with a refusal\n",
              static_cast<long long>(rows), static_cast<long long>(cycles),
              static_cast<long long>(stalls));
}

TEST_P(VpuRandomTest, FaultsMatchSimulator) {
  for (const uint64_t seed : systole::testing_options::Seeds(rounds_, 100000)) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    RandomOptions options;
    options.instructions = 30;
    options.fault = true;
    const RandomProgram p =
        vpu::MakeRandomProgram(unit_->preset(), seed, options);
    iss::State state(unit_->preset(), 1);
    Prepare(p, state);
    const iss::Result fault = vpu::RunOnIss(p, &state);
    ASSERT_TRUE(fault) << Reproduce(p, seed);
    const RunResult r =
        unit_->Run({p.vload.Encode(), p.vrun.Encode()}, RandomStalls(random));
    ASSERT_EQ(r.protocol_errors, std::vector<std::string>{})
        << Reproduce(p, seed);
    ASSERT_EQ(r.faults, 1) << Reproduce(p, seed);
    ASSERT_EQ(r.done.size(), 1u) << Reproduce(p, seed);
    ASSERT_EQ(r.fault, fault->cause) << Reproduce(p, seed);
    ASSERT_EQ(r.fault_addr, static_cast<int64_t>(fault->address))
        << Reproduce(p, seed);
    ASSERT_FALSE(r.fault_newest);
    unit_->Reset();
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, VpuRandomTest, ::testing::ValuesIn(Presets()),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace systole::vpu_test
