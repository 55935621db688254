// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A firmware of your own for the scalar unit. In front of each program that the
// host starts it runs a program of its own, which copies 64 bytes from
// COPY_FROM to COPY_TO, and afterwards it writes a report to REPORT for the
// host to read. Rings, programs and log are the parts that Systole's own
// firmware has (share/systole/firmware); what is here is what they are used
// for.

#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"

#define COPY_FROM 0x100000u
#define COPY_TO 0x101000u
#define REPORT 0x102000u
#define COPY_BYTES 64u
#define FLAG 1u           // a mask: sync flag 0
#define WATCHDOG 0x40000  // cycles
#define LOG_OWN 0x100  // an event of the trace log; protocol.h has those below

// Opcodes of docs/reference/isa.md.
enum { LOAD = 0x01, STORE = 0x02, HALT = 0x7F };

extern const struct image_header image_start;

static uint32_t descriptors[3][16] __attribute__((aligned(64)));

// What the host reads.
static struct {
  uint32_t mark, launches, copies, copy_cycles, program_cycles, status;
  uint32_t unused[10];
} report = {.mark = 0x214E574Fu};  // "OWN!"

static void put(uint32_t* words, unsigned lsb, unsigned bits, uint32_t value) {
  for (unsigned i = 0; i < bits && i < 32; i++) {
    if (value >> i & 1) words[(lsb + i) / 32] |= 1u << (lsb + i) % 32;
  }
}

// COPY_BYTES between HBM and the start of the unified buffer.
static void move(uint32_t* words, uint32_t opcode, uint32_t hbm, uint32_t wait,
                 uint32_t post) {
  put(words, 0, 8, opcode);
  put(words, 32, 32, wait);
  put(words, 64, 32, post);
  put(words, 96, 36, hbm);
  put(words, 157, 25, COPY_BYTES);
  put(words, 182, 16, 1);  // runs
  put(words, 198, 16, 1);
}

// Hands its three descriptors to the issue port, and waits for the end.
static bool copy(void) {
  const uint32_t begin = hw_read(REG_MTIME_LO);
  hw_write(REG_LIMIT_LO, REPORT);
  hw_write(REG_LIMIT_HI, 0);
  hw_write(REG_WATCHDOG, WATCHDOG);
  hw_write(REG_CORE_CTRL, CORE_CTRL_START | CORE_CTRL_ISSUE);
  for (int i = 0; i < 3; i++) hw_issue(descriptors[i]);
  uint32_t events;
  while (!(events = hw_read(REG_EVENTS) & (EVENTS_DONE | EVENTS_FAULT))) {
    hw_sleep();
  }
  hw_write(REG_EVENTS, events);
  report.copy_cycles = hw_read(REG_MTIME_LO) - begin;
  if (events & EVENTS_FAULT) {
    log_event(LOG_OWN, hw_read(REG_FAULT_CAUSE), hw_read(REG_FAULT_ADDR_LO));
    hw_write(REG_CORE_CTRL, CORE_CTRL_RESET);
    while (hw_read(REG_CORE_STATUS) &
           (CORE_STATUS_FAULT | CORE_STATUS_RESETTING)) {
    }
    return false;
  }
  report.copies++;
  return true;
}

static void write_report(uint32_t status) {
  static const uint32_t at[2] = {REPORT, 0};
  report.status = status;
  hw_window(false);
  hw_copy_out(at, 0, &report, sizeof report);
}

// Called by start.S: the host reads the cause, and the log of a failed run.
void trapped(uint32_t cause, uint32_t pc, uint32_t value) {
  hw_write(REG_STATE, BOOT_STATE_TRAP | cause << 8);
  log_event(BOOT_STATE_TRAP, pc, value);
  log_flush();
  hw_write(REG_HOST_IRQ, 1);
  for (;;) hw_sleep();
}

// One command; true: the host asked meanwhile to cancel.
static bool run(struct ring* ring, uint32_t sequence,
                struct completion* completion) {
  const struct command* command = ring_command(ring, sequence);
  bool cancelled = false;
  completion_init(completion, STATUS_REFUSED);
  if (command && command->kind == COMMAND_RUN && copy()) {
    const uint32_t begin = hw_read(REG_MTIME_LO);
    cancelled = program_run(ring, command, completion);
    report.launches++;
    report.program_cycles = hw_read(REG_MTIME_LO) - begin;
    write_report(completion->status);
  }
  log_event(LOG_OWN, report.launches, report.program_cycles);
  if (completion->status != STATUS_DONE) log_flush();
  ring_complete(ring, sequence, completion);
  if (command) program_done(command, completion);
  return cancelled;
}

int main(void) {
  static struct ring ring;
  static struct completion completion;
  move(descriptors[0], LOAD, COPY_FROM, 0, FLAG);
  move(descriptors[1], STORE, COPY_TO, FLAG, 0);
  put(descriptors[2], 0, 8, HALT);
  log_init(&image_start);
  ring_init(&ring, &image_start);
  program_init();
  hw_write(REG_STATE, BOOT_STATE_READY);
  hw_write(REG_HOST_IRQ, 1);
  for (;;) {
    while (!ring_poll(&ring)) hw_sleep();
    uint32_t sequence;
    bool cancelled = ring.request == REQUEST_CANCEL;
    if (!cancelled && ring_pick(&ring, &sequence)) {
      cancelled = run(&ring, sequence, &completion);
    }
    while (cancelled && ring.head != ring.fetched) {
      completion_init(&completion, STATUS_CANCELLED);
      ring_complete(&ring, ring.head, &completion);
    }
    if (ring.request == REQUEST_LOG) {
      log_flush();
      hw_write(REG_HOST_IRQ, 1);
    }
    ring.request = REQUEST_NONE;
  }
}
