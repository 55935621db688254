// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// One field of one descriptor of a correct program changed at random: simulator
// and RTL must agree on whether it faults, on cause, queue, descriptor and
// address, and else (unless the change made the program wrong) on the results.
#ifndef SYSTOLE_TESTS_ISS_RTL_FAULT_FIXTURE_H_
#define SYSTOLE_TESTS_ISS_RTL_FAULT_FIXTURE_H_

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "sim/iss/iss_device.h"
#include "systole/device.h"
#include "tests/testing/choices.h"
#include "tests/testing/long.h"

namespace systole::iss {

class RtlFaultTest : public ::testing::Test {
 protected:
  explicit RtlFaultTest(const char* preset) : preset_(*FindPreset(preset)) {}

  // HBM and program before any change. What the simulator has run has results
  // that mean something (called when no rule was broken).
  virtual std::vector<uint8_t> Memory() = 0;
  virtual std::vector<isa::Descriptor> Descriptors() = 0;
  virtual uint64_t ProgramAddress() const = 0;
  virtual bool HasMeaning(const std::string& what) const = 0;

  void SetUp() override {
    DeviceOptions options;
    options.preset = std::string(preset_.name);
    options.simulation.checked = options.simulation.check_races = true;
    options.watchdog = 3000;
    auto rtl = Device::Open("rtl", options);
    ASSERT_TRUE(rtl.ok()) << rtl.status();
    rtl_ = std::move(*rtl);
    iss_ = std::make_unique<IssDevice>(options);
  }

  uint64_t Draw(uint64_t below) { return random_() % below; }
  uint64_t Pick(uint64_t below) {
    return testing_options::Choose(below, random_);
  }

  // 0, small, near the old value, near a limit, anything.
  uint64_t Value(uint64_t old, int bits) {
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    switch (Pick(6)) {
      case 0:
        return 0;
      case 1:
        return Pick(20) & mask;
      case 2:
        return (old + Pick(9) - 4) & mask;
      case 3:
        return (old + 32 * (Pick(9) - 4)) & mask;
      case 4:
        return (preset_.ub_bytes - Pick(40) * 8) & mask;
      default:
        return random_() & mask;
    }
  }

  // What was changed; empty if this change is not to be tried.
  std::string Mutate(std::vector<isa::Descriptor>* descriptors) {
    const size_t index = Pick(descriptors->size());
    isa::Descriptor& d = (*descriptors)[index];
    const isa::OpInfo& op = *isa::FindOp(d[0] % 256);
    if (op.num_fields == 0 ||
        Pick(20) ==
            0) {  // any bit, but for waits and posts: those are other tests
      const int bit = Pick(2) == 0 ? static_cast<int>(Pick(16))
                                   : 96 + static_cast<int>(Pick(416));
      isa::PutBits(d, bit, 1, isa::GetBits(d, bit, 1) ^ 1);
      // Only what the sequencer refuses: else queues and flags no longer fit.
      const isa::OpInfo* now = isa::FindOp(d[0] % 256);  // of any cell
      if (now != nullptr && (now->opcode != op.opcode || bit < now->width))
        return "";
      return absl::StrFormat("bit %d of descriptor %d", bit, index);
    }
    const isa::FieldInfo& field = op.fields[Pick(op.num_fields)];
    const int lsb =
        field.lsb + field.bits * static_cast<int>(Pick(field.count));
    const uint64_t old = isa::GetBits(d, lsb, field.bits),
                   value = Value(old, field.bits);
    isa::PutBits(d, lsb, field.bits, value);
    // Tiles left over, or waited for, are rule 4.
    if (op.queue == isa::Queue::kWeight && field.name == "tiles" && value > 1)
      return "";
    if (op.opcode == isa::Opcode::kMatmul &&
        (field.name == "t0" || field.name == "t1") && value > 1)
      return "";
    return absl::StrFormat("%s of descriptor %d from %d to %d", field.name,
                           index, old, value);
  }

  // Whether the program that the simulator has run has a result at all.
  bool IsDefined(const std::string& what) {
    const RaceReport& report = *iss_->iss().races();
    return report.count == 0 && report.unwritten_bytes == 0 &&
           report.unwritten_rows == 0 && HasMeaning(what);
  }

  // A store went into the descriptors: what the sequencer then fetches depends
  // on time.
  bool OverwritesItself() const {
    const std::vector<Finding>& all = iss_->iss().races()->findings;
    return std::any_of(all.begin(), all.end(), [](const Finding& f) {
      return f.rule == 3 && f.space == Space::kHbm && f.first == f.second;
    });
  }

