// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The firmware's rings, launches and log on a model of the hardware.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/firmware/hardware_model.h"

namespace systole {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr uint32_t kCommands = 0x10000, kCompletions = 0x20000, kLog = 0x30000,
                   kPatches = 0x40000, kProgram = 0x8000, kStride = 64;

class Firmware : public ::testing::Test {
 protected:
  Firmware() {
    image_.commands[0] = kCommands;
    image_.completions[0] = kCompletions;
    image_.log[0] = kLog;
    image_.entries = 4;
    image_.stride = kStride;
    image_.log_entries = 64;
    log_init(&image_);
  }

  static command Run(uint32_t tag) {
    command c = {};
    c.tag = tag;
    c.kind = COMMAND_RUN;
    c.program[0] = kProgram;
    c.length = 5;
    c.repeat = 1;
    return c;
  }
  void PutCommand(const command& c) {
    model_.Put(kCommands + ((c.tag - 1) & 3) * kStride, c);
  }
  completion Completed(uint32_t tag) {
    return model_.Get<completion>(kCompletions + ((tag - 1) & 3) * kStride);
  }
  // One launch on its own.
  completion Launch(const command& c) {
    ring_init(&ring_, &image_);
    completion out;
    completion_init(&out, STATUS_REFUSED);
    cancelled_ = program_run(&ring_, &c, &out);
    return out;
  }
  std::vector<uint32_t> Events() {
    log_flush();
    std::vector<uint32_t> events;
    for (uint32_t i = 0;; i++) {
      const auto e = model_.Get<log_entry>(kLog + i * kStride);
      if (e.number != i + 1) return events;
      events.push_back(e.event);
    }
  }

