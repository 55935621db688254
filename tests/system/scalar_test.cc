// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip with a scalar unit, whole: the firmware boots from HBM and runs what
// comes through the rings.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "firmware/scalar/boot.h"
#include "systole/gen/csr.h"
#include "tests/system/scalar_chip.h"

namespace systole {
namespace scalar {
// flags_program.c.
const std::vector<uint32_t>& FlagsProgram();
}  // namespace scalar
namespace {

constexpr uint64_t kCycles = 200000;
constexpr uint32_t kLine = 256;  // bytes that a copying program moves

class Scalar : public ScalarChip {
 protected:
  void SetUp() override {
    ScalarChip::SetUp();
    sim_->SetCallbacks(
        [this](int, uint32_t, uint64_t cycle) { retired_.push_back(cycle); },
        [](uint64_t) {});
  }

  // A program that copies kLine bytes by way of the unified buffer.
  static std::vector<isa::Descriptor> Copy(uint64_t from, uint64_t to) {
    return {MoveOf<isa::Load>(from, kLine, 0, 1).Encode(),
            MoveOf<isa::Store>(to, kLine, 1).Encode(), isa::Halt().Encode()};
  }
  // A program whose load waits for a flag that nobody posts.
  void WriteStuck(uint64_t at) {
    Write(at,
          {MoveOf<isa::Load>(0x1000, kLine, 2).Encode(), isa::Halt().Encode()});
  }
  std::vector<uint8_t> Fill(uint64_t at, uint32_t seed, size_t bytes = kLine) {
    return Scatter(at, seed, bytes);
  }
  std::vector<uint8_t> Read(uint64_t at, size_t bytes = kLine) {
    return ScalarChip::Read(at, bytes);
  }

