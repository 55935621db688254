// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A program of the scalar unit for tests: runs the load, the store and the halt
// that the test has put at 0x8000 of HBM by the issue port, and holds them back
// by sync flags: the load waits for flag 5, the store posts flag 6. Tells in
// `completed` which step went wrong.

#include "boot.h"
#include "gen/regs.h"
#include "hardware.h"

static uint32_t descriptors[3][16] __attribute__((aligned(64)));
static uint32_t failed;

static void expect(uint32_t step, bool holds) {
  if (!holds && failed == 0) failed = step;
  hw_write(REG_STATE, step << 16);
}

static void wait_until(uint32_t reg, uint32_t bits) {
  while (!(hw_read(reg) & bits)) {
  }
}

void trapped(uint32_t cause) {
  hw_write(REG_STATE, BOOT_STATE_TRAP | cause << 8);
  hw_write(REG_HOST_IRQ, 1);
  for (;;) hw_sleep();
}

int main(void) {
  const uint32_t program[2] = {0x8000, 0};
  expect(1, hw_copy_in(program, 0, descriptors, sizeof descriptors));
  expect(2, !hw_copy_in(program, 4, descriptors, 64));  // not at a beat
  const uint32_t far[2] = {0, 0xF};
  expect(3, !hw_copy_in(far, 0, descriptors, 64));

  // Nothing runs: dropped.
  hw_issue(descriptors[0]);
  hw_read(REG_EVENTS);
  expect(4, hw_read(REG_EVENTS) & EVENTS_DROPPED);
  hw_write(REG_EVENTS, EVENTS_DROPPED);

  hw_write(REG_LIMIT_LO, 0x10000);
  hw_write(REG_LIMIT_HI, 0);
  hw_write(REG_WATCHDOG, 0);
  hw_write(REG_CORE_CTRL, CORE_CTRL_START | CORE_CTRL_ISSUE);
  for (int i = 0; i < 2; i++) hw_issue(descriptors[i]);
  for (int i = 0; i < 300; i++) hw_read(REG_EVENTS);
  expect(5, hw_read(REG_FLAG_STATE) == 0);
  expect(6, hw_read(REG_CORE_STATUS) & CORE_STATUS_RUNNING);
  // A wait that is not met yet; the load's flag.
  hw_write(REG_FLAG_WAIT, 1u << 6);
  for (int i = 0; i < 50; i++) hw_read(REG_EVENTS);
  expect(7, hw_read(REG_FLAG_WAIT) == 1u << 6);
  expect(8, !(hw_read(REG_EVENTS) & EVENTS_FLAGS));
  hw_write(REG_FLAG_POST, 1u << 5);
  wait_until(REG_EVENTS, EVENTS_FLAGS);
  expect(9, hw_read(REG_FLAG_WAIT) == 0);
  expect(10, hw_read(REG_FLAG_STATE) == 0);  // it was taken, and so was 5
  // Posts are counted.
  hw_write(REG_FLAG_POST, 1u << 9);
  hw_write(REG_FLAG_POST, 1u << 9 | 1u << 19);
  hw_read(REG_EVENTS);
  expect(11, hw_read(REG_FLAG_STATE) == (1u << 9 | 1u << 19));
  hw_write(REG_FLAG_WAIT, 1u << 9 | 1u << 19);
  hw_read(REG_EVENTS);
  expect(12, hw_read(REG_FLAG_STATE) == 1u << 9);
  // More items than places.
  expect(13, (hw_read(REG_CORE_STATUS) >> CORE_STATUS_PLACES & 15) == 8);
  expect(14, !(hw_read(REG_EVENTS) & EVENTS_DONE));
  hw_issue(descriptors[2]);
  wait_until(REG_EVENTS, EVENTS_DONE);
  expect(15, !(hw_read(REG_CORE_STATUS) & CORE_STATUS_RUNNING));
  expect(16, !(hw_read(REG_EVENTS) & (EVENTS_FAULT | EVENTS_DROPPED)));

  // A list that is not where it should be: a fault with its address.
  hw_write(REG_EVENTS, EVENTS_DONE);
  hw_write(REG_CORE_CTRL, CORE_CTRL_START | CORE_CTRL_ISSUE);
  hw_write(REG_STREAM_ADDR_LO, 0x8020);
  hw_write(REG_STREAM, 2);
  wait_until(REG_EVENTS, EVENTS_FAULT);
  expect(17, hw_read(REG_FAULT_ADDR_LO) == 0x8020);
  hw_issue(descriptors[0]);  // a fault empties the port
  hw_read(REG_EVENTS);
  expect(18, hw_read(REG_EVENTS) & EVENTS_DROPPED);
  hw_write(REG_EVENTS, EVENTS_FAULT);
  hw_write(REG_CORE_CTRL, CORE_CTRL_RESET);
  while (hw_read(REG_CORE_STATUS) &
         (CORE_STATUS_FAULT | CORE_STATUS_RESETTING)) {
  }
  // Beyond the limit.
  hw_write(REG_CORE_CTRL, CORE_CTRL_START | CORE_CTRL_ISSUE);
  hw_write(REG_STREAM_ADDR_LO, 0x10000);
  hw_write(REG_STREAM, 2);
  wait_until(REG_EVENTS, EVENTS_FAULT);
  expect(19, hw_read(REG_FAULT_ADDR_LO) == 0x10000);

  hw_write(REG_COMPLETED, failed);
  hw_write(REG_STATE, BOOT_STATE_STOPPED);
  hw_write(REG_HOST_IRQ, 1);
  for (;;) hw_sleep();
}
