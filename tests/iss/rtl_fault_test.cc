// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// One field of one descriptor of a correct program changed at random: simulator
// and RTL must agree on whether it faults, on cause, queue, descriptor and
// address, and else (unless the change made the program wrong) on the results.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "sim/iss/iss_device.h"
#include "systole/device.h"
#include "tests/iss/pipeline.h"

namespace systole::iss {
namespace {

constexpr int kCases = 300;
constexpr uint64_t kMaxBeats = 20000;  // more would take too long in the RTL

class RtlFaultTest : public ::testing::Test {
 protected:
  RtlFaultTest() : random_(::testing::GTEST_FLAG(random_seed)) {}

  void SetUp() override {
    DeviceOptions options;
    options.preset = "nano";
    options.checked = options.check_races = true;
    options.watchdog = 3000;
    auto rtl = Device::Open("rtl", options);
    ASSERT_TRUE(rtl.ok()) << rtl.status();
    rtl_ = std::move(*rtl);
    iss_ = std::make_unique<IssDevice>(options);
    memory_.resize(Pipeline::kHbmBytes);
    // Any byte may end as a shift of a parameter block, and those have a range.
    for (uint8_t& b : memory_) b = static_cast<uint8_t>(Pick(41) - 20);
  }

  uint64_t Pick(uint64_t below) { return random_() % below; }

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
        return (65536 - Pick(40) * 8) & mask;
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
      const isa::OpInfo* now = isa::FindOp(d[0] % 256);
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
    if (op.opcode == isa::Opcode::kWeights && field.name == "tiles" &&
        value > 1)
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
    if (report.count > 0 || report.unwritten_bytes > 0 ||
        report.unwritten_rows > 0)
      return false;
    // Another parameter block or shift may be one that docs/numerics.md gives
    // no meaning.
    if (what.rfind("params", 0) == 0 || what.rfind("shift", 0) == 0)
      return false;
    const uint8_t* shifts = &iss_->iss().state().ub[Pipeline::kParamBlock + 64];
    return std::all_of(shifts, shifts + 8, [](uint8_t s) {
      return std::abs(static_cast<int8_t>(s)) <= 20;
    });
  }

  std::mt19937_64 random_;
  std::unique_ptr<Device> rtl_;
  std::unique_ptr<IssDevice> iss_;
  std::vector<uint8_t> memory_;
};

TEST_F(RtlFaultTest, RandomChanges) {
  int faults = 0, results = 0, causes[16] = {};
  for (int round = 0; faults + results < kCases && round < 20 * kCases;
       ++round) {
    Program program;
    program.preset = "nano";
    program.prog_addr = Pipeline::kProgram;
    program.hbm_bytes = Pipeline::kHbmBytes;
    program.descriptors = Pipeline().descriptors;
    const std::string what = Mutate(&program.descriptors);
    if (what.empty()) continue;
    SCOPED_TRACE(absl::StrFormat("round %d: %s", round, what));

    ASSERT_TRUE(iss_->Write(0, memory_).ok());
    const absl::Status iss_status = iss_->Run(program).status();
    const Counters& counters = iss_->iss().state().counters;
    const bool too_long =
        counters.load_beats + counters.store_beats > kMaxBeats ||
        counters.vectors > kMaxBeats;
    if (!iss_->fault() && too_long) continue;
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
      EXPECT_EQ(want.address, got.address) << iss_status << "\n" << rtl_status;
      ++faults;
      ++causes[static_cast<int>(want.cause)];
      ASSERT_TRUE(iss_->Reset().ok());
      ASSERT_TRUE(rtl_->Reset().ok());
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
  EXPECT_GT(faults, kCases / 4);
  EXPECT_GT(results, kCases / 8);
  for (isa::Fault f :
       {isa::Fault::kIllegalOpcode, isa::Fault::kIllegalDescriptor,
        isa::Fault::kMisaligned, isa::Fault::kUbRange, isa::Fault::kAccRange,
        isa::Fault::kHbmRange}) {
    EXPECT_GT(causes[static_cast<int>(f)], 0)
        << isa::kFaults[static_cast<int>(f)].name;
  }
  std::printf(
      "%d faults and %d results agree; other cases: --gtest_random_seed=<n>\n",
      faults, results);
}

}  // namespace
}  // namespace systole::iss
