// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The random programs keep their promises: no fault, no broken rule, nothing
// outside their segments, all instructions seen; and the simulator's results do
// not depend on what registers held before.

#include "tests/vpu/random_program.h"

#include <map>

#include "gtest/gtest.h"
#include "host/program/vpu_asm.h"

namespace systole::vpu {
namespace {

class RandomProgramTest : public ::testing::TestWithParam<const char*> {
 protected:
  const Preset& preset_ = *FindPreset(GetParam());
  const int rounds_ = preset_.cols > 16 ? 40 : 400;
};

std::vector<uint8_t> Bytes(const RandomProgram& p, const iss::State& state) {
  std::vector<uint8_t> all;
  for (const RandomProgram::Bytes& s : p.ub) {
    const auto from = state.ub.begin() + s.address;
    all.insert(all.end(), from, from + s.data.size());
  }
  return all;
}

TEST_P(RandomProgramTest, RunsWithoutFaultOrBrokenRule) {
  std::map<std::string, int> seen;
  iss::State state(preset_, 1), other(preset_, 2);
  std::vector<uint8_t> before = state.ub;
  for (int seed = 0; seed < rounds_; ++seed) {
    const RandomProgram p = MakeRandomProgram(preset_, seed, {});
    const iss::Result fault = RunOnIss(p, &state);
    ASSERT_FALSE(fault) << p.Text() << fault->detail;
    ASSERT_TRUE(state.vrun_log.problems.empty())
        << p.Text() << state.vrun_log.problems[0].text;
    // Nothing outside the segments; the rest of the result is the program's.
    ASSERT_FALSE(RunOnIss(p, &other, 2));
    ASSERT_EQ(Bytes(p, state), Bytes(p, other)) << p.Text();
    for (const RandomProgram::Bytes& s : p.ub) {
      std::copy_n(before.begin() + s.address, s.data.size(),
                  state.ub.begin() + s.address);
    }
    ASSERT_EQ(state.ub, before) << p.Text();
    for (uint64_t word : p.words) {
      if (const OpInfo* op = FindOp(static_cast<uint8_t>(word & 0xFF)))
        ++seen[std::string(op->name)];
    }
  }
  for (const OpInfo& op : kOps)
    EXPECT_GT(seen[std::string(op.name)], 3) << op.name;
}

TEST_P(RandomProgramTest, FaultyOnesFault) {
  std::map<isa::Fault, int> causes;
  for (int seed = 0; seed < rounds_; ++seed) {
    RandomOptions options;
    options.fault = true, options.instructions = 30;
    const RandomProgram p = MakeRandomProgram(preset_, 1000 + seed, options);
    iss::State state(preset_, 1);
    const iss::Result fault = RunOnIss(p, &state);
    ASSERT_TRUE(fault) << p.Text();
    ++causes[fault->cause];
  }
  EXPECT_GT(causes[isa::Fault::kVectorProgram], rounds_ / 4);
  EXPECT_GT(causes[isa::Fault::kUbRange], rounds_ / 10);
  EXPECT_GT(causes[isa::Fault::kAccRange], 0);
  EXPECT_EQ(causes.size(), 3u);
}

INSTANTIATE_TEST_SUITE_P(Presets, RandomProgramTest,
                         ::testing::Values("mini", "v2"));

}  // namespace
}  // namespace systole::vpu