  std::vector<uint64_t> retired_;
};

// What the firmware adds to a program that a register starts: docs/scalar.md.
TEST_F(Scalar, LatenciesAreShort) {
  Write(0x8000, Copy(0x1000, 0x2000));
  Fill(0x1000, 1);
  struct Times {
    uint64_t first, interrupt;  // from the start; from the last completion
  };
  const auto times = [&](uint64_t started) {
    EXPECT_TRUE(sim_->WaitInterrupt(kCycles).ok());
    const uint64_t ended = sim_->core().cycles();
    EXPECT_EQ(retired_.size(), 2u);
    return Times{retired_[0] - started, ended - retired_[1]};
  };
  const std::pair<uint32_t, uint32_t> words[] = {
      {csr::kIrqEnable, csr::kIrqDone},
      {csr::kProgAddrLo, 0x8000},
      {csr::kProgLen, 3},
      {csr::kHbmLimitLo, 0x10000},
      {csr::kHbmLimitHi, 0}};
  for (const auto& [offset, value] : words) {
    ASSERT_TRUE(sim_->WriteRegister(offset, value).ok());
  }
  Times registers = {};
  for (int i = 0; i < 2; i++) {  // the first one waits for the HBM to start
    retired_.clear();
    ASSERT_TRUE(sim_->WriteRegister(csr::kCtrl, csr::kCtrlStart).ok());
    registers = times(sim_->core().cycles());
    ASSERT_TRUE(sim_->WriteRegister(csr::kIrq, 7).ok());
  }

  Boot();
  for (int i = 0; i < 2; i++) {
    retired_.clear();
    const auto tag = queue_->Submit({.program = 0x8000, .length = 3});
    ASSERT_TRUE(tag.ok());
    const Times firmware = times(sim_->core().cycles());
    ASSERT_TRUE(queue_->Wait(*tag, kCycles).ok());
    std::printf(
        "doorbell to first descriptor: %d cycles more than a register's "
        "start; last store to interrupt: %d more\n",
        static_cast<int>(firmware.first - registers.first),
        static_cast<int>(firmware.interrupt - registers.interrupt));
    EXPECT_LT(firmware.first, registers.first + (i == 0 ? 650 : 380));
    EXPECT_LT(firmware.interrupt, registers.interrupt + 300);
  }
}

TEST_F(Scalar, SelfTestsPass) {
  Boot({.test_smem = true});
  EXPECT_EQ(*sim_->ReadRegister(csr::kScalarState), BOOT_STATE_READY);
}

TEST_F(Scalar, ManyProgramsInFlight) {
  Boot();
  std::vector<std::vector<uint8_t>> data;
  std::vector<uint32_t> tags;
  for (uint32_t i = 0; i < 16; i++) {
    Write(0x10000 + 0x1000 * i,
          Copy(0x20000 + 0x1000 * i, 0x40000 + 0x1000 * i));
    data.push_back(Fill(0x20000 + 0x1000 * i, i));
    auto tag = queue_->Submit({.program = 0x10000 + 0x1000 * i, .length = 3});
    ASSERT_TRUE(tag.ok()) << tag.status();
    tags.push_back(*tag);
  }
  for (uint32_t i = 0; i < 16; i++) {
    auto done = queue_->Wait(tags[i], kCycles);
    ASSERT_TRUE(done.ok()) << done.status();
    EXPECT_EQ(done->status, STATUS_DONE);
    EXPECT_EQ(Read(0x40000 + 0x1000 * i), data[i]);
  }
}

// What waits while the first one runs goes by priority and by what it waits
// for; the host polls.
TEST_F(Scalar, PrioritiesAndEvents) {
  Boot();
  for (uint32_t i = 0; i < 5; i++)
    Write(0x10000 + 0x1000 * i,
          Copy(0x20000 + kLine * i, 0x20000 + kLine * (i + 1)));
  const auto data = Fill(0x20000, 5);
  // Each copies what the one before it in this order has written.
  const auto submit = [&](uint32_t step, uint32_t priority, uint32_t after,
                          uint32_t repeat = 1) {
    auto tag = queue_->Submit({.program = 0x10000 + 0x1000 * step,
                               .length = 3,
                               .repeat = repeat,
                               .priority = priority,
                               .after = after});
    EXPECT_TRUE(tag.ok()) << tag.status();
    return tag.value_or(0);
  };
  const uint32_t first = submit(0, 0, 0, 100);
  EXPECT_TRUE(absl::IsDeadlineExceeded(sim_->WaitInterrupt(2000)));
  const uint32_t low = submit(3, 1, 0), high = submit(1, 9, 0);
  const uint32_t next = submit(2, 2, high), last = submit(4, 7, low);
  std::vector<uint32_t> ends;
  while (ends.size() < 5) {
    for (const uint32_t tag : {first, low, high, next, last}) {
      auto done = queue_->Poll(tag);
      ASSERT_TRUE(done.ok()) << done.status();
      if (!done->has_value()) continue;
      EXPECT_EQ((*done)->status, STATUS_DONE);
      if (std::find(ends.begin(), ends.end(), tag) == ends.end())
        ends.push_back(tag);
    }
  }
  EXPECT_THAT(ends, ::testing::ElementsAre(first, high, next, low, last));
  EXPECT_EQ(Read(0x20000 + 5 * kLine), data);
}

TEST_F(Scalar, ArgumentsAndRepeats) {
  Boot();
  // Source and destination are arguments that each run moves on.
  Write(0x8000, Copy(0, 0));
  const auto data = Fill(0x20000, 7, 8 * kLine);
  scalar::Launch launch;
  launch.program = 0x8000;
  launch.length = 3;
  launch.repeat = 8;
  constexpr uint32_t kAddr = PATCH_FIELD(96, 36, 0);
  launch.patches = {{0, kAddr, {0x20000, 0}, {kLine, 0}},
                    {1, kAddr, {0x30000, 0}, {kLine, 0}}};
  const completion c = Run(launch);
  EXPECT_EQ(c.status, STATUS_DONE) << scalar::DescribeCompletion(c);
  EXPECT_EQ(c.runs, 8u);
  EXPECT_EQ(Read(0x30000, 8 * kLine), data);
  std::printf("8 runs with two arguments: %u cycles\n", c.end - c.begin);
}

TEST_F(Scalar, FaultIsCapturedAndTheNextProgramRuns) {
  Boot();
  Write(0x8000, Copy(0x1000, 0x2000));
  Write(0x9000, Copy(0x1000, uint64_t{1} << 34));
  const auto data = Fill(0x1000, 2);
  const completion fault = Run({.program = 0x9000, .length = 3});
  EXPECT_EQ(fault.status, STATUS_FAULT);
  EXPECT_EQ(fault.cause, static_cast<uint32_t>(isa::Fault::kHbmRange));
  EXPECT_EQ(fault.queue, static_cast<uint32_t>(isa::Queue::kStore));
  EXPECT_EQ(fault.index, 1u);
  EXPECT_EQ(fault.address[1], 4u);
  EXPECT_EQ(Run({.program = 0x8000, .length = 3}).status, STATUS_DONE);
  EXPECT_EQ(Read(0x2000), data);
  auto log = queue_->ReadLog(kCycles);
  ASSERT_TRUE(log.ok()) << log.status();
  std::vector<uint32_t> events;
  for (const scalar::LogLine& line : *log) events.push_back(line.event);
  EXPECT_THAT(events, ::testing::ElementsAre(LOG_BOOT, LOG_START, LOG_FAULT,
                                             LOG_START, LOG_DONE));
}

TEST_F(Scalar, LimitOfALaunchIsKept) {
  Boot();
  Write(0x8000, Copy(0x1000, 0x2000));
  const completion c = Run({.program = 0x8000, .length = 3, .limit = 0x2000});
  EXPECT_EQ(c.status, STATUS_FAULT);
  EXPECT_EQ(c.cause, static_cast<uint32_t>(isa::Fault::kHbmRange));
  // The program itself, and the rings.
  EXPECT_EQ(Run({.program = 0x8000, .length = 3, .limit = 0x4000}).status,
            STATUS_FAULT);
  Write(0x8000, Copy(0x1000, queue_->limit()));
  EXPECT_EQ(Run({.program = 0x8000, .length = 3}).status, STATUS_FAULT);
}

TEST_F(Scalar, TimeoutAndWatchdog) {
  Boot();
  WriteStuck(0x8000);
  const completion timeout =
      Run({.program = 0x8000, .length = 2, .watchdog = 0, .timeout = 3000});
  EXPECT_EQ(timeout.status, STATUS_TIMEOUT);
  EXPECT_GE(timeout.end - timeout.begin, 3000u);
  EXPECT_LT(timeout.end - timeout.begin, 4000u);
  const completion watchdog =
      Run({.program = 0x8000, .length = 2, .watchdog = 500});
  EXPECT_EQ(watchdog.status, STATUS_FAULT);
  EXPECT_EQ(watchdog.cause, static_cast<uint32_t>(isa::Fault::kWatchdog));
  Write(0x9000, Copy(0x1000, 0x2000));
  EXPECT_EQ(Run({.program = 0x9000, .length = 3}).status, STATUS_DONE);
}

TEST_F(Scalar, CancelEndsWhatRunsAndWhatWaits) {
  Boot();
  WriteStuck(0x8000);
  const auto first =
      queue_->Submit({.program = 0x8000, .length = 2, .watchdog = 0});
  const auto second = queue_->Submit({.program = 0x8000, .length = 2});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(sim_->WaitInterrupt(5000)));
  ASSERT_TRUE(queue_->Cancel().ok());
  for (const uint32_t tag : {*first, *second}) {
    auto done = queue_->Wait(tag, kCycles);
    ASSERT_TRUE(done.ok()) << done.status();
    EXPECT_EQ(done->status, STATUS_CANCELLED);
  }
}

TEST_F(Scalar, BadCommandsAreRefused) {
  Boot();
  EXPECT_EQ(Run({.program = 0x8000, .length = 0}).status, STATUS_REFUSED);
  EXPECT_EQ(Run({.program = 0x8040, .length = 2}).status, STATUS_REFUSED);
  scalar::Launch launch{.program = 0x8000, .length = 2};
  launch.patches = {{2, PATCH_FIELD(96, 36, 0), {}, {}}};  // beyond the program
  EXPECT_EQ(Run(launch).status, STATUS_REFUSED);
  launch.patches = {{1, PATCH_FIELD(500, 36, 0), {}, {}}};
  EXPECT_EQ(Run(launch).status, STATUS_REFUSED);
}

TEST_F(Scalar, WrongImageIsTold) {
  Boot();
  const auto state_with = [&](uint64_t at, uint8_t flip) {
    EXPECT_TRUE(sim_->WriteRegister(csr::kScalarRun, 0).ok());
    const auto before = Read(queue_->limit() + at, 4);
    auto bytes = before;
    bytes[0] ^= flip;
    EXPECT_TRUE(sim_->WriteMemory(queue_->limit() + at, bytes).ok());
    EXPECT_TRUE(sim_->WriteRegister(csr::kIrq, csr::kIrqScalar).ok());
    EXPECT_TRUE(sim_->WriteRegister(csr::kScalarRun, 1).ok());
    EXPECT_TRUE(sim_->WaitInterrupt(kCycles).ok());
    EXPECT_TRUE(sim_->WriteMemory(queue_->limit() + at, before).ok());
    return *sim_->ReadRegister(csr::kScalarState);
  };
  EXPECT_EQ(state_with(0x200, 4), BOOT_STATE_BAD_SUM);  // of the code
  EXPECT_EQ(state_with(0, 1), BOOT_STATE_BAD_IMAGE);    // magic
  EXPECT_EQ(state_with(offsetof(image_header, bytes), 16),
            BOOT_STATE_BAD_IMAGE);  // no multiple of 32
  EXPECT_EQ(state_with(0, 0), BOOT_STATE_READY);
}

// What the issue port and the sync flags do, seen by a program of the scalar
// unit.
TEST_F(Scalar, IssuePortAndFlags) {
  const auto image = scalar::MakeImage(scalar::FlagsProgram(), {});
  ASSERT_TRUE(image.ok()) << image.status();
  ASSERT_TRUE(sim_->WriteMemory(0x100000, {reinterpret_cast<const uint8_t*>(
                                               image->data()),
                                           4 * image->size()})
                  .ok());
  const auto data = Fill(0x1000, 9);
  auto program = Copy(0x1000, 0x2000);
  isa::PutBits(program[0], 32, 32, 1u << 5);  // the load waits for flag 5
  isa::PutBits(program[1], 64, 32, 1u << 6);  // the store posts flag 6
  Write(0x8000, program);
  const std::pair<uint32_t, uint32_t> words[] = {
      {csr::kScalarBootAddr, 0x100000 / 4096},
      {csr::kIrqEnable, csr::kIrqScalar},
      {csr::kScalarRun, 1}};
  for (const auto& [offset, value] : words) {
    ASSERT_TRUE(sim_->WriteRegister(offset, value).ok());
  }
  ASSERT_TRUE(sim_->WaitInterrupt(kCycles).ok())
      << "after step " << (*sim_->ReadRegister(csr::kScalarState) >> 16);
  // How far the program came; 0: everything was as it should be.
  EXPECT_EQ(*sim_->ReadRegister(csr::kScalarCompleted), 0u);
  EXPECT_EQ(*sim_->ReadRegister(csr::kScalarState), BOOT_STATE_STOPPED);
  EXPECT_EQ(Read(0x2000), data);
}

TEST_F(Scalar, CoresKnownAnswerIsLookedAt) {
  Write(0x8000, Copy(0x1000, 0x2000));
  const auto data = Fill(0x1000, 4);
  uint32_t sum = 0;
  for (int i = 0; i < 64; i += 4) {
    uint32_t word;
    std::memcpy(&word, &data[i], 4);
    sum = (sum << 1 | sum >> 31) + word;
  }
  scalar::BootOptions options;
  options.test_core = true;
  options.known.test_program = 0x8000;
  options.known.test_length = 3;
  options.known.test_result = 0x2000;
  options.known.test_bytes = 64;
  options.known.test_sum = sum;
  Boot(options);
  options.known.test_sum = sum + 1;
  const auto wrong = scalar::CommandQueue::Boot(port_.get(), options);
  EXPECT_EQ(wrong.status().message(),
            "scalar unit: the core's known answer is wrong");
}

TEST_F(Scalar, StopGivesTheCoreBack) {
  Boot();
  Write(0x8000, Copy(0x1000, 0x2000));
  const auto data = Fill(0x1000, 3);
  EXPECT_EQ(Run({.program = 0x8000, .length = 3}).status, STATUS_DONE);
  ASSERT_TRUE(queue_->Stop(kCycles).ok());
  // The registers start programs again.
  Write(0x8000, Copy(0x1000, 0x3000));
  const std::pair<uint32_t, uint32_t> words[] = {
      {csr::kIrq, 7},
      {csr::kIrqEnable, csr::kIrqDone},
      {csr::kProgAddrLo, 0x8000},
      {csr::kProgLen, 3},
      {csr::kHbmLimitLo, 0x10000},
      {csr::kHbmLimitHi, 0}};
  for (const auto& [offset, value] : words) {
    ASSERT_TRUE(sim_->WriteRegister(offset, value).ok());
  }
  while (*sim_->ReadRegister(csr::kStatus) & csr::kStatusResetting) {
  }
  ASSERT_TRUE(sim_->WriteRegister(csr::kCtrl, csr::kCtrlStart).ok());
  ASSERT_TRUE(sim_->WaitInterrupt(kCycles).ok());
  EXPECT_EQ(Read(0x3000), data);
}

}  // namespace
}  // namespace systole
