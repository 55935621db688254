// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A unit with random memories, three sources of 8 rows and room for results.

#ifndef SYSTOLE_TESTS_RTL_VPU_FIXTURE_H_
#define SYSTOLE_TESTS_RTL_VPU_FIXTURE_H_

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/rtl/vpu/bench.h"
#include "tests/rtl/vpu/programs.h"

namespace systole::vpu_test {

inline constexpr uint32_t kIn = 0x1000;  // sources, 8 rows each
inline constexpr uint32_t kOut = 0x14000;

class VpuTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (uint8_t& byte : unit_->memories().ub)
      byte = static_cast<uint8_t>(random_());
    for (uint32_t& lane : unit_->memories().acc)
      lane = static_cast<uint32_t>(random_());
  }

  void Run(const std::string& text, std::vector<uint32_t> args = {},
           const Stalls& stalls = {80, 80, 80, 0}) {
    const RunResult r = RunProgram(unit_.get(), text, args, stalls);
    ASSERT_EQ(r.protocol_errors, std::vector<std::string>{}) << text;
    ASSERT_EQ(r.faults, 0) << text;
    ASSERT_EQ(r.done.size(), 1u) << text;
  }

  uint32_t& Word(uint32_t address) {
    return *reinterpret_cast<uint32_t*>(&unit_->memories().ub[address]);
  }
  uint32_t& In(int source, int row, int lane) {
    return Word(kIn + ((source * 8 + row) * lanes_ + lane) * 4);
  }
  uint32_t Out(int result, int row, int lane) {
    return Word(kOut + ((result * 8 + row) * lanes_ + lane) * 4);
  }
  // Loads v0, v1, v8 from the sources and runs the text with stores of
  // `results` registers at its end.
  std::string Body(const std::string& text, const std::vector<int>& results) {
    std::string all =
        absl::StrCat("li s14, 4*L\nli s13, ", kIn, "\nli s12, ", kOut,
                     "\nld32 v0, s13, s14\nld32 v1, s13, s14, 32*L\n"
                     "ld32 v8, s13, s14, 64*L\n",
                     text);
    for (size_t i = 0; i < results.size(); ++i) {
      absl::StrAppend(&all, "st32 v", results[i], ", s12, s14, ", i, "*32*L\n");
    }
    return all + "halt\n";
  }

  std::unique_ptr<Unit> unit_ = MakeUnit(GetParam(), 7);
  const int lanes_ = static_cast<int>(unit_->preset().cols);
  std::mt19937 random_{5};
};

}  // namespace systole::vpu_test

#endif  // SYSTOLE_TESTS_RTL_VPU_FIXTURE_H_
