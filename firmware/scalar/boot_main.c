// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// From the boot ROM's jump to the command loop. If the firmware itself traps,
// `trapped` leaves a report for the host.

#include "boot.h"
#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"

extern const struct image_header image_start;
extern char code_end[], memory_end[];

// Makes code and header read-only, and leaves only SMEM, ROM and registers
// accessible. The entries are locked, so they also apply to machine mode.
static void protect(void) {
  const uint32_t code = (uint32_t)(uintptr_t)code_end >> 2;
  const uint32_t end = (uint32_t)(uintptr_t)memory_end >> 2;
  const uint32_t registers = (REGS >> 2) | 0x1FF;  // 4 KiB, a power of two
  const uint32_t rom = (0x10000000u >> 2) | 0x7F;  // 1 KiB
  __asm__ volatile("csrw pmpaddr0, %0" ::"r"(code));
  __asm__ volatile("csrw pmpaddr1, %0" ::"r"(end));
  __asm__ volatile("csrw pmpaddr2, %0" ::"r"(registers));
  __asm__ volatile("csrw pmpaddr3, %0" ::"r"(rom));
  __asm__ volatile("csrw pmpaddr4, %0" ::"r"(~0u));
  // Read and execute up to code_end (TOR), read and write up to memory_end
  // (TOR), then the registers and the ROM (NAPOT). The last entry denies all
  // other addresses.
  __asm__ volatile("csrw pmpcfg0, %0" ::"r"(0x9D9B8B8Du));
  __asm__ volatile("csrw pmpcfg1, %0" ::"r"(0x98u));
}

void trapped(uint32_t cause, uint32_t pc, uint32_t value) {
  hw_write(REG_STATE, BOOT_STATE_TRAP | cause << 8);
  log_event(BOOT_STATE_TRAP, pc, value);
  log_flush();
  hw_write(REG_HOST_IRQ, 1);
  for (;;) hw_sleep();
}

static void stop(uint32_t state) {
  hw_write(REG_STATE, state);
  hw_write(REG_HOST_IRQ, 1);
  for (;;) hw_sleep();
}

int main(void) {
  protect();
  if (image_start.entries > MAX_ENTRIES) stop(BOOT_STATE_BAD_IMAGE);
  log_init(&image_start);
  log_event(LOG_BOOT, hw_read(REG_BOOT_FLAGS), 0);
  if ((hw_read(REG_BOOT_FLAGS) & BOOT_TEST_SMEM) && !selftest_ecc()) {
    stop(BOOT_STATE_BAD_ECC);
  }
  if ((hw_read(REG_BOOT_FLAGS) & BOOT_TEST_CORE) &&
      !selftest_core(&image_start)) {
    stop(BOOT_STATE_BAD_CORE);
  }
  hw_write(REG_STATE, BOOT_STATE_READY);
  hw_write(REG_HOST_IRQ, 1);
  serve(&image_start);
  for (;;) hw_sleep();
}