  void RandomChanges(const std::vector<isa::Fault>& expected) {
    for (const uint64_t seed : testing_options::Seeds(1, 0)) {
      SCOPED_TRACE(absl::StrFormat("seed %d", seed));
      random_.seed(seed);
      memory_ = Memory();
      ChangesOf(expected);
      if (HasFailure()) return;
    }
  }

  // Runs changed programs; half the causes of `expected` must come up, in the
  // long form each.
  void ChangesOf(const std::vector<isa::Fault>& expected) {
    int faults = 0, results = 0, causes[16] = {};
    for (int round = 0; testing_options::More(faults + results < cases_ &&
                                              round < 20 * cases_);
         ++round) {
      const testing_options::Span span;
      Program program;
      program.preset = std::string(preset_.name);
      program.prog_addr = ProgramAddress();
      program.hbm_bytes = memory_.size();
      program.descriptors = Descriptors();
      // First as it is, so that all memories hold something known.
      const std::string what =
          round == 0 ? "nothing" : Mutate(&program.descriptors);
      if (what.empty()) continue;
      SCOPED_TRACE(absl::StrFormat("round %d: %s", round, what));
      testing_options::Describe(1, what);

      ASSERT_TRUE(iss_->Write(0, memory_).ok());
      const absl::Status iss_status = iss_->Run(program).status();
      const Counters& counters = iss_->iss().state().counters;
      const bool too_long =
          counters.load_beats + counters.store_beats > max_beats_ ||
          counters.vectors > max_beats_;
      if (!iss_->fault() && too_long) continue;
      if (OverwritesItself()) {
        ASSERT_TRUE(iss_->Reset(ResetScope::kCore).ok());
        continue;
      }
      ASSERT_TRUE(rtl_->Write(0, memory_).ok());
      const absl::Status rtl_status = rtl_->Run(program).status();

      ASSERT_EQ(iss_->fault().has_value(), rtl_->fault().has_value())
          << iss_status << "\n"
          << rtl_status;
      if (iss_->fault()) {
        const FaultState want = *iss_->fault(), got = *rtl_->fault();
        EXPECT_EQ(want.cause, got.cause) << iss_status << "\n" << rtl_status;
        EXPECT_EQ(want.queue, got.queue) << iss_status << "\n" << rtl_status;
        EXPECT_EQ(want.index, got.index) << iss_status << "\n" << rtl_status;
        EXPECT_EQ(want.address, got.address) << iss_status << "\n"
                                             << rtl_status;
        ++faults;
        ++causes[static_cast<int>(want.cause)];
        ASSERT_TRUE(iss_->Reset(ResetScope::kCore).ok());
        ASSERT_TRUE(rtl_->Reset(ResetScope::kCore).ok());
      } else {
        ASSERT_TRUE(rtl_status.ok()) << rtl_status;
        if (!IsDefined(what)) continue;
        std::vector<uint8_t> want(memory_.size()), got(memory_.size());
        ASSERT_TRUE(iss_->Read(0, absl::MakeSpan(want)).ok());
        ASSERT_TRUE(rtl_->Read(0, absl::MakeSpan(got)).ok());
        for (size_t i = 0; i < want.size(); ++i)
          ASSERT_EQ(want[i], got[i]) << "HBM byte " << i;
        ++results;
      }
      if (HasFailure()) return;
    }
    if (testing_options::Replaying()) return;  // some rounds only
    EXPECT_GT(faults, cases_ / 4);
    EXPECT_GT(results, cases_ / 8);
    size_t met = 0;
    for (isa::Fault f : expected) {
      const int count = causes[static_cast<int>(f)];
      met += count > 0;
      if (testing_options::Long())
        EXPECT_GT(count, 0) << isa::kFaults[static_cast<int>(f)].name;
    }
    EXPECT_GE(2 * met, expected.size());
    std::printf("%d faults and %d results agree\n", faults, results);
  }

  const int cases_ = testing_options::Sized(25, 300);
  // More would take too long in the RTL.
  const uint64_t max_beats_ = testing_options::Sized(5000, 20000);
  std::mt19937_64 random_;
  const Preset& preset_;
  std::unique_ptr<Device> rtl_;
  std::unique_ptr<IssDevice> iss_;
  std::vector<uint8_t> memory_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_TESTS_ISS_RTL_FAULT_FIXTURE_H_