  HardwareModel model_;
  image_header image_ = {};
  ring ring_;
  bool cancelled_ = false;
};

TEST_F(Firmware, ServesCommandsThroughASmallRing) {
  // The host keeps the ring as full as it may.
  constexpr uint32_t kRuns = 41;
  uint32_t written = 0;
  model_.on_sleep = [&] {
    const uint32_t completed = model_.regs[REG_COMPLETED];
    for (; written < kRuns + 1 && written - completed < 4; written++) {
      command c = Run(written + 1);
      if (written == kRuns) c.kind = COMMAND_STOP;
      PutCommand(c);
      model_.Doorbell(written + 1);
    }
  };
  serve(&image_);
  EXPECT_EQ(model_.starts, static_cast<int>(kRuns));
  EXPECT_EQ(model_.regs[REG_COMPLETED], kRuns + 1);
  EXPECT_EQ(model_.host_irqs, kRuns + 1);
  EXPECT_EQ(Completed(kRuns + 1).status, STATUS_STOPPED);
  EXPECT_EQ(Completed(kRuns).status, STATUS_DONE);
  EXPECT_EQ(Completed(kRuns).tag, kRuns);
}

TEST_F(Firmware, CommandThatWasNotWrittenIsRefused) {
  PutCommand(Run(7));  // in the place of command 3
  PutCommand(Run(1));
  PutCommand(Run(2));
  command stop = Run(4);
  stop.kind = COMMAND_STOP;
  PutCommand(stop);
  model_.Doorbell(4);
  serve(&image_);
  EXPECT_EQ(Completed(2).status, STATUS_DONE);
  EXPECT_EQ(Completed(3).status, STATUS_REFUSED);
  EXPECT_EQ(Completed(4).status, STATUS_STOPPED);
}

TEST_F(Firmware, DoorbellCountsModulo) {
  ring_init(&ring_, &image_);
  ring_.head = ring_.written = 0xFFFFFE;
  model_.Doorbell(1);  // three more
  EXPECT_TRUE(ring_poll(&ring_));
  EXPECT_EQ(ring_.written, 0x1000001u);
  model_.Doorbell(1 | REQUEST_CANCEL << DOORBELL_REQUEST_SHIFT);
  EXPECT_TRUE(ring_poll(&ring_));
  EXPECT_EQ(ring_.written, 0x1000001u);
  EXPECT_EQ(ring_.request, static_cast<uint32_t>(REQUEST_CANCEL));
}

TEST_F(Firmware, LaunchSetsTheCoresRegisters) {
  command c = Run(1);
  c.program[1] = 3;
  c.limit[0] = 0x1234;
  c.limit[1] = 4;
  c.watchdog = 99;
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  EXPECT_EQ(model_.regs[REG_PROG_ADDR_LO], kProgram);
  EXPECT_EQ(model_.regs[REG_PROG_ADDR_HI], 3u);
  EXPECT_EQ(model_.regs[REG_PROG_LEN], 5u);
  EXPECT_EQ(model_.regs[REG_WATCHDOG], 99u);
  EXPECT_EQ(model_.regs[REG_LIMIT_LO], 0x1234u);
  EXPECT_EQ(model_.regs[REG_LIMIT_HI], 4u);
  EXPECT_TRUE(model_.issued.empty());
}

TEST_F(Firmware, PatchesMoveOnWithEachRun) {
  for (uint32_t i = 0; i < 5; i++) {
    HardwareModel::Descriptor d = {};
    d[0] = i;
    d[3] = 0xFFFFFF00u;
    d[4] = 0xABCDEF02u;  // 36 bits: 0x2FFFFFF00
    model_.Put(kProgram + 64 * i, d);
  }
  const patch patches[] = {
      {1, 3, 0x100, 0x1000}, {1, 7, 5, 1}, {3, 3, 0, 0x80000000u}};
  model_.Put(kPatches, patches);
  command c = Run(1);
  c.patches[0] = kPatches;
  c.patch_count = 3;
  c.repeat = 5;
  const completion out = Launch(c);
  EXPECT_EQ(out.status, STATUS_DONE);
  EXPECT_EQ(out.runs, 5u);
  EXPECT_EQ(model_.starts, 5);
  ASSERT_EQ(model_.issued.size(), 10u);
  for (uint32_t run = 0; run < 5; run++) {
    const auto& first = model_.issued[2 * run];
    EXPECT_EQ(first[0], 1u);
    EXPECT_EQ(first[3], 0x1000 * run);
    EXPECT_EQ(first[4], 0xABCDEF03u);  // the carry, and no more of the word
    EXPECT_EQ(first[7], 5 + run);
    const auto& second = model_.issued[2 * run + 1];
    const uint64_t sum = 0x2FFFFFF00u + uint64_t{0x80000000u} * run;
    EXPECT_EQ(second[0], 3u);
    EXPECT_EQ(second[3], static_cast<uint32_t>(sum));
    EXPECT_EQ(second[4], 0xABCDEF00u | (sum >> 32 & 15));
    EXPECT_THAT((std::vector<std::pair<uint64_t, uint32_t>>(
                    model_.streamed.begin() + 3 * run,
                    model_.streamed.begin() + 3 * run + 3)),
                ElementsAre(Pair(kProgram, 1u), Pair(kProgram + 128, 1u),
                            Pair(kProgram + 256, 1u)));
  }
}

TEST_F(Firmware, BadLaunchesAreRefusedAndStartNothing) {
  command c = Run(1);
  c.kind = 9;
  EXPECT_EQ(Launch(c).status, STATUS_REFUSED);
  c = Run(1);
  c.repeat = 0;
  EXPECT_EQ(Launch(c).status, STATUS_REFUSED);
  c = Run(1);
  c.patch_count = MAX_PATCHES + 1;
  EXPECT_EQ(Launch(c).status, STATUS_REFUSED);
  c = Run(1);
  c.patches[0] = kPatches;
  c.patch_count = 2;
  const patch descending[] = {{3, 3, 0, 0}, {1, 3, 0, 0}};
  model_.Put(kPatches, descending);
  EXPECT_EQ(Launch(c).status, STATUS_REFUSED);
  EXPECT_EQ(model_.starts, 0);
}

TEST_F(Firmware, FaultIsCapturedAndTheCoreReset) {
  model_.end = HardwareModel::End::kFault;
  model_.regs[REG_FAULT_CAUSE] = 6;
  model_.regs[REG_FAULT_QUEUE] = 4;
  model_.regs[REG_FAULT_PC] = 3;
  model_.regs[REG_FAULT_ADDR_LO] = 0x77;
  model_.regs[REG_FAULT_ADDR_HI] = 2;
  command c = Run(1);
  c.repeat = 3;
  const completion out = Launch(c);
  EXPECT_EQ(out.status, STATUS_FAULT);
  EXPECT_EQ(out.runs, 0u);
  EXPECT_EQ(out.cause, 6u);
  EXPECT_EQ(out.queue, 4u);
  EXPECT_EQ(out.index, 3u);
  EXPECT_EQ(out.address[0], 0x77u);
  EXPECT_EQ(out.address[1], 2u);
  EXPECT_EQ(model_.resets, 1);
  EXPECT_THAT(Events(), ElementsAre(LOG_START, LOG_FAULT));
}

TEST_F(Firmware, TimeoutEndsAProgram) {
  model_.end = HardwareModel::End::kNever;
  command c = Run(1);
  c.timeout = 2000;
  const completion out = Launch(c);
  EXPECT_EQ(out.status, STATUS_TIMEOUT);
  EXPECT_GE(out.end - out.begin, 2000u);
  EXPECT_LT(out.end - out.begin, 2300u);
  EXPECT_EQ(model_.resets, 1);
  EXPECT_EQ(model_.regs[REG_MTIMECMP_HI], ~0u);  // off again
}

TEST_F(Firmware, TimeoutAcrossTheTimersHalves) {
  model_.time = 0xFFFFFF00u;
  model_.end = HardwareModel::End::kNever;
  command c = Run(1);
  c.timeout = 2000;
  const completion out = Launch(c);
  EXPECT_EQ(out.status, STATUS_TIMEOUT);
  EXPECT_GE(out.end - out.begin, 2000u);
  EXPECT_LT(out.end - out.begin, 2300u);
}

TEST_F(Firmware, CancelEndsWhatRunsAndWhatWaits) {
  model_.end = HardwareModel::End::kNever;
  for (uint32_t tag = 1; tag <= 3; tag++) PutCommand(Run(tag));
  model_.Doorbell(3);
  int sleeps = 0;
  model_.on_sleep = [&] {
    if (++sleeps == 5) {
      model_.Doorbell(3 | REQUEST_CANCEL << DOORBELL_REQUEST_SHIFT);
    }
    if (sleeps == 10) {
      command stop = Run(4);
      stop.kind = COMMAND_STOP;
      PutCommand(stop);
      model_.Doorbell(4);
    }
  };
  serve(&image_);
  for (uint32_t tag = 1; tag <= 3; tag++) {
    EXPECT_EQ(Completed(tag).status, STATUS_CANCELLED) << tag;
  }
  EXPECT_EQ(model_.starts, 1);
  EXPECT_EQ(Completed(4).status, STATUS_STOPPED);
}

TEST_F(Firmware, LogKeepsTheLastEvents) {
  for (uint32_t i = 0; i < 50; i++) log_event(LOG_ECC, i, 0);
  log_flush();
  EXPECT_EQ(model_.Get<log_entry>(kLog + 17 * kStride).number, 0u);
  const auto first = model_.Get<log_entry>(kLog + 18 * kStride);
  EXPECT_EQ(first.number, 19u);
  EXPECT_EQ(first.value[0], 18u);
  EXPECT_EQ(model_.Get<log_entry>(kLog + 49 * kStride).value[0], 49u);
}

}  // namespace
}  // namespace systole
