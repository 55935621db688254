// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The firmware's launches and log on a model of the hardware.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/firmware/firmware_fixture.h"

namespace systole {
namespace {

using ::testing::ElementsAre;

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
  EXPECT_TRUE(model_.received.empty());
}

TEST_F(Firmware, BadLaunchesAreRefusedAndStartNothing) {
  command c = Run(1);
  c.kind = 9;
  EXPECT_EQ(Launch(c).status, STATUS_REFUSED);
  c = Run(1);
  c.repeat = 0;
  EXPECT_EQ(Launch(c).status, STATUS_REFUSED);
  c = Run(1);
  c.counts = MAX_PATCHES + 1;
  EXPECT_EQ(Launch(c).status, STATUS_REFUSED);
  c = Run(1);
  c.after = 1;  // itself
  EXPECT_EQ(Launch(c).status, STATUS_REFUSED);
  c = Run(1);
  c.context = 2;  // not there
  EXPECT_EQ(Launch(c).status, STATUS_REFUSED);
  c.context = MAX_CONTEXTS;
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

TEST_F(Firmware, CompletionsTellWhatWasCorrectedInSmem) {
  model_.regs[REG_ECC_CORRECTED] = 39;  // by the self-test
  for (uint32_t tag = 1; tag <= 3; tag++) {
    command c = Run(tag);
    if (tag == 3) c.kind = COMMAND_STOP;
    PutCommand(c);
  }
  model_.Doorbell(1);
  model_.on_sleep = [&] {
    if (model_.regs[REG_COMPLETED] != 1) return;
    model_.regs[REG_ECC_CORRECTED] = 41;
    model_.regs[REG_ECC_WORD] = 0x123C;
    model_.Doorbell(3);
  };
  serve(&image_);
  EXPECT_EQ(Completed(1).smem_corrected, 0u);
  EXPECT_EQ(Completed(1).smem_word, 0u);
  for (uint32_t tag = 2; tag <= 3; tag++) {
    EXPECT_EQ(Completed(tag).smem_corrected, 2u) << tag;
    EXPECT_EQ(Completed(tag).smem_word, 0x123Cu) << tag;
  }
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
